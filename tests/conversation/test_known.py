"""Conversations that come again: found by their beginning, and what is made of them is the same with and without."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.counts import counting
from dragoman.codecs import CODECS
from dragoman.conversation.grown import Grown, grown
from dragoman.conversation.known import FEWEST, HELD, LONGEST, PLACE, known_again
from dragoman.effects import Open
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.turn.machine import turn
from dragoman.types import Media, Message, Opaque, Request, Text, Tool, ToolCall, ToolResult

APIS = ("openai_chat", "openai_responses", "anthropic_messages", "ollama_chat", "gemini")
TOOLS = (
    Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}),
    Tool(name="ask", description="Ask."),
)


def said(turns: int) -> tuple[Message, ...]:
    told = [Message("system", "Be brief.")]
    for n in range(turns):
        call = ToolCall(id=f"c{n}", name="look", arguments={"at": f"file {n}"})
        told += [
            Message("user", f"Look at {n}."),
            Message("assistant", [Text("I look."), call]),
            Message("tool", [ToolResult(call_id=call.id, name="look", content=f"line {n}")]),
            Message("assistant", f"It says {n}."),
        ]
    return tuple(told)


ROUTES = {api: Route(provider=COMPATIBLE[api], base_url="http://model.test") for api in COMPATIBLE}


def sent(api: str, messages: tuple[Message, ...], tools: tuple[Tool, ...] = TOOLS) -> Any:
    return json.loads(written(api, messages, tools))


def written(api: str, messages: tuple[Message, ...], tools: tuple[Tool, ...]) -> bytes:
    machine = turn(Request(model="m", messages=messages, tools=tools, stream=True), ROUTES[api])
    effect: Any = next(machine)
    while not isinstance(effect, Open):
        effect = machine.send(None)
    machine.close()
    body: bytes = effect.body
    return body


@pytest.mark.parametrize("api", APIS)
def test_a_body_is_written_alike_whether_its_conversation_grew_or_not(api: str) -> None:
    told, more = said(6), (Message("assistant", "Done."), Message("user", "And?"))
    alone = written(api, (*said(6), *more), TOOLS)
    assert written(api, told, TOOLS)
    assert written(api, (*told, *more), TOOLS) == alone


def test_a_conversation_that_grew_is_found_by_its_beginning() -> None:
    first = said(2)
    known = known_again(first)
    assert type(known) is Grown
    assert known == first
    more = known_again((*first, Message("user", "And?")))
    assert isinstance(more, Grown)
    assert more.base is known
    assert known_again(first) is known


def test_another_turn_behind_the_same_beginning_is_found_too() -> None:
    first = said(3)
    known = known_again(first)
    for words in ("one", "two"):
        found = known_again((*first, Message("user", words)))
        assert isinstance(found, Grown)
        assert found.base is known
        assert found[-1].text == words


def test_however_many_turns_stand_behind_the_same_beginning_it_is_known() -> None:
    first = said(3)
    known = known_again(first)
    for n in range(200):
        found = known_again((*first, Message("user", f"Number {n}.")))
        assert isinstance(found, Grown)
        assert found.base is known


def test_turns_behind_the_same_beginning_do_not_add_up() -> None:
    long = Message("user", [Text("word " * (LONGEST // 10), metadata={"of": "a wire"})])  # half of what is held
    first = (long, *said(2))
    known = known_again(first)
    for n in range(8):
        found = known_again((*first, Message("user", [Text(str(n) * (LONGEST // 8), metadata={"of": "a wire"})])))
        assert isinstance(found, Grown)
        assert found.base is known


def test_a_beginning_that_was_changed_is_another_conversation() -> None:
    first = said(3)
    known_again(first)
    changed = (*first[:3], Message("tool", [ToolResult(call_id="c0", name="look", content="other")]), *first[4:])
    found = known_again(changed)
    assert isinstance(found, Grown)
    assert found.base is None
    assert found == changed


def test_a_conversation_of_hundreds_of_turns_is_known_in_each_and_holds_the_last_two_beginnings() -> None:
    messages = said(2)
    found = known_again(messages)
    for n in range(300):
        known = found
        messages = (*messages, Message("assistant", "Done."), Message("user", f"And {n}?"))
        found = known_again(messages)
        assert isinstance(found, Grown)
        assert found.base is known
    assert isinstance(found, Grown)
    assert found.base is not None
    assert found.base.base is not None
    assert found.base.base.base is None


def test_a_conversation_with_an_image_is_known_in_its_next_turn() -> None:
    seen = ToolResult(call_id="c9", name="look", content=[Text("Here:"), Media(mime="image/png", data="aGk=")])
    call = ToolCall(id="c9", name="look", arguments={"at": "sky"})
    first = (*said(2), Message("user", [Media(mime="image/png", data="aGk=")]), Message("assistant", [call]))
    known = known_again(first)
    found = known_again((*first, Message("tool", [seen])))
    assert isinstance(found, Grown)
    assert found.base is known


def test_a_long_conversation_takes_the_place_of_several() -> None:
    def long(size: int) -> tuple[Message, ...]:
        return (*said(2), Message("user", "x" * size))

    def is_known(messages: tuple[Message, ...]) -> bool:
        return getattr(known_again((*messages, Message("assistant", "Done."))), "base", None) is not None

    short = [long(1) for _ in range(HELD)]
    for one in short:
        known_again(one)
    known_again(long(LONGEST // 2 - 1000))  # half of half of the places
    assert [is_known(one) for one in reversed(short)] == [True] * (HELD - HELD // 4) + [False] * (HELD // 4)


def test_a_conversation_that_grows_out_of_its_place_is_still_known() -> None:
    messages = said(2)
    known = known_again(messages)
    for n in range(HELD // 2 * 2 - 1):
        messages = (*messages, Message("user", str(n) * (PLACE // 2 - 1000)))
        found = known_again(messages)
        assert isinstance(found, Grown)
        assert found.base is known
        known = found
    assert known_again((*messages, Message("user", "x" * PLACE))).__class__ is tuple


@pytest.mark.parametrize(
    "messages",
    [
        said(1)[: FEWEST - 1],
        (*said(2), Message("user", "x" * LONGEST)),
        (*said(2), Message("user", [Media(mime="image/png", data="aGk=" * (LONGEST // 8))])),
        (*said(2), Message("user", [Opaque(api="openai_chat", block={"type": "odd"})])),
    ],
)
def test_what_is_short_long_or_of_a_wire_is_not_held(messages: tuple[Message, ...]) -> None:
    assert known_again(messages) is messages


@pytest.mark.parametrize("api", APIS)
def test_each_turn_is_sent_as_if_nothing_were_known(api: str) -> None:
    whole = said(6)
    for end in (5, 7, 9, 8, 13, 12, 25):
        fresh = tuple(Message(m.role, m.parts, cache=m.cache, metadata=m.metadata) for m in whole[:end])
        assert sent(api, whole[:end]) == sent(api, fresh)


@pytest.mark.parametrize("api", [api for api in APIS if api != "anthropic_messages"])
def test_the_next_turn_costs_what_is_new(api: str) -> None:
    def calls(turns: int) -> int:
        told = (*said(turns), Message("user", "Is that all?"))
        sent(api, told)
        sent(api, (*told, Message("assistant", "Yes."), Message("user", "So?")))
        with counting() as count:
            sent(api, (*told, Message("assistant", "No."), Message("user", "And?")))
        return count.calls

    calls(3)  # what a plan comes to is compiled
    assert calls(60) <= calls(6) + 20


@pytest.mark.parametrize("api", [api for api in APIS if api != "anthropic_messages"])
def test_each_turn_after_the_first_costs_what_is_new(api: str) -> None:
    def calls(turns: int) -> list[int]:
        told, found = (*said(turns), Message("user", "Is that all?")), []
        sent(api, told)
        for n in range(3):
            told = (*told, Message("assistant", f"Yes, {n}."), Message("user", "So?"))
            with counting() as count:
                sent(api, told)
            found.append(count.calls)
        return found

    calls(3)
    assert all(long <= short + 20 for long, short in zip(calls(60), calls(6), strict=True))


def test_tools_that_were_changed_in_place_are_sent_as_they_are() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"at": {"type": "string"}}}
    tools = (Tool(name="look", parameters=schema),)
    sent("openai_chat", said(2), tools)
    schema["properties"]["far"] = {"type": "boolean"}
    [one] = sent("openai_chat", said(2), tools)["tools"]
    assert "far" in one["function"]["parameters"]["properties"]


PIECES: dict[str, list[Any]] = {
    "ollama_chat": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {"at": "a"}}}]},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "ask", "arguments": {}}}]},
        {"role": "tool", "content": "one"},
        {"role": "tool", "content": "two"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "Look."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"at": "a"}}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "ask", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"result": "one"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "ask", "response": {"result": "two"}}}]},
        {"role": "model", "parts": [{"text": "Done."}]},
        {"role": "user", "parts": [{"text": "Thanks."}]},
    ],
}


@pytest.mark.parametrize("api", PIECES)
@pytest.mark.parametrize("steps", [(1,), (2, 5), (3,), (3, 4, 5), (4, 6), (5,), (6,), (1, 2, 3, 4, 5, 6, 7)])
def test_a_list_that_grew_is_read_as_it_is_at_once(api: str, steps: tuple[int, ...]) -> None:
    pieces, decode = PIECES[api], CODECS[api].decode_request
    field = "contents" if api == "gemini" else "messages"
    about: dict[str, Any] = {} if api == "gemini" else {"model": "m"}
    if api == "gemini":
        about["systemInstruction"] = {"parts": [{"text": "Be brief."}]}
    listed: Grown[Any] | None = None
    for begin, end in zip((0, *steps), (*steps, len(pieces)), strict=True):
        listed = grown(listed, pieces[begin:end])
        read = decode({**about, field: listed})
        assert tuple(read.messages) == tuple(decode({**about, field: pieces[:end]}).messages)
    assert api == "ollama_chat" or type(read.messages) is Grown  # results that answer one turn are one message
