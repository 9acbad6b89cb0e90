"""The tables of what agent programs went through: one cell is renewed, all else stays."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.places import ROOT

ORDER = [("well", "hermes"), ("503", "hermes"), ("well", "glm45")]
PAGE = "# Clients\n\n<!-- table:long -->\n<!-- /table:long -->\n\nThe end.\n"


@pytest.fixture(scope="module")
def matrix() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("clients_matrix", ROOT / "clients" / "matrix.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def put(matrix: ModuleType, page: Path, *entries: tuple[str, str, str, str, str]) -> list[str]:
    """The lines of the table once the entries are in it."""
    for program, version, upstream, dialect, says in entries:
        row = matrix.Entry(program, version, (upstream, dialect), says)
        matrix.Matrix(page, "long", ORDER).put(row)
    return [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "clients.md"
    file.write_text(PAGE, encoding="utf-8")
    return file


def test_cells_stand_in_the_order_of_rows_and_what_was_not_run_says_so(matrix: ModuleType, page: Path) -> None:
    table = put(matrix, page, ("codex", "1.0", "503", "hermes", "pass"), ("pi", "2", "well", "hermes", "fail: a | b\nc"))
    assert table == [
        "| upstream | dialect | codex 1.0 | pi 2 |",
        "| --- | --- | --- | --- |",
        "| well | hermes | not run | fail: a \\| b c |",
        "| 503 | hermes | pass | not run |",
    ]
    assert page.read_text(encoding="utf-8").endswith("<!-- /table:long -->\n\nThe end.\n")


def test_a_cell_is_renewed_and_the_others_stay_as_they_are(matrix: ModuleType, page: Path) -> None:
    put(matrix, page, ("codex", "1.0", "well", "hermes", "x | y"), ("codex", "1.0", "well", "glm45", "fail"))
    table = put(matrix, page, ("codex", "1.0", "well", "glm45", "pass"))
    assert table[2:] == ["| well | hermes | x \\| y |", "| well | glm45 | pass |"]


def test_of_another_version_nothing_is_known(matrix: ModuleType, page: Path) -> None:
    put(matrix, page, ("codex", "1.0", "well", "hermes", "pass"), ("pi", "2", "well", "hermes", "pass"))
    table = put(matrix, page, ("codex", "1.1", "503", "hermes", "fail"))
    assert table == [
        "| upstream | dialect | codex 1.1 | pi 2 |",
        "| --- | --- | --- | --- |",
        "| well | hermes | not run | pass |",
        "| 503 | hermes | fail | not run |",
    ]


def test_a_page_without_the_table_is_told(matrix: ModuleType, tmp_path: Path) -> None:
    bare = tmp_path / "bare.md"
    bare.write_text("nothing", encoding="utf-8")
    with pytest.raises(SystemExit, match="has no table long"):
        put(matrix, bare, ("codex", "1.0", "well", "hermes", "pass"))
