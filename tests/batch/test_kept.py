"""Rows that are kept as they are stand in the input: they are not written twice, and an input that changes is found."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job
from dragoman.batch.running.kept import PLACE
from dragoman.errors import UsageError

from .corpora import chat, dialogue, functions

UNIT = 5_000


def line(seed: int) -> bytes:
    talk = dialogue(seed)
    return orjson.dumps({"messages": chat(talk), "tools": functions(talk)})


def mended(seed: int) -> bytes:
    """A row with a name to mend."""
    one = orjson.loads(line(seed))
    one["messages"][2]["tool_calls"][0]["function"]["name"] += " "
    return orjson.dumps(one)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    rows = [mended(seed) if seed % 7 == 6 else b"{" if seed % 11 == 5 else line(seed) for seed in range(60)]
    path.write_bytes(b"\n".join([*rows[:20], b"", b"  ", *rows[20:]]))
    return path


def cleaned(source: Path, on_step: Callable[[Any], None] | None = None, **more: Any) -> dict[str, Any]:
    job = Job(command="clean", options=Options(), output=str(source.with_name("out.jsonl")), **more)
    return run([source], job, unit_bytes=UNIT, on_step=on_step, overwrite=True)


def test_what_is_kept_as_it_is_is_not_written_twice(source: Path) -> None:
    sizes = []

    def look(step: Any) -> None:
        part = source.with_name("out.parts") / f"part-{step.record['unit']['index']:05}.kept"
        places = PLACE.iter_unpack(part.with_suffix(".places").read_bytes())
        sizes.append((part.stat().st_size, sum(size for standing, _, size in places if standing)))

    told = cleaned(source, look)
    own, standing = map(sum, zip(*sizes, strict=True))
    assert own + standing == told["outputs"]["out.jsonl"]["bytes"] == source.with_name("out.jsonl").stat().st_size
    assert own < standing / 3


def test_rows_come_out_in_order_with_those_that_were_changed_between_them(source: Path) -> None:
    told = cleaned(source)
    given = [one for one in source.read_bytes().split(b"\n") if one.strip() not in (b"", b"{")]
    found = source.with_name("out.jsonl").read_bytes().splitlines()
    assert told["totals"]["kept"] == len(found) == len(given)
    assert [one for one in found if one in given] == [one for one in given if one in found]
    assert sum(one not in given for one in found) == told["totals"]["verdicts"]["repaired"] > 3


def test_an_input_that_changes_before_the_end_is_found(source: Path) -> None:
    def change(step: Any) -> None:
        if step.done == step.units:
            body = source.read_bytes()
            source.write_bytes(body.replace(b"get_", b"got_", 1))

    with pytest.raises(UsageError, match="changed while it was read"):
        cleaned(source, change)
    assert not source.with_name("out.jsonl").exists()


def test_an_input_that_was_only_touched_is_the_same(source: Path) -> None:
    cleaned(source)
    wanted = source.with_name("out.jsonl").read_bytes()
    cleaned(source, lambda step: os.utime(source, ns=(step.done, step.done)))
    assert source.with_name("out.jsonl").read_bytes() == wanted


def test_the_report_and_the_manifest_count_the_same(source: Path) -> None:
    source.write_bytes(source.read_bytes() + b"\n" + source.read_bytes())
    told = cleaned(source, report=True, dedup="rows", sample=0.8)
    rows, totals = told["summary"]["rows"], told["totals"]
    assert (rows["in"], rows["kept"], rows["set_aside"]) == (totals["read"], totals["kept"], totals["aside"])
    assert rows["dropped"] == totals["dropped"]["sample"] + totals["dropped"]["duplicate"] > 30
    assert (told["summary"]["verdicts"], told["summary"]["codes"]) == (totals["verdicts"], totals["codes"])
