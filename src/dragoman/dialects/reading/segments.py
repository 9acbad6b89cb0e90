"""Messages cut into segments, each under a header that says whom it is for (harmony, Muse).

Reads headers and decides routes; the parser acts on them.  Knows no dialect by name, and nothing of calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ...late import late
from ...lenient.source import Need, Source
from ..spec import Dialect, Route, Segments
from .compiled import Row

MAX_HEADER = 300
"""No header is longer; one that is, is text."""


BETWEEN = late(r"\s+|(?=<\|)")
"""What stands between the words of a header: white space, or the next token's beginning."""


HALF = late(r"<\|?\w*(?:\|>?\w{0,20})?")


def segmented(dialects: Sequence[Dialect]) -> tuple[Segments, ...]:
    """The segmentations of these dialects, in order."""
    return tuple(dict.fromkeys(d.segments for d in dialects if d.segments is not None))


def marks(segmentations: Sequence[Segments]) -> frozenset[str]:
    """What may begin a segment: headers, and bodies whose header is missing."""
    return frozenset(m for s in segmentations for m in (*s.open, *s.head))


def ends(segmentations: Sequence[Segments]) -> frozenset[str]:
    """What ends a segment."""
    return frozenset(m for s in segmentations for m in s.close)


def headless(segmentations: Sequence[Segments]) -> tuple[str, ...]:
    """What begins a header that has lost its first token, behind a word or on a line of its own."""
    return tuple(sorted({space + s.begun for s in segmentations if s.begun for space in " \n"}))


def closers(segmentations: Sequence[Segments]) -> tuple[str, ...]:
    """What ends a segment of reasoning: its own closer, or the next header where that was lost."""
    return tuple(sorted(ends(segmentations) | marks(segmentations)))


def header(src: Source, segmentations: Sequence[Segments], *, opened: bool = True) -> Need[str | None]:
    """The header that begins here, up to and with the mark that ends it; consumed.  None: it is text, and is not.

    A header that the end of the message cuts counts only where a mark `opened` it.
    """
    heads = tuple({m: "" for s in segmentations for m in s.head})
    stops = heads + tuple({m: "" for s in segmentations for m in s.close})
    while True:
        found = _finder(stops).search(src.buf, src.pos, src.pos + MAX_HEADER)
        if found or src.eof or len(src.buf) - src.pos >= MAX_HEADER:
            break
        yield
    at = found.start() if found else min(len(src.buf), src.pos + MAX_HEADER)
    if (found is None and not opened) or not any(
        _is_header(src.buf[src.pos : at], s, cut=found is None) for s in segmentations
    ):
        return None
    end = found.end() if found else at
    text = src.buf[src.pos : end]
    src.pos = end
    return text


def _is_header(text: str, segments: Segments, *, cut: bool) -> bool:
    """Are these words of a header, and nothing else?  Where the message was `cut`, the last may be half a token."""
    if len(text) >= MAX_HEADER:
        return False
    word = _pattern(segments.words)
    words = [w for w in BETWEEN.split(text) if w]
    if cut and len(words) > 1 and HALF.fullmatch(words[-1]):
        words.pop()
    return all(word.fullmatch(w) for w in words)


@lru_cache(maxsize=64)
def _finder(options: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, options)))


def route(head: str, segmentations: Sequence[Segments]) -> Route:
    """Whom the segment under this header is for; the reader, where nothing says."""
    for segments in segmentations:
        for pattern, found in segments.routes:
            if _pattern(pattern).search(head):
                return found
    return Route.TEXT


def rows_of(rows: Mapping[str, tuple[Row, ...]], segmentations: Sequence[Segments]) -> tuple[Row, ...]:
    """The rows whose calls stand under such headers."""
    found = (row for marked in rows.values() for row in marked)
    return tuple(dict.fromkeys(r for r in found if r.headed and r.dialect.segments in segmentations))


def begun(prefix: str, segmentations: Sequence[Segments]) -> str:
    """The header of the segment that the prompt had opened and not ended; "" when there is none."""
    heads = [m for s in segmentations for m in s.head]
    end = max((prefix.rfind(m) + len(m) for m in heads if m in prefix), default=0)
    if not end or any(m in prefix[end:] for m in ends(segmentations) | marks(segmentations)):
        return ""
    start = max((prefix.rfind(m, 0, end) + len(m) for m in ends(segmentations) if m in prefix[:end]), default=0)
    return prefix[start:end]


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
