"""What a whole answer says, the same answer says in a stream: refusals, citations, sealed reasoning, choices beside."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import Reply
from tests.support.gateways import app, ask, every_front, read, streamed_and_whole

DETAILS = [{"type": "reasoning.encrypted", "data": "ENC", "id": "r1", "format": "openai-responses-v1", "index": 0}]
NOTE = {"type": "url_citation", "url": "https://e.x/a", "title": "A", "start_index": 0, "end_index": 2}
TEXT = {"type": "output_text", "text": "Well", "annotations": [NOTE], "logprobs": []}
REFUSAL = {"type": "refusal", "refusal": "I cannot."}
SEARCH = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}


def whole(body: Mapping[str, Any]) -> ScriptedPeer:
    return ScriptedPeer(lambda _: Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"}))


def streamed(chunks: Iterable[Mapping[str, Any]]) -> ScriptedPeer:
    kinds = ((f"event: {one['type']}\n" if "type" in one else "", one) for one in chunks)
    pieces = [f"{kind}data: {json.dumps(one)}\n\n".encode() for kind, one in kinds]
    answer = Answer((*pieces, b"data: [DONE]\n\n"), headers={"content-type": "text/event-stream"})
    return ScriptedPeer(lambda _: answer)


def chat(stream: bool, message: Mapping[str, Any], *deltas: Mapping[str, Any]) -> ScriptedPeer:
    """An answer of Chat: a message whole, or these deltas."""
    if not stream:
        told = {"role": "assistant", **message}
        return whole({"id": "x", "model": "m", "choices": [{"index": 0, "message": told, "finish_reason": "stop"}]})
    return streamed(chunk(delta) for delta in ({"role": "assistant", "content": ""}, *deltas, {}))


def chunk(delta: Mapping[str, Any], index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": None if delta else "stop"}
    return {"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def of_deltas(reply: Reply, key: str) -> str:
    """What a Chat client reads in this field of the message."""
    lines = [line for line in reply.body.decode().splitlines() if line.startswith("data: {")]
    deltas = [choice["delta"] for line in lines for choice in json.loads(line[6:])["choices"]]
    return "".join(delta.get(key) or "" for delta in deltas)


# ── refusals ─────────────────────────────────────────────────────────────────

REFUSING: dict[str, list[dict[str, Any]]] = {
    "behind": [{"content": "Well. "}, {"refusal": "I can"}, {"refusal": "not."}],
    "in one chunk": [{"content": "Well. ", "refusal": "I can"}, {"refusal": "not."}],
}


@pytest.mark.parametrize("more", [{}, {"tools": []}], ids=["tools", "no tools"])
@pytest.mark.parametrize("deltas", REFUSING.values(), ids=REFUSING)
def test_a_refusal_behind_content_is_one_in_a_stream_too(deltas: list[dict[str, Any]], more: dict[str, Any]) -> None:
    message = {"content": "Well. ", "refusal": "I cannot."}
    told = ask(app(chat(False, message)), "openai_chat", stream=False, **more).json["choices"][0]["message"]
    reply = ask(app(chat(True, {}, *deltas)), "openai_chat", stream=True, **more)
    assert {key: of_deltas(reply, key) for key in message} == {key: told[key] for key in message} == message


def responses(stream: bool, *output: dict[str, Any]) -> ScriptedPeer:
    """An answer of Responses: these items, the texts of messages piece by piece."""
    body = {"id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": [*output]}
    if not stream:
        return whole(body)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**body, "status": "in_progress", "output": []}}
    ]
    for n, item in enumerate(output):
        empty: dict[str, Any] = {"content": []} if item["type"] == "message" else {}
        events.append({"type": "response.output_item.added", "output_index": n, "item": {**item, **empty}})
        for place, part in enumerate(item.get("content", ())):
            at = {"output_index": n, "content_index": place, "item_id": item["id"]}
            kind, key = ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
            events.append({"type": f"response.{kind}.delta", **at, "delta": part[key]})
            events.append({"type": "response.content_part.done", **at, "part": part})
        events.append({"type": "response.output_item.done", "output_index": n, "item": item})
    return streamed([*events, {"type": "response.completed", "response": body}])


def said(*content: dict[str, Any]) -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [*content]}


@streamed_and_whole
@pytest.mark.parametrize("output", [[said(TEXT, REFUSAL)], [said(TEXT), SEARCH]], ids=["a refusal", "a search"])
def test_a_message_keeps_its_citations_whatever_follows(stream: bool, output: list[dict[str, Any]]) -> None:
    reply = ask(app(responses(stream, *output), "openai_responses"), "openai_responses", stream=stream)
    told = events_of(reply)[-1]["response"] if stream else reply.json
    assert told["output"][0]["content"][0] == TEXT


def test_a_refusal_of_another_wire_is_one_in_a_stream_too() -> None:
    reply = ask(app(responses(True, said(TEXT, REFUSAL)), "openai_responses"), "openai_chat", stream=True)
    assert (of_deltas(reply, "content"), of_deltas(reply, "refusal")) == ("Well", "I cannot.")


def peers_of_refusals() -> dict[str, tuple[str, ScriptedPeer]]:
    """Providers that answer one JSON body whatever was asked for: a text, and a refusal behind it."""
    message = {"content": "Well", "refusal": "I cannot."}
    return {"chat": ("openai_chat", chat(False, message)), "responses": ("openai_responses", responses(False, said(TEXT, REFUSAL)))}


@pytest.mark.parametrize("more", [{}, {"tools": []}], ids=["tools", "no tools"])
@pytest.mark.parametrize("back", ["chat", "responses"])
def test_a_refusal_of_a_whole_body_is_one_in_a_stream(back: str, more: dict[str, Any]) -> None:
    api, peer = peers_of_refusals()[back]
    reply = ask(app(peer, api), "openai_chat", stream=True, **more)
    assert (of_deltas(reply, "content"), of_deltas(reply, "refusal")) == ("Well", "I cannot.")
    events = events_of(ask(app(peer, api), "openai_responses", stream=True, **more))
    assert [(one["type"], one["delta"]) for one in events if "delta" in one] == [
        ("response.output_text.delta", "Well"), ("response.refusal.delta", "I cannot."),
    ]  # fmt: skip


APART = [{**said(TEXT), "id": "msg_1"}, {**said(REFUSAL), "id": "msg_2"}]
MESSAGES: dict[str, tuple[str, Any, list[list[str]]]] = {
    "of Chat": ("openai_chat", lambda stream: chat(stream, {"content": "Well", "refusal": "I cannot."},
        {"content": "Well"}, {"refusal": "I cannot."}), [["output_text", "refusal"]]),
    "of Chat alone": ("openai_chat", lambda stream: chat(stream, {"refusal": "I cannot."}, {"refusal": "I cannot."}),
        [["refusal"]]),
    "of Responses": ("openai_responses", lambda stream: responses(stream, said(TEXT, REFUSAL)),
        [["output_text", "refusal"]]),
    "of Responses, in a message of its own": ("openai_responses", lambda stream: responses(stream, *APART),
        [["output_text"], ["refusal"]]),
}  # fmt: skip


@streamed_and_whole
@pytest.mark.parametrize("answers", [True, False], ids=["streams", "answers whole"])
@pytest.mark.parametrize(("api", "peer", "wanted"), MESSAGES.values(), ids=MESSAGES)
def test_a_refusal_stands_in_the_message_that_it_goes_on_with(
    api: str, peer: Any, wanted: list[list[str]], answers: bool, stream: bool
) -> None:
    reply = ask(app(peer(answers), api), "openai_responses", stream=stream)
    told = events_of(reply)[-1]["response"] if stream else reply.json
    content = [item["content"] for item in told["output"] if item["type"] == "message"]
    assert [[part["type"] for part in parts] for parts in content] == wanted
    if stream:
        done = [one["item"] for one in events_of(reply) if one["type"] == "response.output_item.done"]
        assert done == told["output"]


def events_of(reply: Reply) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in reply.body.decode().splitlines() if line.startswith("data: {")]


BEHIND = {**TEXT, "text": "Still."}


@pytest.mark.parametrize("parts", [(TEXT, REFUSAL), (REFUSAL, TEXT), (TEXT, REFUSAL, BEHIND)])
def test_a_message_of_texts_and_refusals_stays_one_in_a_stream(parts: tuple[dict[str, Any], ...]) -> None:
    events = events_of(ask(app(responses(True, said(*parts)), "openai_responses"), "openai_responses", stream=True))
    (item,) = events[-1]["response"]["output"]
    assert [part["type"] for part in item["content"]] == [part["type"] for part in parts]
    assert [one["part"] for one in events if one["type"] == "response.content_part.done"] == item["content"]
    done = [part.get("text", part.get("refusal")) for part in parts]
    assert [one.get("text", one.get("refusal")) for one in events if one["type"].endswith(("text.done", "refusal.done"))] == done


# ── reasoning of which nothing may be read ───────────────────────────────────

SEALED: dict[str, list[dict[str, Any]]] = {
    "before": [{"reasoning_details": DETAILS}, {"content": "Hi"}],
    "behind": [{"content": "Hi"}, {"reasoning_details": DETAILS}],
    "beside its text": [{"reasoning": "hm", "reasoning_details": DETAILS}, {"content": "Hi"}],
}


@pytest.mark.parametrize("front", ["gemini", "anthropic_messages", "openai_responses"])
@pytest.mark.parametrize("deltas", SEALED.values(), ids=SEALED)
def test_encrypted_reasoning_is_sealed_in_a_stream_too(front: str, deltas: list[dict[str, Any]]) -> None:
    message = {key: one for delta in deltas for key, one in delta.items()}
    told = read(front, ask(app(chat(False, message)), front, stream=False), stream=False)
    reply = read(front, ask(app(chat(True, {}, *deltas)), front, stream=True), stream=True)
    seals, again = ([found for one in each.message.parts if (found := getattr(one, "metadata", None))] for each in (told, reply))
    assert seals
    assert again == seals


# ── choices that nobody asked for ────────────────────────────────────────────

CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": 7}'}}


@every_front
@streamed_and_whole
def test_a_choice_that_nobody_asked_for_is_dropped_and_told(front: str, stream: bool) -> None:
    deltas = [chunk({"content": "one"}), chunk({"content": "two", "tool_calls": [CALL]}, 1), chunk({}), chunk({}, 1)]
    messages = [{"role": "assistant", "content": "one"}, {"role": "assistant", "content": "two", "tool_calls": [CALL]}]
    choices = [{"index": n, "message": one, "finish_reason": "stop"} for n, one in enumerate(messages)]
    peer = streamed(deltas) if stream else whole({"id": "x", "model": "m", "choices": choices})
    reply = ask(app(peer), front, stream=stream)
    assert read(front, reply, stream=stream).text == "one"
    assert "two" not in reply.body.decode()
    headers = reply.headers.get("x-dragoman-unsupported-fields", "")
    assert "candidates" in headers or (stream and (front == "gemini" or "candidates" in reply.body.decode()[-200:]))
