"""The gap between the SDKs' types and us: what is not in the table of what we know, and what is there for nothing.

Knows the table (`known.toml`) and findings; nothing of types or codecs.
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from .carried import Finding, findings
from .official import OFFICIAL, version

TABLE = Path(__file__).with_name("known.toml")
WHAT_TO_DO = "treat it in its codec, or put it into tests/support/sdk_types/known.toml with a reason"


@dataclass(frozen=True, slots=True)
class Row:
    """Words of one API that we know to be so, and why."""

    api: str
    what: str
    words: tuple[str, ...]
    reason: str

    def knows(self, finding: Finding) -> Iterator[str]:
        """The words of this row that are about the finding."""
        if fnmatchcase(finding.api, self.api) and finding.what == self.what:
            yield from (word for word in self.words if fnmatchcase(finding.word, word.replace("[", "[[]")))


@cache
def table() -> tuple[dict[str, str], tuple[Row, ...]]:
    """The versions that the table was made for, and its rows."""
    given = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    rows = (Row(one["api"], one["what"], tuple(one["words"]), one["reason"]) for one in given["rows"])
    return given["versions"], tuple(rows)


@cache
def found(sdk: str) -> dict[Finding, str]:
    """All findings of an SDK that is installed, each with the first place in its types that shows it."""
    places: dict[Finding, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in (one for one in OFFICIAL if one.sdk == sdk):
            for sample in row.samples():
                for finding in findings(row.api, row.way, sample.value):
                    places.setdefault(finding, sample.place)
    return places


def unknown(sdk: str) -> dict[Finding, str]:
    """Findings of an SDK that no row of the table knows, and where its types show them."""
    _, rows = table()
    return {one: place for one, place in found(sdk).items() if not any(any(row.knows(one)) for row in rows)}


def idle(sdks: list[str]) -> list[str]:
    """Words of the table that nothing in these SDKs is about any more."""
    _, rows = table()
    used = {(row, word) for sdk in sdks for one in found(sdk) for row in rows for word in row.knows(one)}
    return [f"{row.api} {row.what} {word}" for row in rows for word in row.words if (row, word) not in used]


def installed() -> list[str]:
    """The SDKs of our rows that are installed."""
    return [sdk for sdk in dict.fromkeys(row.sdk for row in OFFICIAL) if version(sdk)]


def counts(sdk: str) -> dict[str, int]:
    """How many samples of an SDK's types were tried, and what became of the words in them."""
    tried = sum(len(row.samples()) for row in OFFICIAL if row.sdk == sdk)
    kinds = [str(one.what) for one in found(sdk)]
    return {"samples": tried, **{kind: kinds.count(kind) for kind in ("kept", "lost", "refused")}}
