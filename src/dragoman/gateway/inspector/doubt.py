"""Doubt as it was settled: which request was a question to the model, about which calls, and what the model said.

Knows attempts and the question's own contract; nothing of pages.  Contract: it tells what was recorded and decides
nothing anew but what counts as a yes, which the question itself says.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...records import NamedTuple
from ...report_words import habit_words
from ...turn.composer import identity
from ...turn.question import asked_about, confirmed
from ...types import Report, Response, ToolCall
from ..telemetry.exchange_record import UpstreamAttempt

CONFIRMED, DENIED, OPEN = "confirmed", "denied", "unanswered"


class Asked(NamedTuple):
    """A call that the model was asked about, its answer in a word, and the habit that is remembered ("" none)."""

    call: ToolCall
    answer: str
    habit: str

    @property
    def remembered(self) -> str:
        """The habit in words."""
        return habit_words(self.habit) if self.habit else ""


def asked(attempt: UpstreamAttempt) -> list[Asked]:
    """The calls that this request asked about; [] where it was no question."""
    calls = asked_about(attempt.request)
    response = attempt.response
    if response is None:
        return [Asked(call, OPEN, "") for call in calls]
    made = {identity(call) for call in confirmed(calls, response)}
    return [_answered(call, identity(call) in made) for call in calls]


def _answered(call: ToolCall, yes: bool) -> Asked:
    habit = str(call.report.evidence.get("habit", "")) if yes and call.report is not None else ""
    return Asked(call, CONFIRMED if yes else DENIED, habit)


def relied_on(response: Response | None) -> frozenset[str]:
    """The habits by which calls of this answer ran: what was confirmed when it was read, as far as it mattered."""
    return frozenset(_habits(response)) if response is not None else frozenset()


def _habits(response: Response) -> Iterator[str]:
    reports: Iterator[Report] = (call.report for call in response.calls if call.report is not None)
    for report in reports:
        habit = report.evidence.get("habit")
        if report.evidence.get("confirmed") and isinstance(habit, str):
            yield habit
