"""Every row of the table has vectors, and every vector holds whole, in pieces, alone and among all dialects.

A line of `tests/vectors/dialects/NAME.jsonl` is `id`, `source`, `tools`, `prefix`, `text` → `calls`, `content`,
`reasoning`, `issues` (their kinds; leaked framing is not listed).  Optional: `finish`, why the text ended; `verdicts`
of the calls; `blind`, what is otherwise where nobody said which dialect this is.  The texts are written by hand after
the source named, not by `render`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman.dialects import DIALECTS
from dragoman.dialects.engine.parsed import fold
from dragoman.providers.families import order
from tests.support.dialect_vectors import FOLDER, MARKS, WORD, check, check_strict, heard_blind, stream, vectors, whole

ROWS = pytest.mark.parametrize("name", list(DIALECTS))
LEAST = 5
SEED = 20
CUTS = 40
"""Prefixes tried of each text; the slow test tries every one."""
FRAMING = MARKS | {"print", "weathercity", "files", "uses", "recipient_name", "functions", "function_call", "cdata", "item", "apos", "quot", "6124c78e"}
"""Words of markup that no row spells out: sections, list items, entities, a checkpoint's suffix."""


def cut(text: str, chance: random.Random) -> list[str]:
    places = sorted(chance.sample(range(len(text) + 1), min(6, len(text))))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@ROWS
def test_every_row_has_vectors_with_ids_and_sources(name: str) -> None:
    found = vectors(name)
    assert len(found) >= LEAST
    assert len({v["id"] for v in found}) == len(found)
    assert all(v["id"].startswith(name) and v["source"] for v in found)
    assert any(v["calls"] for v in found)
    assert any(not v["calls"] and "truncated" in v["issues"] for v in found)
    assert any(not v["calls"] and v["content"] == v["text"] for v in found)


def test_every_vector_belongs_to_a_row() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.jsonl")) == sorted(DIALECTS)


@ROWS
def test_each_vector_is_read_by_its_own_dialect(name: str) -> None:
    for v in vectors(name):
        check(v, whole(v, name))


@ROWS
def test_each_vector_is_read_the_same_among_all_dialects(name: str) -> None:
    for v in heard_blind(name):
        check(v, whole(v))


@ROWS
def test_each_vector_is_read_the_same_in_any_pieces(name: str) -> None:
    chance = random.Random(SEED)
    for v in heard_blind(name):
        for pieces in (list(v["text"]), cut(v["text"], chance), cut(v["text"], chance)):
            events = stream(v, "auto", pieces)
            check_strict(events)
            check(v, fold(events))


@pytest.mark.parametrize("model", ["qwen3-coder", "glm-4.6", "gpt-oss", "gemma-4-31b", "deepseek-r1"])
@pytest.mark.costly
def test_the_order_of_a_profile_loses_nothing(model: str) -> None:
    for name in DIALECTS:
        for v in heard_blind(name):
            check(v, whole(v, order(model)))


def prefixes(v: dict[str, Any], ends: Iterator[int]) -> None:
    for end in ends:
        events = stream(v | {"finish": None}, "auto", [v["text"][:end]])
        check_strict(events)
        runs = [call.name for call in fold(events).calls]
        assert len(runs) <= len(v["calls"]), (v["id"], end)


@ROWS
def test_a_beginning_of_a_vector_runs_nothing_more(name: str) -> None:
    chance = random.Random(SEED)
    for v in heard_blind(name):
        if v["calls"] or "truncated" in v["issues"]:
            size = len(v["text"])
            prefixes(v, iter(chance.sample(range(size), min(CUTS, size))))


@pytest.mark.slow
@ROWS
def test_every_beginning_of_a_vector_runs_nothing_more(name: str) -> None:
    for v in heard_blind(name):
        if v["calls"] or "truncated" in v["issues"]:
            prefixes(v, iter(range(len(v["text"]))))


@ROWS
def test_no_word_of_a_vector_is_lost(name: str) -> None:
    for v in heard_blind(name):
        parsed = whole(v)
        found = parsed.text + parsed.reasoning + "".join(issue.raw for issue in parsed.issues)
        found += "".join(f" {c.id} {c.name} {json.dumps(c.arguments, ensure_ascii=False)}" for c in parsed.calls)
        lost = [w for w in WORD.findall(v["text"]) if w not in found and w.casefold() not in FRAMING]
        assert not lost, v["id"]


def test_without_tools_nothing_of_any_vector_runs() -> None:
    for name in DIALECTS:
        for v in vectors(name):
            assert whole(v | {"tools": []}).calls == ()
