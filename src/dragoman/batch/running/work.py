"""One unit of work done: its rows read, judged, written into parts, counted.

Knows units, judges, writers and the job; nothing of who calls it, how many others there are, or where they run.
Contract: `run_unit` is the same function in this process, in another and on Ray; the same unit and job give the same
bytes; a unit is done when its record stands in its place, which is written last; what it read is kept, set aside or
dropped, and it says so or fails.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...types import Verdict
from ..arrow import arrow, batch_of, repair_as_json, schema
from ..formats.losses import losses
from ..formats.spec import Format
from ..formats.training import PURPOSES, for_purpose
from ..formats.writing import target_of, write
from ..judging.lane import Lane
from ..judging.row_judge import Outcome, judge, judged_row
from ..options import Options
from ..report.summary import Fate, Summary
from ..result import Finding, RowVerdict
from ..row_json import BadRow, dumps
from .files import Hashed, Lines, digest_of, lines_digest, replace_text, replacing, replacing_lines
from .job import Job
from .keys import SIZE, key_of
from .leaks import marks
from .proof import AT_ONCE, proven
from .tally import Tally
from .units import Raw, Unit, rows

KEEPS: dict[str, frozenset[RowVerdict]] = {
    "strict": frozenset({RowVerdict.OK, RowVerdict.NONE}),
    "repaired": frozenset({RowVerdict.OK, RowVerdict.NONE, RowVerdict.REPAIRED}),
    "all": frozenset({RowVerdict.OK, RowVerdict.NONE, RowVerdict.REPAIRED, RowVerdict.REFUSED}),
}
PARTS = ("aside", "notes", "keys")
"""What a unit writes beside kept rows: rows set aside, what was changed or lost, the keys of kept rows."""
UNFIT = frozenset({"template_fails", "template_calls", "template_tools"})
"""What a chat template does to a row that is then not trained on."""
LANE = Lane()
"""One for all units of a process: what it knows of tools holds for every job."""
TABLE_ROWS = 4096


class Stopped(Exception):
    """A row was set aside, and the job was to stop there."""


def run_unit(unit: Unit, job: Job) -> dict[str, Any]:
    """Do a unit; its record: what it was, its counts, and the files it wrote with their sizes and hashes."""
    work = _Work(unit, job)
    with ExitStack() as stack:
        if job.work:
            for what in PARTS:
                work.files[what] = stack.enter_context(replacing(job.part(unit.index, what)))
            if job.table:
                work.table = stack.enter_context(_Table(job, unit.index))
            else:
                work.kept = stack.enter_context(replacing_lines(job.part(unit.index, "kept")))
        for raw in rows(unit, job.options.max_row):
            work.row(raw)
        work.end()
    record = work.record()
    if job.work:
        replace_text(job.part(unit.index, "json"), json.dumps(record, indent=1) + "\n")
    return record


def recorded(unit: Unit, job: Job) -> dict[str, Any] | None:
    """The record of a unit that is done, its files and its input being what they were; None where it is to be done."""
    try:
        record: dict[str, Any] = json.loads(job.part(unit.index, "json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same = record.get("unit") == unit.as_json() and record.get("job") == job.digest
    if not same or not all(_is_as_told(job.part(unit.index, what), file) for what, file in record["files"].items()):
        return None
    return record if input_digest(unit, job.options.max_row) == record["input"] else None


def _is_as_told(path: Path, told: Mapping[str, Any]) -> bool:
    if "rows_sha256" in told:
        return lines_digest(path) == str(told["rows_sha256"])
    return digest_of(path) == str(told["sha256"])


def input_digest(unit: Unit, max_row: int) -> str:
    """The hash of all rows of a unit."""
    made = hashlib.sha256()
    for raw in rows(unit, max_row):
        made.update(_digest(raw))
    return made.hexdigest()


def _digest(raw: Raw) -> bytes:
    return bytes.fromhex(raw.digest) if raw.digest else hashlib.sha256(raw.data).digest()


class _Work:
    """A unit while it is done."""

    def __init__(self, unit: Unit, job: Job) -> None:
        self._unit, self._job = unit, job
        self._options: Options = job.options
        self.files: dict[str, Hashed] = {}
        self.kept: Lines | None = None
        self.table: _Table | None = None
        self._tally = Tally()
        self._input = hashlib.sha256()
        self._keeps = KEEPS[job.options.keep]
        self._leaks = dict(job.exclude)
        self._lane = LANE if _has_lane(job) else None
        self._summary = Summary() if job.report else None
        self._keyed = job.dedup != "none"
        self._keys: list[bytes] = []
        self._pending: list[Outcome] = []
        self._sound: Counter[tuple[str, int]] = Counter()

    def row(self, raw: Raw) -> None:
        """One row: judged, and put where it belongs."""
        self._tally.read += 1
        digest = bytes.fromhex(raw.digest) if raw.digest else sha256(raw.data).digest()
        self._input.update(digest)
        if self._job.sample < 1 and _share(digest, self._job.seed) >= self._job.sample:
            self._tally.dropped["sample"] += 1
            return
        if self._lane is not None and not raw.digest:
            sound = self._lane.sound(raw.data)
            if sound is not None and self._passes(sound[0]):
                self._sound[sound] += 1
                if self.kept is not None:
                    self.kept.add(raw.data, digest)
                    if self._keyed:
                        self._keys.append(digest[:SIZE])
                return
        if raw.digest:
            outcome = _too_long(raw, self._unit.source, self._options.max_row)
        else:
            outcome = judge(raw.data, self._options, (self._unit.source, raw.offset))
        if self._job.template:
            self._pending.append(outcome)
            if len(self._pending) >= AT_ONCE:
                self._prove()
        else:
            self._judged(outcome)

    def _counted(self, outcome: Outcome, fate: Fate) -> None:
        """Count a row for the report."""
        if self._summary is not None:
            self._summary.add(judged_row(outcome), fate)

    def _prove(self) -> None:
        """Put the rows that wait through the template."""
        for outcome in proven(self._pending, self._job.template, self._options):
            self._judged(outcome)
        self._pending = []

    def _passes(self, form: str) -> bool:
        """Is a row of this format kept as it is?"""
        return self._options.to in ("", form)

    def _judged(self, outcome: Outcome) -> None:
        leak = next((self._leaks[m] for m in marks(outcome) if m in self._leaks), "") if self._leaks else ""
        if leak:
            found = Finding("leak", "$", f"it stands in the evaluation data, at {leak}")
            outcome = outcome._replace(findings=(found, *outcome.findings))
        self._tally.judged(outcome)
        if self._job.command == "lint":
            self._tally.kept += 1
            self._counted(outcome, Fate.KEPT)
        elif leak or outcome.verdict not in self._keeps or outcome.chat is None or not UNFIT.isdisjoint(outcome.codes):
            self._aside(outcome)
        else:
            self._keep(outcome)

    def _keep(self, outcome: Outcome) -> None:
        assert outcome.chat is not None
        assert outcome.form is not None
        goal = target_of(outcome.form, self._options)
        try:
            if self._options.to in PURPOSES:
                wrong = {call.message for call in outcome.calls if call.verdict is Verdict.REFUSED}
                outcome = outcome._replace(chat=for_purpose(outcome.chat, self._options.to, wrong))
            line = self._written(outcome, goal)
        except BadRow as why:
            found = Finding(why.code, why.path, str(why))
            self._aside(outcome._replace(findings=(*outcome.findings, found)), again=True)
            return
        lost = self._losses(outcome, goal, line)
        self._tally.kept += 1
        self._counted(outcome, Fate.KEPT)
        if self.table is not None:
            self.table.add(outcome)
        elif self.kept is not None:
            digest = bytes.fromhex(outcome.id) if line is outcome.original else hashlib.sha256(line).digest()
            self.kept.add(line, digest)
        if self._keyed:
            self._keys.append(key_of(outcome, self._job.dedup))
        if outcome.repairs or lost:
            self._write("notes", _note(outcome, lost))

    def _written(self, outcome: Outcome, goal: Format) -> bytes:
        """The row as it is kept: its own bytes where nothing about it changes."""
        options = self._options
        asked = options.arguments or options.parallel or options.dialect or options.re_id or options.redact
        changed = outcome.repairs or asked or options.columns or options.to in PURPOSES
        if goal is outcome.form and not changed:
            return outcome.original
        assert outcome.chat is not None
        return write(outcome.chat, goal, options)

    def _losses(self, outcome: Outcome, goal: Format, line: bytes) -> list[Finding]:
        if line is outcome.original or self.table is not None or outcome.chat is None:
            return []
        back = judge(line, Options(format=goal.name, max_row=1 << 62, tools=self._options.tools))
        lost = losses(outcome.chat, back.chat) if back.chat is not None else list(back.findings)
        self._tally.lost(lost)
        return lost

    def _aside(self, outcome: Outcome, *, again: bool = False) -> None:
        self._tally.aside += 1
        self._counted(outcome, Fate.SET_ASIDE)
        if again:
            self._tally.codes[outcome.findings[-1].code] += 1
        self._write("aside", _set_aside(outcome))
        if self._job.stop:
            found = outcome.findings[0] if outcome.findings else Finding("unreadable")
            raise Stopped(f"{outcome.source} at {outcome.offset}: {found.code} {found.path} {found.message}")

    def _write(self, what: str, line: bytes) -> None:
        file = self.files.get(what)
        if file is not None:
            file.write(line + b"\n")

    def end(self) -> None:
        """All rows were seen."""
        self._prove()
        for (form, calls), count in self._sound.items():
            self._tally.sound(form, calls, count)
            self._tally.kept += count
        if "keys" in self.files:
            self.files["keys"].write(b"".join(self._keys))
        self._tally.check()

    def record(self) -> dict[str, Any]:
        """What was done."""
        files = {what: {"bytes": file.size, "sha256": file.digest} for what, file in self.files.items()}
        if self.table is not None:
            files["kept"] = self.table.told()
        elif self.kept is not None:
            digest = self.kept.digest
            files["kept"] = {"bytes": self.kept.size, "rows": self.kept.count, "rows_sha256": digest}
        return {
            "unit": self._unit.as_json(), "job": self._job.digest, "input": self._input.hexdigest(),
            "files": files, "tally": self._tally.as_json(),
            **({} if self._summary is None else {"summary": self._summary.as_json()}),
        }  # fmt: skip


class _Table:
    """The kept rows of a unit as Parquet of the fixed columns."""

    def __init__(self, job: Job, index: int) -> None:
        self._path, self._options = job.part(index, "kept"), job.options
        self._waiting: list[Outcome] = []
        self._writer: Any = None

    def __enter__(self) -> _Table:
        import pyarrow.parquet as pq  # noqa: PLC0415  an extra

        arrow()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._beside = self._path.with_name(f".{self._path.name}.tmp")
        self._writer = pq.ParquetWriter(self._beside, schema(), compression="zstd")
        return self

    def add(self, outcome: Outcome) -> None:
        """One more row."""
        self._waiting.append(outcome)
        if len(self._waiting) >= TABLE_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_batch(batch_of(self._waiting, self._options))
            self._waiting = []

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()
        self._writer.close()
        if kind is None:
            self._beside.replace(self._path)
        else:
            self._beside.unlink(missing_ok=True)

    def told(self) -> dict[str, Any]:
        """Size and hash."""
        return {"bytes": self._path.stat().st_size, "sha256": digest_of(self._path)}


def _has_lane(job: Job) -> bool:
    """May a row that is fine as it is be kept as it is, its bytes and no more being asked of it?"""
    options = job.options
    asked = options.arguments or options.parallel or options.dialect or options.re_id or options.redact
    read = options.format or options.columns or options.tools is not None
    more = job.report or job.table or job.exclude or job.template or job.dedup not in ("none", "rows")
    return not (asked or read or more)


def _share(digest: bytes, seed: int) -> float:
    """Where a row stands between 0 and 1, by its hash and the seed."""
    number = hashlib.sha256(digest + str(seed).encode()).digest()[:7]
    return int.from_bytes(number, "big") / 256**7


def _too_long(raw: Raw, source: str, most: int) -> Outcome:
    finding = Finding("too_long", "", f"it has {raw.size:,} bytes; --max-row allows {most:,}")
    return Outcome(raw.digest, source, raw.offset, raw.data, RowVerdict.BROKEN, None, None, (finding,))


def _set_aside(outcome: Outcome) -> bytes:
    """A row that is not kept, why, and its bytes."""
    made: dict[str, Any] = {
        "row_id": outcome.id, "source": outcome.source, "offset": outcome.offset, "verdict": str(outcome.verdict),
        "format": outcome.form.name if outcome.form else "", "codes": list(outcome.codes),
        "findings": [{"code": f.code, "path": f.path, "message": f.message} for f in outcome.findings],
    }  # fmt: skip
    try:
        made["orig"] = outcome.original.decode()
        return _line(made)
    except UnicodeDecodeError:
        return _line({**made, "orig_base64": base64.b64encode(outcome.original).decode()})


def _line(value: dict[str, Any]) -> bytes:
    try:
        return dumps(value)
    except (TypeError, ValueError, UnicodeEncodeError):  # half a character in a message of the standard library's
        return json.dumps(value, default=str).encode()


def _note(outcome: Outcome, lost: list[Finding]) -> bytes:
    """What was changed in a row that is kept, and what the target could not hold; its bytes undo both."""
    return _line({
        "row_id": outcome.id, "source": outcome.source, "offset": outcome.offset,
        "repairs": [repair_as_json(one) for one in outcome.repairs],
        "losses": [{"path": one.path, "message": one.message} for one in lost],
        "orig": outcome.original.decode("utf-8", "replace"),
    })  # fmt: skip


Run = Callable[[Unit, Job], dict[str, Any]]
Done = Iterator[tuple[int, dict[str, Any]]]
