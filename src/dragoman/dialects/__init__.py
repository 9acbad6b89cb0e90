"""Text dialects: the rows (`rows.py` and one file per family), one parser, one judge, one renderer.

The package is itself the mapping of its rows: `dialects["hermes"]`.
"""

from __future__ import annotations

from ..tabular import tabulate
from .learning import learn as learn
from .parser import Parsed as Parsed
from .parser import Parser as Parser
from .parser import parse as parse
from .rows import DIALECTS as DIALECTS
from .spec import Dialect as Dialect

tabulate(__name__, DIALECTS)
