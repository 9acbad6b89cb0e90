"""Which tests run where a sample is asked for, and how many examples a law tries.

Each test runs, unless it is `slow`.  Of its cases run as few as show every value of every parameter, at most `CASES`
(`COSTLY` where a case takes a second or more, as its mark says): which ones depends on their names alone, so that they
are the same each time and nothing is tried by luck.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

CASES = 3
"""Cases of one test."""
COSTLY = 1
"""And of one that is `costly`."""
SHARE = 0.1
"""Of the examples of a law."""
FEWEST = 5


def sample(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Those that run."""
    tests: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("slow") is None:
            tests[item.nodeid.partition("[")[0]].append(item)
    return {item for cases in tests.values() for item in _few(cases)}


def _few(cases: Sequence[pytest.Item]) -> Iterable[pytest.Item]:
    seen: set[tuple[str, int]] = set()
    chosen: list[pytest.Item] = []
    most = COSTLY if cases[0].get_closest_marker("costly") else CASES
    for case in sorted(cases, key=lambda case: zlib.crc32(case.nodeid.encode())):
        values = _values(case)
        if (len(chosen) < most and not values <= seen) or not chosen:
            seen |= values
            chosen.append(case)
    return chosen


def _values(case: Any) -> set[tuple[str, int]]:
    """The parameters of a case, each with the number of its value."""
    return set(case.callspec.indices.items()) if hasattr(case, "callspec") else set()


def try_examples(items: Iterable[Any], times: float) -> None:
    """Let every law try so many times the examples it asks for."""
    for law in {item.obj for item in items if is_hypothesis_test(item.obj)}:
        asked = law._hypothesis_internal_use_settings
        most = max(round(asked.max_examples * times), FEWEST)
        law._hypothesis_internal_use_settings = settings(asked, max_examples=most)
