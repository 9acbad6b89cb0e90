"""Budgets of calls: how many one answer may make, and how often a run may change something."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.errors import ErrorCode, UsageError
from dragoman.loop import Answered, Bound, Limit, Policy
from tests.support.scenes import calling, play, text_reply

LOOK = ("look", {"at": "sky"})
THERE = ("look", {"at": "sea"})


def write(name: str) -> tuple[str, dict[str, Any]]:
    return "write", {"path": name, "text": "x"}


def test_calls_beyond_those_of_one_answer_are_answered_and_not_run() -> None:
    got = play(calling(LOOK, THERE, write("a")), calling(write("a")), text_reply("Done."), policy=Policy(max_calls=2))
    assert [name for name, _ in got.shop.ran] == ["look", "look", "write"]
    [late] = [result for result in got.results if result.is_error]
    assert (late.error_code, "one answer may make 2 calls" in late.text) == (ErrorCode.NOT_EXECUTED, True)
    assert got.run.end == Answered()


def test_a_run_changes_things_as_often_as_it_may() -> None:
    answers = [calling(write("a"), LOOK), calling(write("b"), write("c")), calling(write("d")), text_reply("Enough.")]
    got = play(*answers, policy=Policy(max_writes=2))
    assert [given.get("path", "look") for _, given in got.shop.ran] == ["a", "look", "b"]
    assert len([result for result in got.results if "may change things 2 times" in result.text]) == 2
    assert got.run.end == Answered()


def test_a_run_that_may_change_nothing_can_read() -> None:
    got = play(calling(write("a"), LOOK), text_reply("I only looked."), policy=Policy(max_writes=0))
    assert [name for name, _ in got.shop.ran] == ["look"]


def test_a_run_that_only_wants_to_change_more_ends_with_that_limit() -> None:
    answers = [calling(write(name)) for name in "abcdefgh"]
    got = play(*answers, policy=Policy(max_writes=3))
    assert [given["path"] for _, given in got.shop.ran] == ["a", "b", "c"]
    assert got.run.end == Limit(Bound.WRITES, 3)
    assert got.run.turns == 6


def test_reading_in_between_goes_on() -> None:
    answers = [calling(write("a")), *[calling(write(name), ("look", {"at": name})) for name in "bcdef"], text_reply("Ok.")]
    got = play(*answers, policy=Policy(max_writes=1))
    assert got.run.end == Answered()


def test_without_a_word_a_run_may_do_what_is_sane() -> None:
    """A model that makes everything at once, and one that never stops."""
    flood = play(calling(*[write(str(n)) for n in range(600)]), text_reply("Done."), policy=Policy())
    assert len(flood.shop.ran) == Policy().max_calls == 100
    answers = [calling(*[write(f"{turn}-{n}") for n in range(90)]) for turn in range(10)]
    endless = play(*answers, policy=Policy())
    assert len(endless.shop.ran) == Policy().max_writes == 200
    assert endless.run.end == Limit(Bound.WRITES, 200)


@pytest.mark.parametrize("given", [{"max_calls": 0}, {"max_writes": -1}])
def test_a_budget_that_makes_no_sense_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="give more than"):
        Policy(**given)  # type: ignore[arg-type]
