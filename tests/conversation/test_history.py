"""Conversations come out in order, once and for all, and whatever was done to them is reported."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.conversation.history import MISSING, ORPHAN, identify, repair
from dragoman.conversation.requirements import MISTRAL, OPENAI_CHAT, REQUIREMENTS, UNRESTRICTED, Turns, WireRequirements
from dragoman.conversation.turn_order import BRIDGE, START, in_turns, without_system
from dragoman.errors import ErrorCode
from dragoman.types import IssueKind, Message, Text, ToolCall, ToolResult


def call(id_: str, name: str = "look") -> ToolCall:
    return ToolCall(id=id_, name=name)


def result(id_: str, text: str = "", name: str = "look") -> ToolResult:
    return ToolResult(call_id=id_, name=name, content=text or f"of {id_}")


def missing(id_: str, name: str = "look") -> ToolResult:
    return ToolResult(call_id=id_, name=name, content=MISSING, is_error=True, error_code=ErrorCode.MISSING_RESULT)


def orphan(text: str) -> Message:
    return Message("user", [Text(ORPHAN.format(name="look")), Text(text)])


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
    "a turn sent back as one message per call is one again": (
        [
            ASK,
            Message("assistant", [Text("on it"), call("a")]),
            Message("assistant", [call("b")]),
            Message("tool", [result("a")]),
            Message("tool", [result("b")]),
        ],
        [ASK, BOTH, Message("tool", [result("a"), result("b")])],
        ["is one again", "results were moved"],
    ),
    "words behind a call that is answered later belong to its turn": (
        [ASK, Message("assistant", [call("a")]), Message("assistant", "wait"), Message("tool", [result("a")])],
        [ASK, Message("assistant", [call("a"), Text("wait")]), Message("tool", [result("a")])],
        ["is one again"],
    ),
    "an id used again is answered where it stands last": (
        [ASK, Message("assistant", [call("a")]), Message("assistant", [call("a")]), Message("tool", [result("a")])],
        [
            ASK,
            Message("assistant", [call("a")]),
            Message("tool", [missing("a")]),
            Message("assistant", [call("a")]),
            Message("tool", [result("a")]),
        ],
        ["'look' has no result"],
    ),
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
    "an orphan result is the user's words": (
        [Message("tool", [result("z", "lost")]), ASK, Message("assistant", "hi")],
        [orphan("lost"), ASK, Message("assistant", "hi")],
        ["answers no call (id 'z')"],
    ),
    "a second result of one call is the user's words": (
        [BOTH, Message("tool", [result("a"), result("b"), result("a", "again")])],
        [BOTH, Message("tool", [result("a"), result("b")]), orphan("again")],
        ["answers no call (id 'a')"],
    ),
    "results are not claimed across the next assistant message": (
        [BOTH, Message("tool", [result("a")]), Message("assistant", "so"), Message("tool", [result("b")])],
        [BOTH, Message("tool", [result("a"), missing("b")]), Message("assistant", "so"), orphan("of b")],
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
    given_, wanted, parts = REPAIRED[name]
    repaired = repair(given_)
    assert list(repaired.messages) == wanted
    assert len(repaired.issues) == len(parts)
    for issue, part in zip(repaired.issues, parts, strict=True):
        assert part in issue.message
        assert issue.kind is IssueKind.HISTORY


def test_a_result_without_id_or_name_takes_its_calls() -> None:
    """Ollama's wire has neither."""
    calls = Message("assistant", [call("c0", "read"), call("c1", "write")])
    answers = Message("tool", [result("", "written", "write"), result("", "was read", "")])
    repaired = repair([calls, answers])
    assert repaired.messages[1] == Message("tool", [result("c1", "written", "write"), result("c0", "was read", "read")])
    assert repaired.issues == ()


def test_a_result_whose_id_was_respelt_answers_its_call() -> None:
    """Clients write another API's ids by their own rules, and not always in the call, too."""
    calls = [call("functions.look:0"), call("functions.look:1")]
    given_ = [ASK, Message("assistant", calls), Message("tool", [result("functions_look_1"), result("functions_look_0")])]
    results = repair(given_).messages[-1].results
    assert [(one.call_id, one.text) for one in results] == [
        ("functions.look:1", "of functions_look_1"), ("functions.look:0", "of functions_look_0"),
    ]  # fmt: skip


def test_an_orphan_result_keeps_its_text_in_the_issue() -> None:
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
def test_repair_gives_every_call_one_result_once(given_: list[Message]) -> None:
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


# ── ids ──────────────────────────────────────────────────────────────────────

EVERY_DEMAND = [UNRESTRICTED, MISTRAL, OPENAI_CHAT, *REQUIREMENTS.values()]


