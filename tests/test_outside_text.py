"""Model outputs recorded by other projects, read with the dialect named and blind, whole and in pieces.

Every text of every file is read.  What differs from the recorded calls stands in `divergences/*.toml` with a reason, and
a row there that no longer differs fails too.
"""

from __future__ import annotations

import json
from functools import cache

import pytest

from dragoman import parse
from tests.support.outside import (
    DIVERGENCES,
    FILES,
    OUTSIDE,
    VISIBLE,
    Vector,
    as_recorded,
    chunkings,
    divergences,
    key,
    plain,
    run,
    same_reasoning,
    same_text,
    vectors,
)

pytestmark = pytest.mark.skipif(not OUTSIDE.exists(), reason="the outside vectors are not here")
WAYS = ("named", "blind")
ADVISED = OUTSIDE / "issues_recommended.jsonl"
LONG = 20_000
"""Longer texts are read in random pieces only."""
OTHERWISE = {
    "issues:tool_name:6": "a counter is no name, and no tool is guessed from its arguments (judge rules, head)",
    "issues:wrong_tag:2": "a closer that stands twice may be the last of the value: refused, never dropped (rule E)",
    "issues:json_syntax:7": "an escape that JSON does not know keeps its backslash (judge rules, E)",
    "issues:json_syntax:4": "only the value is recommended there; the call is made with the null left out",
    "issues:fenced:4": "an assignment in bare Python is code until a fence or a list says that it is a call",
}
"""Recommendations for shapes from bug reports that the judge's rules overrule."""


@cache
def by_dialect(file: str) -> dict[str, list[Vector]]:
    found: dict[str, list[Vector]] = {}
    for vector in vectors(file) if OUTSIDE.exists() else ():
        found.setdefault(vector.dialect, []).append(vector)
    return found


GROUPS = [(file, dialect) for file in FILES for dialect in by_dialect(file)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("file", "dialect"), GROUPS, ids=[f"{f}-{d}" for f, d in GROUPS])
def test_the_recorded_calls_are_read_or_the_difference_is_argued(file: str, dialect: str, way: str) -> None:
    blind, argued, visible = way == "blind", divergences(way), divergences(way, VISIBLE)
    other, cut, unlike = set(), set(), set()
    group = by_dialect(file)[dialect]
    for n, vector in enumerate(group):
        parsed = run(vector, [vector.text], blind=blind)
        if vector.calls is not None and not as_recorded(vector.calls, parsed):
            other.add(vector.id)
        elif not (same_text(vector, parsed) and same_reasoning(vector, parsed)):
            unlike.add(vector.id)
        cuts = chunkings(vector)
        pieces = cuts[0] if len(vector.text) > LONG else cuts[(n + blind) % len(cuts)]
        if key(run(vector, pieces, blind=blind)) != key(parsed):
            cut.add(vector.id)
    assert other == {v.id for v in group if v.id in argued}
    assert unlike == {v.id for v in group if v.id in visible}, "the text or the reasoning differs"
    assert cut == set(), "read differently in pieces"


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("file", FILES)
def test_recorded_texts_read_the_same_in_any_pieces(file: str, way: str) -> None:
    blind = way == "blind"
    for vector in vectors(file):
        whole = key(run(vector, [vector.text], blind=blind))
        for pieces in chunkings(vector):
            assert key(run(vector, pieces, blind=blind)) == whole, vector.id


def test_every_argued_difference_is_about_a_recorded_text() -> None:
    known = {v.id for file in FILES for v in vectors(file)}
    argued = [divergences(way, folder) for way in WAYS for folder in (DIVERGENCES, VISIBLE)]
    assert {row for rows in argued for row in rows} <= known


@pytest.mark.parametrize("file", FILES)
def test_at_least_nineteen_in_twenty_calls_need_no_argument(file: str) -> None:
    """But for the one project that drops undeclared keys and fails whole batches, and the smallest one."""
    least = {"aisdk": 0.69, "forge": 0.8, "sglang": 0.85, "vllm": 0.9}.get(file, 0.97)
    for way in WAYS:
        group = [v for v in vectors(file) if v.calls is not None]
        assert sum(v.id not in divergences(way) for v in group) >= least * len(group)


@pytest.mark.parametrize("file", FILES)
def test_the_text_and_the_reasoning_of_most_need_no_argument(file: str) -> None:
    """What is argued is mostly one project's lexer of fragments, and tests in which no prompt had opened the thought."""
    least = {"vllm": 0.9, "ollama": 0.85, "sglang": 0.8, "forge": 0.95, "aisdk": 0.9}.get(file, 0.97)
    for way in WAYS:
        group = list(vectors(file))
        assert sum(v.id not in divergences(way, VISIBLE) for v in group) >= least * len(group)


def test_shapes_from_bug_reports_are_judged_as_recommended() -> None:
    differing = set()
    for line in ADVISED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        parsed = parse(
            row["input"], tools=row["tools"], prefix=row["prefix"] or "", finish_reason=row.get("finish_reason")
        )
        expected = [(c["name"], plain(c["arguments"])) for c in row["expected_calls"] or ()]
        if not as_recorded(expected, parsed):
            differing.add(row["id"])
    assert differing == set(OTHERWISE)
