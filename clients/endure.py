"""Agent programs at a long task over an upstream in trouble: `python clients/endure.py [NAME …] [--page]`.

Each cell is a program, a trouble of the upstream and the dialect that its model speaks: twenty-two steps by the
program's own tools, through `dragoman serve` in a process of its own, with two workers where the cell says so, and with
the program killed in the middle and resumed where it says that.  A cell passes when every file is there byte for byte,
nothing of the look-alikes was run, and the model's last answer came.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from installing import Missing, Place, installed
from long_task import GO_ON, LONG, SENTENCE, Enduring, lay_out, wrong
from programs import AGENTS, TASK, Program
from run import PAGE, _connect, _end, _environment, _rooms
from troubles import IGNORES, TROUBLES, Troubled

from dragoman.sim import serving
from dragoman.sim.scenarios import SCENARIOS
from dragoman.sim.server import app as served

RESUMED: Mapping[str, tuple[str, ...]] = {
    "codex": ("codex", "exec", "resume", "--last", "--skip-git-repo-check",
              "--dangerously-bypass-approvals-and-sandbox", TASK),
    "claude-code": ("claude", "-p", "--continue", "--permission-mode", "acceptEdits", TASK),
    "opencode": ("opencode", "run", "--auto", "--continue", TASK),
    "gemini-cli": ("gemini", "-y", "--skip-trust", "--resume", "latest", "-p", TASK),
}  # fmt: skip
"""How a program goes on with its last conversation."""
KILLED = "killed and resumed"
WORKERS = "two workers"
CASES = (*TROUBLES, KILLED, WORKERS)
DIALECTS = ("hermes", "anthropic_xml", "qwen3_coder")
KILL_AT = 11
SECONDS = 420
HEAD = "| program | version | upstream | dialect | result | steps | requests | seconds | notes |\n" + "|---" * 9 + "|\n"


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: a program, what is wrong, what its model speaks."""

    program: Program
    case: str
    dialect: str


def main() -> int:
    """Run the cells; gives how many are no pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", default=[])
    parser.add_argument("--case", nargs="*", default=CASES, choices=CASES)
    parser.add_argument("--dialect", nargs="*", default=("hermes",), choices=DIALECTS)
    parser.add_argument("--page", action="store_true", help="renew the table of docs/clients.md")
    asked = parser.parse_args()
    failed = 0
    for program in AGENTS:
        if program.settings in RESUMED and program.settings in (asked.names or RESUMED):
            for case in asked.case:
                for dialect in asked.dialect:
                    row = endure(Cell(program, case, dialect))
                    failed += row[4] != "pass"
                    print(json.dumps(row, ensure_ascii=False), flush=True)
                    if asked.page:
                        _renew(row)
    return min(failed, 100)


def endure(cell: Cell) -> list[str]:
    """One row of the table."""
    program = cell.program
    name = [program.settings, "", cell.case or "well", cell.dialect]
    try:
        place = installed(program.folder or program.settings, program.registry, program.packages, program.python)
    except Missing as missing:
        return [*name, "not run", "", "", "", str(missing)]
    model = Enduring((LONG, *SCENARIOS))
    trouble = cell.case if cell.case in TROUBLES else ""
    upstream = Troubled(served(model, ignore_tools=trouble == IGNORES), trouble)
    with _rooms() as (home, work), serving(upstream) as url:
        lay_out(work)
        with gateway(url, cell) as root:
            begun = time.monotonic()
            told = _run_program(cell, place, (home, work), root, model)
            seconds = time.monotonic() - begun
        bad = wrong(work)
        notes = [*bad, *([] if model.finished else ["its end was not reached"])]
        if notes:
            notes.append(re.sub(r"\s+", " ", told).strip()[-160:])
        name[1] = place.version(program.packages[0])
        counts = [str(model.reached), f"{upstream.asked}, {upstream.troubled} troubled", f"{seconds:.0f}"]
        return [*name, "fail" if notes else "pass", *counts, "; ".join(notes)]


@contextmanager
def gateway(upstream: str, cell: Cell) -> Iterator[str]:
    """`dragoman serve` in a process of its own; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    workers = "2" if cell.case == WORKERS else "1"
    words = [sys.executable, "-m", "dragoman", "serve", "--upstream", f"{upstream}/v1", "--upstream-api", "openai_chat"]
    more = ["--model", f"weak-{cell.dialect}", "--port", str(port), "--workers", workers]
    ours = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        [*words, *more], env=ours, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        _until_ready(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        _end(process)


def _until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=2):
                return
        except OSError:
            if process.poll() is not None:
                raise RuntimeError(f"the gateway ended with {process.returncode}") from None
            time.sleep(0.2)
    raise RuntimeError("the gateway does not answer")


def _run_program(cell: Cell, place: Place, rooms: tuple[Path, Path], root: str, model: Enduring) -> str:
    """The task by the program, and once more to go on where it is killed."""
    program, (home, work) = cell.program, rooms
    environ = _environment(program, place.bin, home, root)
    settings = _connect(program, root, environ)
    environ |= settings["variables"]
    first = [SENTENCE.format(work=work) if word == TASK else word for word in program.argv]
    told = _until(first, environ, work, (lambda: model.reached >= KILL_AT) if cell.case == KILLED else None)
    if cell.case == KILLED:
        again = [GO_ON if word == TASK else word for word in RESUMED[program.settings]]
        told += _until(again, environ, work, None)
    return told


def _until(words: Sequence[str], environ: Mapping[str, str], work: Path, enough: object) -> str:
    """Run a program to its end, or until `enough()`, when it is killed."""
    out = work.parent / f"out{time.monotonic_ns()}"
    with out.open("wb") as said:
        process = subprocess.Popen(
            list(words), env=dict(environ), cwd=work, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            start_new_session=True,
        )  # fmt: skip
        timer = threading.Timer(SECONDS, _end, (process,))
        timer.start()
        try:
            while process.poll() is None:
                if callable(enough) and enough():
                    break
                time.sleep(0.05)
        finally:
            timer.cancel()
            _end(process)
    return out.read_text(errors="replace")


def _renew(row: Sequence[str]) -> None:
    """Put the row into the table, where that cell's row stood."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r"<!-- table:long -->\n(.*?)<!-- /table:long -->", page, re.DOTALL)
    if found is None:
        raise SystemExit(f"{PAGE} has no table long")
    line = "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"
    key = (row[0], row[2], row[3])
    lines = {tuple(part.strip() for part in (c[1], c[3], c[4])): old
             for old in found[1].splitlines()[2:] if (c := old.split("|"))}  # fmt: skip
    lines[key] = line
    text = HEAD + "".join(f"{each}\n" for each in lines.values())
    PAGE.write_text(page[: found.start(1)] + text + page[found.end(1) :], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
