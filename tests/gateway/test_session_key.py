"""Every request of a conversation has one session, whoever names it, and no two conversations share one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.conversation.grown import grown
from dragoman.gateway.session_key import FIRST_TURNS, HEADERS, LONGEST, Session, session_of
from dragoman.types import Media, Message, Request, Text, ToolCall, ToolResult

UUID = "57a121ec-f78c-48c3-a745-e3036a3ecc33"
NAMED: list[tuple[str, dict[str, str], dict[str, Any], str, str]] = [
    ("our own header before all others", {"x-dragoman-session": "a", "session-id": "b"}, {}, "a", "x-dragoman-session"),
    ("Claude Code's header", {"x-claude-code-session-id": UUID}, {}, UUID, "x-claude-code-session-id"),
    ("Codex's header", {"session-id": UUID}, {"prompt_cache_key": "k"}, UUID, "session-id"),
    ("a header before a field", {"x-session-id": "h"}, {"session_id": "f"}, "h", "x-session-id"),
    ("the cache's key", {}, {"prompt_cache_key": "k"}, "k", "prompt_cache_key"),
    ("a session in metadata", {}, {"metadata": {"session_id": "s"}}, "s", "metadata.session_id"),
    ("metadata before the cache's key, which programs share", {},
     {"prompt_cache_key": "app", "metadata": {"session_id": "s"}}, "s", "metadata.session_id"),
    ("Claude Code's metadata", {}, {"metadata": {"user_id": f'{{"device_id":"d","session_id":"{UUID}"}}'}}, UUID,
     "metadata.user_id"),
    ("its older metadata", {}, {"metadata": {"user_id": f"user_ab12_account__session_{UUID}"}}, UUID,
     "metadata.user_id"),
]  # fmt: skip


def request(*said: str, system: str = "Be brief.", **extra: Any) -> Request:
    roles = ("user", "assistant")
    turns = (Message(roles[n % 2], text) for n, text in enumerate(said))  # type: ignore[arg-type]
    return Request(model="m", messages=(Message("system", system), *turns), extra=extra)


@pytest.mark.parametrize(("headers", "extra", "name", "source"), [row[1:] for row in NAMED], ids=[r[0] for r in NAMED])
def test_a_named_session_is_taken_as_it_is(headers: dict[str, str], extra: Any, name: str, source: str) -> None:
    found = session_of(request("Hello", **extra), headers)
    assert (found.name, found.source) == (name, source)


def test_a_named_session_is_one_whatever_is_said_in_it() -> None:
    assert session_of(request("One", session_id="s")) == session_of(request("Two", session_id="s"))
    assert session_of(request("One"), {"session-id": "s"}).key == session_of(request("Two", session_id="s")).key


NAMELESS: list[dict[str, Any]] = [
    {"metadata": {"user_id": "alice"}},
    {"metadata": {"user_id": "{broken"}},
    {"metadata": {"user_id": "[" * 100_000}},
    {"metadata": {"user_id": '{"session_id": null}'}},
    {"metadata": "none"},
    {"user": "alice"},
    {"session_id": 7},
    {"session_id": ""},
    {"prompt_cache_key": "x" * (LONGEST + 1)},
    {"prompt_cache_key": "a\nb"},
]


@pytest.mark.parametrize("extra", NAMELESS, ids=lambda extra: repr(extra)[:60])
def test_what_names_no_session_is_passed_over(extra: dict[str, Any]) -> None:
    assert session_of(request("Hello", **extra)) == session_of(request("Hello"))
    assert session_of(request("Hello", **extra)).source == FIRST_TURNS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["session_id", "user_id"]), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(["session_id", "metadata", "prompt_cache_key", "conversation_id", "user"])


@given(st.dictionaries(NAMES, JSON, max_size=4), st.dictionaries(st.sampled_from(sorted(HEADERS)), st.text(max_size=20)))
def test_whatever_stands_there_is_a_name_or_none(extra: dict[str, Any], headers: dict[str, str]) -> None:
    found = session_of(request("Hello", **extra), headers)
    assert len(found.key) == 32
    assert bool(found.name) is (found.source != FIRST_TURNS)
    assert found.name.isprintable()


def test_a_nameless_conversation_keeps_its_session_as_it_grows() -> None:
    first = session_of(request("Find the bug"))
    assert first == session_of(request("Find the bug", "Where?", "In main.py", "Found."))
    assert first.name == ""
    assert len(first.key) == 32


def test_nameless_conversations_differ_by_what_was_said_first() -> None:
    asked = [request("Fix issue 17"), request("Fix issue 18"), request("Fix issue 17", system="Be rude.")]
    assert len({session_of(each).key for each in asked}) == 3


def test_a_clock_in_the_instructions_makes_no_other_conversation() -> None:
    at = [request("Hello", system=f"It is 2026-11-23, {time}.") for time in ("09:59:58", "10:00:01")]
    assert session_of(at[0]) == session_of(at[1])


def test_pictures_tell_conversations_apart() -> None:
    shown = [Request(model="m", messages=(Message("user", (Text("See"), Media(data=data))),)) for data in ("AA", "BB")]
    assert session_of(shown[0]) != session_of(shown[1])


def test_what_is_said_before_any_user_speaks_is_no_end() -> None:
    call = ToolCall(id="1", name="ls")
    began = (Message("system", "Go."), Message("assistant", (call,)))
    went_on = (*began, Message("tool", (ToolResult(call_id="1", content="a.py"),)), Message("user", "Now?"))
    sessions = [session_of(Request(model="m", messages=messages)) for messages in (began, went_on, ())]
    assert len({each.key for each in sessions}) == 3


def test_what_is_known_of_a_beginning_changes_nothing() -> None:
    whole = request("Hello", "Hi", "More?").messages
    for cut in range(1, len(whole)):
        base = grown(None, whole[:cut])
        session_of(Request(model="m", messages=base))
        known = session_of(Request(model="m", messages=grown(base, whole[cut:])))
        assert known == session_of(Request(model="m", messages=whole))


def test_two_owners_share_no_session() -> None:
    for asked in (request("Hello"), request("Hello", session_id="s")):
        assert session_of(asked, owner="alice").key != session_of(asked, owner="bob").key


def test_a_name_is_no_text_of_another_conversation() -> None:
    nameless = session_of(request("Hello"))
    assert session_of(request("Other", session_id=nameless.key)).key != nameless.key


def test_a_conversation_of_responses_is_its_session() -> None:
    assert session_of(request("Hello"), conversation="conv_1") == Session(
        session_of(request("Other", session_id="conv_1")).key, "conv_1", "conversation"
    )
