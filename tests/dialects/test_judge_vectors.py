"""Texts that mean a call and texts that do not, in fifty categories: none is run that was not meant, none is lost.

They were written from the rules of the judge by somebody who had not seen its code.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import parse
from dragoman.dialects.engine.parsed import Parsed
from tests.support import places

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (places.VECTORS / "judge.jsonl").read_text(encoding="utf-8").splitlines()
]
MEANT = [row for row in ROWS if row["expected_calls"]]
OTHERS = [row for row in ROWS if not row["expected_calls"]]
REFUSED = {"conservation/smart-quotes-pos", "two-dialects/fence-around-tag-call-fence-pos"}
"""Meant calls that are refused, with an issue: their damage leaves two readings, or one envelope too many."""


def read(row: dict[str, Any]) -> Parsed:
    return parse(
        row["text"], tools=row["tools"], shown=row.get("shown") or (), prefix=row.get("prefix") or "",
        finish_reason=row.get("finish"),
    )  # fmt: skip


def calls(parsed: Parsed, *, doubtful: bool) -> list[tuple[str, dict[str, Any]]]:
    found = [*parsed.calls, *(parsed.doubtful if doubtful else ())]
    return [(c.name, dict(c.arguments)) for c in sorted(found, key=lambda c: (c.report and c.report.span) or (0, 0))]


@pytest.mark.parametrize("row", OTHERS, ids=lambda row: row["id"])
def test_nothing_runs_that_was_not_meant(row: dict[str, Any]) -> None:
    parsed = read(row)
    assert parsed.calls == ()
    assert [piece for piece in row.get("expected_text") or () if piece not in parsed.text] == []


@pytest.mark.parametrize("row", MEANT, ids=lambda row: row["id"])
def test_what_was_meant_runs_or_is_asked_about(row: dict[str, Any]) -> None:
    parsed = read(row)
    wanted = [(call["name"], call.get("arguments") or {}) for call in row["expected_calls"]]
    read_all = wanted in (calls(parsed, doubtful=False), calls(parsed, doubtful=True))
    assert read_all or (row["id"] in REFUSED and parsed.issues)
    assert all(call.report and call.report.reason and call.report.rule for call in parsed.calls)
