"""Conversations come out in order, once and for all, and whatever was done to them is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import ErrorCode
from dragoman.history import MISSING, repair
from dragoman.types import IssueKind, Message, Text, ToolCall, ToolResult


def call(id_: str, name: str = "look") -> ToolCall:
    return ToolCall(id=id_, name=name)


def result(id_: str, said: str = "", name: str = "look") -> ToolResult:
    return ToolResult(call_id=id_, name=name, content=said or f"of {id_}")


def missing(id_: str, name: str = "look") -> ToolResult:
    return ToolResult(call_id=id_, name=name, content=MISSING, is_error=True, error_code=ErrorCode.MISSING_RESULT)


ASK = Message("user", "go")
BOTH = Message("assistant", [Text("on it"), call("a"), call("b")])

IN_ORDER = {
    "no tools at all": [Message("system", "s"), ASK, Message("assistant", "hello"), ASK],
    "each call answered": [ASK, BOTH, Message("tool", [result("a"), result("b")]), Message("assistant", "done")],
    "answered in another order": [ASK, BOTH, Message("tool", [result("b"), result("a")])],
    "an id used again in a later turn": [
        ASK,
        Message("assistant", [call("look:0")]),
        Message("tool", [result("look:0", "first")]),
        Message("assistant", [call("look:0")]),
        Message("tool", [result("look:0", "second")]),
    ],
    "user text after the results": [ASK, BOTH, Message("tool", [result("a"), result("b")]), ASK],
    "nothing": [],
}

REPAIRED = {
    "a missing result becomes an error": (
        [ASK, BOTH, Message("tool", [result("a")])],
        [ASK, BOTH, Message("tool", [result("a"), missing("b")])],
        ["'look' has no result"],
    ),
    "a conversation that ends with a call": (
        [ASK, BOTH],
        [ASK, BOTH, Message("tool", [missing("a"), missing("b")])],
        ["'look' has no result", "'look' has no result"],
    ),
    "a result behind user text moves up": (
        [ASK, BOTH, Message("user", "hurry"), Message("tool", [result("a"), result("b")])],
        [ASK, BOTH, Message("tool", [result("a"), result("b")]), Message("user", "hurry")],
        ["moved next to the calls"],
    ),
    "results told one by one with text between": (
        [ASK, BOTH, Message("tool", [result("a")]), Message("user", "and?"), Message("tool", [result("b")])],
        [ASK, BOTH, Message("tool", [result("a"), result("b")]), Message("user", "and?")],
        ["moved next to the calls"],
    ),
    "an orphan result is left out": (
        [Message("tool", [result("z", "lost")]), ASK, Message("assistant", "hi")],
        [ASK, Message("assistant", "hi")],
        ["answers no call (id 'z')"],
    ),
    "a second result of one call is left out": (
        [BOTH, Message("tool", [result("a"), result("b"), result("a", "again")])],
        [BOTH, Message("tool", [result("a"), result("b")])],
        ["answers no call (id 'a')"],
    ),
    "results are not claimed across the next assistant message": (
        [BOTH, Message("tool", [result("a")]), Message("assistant", "so"), Message("tool", [result("b")])],
        [BOTH, Message("tool", [result("a"), missing("b")]), Message("assistant", "so")],
        ["'look' has no result", "answers no call (id 'b')"],
    ),
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_a_conversation_in_order_comes_back_as_it_is(name: str) -> None:
    given_ = IN_ORDER[name]
    repaired = repair(given_)
    assert list(repaired.messages) == given_
    assert repaired.issues == ()


@pytest.mark.parametrize("name", REPAIRED)
def test_a_broken_conversation_is_put_in_order_and_told(name: str) -> None:
    given_, wanted, told = REPAIRED[name]
    repaired = repair(given_)
    assert list(repaired.messages) == wanted
    assert len(repaired.issues) == len(told)
    for issue, part in zip(repaired.issues, told, strict=True):
        assert part in issue.message
        assert issue.kind is IssueKind.HISTORY


def test_a_result_without_id_or_name_takes_its_calls() -> None:
    """Ollama's wire has neither."""
    calls = Message("assistant", [call("c0", "read"), call("c1", "write")])
    told = Message("tool", [result("", "written", "write"), result("", "was read", "")])
    repaired = repair([calls, told])
    assert repaired.messages[1] == Message("tool", [result("c1", "written", "write"), result("c0", "was read", "read")])
    assert repaired.issues == ()


def test_a_left_out_result_keeps_its_text_in_the_issue() -> None:
    repaired = repair([Message("tool", [result("z", "precious")])])
    assert repaired.issues[0].raw == "precious"


ids = st.sampled_from(["a", "b", "c", ""])
parts = st.one_of(
    st.builds(Text, st.just("x")),
    st.builds(call, st.sampled_from(["a", "b", "c"])),
)
messages = st.lists(
    st.one_of(
        st.builds(Message, st.just("user"), st.just("go")),
        st.builds(Message, st.just("assistant"), st.lists(parts, min_size=1, max_size=3)),
        st.builds(Message, st.just("tool"), st.lists(st.builds(result, ids), min_size=1, max_size=3)),
    ),
    max_size=6,
)


@given(messages)
def test_after_repair_every_call_has_exactly_one_result_and_a_second_repair_does_nothing(given_: list[Message]) -> None:
    repaired = repair(given_)
    for at, message in enumerate(repaired.messages):
        follows = repaired.messages[at + 1].results if at + 1 < len(repaired.messages) else ()
        if message.role == "assistant":
            assert sorted(c.id for c in message.calls) == sorted(r.call_id for r in follows)
        if message.results:
            assert repaired.messages[at - 1].calls
            assert at > 0
    again = repair(repaired.messages)
    assert again.messages == repaired.messages
    assert again.issues == ()
