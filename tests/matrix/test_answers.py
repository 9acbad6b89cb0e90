"""What each backend answers is where each front's client looks for it, whole and streamed, or is told."""

from __future__ import annotations

import pytest

from .answered import ROWS
from .exceptions import ANSWERS
from .judged import GOOD, judged_answer
from .running import run_answer
from .table import BACKENDS, FRONTS

NAMES = {row.name: row for row in ROWS}
CELLS = [
    (row.name, backend, front, stream)
    for row in ROWS for backend in BACKENDS if backend in row.given for front in FRONTS for stream in (False, True)
]  # fmt: skip


@pytest.mark.parametrize(("name", "backend", "front", "stream"), CELLS)
def test_an_answer_is_where_its_client_looks_or_is_told(name: str, backend: str, front: str, stream: bool) -> None:
    row = NAMES[name]
    verdict, why = judged_answer(row, front, *run_answer(row, backend, front, stream=stream))
    expected, reason = ANSWERS.get((name, backend, front), ("", ""))
    assert verdict == expected if expected else verdict in GOOD, f"{verdict}: {why} {reason}"


def test_the_matrix_is_large_and_every_row_says_who_says_so() -> None:
    assert len(CELLS) >= 600
    assert len(NAMES) == len(ROWS)
    assert all(row.source for row in ROWS)
    assert {backend for _, backend, _, _ in CELLS} == set(BACKENDS)
