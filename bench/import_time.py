"""What starting costs, and what each start needs of what is installed: CPU, memory, distributions, megabytes.

    python bench/import_time.py [--write] [--repeats N] [--core PYTHON --whole PYTHON]

Both distributions are built and installed into fresh environments (a minute; needs a package index), unless
interpreters that have them are named.  Every figure is of a fresh process with warm byte code; CPU is user and system
time together, the least of the repeats, and holds the interpreter's own start, which the first row tells.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from table import machine, publish, table

ROOT = Path(__file__).resolve().parents[1]
TOOL = """{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"""
CALL = """<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>"""
DECLARED = f"""import json, dragoman
tools = [dragoman.Tool(name="get_weather", parameters=json.loads('{TOOL}'))]
"""
PARSED = f"assert dragoman.parse('{CALL}', tools=tools).calls\n"
STREAMED = f"""parser = dragoman.Parser(tools=tools)
events = [event for at in range(0, {len(CALL)}, 4) for event in parser.feed('{CALL}'[at : at + 4])] + parser.close()
assert dragoman.assemble(events).calls
"""
BROUGHT = """
import atexit, os

def tell():
    import json, sys
    from importlib.metadata import distributions
    loaded = {os.path.realpath(f) for m in list(sys.modules.values()) if (f := getattr(m, "__file__", None))}
    found = {}
    for one in distributions():
        files = {os.path.realpath(one.locate_file(f)) for f in one.files or ()}
        if files & loaded:
            found[one.name] = sum(os.path.getsize(f) for f in files if os.path.exists(f))
    with open(os.environ["BROUGHT"], "w") as out:
        json.dump(found, out)

atexit.register(tell)
"""
"""A `sitecustomize` that writes, when a process ends, which distributions it had loaded modules of, and their size."""


class Cost(NamedTuple):
    """CPU seconds, and bytes of memory at most."""

    cpu: float
    memory: int


def started(python: Path, arguments: Sequence[str], told: Path | None = None) -> Cost:
    """One start, run to its end; `told` is where it writes what it loaded, which costs more than many a start."""
    with subprocess.Popen(
        [python, *arguments], env=_environment(told), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/"
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed; run it by hand to see why")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def served(python: Path, arguments: Sequence[str], told: Path | None = None) -> Cost:
    """The gateway's start, until it says where it listens; Linux alone tells what a process has used so far."""
    with subprocess.Popen(
        [python, *arguments], env=_environment(told), text=True, stderr=subprocess.PIPE, cwd="/"
    ) as process:
        assert process.stderr is not None
        if not any(line.startswith("listening on ") for line in process.stderr):
            raise SystemExit("dragoman serve ended before it was ready; run it by hand to see why")
        proc = Path(f"/proc/{process.pid}")
        used = proc.joinpath("stat").read_text().rpartition(")")[2].split()
        (peak,) = (line.split()[1] for line in proc.joinpath("status").read_text().splitlines() if "VmHWM" in line)
        if told:
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
        process.kill()
    return Cost((int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK"), int(peak) * 1024)


def _environment(told: Path | None) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return {**kept, "PYTHONPATH": str(told.parent), "BROUGHT": str(told)} if told else kept


class Start(NamedTuple):
    """One way to start: its name, the environment it is measured in, the interpreter's arguments, how it is run."""

    name: str
    whole: bool
    arguments: Sequence[str]
    run: Callable[..., Cost] = started


UPSTREAM = ("--upstream", "http://127.0.0.1:9", "--upstream-api", "openai_chat", "--tools", "text", "--port", "0")
"""One that is not there: nothing is asked of it before the first request."""

STARTS = (
    Start("`python -c pass`", False, ("-c", "pass")),
    Start("`import dragoman`", False, ("-c", "import dragoman")),
    Start("first `dragoman.parse`", False, ("-c", DECLARED + PARSED)),
    Start("first streamed call", False, ("-c", DECLARED + STREAMED)),
    Start("`dragoman --help`", True, ("-m", "dragoman", "--help")),
    Start("`dragoman parse`", True, ("-m", "dragoman", "parse", "-")),
    Start("`dragoman serve --help`", True, ("-m", "dragoman", "serve", "--help")),
    Start("`dragoman serve`, ready", True, ("-m", "dragoman", "serve", *UPSTREAM), served),
)


def brought(start: Start, python: Path) -> dict[str, int]:
    """The distributions that a start loads modules of, and their bytes on disk."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(BROUGHT)
        told = Path(folder, "told.json")
        start.run(python, start.arguments, told)
        found: dict[str, int] = json.loads(told.read_text())
    return found


def installed(python: Path) -> dict[str, int]:
    """All distributions of an environment, without pip's own, and their bytes."""
    code = "import sys, json\nfrom importlib.metadata import distributions\n" + (
        "import os\nprint(json.dumps({d.name: sum(os.path.getsize(p) for f in d.files or () if "
        "os.path.exists(p := d.locate_file(f))) for d in distributions()}))"
    )
    ran = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    found: dict[str, int] = json.loads(ran.stdout)
    return {name: size for name, size in found.items() if name not in ("pip", "setuptools", "wheel")}


def environments(folder: Path) -> tuple[Path, Path]:
    """Interpreters of two fresh environments: with the library alone, and with the whole program."""
    wheels, quiet = folder / "wheels", ("--quiet", "--disable-pip-version-check")
    pythons = folder / "core/bin/python", folder / "whole/bin/python"
    for python, name in zip(pythons, ("dragoman-core", "dragoman"), strict=True):
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
        if not wheels.exists():
            built = [ROOT / "packaging/core", ROOT / "packaging/whole"]
            subprocess.run([python, "-m", "pip", "wheel", *quiet, "--no-deps", "-w", wheels, *built], check=True)
        subprocess.run([python, "-m", "pip", "install", *quiet, "--pre", "--find-links", wheels, name], check=True)
    return pythons


def rows(core: Path, whole: Path, repeats: int) -> Iterator[list[str]]:
    """A row for each start; the first, watched run of each compiles what is not compiled yet."""
    for start in STARTS:
        python = whole if start.whole else core
        loaded = brought(start, python)
        cost = min(start.run(python, start.arguments) for _ in range(repeats))
        others = sorted(one for one in loaded if not one.startswith("dragoman") and one not in ("pip", "setuptools"))
        shown = ", ".join(others) if len(others) < 6 else f"{len(others)}"
        size = sum(size for one, size in loaded.items() if one not in ("pip", "setuptools"))
        yield [start.name, f"{cost.cpu * 1000:.0f}", f"{cost.memory / 1e6:.0f}", f"{size / 1e6:.1f}", shown or "none"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=9)
    options.add_argument("--core", type=Path, help="an interpreter that has dragoman-core alone")
    options.add_argument("--whole", type=Path, help="an interpreter that has the whole program")
    options.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        named = chosen.core and chosen.whole
        core, whole = (chosen.core, chosen.whole) if named else environments(Path(folder))
        sizes = [
            [f"`pip install {name}`", str(len(found)), f"{sum(found.values()) / 1e6:.1f}",
             ", ".join(f"{one} {size / 1e6:.1f}" for one, size in sorted(found.items(), key=lambda x: -x[1])[:5])]
            for name, found in (("dragoman-core", installed(core)), ("dragoman", installed(whole)))
        ]  # fmt: skip
        text = table(["", "distributions", "MB on disk", "the largest"], sizes) + "\n\n"
        head = ["a fresh process", "CPU ms", "memory MB", "MB of code loaded from", "other distributions loaded"]
        text += table(head, list(rows(core, whole, chosen.repeats)))
    text += f"\n\n{machine()}; least of {chosen.repeats}; sizes with compiled byte code, in millions of bytes."
    print(text)
    if chosen.write:
        publish("import_time", text)


if __name__ == "__main__":
    main()
