"""A parsed text, as one value that can be looked at: its source in the colours of what was judged of it.

Knows calls, issues and their places in the source; nothing of how they were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ...display import Displayed, Piece, marked
from ...late import late_call
from ...records import dataclass, field
from ...types import (
    Issue,
    IssueKind,
    Part,
    Reasoning,
    Text,
    ToolCall,
    Verdict,
    doubt_pieces,
    issue_pieces,
    part_pieces,
)

if TYPE_CHECKING:
    from ...events import Assembler, Event

_assembler: Callable[[], Assembler] = late_call("...events", "Assembler", __name__)

COLOURS: Mapping[IssueKind, str] = {
    IssueKind.NOISE: "dropped",
    **dict.fromkeys((IssueKind.QUOTED, IssueKind.IN_REASONING, IssueKind.COPIED), str(Verdict.QUOTED)),
}
"""Kinds of stretches that an issue tells of, where they are no refused call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Displayed):
    """A parsed text: calls to run, visible text, reasoning, and everything that had to be noticed.

    `doubtful` are calls that stand in the text and of which it is not certain that they were meant; `source` is the
    text itself, where it was there as a whole ("" elsewhere): it is what notebooks and rich show, in colours.
    """

    calls: tuple[ToolCall, ...]
    text: str
    reasoning: str
    issues: tuple[Issue, ...]
    parts: tuple[Part, ...]
    doubtful: tuple[ToolCall, ...] = ()
    source: str = field(default="", repr=False, compare=False)

    def _display_(self) -> Iterator[Piece]:
        if self.source:
            yield from marked(self.source, _marks((*self.calls, *self.doubtful), self.issues))
            yield Piece("\n\n")
            yield from doubt_pieces((*self.calls, *self.doubtful))
        else:
            yield from part_pieces(self.parts)
            yield from doubt_pieces(self.doubtful)
        yield from issue_pieces(self.issues)


def _marks(calls: Iterable[ToolCall], issues: Iterable[Issue]) -> Iterator[tuple[int, int, str, str]]:
    """The stretches of the source of which something was judged."""
    for call in calls:
        report = call.report
        if report is not None and report.span is not None:
            yield (*report.span, str(report.verdict), f"{call.name}: {report.reason}")
    for issue in issues:
        if issue.span is not None and issue.kind is not IssueKind.PARTIAL:
            yield (*issue.span, COLOURS.get(issue.kind, str(Verdict.REFUSED)), issue.message)


def fold(events: Iterable[Event], source: str = "") -> Parsed:
    """Events of a parser as one value; `source` is the text they were parsed from."""
    assembler = _assembler()
    assembler.extend(events)
    parts = assembler.parts()
    calls: list[ToolCall] = []
    texts: list[str] = []
    thoughts: list[str] = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls.append(part)
        elif isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Reasoning):
            thoughts.append(part.text)
    return Parsed(
        calls=tuple(calls),
        text="".join(texts),
        reasoning="".join(thoughts),
        issues=tuple(assembler.issues),
        parts=parts,
        doubtful=tuple(assembler.doubtful),
        source=source,
    )
