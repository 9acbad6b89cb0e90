"""Run the Python libraries of `programs.py` with the gateway inside their process, and write down how many paths pass.

`python clients/in_process.py [NAME …] [--page]`: the scripts that `run.py` runs against a server, unmodified; the
same script is asked against a server too, so that the two columns are of one day.  Each library is installed once,
beside what Dragoman needs, in a folder of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from installing import Missing, Place, installed
from programs import LIBRARIES, Library
from run import HERE, PAGE, _told
from stage import MODEL, OBSERVED, REPORT, WRITE, Watched, stage

from dragoman.sim import running
from dragoman.sim.scenarios import SCENARIOS

NOWHERE = "http://127.0.0.1:9"
ROOT = HERE.parent
NEEDS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
WAYS = ("a server", "the transport")
HEAD = "| library | paths that pass through a server | through the transport | notes |\n|---|---|---|---|\n"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one library and one way: the paths that passed, and what was wrong with the others."""

    passed: tuple[str, ...]
    failed: Mapping[str, str]

    def __str__(self) -> str:
        return f"{len(self.passed)} of {len(self.passed) + len(self.failed)}"


def main() -> int:
    """Run what is asked for; gives how many libraries pass fewer paths than against a server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--page", action="store_true", help="renew the table of docs/clients.md")
    asked = parser.parse_args()
    fewer = 0
    for library in LIBRARIES:
        if library.registry != "pypi" or (asked.names and not {library.name, library.script} & set(asked.names)):
            continue
        try:
            found = dict(zip(WAYS, both(library), strict=True))
        except Missing as missing:
            print(f"{library.name}: {missing}", flush=True)
            continue
        print(f"{library.name}: {', '.join(f'{way} {one}' for way, one in found.items())}", flush=True)
        for way, one in found.items():
            for path, note in one.failed.items():
                print(f"    {way}, {path}: {note}", flush=True)
        fewer += len(found[WAYS[1]].passed) < len(found[WAYS[0]].passed)
        if asked.page:
            _write(library, found)
    return min(fewer, 100)


def both(library: Library) -> Iterator[Outcome]:
    """Against a server, then through the transport.  Raises Missing."""
    place = installed(f"{library.script.partition('.')[0]}_inside", "pypi", (*library.packages, *NEEDS), library.python)
    with stage(model=MODEL) as (url, _):
        yield _run(library, place, [library.script], {"DRAGOMAN_URL": url})
    with running(Watched((WRITE, REPORT, OBSERVED, *SCENARIOS))) as upstream:
        more = {"DRAGOMAN_URL": NOWHERE, "DRAGOMAN_UPSTREAM": upstream, "DRAGOMAN_UPSTREAM_MODEL": MODEL}
        yield _run(library, place, ["inside.py", library.script], more)


def _run(library: Library, place: Place, words: list[str], more: Mapping[str, str]) -> Outcome:
    command = [str(place.bin / "python"), str(HERE / "sdks" / words[0]), *words[1:]]
    with _room() as home, tempfile.TemporaryFile("w+") as aside:
        environ = {"PATH": os.defpath, "HOME": str(home), "PYTHONPATH": str(ROOT / "src"), **library.environ, **more}
        process = subprocess.Popen(
            command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=aside, text=True, cwd=home,
            start_new_session=True,
        )  # fmt: skip
        told = list(_told(process, library.seconds))
        aside.seek(0)
        last = re.sub(r"\s+", " ", aside.read()).strip()[-200:]
    paths = {str(each["path"]): str(each["note"]) for each in told if each["path"] is not None}
    if not told or told[-1]["path"] is not None:
        paths["(its script)"] = f"broke off: {last}"
    return Outcome(tuple(p for p, note in paths.items() if not note), {p: n for p, n in paths.items() if n})


@contextmanager
def _room() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="dragoman-inside-", ignore_cleanup_errors=True) as room:
        yield Path(room).resolve()


def _write(library: Library, found: Mapping[str, Outcome]) -> None:
    """Put the row of one library into the table, where it stood before."""
    page = PAGE.read_text(encoding="utf-8")
    table = re.search(r"<!-- table:in_process -->\n(.*?)<!-- /table:in_process -->", page, re.DOTALL)
    if table is None:
        raise SystemExit(f"{PAGE} has no table in_process")
    rows = {line.split("|")[1].strip(): line for line in table[1].splitlines()[2:]}
    server, inside = (found[way] for way in WAYS)
    notes = "; ".join(f"{path}: {why[:90]}".replace("|", "\\|") for path, why in inside.failed.items())
    rows[library.name] = f"| {library.name} | {server} | {inside} | {notes} |"
    order = [each.name for each in LIBRARIES if each.name in rows]
    text = HEAD + "".join(f"{rows[name]}\n" for name in order)
    PAGE.write_text(page[: table.start(1)] + text + page[table.end(1) :], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
