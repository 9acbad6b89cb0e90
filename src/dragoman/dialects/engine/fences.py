"""Fences whose only content may be calls.

Knows fences and what stands in one; not where the scanner found it, nor what is decided on the calls in it.
Contract: a fence that holds calls and nothing else is one candidate, which awaits what follows it; any other is text,
and read as if nobody had looked, but for an issue on a call in it that broke.
"""

from __future__ import annotations

import re

from ...events import Event, IssueReported
from ...lenient.notation import Broken, Cut
from ...lenient.source import SPACE, Need, Source
from ..judge.candidate import Draft
from ..judge.evidence import Mark
from ..judge.judge import slip_of, unreadable
from ..reading.call import Attempt, Mismatch
from ..reading.compiled import Row
from ..reading.drafts import MOST_CALLS
from ..reading.named import forms_at, named_rows
from ..reading.table import READERS, read_clean
from .budget import Patience
from .candidates import MAX_TRIED, NAMED_REACH, Trial
from .markers import Table
from .passing import MAX_INFO
from .pending import Awaits, Pending, written_as

VALUES = "{["
CODE = re.compile(rf"```[\w+#.-]{{0,{MAX_INFO - 80}}}+[ \t]{{0,40}}+\r?\n\s*+(?=\w)").match
"""A fence, opened or closed, and the first word behind its line."""


class Fences:
    """Reads the fences of one message."""

    def __init__(self, src: Source, table: Table, trial: Trial, patience: Patience) -> None:
        self._src, self._table, self._trial, self._patience = src, table, trial, patience
        self._judge, self._teller = trial.judge, trial.teller
        self._vain = 0  # characters read for calls that were none
        self._calls = 0  # in all fences
        self._from = -1  # where the last one begins that is text
        self._broke: tuple[str, Broken] | None = None

    def is_plain(self) -> bool:
        """Does a fence stand here behind whose line no call begins, but a word?  False: it must be read.

        Most fences are code, and each stands there twice: this is one look, where reading it takes fifty.
        """
        src, t = self._src, self._table
        found = CODE(src.buf, src.pos)
        if found is None:
            return False
        at = found.end()
        if not src.eof and len(src.buf) - at <= t.longest:
            return False
        return t.marker.match(src.buf, at) is None and not forms_at(
            self._judge.declared, t.named_first, src.buf, at, eof=src.eof
        )

    def read(self, marker: str) -> Need[bool]:
        """A fence opens: perhaps its only content is a call, and it ends the message.

        How the place stands is asked last: it is the dearest question, and most fences hold nothing like a call.
        """
        src, teller = self._src, self._teller
        at = src.at
        if at == self._from:
            return False
        line = yield from self._info_line()
        run = line[: len(line) - len(line.lstrip(marker[0]))]
        info = line[len(run) :].strip().casefold()
        if not line.endswith("\n") or "`" in info or self._is_empty(len(line), run):
            self._from = at
            return False
        whole = not teller.context.any and not teller.seen_call
        src.hold()
        src.pos += len(line)
        self._broke = None
        yield from src.space()
        _, closed = yield from src.glance((run,))
        may = not closed and (yield from self._is_worth()) and bool((yield from self._rows())) and not self._is_quoted()
        found = may and (yield from self._fenced(run, whole))
        if not found:
            src.rewind()
            self._from = at
            if may:
                self._patience.read()
            if self._broke is not None:
                name, why = self._broke
                self._patience.broke()
                teller.emit(IssueReported(unreadable(slip_of(why), str(why), "", name, at)))
        return found

    def _is_empty(self, size: int, run: str) -> bool:
        """Does another fence stand behind this one's line, which is `size` long?  Asked of a text that has ended."""
        src = self._src
        return src.eof and src.buf.startswith(run, SPACE.match(src.buf, src.pos + size).end())  # type: ignore[union-attr]

    def _is_worth(self) -> Need[bool]:
        """Is what stands here to be read?  Where much was in vain, an object or a list only if it names a tool."""
        src = self._src
        if self._vain <= MAX_TRIED or (yield from src.peek()) not in VALUES:
            return True
        yield from src.peek(NAMED_REACH)
        return self._trial.is_named()

    def _is_quoted(self) -> bool:
        """Is the fence quoted, or another party's?"""
        context = self._teller.context
        return context.standing().quote is not None or context.turned()

    def _info_line(self) -> Need[str]:
        src = self._src
        while True:
            end = src.buf.find("\n", src.pos + 3, src.pos + MAX_INFO)
            if end >= 0:
                return src.buf[src.pos : end + 1]
            if src.eof or len(src.buf) - src.pos > MAX_INFO:
                return src.buf[src.pos : src.pos + MAX_INFO]
            yield

    def _fenced(self, run: str, whole: bool) -> Need[bool]:
        """Candidates and nothing else up to the fence's end; then they await the message's end."""
        src, teller = self._src, self._teller
        items: list[Draft | Event] = []
        raws: dict[int, str] = {}
        while True:
            yield from src.space()
            size, closed = yield from src.glance((run,))
            if closed or (src.eof and src.pos == len(src.buf)):
                break
            at = src.at
            attempt, raw = yield from self._inner()
            if attempt is None:
                return False
            items += attempt.items
            if self._calls + len(items) > MOST_CALLS:
                self._broke = attempt.drafts[-1].name, Broken(f"fences hold more than {MOST_CALLS} calls")
                return False
            raws |= written_as(attempt, attempt.drafts, raw, at)
        if not items:
            return False
        src.pos += size
        raw = src.held()
        src.release()
        drafts = [item for item in items if isinstance(item, Draft)]
        self._patience.calls += 1
        self._calls += len(drafts)
        pending = Pending(
            items, raw, teller.before, raws, Mark.FENCE, any(d.strong for d in drafts), fenced=True, whole=whole,
            awaits=Awaits.END if whole else Awaits.WORDS, hints=() if whole else teller.hints(),
            asked=all(self._judge.asked_for(draft.dialect) for draft in drafts),
        )  # fmt: skip
        teller.await_rest(pending)
        return True

    def _inner(self) -> Need[tuple[Attempt | None, str]]:
        """One candidate inside a fence, told nothing of yet."""
        src, at = self._src, self._src.at
        for row in (yield from self._rows()):
            attempt = Attempt(src, row, self._judge, _ignore, READERS)
            begin = src.pos
            if read_clean(attempt):
                return attempt, src.buf[begin : src.pos]
            depth = src.hold()
            try:
                yield from attempt.run()
            except (Mismatch, Broken, Cut) as why:
                src.unwind(depth)
                self._vain += src.at - at
                self._trial.in_vain(at, why)
                if attempt.drafts and isinstance(why, Broken):
                    self._broke = attempt.drafts[-1].name, why
                src.rewind()
                if self._patience.is_read_out:
                    break
                continue
            raw = src.held()
            src.release()
            return attempt, raw
        return None, ""

    def _rows(self) -> Need[tuple[Row, ...]]:
        """The rows that what stands here may open."""
        src, t = self._src, self._table
        while not src.eof and src.buf[src.pos : src.pos + t.longest].casefold() in t.prefixes:
            yield
        found = t.marker.match(src.buf, src.pos)
        rows = t.rows.get(found.group().casefold(), ()) if found else ()
        return (*rows, *(yield from named_rows(self._judge.declared, t.forms, src)))


def _ignore(_: object) -> None:
    return None
