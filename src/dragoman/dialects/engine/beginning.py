"""What a message begins with that is nothing but calls: looked for there, and nowhere else.

Between the parser, which knows where that is, and the trial of candidates.  Knows tables and declared names; no
dialect, and nothing of what follows.
Contract: what is no call stays in the source, but for white space before it, which was said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lenient.source import Need, Source
from ..judge.declared import Declared
from ..reading.named import named_rows
from .markers import Table

if TYPE_CHECKING:
    from .candidates import Trial
    from .emitter import Teller


def may_open(table: Table, names: Declared, first: str) -> bool:
    """May what begins with this character be nothing but calls?"""
    return not "!" <= first <= "~" or first in table.opening_signs or first in names.initials


def beginning(src: Source, table: Table, names: Declared, teller: Teller, trial: Trial) -> Need[None]:
    """Try the calls that a message which is nothing else may begin with; any other may begin so too."""
    if teller.reasoning or teller.queue or teller.context.any:
        return
    end, mark = yield from src.glance(table.opening_marks)
    ahead = end - len(mark) if mark else (yield from src.over_space())
    named = (yield from named_rows(names, table.opening_forms, src, ahead)) if table.opening_forms else ()
    rows = (*table.openings.get(mark, ()), *named)
    if not rows:
        return
    if ahead:
        teller.say(src.buf[src.pos : src.pos + ahead])
        src.pos += ahead
    yield from trial.opening(rows)
