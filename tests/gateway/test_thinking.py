"""Thinking over the gateway: what clients of one API wish of it, and echo of it, at models behind another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cells import faults

FILE = Path(__file__).parents[1] / "vectors" / "wires" / "thinking.jsonl"
CELLS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell["id"])
def test_a_wish_to_think_arrives_as_the_model_takes_it(cell: dict[str, Any]) -> None:
    assert faults(cell) == []
