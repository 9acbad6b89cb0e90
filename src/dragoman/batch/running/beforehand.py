"""What is asked before the work begins, so that a slip in the question costs no hours: of columns, of a template.

Knows options and the first rows; nothing of what rows mean.  Contract: raises `UsageError` or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from ...errors import UsageError
from ...io.learning import box
from ..judging import rendering
from ..options import Options
from ..row_json import BadRow, loads
from .proof import LIMITS
from .units import Unit, rows

FIRST = 1000
"""So many first rows of a file are asked for their columns."""
SHOWN = 12
NO_COLUMN = "none of the first rows has the column {old!r} (they have {found}); --columns takes NEW=OLD, correct OLD"
COMPILES = f"{rendering.__name__}:{rendering.compiles.__name__}"
TEMPLATE = "the chat template cannot be used: {why}; correct it, or give the tokenizer_config.json of the model"


def check_columns(units: Sequence[Unit], options: Options) -> None:
    """Raise `UsageError` where a column is renamed that none of the first rows of any file has."""
    missing = {old for _, old in options.columns}
    first = {unit.source: unit for unit in reversed(units)}
    found: dict[str, None] = {}
    for unit in first.values() if missing else ():
        for raw in islice(rows(unit, options.max_row), FIRST):
            keys = _keys(raw.data)
            found |= dict.fromkeys(keys)
            missing -= set(keys)
            if not missing:
                return
    if missing and found:
        raise UsageError(NO_COLUMN.format(old=min(missing), found=", ".join(list(found)[:SHOWN])))


def _keys(row: bytes) -> list[str]:
    try:
        value = loads(row)
    except BadRow:
        return []
    return list(value) if isinstance(value, dict) else []


def check_template(template: str) -> None:
    """Raise `UsageError` for a chat template that is none."""
    try:
        why = box.run(COMPILES, {"template": template}, LIMITS) if template else ""
    except box.Stopped as stopped:
        why = str(stopped)
    if why:
        raise UsageError(TEMPLATE.format(why=why))
