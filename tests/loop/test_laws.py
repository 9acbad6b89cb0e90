"""Laws of every run, over random mixes of good and bad calls: nothing wrong runs, everything is answered, it ends."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.effects import Effect, NewId, Now, Outcome, drive
from dragoman.errors import ErrorCode
from dragoman.loop import How, Output, Policy, Run, loop
from dragoman.sim.scripted import ScriptedPeer
from dragoman.turn.machine import turn
from dragoman.types import Request
from tests.support.scenes import IN_TEXT, TASK, Played, Shop, calling, play, raw_calls, route
from tests.support.upstreams import model, text_reply


@dataclass(frozen=True)
class Attempt:
    """One call as a model may write it: its tool, its arguments as text, and what must become of it."""

    name: str
    text: str
    code: str | None = None

    @property
    def runs(self) -> tuple[str, dict[str, Any]] | None:
        return None if self.code else (self.name, json.loads(self.text))


PLACES = st.sampled_from(["sky", "sea", "a", "<tool_call>", '"', "\u2028", "~~~"])
GOOD = st.one_of(
    PLACES.map(lambda at: Attempt("look", json.dumps({"at": at}))),
    PLACES.map(lambda at: Attempt("write", json.dumps({"path": at, "text": "t"}))),
)
UNKNOWN = st.sampled_from(["lok", "rm", "look2", "delete"]).map(
    lambda name: Attempt(name, '{"at": "x"}', ErrorCode.UNKNOWN_TOOL)
)
MISFIT = st.sampled_from(['{"times": 3}', '{"at": "x", "times": ["y"]}', '{"at": "x", "times": "many"}', "{}"]).map(
    lambda text: Attempt("look", text, ErrorCode.INVALID_ARGS)
)
BROKEN = st.sampled_from(['{"at": }', '{"at": "x", "at": "y"}', '{"at" "x" "y"}', "[1]"]).map(
    lambda text: Attempt("look", text, ErrorCode.INVALID_ARGS)
)
CUT = st.sampled_from(['{"at": "s', '{"at": "sky", "times', '{"path": "a", "text": "it is']).map(
    lambda text: Attempt("look", text, ErrorCode.TRUNCATED)
)
CALLS = st.lists(st.one_of(GOOD, GOOD, UNKNOWN, MISFIT, BROKEN), max_size=5)


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[Attempt], bool]:
    """The calls of one answer, and whether it was cut in the last of them."""
    calls = draw(CALLS)
    cut = draw(st.booleans())
    return ([*calls, draw(CUT)] if cut else calls), cut


def distinct(attempts: list[Attempt]) -> list[tuple[str, dict[str, Any]]]:
    """What runs of these calls: the good ones, equal ones once unless something was written between them."""
    ran: list[tuple[str, dict[str, Any]]] = []
    since: list[tuple[str, dict[str, Any]]] = []
    for one in (attempt.runs for attempt in attempts if attempt.runs is not None):
        if one not in since:
            since = [one] if one[0] == "write" else [*since, one]
            ran.append(one)
    return ran


def in_order(got: Played, turns: list[list[Attempt]]) -> bool:
    """Did what ran run in the order of the calls, apart from what may run side by side?"""
    wanted = [one for attempts in turns for one in distinct(attempts)]
    writes = [one for one in got.shop.ran if one[0] == "write"]
    return sorted(map(repr, got.shop.ran)) == sorted(map(repr, wanted)) and writes == [
        one for one in wanted if one[0] == "write"
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(answers(), min_size=1, max_size=4))
def test_native_calls_are_answered_once_and_wrong_ones_never_run(turns: list[tuple[list[Attempt], bool]]) -> None:
    turns = [turn_ for turn_ in turns if turn_[0]]
    script = [raw_calls([(a.name, a.text) for a in calls], "length" if cut else "stop") for calls, cut in turns]
    got = play(*script, "Done.", policy=Policy(max_corrections=9, max_stalled_turns=9))
    assert got.run.done
    assert got.run.turns == len(turns) + 1
    assert in_order(got, [calls for calls, _ in turns])
    codes = [[r.error_code for r in m.results] for m in got.run.messages if m.role == "tool"]
    assert codes == [[a.code for a in calls] for calls, _ in turns]


def fenced(attempt: Attempt, cut: bool = False) -> str:
    body = f'~~~tool_call\n{{"name": {json.dumps(attempt.name)}, "arguments": {attempt.text}'
    return body if cut else f"{body}}}\n~~~"


@settings(max_examples=60, deadline=None)
@given(st.lists(answers(), min_size=1, max_size=4))
def test_text_calls_run_only_when_right(turns: list[tuple[list[Attempt], bool]]) -> None:
    turns = [turn_ for turn_ in turns if turn_[0]]
    script = []
    for calls, cut in turns:
        written = [fenced(a, cut and n == len(calls)) for n, a in enumerate(calls, 1)]
        script.append(text_reply("\n".join(written), stop="length" if cut else "stop", size=3))
    got = play(*script, "Done.", to=IN_TEXT, policy=Policy(max_corrections=9, max_stalled_turns=9))
    assert got.run.done
    assert got.run.turns == len(turns) + 1
    assert in_order(got, [calls for calls, _ in turns])
    wrong = [[a for a in calls if a.code] for calls, _ in turns]
    assert len(got.corrections) == sum(map(bool, wrong))


@settings(max_examples=25, deadline=None)
@given(st.lists(answers(), min_size=1, max_size=30), st.integers(1, 4), st.integers(0, 3))
def test_whatever_the_model_does_the_run_is_bounded(
    turns: list[tuple[list[Attempt], bool]], most: int, corrections: int
) -> None:
    turns = [turn_ for turn_ in turns if turn_[0]]
    script = [raw_calls([(a.name, a.text) for a in calls], "length" if cut else "stop") for calls, cut in turns]
    got = play(*script, "Done.", policy=Policy(max_turns=most, max_corrections=corrections))
    assert got.run.turns <= most


MARKS = ("~~~tool_call\n", "\n~~~\n", "<think>", "</think>", "```json\n", "```\n", "{", "}", '"', "\n", "> ", "\\", "é\u2028",
         "<tool_call>", "</tool_call>", "<function=look>", "<parameter=at>", "</parameter>", "[look(at=", ")]", "@tool look ",
         "Action: look\nAction Input: ", '{"name": "look", "arguments": ', '{"at": "sky"}', '{"final": {"content": 1}}',
         '{"action": {"tool": "look", "args": ', "I will use look.", "The sky.")  # fmt: skip
PIECES = st.lists(st.sampled_from(MARKS), max_size=8).map("".join)
STOPS = st.sampled_from(["stop", "stop", "length", "content_filter"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(PIECES, STOPS), max_size=6), st.booleans(), st.sampled_from([None, *How]))
def test_whatever_text_a_model_writes_the_run_ends_in_order(
    turns: list[tuple[str, str]], in_text: bool, how: How | None
) -> None:
    script = [text_reply(text, stop=stop, size=7) for text, stop in turns]
    output = None if how is None else Output(schema={"type": "object", "required": ["n"]}, how=how)
    got = play(*script, to=IN_TEXT if in_text else None, policy=Policy(max_turns=5), output=output)
    assert got.run.turns <= 5
    assert all(name == "look" and isinstance(arguments["at"], str) for name, arguments in got.shop.ran)


def test_a_replayed_run_gives_the_same_steps() -> None:
    script = [calling(("look", {"at": "a"}), ("nope", {})), text_reply(""), calling(("write", {"path": "a", "text": "b"}))]
    got: list[tuple[Effect, Any]] = []

    def machine(shop: Shop) -> Any:
        request = Request(model="m", messages=(TASK,), stream=True)
        return loop(request, lambda r: turn(r, route()), shop.tools(), Policy(timeout=100))

    def once(world: Any, shop: Shop) -> tuple[list[Any], Run]:
        outcome: Outcome[Run] = Outcome()
        return list(drive(machine(shop), world, outcome)), outcome.value

    memory: ScriptedPeer = model("openai_chat", *script, text_reply("Done."))
    perform = memory.sync_performer()

    def recording(effect: Effect) -> Any:
        reply = perform(effect)
        got.append((effect, reply))
        return reply

    first = once(recording, Shop())
    replies = iter(got)

    def replaying(effect: Effect) -> Any:
        asked, reply = next(replies)
        assert type(asked) is type(effect)
        if isinstance(effect, NewId | Now):
            assert asked == effect
        return reply

    shop = Shop()
    assert once(replaying, shop) == first
    assert shop.ran == []
