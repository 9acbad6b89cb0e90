"""Marks in which the end of a message cut: the first characters of an opener, of a closer, of a control token.

Knows marks, the text round them and why the model stopped; not what a whole mark means (`parser.py`).
Contract: asked only once the text has ended; what is told reaches to the text's end, and every character of it is in
exactly one of text and issues.
"""

from __future__ import annotations

from ...events import IssueReported
from ...late import late
from ...lenient.source import Source
from ...types import IssueKind, Stop
from ..judge.judge import unreadable
from .candidates import Trial
from .emitter import Teller
from .mark_starts import glued
from .markers import Table
from .told_text import APART

CLOSER_BEGUN = late(r"\s*((?:</|<[|｜]|\[/)\S*)\Z")
CONTROL = frozenset({"<|", "<｜"})
MIN_TORN = 3
"""So much of a mark is no prose."""


class TornMarks:
    """What is done about a mark of which only the beginning came."""

    def __init__(self, src: Source, teller: Teller, trial: Trial) -> None:
        self._src, self._teller, self._trial = src, teller, trial

    def ends(self, t: Table, start: int, cut: int, marker: str) -> bool:
        """Does the message end in a mark that was cut, behind all the text up to `cut`?  Then all of it is told."""
        if self._trial.finish == Stop.LENGTH and not self._teller.reasoning and cut >= (torn := self._opener(t, start)):
            self._end_at_opener(start, torn)
        elif marker or start == len(self._src.buf):
            return False
        elif self._is_closer(t, start):
            self._end_at_closer(t, start)
        elif (torn := self._mark(t, start)) < len(self._src.buf):
            self._end_at_mark(t, start, torn)
        else:
            return False
        return True

    def _opener(self, t: Table, start: int) -> int:
        """Where an opener begins in which the message was cut; beyond the text's end where there is none.

        Only where the model was stopped, and only three characters or more of a strong opener: that is no prose.
        """
        buf, size = self._src.buf, len(self._src.buf)
        first = max(start, size - t.longest + 1)
        begun = (at for at in range(first, size - 2) if buf[at:].casefold() in t.prefixes)
        return next((at for at in begun if self._may_open(t, start, at)), size + 1)

    def _may_open(self, t: Table, start: int, at: int) -> bool:
        """May a strong opener have begun here?  None goes on with a word, and some only begin a line."""
        buf, teller = self._src.buf, self._teller
        if glued(buf[at - 1] if at > start else teller.last, buf[at]):
            return False
        found = _openers(t, buf[at:].casefold())
        return not found <= t.line or (bool(found) and teller.line_start(buf[start:at]))

    def _end_at_opener(self, start: int, torn: int) -> None:
        """The message ends inside an opener: the text before it is told, and that a call was cut."""
        src, why = self._src, "the text ends inside a call's first mark"
        text, src.pos = src.buf[torn:], len(src.buf)
        self._teller.say(src.buf[start:torn])
        self._teller.emit(IssueReported(unreadable(IssueKind.TRUNCATED, why, text, "", src.base + torn)))

    def _is_closer(self, t: Table, start: int) -> bool:
        """Does the message end right behind a call, in the beginning of a closing mark?"""
        begun = CLOSER_BEGUN.match(self._src.buf, start)
        return begun is not None and self._teller.behind_call and begun[1].casefold() in t.prefixes

    def _end_at_closer(self, t: Table, start: int) -> None:
        """The call is whole: what there is of its closing mark is no text."""
        src = self._src
        begun = src.buf[start:].lstrip()
        src.pos = len(src.buf)
        self._teller.say(src.buf[start : src.pos - len(begun)])
        self._end_reasoning(t, begun.casefold())
        self._teller.notice(IssueKind.NOISE, "a closing mark that was cut", begun, src.at - len(begun))

    def _end_reasoning(self, t: Table, begun: str) -> None:
        """What there is of a mark may be that of reasoning's end: what was called in it was a rehearsal."""
        others = {close.casefold() for rows in t.rows.values() for row in rows for close in row.closers}
        ends = any(mark.startswith(begun) for mark in t.unthink)
        if ends and self._teller.reasoning and not any(close.startswith(begun) for close in others):
            self._teller.release_all()

    def _mark(self, t: Table, start: int) -> int:
        """Where a mark begins in which the message ends, and that no sentence ends in; else the text's end."""
        buf, size, teller = self._src.buf, len(self._src.buf), self._teller
        first = max(start, size - t.longest + 1)
        if not teller.reasoning and buf.find("<", first) < 0:  # the only sign of `CONTROL` there is
            return size
        for at in range(first, size - 1):
            begun = buf[at:].casefold()
            if begun not in t.prefixes:
                continue
            if len(begun) < MIN_TORN and not (teller.reasoning and begun == "</"):
                continue
            before = buf[at - 1] if at > start else teller.last
            is_mark = begun[:2] in CONTROL or (teller.reasoning and any(mark.startswith(begun) for mark in t.unthink))
            if is_mark and (before not in APART or teller.line_start(buf[start:at])):
                return at
        return size

    def _end_at_mark(self, t: Table, start: int, torn: int) -> None:
        """What there is of a mark is no text: a call that was cut, where nothing else can have been begun.

        The text before it is told first: only then is known whether it stands in what quotes.
        """
        begun, teller = self._src.buf[torn:].casefold(), self._teller
        teller.say(self._src.buf[start:torn])
        if not teller.reasoning and teller.context.standing().sure:
            self._src.pos = len(self._src.buf)
            teller.say(self._src.buf[torn:])
            return
        if _openers(t, begun) and not any(mark.startswith(begun) for mark in (*t.quiet, *t.unthink, *t.turns)):
            self._end_at_opener(torn, torn)
            return
        src = self._src
        text, src.pos = src.buf[torn:], len(src.buf)
        self._end_reasoning(t, begun)
        teller.notice(IssueKind.NOISE, "a mark that the end of the message cut", text, src.base + torn)


def _openers(t: Table, begun: str) -> set[str]:
    """The strong openers that begin so."""
    return {mark for mark, rows in t.rows.items() if mark.startswith(begun) and any(row.strong for row in rows)}
