"""What both sides of a gateway can say comes through in the words of each: a request, and what an answer holds besides.

Each cell names a front, a provider, and what must stand where (`tests/support/cells.py`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.cells import faults
from tests.support.places import VECTORS

CELLS = [json.loads(line) for line in (VECTORS / "wires" / "across.jsonl").read_text(encoding="utf-8").splitlines()]
UNSTREAMED = frozenset({"bedrock", "cohere"})
"""Providers whose streams nobody writes by hand here."""


@pytest.mark.parametrize("cell", CELLS, ids=[cell["id"] for cell in CELLS])
def test_what_both_sides_can_say_comes_through(cell: dict[str, Any]) -> None:
    assert faults(cell) == []


STREAMED = [cell for cell in CELLS if cell["backend"] not in UNSTREAMED]


@pytest.mark.parametrize("cell", STREAMED, ids=[cell["id"] for cell in STREAMED])
def test_it_comes_through_in_a_stream_too(cell: dict[str, Any]) -> None:
    assert faults(cell, stream=True) == []
