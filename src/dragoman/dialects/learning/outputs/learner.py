"""The row that explains what a model wrote: proposed from the samples, proved on them, the shortest of those that hold.

A row explains a sample when it reads the calls that were found in it and leaves no markup behind, and what the row
writes of those calls is read back as the same.  This module knows the proof and the choice; finding calls and making
rows is beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....errors import UsageError
from ....types import IssueKind, Tool, ToolCall
from ...engine.parse import parse
from ...engine.parsed import Parsed
from ...rows.table import ALL
from ...spec import Dialect
from ...writing.render import Unrenderable, render
from .alignment import beginning, ending
from .assembly import rows
from .cells import NOTATIONS, Reading
from .pairs import pairs
from .sample import Sample, Written

LEAST = 3
"""Fewer calls show no pattern."""
MISSED = "a call seems to stand there, and none is read"
SIGN = re.compile(r"[^\w\s/.~#@$*&+%-].*")
"""What a text does not begin or end with again and again."""
TOUCHES = r"<>\[\]{}|=§@#$%^~⟨⟩「」【】\\"
"""Signs that prose does not write against a name, as it does quotes, brackets behind it and the ends of sentences."""
ENOUGH = 0.6
"""Share of the samples with calls that a row must explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """How a row reads one sample: the calls, the text left over, and why it does not explain it ("" if it does)."""

    sample: Sample
    calls: tuple[Written, ...]
    left: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedRow:
    """A row learned from outputs, and how it reads each of them; `notes` are for people."""

    dialect: Dialect
    reads: tuple[Reads, ...]
    notes: tuple[str, ...] = ()

    @property
    def explained(self) -> int:
        """How many samples the row explains."""
        return sum(not r.why for r in self.reads)


class NothingLearned(UsageError):
    """No row explains the samples; the message says why and what to do."""


class AlreadyRead(NothingLearned):
    """Built-in rows read every sample; `dialects` are their names."""

    def __init__(self, dialects: Sequence[str]) -> None:
        self.dialects: tuple[str, ...] = tuple(dialects)
        told = " and ".join(map(repr, self.dialects))
        super().__init__(f"the built-in dialect {told} reads every sample: nothing to learn; use it by that name")


def learn_from_outputs(
    samples: Sequence[Sample], *, name: str = "learned", known: Sequence[Dialect] = ALL
) -> LearnedRow:
    """The shortest row that explains these outputs.  `known` are the rows that make learning needless.

    Raises NothingLearned where the samples are too few, hold no calls of declared tools, contradict each other, or are
    read already (`AlreadyRead`, which names the rows).
    """
    readings = [r for find in (*NOTATIONS, pairs) for r in find(samples)]
    readings = [r for r in readings if r.found >= LEAST and _believable(r, samples)]
    if not readings:
        raise NothingLearned(_too_few(samples))
    busy = [any(r.cells[i] for r in readings) or _seems_to_call(s) for i, s in enumerate(samples)]
    found = [_judged(row, reading, samples, busy) for reading in readings for row in rows(reading, samples, name)]
    best = max(found, key=_worth, default=None)
    if best is None or best.explained < LEAST - 1 or best.explained < ENOUGH * len(samples):
        raise NothingLearned(_unexplained(best, samples, known))
    same = _already_read(best, samples, known)
    if same:
        raise AlreadyRead(same)
    return replace(best, dialect=replace(best.dialect, sample=_shown(best)))


def _believable(reading: Reading, samples: Sequence[Sample]) -> bool:
    """Are the values free of markup?  Texts that all end alike, or hold other keys, were cut in the wrong place."""
    offered = {t.name: t for s in samples for t in s.tools}
    calls = [call for cells in reading.cells for cell in cells for call in cell.calls]
    values = [(offered[name], key, value) for name, given in calls for key, value in given.items()]
    texts = {v for _, _, v in values if isinstance(v, str)}
    marked = [m for run in (beginning(list(texts)), ending(list(texts))) for m in run.marks if SIGN.fullmatch(m)]
    held = sum(isinstance(v, str) and _stands(tool, v, key) for tool, key, v in values)
    return not (len(texts) > 2 and marked) and held * 8 <= len(values)


def _worth(learned: LearnedRow) -> tuple[int, int, int]:
    """Samples explained first, then calls read, then brevity."""
    return learned.explained, sum(len(r.calls) for r in learned.reads if not r.why), -_size(learned.dialect)


