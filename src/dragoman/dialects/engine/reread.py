"""What is done with a call that broke and has one reading all the same: its text is found, read again, and told.

Knows a row's marks, the text at hand and who tells of calls; how the text is read again is in `second_reading.py`.
Contract: nothing is passed over unless a call was read; what was told of the call before stays true, or is ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ...late import late_call
from ...lenient.notation import Broken, Cut
from ...lenient.source import Need, finder, may_be_longer
from ...types import IssueKind, Stop
from ..judge.candidate import Draft
from ..reading.call import Attempt
from ..reading.compiled import Row, telling
from ..spec import JsonArgs, JsonCall, KeywordArgs
from .damage import Damage

if TYPE_CHECKING:
    from .second_reading import Again

LONGEST = 32 * 1024
"""A call that is longer is refused as it stands."""
_read_again: Callable[..., Again | None] = late_call(".second_reading", "read_again", __name__)
"""Asked of calls that broke."""

Second: TypeAlias = tuple[Attempt | None, str]
"""The attempt that read a call again, if one did, and what it read."""
NO_READING: Second = None, ""


class Reread(Damage):
    """Reads calls again in one message."""

    def _reread(self, row: Row, why: Exception, broken: Draft | None, at: int) -> Need[Second]:
        """Read the call that begins here again.  None: it has no reading, and all of it still stands here."""
        src = self.src
        if not (isinstance(why, Broken | Cut) and self._may_reread(row)):
            return NO_READING
        size = yield from self._extent(row)
        raw = src.buf[src.pos : src.pos + size]
        again = _read_again(row, raw, self.judge, at, broken) if size else None
        if again is None:
            return NO_READING
        src.pos += size - again.left
        return self._taken(again, broken), raw[: size - again.left]

    def _reread_broken(self, attempt: Attempt, why: Exception, at: int) -> Need[Second]:
        """The same of one that broke, and is held.  None: it stands where it was left, and is held."""
        src, size = self.src, self.src.at - at
        if len(attempt.items) > 1:
            return NO_READING
        src.rewind()
        again = yield from self._reread(attempt.row, why, attempt.last, at)
        if again is NO_READING:
            src.hold()
            src.pos += size
        return again

    def _mended(self, row: Row, attempt: Attempt, raw: str, at: int) -> Attempt:
        """The attempt that read `raw`, or a second one, where the only call in it is refused for how it is spelt."""
        draft = attempt.last
        if draft is None or draft.refusal is None or draft.refusal.kind is not IssueKind.MALFORMED:
            return attempt
        again = _read_again(row, raw, self.judge, at, draft) if self._may_reread(row) and _is_only(attempt) else None
        return attempt if again is None or again.left else self._taken(again, draft)

    def _may_reread(self, row: Row) -> bool:
        """Is a second reading there for this notation, and may it count?"""
        judge, args = self.judge, row.dialect.args
        return isinstance(args, JsonCall | JsonArgs | KeywordArgs) and not (
            judge.strict or judge.tools is None or self.teller.reasoning
        )

    def _taken(self, again: Again, broken: Draft | None) -> Attempt:
        if broken is not None:
            self.teller.supersede(broken, again.draft)
        return again.attempt

    def _extent(self, row: Row) -> Need[int]:
        """How far the call goes that begins here: through its closers, to the next opener, or to the text's end.

        0: that is too far, or the text was cut before it came.
        """
        src, closers = self.src, telling(row.body_close + row.call_close + row.section_close)
        openers = telling(row.openers)
        inside = tuple(mark for mark in telling(row.body_open + row.tool_close) if mark not in row.call_close)
        pattern, prefixes, longest, _ = finder((*closers, *openers, *inside))
        begin = max(1, self._opener_size(row))
        while (inner := (yield from src._option((yield from src._over_space(begin)), openers)))[1]:
            begin = inner[0]
        while True:
            found = pattern.search(src.buf, src.pos + begin, src.pos + LONGEST)
            if found is not None and (src.eof or not may_be_longer(found, src.buf, prefixes, longest)):
                if found.group() not in inside:
                    break
                begin = found.end() - src.pos
                continue
            left = len(src.buf) - src.pos
            if src.eof or left > LONGEST + longest:
                return 0 if left > LONGEST or self.finish == Stop.LENGTH else left
            begin = max(begin, left - longest)
            yield
        if found.group() not in closers:
            return found.start() - src.pos
        size = found.end() - src.pos
        while (further := (yield from src._option((yield from src._over_space(size)), closers)))[1]:
            size = further[0]
        return size


def _is_only(attempt: Attempt) -> bool:
    """Is one call all that was read?"""
    return len(attempt.items) == 1


__all__ = ["Reread"]
