"""Batches: as many rows out as in, in their order, by one schema, whatever they hold."""

from __future__ import annotations

import json

import pytest

from dragoman.batch.formats.table import FORMATS, ROWS

pytest.importorskip("pyarrow")
from dragoman.batch.arrow import COLUMNS, judge_batch, raw_batch, schema

POISON = [b"\xff", b"[" * 5000, b"{}", b"null", b'{"messages":[{"role":"user","content":"\\ud800"}]}', b'{"a":1e999}']


def test_every_row_comes_out_in_its_place() -> None:
    rows = [form.sample.encode() for form in ROWS] + POISON
    judged = judge_batch(raw_batch(rows, "here"))
    assert judged.schema == schema()
    assert judged.column("orig").to_pylist() == rows
    assert judged.column("offset").to_pylist() == list(range(len(rows)))
    assert judged.schema.names == [name for name, _ in COLUMNS]


def test_nested_values_are_json_text() -> None:
    [row] = judge_batch(raw_batch([FORMATS["openai"].sample.encode()])).to_pylist()
    assert json.loads(row["messages"])[1]["tool_calls"][0]["function"]["arguments"] == '{"a":1}'
    assert json.loads(row["tools"])[0]["function"]["name"] == "f"
    assert row["verdict"] == "ok"


def test_poison_is_broken_and_says_why() -> None:
    judged = judge_batch(raw_batch(POISON)).to_pylist()
    assert {row["verdict"] for row in judged} == {"broken"}
    assert all(row["error"] and row["codes"] for row in judged)
