"""Text dialects: the rows (`dialects/rows/table.py` and one file per family), one parser, one judge, one renderer.

The package is itself the mapping of its rows: `dialects["hermes"]`.
"""

from __future__ import annotations

from ..tabular import tabulate
from .engine.parser import Parsed as Parsed
from .engine.parser import Parser as Parser
from .engine.parser import parse as parse
from .learning import learn as learn
from .learning.outputs import learn_from_outputs as learn_from_outputs
from .learning.outputs import samples_of as samples_of
from .rows.record import from_record as from_record
from .rows.record import to_record as to_record
from .rows.table import DIALECTS as DIALECTS
from .spec import Dialect as Dialect

tabulate(__name__, DIALECTS)
