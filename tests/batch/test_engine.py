"""The same bytes: from one process and several, in one go and killed, with an interrupt and after it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from dragoman.batch.options import Options
from dragoman.batch.running.engine import run
from dragoman.batch.running.job import Job
from dragoman.errors import UsageError

from .corpora import TELLERS, row

UNIT = 20_000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    lines = [row(teller, seed)[1] for seed in range(8) for teller in TELLERS]
    lines += [b"{", b'{"a":NaN}', b"\xff", lines[0], lines[1]]
    random.Random(4).shuffle(lines)
    (folder / "in.jsonl").write_bytes(b"\n".join(lines))
    return folder / "in.jsonl"


def job(out: Path, **more: Any) -> Job:
    return Job(command="clean", options=Options(), output=str(out), dedup="rows", **more)


def hashes(out: Path) -> dict[str, str]:
    names = [out.name, *(f"{out.stem}.{what}" for what in ("aside.jsonl", "notes.jsonl", "manifest.json"))]
    return {name: sha256((out.parent / name).read_bytes()).hexdigest() for name in names}


@pytest.fixture(scope="module")
def wanted(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("alone") / "out.jsonl"
    run([corpus], job(out), unit_bytes=UNIT)
    return hashes(out)


def test_several_processes_write_what_one_writes(corpus: Path, tmp_path: Path, wanted: dict[str, str]) -> None:
    run([corpus], job(tmp_path / "out.jsonl"), workers=3, unit_bytes=UNIT)
    assert hashes(tmp_path / "out.jsonl") == wanted


def test_the_size_of_units_changes_no_row(corpus: Path, tmp_path: Path, wanted: dict[str, str]) -> None:
    run([corpus], job(tmp_path / "out.jsonl"), unit_bytes=3_001)
    found = hashes(tmp_path / "out.jsonl")
    assert {name: found[name] for name in found if "manifest" not in name} == {
        name: wanted[name] for name in wanted if "manifest" not in name
    }


def test_a_resumed_run_does_only_what_was_not_done(corpus: Path, tmp_path: Path, wanted: dict[str, str]) -> None:
    out = tmp_path / "out.jsonl"

    def enough(step: Any) -> None:
        if step.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([corpus], job(out), unit_bytes=UNIT, on_step=enough)
    with pytest.raises(UsageError, match="--resume"):
        run([corpus], job(out), unit_bytes=UNIT)
    with pytest.raises(UsageError, match="other options"):
        run([corpus], job(out, seed=9), unit_bytes=UNIT, resume=True)
    damaged = out.with_name("out.parts") / "part-00001.kept"
    damaged.write_bytes(b"?" + damaged.read_bytes())
    done: list[int] = []
    run([corpus], job(out), unit_bytes=UNIT, resume=True, on_step=lambda step: done.append(step.record["unit"]["index"]))
    assert done[0] == 1
    assert not {0, 2, 3} & set(done)
    assert hashes(out) == wanted


def test_a_finished_run_is_not_done_again(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    first = run([corpus], job(out), unit_bytes=UNIT)
    steps: list[Any] = []
    assert run([corpus], job(out), unit_bytes=UNIT, resume=True, on_step=steps.append) == json.loads(json.dumps(first))
    assert not steps
    out.write_bytes(b"")
    run([corpus], job(out), unit_bytes=UNIT, resume=True, on_step=steps.append)
    assert steps


@pytest.mark.slow
def test_a_table_of_judged_rows_is_a_corpus_again(corpus: Path, tmp_path: Path, wanted: dict[str, str]) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    first, again = tmp_path / "out.parquet", tmp_path / "again.parquet"
    told = run([corpus], job(first), unit_bytes=UNIT, workers=2)
    table = pq.read_table(first)
    assert table.num_rows == told["totals"]["kept"]
    assert set(table.column("verdict").to_pylist()) <= {"ok", "none", "repaired"}
    more = run([first], job(again), unit_bytes=UNIT)
    assert (more["totals"]["kept"], more["totals"]["dropped"]) == (table.num_rows, {})
    assert pq.read_table(again).column("row_id").to_pylist() == table.column("row_id").to_pylist()
    run([first], job(tmp_path / "out.jsonl"), unit_bytes=UNIT)
    assert sha256((tmp_path / "out.jsonl").read_bytes()).hexdigest() == wanted["out.jsonl"]


def test_changed_input_is_read_again(corpus: Path, tmp_path: Path) -> None:
    mine, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    mine.write_bytes(corpus.read_bytes())

    def enough(step: Any) -> None:
        if step.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([mine], job(out), unit_bytes=UNIT, on_step=enough)
    body = mine.read_bytes()
    at = body.index(b"get_", 100)
    mine.write_bytes(body[:at] + b"got_" + body[at + 4 :])
    run([mine], job(out), unit_bytes=UNIT, resume=True)
    again = tmp_path / "again.jsonl"
    run([mine], job(again), unit_bytes=UNIT)
    assert out.read_bytes() == again.read_bytes()


def command(corpus: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-m", "dragoman", "batch", "clean", str(corpus), "-o", str(out), "--dedup", "rows"]
    return subprocess.Popen([*arguments, "--unit", "1", *more], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    _, told = process.communicate(timeout=120)
    return process.returncode, told


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_killed_run_goes_on_to_the_same_bytes(workers: str, corpus: Path, tmp_path: Path) -> None:
    big, whole, out = tmp_path / "in.jsonl", tmp_path / "a" / "out.jsonl", tmp_path / "b" / "out.jsonl"
    big.write_bytes((corpus.read_bytes() + b"\n") * 8)
    whole.parent.mkdir()
    out.parent.mkdir()
    assert ended(command(big, whole, "--workers", "1"))[0] == 0
    rnd = random.Random(7)
    for _ in range(6):
        process = command(big, out, "--workers", workers, "--resume")
        time.sleep(rnd.uniform(0.4, 2.5))
        os.kill(process.pid, signal.SIGKILL)
        ended(process)
    assert ended(command(big, out, "--workers", workers, "--resume"))[0] == 0
    assert hashes(out) == hashes(whole)


@pytest.mark.slow
def test_an_interrupt_leaves_what_was_done_and_says_how_to_go_on(corpus: Path, tmp_path: Path) -> None:
    big, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    big.write_bytes((corpus.read_bytes() + b"\n") * 20)
    process = command(big, out, "--workers", "2")
    parts = tmp_path / "out.parts"
    while not list(parts.glob("part-*.json")) and process.poll() is None:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    code, told = ended(process)
    assert (code, b"--resume" in told) == (130, True), told
    assert list(parts.glob("part-*.json"))
    assert ended(command(big, out, "--resume"))[0] == 0
    assert json.loads((tmp_path / "out.manifest.json").read_bytes())["totals"]["read"] > 0
