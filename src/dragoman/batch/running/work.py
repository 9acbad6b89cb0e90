"""One unit of work done: its rows read, judged, written into parts, counted.

Knows units, judges, writers and the job; nothing of who calls it, how many others there are, or where they run.
Contract: `run_unit` is the same function in this process, in another and on Ray; the same unit and job give the same
bytes; a unit is done when its record stands in its place, which is written last; what it read is kept, set aside or
dropped, and it says so or fails.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from hashlib import sha256
from typing import Any

from ...types import Verdict
from ..arrow import arrow, batch_of, repair_as_json, schema
from ..formats.alternatives import own_answer
from ..formats.losses import losses
from ..formats.spec import Format
from ..formats.training import PURPOSES, for_purpose
from ..formats.writing import target_of, write
from ..judging.lane import Lane
from ..judging.row_judge import Outcome, judge, judged_row
from ..options import Options
from ..report.summary import Summary
from ..result import Finding, RowVerdict
from ..row_json import BadRow, dumps
from .files import Hashed, digest_of, replace_text, replacing
from .job import Job
from .kept import Kept, state_of
from .keys import SIZE, key_of
from .leaks import marks
from .lines import Raw, Run, hash_of, one_by_one
from .proof import AT_ONCE, proven
from .tally import Tally
from .units import Unit, input_digest, pieces
from .unread import judged_raw

KEEPS: dict[str, frozenset[RowVerdict]] = {
    "strict": frozenset({RowVerdict.OK, RowVerdict.NONE}),
    "repaired": frozenset({RowVerdict.OK, RowVerdict.NONE, RowVerdict.REPAIRED}),
    "all": frozenset({RowVerdict.OK, RowVerdict.NONE, RowVerdict.REPAIRED, RowVerdict.REFUSED}),
}
PARTS = ("aside", "notes", "keys")
"""What a unit writes beside kept rows: rows set aside, what was changed or lost, the keys of kept rows."""
KEPT = ("kept", "places")
"""What it writes of kept rows, where they are lines: those that stand nowhere yet, and the places of all."""
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
                for what in KEPT:
                    work.parts[what] = stack.enter_context(replacing(job.part(unit.index, what)))
                work.kept = Kept(work.parts["kept"], work.parts["places"])
        for piece in pieces(unit, job.options.max_row):
            if isinstance(piece, Raw):
                work.row(piece)
            else:
                work.run(piece)
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
    if record.get("unit") != unit.as_json() or record.get("job") != job.digest:
        return None
    files = {**record["files"], **record.get("parts", {})}
    if any(digest_of(job.part(unit.index, what)) != file.get("sha256") for what, file in files.items()):
        return None
    return record if input_digest(unit, job.options.max_row) == record["input"] else None


def _told(file: Hashed) -> dict[str, Any]:
    return {"bytes": file.size, "sha256": file.digest}


class _Work:
    """A unit while it is done."""

    def __init__(self, unit: Unit, job: Job) -> None:
        self._unit, self._job = unit, job
        self._options: Options = job.options
        self.files: dict[str, Hashed] = {}
        self.parts: dict[str, Hashed] = {}
        self.kept: Kept | None = None
        self.table: _Table | None = None
        self._tally = Tally()
        self._input = sha256()
        self._stands = unit.kind == "lines" and not unit.packing
        self._state = state_of(unit.source) if self._stands else []
        self._keeps = KEEPS[job.options.keep]
        self._leaks = dict(job.exclude)
        self._lane = LANE if _has_lane(job) else None
        self._summary = Summary() if job.report else None
        self._keyed = job.dedup != "none"
        self._keys: list[bytes] = []
        self._pending: list[Outcome] = []
        self._sound: Counter[tuple[str, int]] = Counter()

    def run(self, run: Run) -> None:
        """Lines that stand one behind another: those that are fine as they are together, the others one by one."""
        if self._lane is None or self._job.sample < 1:
            for raw in one_by_one([run]):
                self.row(raw)
            return
        offset, lines, left = run
        at = 0
        while at < len(lines):
            until = self._lane.sound_from(at, lines, self._options.to, self._sound)
            if until > at:
                sound = lines[at:until]
                size = left if until == len(lines) else sum(map(len, sound)) + len(sound)
                self._keep_sound(sound, self._read([sha256(line).digest() for line in sound]), (offset, size))
                offset, left = offset + size, left - size
            for line in lines[until : until + 1]:
                if line and not line.isspace():
                    self._read([hash_of(line)])
                    self._put(judge(line, self._options, (self._unit.source, offset)))
                offset, left = offset + len(line) + 1, left - len(line) - 1
            at = until + 1

    def row(self, raw: Raw) -> None:
        """One row: judged, and put where it belongs."""
        [digest] = self._read([raw.hash])
        if raw.fault:
            self._put(judged_raw(raw, self._unit.source, self._options))
        elif self._job.sample < 1 and _share(digest, self._job.seed) >= self._job.sample:
            self._tally.dropped["sample"] += 1
        elif self._is_sound(raw):
            self._keep_sound([raw.data], [digest])
        else:
            self._put(judged_raw(raw, self._unit.source, self._options))

    def _is_sound(self, raw: Raw) -> bool:
        """Is a row fine as it is?  Where it is, it is counted."""
        if self._lane is None or raw.digest:
            return False
        return bool(self._lane.sound_from(0, [raw.data], self._options.to, self._sound))

    def _read(self, digests: list[bytes]) -> list[bytes]:
        """Count rows that were read, by their hashes."""
        self._input.update(b"".join(digests))
        self._tally.read += len(digests)
        return digests

    def _keep_sound(self, lines: Sequence[bytes], digests: list[bytes], place: tuple[int, int] | None = None) -> None:
        """Keep rows as they are; `place` is where they stand one behind another, and how many bytes they are."""
        if self.kept is None:
            return
        if place is not None and self._stands:
            self.kept.add_standing(*place, digests)
        else:
            for line, digest in zip(lines, digests, strict=True):
                self.kept.add(line, digest)
        if self._keyed:
            self._keys += [digest[:SIZE] for digest in digests]

    def _put(self, outcome: Outcome) -> None:
        """A row that was judged, on its way to where it belongs."""
        if not self._job.template:
            self._judged(outcome)
            return
        self._pending.append(outcome)
        if len(self._pending) >= AT_ONCE:
            self._prove()

    def _look(self, outcome: Outcome) -> None:
        """Count what a row holds for the report, which has from the tally what became of it."""
        if self._summary is not None:
            self._summary.look(judged_row(outcome))

    def _prove(self) -> None:
        """Put the rows that wait through the template."""
        for outcome in proven(self._pending, self._job.template, self._options):
            self._judged(outcome)
        self._pending = []

    def _judged(self, outcome: Outcome) -> None:
        leak = next((self._leaks[m] for m in marks(outcome) if m in self._leaks), "") if self._leaks else ""
        if leak:
            found = Finding("leak", "$", f"it stands in the evaluation data, at {leak}")
            outcome = outcome._replace(findings=(found, *outcome.findings))
        self._tally.judged(outcome)
        unfit = outcome.verdict not in self._keeps or outcome.chat is None or not UNFIT.isdisjoint(outcome.codes)
        if self._job.command == "lint":  # what would become of it
            self._tally.aside, self._tally.kept = self._tally.aside + unfit, self._tally.kept + (not unfit)
            self._look(outcome)
        elif leak or unfit:
            self._aside(outcome)
        else:
            self._keep(outcome)

    def _keep(self, outcome: Outcome) -> None:
        """Keep a row, or the rows for training that it makes: each of them is counted as a row."""
        try:
            made = self._for_training(outcome) if self._options.to in PURPOSES else [outcome]
        except BadRow as why:
            self._aside(outcome, Finding(why.code, why.path, str(why)))
            return
        self._tally.read += len(made) - 1
        for one in made:
            self._keep_one(one)

    def _for_training(self, outcome: Outcome) -> list[Outcome]:
        assert outcome.chat is not None
        beside, before = outcome.branches.get(own_answer(outcome.chat), ()), len(outcome.chat.messages)
        wrong = {call.message for call in outcome.calls if call.verdict is Verdict.REFUSED}
        wrong |= {before + call.message for call in beside if call.verdict is Verdict.REFUSED}
        made = for_purpose(outcome.chat, self._options.to, wrong, outcome.id)
        return [outcome._replace(chat=one) for one in made]

    def _keep_one(self, outcome: Outcome) -> None:
        assert outcome.chat is not None
        assert outcome.form is not None
        goal = target_of(outcome.form, self._options, outcome.chat)
        try:
            line = self._written(outcome, goal)
        except BadRow as why:
            self._aside(outcome, Finding(why.code, why.path, str(why)))
            return
        lost = self._losses(outcome, goal, line)
        self._tally.kept += 1
        if outcome.chat.part < 2:  # what a row holds is looked at once, however many rows it makes
            self._look(outcome)
        if self.table is not None:
            self.table.add(outcome)
        elif self.kept is not None:
            self.kept.add(line, bytes.fromhex(outcome.id) if line is outcome.original else hash_of(line))
        if self._keyed:
            self._keys.append(key_of(outcome, self._job.dedup))
        if outcome.repairs or lost:
            self._write("notes", _note(outcome, lost))

    def _written(self, outcome: Outcome, goal: Format) -> bytes:
        """The row as it is kept: its own bytes where nothing about it changes."""
        options = self._options
        asked = options.arguments or options.parallel or options.dialect or options.re_id or options.redact
        assert outcome.chat is not None
        padded = outcome.chat.padded and options.to  # who names a format wants it without Arrow's nulls
        changed = outcome.repairs or asked or options.columns or options.to in PURPOSES or padded
        if goal is outcome.form and not changed:
            return outcome.original
        return write(outcome.chat, goal, options)

    def _losses(self, outcome: Outcome, goal: Format, line: bytes) -> list[Finding]:
        if line is outcome.original or self.table is not None or outcome.chat is None:
            return []
        back = judge(line, Options(format=goal.name, max_row=1 << 62, tools=self._options.tools))
        lost = losses(outcome.chat, back.chat) if back.chat is not None else list(back.findings)
        self._tally.lost(lost)
        return lost

    def _aside(self, outcome: Outcome, more: Finding | None = None) -> None:
        """Set a row aside that was judged, with what was found since."""
        if more is not None:
            self._tally.codes[more.code] += more.code not in outcome.codes
            outcome = outcome._replace(findings=(*outcome.findings, more))
        self._tally.aside += 1
        self._look(outcome)
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
        if self.kept is not None:
            self.kept.end()
        if "keys" in self.files:
            self.files["keys"].write(b"".join(self._keys))
        self._tally.check()

    def record(self) -> dict[str, Any]:
        """What was done."""
        files = {what: _told(file) for what, file in self.files.items()}
        if self.table is not None:
            files["kept"] = self.table.told()
        elif self.kept is not None:
            files["kept"] = {"bytes": self.kept.size, "rows": self.kept.count, "rows_sha256": self.kept.digest}
        return {
            "unit": self._unit.as_json(), "job": self._job.digest, "input": self._input.hexdigest(),
            "state": self._state, "files": files, "parts": {what: _told(file) for what, file in self.parts.items()},
            "tally": self._tally.as_json(),
            **({} if self._summary is None else {"summary": self._summary.as_json()}),
        }  # fmt: skip


class _Table:
    """The kept rows of a unit as Parquet of the fixed columns."""

    def __init__(self, job: Job, index: int) -> None:
        self._path, self._options = job.part(index, "kept"), job.options
        self._waiting: list[Outcome] = []
        self._writer: Any = None

    def __enter__(self) -> _Table:
        arrow()  # says what to install
        import pyarrow.parquet as pq  # noqa: PLC0415  an extra

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
    number = sha256(digest + str(seed).encode()).digest()[:7]
    return int.from_bytes(number, "big") / 256**7


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