def _size(row: Dialect) -> int:
    """How much a row says: the length of its marks."""
    args = sum(len(str(getattr(row.args, field))) for field in row.args.__slots__)
    spans = (row.section, row.call, row.tool, row.body)
    return args + sum(len(s) + 4 for one in spans for side in (one.open, one.close) for s in side) + len(row.tool_re)


# ── proof ────────────────────────────────────────────────────────────────────


def _judged(row: Dialect, reading: Reading, samples: Sequence[Sample], busy: Sequence[bool]) -> LearnedRow:
    """How the row reads the samples; where calls seem to stand (`busy`), reading none explains nothing."""
    found = [
        _reads(row, sample, tuple(call for cell in cells for call in cell.calls))
        for sample, cells in zip(samples, reading.cells, strict=True)
    ]
    found = [replace(r, why=MISSED) if b and not r.calls and not r.why else r for r, b in zip(found, busy, strict=True)]
    return LearnedRow(dialect=row, reads=tuple(found))


def _reads(row: Dialect, sample: Sample, seen: Sequence[Written]) -> Reads:
    parsed = parse(sample.text, tools=sample.tools, dialects=[row])
    calls = tuple((c.name, dict(c.arguments)) for c in parsed.calls)
    expected = sample.meant if sample.meant is not None else seen
    why = _differs(calls, expected, said=sample.meant is not None)
    why = why or _left_over(parsed, row, sample) or _not_written(row, parsed, sample)
    return Reads(sample=sample, calls=calls, left=parsed.text.strip(), why=why)


def _differs(calls: Sequence[Written], expected: Sequence[Written], *, said: bool) -> str:
    """Why these calls are not the ones that stand there; those without arguments are found by the row alone."""
    mine, theirs = ([_key(c) for c in some if said or c[1]] for some in (calls, expected))
    if mine == theirs:
        return ""
    if len(mine) != len(theirs):
        return f"{len(theirs)} calls stand there, {len(mine)} are read"
    return next(f"read as {a}, not {b}" for a, b in zip(mine, theirs, strict=True) if a != b)


def _key(call: Written) -> str:
    return f"{call[0]} {json.dumps(call[1], sort_keys=True, ensure_ascii=False, default=str)}"


def _left_over(parsed: Parsed, row: Dialect, sample: Sample) -> str:
    """What of the row's own markup, or of a call, is still in the text."""
    issues = [i for i in parsed.issues if i.kind is not IssueKind.NOISE]
    if issues:
        return f"an issue is raised: {issues[0].message}"
    spans = (row.section, row.call, row.tool, row.body)
    marks = {m.strip() for s in spans for side in (s.open, s.close) for m in side[:1] if "{name}" not in m}
    left = next((m for m in sorted(marks) if len(m) > 2 and m in parsed.text), "")
    if left:
        return f"the mark {left!r} is left in the text"
    torn = bool(parsed.calls) and _seems_to_call(replace(sample, text=parsed.text))
    return "a call seems left in the text" if torn else ""


def _seems_to_call(sample: Sample) -> bool:
    """Do a tool's name and one of its keys, marked, stand in a text, or a name that markup touches?"""
    return any(
        t.name in sample.text and (_stands(t, sample.text) or _given(t, sample.text) or _touched(t, sample.text))
        for t in sample.tools
    )


def _given(tool: Tool, text: str) -> bool:
    """Does a line begin with a key of the tool and a sign, behind its name, or is a key given a value in a line?"""
    keys = "|".join(map(re.escape, tool.parameters.get("properties", {})))
    behind = text[text.find(tool.name) :]
    return bool(keys) and re.search(rf"(?m)^[ \t]*(?:{keys})[ \t]*[:=]|[ \t](?:{keys})[:=]+[^\s:=]", behind) is not None


def _touched(tool: Tool, text: str) -> bool:
    """Does a sign that prose does not put there stand right before the name, or right behind it?"""
    name = re.escape(tool.name)
    return re.search(rf"[{TOUCHES}]{name}(?!\w)|(?<!\w){name}(?:[{TOUCHES}]|\((?!\)))", text) is not None


def _stands(tool: Tool, text: str, beside: str = "") -> bool:
    """Does a key of the tool stand in a text as markup would hold it: a sign right before it, and one right behind?"""
    keys = [re.escape(key) for key in tool.parameters.get("properties", {}) if key != beside]
    return bool(keys) and re.search(rf"[^\w\s./-](?:{'|'.join(keys)})[^\w\s./,-]", text) is not None


