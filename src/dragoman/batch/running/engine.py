"""A job from its files to its manifest: planned, done by an engine, resumed where it was left, put together.

Knows units, records and engines; nothing of rows.  Contract: what comes out depends on inputs and job alone, not on the
engine, the number of processes, or how often it was killed; without `resume`, what an earlier run left is not touched.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ..report.summary import Summary
from . import local
from .beforehand import check_columns, check_template
from .files import replace_text
from .job import Job
from .merge import finish
from .places import PLAN, alone, begun_of, check_free, check_output, check_own, places_of, told_of, work_of
from .sources import Source, as_described, described, sources_of
from .units import UNIT, Unit, plan
from .work import recorded

LEFT = "{work} holds {done} of {all} units of an unfinished run; add --resume to go on, or --overwrite to begin anew"
OTHER = "{work} belongs to another run ({why}); add --overwrite to begin anew, or give another output"
FINISHED = "{output} is what another run left ({why}); give another output, or --overwrite to do it again"
DIFFERS = {
    "output": "another output", "job": "other options or another version", "units": "another --limit or --unit",
    "inputs": "other inputs",
}  # fmt: skip
"""What may differ between two runs, and how that is said."""
Engine = Callable[[Sequence[Unit], Job], Iterable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Step:
    """Where a run is: units and bytes done and in all, rows so far, and the record of the unit that was just done."""

    done: int
    units: int
    bytes_done: int
    bytes_all: int
    rows: int
    record: dict[str, Any]


def run(
    inputs: Iterable[str | Path], job: Job, *, engine: Engine | None = None, workers: int = 1, resume: bool = False,
    overwrite: bool = False, limit: int | None = None, unit_bytes: int = UNIT,
    on_step: Callable[[Step], None] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Do `job` with all rows of `inputs`; the manifest.

    engine      who does the units; processes of this machine where nobody is named (`workers`)
    resume      go on with what a run of the same job and inputs left
    overwrite   the output may be there already
    limit       the first so many rows only
    unit_bytes  bytes of a unit of JSON lines: part of what decides about the order of nothing, but about the parts

    Raises `UsageError` for what was left by a run and is not to be gone on with, and for inputs that changed meanwhile.
    """
    sources = sources_of(inputs)
    asked = _Asked(engine or (lambda units, job: local.run(units, job, workers)), limit, unit_bytes, on_step)
    check_template(job.template)
    if not job.output:
        units = plan(sources, unit_bytes, limit)
        check_columns(units, job.options)
        return _run(sources, job, units, asked)
    output = Path(job.output)
    check_output(output, [source for source in sources if isinstance(source, Path)])
    with alone(output):
        return _run_into(output, sources, job, asked, resume=resume, overwrite=overwrite)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a caller asks besides the job."""

    engine: Engine
    limit: int | None
    unit_bytes: int
    on_step: Callable[[Step], None] | None


def _run_into(
    output: Path, sources: list[Source], job: Job, asked: _Asked, *, resume: bool, overwrite: bool
) -> dict[str, Any]:  # fmt: skip
    """Do a job that writes, alone; or say that it is done, or why it cannot be."""
    check_own(output)
    job = replace(job, work=str(work_of(output)))
    begun = begun_of(output)
    if resume:
        sources = _as_begun(begun, sources)
    units = plan(sources, asked.unit_bytes, asked.limit)
    check_columns(units, job.options)
    if resume and begun is None and (done := _finished(output, job, sources, units, overwrite=overwrite)) is not None:
        return done
    if overwrite and not resume:
        shutil.rmtree(job.work, ignore_errors=True)
    elif not resume and begun is None:
        check_free(output)
    return _run(sources, job, units, asked, dict(_begun(units, job, sources, resume=resume)))


def _run(
    sources: Sequence[Source], job: Job, units: Sequence[Unit], asked: _Asked,
    done: dict[int, dict[str, Any]] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Do what is not done, and put all together; the manifest."""
    records = done or {}
    todo = [unit for unit in units if unit.index not in records]
    progress = _Progress(units, _sizes(units), records, asked.on_step)
    for record in asked.engine(todo, job):
        records[record["unit"]["index"]] = record
        progress.step(record)
    ordered = [records[unit.index] for unit in units]
    told = finish(job, ordered, _inputs(sources, ordered))
    return {**told, "summary": _summary(ordered, told["totals"])} if job.report else told


def _summary(records: Sequence[dict[str, Any]], totals: Mapping[str, Any]) -> dict[str, Any]:
    """What a report shows of all rows, of which `totals` says what became of them."""
    whole = Summary()
    for record in records:
        whole.merge(Summary(record["summary"]))
    whole.take(totals)
    assert whole.adds_up, whole.rows
    return whole.as_json()


