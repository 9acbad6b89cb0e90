"""The official Python clients, unmodified, over real sockets: gateway in front, scripted models behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import anthropic
import ollama
import openai
import pytest

from dragoman.errors import ErrorKind, ProviderError
from dragoman.gateway import GatewayConfig, create_app
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.sim.loopback import serving
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.gateways import FUNCTION, SCHEMA, Stage, app
from tests.support.upstreams import UPSTREAMS, ScriptedReply, model, refusal, sent, text_reply

PROMPT = "What is up, and what is down?"
NATIVE = ScriptedReply(("I look.",), (("a1", "look", {"at": "sky"}), ("a2", "look", {"at": "sea"})))
CALLS = [("look", {"at": "sky"}), ("look", {"at": "sea"})]
ANSWER = "Blue above, blue below."


def in_fences() -> ScriptedReply:
    return text_reply("I look.\n" + "\n".join(f"~~~tool_call\n{json.dumps(call)}\n~~~" for call in written()))


def in_hermes() -> ScriptedReply:
    return text_reply("I look.\n" + "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in written()), size=3)


def written() -> list[dict[str, Any]]:
    return [{"name": name, "arguments": arguments} for name, arguments in CALLS]


WAYS: dict[str, tuple[ScriptedReply, dict[str, Any]]] = {
    "native": (NATIVE, {"tools": Tools.NATIVE}),
    "fence": (in_fences(), {"tools": Tools.TEXT}),
    "hermes": (in_hermes(), {"tools": Tools.TEXT, "prompt_dialect": "hermes"}),
}

Talk = Callable[[str, str, bool], tuple[str, list[tuple[str, Any]], str]]
ROUTES = {
    f"{back}-{way}": Route(provider=COMPATIBLE[back], base_url="http://model.test", **fields)
    for back in UPSTREAMS
    for way, (_, fields) in WAYS.items()
}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    staged = Stage()
    with serving(create_app(GatewayConfig(models=ROUTES), staged)) as staged.url:
        yield staged


# Each client asks, runs the tools it is told to, sends the results, and gets the answer: (text, calls, final text).


def talk_openai(url: str, model: str, stream: bool) -> tuple[str, list[tuple[str, Any]], str]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client:

        def ask(messages: list[Any]) -> Any:
            more: dict[str, Any] = {"model": model, "messages": messages, "tools": [FUNCTION]}
            if not stream:
                return client.chat.completions.create(**more).choices[0].message
            with client.chat.completions.stream(**more) as events:
                for _ in events:
                    pass
                return events.get_final_completion().choices[0].message

        messages: list[Any] = [{"role": "user", "content": PROMPT}]
        first = ask(messages)
        calls = first.tool_calls or []
        messages.append(first.model_dump(exclude_none=True, exclude={"parsed"}))
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "blue"} for call in calls]
        made = [(call.function.name, json.loads(call.function.arguments)) for call in calls]
        return first.content or "", made, ask(messages).content or ""


def talk_anthropic(url: str, model: str, stream: bool) -> tuple[str, list[tuple[str, Any]], str]:
    with anthropic.Anthropic(base_url=url, api_key="any", max_retries=0) as client:
        tools: list[Any] = [{"name": "look", "description": "Look.", "input_schema": SCHEMA}]

        def ask(messages: list[Any]) -> Any:
            more: dict[str, Any] = {"model": model, "max_tokens": 500, "messages": messages, "tools": tools}
            if not stream:
                return client.messages.create(**more)
            with client.messages.stream(**more) as events:
                return events.get_final_message()

        messages: list[Any] = [{"role": "user", "content": PROMPT}]
        first = ask(messages)
        used = [block for block in first.content if block.type == "tool_use"]
        assert first.stop_reason == "tool_use"
        results = [{"type": "tool_result", "tool_use_id": block.id, "content": "blue"} for block in used]
        messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
        last = ask(messages)
        assert last.stop_reason == "end_turn"
        return text_of(first), [(block.name, block.input) for block in used], text_of(last)


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def talk_ollama(url: str, model: str, stream: bool) -> tuple[str, list[tuple[str, Any]], str]:
    with closing(ollama.Client(host=url)) as client:

        def ask(messages: list[Any]) -> tuple[str, list[Any]]:
            more: dict[str, Any] = {"model": model, "messages": messages, "tools": [FUNCTION]}
            pieces = list(client.chat(stream=True, **more)) if stream else [client.chat(stream=False, **more)]
            assert pieces[-1].done
            calls = [call for piece in pieces for call in piece.message.tool_calls or ()]
            return "".join(piece.message.content or "" for piece in pieces), calls

        messages: list[Any] = [{"role": "user", "content": PROMPT}]
        text, calls = ask(messages)
        messages.append({"role": "assistant", "content": text, "tool_calls": [call.model_dump() for call in calls]})
        messages += [{"role": "tool", "tool_name": call.function.name, "content": "blue"} for call in calls]
        return text, [(call.function.name, dict(call.function.arguments)) for call in calls], ask(messages)[0]


CLIENTS: dict[str, Talk] = {"openai": talk_openai, "anthropic": talk_anthropic, "ollama": talk_ollama}

every_client = pytest.mark.parametrize("client", CLIENTS)
streamed_and_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@every_client
@pytest.mark.parametrize("back", UPSTREAMS)
@pytest.mark.parametrize("way", WAYS)
@streamed_and_whole
def test_a_client_calls_two_tools_and_gets_its_answer(
    stage: Stage, client: str, back: str, way: str, stream: bool
) -> None:
    scripted, _ = WAYS[way]
    stage.plays = memory = model(back, scripted, text_reply(ANSWER))
    text, calls, answer = CLIENTS[client](stage.url, f"{back}-{way}", stream)
    assert text.strip() == "I look."
    assert calls == CALLS
    assert answer == ANSWER
    messages = json.dumps(sent(memory)["messages"])
    assert messages.count("blue") == 2
    assert ("tools" in sent(memory)) is (way == "native")


@every_client
def test_a_model_that_refuses_tools_is_served_all_the_same(stage: Stage, client: str) -> None:
    no = refusal(400, {"error": {"message": "m does not support tools"}})
    stage.plays = model("openai_chat", no, in_fences(), text_reply(ANSWER), in_fences(), text_reply(ANSWER))
    with serving(app(stage.plays)) as url:  # a gateway of its own, that has learnt nothing yet
        assert CLIENTS[client](url, "m", True)[1:] == (CALLS, ANSWER)


# ── errors as the clients raise them ─────────────────────────────────────────

BUSY = refusal(429, {"error": {"message": "slow down", "type": "rate_limit"}}, **{"retry-after": "3"})
NAME = "openai_chat-native"
HI: list[Any] = [{"role": "user", "content": "hi"}]


def test_openai_raises_its_own_errors(stage: Stage) -> None:
    stage.plays = ScriptedPeer(lambda _: BUSY)
    with (
        openai.OpenAI(base_url=f"{stage.url}/v1", api_key="any", max_retries=0) as client,
        pytest.raises(openai.RateLimitError, match="slow down") as caught,
    ):
        client.chat.completions.create(model=NAME, messages=HI)
    assert caught.value.response.headers["retry-after"] == "3"


def test_anthropic_raises_its_own_errors(stage: Stage) -> None:
    stage.plays = ScriptedPeer(lambda _: BUSY)
    with (
        anthropic.Anthropic(base_url=stage.url, api_key="any", max_retries=0) as client,
        pytest.raises(anthropic.RateLimitError, match="slow down"),
    ):
        client.messages.create(model=NAME, max_tokens=5, messages=HI)


def test_ollama_raises_its_own_errors(stage: Stage) -> None:
    stage.plays = ScriptedPeer(lambda _: BUSY)
    with closing(ollama.Client(host=stage.url)) as client, pytest.raises(ollama.ResponseError) as caught:
        client.chat(model=NAME, messages=HI)
    assert "slow down" in str(caught.value)
    assert caught.value.status_code == 429


BROKEN = Answer(
    (
        b'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n',
        ProviderError("the peer broke off; try again", kind=ErrorKind.NETWORK),
    ),
    headers={"content-type": "text/event-stream"},
)


def test_each_client_raises_what_breaks_a_stream(stage: Stage) -> None:
    stage.plays = ScriptedPeer([BROKEN] * 3)
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key="any", max_retries=0) as one:
        chunks = one.chat.completions.create(model=NAME, messages=HI, stream=True)
        with pytest.raises(openai.APIError, match="broke off"):
            list(chunks)
    with anthropic.Anthropic(base_url=stage.url, api_key="any", max_retries=0) as two:
        events = two.messages.create(model=NAME, max_tokens=5, messages=HI, stream=True)
        with pytest.raises(anthropic.APIError, match="broke off"):
            list(events)
    with closing(ollama.Client(host=stage.url)) as three:
        lines = three.chat(model=NAME, messages=HI, stream=True)
        with pytest.raises(ollama.ResponseError, match="broke off"):
            list(lines)


def test_models_are_listed_and_tokens_counted(stage: Stage) -> None:
    with openai.OpenAI(base_url=f"{stage.url}/v1", api_key="any") as one:
        assert [m.id for m in one.models.list()] == list(ROUTES)
    with anthropic.Anthropic(base_url=stage.url, api_key="any") as two:
        assert [m.id for m in two.models.list()] == list(ROUTES)
        counted = two.messages.count_tokens(model="m", messages=[{"role": "user", "content": "x" * 400}])
        assert counted.input_tokens > 90
    with closing(ollama.Client(host=stage.url)) as three:
        assert [m.model for m in three.list().models] == list(ROUTES)


def test_anthropics_own_tool_runner_finishes_the_task(stage: Stage) -> None:
    """It asks for message threads first; told that there are none, it goes on without."""
    stage.plays = memory = model("openai_chat", in_fences(), text_reply(ANSWER))
    looked: list[str] = []

    @anthropic.beta_tool
    def look(at: str) -> str:
        """Look.

        Args:
            at: where
        """
        looked.append(at)
        return "blue"

    with anthropic.Anthropic(base_url=stage.url, api_key="any", max_retries=0) as client:
        runner = client.beta.messages.tool_runner(
            model="openai_chat-fence", max_tokens=500, tools=[look], messages=[{"role": "user", "content": PROMPT}]
        )
        assert text_of(runner.until_done()) == ANSWER
    assert looked == ["sky", "sea"]
    assert len(memory.sent) == 2
