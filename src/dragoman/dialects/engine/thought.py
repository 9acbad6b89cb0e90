"""The model's reasoning in one message: where it opens, and where it is over.

A closing tag without an opening one ends reasoning that the prompt had opened; a tag of which the text only speaks does
neither.  Knows the tags that the listening rows name; not what is found in reasoning, nor what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable

from ...events import Reclassified
from ...late import late
from ...lenient.source import Need, Source
from .candidates import Trial
from .derived_tables import closing, reasoning_table
from .emitter import Teller
from .markers import Table
from .scanner import Scanner
from .told_text import APART, closes_text

AFTER = late(r"[ \t]*(?:\r?\n|\Z|[<\[])")


class Thought:
    """Opens and closes reasoning in one message; `was_closed` says that a block of it was."""

    __slots__ = ("_drop", "_scanner", "_src", "_table", "_teller", "_trial", "was_closed")

    _src: Source
    _table: Table
    _teller: Teller

    def __init__(self, trial: Trial, scanner: Scanner, drop: Callable[[str], None]) -> None:
        self._src, self._table, self._teller = trial.src, trial.table, trial.teller
        self._trial, self._scanner, self._drop = trial, scanner, drop
        self.was_closed = False

    def open(self, closers: tuple[str, ...], begun: tuple[str, ...] = ()) -> None:
        """From here on the model reasons, until one of these."""
        self._teller.reasoning = True
        self._scanner.table = reasoning_table(self._table, closers, begun)
        self._trial.thinks_until = closing(closers)

    def close(self) -> None:
        """Reasoning ends: what was drafted in it was a rehearsal (judge-rules.md 1)."""
        if self._teller.queue:
            self._teller.release_all()
        self._teller.reasoning, self._scanner.table, self.was_closed = False, self._table, True
        self._teller.new_line()

    def may_open(self, marker: str) -> Need[bool]:
        """Does reasoning begin here?  In the middle of a line its tag is mentioned, unless nothing stands beside it."""
        ahead = yield from self._src.peek(len(marker) + 1)
        glued = self._teller.context.before[-1:] not in APART
        return self._teller.line_start("") or glued or ahead[len(marker) :] in {"\n", "\r"}

    def is_ticked(self, marker: str) -> Need[bool]:
        """Does the mark stand alone between backticks, in reasoning?"""
        if not (self._teller.reasoning and self._teller.ticked):
            return False
        return (yield from self._src.peek(len(marker) + 1))[len(marker) :] == "`"

    def ends(self, marker: str) -> Need[bool]:
        """A closing tag without an opening one ends reasoning that began at the start, unless it is only mentioned."""
        teller = self._teller
        glued = teller.context.before[-1:] not in APART
        if closes_text(teller.context.before, marker.casefold()):
            return False
        ahead = (yield from self._src.peek(len(marker) + 2))[len(marker) :]
        if self.was_closed:
            stray = not ahead.strip() if teller.line_start("") else glued
            if stray:
                self._drop(marker)
            return stray
        if not (teller.line_start("") or glued or AFTER.match(ahead)):
            return False
        self._src.pos += len(marker)
        self.was_closed = True
        if teller.queue:
            teller.release_all()
        if teller.context.any or teller.count:
            teller.out.append(Reclassified())
            teller.forget()
        return True
