"""No work takes a third more calls than it did when its figure was stored (bench/counts.py)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench.counts import GROWTH, STORED, counting, grown
from dragoman import parse
from tests.support.places import ROOT

WHAT_TO_DO = (
    "find what made it grow (python -m cProfile, or bench/counts.py NAME before and after), or, where the work is worth it, "
    "store the new figures: python bench/counts.py --write"
)


@pytest.mark.slow
def test_no_work_takes_a_third_more_calls_than_were_stored() -> None:
    command = [sys.executable, str(ROOT / "bench" / "counts.py"), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    faults = grown(json.loads(ran.stdout), json.loads(STORED.read_text()))
    assert not faults, "\n".join([*faults, WHAT_TO_DO])


def test_calls_are_the_packages_own_and_the_same_each_time() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    counts = []
    for _ in range(4):
        with counting() as count:
            parse(text, tools=[{"name": "f"}])
        counts.append(count.calls)
    assert counts[2] == counts[3] > 50
    with counting() as count:
        sorted(map(str, range(100)))
    assert count.calls == 0


@pytest.mark.parametrize(
    ("now", "stored", "faults"),
    [
        ({"a": 100.0}, {"a": 76.0}, []),
        ({"a": 100.0}, {"a": 200.0}, []),
        ({"a": 100.0}, {"a": 74.0}, ["a: 100.0 calls, 74.0 are stored"]),
        ({"b": 1.0}, {"a": 1.0}, ["b: no figure is stored", "a: stored, and no longer counted"]),
    ],
)
def test_growth_by_a_third_and_figures_that_are_missing_are_told(now: dict[str, float], stored: dict[str, float], faults: list[str]) -> None:
    assert grown(now, stored) == faults
    assert pytest.approx(4 / 3) == GROWTH
