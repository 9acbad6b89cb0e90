"""Doubtful calls in a run: the policy says whether they run, are asked about, or stay text."""

from __future__ import annotations

import pytest

from dragoman import Policy, Response, ToolCall, UsageError
from dragoman.loop.doubt import settled
from dragoman.types import Message

DOUBT = Response(message=Message("assistant", "I look."), doubtful=(ToolCall(id="c", name="look"),))


@pytest.mark.parametrize(
    ("doubt", "calls", "doubtful"), [("ask", [], ["look"]), ("run", ["look"], []), ("text", [], [])]
)
def test_doubtful_calls_are_settled_as_the_policy_says(doubt: str, calls: list[str], doubtful: list[str]) -> None:
    response = settled(DOUBT, doubt)
    assert [call.name for call in response.calls] == calls
    assert [call.name for call in response.doubtful] == doubtful
    assert response.text == "I look."


def test_an_unknown_wish_is_refused_with_what_to_do() -> None:
    with pytest.raises(UsageError, match="give one of ask, run, text"):
        Policy(doubt="maybe")
