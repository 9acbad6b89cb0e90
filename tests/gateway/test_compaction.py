"""`/v1/responses/compact`: the model's own summary where a backend has none, sealed; its backend's where it has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import openai
import pytest

from dragoman.effects import Open
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.seals import sealed_value
from dragoman.gateway.state import compaction
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.clocks import LONG
from tests.support.gateways import every_back, row
from tests.support.held import HeldModel
from tests.support.servers import serving
from tests.support.upstreams import refusal

ALICE, BOB = "sk-alice", "sk-bob"
TEAL, CAT = "I like teal.", "My cat is Ada."
TALK = [
    {"role": "user", "content": TEAL},
    {"role": "assistant", "content": "A nice colour."},
    {"role": "user", "content": CAT},
    {"role": "assistant", "content": "Hello Ada."},
]
LOOK = {"type": "function", "name": "look", "strict": False, "parameters": {"type": "object", "properties": {"at": {}}}}
CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": "sky"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "blue as ever"}
ECHO = {"role": "user", "content": "echo"}


class World:
    """A model behind a gateway, and clients of it."""

    def __init__(self, stack: ExitStack, back: str = "openai_chat") -> None:
        self.model, self._stack = HeldModel(back), stack
        route = Route(provider=COMPATIBLE[back], base_url="http://model.test")
        access = (row(ALICE, "alice"), row(BOB, "bob"), row("sk-none", "carol", models=()))
        app = create_app(GatewayConfig(default=route, access=access), self.model)
        self._address = stack.enter_context(serving(app))

    def client(self, key: str = ALICE) -> Any:
        """A client with this key."""
        url = f"{self._address}/v1"
        return self._stack.enter_context(openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=LONG))


@pytest.fixture
def world() -> Iterator[World]:
    with ExitStack() as stack:
        yield World(stack)


def items_of(made: Any) -> list[dict[str, Any]]:
    """The output of a compaction, as a client sends it back."""
    return [json.loads(item.model_dump_json(exclude_none=True, warnings=False)) for item in made.output]


def texts(made: Any) -> list[str]:
    return [item.content[0].text for item in made.output if item.type == "message"]


@every_back
def test_a_conversation_is_compacted_and_goes_on_on_every_backend(back: str) -> None:
    with ExitStack() as stack:
        client = World(stack, back).client()
        made = client.responses.compact(model="m", input=TALK)
        after = client.responses.create(model="m", input=[*items_of(made), ECHO])
    assert (made.object, made.output[-1].type, texts(made)) == ("response.compaction", "compaction", [TEAL, CAT])
    assert (made.usage.input_tokens, made.usage.output_tokens) == (7, 5)
    assert "They like teal." in after.output_text
    assert "A nice colour." not in after.output_text


def test_the_summary_is_asked_for_without_tools_and_with_the_instructions(world: World) -> None:
    client = world.client()
    client.responses.compact(model="m", input=TALK, instructions="You garden.", extra_body={"tools": [LOOK]})
    (body,) = world.model.bodies
    assert "tools" not in body
    assert body["messages"][0] == {"role": "system", "content": "You garden."}
    assert [message["content"] for message in body["messages"][1:5]] == [one["content"] for one in TALK]


def test_what_is_stored_is_compacted_by_its_id(world: World) -> None:
    client = world.client()
    first = client.responses.create(model="m", input=TEAL)
    made = client.responses.compact(model="m", previous_response_id=first.id, input=CAT)
    assert texts(made) == [TEAL, CAT]
    assert "1 turns" in json.dumps(world.model.bodies[-1])
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)


def test_calls_go_into_the_summary_with_their_outputs(world: World) -> None:
    client = world.client()
    made = client.responses.compact(model="m", input=[*TALK, CALL, OUTPUT])
    assert "blue as ever" in json.dumps(world.model.bodies[-1])
    client.responses.create(model="m", input=[*items_of(made), ECHO], tools=[LOOK])
    assert {message["role"] for message in world.model.bodies[-1]["messages"]} == {"user"}


@every_back
def test_a_call_that_waits_takes_its_output_afterwards(back: str) -> None:
    with ExitStack() as stack:
        client = World(stack, back).client()
        made = client.responses.compact(model="m", input=[*TALK, CALL])
        after = client.responses.create(model="m", input=[*items_of(made), OUTPUT, ECHO], tools=[LOOK])
    assert all(word in after.output_text for word in ("blue as ever", "look", "They like teal."))


def test_a_compaction_is_compacted_again(world: World) -> None:
    client = world.client()
    first = client.responses.compact(model="m", input=TALK)
    second = client.responses.compact(model="m", input=[*items_of(first), {"role": "user", "content": "More."}])
    assert texts(second) == [TEAL, CAT, "More."]
    assert [item.type for item in second.output].count("compaction") == 1
    assert "They like teal." in json.dumps(world.model.bodies[-1])


def test_a_compaction_lives_in_chains_and_conversations(world: World) -> None:
    client = world.client()
    made = items_of(client.responses.compact(model="m", input=TALK))
    first = client.responses.create(model="m", input=[*made, {"role": "user", "content": "one"}])
    assert "They like teal." in client.responses.create(model="m", input="echo", previous_response_id=first.id).output_text
    assert "compaction" in {item.type for item in client.responses.input_items.list(first.id)}
    talk = client.conversations.create(items=made)
    assert "They like teal." in client.responses.create(model="m", input="echo", conversation=talk.id).output_text
    assert client.responses.input_tokens.count(model="m", input=made[-1:]).input_tokens > 10


def altered(seal: str) -> str:
    return seal[:-9] + ("B" if seal[-9] == "A" else "A") + seal[-8:]


@pytest.mark.parametrize("how", ["another key's", "altered", "cut", "of another form"])
@pytest.mark.costly
def test_a_compaction_that_cannot_be_opened_is_refused(world: World, how: str) -> None:
    *_, item = items_of(world.client().responses.compact(model="m", input=TALK))
    seal = item["encrypted_content"]
    other = compaction.BEGIN + sealed_value(["no list"], "alice")
    made = {"another key's": seal, "altered": altered(seal), "cut": seal[: len(seal) // 2], "of another form": other}
    client = world.client(BOB if how == "another key's" else ALICE)
    with pytest.raises(openai.BadRequestError, match="could not be verified") as error:
        client.responses.create(model="m", input=[{**item, "encrypted_content": made[how]}, ECHO])
    assert error.value.code == "invalid_encrypted_content"


def test_nothing_is_not_compacted(world: World) -> None:
    empty: tuple[dict[str, Any], ...] = ({}, {"input": []}, {"input": 5})
    for sent in empty:
        with pytest.raises(openai.BadRequestError, match="input"):
            world.client().responses.compact(model="m", **sent)


def test_a_key_compacts_with_its_models_alone(world: World) -> None:
    with pytest.raises(openai.PermissionDeniedError):
        world.client("sk-none").responses.compact(model="m", input=TALK)
    with pytest.raises(openai.AuthenticationError):
        world.client("sk-wrong").responses.compact(model="m", input=TALK)


def test_a_failure_has_its_own_status(world: World) -> None:
    with pytest.raises(openai.BadRequestError, match="fell over"):
        world.client().responses.compact(model="m", input=TALK, instructions="break")


# ── what is kept as it was ───────────────────────────────────────────────────


def said(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


IMAGE = {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}]}
LONG_AGO = said("user", "x" * compaction.USERS)
KEPT = [
    ("what users say", [said("user", "a"), said("assistant", "b"), said("user", "c")], [0, 2]),
    ("instructions", [said("developer", "a"), said("system", "b"), said("user", "c")], [0, 1, 2]),
    ("an image", [IMAGE, said("assistant", "b")], [0]),
    ("not what is too long", [said("developer", "a"), said("user", "b"), LONG_AGO, said("user", "c")], [0, 3]),
    ("no calls", [said("user", "a"), CALL, OUTPUT], [0]),
]


@pytest.mark.parametrize(("items", "places"), [pytest.param(*case[1:], id=case[0]) for case in KEPT])
def test_what_is_retained(items: list[dict[str, Any]], places: list[int]) -> None:
    assert compaction.retained(items) == [items[place] for place in places]


THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
WAITING = [
    ("a call", [said("user", "a"), CALL], [1]),
    ("a call with its thought", [said("user", "a"), THOUGHT, CALL], [1, 2]),
    ("not an answered one", [CALL, OUTPUT], []),
    ("one of two", [THOUGHT, CALL, {**CALL, "call_id": "c2"}, OUTPUT], [0, 2]),
    ("a later one", [THOUGHT, CALL, OUTPUT, {**CALL, "call_id": "c2"}], [3]),
    ("one of another kind", [{**CALL, "type": "custom_tool_call"}, OUTPUT], [0]),
    ("not a thought alone", [THOUGHT, said("assistant", "b"), CALL], [2]),
]


@pytest.mark.parametrize(("items", "places"), [pytest.param(*case[1:], id=case[0]) for case in WAITING])
def test_what_waits(items: list[dict[str, Any]], places: list[int]) -> None:
    assert compaction.pending(items) == [items[place] for place in places]


# ── a backend's own ──────────────────────────────────────────────────────────

OWN = {
    "id": "resp_own",
    "object": "response.compaction",
    "created_at": 5,
    "output": [{"type": "compaction", "id": "cmp_own", "encrypted_content": "THEIRS"}],
    "usage": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12},
}
ANSWER = {
    "id": "resp_up", "object": "response", "created_at": 1, "model": "up", "status": "completed", "error": None,
    "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "Noted.", "annotations": []}]}],
    "usage": {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12},
}  # fmt: skip


def openai_itself(sent: Open) -> Answer:
    body = OWN if sent.url.endswith("/responses/compact") else ANSWER
    return Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"})


def own(provider: str = "openai-responses") -> Route:
    return Route(provider=PROVIDERS[provider], base_url="http://own.test/v1", key="k", model="gpt-up")


@contextmanager
def through(peer: ScriptedPeer, *routes: Route) -> Iterator[Any]:
    """A client of a gateway with these routes; the SDK types every item: here they are what they are."""
    app = create_app(GatewayConfig(models={"m": routes}), peer)
    with serving(app) as address, openai.OpenAI(base_url=f"{address}/v1", api_key="x", max_retries=0) as client:
        yield client


@pytest.mark.parametrize("provider", ["openai-responses", "xai-responses"])
def test_a_backend_that_compacts_is_asked_for_it(provider: str) -> None:
    peer = ScriptedPeer(openai_itself)
    with through(peer, own(provider)) as client:
        first = client.responses.create(model="m", input=TEAL)
        made = client.responses.compact(model="m", previous_response_id=first.id, instructions="You garden.")
        client.responses.create(model="m", input=[*items_of(made), ECHO])
    asked = json.loads(peer.sent[1].body)
    assert (peer.sent[1].url, asked["model"]) == ("http://own.test/v1/responses/compact", "gpt-up")
    assert "previous_response_id" not in asked
    assert all(word in json.dumps(asked) for word in (TEAL, "Noted.", "You garden."))
    assert made.output[-1].encrypted_content == "THEIRS"
    assert "THEIRS" in peer.sent[2].body.decode()


def test_where_another_backend_may_be_asked_too_the_summary_is_ours() -> None:
    peer = ScriptedPeer(openai_itself)
    other = Route(provider=COMPATIBLE["openai_chat"], base_url="http://other.test", model="n")
    with through(peer, own(), other) as client:
        made = client.responses.compact(model="m", input=TALK)
    assert peer.sent[0].url.endswith("/responses")
    assert made.output[-1].encrypted_content.startswith(compaction.BEGIN)


def test_the_next_backend_compacts_where_one_fails() -> None:
    def answer(sent: Open) -> Answer:
        return refusal(500, {"error": {"message": "no"}}) if "own.test" in sent.url else openai_itself(sent)

    peer = ScriptedPeer(answer)
    other = Route(provider=PROVIDERS["openai-responses"], base_url="http://other.test/v1", key="j", model="gpt-up")
    with through(peer, own(), other) as client:
        assert client.responses.compact(model="m", input=TALK).id == "resp_own"


@pytest.mark.parametrize("body", [b"no json", b"[]"])
def test_what_is_no_answer_is_an_error(body: bytes) -> None:
    peer = ScriptedPeer([Answer((body,))])
    with through(peer, own()) as client, pytest.raises(openai.APIStatusError, match="no JSON object"):
        client.responses.compact(model="m", input=TALK)
