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
from dragoman.batch.running.packings import unpacked
from dragoman.batch.running.units import kind_of
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
    out.unlink()
    run([corpus], job(out), unit_bytes=UNIT, resume=True, on_step=steps.append)
    assert steps
    assert json.loads(json.dumps(first)) == json.loads(out.with_name("out.manifest.json").read_bytes())


def test_a_run_without_its_plan_is_not_begun_over_another(corpus: Path, tmp_path: Path) -> None:
    """What another run left stays as it was under --resume, whatever differs: options, inputs, limit, or its bytes."""
    out, other = tmp_path / "out.jsonl", tmp_path / "other.jsonl"
    other.write_bytes(corpus.read_bytes() + b"\n{}")
    run([corpus], job(out), unit_bytes=UNIT)
    before = hashes(out)
    ways: list[tuple[str, Path, Job, dict[str, Any]]] = [
        ("options", corpus, job(out, seed=9), {}), ("inputs", other, job(out), {}), ("--limit", corpus, job(out), {"limit": 3}),
    ]  # fmt: skip
    for why, source, asked, more in ways:
        with pytest.raises(UsageError, match=f"{why}.*--overwrite"):
            run([source], asked, unit_bytes=UNIT, resume=True, **more)
        assert hashes(out) == before
    out.write_bytes(out.read_bytes() + b"mine\n")
    with pytest.raises(UsageError, match="changed since"):
        run([corpus], job(out), unit_bytes=UNIT, resume=True)
    assert out.read_bytes().endswith(b"mine\n")
    run([corpus], job(out), unit_bytes=UNIT, resume=True, overwrite=True)
    assert hashes(out) == before


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_outputs_that_differ_in_their_ending_leave_each_other_alone(
    corpus: Path, tmp_path: Path, resume: bool, overwrite: bool
) -> None:
    out = tmp_path / "out.jsonl"
    run([corpus], job(out), unit_bytes=UNIT)
    before = hashes(out)
    for name in ("out.ndjson", "out.jsonl.gz", "out.parquet"):
        with pytest.raises(UsageError, match=r"belongs to out\.jsonl"):
            run([corpus], job(tmp_path / name), unit_bytes=UNIT, resume=resume, overwrite=overwrite)
    assert hashes(out) == before
    assert not (tmp_path / "out.parts").exists()


@pytest.mark.parametrize("resume", [False, True])
def test_an_unfinished_run_is_not_taken_by_another_output(corpus: Path, tmp_path: Path, resume: bool) -> None:
    def enough(step: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([corpus], job(tmp_path / "out.jsonl"), unit_bytes=UNIT, on_step=enough)
    with pytest.raises(UsageError, match=r"belongs to out\.jsonl"):
        run([corpus], job(tmp_path / "out.ndjson"), unit_bytes=UNIT, resume=resume, overwrite=not resume)
    assert (tmp_path / "out.parts" / "plan.json").exists()


@pytest.mark.parametrize("what", ["aside", "notes", "manifest"])
def test_what_stands_beside_an_output_is_not_written_over(corpus: Path, tmp_path: Path, what: str) -> None:
    kept = tmp_path / f"out.{what}.{'json' if what == 'manifest' else 'jsonl'}"
    kept.write_text("mine")
    for resume in (False, True):
        with pytest.raises(UsageError, match="--overwrite"):
            run([corpus], job(tmp_path / "out.jsonl"), unit_bytes=UNIT, resume=resume)
    assert kept.read_text() == "mine"


def test_what_is_set_aside_is_no_input_of_its_own_output(corpus: Path, tmp_path: Path) -> None:
    aside = tmp_path / "out.aside.jsonl"
    aside.write_bytes(corpus.read_bytes())
    with pytest.raises(UsageError, match="input"):
        run([aside], job(tmp_path / "out.jsonl"), overwrite=True)


def test_two_runs_do_not_write_one_output(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    met: list[str] = []

    def second(step: Any) -> None:
        for resume, overwrite in ((False, False), (True, False), (False, True)):
            with pytest.raises(UsageError) as caught:
                run([corpus], job(out), unit_bytes=UNIT, resume=resume, overwrite=overwrite)
            met.append(str(caught.value))

    run([corpus], job(out), unit_bytes=UNIT, on_step=second)
    assert met
    assert all("another run is writing" in one for one in met)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(hashes(out))


def test_a_lock_that_a_killed_run_left_stops_nobody(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / ".out.parts.lock").touch()
    run([corpus], job(tmp_path / "out.jsonl"), unit_bytes=UNIT)
    assert not (tmp_path / ".out.parts.lock").exists()


@pytest.mark.parametrize("ending", [".gz", ".zst", ".bz2", ".xz"])
def test_an_output_is_packed_as_its_name_says(corpus: Path, tmp_path: Path, ending: str) -> None:
    out, plain = tmp_path / f"out.jsonl{ending}", tmp_path / "plain" / "out.jsonl"
    for place in (out, plain):
        told = run([corpus], job(place), unit_bytes=UNIT)
    assert told["totals"]["kept"] == len(plain.read_bytes().splitlines())
    with unpacked(out, kind_of(out)[1]) as stream:
        assert stream.read(1 << 30) == plain.read_bytes()
    assert out.stat().st_size < plain.stat().st_size
    assert (tmp_path / "out.aside.jsonl").read_bytes() == plain.with_name("out.aside.jsonl").read_bytes()
    steps: list[Any] = []
    run([corpus], job(out), unit_bytes=UNIT, resume=True, on_step=steps.append)
    assert not steps


@pytest.mark.parametrize("name", ["out", "out.csv", "out.json", "out.gz", "out.parquet.gz", "-"])
def test_a_name_that_does_not_say_what_is_written_is_refused(corpus: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.jsonl"):
        run([corpus], job(tmp_path / name), unit_bytes=UNIT)
    assert not list(tmp_path.iterdir())


def test_a_table_without_its_library_is_refused_before_anything_is_done(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library, name in (("pyarrow", "out.parquet"), ("zstandard", "out.jsonl.zst")):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(UsageError, match=r"dragoman\[data\]"):
            run([corpus], job(tmp_path / name), unit_bytes=UNIT)
    assert not list(tmp_path.iterdir())


def test_a_table_of_no_rows_is_a_table(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "in.jsonl").touch()
    run([tmp_path / "in.jsonl"], job(tmp_path / "out.parquet"))
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_a_link_goes_on_leading_where_it_led(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "real.jsonl", tmp_path / "out.jsonl"
    real.write_text("old")
    link.symlink_to(real)
    run([corpus], job(link), unit_bytes=UNIT, overwrite=True)
    assert link.is_symlink()
    assert real.read_bytes() != b"old"


def test_what_is_no_file_is_no_output(corpus: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "out.jsonl")
    with pytest.raises(UsageError, match="no file"):
        run([corpus], job(tmp_path / "out.jsonl"), unit_bytes=UNIT, overwrite=True)


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
    run([first], job(tmp_path / "rows.jsonl"), unit_bytes=UNIT)
    assert sha256((tmp_path / "rows.jsonl").read_bytes()).hexdigest() == wanted["out.jsonl"]


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
