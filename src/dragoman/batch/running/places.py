"""Where a run writes: the files of one output, what of them is there already, and that one run alone writes them.

Knows names and locks; nothing of rows or units.
Contract: nothing that a run wrote is written over unless that is asked for, and what belongs to another output never;
a name says what the file is; two runs never write one output at once, on file systems that know locks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ..arrow import arrow
from .packings import PACKINGS, Packing, packing_named

try:
    import fcntl
except ImportError:  # no such locks there
    fcntl = None  # type: ignore[assignment]

PLAN = "plan.json"
"""Among the parts, what the run is to do."""
LINES, TABLE = (".jsonl", ".ndjson"), ".parquet"
BESIDE = ("aside", "notes", "manifest")
"""What is written beside the output."""
NAMES = ", ".join([*LINES, *(f"{LINES[0]}{one.suffix}" for one in PACKINGS.values()), TABLE])
NAME = "{output} does not say what is to be written; end the name of the output in one of {names}"
STDOUT = "rows cannot go to standard output, for three files stand beside them; give the output a name ({names})"
NO_FILE = "{output} is no file; give the output another name"
INPUT = "{place} is an input too; give the output another name"
TAKEN = "{place} is there already; give another name, or --overwrite"
ANOTHER = "{place} belongs to {other}; give the output a name that differs in more than its ending"
BUSY = "another run is writing {output} now; wait for it or end it, or give another name"


def beside(output: Path, what: str) -> Path:
    """The file beside the output: `out.jsonl` → `out.aside.jsonl`, `out.manifest.json`."""
    return output.with_name(f"{_stem(output)}.{what}.{'json' if what == 'manifest' else 'jsonl'}")


def work_of(output: Path) -> Path:
    """The folder of parts while a run lasts."""
    return output.with_name(f"{_stem(output)}.parts")


def places_of(output: Path) -> list[Path]:
    """All files that a run leaves."""
    return [output, *(beside(output, what) for what in BESIDE)]


def _stem(output: Path) -> str:
    name = _unpacked(output.name)
    kind = next((one for one in (*LINES, TABLE) if name.lower().endswith(one)), output.suffix)
    return name[: -len(kind)] if kind else name


def _unpacked(name: str) -> str:
    packing = packing_named(name)
    return name if packing is None else name[: -len(packing.suffix)]


def packing_of_output(output: Path) -> Packing | None:
    """How the output is packed, by its name; None for not at all."""
    return packing_named(output.name)


def told_of(output: Path) -> dict[str, Any] | None:
    """The manifest that stands beside the output; None where there is none that can be read."""
    told = _read(beside(output, "manifest"))
    return told if told is not None and isinstance(told.get("outputs"), dict) else None


def begun_of(output: Path) -> dict[str, Any] | None:
    """What a run that did not come to its end was to do; None where there is none."""
    return _read(work_of(output) / PLAN)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) else None


# ── what may be written ──────────────────────────────────────────────────────


def check_output(output: Path, inputs: Iterable[Path]) -> None:
    """Raise `UsageError` where this can be no output of these inputs, or needs what is not installed."""
    name = output.name.lower()
    if name in ("-", "stdout"):
        raise UsageError(STDOUT.format(names=NAMES))
    if not _unpacked(name).endswith(LINES) and not name.endswith(TABLE):
        raise UsageError(NAME.format(output=output, names=NAMES))
    if output.exists() and not output.is_file():
        raise UsageError(NO_FILE.format(output=output))
    read = {one.resolve() for one in inputs}
    for place in places_of(output):
        if place.resolve() in read:
            raise UsageError(INPUT.format(place=place))
    if name.endswith(TABLE):
        arrow()
    elif (packing := packing_of_output(output)) is not None:
        packing.member()  # raises where what packs is not installed


def check_own(output: Path) -> None:
    """Raise `UsageError` where what stands beside the output, or what a run left unfinished, is another output's."""
    told = told_of(output)
    if told and output.name not in told["outputs"]:
        raise UsageError(ANOTHER.format(place=beside(output, BESIDE[-1]), other=next(iter(told["outputs"]), "nobody")))
    begun = begun_of(output) or {}
    if begun.get("output", output.name) != output.name:
        raise UsageError(ANOTHER.format(place=work_of(output), other=begun["output"]))


def check_free(output: Path) -> None:
    """Raise `UsageError` where something is there already."""
    taken = next((place for place in places_of(output) if place.exists()), None)
    if taken is not None:
        raise UsageError(TAKEN.format(place=taken))


# ── one run at a time ────────────────────────────────────────────────────────


@contextmanager
def alone(output: Path) -> Iterator[None]:
    """While the block lasts nobody else writes this output.  Raises `UsageError` where somebody does."""
    path = output.with_name(f".{work_of(output).name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = _locked(path, output)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(handle)


def _locked(path: Path, output: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise UsageError(BUSY.format(output=output)) from None
        except OSError:  # a file system without locks
            return handle
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(handle)):
                return handle
        os.close(handle)  # who held it took it away meanwhile
