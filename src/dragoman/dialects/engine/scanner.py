"""Where the next marker stands in live text, and the text before it.

Knows the markers of a table and the names of declared tools; not what a marker means (`parser.py`).
Contract: text that can be no marker's beginning is told as soon as it came; no text is searched twice for one table,
however often the scanner is asked.
"""

from __future__ import annotations

import re
from functools import cached_property

from ...lenient.source import Need, Source, Tap
from ..judge.declared import Declared
from ..reading.compiled import Row
from ..reading.named import PRINT_OPEN, UNDECIDED, begins_word, forms_at, goes_on, going_on, opened
from .budget import TRIED, Patience
from .candidates import Trial
from .common_marks import FENCE_SIGNS
from .derived_tables import narrow_table
from .emitter import Teller
from .mark_starts import FENCE, exactly_on_line, glued, surely_on_line
from .markers import Table
from .nearby import Nearby
from .search import FEW, MORE_VAIN, VAIN, Lead
from .stops import Fate
from .torn import TornMarks

NO_LEADS: dict[tuple[int, bool | None], Lead] = {}
"""Those of a text that was searched for one table; by tables and the calm of a line, None within one."""
NOWHERE = Lead(re.compile(r"(?!)"), one=True)
"""Before the first table is known."""
MANY_FENCES = 64
"""Behind so many it is asked of each whether it passes: what tells that is dear to make."""
PRINTS = 2 * PRINT_OPEN
"""What may go on for longer than is looked at."""
PRINTS_SIZE = len(PRINTS)
BLANK, BLANKS = re.compile(r"[ \t\r]*"), re.compile(r"[ \t\r\n]*+")