def pairs(messages: tuple[Message, ...] | list[Message]) -> list[tuple[str, str]]:
    """For each call its id and what its result says."""
    paired: list[tuple[str, str]] = []
    for at, message in enumerate(messages):
        left = list(messages[at + 1].results) if at + 1 < len(messages) else []
        for one in message.calls:
            found = next((r for r in left if r.call_id == one.id), None)
            paired.append((one.id, found.text if found else "?"))
            left = [r for r in left if r is not found]
    return paired


def test_refused_ids_are_respelled_for_calls_and_results() -> None:
    calls = Message("assistant", [call("functions.look:0"), call("aB3dE6gH9")])
    identified = identify([ASK, calls, Message("tool", [result("aB3dE6gH9", "2"), result("functions.look:0", "1")])], MISTRAL)
    (first, one), (second, two) = pairs(identified.messages)
    assert (one, two) == ("1", "2")
    assert len(first) == 9
    assert first.isalnum()
    assert second == "aB3dE6gH9"
    assert identified.back == {first: "functions.look:0"}
    assert [issue.kind for issue in identified.issues] == [IssueKind.HISTORY]


def test_two_calls_of_one_id_keep_their_results() -> None:
    calls = Message("assistant", [call("a"), call("a")])
    identified = identify(repair([calls, Message("tool", [result("a", "1"), result("a", "2")])]).messages, UNRESTRICTED)
    assert pairs(identified.messages) == [("a", "1"), ("a_2", "2")]


def test_a_reused_id_is_renumbered_only_where_refused() -> None:
    given_ = IN_ORDER["an id used again in a later turn"]
    assert identify(given_, MISTRAL).messages[1].calls[0].id == identify(given_, MISTRAL).messages[3].calls[0].id
    assert pairs(identify(given_, REQUIREMENTS["ollama_chat"]).messages) == [("look:0", "first"), ("look:0", "second")]
    (one, first), (two, second) = pairs(identify(given_, REQUIREMENTS["anthropic_messages"]).messages)
    assert one != two
    assert (first, second) == ("first", "second")


def test_calls_without_ids_get_some() -> None:
    """Ollama's wire has none; others answer 400."""
    given_ = repair([
        Message("assistant", [call("", "read"), call("", "write")]),
        Message("tool", [result("", "written", "write"), result("", "was read", "read")]),
        Message("assistant", [call("", "read")]),
        Message("tool", [result("", "again", "read")]),
    ]).messages  # fmt: skip
    answered = pairs(identify(given_, UNRESTRICTED).messages)
    assert [text for _, text in answered] == ["was read", "written", "again"]
    assert len({id_ for id_, _ in answered}) == 3
    assert all(id_ for id_, _ in answered)


over_demands = st.sampled_from(EVERY_DEMAND)
odd_ids = st.sampled_from(["", "a", "look:0", "toolu_01", "call_" + "x" * 60, "ünï"])
histories = st.lists(
    st.one_of(
        st.builds(Message, st.just("user"), st.sampled_from(["go", " "])),
        st.builds(Message, st.just("system"), st.just("be brief")),
        st.builds(Message, st.just("assistant"), st.lists(st.builds(call, odd_ids) | st.just(Text("x")), max_size=3)),
        st.builds(Message, st.just("tool"), st.lists(st.builds(result, odd_ids), min_size=1, max_size=3)),
    ),
    max_size=7,
)


@given(histories, over_demands)
def test_ids_are_allowed_unique_and_stable(given_: list[Message], requirements: WireRequirements) -> None:
    before = repair(given_).messages
    identified = identify(before, requirements)
    ids_ = [[one.id for one in message.calls] for message in identified.messages]
    assert all(requirements.ids.allows(id_) for turn in ids_ for id_ in turn)
    assert all(len(set(turn)) == len(turn) for turn in ids_)
    assert not requirements.unique or len({i for turn in ids_ for i in turn}) == sum(map(len, ids_))
    assert [text for _, text in pairs(identified.messages)].count("?") == 0
    assert [identified.back.get(i, i) for turn in ids_ for i in turn] == [c.id for m in before for c in m.calls]
    again = identify(identified.messages, requirements)
    assert again.messages == identified.messages
    assert again.issues == ()


@given(histories, histories, over_demands)
def test_a_conversation_that_grows_keeps_the_ids_of_its_beginning(
    first: list[Message], then: list[Message], requirements: WireRequirements
) -> None:
    begun = repair(first).messages
    grown = repair([*begun, Message("assistant", "so"), *then]).messages
    assert identify(grown, requirements).messages[: len(begun)] == identify(begun, requirements).messages


# ── turns ────────────────────────────────────────────────────────────────────

