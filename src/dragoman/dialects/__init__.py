"""Text dialects: the rows (`dialects/rows/table.py` and one file per family), one parser, one judge, one renderer.

The package is itself the mapping of its rows: `dialects["hermes"]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..late import late_names, names_shown
from ..tabular import tabulate
from .engine.parse import parse as parse
from .engine.parsed import Parsed as Parsed
from .rows.table import DIALECTS as DIALECTS
from .spec import Dialect as Dialect

if TYPE_CHECKING:
    from .engine.parser import Parser as Parser
    from .learning import learn as learn
    from .learning.outputs import learn_from_outputs as learn_from_outputs
    from .learning.outputs import samples_of as samples_of
    from .rows.record import from_record as from_record
    from .rows.record import to_record as to_record

_LATE = {
    ".engine.parser": "Parser", ".learning": "learn",
    ".learning.outputs": "learn_from_outputs samples_of", ".rows.record": "from_record to_record",
}  # fmt: skip
"""Loaded when first used: whoever parses learns nothing, and many a text needs no parser."""

tabulate(__name__, DIALECTS)
_find = late_names(__name__, _LATE)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return names_shown(globals(), _LATE)
