"""What of a file is judged without being read: rows that are too long, and the rest of a file that is damaged.

Knows raw rows and outcomes; nothing of how a row is judged, and nothing of who counts it.
Contract: every raw row has a judgment, so that none is passed over; where a part of a file is as good as nothing (what
is compared with, what is scored), `whole` raises instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import UsageError
from ..judging.row_judge import Outcome, judge
from ..options import Options
from ..result import Finding, RowVerdict
from ..row import row_id
from .lines import Raw
from .units import Unit, rows

UNREADABLE = "unreadable_file"
PART = "{source} cannot be read from {offset} on ({fault}); a part of it is not enough: fetch it again, or leave it out"


def judged_raw(raw: Raw, source: str, options: Options) -> Outcome:
    """The judgment of what was read of a file."""
    return unread(raw, source, options.max_row) or judge(raw.data, options, (source, raw.offset))


def unread(raw: Raw, source: str, most: int) -> Outcome | None:
    """The judgment of what cannot be read; None for a row that can."""
    if raw.fault:
        found = Finding(UNREADABLE, "", raw.fault)
    elif raw.digest:
        found = Finding("too_long", "", f"it has {raw.size:,} bytes; --max-row allows {most:,}")
    else:
        return None
    id_ = raw.digest or row_id(f"{source}:{raw.offset}".encode())
    return Outcome(id_, source, raw.offset, raw.data, RowVerdict.BROKEN, None, None, (found,))


def whole(unit: Unit, max_row: int) -> Iterator[Raw]:
    """The rows of a unit that must be read to its end.  Raises `UsageError` where it cannot be."""
    for raw in rows(unit, max_row):
        if raw.fault:
            raise UsageError(PART.format(source=unit.source, offset=raw.offset, fault=raw.fault))
        yield raw
