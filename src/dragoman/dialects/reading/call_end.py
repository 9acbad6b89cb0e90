"""What ends a call that is read, and what may stand in that end's place.

Behind a call's arguments its closer is looked for: behind brackets too many, on the rest of the line, or under another
name (malformations.md 5).  Knows a row's closers; does not know how arguments are read, nor where the call begins.

Contract: a closer that is taken is passed over; one that is missing where it is needed leaves an edit or a refusal on
the last draft, and what may be the rest of a string leaves a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...late import late
from ...lenient.source import Need, Source, finder, may_be_longer
from ...types import IssueKind
from ..judge.candidate import Draft
from ..judge.judge import Judge
from .compiled import Row
from .drafts import Drafts

WRONG = late(r"\s*</(?P<name>[\w:.-]{1,64})>")
THINKS = late(r"think|reason|thought", re.IGNORECASE)
REST_OF_LINE, BLANK_LINE = late(r"[ \t]*[^\s]"), late(r"[ \t]*\Z")
"""More than white space up to the line's end, and text that may come to that."""
FENCES = frozenset({"```", "~~~"})
MAX_LATE = 200
"""Text between a call's arguments and its closer is not looked through any further."""
BRACKETS_TOO_MANY = ("}", "}}", "]", ")")


class CallEnd(Drafts):
    """The end of the call that is read."""

    def __init__(self, src: Source, row: Row, judge: Judge, begun: Callable[[Draft], None]) -> None:
        super().__init__(src, row, judge, begun)
        self.alone = False
        self._nested = 0
        self._framed = False

    @property
    def is_inner(self) -> bool:
        """Is what is read now an item of a list, or printed?"""
        return self._nested > 0

    def closing(self, marks: tuple[str, ...]) -> Need[bool]:
        """Take a closing mark if one stands here, with the white space before it."""
        opens = self.row.call_open
        size, found = yield from self.src.glance(marks + opens)
        if not found or (found in opens and found not in marks):
            return False
        self.src.pos += size
        self._framed = self._framed or marks is self.row.body_close
        return True

    @property
    def call_close(self) -> tuple[str, ...]:
        """What closes the call at hand."""
        return ("/>", *self.row.call_close) if self._torn else self.row.call_close

    def _doubt(self) -> Need[None]:
        """Brackets were missing before the call's closer: what follows it must not look like the rest of a string."""
        draft = self.last
        if draft is None or not draft.edits or all(e.kind != "missing_bracket" for e in draft.edits):
            return
        following = yield from self.src.peek()
        fenced = self.call_close[:1] and self.call_close[0][:3] in FENCES
        more = fenced and (yield from self.src.match(REST_OF_LINE, 80, BLANK_LINE)) is not None
        if more or (following and (following in "\"'},]" or following.isalnum())):
            why = "brackets are missing, and where the call ends is not clear"
            draft.refuse(IssueKind.MALFORMED, why, self.judge.correction(draft, why))

    def _strays(self) -> Need[None]:
        """Brackets too many between the object and its closer."""
        size, found = yield from self._behind_brackets()
        if found:
            self.src.pos += size
            self.last_edit("stray_bracket")
        elif self.call_close[0][:2] == "</" and (yield from self._wrong_closer()):
            self.last_edit("wrong_closer")
            yield from self.closing(self.call_close)
        elif (yield from self._late_closer()):
            draft, why = self.drafts[-1], "text stands between the arguments and the call's end"
            draft.refuse(IssueKind.MALFORMED, why, self.judge.correction(draft, why))
        elif self.row.closer_needed and self.items and isinstance(self.items[-1], Draft):
            self.last_edit("unclosed")

    def _behind_brackets(self) -> Need[tuple[int, str]]:
        """The call's closer behind brackets too many; as `glance`."""
        ahead, found = yield from self.src.glance(BRACKETS_TOO_MANY)
        if not found:
            return 0, ""
        return (yield from self.src._option((yield from self.src._over_space(ahead)), self.call_close))

    def _late_closer(self) -> Need[bool]:
        """Does the call's closer come on this line, behind other text, or begin the next one where that text stands on
        the line of the arguments' end?  Then it is taken, and the text with it."""
        src, closers = self.src, tuple(c for c in self.call_close if len(c) > 2)
        if self._framed or not (closers and self.row.closer_needed and self.last):
            return False
        pattern, prefixes, longest, _ = finder((*closers, *self.row.openers, "\n"))
        ahead = yield from src._over_space(0)
        while True:
            start = src.pos + ahead
            found = pattern.search(src.buf, start, start + MAX_LATE)
            if src.eof or len(src.buf) - start >= MAX_LATE:
                break
            if found is not None and not may_be_longer(found, src.buf, prefixes, longest):
                break
            yield
        if found is None:
            return False
        size = found.end() - src.pos
        if found.group() == "\n" and not self.is_inner and "\n" not in src.buf[src.pos : start]:
            size, closer = yield from src._option((yield from src._over_space(size)), (*closers, *self.row.openers))
            if closer not in closers:
                return False
        elif found.group() not in closers:
            return False
        src.pos += size
        return True

    def _wrong_closer(self) -> Need[bool]:
        """A closing tag of another name in the closer's place (malformations.md 5); one of reasoning only where the
        call is all there is."""
        src = self.src
        found = yield from src.match(WRONG, 80)
        if found is None or self.row.section_close or (THINKS.search(found["name"]) and not self.alone):
            return False
        src.pos = found.end()
        return True


__all__ = ["MAX_LATE", "CallEnd"]
