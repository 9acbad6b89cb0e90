"""State of OpenAI's Responses, kept here for every backend: the official SDK over loopback, and the edges in process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pytest

from dragoman.effects import Open
from dragoman.errors import ProviderError
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.state.contents import Contents
from dragoman.gateway.state.conversations import Conversations
from dragoman.gateway.state.shelf import Shelf
from dragoman.gateway.state.sqlite_cache import FILE, SqliteCache
from dragoman.gateway.state.stores import StateStores
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import call
from tests.support.gateways import ALICE, BOB, every_back, openai_client, row, streamed_and_whole
from tests.support.kept import alone
from tests.support.servers import serving
from tests.support.upstreams import ScriptedReply, answered

LOOK = {"type": "function", "name": "look", "strict": False, "parameters": {"type": "object", "properties": {"at": {}}}}


def counting(back: str) -> Callable[[Open], Answer]:
    """A model that says how many turns it was shown; it calls the tool where it is told to look up."""

    def answer(sent: Open) -> Answer:
        body = json.loads(sent.body)
        turns = body.get("messages", body.get("contents", body.get("input")))
        last = json.dumps(turns[-1])
        if "look up" in last:
            return answered(back, ScriptedReply((), (("c1", "look", {"at": "sky"}),)), body)
        return answered(back, ScriptedReply((f"{len(turns)} turns",)), body)

    return answer


def app(back: str = "openai_chat", directory: Path | None = None) -> Any:
    route = Route(provider=COMPATIBLE[back], base_url="http://model.test")
    access = (row(ALICE, "alice"), row(BOB, "bob"))
    config = GatewayConfig(default=route, access=access)
    return create_app(config, ScriptedPeer(counting(back)), stores=StateStores(directory))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(app()) as found:
        yield found


# ── previous_response_id ─────────────────────────────────────────────────────


@every_back
def test_a_response_is_followed_by_its_id_on_every_backend(back: str) -> None:
    with serving(app(back)) as found, openai_client(found, ALICE) as one:
        first = one.responses.create(model="m", input="one")
        second = one.responses.create(model="m", input="two", previous_response_id=first.id)
        third = one.responses.create(model="m", input="three", previous_response_id=second.id)
    assert [one.output_text for one in (first, second, third)] == ["1 turns", "3 turns", "5 turns"]
    assert (third.previous_response_id, third.store) == (second.id, True)


def test_instructions_are_not_inherited(alice: Any) -> None:
    first = alice.responses.create(model="m", input="one", instructions="Be brief.")
    second = alice.responses.create(model="m", input="two", previous_response_id=first.id)
    assert (first.output_text, second.output_text) == ("2 turns", "3 turns")


@streamed_and_whole
def test_an_output_alone_finishes_a_call(alice: Any, stream: bool) -> None:
    if stream:
        *_, last = alice.responses.create(model="m", input="look up", tools=[LOOK], stream=True)
        first = last.response
    else:
        first = alice.responses.create(model="m", input="look up", tools=[LOOK])
    (made,) = first.output
    output = {"type": "function_call_output", "call_id": made.call_id, "output": "blue"}
    second = alice.responses.create(model="m", input=[output], tools=[LOOK], previous_response_id=first.id)
    assert second.output_text == "3 turns"


REFUSED = [
    ("unknown", lambda alice, bob: "resp_nope"),
    ("another key's", lambda alice, bob: bob.responses.create(model="m", input="one").id),
    ("not stored", lambda alice, bob: alice.responses.create(model="m", input="one", store=False).id),
]


@pytest.mark.parametrize("name", [pytest.param(made, id=word) for word, made in REFUSED])
def test_a_response_that_is_not_ones_own_cannot_be_followed(
    alice: Any, bob: Any, name: Callable[..., str]
) -> None:
    found = name(alice, bob)
    with pytest.raises(openai.BadRequestError, match=found) as error:
        alice.responses.create(model="m", input="two", previous_response_id=found)
    assert (error.value.code, error.value.param) == ("previous_response_not_found", "previous_response_id")


def test_a_response_and_a_conversation_exclude_each_other(alice: Any) -> None:
    with pytest.raises(openai.BadRequestError, match="Mutually exclusive"):
        alice.responses.create(model="m", input="x", previous_response_id="resp_a", conversation="conv_b")


# ── by id ────────────────────────────────────────────────────────────────────


def test_a_response_is_retrieved_and_deleted_by_its_own_key(alice: Any, bob: Any) -> None:
    made = alice.responses.create(model="m", input="one", metadata={"of": "mine"})
    assert alice.responses.retrieve(made.id) == made
    assert made.metadata == {"of": "mine"}
    for refused in (bob.responses.retrieve, bob.responses.delete, bob.responses.input_items.list):
        with pytest.raises(openai.NotFoundError, match=made.id):
            refused(made.id)
    alice.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        alice.responses.retrieve(made.id)


def test_input_items_are_those_of_the_whole_chain_in_pages(alice: Any) -> None:
    first = alice.responses.create(model="m", input=[{"role": "user", "content": f"q{n}"} for n in range(3)])
    second = alice.responses.create(model="m", input="q3", previous_response_id=first.id)
    texts = [item.content[0].text for item in alice.responses.input_items.list(second.id, limit=2)]
    assert texts == ["q3", "3 turns", "q2", "q1", "q0"]
    assert alice.responses.input_items.list(second.id, limit=1, order="asc").data[0].content[0].text == "q0"


def test_tokens_are_counted_with_what_the_request_refers_to(alice: Any) -> None:
    long = alice.responses.create(model="m", input="hello " * 200)
    count = alice.responses.input_tokens.count
    alone, after = count(model="m", input="hi"), count(model="m", input="hi", previous_response_id=long.id)
    assert alone.object == "response.input_tokens"
    assert 0 < alone.input_tokens < after.input_tokens - 100
    assert count(model="m", input="hi", tools=[LOOK]).input_tokens > alone.input_tokens


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "order=up", "after=msg_nope"])
def test_a_page_that_cannot_be_is_refused(query: str) -> None:
    gateway, headers = app(), {"authorization": f"Bearer {ALICE}"}
    made = call(gateway, "/v1/responses", {"model": "m", "input": "one"}, headers=headers).json["id"]
    reply = call(gateway, f"/v1/responses/{made}/input_items?{query}", headers=headers, method="GET")
    assert (reply.status, reply.json["error"]["param"]) == (400, query.partition("=")[0])


# ── conversations ────────────────────────────────────────────────────────────


def test_a_conversation_is_made_noted_and_deleted(alice: Any) -> None:
    made = alice.conversations.create(metadata={"a": "b"})
    assert alice.conversations.retrieve(made.id) == made
    assert alice.conversations.update(made.id, metadata={"c": "d"}).metadata == {"c": "d"}
    assert alice.conversations.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        alice.conversations.retrieve(made.id)


def test_items_are_added_listed_retrieved_and_taken_out(alice: Any) -> None:
    talk = alice.conversations.create(items=[{"role": "user", "content": "zero"}]).id
    added = alice.conversations.items.create(talk, items=[{"role": "user", "content": str(n)} for n in range(3)])
    assert [one.content[0].text for one in alice.conversations.items.list(talk, limit=2)] == ["2", "1", "0", "zero"]
    assert alice.conversations.items.retrieve(added.data[1].id, conversation_id=talk).content[0].text == "1"
    alice.conversations.items.delete(added.data[1].id, conversation_id=talk)
    assert [one.content[0].text for one in alice.conversations.items.list(talk)] == ["2", "0", "zero"]
    with pytest.raises(openai.NotFoundError):
        alice.conversations.items.retrieve(added.data[1].id, conversation_id=talk)


@streamed_and_whole
def test_a_response_adds_what_it_was_asked_and_answered(alice: Any, stream: bool) -> None:
    talk = alice.conversations.create(items=[{"role": "user", "content": "zero"}]).id
    first = alice.responses.create(model="m", input="look up", tools=[LOOK], conversation=talk, stream=stream)
    made = (list(first)[-1].response if stream else first).output[0]
    output = {"type": "function_call_output", "call_id": made.call_id, "output": "red"}
    last = alice.responses.create(model="m", input=[output], tools=[LOOK], conversation={"id": talk})
    assert last.conversation.id == talk
    kinds = [item.type for item in alice.conversations.items.list(talk, order="asc")]
    assert kinds == ["message", "message", "function_call", "function_call_output", "message"]


def test_nothing_is_lost_where_many_answer_into_one_conversation(alice: Any) -> None:
    talk = alice.conversations.create().id
    with ThreadPoolExecutor(8) as many:
        list(many.map(lambda n: alice.responses.create(model="m", input=str(n), conversation=talk), range(8)))
    assert len(alice.conversations.items.list(talk, limit=100).data) == 16


def test_a_conversation_is_its_own_keys_alone(alice: Any, bob: Any) -> None:
    talk = alice.conversations.create().id
    for refused in (bob.conversations.retrieve, bob.conversations.items.list, bob.conversations.delete):
        with pytest.raises(openai.NotFoundError):
            refused(talk)
    with pytest.raises(openai.NotFoundError):
        bob.responses.create(model="m", input="x", conversation=talk)
    assert alice.conversations.retrieve(talk).id == talk


BAD = [
    {"items": [{"role": "user", "content": "x"}] * 21},
    {"items": 3},
    {"items": ["x"]},
    {"metadata": {str(n): "v" for n in range(17)}},
    {"metadata": {"k": 3}},
    {"metadata": {"k" * 65: "v"}},
    {"metadata": []},
]


@pytest.mark.parametrize("body", BAD, ids=str)
def test_what_is_no_conversation_is_refused(body: dict[str, Any]) -> None:
    reply = call(app(), "/v1/conversations", body, headers={"authorization": f"Bearer {ALICE}"})
    assert (reply.status, reply.json["error"]["type"]) == (400, "invalid_request_error")


# ── several processes ────────────────────────────────────────────────────────


def test_one_process_follows_and_deletes_what_another_answered(tmp_path: Path) -> None:
    one, other = app(directory=tmp_path), app(directory=tmp_path)
    headers = {"authorization": f"Bearer {ALICE}"}
    made = call(one, "/v1/responses", {"model": "m", "input": "one"}, headers=headers).json["id"]
    ask = {"model": "m", "input": "two", "previous_response_id": made}
    assert call(other, "/v1/responses", ask, headers=headers).json["output"][0]["content"][0]["text"] == "3 turns"
    assert call(other, f"/v1/responses/{made}", headers=headers, method="DELETE").status == 200
    assert call(one, f"/v1/responses/{made}", headers=headers, method="GET").status == 404
    assert call(one, "/v1/responses", ask, headers=headers).status == 400


def test_a_store_that_cannot_be_read_says_come_again_not_gone(tmp_path: Path) -> None:
    gateway, headers = app(directory=tmp_path), {"authorization": f"Bearer {ALICE}"}
    made = call(gateway, "/v1/responses", {"model": "m", "input": "one"}, headers=headers).json["id"]
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    broken = app(directory=tmp_path)
    for path in (f"/v1/responses/{made}", "/v1/conversations/conv_x"):
        reply = call(broken, path, headers=headers, method="GET")
        assert (reply.status, reply.headers["retry-after"]) == (503, "1")


def test_a_change_that_fails_changes_nothing(tmp_path: Path) -> None:
    store = SqliteCache(tmp_path / FILE)
    store.put({("k", "a"): "1"})

    def fails(_: str | None) -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.change(("k", "a"), fails)
    store.change(("k", "a"), lambda text: f"{text}2")
    assert store.get([("k", "a")]) == {("k", "a"): "12"}
    store.change(("k", "a"), lambda _: None)
    assert store.get([("k", "a")]) == {}
    store.close()


def test_a_conversation_with_a_hole_is_refused() -> None:
    contents, shelf = Contents(limit=700), Shelf("conversation")
    talks = Conversations(shelf, contents)
    made = alone(talks.create({"items": [{"role": "user", "content": str(n)} for n in range(2)]}, "", 0.0))
    with pytest.raises(ProviderError, match="not kept here any more"):
        alone(talks.items(made, ""))