class Scanner:
    """Looks for the markers of `table`; `named` is the rows whose opener with a declared name it found last."""

    def __init__(
        self, src: Source, teller: Teller, trial: Trial, names: Declared, *, table: Table, patience: Patience
    ) -> None:
        self._src, self._teller, self._trial, self._names, self._patience = src, teller, trial, names, patience
        self._has_names = names.some
        self.table = table
        self.named: tuple[Row, ...] = ()
        self._leads_of: Table | None = None
        self._calm = False
        self._fences = 0
        self._leads = NO_LEADS
        self._inline = self._at_line = NOWHERE

    @cached_property
    def _torn(self) -> TornMarks:
        return TornMarks(self._src, self._teller, self._trial)

    @cached_property
    def _near(self) -> Nearby | None:
        """Where declared tools are named; None where any name may be one, or an object may be an answer."""
        judge = self._trial.judge
        return None if judge.tools is None or judge.protocol else Nearby(self._src, self._names)

    def scan(self) -> Need[str]:
        """Tell text up to the next marker; the source stands at it.  "" at the end."""
        src, say = self._src, self._teller.say
        while True:
            t = self.table
            start, end = src.pos, -1
            if self._patience.marks > TRIED and self._near is not None and (t.rows or t.forms):
                end = self._near.clear()
                if end > start:
                    t = narrow_table(t)
                elif (end := self._near.ends()) < 0:
                    yield
                    continue
            cut, marker = self._next_marker(t)
            if 0 <= end < len(src.buf) and end <= cut:
                end = end if t is not self.table else cut  # where none stands for all that listens, none is passed by
                say(src.buf[start:end])
                src.pos = end
                continue
            if (
                src.eof and (self._trial.finish or (not marker and start < len(src.buf)))
                and not (self._teller.crowd.will(src.buf[start:cut]) and not self._teller.reasoning)
                and self._torn.ends(t, start, cut, marker)
            ):  # fmt: skip
                return ""
            src.pos = cut
            if cut > start:
                say(src.buf[start:cut])
            if marker or src.eof:
                return marker
            src.tap = Tap((t.any_lead if self._teller.line_start("") else t.run_lead).search, say)
            yield
            src.tap = None

    def _next_marker(self, t: Table) -> tuple[int, str]:
        """Where live text ends for now, and the marker that stands there; "" when none does (yet)."""
        src = self._src
        buf, start, size = src.buf, src.pos, len(src.buf)
        if start == size:
            return size, ""
        if src.eof and buf[start] in t.heads:  # before any other, so that nothing need be searched
            stands = self._stands(t, start, first=self._teller.line_start(""))
            if stands:
                return start, stands
        if src.eof and (behind_blanks := self._behind_blanks(t, start)) is not None:
            return behind_blanks
        calm = size - start > FEW and not self._teller.queue
        if t is not self._leads_of or calm is not self._calm:
            self._take_leads(t, calm)
        inline = self._inline.next(src, start)
        at_line = self._first_on_line(t, start, inline)
        while True:
            at = inline if inline < at_line else at_line
            if at >= size:
                return size, ""
            if at == 0 and at != at_line and glued(src.last, buf[0]):
                inline = self._inline.next(src, 1)
                at_line = self._first_on_line(t, start, inline)
                continue
            if size - at < t.longest and not src.eof and buf[at:].casefold() in t.prefixes:
                return at, ""
            stands = self._stands(t, at, first=at == at_line)
            if stands != "":
                return at, stands or ""
            behind = at + 1
            if at == inline:
                inline = self._inline.next(src, behind)
            if at == at_line:
                self._at_line.missed()
            if at == at_line or at_line >= size:
                at_line = self._at_line.next(src, behind, inline)

    def _behind_blanks(self, t: Table, start: int) -> tuple[int, str] | None:
        """The marker that the next line with anything on it begins with, where nobody writes that but for a call."""
        buf = self._src.buf
        if buf[start] != "\n":
            return None
        at = BLANKS.match(buf, start).end()  # type: ignore[union-attr]
        if at == len(buf) or buf[at] not in t.heads or buf[at] in FENCE_SIGNS:
            return None
        stands = self._stands(t, at, first=True)
        return (at, stands) if stands is not None and len(stands) > 1 else None

    def _stands(self, t: Table, at: int, *, first: bool) -> str | None:
        """The marker that stands here, `first` on its line or not; "" for none, None where more text must tell."""
        found = t.marker.match(self._src.buf, at)
        marker = found.group() if found and (first or found.group().casefold() not in t.line) else ""
        if marker and marker[0] in t.vain.signs and self._src.base + at >= 0 and not self._teller.queue:
            is_vain = t.vain.is_vain(self._src.buf, at, self._names, ended=self._src.eof)
            if is_vain is not False:
                return "" if is_vain else None
        if not (t.forms and self._has_names):
            return marker
        longer = self._named_marker(t, at, first=first)
        return longer if longer is None or len(longer) > len(marker) else marker

    def _take_leads(self, t: Table, calm: bool) -> None:
        """Look for the markers of this table; for no plain fence where the text is all there and no candidate waits."""
        before, was_calm = self._leads_of, self._calm
        self._leads_of, self._calm = t, calm
        if before is not None:
            if not self._leads:
                self._leads = {}
            self._leads[id(before), None], self._leads[id(before), was_calm] = self._inline, self._at_line
        known = self._leads
        self._inline = (known.get((id(t), None)) if known else None) or Lead(
            t.lead, one=True, signs=t.all_lead_signs, sure=t.surer_signs, counts=self._counts_anywhere,
        )  # fmt: skip
        self._at_line = (known.get((id(t), calm)) if known else None) or Lead(
            t.calm_lead if calm else t.line_lead, one=False, surely={VAIN: self._surely, MORE_VAIN: self._exactly},
            counts=self._counts_calm if calm else self._counts,
        )  # fmt: skip

    def _surely(self) -> re.Pattern[str]:
        """What finds lines of marks, and words that declared names begin with, for the table that is looked for."""
        t = self._leads_of or self.table
        lead = t.deep.calm_lead if self._calm else t.deep.line_lead
        return surely_on_line(lead, t.first_words, self._names.told_heads, t.befores, t.line)

    def _exactly(self) -> re.Pattern[str]:
        """The same of marks and names in full, where these tell."""
        t = self._leads_of or self.table
        if not self._names.words and self._has_names:
            return self._surely()
        lead = t.deep.calm_lead if self._calm else t.deep.line_lead
        return exactly_on_line(lead, t.every(), frozenset(t.forms), self._names.words or "(?!)")

    def _counts_anywhere(self, buf: str, at: int) -> bool:
        """The same of a place within a line: most that begins like a mark goes on as none."""
        t = self.table
        found = t.marker.match(buf, at)
        if found is not None and found.group().casefold() not in t.line:
            return True
        if not (t.named_inline and self._has_names):
            return False
        return buf.startswith(PRINTS, at) or bool(forms_at(self._names, t.named_inline, buf, at, eof=True))

    def _counts(self, buf: str, at: int) -> bool:
        """May anything begin here, where all is there that tells?  Most words of code are no tool's name."""
        sign = buf[at : at + 1]
        t = self.table
        if sign in t.weak and t.marker.alone(buf, at):
            return not self._trial.passes(at)
        if not sign.isascii() or buf[at : at + PRINTS_SIZE] == PRINTS:
            return True
        if begins_word(self._names, buf, at):
            return True
        if (sign in t.heads or sign in t.letters) and t.marker.match(buf, at) is not None:
            return True
        return sign in t.named_signs and bool(forms_at(self._names, t.named_first, buf, at, eof=True))

    def _counts_calm(self, buf: str, at: int) -> bool:
        """The same where no candidate waits: there a fence that is text need not be read, if many were."""
        if buf.startswith(FENCE, at) and self.table.passing.sign:
            self._fences += 1
            if self._fences > MANY_FENCES and self._fences % MANY_FENCES:  # of many in turn, one is told how far we are
                return self.table.passing.fate(buf, at, self._names.heads) is not Fate.PASSES
        vain = self.table.vain
        if buf[at] in vain.signs and vain.is_vain(buf, at, self._names, ended=self._src.eof):
            return False
        return self._counts(buf, at)

    def _named_marker(self, t: Table, at: int, *, first: bool) -> str | None:
        """The opener with a declared name that stands here, "" for none; None where more text must tell."""
        buf, eof = self._src.buf, self._src.eof
        self.named, marker = (), ""
        forms = forms_at(self._names, t.named_first if first else t.named_inline, buf, at, eof=eof)
        if forms and not first and goes_on(buf[at - 1] if at else self._src.last):
            forms = tuple(form for form in forms if form[0])  # what precedes it may have been told
        for form in going_on(forms, buf, at) if eof and forms else forms:
            if eof and not buf.startswith(form[0], at):
                continue
            found = opened(form, self._names, buf, at, eof=eof)
            if found is UNDECIDED:
                return None
            if found is not None:
                self.named += tuple(r for r in t.forms[form] if r not in self.named)
                marker = max(marker, buf[at : found.end], key=len)
        return marker

    def _first_on_line(self, t: Table, start: int, inline: int) -> int:
        """The first place from `start` on that stands first on its line and may begin a line marker.

        Behind `inline`, where another marker may begin, nobody has to look yet.
        """
        buf = self._src.buf
        blank = BLANK.match(buf, start)
        at = blank.end() if blank else start
        if t.any_lead.match(buf, at) and self._teller.line_start(buf[start:at]):
            return at
        return self._at_line.next(self._src, start, inline)