class _Progress:
    """What is told of a run while it runs."""

    def __init__(
        self, units: Sequence[Unit], sizes: Sequence[int], records: dict[int, dict[str, Any]],
        on_step: Callable[[Step], None] | None,
    ) -> None:  # fmt: skip
        self._units, self._sizes, self._tell = len(units), sizes, on_step
        self._done = len(records)
        self._bytes = sum(sizes[index] for index in records)
        self._rows = sum(record["tally"]["read"] for record in records.values())

    def step(self, record: dict[str, Any]) -> None:
        """One more unit is done."""
        self._done += 1
        self._bytes += self._sizes[record["unit"]["index"]]
        self._rows += record["tally"]["read"]
        if self._tell is not None:
            self._tell(Step(self._done, self._units, self._bytes, sum(self._sizes), self._rows, record))


def _sizes(units: Sequence[Unit]) -> list[int]:
    """Bytes of each unit; of row groups their share of the file."""
    groups: dict[str, int] = {}
    for unit in units:
        if unit.kind == "groups":
            groups[unit.source] = groups.get(unit.source, 0) + 1
    return [
        Path(u.source).stat().st_size // groups[u.source] if u.kind == "groups" else u.end - u.start for u in units
    ]


# ── what an earlier run left ─────────────────────────────────────────────────


def _finished(
    output: Path, job: Job, sources: Sequence[Source], units: Sequence[Unit], *, overwrite: bool
) -> dict[str, Any] | None:  # fmt: skip
    """The manifest of this very run, where it came to its end; None where it is to be done.

    Raises `UsageError` for what is there of another run, or was changed since.
    """
    there = [place for place in places_of(output) if place.exists()]
    if not there:
        return None
    told = told_of(output) or {"outputs": {}}
    why = _other(told, job, sources, units)
    sizes = {name: file["bytes"] for name, file in told["outputs"].items()}
    found = {place.name: place.stat().st_size for place in there if place.name in sizes}
    if not why and any(sizes[name] != size for name, size in found.items()):
        why = "it was changed since"
    if not why and found == sizes:
        shutil.rmtree(job.work, ignore_errors=True)  # of which something is left where the end was cut short
        return None if job.report else told
    if why and not overwrite:
        raise UsageError(FINISHED.format(output=there[0], why=why))
    return None


def _other(told: dict[str, Any], job: Job, sources: Sequence[Source], units: Sequence[Unit]) -> str:
    """Why what is told of a finished run is not said of this one; "" where it is."""
    if told.get("digest") != job.digest:
        return DIFFERS["job"]
    inputs = [{key: value for key, value in one.items() if key != "rows_sha256"} for one in told.get("inputs", ())]
    if inputs != [described(source) for source in sources]:
        return DIFFERS["inputs"]
    keys = list(Unit(0, "").as_json())
    done = [{key: one.get(key) for key in keys} for one in told.get("units", ())]
    return "" if done == [unit.as_json() for unit in units] else DIFFERS["units"]


def _as_begun(begun: dict[str, Any] | None, sources: Sequence[Source]) -> list[Source]:
    """The sources as the run that is gone on with found them."""
    try:
        left = {one["path"]: one for one in begun["inputs"]} if begun is not None else {}
    except (KeyError, TypeError):
        return list(sources)
    return [as_described(source, left.get(str(source), {})) for source in sources]


def _begun(
    units: Sequence[Unit], job: Job, sources: Sequence[Source], *, resume: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The units that are done already; the folder of parts is this job's afterwards."""
    work = Path(job.work)
    inputs = [described(source) for source in sources]
    told = {"output": Path(job.output).name, "job": job.digest, "units": _digest(units), "inputs": inputs}
    plan_file = work / PLAN
    if plan_file.exists():
        done = len(list(work.glob("part-*.json")))
        if not resume:
            raise UsageError(LEFT.format(work=work, done=done, all=len(units)))
        left = json.loads(plan_file.read_text(encoding="utf-8"))
        wrong = next((key for key in told if left.get(key) != told[key]), "")
        if wrong:
            raise UsageError(OTHER.format(work=work, why=DIFFERS[wrong]))
        for unit in units:
            record = recorded(unit, job)
            if record is not None:
                yield unit.index, record
        return
    replace_text(plan_file, json.dumps(told, indent=1) + "\n")


def _digest(units: Sequence[Unit]) -> str:
    return hashlib.sha256(json.dumps([unit.as_json() for unit in units]).encode()).hexdigest()


def _inputs(sources: Sequence[Source], records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each file with its size, and the hash of the hashes of its rows."""
    made = []
    for source in sources:
        own = [record["input"] for record in records if record["unit"]["source"] == str(source)]
        digest = hashlib.sha256("".join(own).encode()).hexdigest()
        made.append({**described(source), "rows_sha256": digest})
    return made
