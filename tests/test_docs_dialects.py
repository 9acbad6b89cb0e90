"""What docs/dialects.md shows is true: its program prints what stands beside it, its command learns from its samples."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from dragoman.cli import main
from tests.support.places import ROOT, VECTORS

PAGE = (ROOT / "docs" / "dialects.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = dict(BLOCK.findall(PAGE))
SAMPLES = VECTORS / "learn" / "outputs" / "dev-do_with.jsonl"


def test_the_pages_program_prints_what_stands_beside_it() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(BLOCKS["python"], "dialects.md", "exec"), {})
    assert printed.getvalue() == BLOCKS["text"]


def test_the_pages_command_learns_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("outputs.jsonl").write_text(SAMPLES.read_text(encoding="utf-8"), encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(shlex.split(BLOCKS["sh"])[1:]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.json", "mine.vectors.jsonl", "outputs.jsonl"]
