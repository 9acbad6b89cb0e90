"""The tables in the docs are made from the rows, and are current."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from tests.support import places

FOLDER = places.ROOT / "docs"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", FOLDER / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", list(load().TABLES))
def test_the_table_is_what_the_rows_say(name: str) -> None:
    page, text = load().renewed(name)
    assert page.read_text(encoding="utf-8") == text, "run: python docs/tables.py"
