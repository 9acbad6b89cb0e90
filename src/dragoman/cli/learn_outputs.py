"""`dragoman learn --samples`: what came of learning from outputs, shown and written.

Knows the form of a row's file and of a file of vectors; how a row is learned is `dialects/learning/outputs`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import click

from ..dialects.learning.outputs import LearnedRow, Sample, learn_from_outputs, samples_of, vectors_of
from ..dialects.rows.record import to_record
from ..dialects.rows.table import DIALECTS
from .inputs import name as source_name
from .inputs import read_text
from .outputs import print_json
from .rows import lines, shown

NAME = re.compile(r"[A-Za-z0-9_-][\w.-]{0,63}", re.ASCII)
WRITE_NAME = "write letters, digits, '-', '_' and '.', for two files get it (--into says where)"
SOURCE = "learned by dragoman from {count} outputs"
WIDEST = 100


def read_samples(source: IO[str]) -> tuple[Sample, ...]:
    """Outputs of a model out of a file: one JSON value, or JSON Lines."""
    text = read_text(source)
    try:
        value = json.loads(text)
    except ValueError:
        value = [_line(line, n, source) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    return samples_of([value] if isinstance(value, dict) and "samples" not in value else value)


def _line(line: str, number: int, source: IO[str]) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise click.BadParameter(f"line {number} of {source_name(source)} is not JSON: {error}") from error


def run(samples: Sequence[Sample], name: str, into: Path, *, as_json: bool) -> None:
    """Learn, print, and write `NAME.json` and `NAME.vectors.jsonl`; files that are there are left alone."""
    if not NAME.fullmatch(name):
        raise click.UsageError(f"--name {name!r} is no name of a dialect; {WRITE_NAME}")
    if name in DIALECTS:
        raise click.UsageError(f"--name {name!r} is a built-in dialect; choose another name")
    row_file, vectors_file = into / f"{name}.json", into / f"{name}.vectors.jsonl"
    for path in (row_file, vectors_file):
        if path.exists():
            raise click.UsageError(f"{path} is there already; choose another --name, or move it away")
    learned = learn_from_outputs(samples, name=name)
    source = SOURCE.format(count=len(samples))
    into.mkdir(parents=True, exist_ok=True)
    row_file.write_text(json.dumps(to_record(learned.dialect), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    written = [json.dumps(vector, ensure_ascii=False) for vector in vectors_of(learned, source)]
    vectors_file.write_text("\n".join(written) + "\n", encoding="utf-8")
    if as_json:
        print_json(_as_json(learned, row_file, vectors_file))
        return
    for line in (*lines(learned.dialect), *_samples(learned)):
        click.echo(line)
    click.echo(f"written    {row_file}: use it as a dialect (dragoman parse --dialect {row_file})")
    click.echo(f"written    {vectors_file}: {len(written)} test vectors; read them before you trust them")


def _samples(learned: LearnedRow) -> Iterator[str]:
    """How each sample is read."""
    count = len(learned.reads)
    yield f"explains   {learned.explained} of {count} samples"
    for number, reads in enumerate(learned.reads, 1):
        calls = "; ".join(f"{n}({json.dumps(a, ensure_ascii=False)})" for n, a in reads.calls) or "no call"
        yield f"  {number:>3} {'-' if reads.why else '+'} {_cut(calls)}"
        if reads.left:
            yield f"        text  {_cut(shown(reads.left))}"
        if reads.why:
            yield f"        why   {_cut(shown(reads.why))}"


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _as_json(learned: LearnedRow, row_file: Path, vectors_file: Path) -> dict[str, Any]:
    samples = [
        {"id": r.sample.id, "calls": [{"name": n, "arguments": a} for n, a in r.calls], "left": r.left, "why": r.why}
        for r in learned.reads
    ]
    files = {"row": str(row_file), "vectors": str(vectors_file)}
    return {"dialect": to_record(learned.dialect), "explained": learned.explained, "samples": samples, "files": files}
