"""Odd but real rows of public data sets (`tests/vectors/corpora`), written down before the readers were looked at.

Each says its source, and what a stranger expects: the format, the calls, the verdict, and what must not be said of it;
`note` where the house decided otherwise, or where it falls short (`differs`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.batch.formats.losses import losses
from dragoman.batch.formats.table import FORMATS
from dragoman.batch.formats.writing import write
from dragoman.batch.judging.row_judge import Outcome, judge
from dragoman.batch.options import Options
from dragoman.batch.result import RowVerdict
from dragoman.batch.row_json import BadRow
from dragoman.batch.running.work import KEEPS
from tests.support import places

FILE = places.ROOT / "tests" / "vectors" / "corpora" / "public_shapes.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
GOALS = ("openai", "trl", "anthropic", "hermes", "sharegpt", "swift", "mistral", "axolotl")


def judged(row: dict[str, Any]) -> Outcome:
    return judge(json.dumps(row["row"], ensure_ascii=False).encode())


def calls_of(outcome: Outcome) -> list[list[Any]]:
    every = [*outcome.calls, *(call for some in outcome.branches.values() for call in some)]
    return [[call.name, call.arguments] for call in every]


def test_there_are_enough_of_them_and_each_says_where_it_comes_from() -> None:
    assert len(ROWS) >= 150
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(row["source"].startswith("https://") for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_row_is_read_as_a_stranger_expects(row: dict[str, Any]) -> None:
    found = judged(row)
    form = found.form.name if found.form else None
    assert row["format"] in (None, form)
    if row["verdict"] is not None:
        assert str(found.verdict) in row["verdict"].split("|"), (found.findings, found.repairs)
        assert (found.verdict in KEEPS["repaired"]) == row["kept"]
    if row["kept"] and row["calls"] is not None:
        assert calls_of(found) == row["calls"]
    assert not set(row.get("codes_not", ())) & set(found.codes)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("row", [row for row in ROWS if row["kept"]], ids=lambda row: row["id"])
def test_a_row_goes_there_and_back_equal_or_says_what_it_lost(row: dict[str, Any], goal: str) -> None:
    first = judged(row)
    assert first.form is not None
    there, said = written(first, goal)
    if there is None:
        return
    assert calls_of(there) == calls_of(first) or said, said
    if first.form.write is None:
        return
    back, more = written(there, first.form.name)
    if back is not None and not said and not more:
        assert losses(first.chat, back.chat) == []  # type: ignore[arg-type]


def written(outcome: Outcome, goal: str) -> tuple[Outcome | None, set[str]]:
    """The row in another format, read again, and the places of what that format lost; None where it cannot hold it."""
    assert outcome.chat is not None
    try:
        line = write(outcome.chat, FORMATS[goal], Options())
    except BadRow as why:
        assert why.code == "unwritable"  # noqa: PT017
        return None, set()
    back = judge(line, Options(format=goal))
    assert back.chat is not None, (line, back.findings)
    assert back.verdict is not RowVerdict.BROKEN
    return back, {one.path for one in losses(outcome.chat, back.chat)}
