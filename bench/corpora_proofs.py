"""What `dragoman batch clean` promises of large corpora, tried: killed runs, engines that write the same, flat memory.

usage: bench/corpora_proofs.py kills [--rows N] [--times 20]   kill -9 at random moments, resume each time, compare
       bench/corpora_proofs.py engines [--rows N]     1 and 2 processes and Ray here: the same bytes, time a row
       bench/corpora_proofs.py memory [--gigabytes G] [--workers W]   the largest a process of the run ever is

All take --folder DIR.  Rows are those of `bench/corpora.py`; for `kills` every twentieth is broken and every tenth
comes twice.  What is compared are all four files of the output, the manifest too.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from corpora import cleaning, cpu, make
from table import machine, table

from dragoman.batch.running.on_ray import Ray

FILES = ("out.jsonl", "out.aside.jsonl", "out.notes.jsonl", "out.manifest.json")
SMALL = ("--unit", "4")
"""Small units, so that a killed run has done some and not others."""
LOOKED = 0.05
"""Seconds between two looks at the processes of a run."""


def hashes(folder: Path) -> dict[str, str]:
    """The four files of an output."""
    made = {}
    for name in FILES:
        with (folder / name).open("rb") as file:
            digest = sha256()
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        made[name] = digest.hexdigest()
    return made


def command(source: Path, folder: Path, workers: int, *more: str) -> list[str]:
    """The command that is run, as anybody would."""
    folder.mkdir(exist_ok=True)
    told = [sys.executable, "-m", "dragoman", "batch", "clean", str(source), "-o", str(folder / "out.jsonl")]
    return [*told, "--dedup", "rows", "--workers", str(workers), *more]


def quietly(arguments: list[str]) -> subprocess.Popen[bytes]:
    """A process of which nothing is shown."""
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# ── kill -9 ──────────────────────────────────────────────────────────────────


def kills(source: Path, folder: Path, times: int) -> str:
    """Killed so often, each time at a random moment of a run that goes on; the outputs beside those of a whole run."""
    damaged(source)
    began = time.monotonic()
    assert quietly(command(source, folder / "whole", 1, *SMALL)).wait() == 0
    whole = time.monotonic() - began
    wanted, rnd = hashes(folder / "whole"), random.Random(20)
    lines = []
    for workers in (1, 2):
        killed = runs = 0
        same = True
        parts = []
        while killed < times:
            out = folder / f"killed-{workers}-{runs}"
            runs += 1
            code: int | None = -signal.SIGKILL
            while code == -signal.SIGKILL:
                process = quietly(command(source, out, workers, "--resume", *SMALL))
                if killed < times:
                    time.sleep(rnd.uniform(0.5, whole))
                    process.kill()
                code = process.wait()
                if code == -signal.SIGKILL:
                    killed += 1
                    parts.append(len(list((out / "out.parts").glob("part-*.json"))))
                same = same and (code == -signal.SIGKILL or (code == 0 and hashes(out) == wanted))
        lines.append((str(workers), str(killed), str(runs), f"{min(parts)} to {max(parts)}", str(same)))
    head = ("processes", "kills", "runs that ended", "units that were done by then", "outputs identical")
    return table(head, lines)


def damaged(source: Path) -> None:
    """Break every twentieth row, and repeat every tenth."""
    beside = source.with_suffix(".tmp")
    with source.open("rb") as given, beside.open("wb") as file:
        for number, line in enumerate(given):
            file.write(line[: len(line) // 2] + b"\n" if not number % 20 else line)
            if not number % 10:
                file.write(line)
    beside.replace(source)


# ── engines ──────────────────────────────────────────────────────────────────


def engines(source: Path, folder: Path, rows: int) -> str:
    """The same rows by one process, two, and Ray: the same bytes, and what each costs beside one process."""
    runs: list[tuple[str, int, Any]] = [("1 process", 1, None), ("2 processes", 2, None)]
    runs += [("Ray, local, 2 CPUs", 2, Ray("local", 2))] if find_spec("ray") else []
    lines, told = [], []
    for name, workers, engine in runs:
        (folder / "engine").mkdir(exist_ok=True)
        out = folder / "engine" / "out.jsonl"
        began, spent = time.monotonic(), cpu()
        cleaning(source, out, workers, engine)()
        wall = time.monotonic() - began
        told.append(hashes(out.parent))
        lines.append((name, wall, cpu() - spent))
    first = lines[0]
    cells = [
        (name, f"{wall:.1f}", f"{wall / rows * 1e6:.0f}", f"{(wall - first[1]) / rows * 1e6:+.0f}",
         f"{spent / rows * 1e6:.0f}" if not name.startswith("Ray") else "not counted")
        for name, wall, spent in lines
    ]  # fmt: skip
    same = all(one == told[0] for one in told)
    head = ("", "seconds", "µs a row", "beside 1 process", "CPU µs a row")
    return f"{rows:,} rows, all four files of {len(told)} engines identical: {same}\n" + table(head, cells)


# ── memory ───────────────────────────────────────────────────────────────────


def memory(source: Path, folder: Path, workers: int) -> str:
    """The largest that any process of a run was, by tenths of the run."""
    process = quietly(command(source, folder / "large", workers))
    size, began = source.stat().st_size, time.monotonic()
    looks = list(looked(process))
    assert process.wait() == 0
    wall = time.monotonic() - began
    tenths = [max(looks[i * len(looks) // 10 : (i + 1) * len(looks) // 10]) for i in range(10)]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = used.ru_utime + used.ru_stime
    by_tenths = " ".join(map(str, tenths))
    cells = [(f"{size / 1e9:.1f} GB", str(workers), f"{wall:.0f}", f"{spent:.0f}", str(max(looks)), by_tenths)]
    head = ("input", "processes", "seconds", "CPU seconds", "MB of the largest", "by tenths of the run")
    return table(head, cells)


def looked(process: subprocess.Popen[bytes]) -> Iterator[int]:
    """Megabytes of the largest of its processes, until it ends."""
    while process.poll() is None:
        yield max(map(resident, family(process.pid))) >> 10
        time.sleep(LOOKED)


def family(pid: int) -> list[int]:
    """A process and all under it."""
    try:
        under = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return [pid]
    return [pid, *(one for child in under for one in family(int(child)))]


def resident(pid: int) -> int:
    """Its kilobytes in memory; 0 where it has gone."""
    try:
        told = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in told.splitlines() if line.startswith("VmRSS:")), 0)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("kills", "engines", "memory"))
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--times", type=int, default=20)
    options.add_argument("--gigabytes", type=float, default=10.0)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--folder", type=Path, default=Path("/tmp/corpora-proofs"))
    asked = options.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    source = asked.folder / "in.jsonl"
    if asked.what == "memory":
        make(source, int(asked.gigabytes * 1e9 / 3351))
        print(memory(source, asked.folder, asked.workers))
    else:
        make(source, asked.rows)
        count = asked.times if asked.what == "kills" else asked.rows
        print((kills if asked.what == "kills" else engines)(source, asked.folder, count))
    print(machine())
    os.unlink(source)


if __name__ == "__main__":
    main()
