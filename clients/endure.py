"""Agent programs at a long task over an upstream in trouble: `python clients/endure.py [NAME …] [--page]`.

Each cell is a program, a trouble of the upstream and the dialect that its model speaks: twenty-two steps by the
program's own tools, through `dragoman serve` in a process of its own, with two workers where the cell says so, and with
the program killed in the middle and resumed where it says that.  A cell passes when every file is there byte for byte,
nothing of the look-alikes was run, and the model's last answer came.  Without names every program runs; without cases
and dialects, what `_cells` lists of it.
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
from dataclasses import asdict, dataclass
from pathlib import Path

from installing import Missing, Place, installed
from long_task import GO_ON, LONG, SENTENCE, Enduring, lay_out, wrong
from matrix import Entry, Matrix
from native import native
from programs import AGENTS, TASK, Program
from run import PAGE, _connect, _end, _environment, _rooms
from troubles import ERRS, IGNORES, TROUBLES, Troubled

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
NATIVE = "native"
USUAL = "hermes"
DIALECTS = (USUAL, NATIVE, "tool_call_fence", "anthropic_xml", "qwen3_coder", "glm45")
"""What models speak: calls as JSON in text, by the wire, and in markup that escapes nothing."""
IN_EACH_DIALECT = ("", ERRS)
MORE: Mapping[str, Sequence[str]] = dict.fromkeys(
    ("pi", "qwen-code", "cline", "continue", "grok-cli", "mini-swe-agent", "copilot"),
    ("", IGNORES, "answers empty", "503"),
)
"""Further programs, and what they go through."""
WELL = "well"
KILL_AT = 11
SECONDS = 420
MOST_NOTES = 3
ROWS = [(case or WELL, dialect) for dialect in DIALECTS for case in CASES]


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: a program, what is wrong, what its model speaks."""

    program: Program
    case: str
    dialect: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a cell: the program's version, the last step, requests and how many were troubled, what is wrong.

    `requests` are the upstream's.
    """

    version: str = ""
    step: int = 0
    requests: int = 0
    troubled: int = 0
    seconds: float = 0.0
    wrong: str = ""

    def __str__(self) -> str:
        troubled = f", {self.troubled} troubled" if self.troubled else ""
        counts = f"{self.requests} requests{troubled}, {self.seconds:.0f} s"
        return f"**fail** at step {self.step}: {self.wrong} ({counts})" if self.wrong else f"pass ({counts})"


def main() -> int:
    """Run the cells; gives how many are no pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", default=[])
    parser.add_argument("--case", nargs="*", choices=[WELL, *CASES], help="of all programs these, not the usual ones")
    parser.add_argument("--dialect", nargs="*", choices=DIALECTS)
    parser.add_argument("--page", action="store_true", help="renew the tables of docs/clients.md")
    asked = parser.parse_args()
    failed = 0
    for cell in _cells(asked.names, asked.case, asked.dialect):
        outcome = endure(cell)
        failed += bool(outcome.wrong)
        named = {"program": cell.program.settings, "upstream": cell.case or WELL, "dialect": cell.dialect}
        print(json.dumps({**named, **asdict(outcome)}, ensure_ascii=False), flush=True)
        if asked.page:
            table = Matrix(PAGE, "long" if cell.program.settings in RESUMED else "long-more", ROWS)
            table.put(Entry(cell.program.settings, outcome.version, (cell.case or WELL, cell.dialect), str(outcome)))
    return min(failed, 100)


def _cells(names: Sequence[str], cases: Sequence[str] | None, dialects: Sequence[str] | None) -> Iterator[Cell]:
    """Every trouble in the usual dialect, and some in each of the others; of further programs some troubles."""
    for program in AGENTS:
        if program.settings not in (names or {**RESUMED, **MORE}) or program.settings not in {**RESUMED, **MORE}:
            continue
        usual = MORE.get(program.settings, CASES)
        tried = [(case, USUAL) for case in usual]
        if program.settings in RESUMED:
            tried += [(case, dialect) for dialect in DIALECTS[1:] for case in IN_EACH_DIALECT]
        if cases is not None or dialects is not None:
            some = usual if cases is None else ["" if case == WELL else case for case in cases]
            tried = [(case, dialect) for case in some for dialect in dialects or (USUAL,)]
        for case, dialect in tried:
            if not (case == IGNORES and dialect == NATIVE) and not (case == KILLED and program.settings in MORE):
                yield Cell(program, case, dialect)


def endure(cell: Cell) -> Outcome:
    """Run one cell."""
    program = cell.program
    try:
        place = installed(program.folder or program.settings, program.registry, program.packages, program.python)
    except Missing as missing:
        return Outcome(wrong=str(missing))
    model = Enduring((LONG, *SCENARIOS))
    trouble = cell.case if cell.case in TROUBLES else ""
    app = native(model) if cell.dialect == NATIVE else served(model, ignore_tools=trouble == IGNORES)
    upstream = Troubled(app, trouble)
    with _rooms() as (home, work), serving(upstream) as url:
        lay_out(work)
        with gateway(url, cell) as root:
            begun = time.monotonic()
            said = _run_program(cell, place, (home, work), root, model)
            seconds = time.monotonic() - begun
        bad = _wrong(work, said, finished=model.finished)
    version = place.version(program.packages[0])
    return Outcome(version, model.reached, upstream.asked, upstream.troubled, round(seconds, 1), bad)


def _wrong(work: Path, said: str, *, finished: bool) -> str:
    """What is wrong with the files and the end, and what the program said last; "" for nothing."""
    notes = wrong(work)
    shown = [*notes[:MOST_NOTES], *([f"{len(notes) - MOST_NOTES} more"] if len(notes) > MOST_NOTES else [])]
    if not finished:
        shown.append("its end was not reached")
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\s+", " ", said).strip()[-160:]
    return "; ".join([*shown, f"it said: {last}"]) if shown else ""


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
    for words in settings["commands"]:
        _until(words, environ, work, None)
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


if __name__ == "__main__":
    sys.exit(main())
