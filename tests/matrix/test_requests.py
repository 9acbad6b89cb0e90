"""What each front can ask stands where each backend takes it, in its words, or is told."""

from __future__ import annotations

import pytest

from .asked import ROWS
from .exceptions import REQUESTS
from .judged import GOOD, judged
from .running import run
from .table import BACKENDS, FRONTS

NAMES = {row.name: row for row in ROWS}
CELLS = [(row.name, front, backend) for row in ROWS for front in FRONTS if front in row.said for backend in BACKENDS]


@pytest.mark.parametrize(("name", "front", "backend"), CELLS)
def test_a_wish_stands_where_its_backend_takes_it_or_is_told(name: str, front: str, backend: str) -> None:
    row = NAMES[name]
    verdict, why = judged(row, backend, run(row, front, backend))
    expected, reason = REQUESTS.get((name, front, backend), ("", ""))
    assert verdict == expected if expected else verdict in GOOD, f"{verdict}: {why} {reason}"


def test_the_matrix_is_large_and_every_row_says_who_says_so() -> None:
    assert len(CELLS) >= 1800
    assert len(NAMES) == len(ROWS)
    assert all(row.source for row in ROWS)
    assert {front for _, front, _ in CELLS} == set(FRONTS)