def _not_written(row: Dialect, parsed: Parsed, sample: Sample) -> str:
    """Why what the row writes of these calls is not read back, "" where it is."""
    try:
        text = render(parsed.calls, row, tools=sample.tools)
    except Unrenderable:
        return ""  # a value its markup cannot carry is refused, not written otherwise
    again = parse(text, tools=sample.tools, dialects=[row]).calls
    return "" if _plain(again) == _plain(parsed.calls) else "what the row writes of these calls is not read back"


def _plain(calls: Sequence[ToolCall]) -> list[str]:
    return [_key((c.name, dict(c.arguments))) for c in calls]


# ── rows that are there already ──────────────────────────────────────────────


def _already_read(best: LearnedRow, samples: Sequence[Sample], known: Sequence[Dialect]) -> list[str]:
    """The names of the rows that read every sample as the learned one does."""
    if not known:
        return []
    names: dict[str, int] = {}
    for mine, sample in zip(best.reads, samples, strict=True):
        parsed = parse(sample.text, tools=sample.tools, dialects=known)
        calls = tuple((c.name, dict(c.arguments)) for c in parsed.calls)
        if mine.why:
            continue
        if _differs(calls, mine.calls, said=True) or _squeezed(parsed.text) != _squeezed(mine.left):
            return []
        for call in parsed.calls:
            if call.report is not None:
                names[call.report.dialect] = names.get(call.report.dialect, 0) + 1
    return sorted(names, key=lambda n: -names[n])


def _reader(samples: Sequence[Sample], known: Sequence[Dialect]) -> tuple[str, int]:
    """The row of `known` that reads calls in the most samples, and in how many."""
    found: dict[str, int] = {}
    for sample in samples if known else ():
        calls = parse(sample.text, tools=sample.tools, dialects=known).calls
        for name in {call.report.dialect for call in calls if call.report is not None}:
            found[name] = found.get(name, 0) + 1
    best = max(found, key=found.__getitem__, default="")
    return best, found.get(best, 0)


def _squeezed(text: str) -> str:
    return "".join(text.split())


# ── what is said ─────────────────────────────────────────────────────────────


def _shown(learned: LearnedRow) -> str:
    """One call as the row writes it."""
    for reads in learned.reads:
        if reads.calls and not reads.why:
            calls = [ToolCall(id="call_0", name=n, arguments=a) for n, a in reads.calls[:1]]
            try:
                return render(calls, learned.dialect, tools=reads.sample.tools)
            except Unrenderable:
                continue
    return ""


def _too_few(samples: Sequence[Sample]) -> str:
    names = sum(any(t.name in s.text for t in s.tools) for s in samples)
    if not names:
        return (
            f"in none of the {len(samples)} samples stands the name of a tool that was offered; "
            "give the tools under the names the model was told, and outputs in which it calls them"
        )
    marked = sum(map(_seems_to_call, samples))
    if marked >= LEAST:
        return (
            f"{marked} of the {len(samples)} samples hold a tool's name and its keys in no notation that a row can say "
            "(JSON, Python calls, braces, YAML, attributes, a tag or an element for each argument); "
            "open an issue with the samples"
        )
    return (
        f"{names} of the {len(samples)} samples name a tool; fewer than {LEAST} calls with arguments were found; "
        "give about a dozen outputs with calls, of several tools and with several arguments"
    )


def _unexplained(best: LearnedRow | None, samples: Sequence[Sample], known: Sequence[Dialect]) -> str:
    if best is None:
        return "calls were found, but nothing marks them that a row could hold; open an issue with the samples"
    reasons = [f"{r.sample.id}: {r.why}" for r in best.reads if r.why]
    name, count = _reader(samples, known)
    if count >= LEAST and count >= ENOUGH * len(samples):
        reads = f"the built-in dialect {name!r} reads calls in {count} of the {len(samples)} samples"
        if all(sample.meant is None for sample in samples):
            return f"{reads}, and no row can be made that reads more; use it by that name"
        return (
            f"{reads}, said to hold others ({'; '.join(reasons[:3])}); use it by that name, or mend the calls that the "
            "samples say they hold"
        )
    return (
        f"no row explains these samples: the best reads {best.explained} of {len(samples)} "
        f"({'; '.join(reasons[:3])}); leave out outputs that were cut or hold no call, give more of one kind at a time,"
        " or open an issue with the samples"
    )
