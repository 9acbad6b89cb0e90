"""A model's text cut into spans, each with what was judged of it: the one place that colours are made from.

Terminals (`dragoman parse --explain`) and the inspector both show these.  Knows findings and the events of a parser;
nothing of colours or pages.  Contract: the spans of a text are in order, leave nothing out and do not overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ...events import Event, ReasoningDelta, Reclassified, TextDelta
from ...types import Edit
from ..engine.common_marks import THINK
from .findings import Finding

WINDOW = 4096
"""Characters within which the next piece of text is looked for; beyond that the place is not known."""


class Kind(StrEnum):
    """What a span is."""

    TEXT = "text"
    REASONING = "reasoning"
    MARKUP = "markup"
    ACCEPTED = "accepted"
    MENDED = "mended"
    DOUBTFUL = "doubtful"
    REFUSED = "refused"
    QUOTED = "quoted"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end`: what they are, and the place among the findings of the one that says why."""

    start: int
    end: int
    kind: Kind
    finding: int | None = None


def cut(length: int, findings: Sequence[Finding]) -> Iterator[tuple[int, int, int | None]]:
    """A text of `length` cut at the findings' borders: (start, end, which finding); of those that overlap the first."""
    pos = 0
    for number, found in enumerate(findings):
        start, end = max(found.span[0], 0), found.span[1]
        if start < pos or end <= start:
            continue
        if start > pos:
            yield pos, start, None
        yield start, end, number
        pos = end
    if pos < length:
        yield pos, length, None


def spans(text: str, findings: Sequence[Finding], events: Iterable[Event]) -> list[Span]:
    """The spans of `text`; `events` are those it was parsed to, `findings` what was judged of it."""
    said = _said(text, findings, _spoken(events))
    told: list[Span] = []
    for start, end, number in cut(len(text), findings):
        if number is None:
            told += _between(said, start, end)
        else:
            verdict = findings[number].verdict
            told.append(Span(start, end, Kind(verdict.value) if verdict else Kind.DROPPED, number))
    return _merged(told)


def _merged(told: Iterable[Span]) -> list[Span]:
    """Neighbours that are the same as one."""
    made: list[Span] = []
    for span in told:
        if made and span.finding is None and made[-1].finding is None and made[-1].kind is span.kind:
            made[-1] = replace(made[-1], end=span.end)
        else:
            made.append(span)
    return made


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters `start` to `end`, which were mended: by which edit of which finding."""

    start: int
    end: int
    finding: int
    edit: int


def marks(text: str, findings: Sequence[Finding]) -> list[Mark]:
    """Where the edits stand, as far as that can be seen: an edit says what was written, seldom at which character."""
    told = [mark for number, found in enumerate(findings) for mark in _marks(text, number, found)]
    return sorted(told, key=lambda mark: (mark.start, mark.end))


def _marks(text: str, number: int, found: Finding) -> Iterator[Mark]:
    first, last = max(found.span[0], 0), found.span[1]
    taken: list[tuple[int, int]] = []
    for which, edit in enumerate(found.edits):
        pattern = _sign(edit)
        if pattern is None:
            continue
        near = [*pattern.finditer(text, max(_named(text, edit, first, last), first), last)]
        free = (m.span() for m in near if not any(a < m.end() and m.start() < b for a, b in taken))
        place = next(free, None)
        if place is not None and place[0] < place[1]:
            taken.append(place)
            yield Mark(*place, number, which)


def _sign(edit: Edit) -> re.Pattern[str] | None:
    """What the mended part looks like; None where that is not known."""
    if edit.kind in SIGNS:
        return SIGNS[edit.kind]
    if not edit.before:
        return None
    if edit.kind == QUOTES:
        mark = re.escape(edit.before[0])
        return re.compile(f"{mark}[^{mark}]*{mark}?")
    before, after = (r"(?<!\w)" if edit.before[0].isalnum() else "", r"(?!\w)" if edit.before[-1].isalnum() else "")
    return re.compile(f"{before}{re.escape(edit.before)}{after}")


def _named(text: str, edit: Edit, first: int, last: int) -> int:
    """Where the value stands that the edit's path names: behind its key; -1 where that is not known."""
    key = edit.path.rpartition(".")[2] if "." in edit.path and edit.kind not in {QUOTES, *SIGNS} else ""
    return text.find(key, first, last) if key else -1


QUOTES = "quotes"
SIGNS = {
    "trailing_comma": re.compile(r",(?=\s*[}\])])"),
    "extra_comma": re.compile(r",(?=\s*,)|(?<=[\[{]),"),
    "comment": re.compile(r"//[^\n]*|/\*.*?\*/|#[^\n]*", re.DOTALL),
    "raw_control": re.compile(r"[\x00-\x1f]"),
    "invalid_escape": re.compile(r"\\[^\"\\/bfnrtu]"),
}
"""What edits that say nothing of what was written are known by."""


def _spoken(events: Iterable[Event]) -> list[tuple[str, Kind]]:
    """What was told as text or reasoning, in order; what all of it turned out to be counts."""
    told: list[tuple[str, Kind]] = []
    for event in events:
        match event:
            case TextDelta(text):
                told.append((text, Kind.TEXT))
            case ReasoningDelta(text):
                told.append((text, Kind.REASONING))
            case Reclassified(answer):
                told = [] if answer else [(text, Kind.REASONING) for text, _ in told]
    return told


def _said(text: str, findings: Sequence[Finding], spoken: Iterable[tuple[str, Kind]]) -> list[Span]:
    """Where each piece of what was told stands in `text`: pieces come in the order in which they were written."""
    taken = [f.span for f in findings if not f.stays]
    pos, told = 0, list[Span]()
    for piece, kind in spoken:
        start = _find(text, piece, _past(text, pos, taken, piece), taken) if piece else -1
        if start >= 0:
            pos = start + len(piece)
            told.append(Span(start, pos, kind))
    return told


def _past(text: str, pos: int, taken: Sequence[tuple[int, int]], piece: str) -> int:
    """`pos`, behind what is taken and behind a tag of reasoning that stands there."""
    while True:
        inside = next((end for start, end in taken if start <= pos < end), 0)
        mark = next((m for m in MARKS if text.startswith(m, pos) and not piece.startswith(m)), "")
        if not inside and not mark:
            return pos
        pos = max(inside, pos + len(mark))


MARKS = tuple(sorted({*THINK, *(mark for marks in THINK.values() for mark in marks)}, key=len, reverse=True))


def _find(text: str, piece: str, pos: int, taken: Sequence[tuple[int, int]]) -> int:
    """Where `piece` begins at or after `pos`, outside of what is taken; -1 where it is not near."""
    last = pos + WINDOW + len(piece)
    while (start := text.find(piece, pos, last)) >= 0:
        over = next((b for a, b in taken if a < start + len(piece) and start < b), 0)
        if not over:
            return start
        pos = over
        last = pos + WINDOW + len(piece)
    return -1


def _between(said: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """The part from `start` to `end`, which no finding takes: what was told of it, and the markup around that."""
    pos = start
    for one in said:
        first, last = max(one.start, pos), min(one.end, end)
        if first >= last:
            continue
        if first > pos:
            yield Span(pos, first, Kind.MARKUP)
        yield Span(first, last, one.kind)
        pos = last
    if pos < end:
        yield Span(pos, end, Kind.MARKUP)
