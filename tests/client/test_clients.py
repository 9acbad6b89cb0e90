"""What both clients promise: runs, streams, turns, models by name, conversations that go on."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import threading
from dataclasses import dataclass
from typing import Any

import pytest

import dragoman
from dragoman import sim
from dragoman.client import AsyncClient, Client
from dragoman.client.models import Catalogue
from dragoman.effects import Open
from dragoman.errors import ErrorCode, ErrorKind, ProviderError, UsageError
from dragoman.events import TextDelta
from dragoman.io.cancel import Cancel
from dragoman.loop import (
    Answered,
    Denied,
    Interrupted,
    Limit,
    Policy,
    Run,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from dragoman.providers.auth import ClientCredentials, KeyHeader, SignedKey, SigV4
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Provider, Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.tools import Context, ToolSet, tool
from dragoman.types import Message, Sampling, Tool, ToolChoice
from tests.support.both_clients import LATER, NOW, URL, Face, both
from tests.support.peer import peer
from tests.support.upstreams import ScriptedReply, answered, chat_whole, model, refusal, sent, text_reply

API = "openai_chat"
KEY = "sk-very-secret-key-0123456789"


@tool(read_only=True)
def look(at: str) -> str:
    """Look at something."""
    return f"{at} is blue"


@tool
async def write(text: str, context: Context) -> dict[str, Any]:
    """Write something down."""
    context.report("writing")
    return {"written": len(text)}


def calls(*made: tuple[str, dict[str, Any]]) -> ScriptedReply:
    return ScriptedReply(("I see.",), tuple((f"id{at}", name, arguments) for at, (name, arguments) in enumerate(made)))


LOOKS = calls(("look", {"at": "the sky"}))
WRITES = calls(("write", {"text": "blue"}))
DONE = text_reply("It is blue.")


# ── run ──────────────────────────────────────────────────────────────────────


@both
def test_a_run_asks_runs_tools_and_answers(face: Face) -> None:
    memory = model(API, LOOKS, WRITES, DONE)
    run = face.run(memory, "What colour?", tools=[look, write])
    assert run.end == Answered()
    assert run.text == "It is blue."
    assert [message.role for message in run.messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [result.text for message in run.messages for result in message.results] == [
        "the sky is blue",
        '{"written": 4}',
    ]
    assert [tool["function"]["name"] for tool in sent(memory)["tools"]] == ["look", "write"]


@both
def test_a_stream_gives_every_step_and_then_the_run(face: Face) -> None:
    steps, run = face.listen(model(API, WRITES, DONE), "Write it.", tools=[write])
    kinds = [type(step) for step in steps]
    first = [kinds.index(kind) for kind in (TurnStarted, TextDelta, TurnEnded, ToolStarted, ToolProgress, ToolEnded)]
    assert first == sorted(first)
    assert isinstance(run, Run)
    assert run.end == Answered()


def test_the_run_of_a_stream_is_unknown_before_its_end() -> None:
    with Client("m", base_url=URL, performer=model(API, DONE).sync_performer) as client, client.stream("Hi.") as steps:
        next(steps)
        with pytest.raises(UsageError, match="listen to all its steps"):
            _ = steps.run


@both
def test_a_turn_asks_once_and_runs_nothing(face: Face) -> None:
    response = face.do(model(API, LOOKS), "turn", "What colour?", tools=[look])
    assert [(call.name, dict(call.arguments)) for call in response.calls] == [("look", {"at": "the sky"})]


@both
def test_a_listener_hears_every_step_and_may_be_awaited(face: Face) -> None:
    events: list[Any] = []

    async def listen(step: Any) -> None:
        await asyncio.sleep(0)
        events.append(step)

    face.run(model(API, WRITES, DONE), "Write.", tools=[write], on_event=listen)
    steps, _ = face.listen(model(API, WRITES, DONE), "Write.", tools=[write])
    assert [type(step) for step in events] == [type(step) for step in steps]


@both
def test_nobody_listening_answers_come_whole(face: Face) -> None:
    memory = model(API, DONE)
    face.run(memory, "Hi.")
    assert not sent(memory).get("stream")


@both
def test_system_sampling_choice_and_extra_fields_reach_the_model(face: Face) -> None:
    memory = model(API, LOOKS, DONE)
    face.run(
        memory,
        "Hi.",
        tools=[look],
        system="Be brief.",
        sampling=Sampling(temperature=0.5),
        tool_choice=ToolChoice("required"),
        extra={"user": "me"},
    )
    body = sent(memory, 0)
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (body["temperature"], body["tool_choice"], body["user"]) == (0.5, "required", "me")


@dataclass
class Colour:
    """A colour."""

    name: str
    blue: bool = False


@both
def test_a_value_of_the_wanted_type_comes_back(face: Face) -> None:
    script = model(API, ScriptedReply((), (("v", "final_answer", {"name": "azure", "blue": True}),)))
    assert face.run(script, "What colour?", output=Colour).value == Colour("azure", blue=True)


@both
def test_a_value_of_a_json_schema_comes_back(face: Face) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    script = model(API, ScriptedReply((), (("v", "final_answer", {"n": 3}),)))
    assert face.run(script, "How many?", output=schema).value == {"n": 3}


@both
def test_defaults_of_the_client_hold_where_a_call_says_nothing(face: Face) -> None:
    defaults = {"tools": [look], "system": "Be brief.", "policy": Policy(max_turns=1), "sampling": Sampling(top_p=0.5)}
    memory = model(API, LOOKS)
    run = face.run(memory, "Look.", client=defaults)
    assert isinstance(run.end, Limit)
    body = sent(memory)
    assert (body["messages"][0]["content"], body["top_p"], len(body["tools"])) == ("Be brief.", 0.5, 1)


@both
def test_hooks_of_the_policy_are_asked(face: Face) -> None:
    async def approve(asking: Any) -> Any:
        return Denied("not today")

    run = face.run(model(API, WRITES, DONE), "Write.", tools=[write], policy=Policy(approve=approve))
    [result] = [result for message in run.messages for result in message.results]
    assert result.error_code == ErrorCode.DENIED


@both
def test_a_cancelled_run_has_every_call_answered(face: Face) -> None:
    cancel = Cancel()

    @tool
    def stop() -> str:
        cancel.cancel()
        return "stopping"

    events: list[Any] = []
    script = model(API, calls(("stop", {}), ("write", {"text": "x"})), DONE)
    run = face.run(script, "Stop.", tools=[stop, write], cancel=cancel, on_event=events.append)
    assert run.end == Interrupted()
    results = [result for message in run.messages for result in message.results]
    assert [result.call_id for result in results] == [call.id for message in run.messages for call in message.calls]
    assert [step.result for step in events if isinstance(step, ToolEnded)] == results


DEFINITION = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


@both
@pytest.mark.parametrize(
    "given", [look, [look], ToolSet(look), DEFINITION, [DEFINITION], Tool(name="look"), [Tool(name="look"), write]],
    ids=["a function", "functions", "a tool set", "a definition", "definitions", "a tool", "tools and functions"],
)  # fmt: skip
def test_a_turn_takes_tools_in_any_form(face: Face, given: Any) -> None:
    response = face.do(model(API, LOOKS), "turn", "What colour?", tools=given)
    assert [call.name for call in response.calls] == ["look"]


@both
def test_a_run_takes_a_single_tool(face: Face) -> None:
    pair = (Tool(name="look", parameters=ToolSet(look)["look"].tool.parameters), look)
    for single in (look, pair, [pair], ToolSet(look)["look"]):
        assert face.run(model(API, LOOKS, DONE), "What colour?", tools=single).end == Answered()
    with pytest.raises(UsageError, match="'look' is only a definition and nothing here can run it"):
        face.run(model(API, DONE), "What colour?", tools=[DEFINITION])


@pytest.mark.parametrize("made", [Client, AsyncClient])
def test_a_client_refuses_what_it_does_not_know(made: Any) -> None:
    with pytest.raises(TypeError, match="a client takes no 'sytem'; did you mean 'system'"):
        made("ollama/x", sytem="Be brief.")


# ── conversations ────────────────────────────────────────────────────────────


@both
def test_a_conversation_goes_on(face: Face) -> None:
    first = face.run(model(API, LOOKS, DONE), "What colour?", tools=[look], system="Be brief.")
    memory = model(API, text_reply("Sure."))
    second = face.run(memory, "Sure?", messages=first.messages, tools=[look])
    assert second.messages[: len(first.messages)] == first.messages
    assert [message["role"] for message in sent(memory)["messages"]] == [
        "system", "user", "assistant", "tool", "assistant", "user",
    ]  # fmt: skip


SAID: list[tuple[str, Any, list[str]]] = [
    ("a text", "Hi.", ["user"]),
    ("a message", Message("user", "Hi."), ["user"]),
    ("messages", [Message("system", "Be brief."), Message("user", "Hi.")], ["system", "user"]),
    ("a mapping", {"role": "user", "content": "Hi."}, ["user"]),
    ("mappings", [{"role": "system", "content": "x"}, Message("user", "Hi.")], ["system", "user"]),
]


@pytest.mark.parametrize(("prompt", "roles"), [row[1:] for row in SAID], ids=[row[0] for row in SAID])
def test_what_is_said_may_be(prompt: Any, roles: list[str]) -> None:
    memory = model(API, DONE)
    NOW.run(memory, prompt)
    assert [message["role"] for message in sent(memory)["messages"]] == roles


def test_a_new_system_prompt_takes_the_place_of_the_old() -> None:
    memory = model(API, DONE)
    NOW.run(memory, messages=[Message("system", "old"), Message("user", "Hi.")], system="new")
    assert [m["content"] for m in sent(memory)["messages"]] == ["new", "Hi."]


# ── models ───────────────────────────────────────────────────────────────────


def parts_of(auth: Any) -> dict[str, str]:
    return {name: "x" * 20 for setting in auth.parts for name in setting.env[:1]}


def environment(row: Provider) -> dict[str, str]:
    """Everything a provider's row may look for."""
    env = {row.auth.env[0]: "id.secret-secret"} if row.auth.env else {}
    for setting in row.settings:
        env |= dict.fromkeys(setting.env[:1], setting.default or "set")
    return {**env, **parts_of(row.auth)}


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_is_asked_at_its_address_with_its_key(name: str) -> None:
    row = PROVIDERS[name]
    approvals: list[Open] = []

    def answer(request: Open) -> Answer:
        approvals.append(request)
        return refusal(418, {"error": {"message": "a teapot"}})

    own = {} if row.base_url else {name: "http://own.test/v1"}
    with Client(
        f"{name}/some-model", environ=environment(row), base_url=own, performer=ScriptedPeer(answer).sync_performer
    ) as client, pytest.raises(ProviderError, match="a teapot") as caught:
        client.run("Hi.")
    first = approvals[0]
    assert first.url.startswith(("http://", "https://"))
    match row.auth:
        case KeyHeader(header=header) if row.auth.env:
            assert "id.secret-secret" in first.headers[header]
        case SignedKey() | SigV4():
            assert first.headers["authorization"]
        case ClientCredentials():
            assert b"client_secret" in first.body
    assert "id.secret-secret" not in repr(caught.value) + str(first)


