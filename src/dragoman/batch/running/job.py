"""A job: what is to be done to every row, where it is put, and the hash by which a job is known again.

Knows options and places; does nothing.  Contract: two jobs with one `digest` write the same bytes from the same units.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ...version import __version__
from ..options import Dedup, Options
from ..row_json import dumps

Command = Literal["lint", "clean", "convert"]
FORM = 2
"""Raised when the bytes that a job writes change though nobody asked for other ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be done.

    `command`  "lint" writes nothing, "clean" keeps rows by their verdict, "convert" writes all that can be written
    `output`   the file of kept rows; "" for none
    `work`     the folder of parts while the job runs
    `sample`   the share of rows that is taken, 0 to 1; by the row's hash and the `seed`, so it is the same rows always
    `dedup`    what makes two rows the same
    `exclude`  keys of rows that are set aside as leaks, and where each stands in the evaluation data
    `template` a chat template's text, through which each row is rendered and read again; "" for none
    `report`   count what a report shows of every row
    `stop`     end at the first row that is set aside
    """

    command: Command
    options: Options
    output: str = ""
    work: str = ""
    sample: float = 1.0
    seed: int = 0
    dedup: Dedup = "none"
    exclude: tuple[tuple[str, str], ...] = ()
    template: str = ""
    report: bool = False
    stop: bool = False

    @property
    def table(self) -> bool:
        """Are the rows kept as a table of the fixed columns?"""
        return self.output.lower().endswith(".parquet")

    def as_json(self) -> dict[str, Any]:
        """What decides about the bytes, as plain data."""
        told = asdict(self)
        del told["work"], told["output"]
        options = told["options"]
        options["tools"] = None if self.options.tools is None else [t["name"] for t in options["tools"]]
        told["exclude"] = hashlib.sha256(repr(self.exclude).encode()).hexdigest() if self.exclude else ""
        told["template"] = hashlib.sha256(self.template.encode()).hexdigest() if self.template else ""
        return {"form": FORM, "version": __version__, "table": self.table, **told}

    @property
    def digest(self) -> str:
        """The hash of all that decides about the bytes."""
        told = self.as_json()
        told["tools"] = repr(self.options.tools)
        return hashlib.sha256(dumps(told)).hexdigest()

    def part(self, index: int, what: str) -> Path:
        """The file of a unit's `what`."""
        return Path(self.work) / f"part-{index:05}.{what}"
