"""The public face is exactly what we promise, and importing it costs next to nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import dragoman

FACE = Path(dragoman.__file__)
PROMISED = dragoman.__all__


def declared() -> set[str]:
    """The names type checkers see."""
    [block] = [n for n in ast.parse(FACE.read_text(encoding="utf-8")).body if isinstance(n, ast.If)]
    return {
        alias.asname or alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }


def test_the_face_is_what_is_promised() -> None:
    assert sorted(dir(dragoman)) == sorted(PROMISED)
    assert len(set(PROMISED)) == len(PROMISED)


def test_type_checkers_see_the_same_face() -> None:
    assert declared() | {"__version__"} == set(PROMISED)


@pytest.mark.parametrize("name", PROMISED)
def test_every_promised_name_is_there(name: str) -> None:
    assert getattr(dragoman, name) is not None


@pytest.mark.parametrize("table", ["codecs", "dialects"])
def test_the_tables_are_mappings_whichever_way_they_were_imported_first(table: str) -> None:
    key = {"codecs": "openai_chat", "dialects": "hermes"}[table]
    code = f"import dragoman.{table}, dragoman; print(dragoman.{table}[{key!r}].name, {key!r} in dragoman.{table})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == [key, "True"]
    assert isinstance(getattr(dragoman, table), Mapping)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(dragoman, "nothing")  # noqa: B009
