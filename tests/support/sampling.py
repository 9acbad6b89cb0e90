"""Which tests run where a sample is asked for, and how many examples a law tries.

Each test runs, unless it is `slow`.  Of its cases run as few as show every value of every parameter, at most `CASES`
(`COSTLY` where a case takes a second or more, as its mark says): which ones depends on their names alone, so that they
are the same each time and nothing is tried by luck.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import is_hypothesis_test, settings

Key = TypeVar("Key", bound=Hashable)

CASES = 3
"""Cases of one test."""
COSTLY = 1
"""And of one that is `costly`."""
SHARE = 0.1
"""Of the examples of a law."""
FEWEST = 5


class Case(NamedTuple):
    """A case that may run: its name, and its parameters, each with the number of its value."""

    name: str
    values: set[tuple[str, int]]
    costly: bool = False


def thin(metafunc: pytest.Metafunc) -> int:
    """Leave those cases of a test out that a sample has no place for, before they are made; how many these are.

    Most of a sample's time would go to making cases, forty thousand of them in each process, that never run.
    """
    calls: list[Any] = metafunc._calls  # no hook of pytest tells of cases before they are made
    if len(calls) <= COSTLY:
        return 0
    test = metafunc.definition
    always = {mark.name for mark in test.iter_markers()}
    cases = {}
    for call in calls:
        marks = always | {mark.name for mark in call.marks}
        if "slow" not in marks:
            cases[id(call)] = Case(f"{test.nodeid}[{call.id}]", set(call.indices.items()), "costly" in marks)
    chosen = _few(cases)
    if not chosen:  # where no case is left, pytest would make one without values
        return 0
    calls[:] = [call for call in calls if id(call) in chosen]
    return len(cases) - len(chosen)


def sample(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Those that run."""
    tests: defaultdict[str, dict[pytest.Item, Case]] = defaultdict(dict)
    for item in items:
        if item.get_closest_marker("slow") is None:
            costly = item.get_closest_marker("costly") is not None
            tests[item.nodeid.partition("[")[0]][item] = Case(item.nodeid, _values(item), costly)
    return {item for cases in tests.values() for item in _few(cases)}


def _few(cases: Mapping[Key, Case]) -> set[Key]:
    seen: set[tuple[str, int]] = set()
    chosen: set[Key] = set()
    for key, case in sorted(cases.items(), key=lambda named: zlib.crc32(named[1].name.encode())):
        if (len(chosen) < (COSTLY if case.costly else CASES) and not case.values <= seen) or not chosen:
            seen |= case.values
            chosen.add(key)
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