ANSWERED = [ASK, BOTH, Message("tool", [result("a"), result("b")])]
HURRY = Message("user", "hurry")
def test_kimis_ids_are_counted_through_the_conversation() -> None:
    one = Message("assistant", [call("a"), call("b", "run")])
    two = Message("assistant", [call("a", "run")])
    answers = Message("tool", [result("b", "2", "run"), result("a", "1")])
    identified = identify(repair([ASK, one, answers, two, Message("tool", [result("a", "3")])]).messages, WireRequirements(counted=True))
    wanted = [("functions.look:0", "1"), ("functions.run:1", "2"), ("functions.run:2", "3")]
    assert pairs(identified.messages) == wanted
    assert len(identified.issues) == 1
    assert identify(identified.messages, WireRequirements(counted=True)).issues == ()


TURNS: list[tuple[str, Turns, list[Message], list[Message]]] = [
    ("free", Turns.FREE, [Message("assistant", "x"), ASK, ASK], [Message("assistant", "x"), ASK, ASK]),
    ("a bridge after results", Turns.BRIDGED, [*ANSWERED, HURRY], [*ANSWERED, Message("assistant", BRIDGE), HURRY]),
    ("no bridge where the assistant speaks", Turns.BRIDGED, [*ANSWERED, Message("assistant", "ok"), HURRY],
     [*ANSWERED, Message("assistant", "ok"), HURRY]),
    ("blank turns are left out", Turns.FILLED, [ASK, Message("assistant", "  "), HURRY], [ASK, HURRY]),
    ("blank texts beside calls are left out", Turns.FILLED,
     [ASK, Message("assistant", [Text("\n\n"), *ANSWERED[1].parts]), ANSWERED[2]], ANSWERED),
    ("blank texts beside texts are left out", Turns.FILLED,
     [Message("user", [Text("go"), Text(" ")])], [Message("user", [Text("go")])]),
    ("a blank text that bears a signature stays", Turns.FILLED,
     [ASK, Message("assistant", [Text("", metadata={"s": 1}), Text("a")])],
     [ASK, Message("assistant", [Text("", metadata={"s": 1}), Text("a")])]),
    ("instructions alone are what is asked", Turns.FILLED, [Message("system", "s")], [Message("user", "s")]),
    ("instructions alone are one turn", Turns.ALTERNATING, [Message("system", "s"), Message("system", "t")],
     [Message("user", [Text("s"), Text("t")])]),
    ("the user begins", Turns.FILLED, [Message("system", "s"), BOTH, ANSWERED[2]],
     [Message("system", "s"), Message("user", START), BOTH, ANSWERED[2]]),
    ("neighbours are one", Turns.ALTERNATING, [ASK, HURRY, Message("assistant", "a"), Message("assistant", "b")],
     [Message("user", [Text("go"), Text("hurry")]), Message("assistant", [Text("a"), Text("b")])]),
    ("late instructions", Turns.ALTERNATING, [ASK, Message("assistant", "a"), Message("system", "stop")],
     [ASK, Message("assistant", "a"), Message("user", "<system>\nstop\n</system>")]),
]  # fmt: skip


@pytest.mark.parametrize(("turns", "given_", "wanted"), [t[1:] for t in TURNS], ids=[t[0] for t in TURNS])
def test_turns_follow_each_other_as_the_wire_wants(turns: Turns, given_: list[Message], wanted: list[Message]) -> None:
    ordered = in_turns(given_, turns)
    assert list(ordered.messages) == wanted
    assert bool(ordered.issues) == (given_ != wanted)


@given(histories, st.sampled_from(Turns))
def test_ordered_turns_stay_in_order(given_: list[Message], turns: Turns) -> None:
    once = in_turns(repair(given_).messages, turns)
    assert in_turns(once.messages, turns) == type(once)(once.messages)
    roles = [message.role for message in once.messages if message.role != "system"]
    if turns is Turns.ALTERNATING:
        assert all(a != b for a, b in pairwise(roles))
    if turns in (Turns.FILLED, Turns.ALTERNATING) and roles:
        assert roles[0] == "user"
    if turns is Turns.BRIDGED:
        assert ("tool", "user") not in set(pairwise(roles))


def test_instructions_may_go_into_the_users_first_words() -> None:
    moved = without_system([Message("system", "a"), Message("system", "b"), ASK, HURRY])
    assert [message.role for message in moved] == ["user", "user"]
    assert moved[0].text == "a\n\nb\n\ngo"
    assert without_system([Message("system", "a"), BOTH])[0] == Message("user", "a")
    assert without_system([ASK]) == (ASK,)


def test_thousands_of_calls_find_thousands_of_results_in_any_order() -> None:
    size = 5000
    calls = Message("assistant", [call(f"c{n}") for n in range(size)])
    backwards = Message("tool", [result(f"c{n}") for n in reversed(range(size))])
    strangers = Message("tool", [result(f"x{n}") for n in range(size)])
    answered = repair([ASK, calls, backwards]).messages[-1].results
    assert {each.call_id for each in answered} == {f"c{n}" for n in range(size)}
    assert not any(each.is_error for each in answered)
    assert all(each.is_error for each in repair([ASK, calls, strangers]).messages[-1].results)
