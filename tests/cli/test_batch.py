"""`dragoman batch` as a shell sees it."""

from __future__ import annotations

import json
from pathlib import Path

from dragoman.batch.formats.table import ROWS

from .conftest import Run


def test_inspect_counts_formats_and_shows_bad_rows(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"\n".join([*(form.sample.encode() for form in ROWS), b"", b"{", b'{"a":1}']) + b"\n")
    told = run("batch", "inspect", file, "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["rows"] == len(ROWS) + 2
    assert found["formats"]["unknown"] == 2
    assert [row["codes"] for row in found["bad"]] == [["not_json"], ["unknown_format"]]
    assert "not_json" in run("batch", "inspect", file).out


def test_unknown_commands_and_formats_say_what_there_is(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n")
    assert "batch --help" in run("batch", "inspekt").err
    told = run("batch", "inspect", file, "--format", "opneai")
    assert (told.code, "openai" in told.err) == (2, True)
