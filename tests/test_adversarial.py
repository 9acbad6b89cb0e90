"""Near-identical twins: texts that only talk about a call, and texts that make it (judge-rules.md)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from dragoman import Parser, parse
from dragoman.dialects.engine.parsed import Parsed, fold
from tests.support import places

FILE = places.RECORDINGS / "adversarial.jsonl"
ROWS: list[dict[str, Any]] = (
    [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()] if FILE.exists() else []
)
pytestmark = pytest.mark.skipif(not ROWS, reason="the outside vectors are not here")

DEBATABLE = {
    "inline_code-json-in-sentence-pos": "a code span quotes (rule 2); we do not guess that a whole message in one is meant",
}
"""Rows the set itself calls debatable and where we decide the other way, with the reason."""


def options(row: dict[str, Any]) -> dict[str, Any]:
    return {"tools": row["tools"], "finish_reason": row["finish"], "shown": row["shown"] or ()}


def ways(row: dict[str, Any]) -> list[Parsed]:
    """The row parsed whole, character by character and in random pieces."""
    text = row["text"]
    found = [parse(text, **options(row))]
    rng = random.Random(row["id"])
    cuts = sorted(rng.sample(range(len(text) + 1), min(len(text), 9)))
    for pieces in (list(text), [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]):
        parser = Parser(**options(row))
        found.append(fold([e for p in pieces for e in parser.feed(p)] + parser.close()))
    return found


def made(parsed: Parsed) -> list[dict[str, Any]]:
    """The calls that run, and those asked about as principle B asks about weak marks among words, in order."""
    doubtful = [c for c in parsed.doubtful if c.report and c.report.rule in {"weak", "hinted"}]
    found = sorted([*parsed.calls, *doubtful], key=lambda c: c.report.span if c.report and c.report.span else (0, 0))
    return [{"name": c.name, "arguments": dict(c.arguments)} for c in found]


def ran(parsed: Parsed) -> list[dict[str, Any]]:
    return [{"name": c.name, "arguments": dict(c.arguments)} for c in parsed.calls]


@pytest.mark.parametrize("row", [r for r in ROWS if r["id"] not in DEBATABLE], ids=lambda r: r["id"])
def test_exactly_what_is_meant_runs_and_the_rest_stays_visible(row: dict[str, Any]) -> None:
    for parsed in ways(row):
        assert (made(parsed) if row["calls"] else ran(parsed)) == row["calls"], row["why"]
        assert [m for m in row["content_must_contain"] if m not in parsed.text] == []
        assert row["issue"] is None or row["issue"] in {i.kind for i in parsed.issues}


@pytest.mark.parametrize("row", [r for r in ROWS if r["id"] in DEBATABLE], ids=lambda r: r["id"])
def test_what_we_decide_otherwise_is_called_debatable_by_the_set(row: dict[str, Any]) -> None:
    assert row["difficulty"] == "debatable"
    assert all(made(p) != row["calls"] for p in ways(row))