@pytest.mark.parametrize("named", ["ollama/qwen3:8b", "ollama:qwen3:8b"])
def test_a_name_says_the_provider_and_the_model(named: str) -> None:
    [route] = Catalogue(environ={}).routes(named)
    assert (route.provider.name, route.model) == ("ollama", "qwen3:8b")


def test_several_names_are_routes_in_order() -> None:
    catalogue = Catalogue(environ={}, api_key={"openai": KEY})
    named = catalogue.routes("ollama/a, openai/b")
    assert [(route.provider.name, route.model, route.key) for route in named] == [
        ("ollama", "a", ""),
        ("openai", "b", KEY),
    ]
    assert catalogue.routes(["ollama/a", "openai/b"]) == named
    assert catalogue.routes([named[0], "openai/b"]) == named


def test_rows_of_the_callers_own_are_as_good_as_ours() -> None:
    mine = Provider(
        name="mine", codec="anthropic_messages", base_url="https://mine.test", auth=KeyHeader(env=("MINE",))
    )
    [route] = Catalogue(environ={"MINE": KEY}, providers=(mine,)).routes("mine/m")
    assert (route.provider, route.key, route.model) == (mine, KEY, "m")


WRONG: list[tuple[str, dict[str, Any], Any, str]] = [
    ("nothing", {}, "", "give model='provider/model'"),
    ("no provider", {}, "qwen3:8b", "'qwen3:8b' names no provider; write 'provider/model'"),
    ("no key", {}, "openai/gpt-5", "wants a key; set OPENAI_API_KEY"),
    ("one key for two", {"api_key": KEY}, "openai/a,anthropic/b", "give a mapping: api_key={'openai': …}"),
    ("one address for two", {"base_url": URL}, ["ollama/a", "vllm/b"], "give a mapping: base_url={'ollama': …}"),
    ("a key for nobody", {"api_key": {"opnai": KEY}}, "ollama/a", "'opnai', which no provider is called"),
]


