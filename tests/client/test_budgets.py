"""Budgets of calls: how many one answer may make, and how often a run may change something."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.errors import ErrorCode, UsageError
from dragoman.loop import Answered, Policy
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


@pytest.mark.parametrize("given", [{"max_calls": 0}, {"max_writes": -1}])
def test_a_budget_that_makes_no_sense_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="give more than"):
        Policy(**given)  # type: ignore[arg-type]
