"""The table of requirements and the tests that prove them, held together in both directions."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.support.places import TESTS

ROWS = tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))["requirement"]
DEFERRED = {row["id"]: row["deferred"] for row in ROWS if "deferred" in row}
FIELDS = {"id", "source", "sentence", "deferred"}


def marks(path: Path) -> list[str]:
    """The ids of every `pytest.mark.requirement("…")` in a file."""
    text = path.read_text(encoding="utf-8")
    if "requirement" not in text:
        return []
    tree = ast.parse(text)
    return [
        arg.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement"
        for arg in node.args
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
    ]


MARKED = {mark for path in TESTS.rglob("test_*.py") for mark in marks(path)}


def test_every_row_has_id_source_and_sentence() -> None:
    assert [i for i, n in Counter(row["id"] for row in ROWS).items() if n > 1] == []
    for row in ROWS:
        assert set(row) <= FIELDS
        assert row["source"]
        assert row["sentence"].endswith(".")


@pytest.mark.parametrize("row", [r["id"] for r in ROWS if r["id"] not in DEFERRED])
def test_every_requirement_has_a_test(row: str) -> None:
    assert row in MARKED, f"no test is marked with @pytest.mark.requirement({row!r})"


@pytest.mark.parametrize("mark", sorted(MARKED))
def test_every_mark_is_a_requirement(mark: str) -> None:
    assert mark in {row["id"] for row in ROWS}, f"{mark!r} is no row of requirements.toml"


def test_a_deferred_row_names_its_part_and_has_no_test() -> None:
    assert set(DEFERRED.values()) <= {"part 2", "part 3", "part 4", "part 5"}
    assert set(DEFERRED) & MARKED == set(), "these have tests now: drop `deferred` from their rows"
