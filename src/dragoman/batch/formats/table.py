"""The table of formats, and how a row finds the one that fits it.

Knows the rows; nothing of files.  Contract: the first that fits decides, so a shape that another contains stands before
it; a corpus of one shape is looked for once, each row then being asked first whether it fits what the last one was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import UnknownName
from ..row_json import BadRow
from .agents import ATIF, OPENHANDS, OPENHANDS_EVENTS, SWE_AGENT, TAU
from .answers import ANSWER
from .batches import BATCH
from .chat import AXOLOTL, MISTRAL, OPENAI, SWIFT, TRL
from .chatml import CHATML
from .conversations import DIALECT, HERMES, LLAMAFACTORY, SHAREGPT, TOOLACE, TOOLBENCH
from .exchanges import ANTHROPIC, BODY, LOG, OPENINFERENCE, OTEL
from .instructions import ALPACA
from .questions import BFCL, BFCL_ANSWER, BFCL_RESULT, GLAIVE, WHEN2CALL, XLAM
from .spec import Format

ROWS: tuple[Format, ...] = (
    BATCH, TAU, ATIF, SWE_AGENT, OPENHANDS, OPENHANDS_EVENTS, OTEL, OPENINFERENCE, ALPACA, CHATML, LOG, BODY,
    SWIFT, ANTHROPIC, AXOLOTL, MISTRAL, TRL, OPENAI,
    HERMES, TOOLBENCH, TOOLACE, SHAREGPT, LLAMAFACTORY, DIALECT,
    XLAM, WHEN2CALL, GLAIVE, BFCL, BFCL_ANSWER, BFCL_RESULT, ANSWER,
)  # fmt: skip
"""Every format, the particular ones before those that contain them."""
FORMATS: Mapping[str, Format] = {row.name: row for row in ROWS}
NOBODY = "no known shape fits the row (its keys: {keys}); give --columns or --format, see docs/batch.md"


def format_named(name: str) -> Format:
    """The format of this name.  Raises `UnknownName`."""
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS, "docs/batch.md")
    return FORMATS[name]


def target(name: str) -> Format:
    """The format of this name, which can be written.  Raises `UnknownName`."""
    known = {row.name: row for row in ROWS if row.write is not None}
    if name not in known:
        raise UnknownName("target format", name, known, "docs/batch.md")
    return known[name]


def format_of(obj: Mapping[str, Any]) -> Format:
    """The format whose shape this row has.  Raises `BadRow`."""
    for row in ROWS:
        if row.fits(obj):
            return row
    raise BadRow("unknown_format", NOBODY.format(keys=", ".join(map(str, list(obj)[:12]))), "$")
