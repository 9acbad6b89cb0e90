"""Calls that a provider gave as reasoning: where nothing but reasoning came, its end is read as that of one text.

A server parts reasoning from the answer by its marks.  A model that goes from thought straight to its call writes no
mark between them, and such a server hands both over as reasoning, with an empty answer behind it.  Knows events and, by
its methods, the dialect parser; nothing of wires, nor of what makes a call: that is judged as in a text whose reasoning
never closed (judge-rules.md H).

Contract: what is noted costs no more than `MOST` characters, and is let go of once anything but reasoning came; it is
read once, at the end.  What was told as reasoning stays reasoning: only calls and issues come of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..codecs.crossing.media import media_beside
from ..events import Ended, Event, IssueReported, assemble, call_events
from ..types import Issue, IssueKind, JsonObject, Stop, ToolCall
from .text_parser import TextParser

MOST = 1024 * 1024
"""Characters of reasoning that are read at the end; of longer one only the end would be known, and nothing is read."""
OWN_ENDS = frozenset({None, Stop.END, Stop.STOP_SEQUENCE, Stop.TOOL_CALLS})
"""Stops of an answer that nothing cut short."""
OPENER = "<think>"
READ_HERE = "the provider gave the call of {name!r} as reasoning, with no answer behind it; it was read here"


class ReasonedCalls:
    """The reasoning of one answer as it came; `make(prefix)` is a parser."""

    __slots__ = ("_make", "_size", "_texts")

    def __init__(self, make: Callable[[str], TextParser]) -> None:
        self._make = make
        self._texts: list[str] = []
        self._size = 0

    def note(self, text: str) -> None:
        """Reasoning went out."""
        self._size += len(text)
        self._texts.append(text)
        if self._size > MOST:
            self._texts.clear()

    def is_ended_by(self, text: str) -> bool:
        """Does this text of the answer show that there is more than reasoning, or that reasoning was closed?"""
        return bool(text) and (self._size > 0 or not text.isspace())

    def close(self, end: Ended) -> list[Event]:
        """The calls that the reasoning ended in, where that was all and nothing cut it, and what is wrong with them."""
        if not self._texts or not ends_by_itself(end.stop, end.extra):
            return []
        parser, why = self._make(OPENER), None if end.stop is None else str(end.stop)
        found = assemble([*parser.feed("".join(self._texts)), *parser.close(why)])
        issues = [replace(issue, span=None) for issue in found.issues if issue.kind is not IssueKind.NOISE]
        issues += map(read_here, found.calls)
        made = [event for index, call in enumerate(found.calls) for event in call_events(_placeless(call), index)]
        return [*map(IssueReported, issues), *made]


def ends_by_itself(stop: Stop | None, extra: JsonObject) -> bool:
    """Is what came of such an answer all of it, and does nothing stand beside it?"""
    return stop in OWN_ENDS and not media_beside(extra)


def read_here(call: ToolCall) -> Issue:
    """What is told of a call that was found there."""
    return Issue(kind=IssueKind.WIRE_FAULT, message=READ_HERE.format(name=call.name), name=call.name)


def _placeless(call: ToolCall) -> ToolCall:
    """The call; places count in the visible text, and it stands in none."""
    return call if call.report is None else replace(call, report=replace(call.report, span=None))
