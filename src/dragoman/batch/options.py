"""What is asked of judging and writing, as one value: the same options and the same row give the same bytes.

Knows names; nothing of files, processes or formats.  Contract: an option that is not here changes no output.
"""

from __future__ import annotations

from typing import Literal

from ..records import dataclass
from ..types import Tool

Keep = Literal["strict", "repaired", "all"]
Arguments = Literal["", "object", "string"]
Parallel = Literal["", "list", "consecutive", "none"]
Dedup = Literal["none", "rows", "calls", "questions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is asked.

    `format`      the shape of every row; "" finds it by shape
    `columns`     new name → name in the file, for rows with other keys
    `tools`       the tools of rows that declare none
    `doubt`       what becomes of a call in doubt: "ask" (a finding), "run", "text"
    `repair`      mend what can be mended; False refuses it
    `recover`     read calls out of text
    `keep`        the verdicts that are kept: "strict" (ok, none), "repaired" (and repaired), "all" (but broken)
    `to`          the format to write, or "sft" or "dpo" (`formats/training.py`); "" writes each row in its own
    `arguments`   how arguments are written: "object", "string"; "" as the target wants them
    `parallel`    how several calls of one turn are written; "" as the target wants them
    `dialect`     the dialect of targets whose calls stand in text; "" for the target's own
    `re_id`       give every call a new id, made from its place
    `redact`      blank what looks like a secret
    `max_row`     bytes of a row that is read
    """

    format: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    tools: tuple[Tool, ...] | None = None
    doubt: str = "ask"
    repair: bool = True
    recover: bool = True
    keep: Keep = "repaired"
    to: str = ""
    arguments: Arguments = ""
    parallel: Parallel = ""
    dialect: str = ""
    re_id: bool = False
    redact: bool = False
    max_row: int = 64 << 20


DEFAULTS = Options()