@pytest.mark.parametrize(("made", "named", "why"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_model_that_cannot_be_asked_is_told_at_once(made: dict[str, Any], named: Any, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        Catalogue(environ={}, **made).routes(named)
    assert why in str(caught.value)
    assert KEY not in str(caught.value) + repr(Catalogue(environ={"OPENAI_API_KEY": KEY}, **made))


def test_a_key_is_never_sent_to_another_provider() -> None:
    env = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": "other-key"}
    routes = Catalogue(environ=env, api_key={"openai": KEY}).routes("openai/a,anthropic/b,ollama/c")
    assert [route.key for route in routes] == [KEY, "other-key", ""]


@both
def test_a_second_model_is_asked_when_the_first_fails(face: Face) -> None:
    def answer(request: Open) -> Answer:
        body = json.loads(request.body)
        return refusal(401, {"error": "no"}) if body["model"] == "a" else answered(API, DONE, body)

    memory = ScriptedPeer(answer)
    run = face.run(memory, "Hi.", model="openai/a,openai/b", client={"api_key": KEY})
    assert run.end == Answered()
    assert [json.loads(each.body)["model"] for each in memory.sent] == ["a", "b"]
    assert any("openai/a" in issue.message for issue in run.issues)


def test_health_is_shared_by_runs_and_can_be_reset() -> None:
    memory = model(API, refusal(401, {"error": "no"}), DONE, DONE)
    with Client(["openai/a", "openai/b"], base_url=URL, api_key=KEY, performer=memory.sync_performer) as client:
        client.run("Hi.")
        client.run("Hi.")
        assert [sent(memory, at)["model"] for at in range(3)] == ["a", "b", "b"]
        assert [(where.model, condition.kind) for where, condition in client.health] == [("a", ErrorKind.AUTH)]
        client.health.reset()
        assert list(client.health) == []


def test_routes_may_be_ready_made_beside_named_ones() -> None:
    ready = Route(provider=COMPATIBLE[API], base_url=URL, model="x", tools=Tools.TEXT)
    memory = model(API, text_reply('~~~tool_call\n{"name": "look", "arguments": {"at": "it"}}\n~~~'), DONE)
    run = NOW.run(memory, "Look.", tools=[look], model=ready)
    assert run.end == Answered()
    assert "tools" not in sent(memory, 0)
    [route] = Catalogue(environ={}, options={"compact": True}).routes("ollama/x")
    assert route.compact is True
    memory = model(API, refusal(401, {"error": "no"}), DONE)
    with Client("m", base_url=URL, routes=[ready], performer=memory.sync_performer) as client:
        assert client.run("Hi.").end == Answered()
    assert [sent(memory, at)["model"] for at in range(2)] == ["m", "x"]


@both
def test_there_must_be_something_to_say(face: Face) -> None:
    with pytest.raises(UsageError, match="give a prompt, or messages"):
        face.run(model(API, DONE))


@both
@pytest.mark.parametrize("said_", [3, [None], [b"x"]])
def test_what_is_no_message_is_told(face: Face, said_: Any) -> None:
    with pytest.raises(UsageError):
        face.run(model(API, DONE), said_)


# ── faces ────────────────────────────────────────────────────────────────────

METHODS = ("run", "stream", "resume", "turn")


@pytest.mark.parametrize("name", METHODS)
def test_both_clients_have_the_same_methods_with_the_same_parameters(name: str) -> None:
    now, later = getattr(Client, name), getattr(AsyncClient, name)
    assert inspect.signature(now).parameters.keys() == inspect.signature(later).parameters.keys()
    assert now.__doc__ == later.__doc__


def test_the_face_of_the_package_is_these_clients() -> None:
    assert (dragoman.Client, dragoman.AsyncClient) == (Client, AsyncClient)


def test_one_client_may_be_shared_by_threads() -> None:
    with sim.running() as url, Client("weak", base_url=url) as client:
        runs: list[Run] = []
        threads = [threading.Thread(target=lambda: runs.append(client.run("Hello."))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [run.end for run in runs] == [Answered()] * 8
    assert len({run.text for run in runs}) == 1


def test_one_client_may_be_shared_by_tasks() -> None:
    async def go(url: str) -> list[Run]:
        async with AsyncClient("weak", base_url=url) as client:
            return list(await asyncio.gather(*(client.run("Hello.") for _ in range(8))))

    with sim.running() as url:
        assert [run.end for run in asyncio.run(go(url))] == [Answered()] * 8


def test_a_client_may_be_used_in_several_loops() -> None:
    async def go(client: AsyncClient, *, close: bool) -> Run:
        run = await client.run("Hello.")
        await client.aclose() if close else None
        return run

    with peer(lambda it: it.whole(chat_whole(DONE), headers="content-type: application/json\r\n")) as served:
        client = AsyncClient("m", base_url=served.url)
        runs = [asyncio.run(go(client, close=last)) for last in (False, True)]
        gc.collect()
    assert [run.end for run in runs] == [Answered()] * 2


@pytest.mark.parametrize("named", ["ollama/weak", "openai/weak", "compatible/weak"])
@pytest.mark.parametrize("face", [NOW, LATER], ids=lambda face: face.name)
def test_a_weak_model_behind_a_real_server_finishes_a_task(named: str, face: Face) -> None:
    files = {"a.txt": "3", "b.txt": "4"}

    @tool(read_only=True)
    def read_file(path: str) -> str:
        """Read a file."""
        return files[path]

    task = "Call read_file with path=a.txt and call read_file with path=b.txt."
    with sim.running() as url:
        provider = named.partition("/")[0]
        address = {provider: url if provider == "ollama" else f"{url}/v1"}
        made: dict[str, Any] = {"base_url": address, "api_key": {provider: KEY}}
        if face is NOW:
            with Client(named, **made) as client:
                run = client.run(task, tools=[read_file])
        else:

            async def go() -> Run:
                async with AsyncClient(named, **made) as client:
                    return await client.run(task, tools=[read_file])

            run = asyncio.run(go())
    assert run.end == Answered()
    assert [result.text for message in run.messages for result in message.results] == ["3", "4"]
