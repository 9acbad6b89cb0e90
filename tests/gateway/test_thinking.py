"""Thinking over the gateway: what clients of one API wish of it, and echo of it, at models behind another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cells import FRONTS, faults
from tests.support.gateways import ASKS

FOLDER = Path(__file__).parents[1] / "vectors" / "wires"
WAYS = ("all", "no_reasoning", "no_ids", "only_ids")


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


CELLS = _rows("thinking.jsonl")
BACKENDS = _rows("thinking_backends.jsonl")


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell["id"])
def test_a_wish_to_think_arrives_as_the_model_takes_it(cell: dict[str, Any]) -> None:
    assert faults(cell) == []


# ── the model gets back what it must, whatever its client gives back ─────────

CALLS_ONLY = {"gemini 3", "gemini 3 parallel"}


def _carried(row: dict[str, Any], front: str, way: str) -> bool:
    """Does what such a client gives back hold what the model needs, without our memory?"""
    if row["native"] == front:  # a client of the model's own API gives it back by its own words, or not at all
        return way in {"all", "no_ids"}
    if way == "no_ids" and row["id"] in CALLS_ONLY:
        return front in {"chat", "gemini"}  # where a call has a field of its own beside its id
    return (front, way) != ("ollama", "no_ids")  # where nothing but text comes back


def _asked(front: str) -> dict[str, Any]:
    request = json.loads(json.dumps(ASKS[FRONTS[front]]).replace("look", "weather").replace('"at"', '"city"'))
    if front == "responses":
        request["input"] = [{"role": "user", "content": request["input"]}]
    return {**request, "max_tokens": 20000} if front == "anthropic" else request


def _cell(row: dict[str, Any], front: str, way: str, *, fresh: bool) -> dict[str, Any]:
    return {**row, "front": front, "request": _asked(front), "way": way, "fresh": fresh}


streamed_or_whole = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
every_front = pytest.mark.parametrize("front", FRONTS)
every_way = pytest.mark.parametrize("way", WAYS)
every_backend = pytest.mark.parametrize("row", BACKENDS, ids=lambda row: row["id"])


def _is_streamable(row: dict[str, Any], *, stream: bool) -> bool:
    return not stream or row["backend"] != "bedrock"


SELF_CARRIED = [
    pytest.param(row, front, way, stream, id=f"{row['id']}-{front}-{way}-{'streamed' if stream else 'whole'}")
    for row in BACKENDS
    for front in FRONTS
    for way in WAYS
    for stream in (False, True)
    if _carried(row, front, way) and _is_streamable(row, stream=stream)
]


@pytest.mark.parametrize(("row", "front", "way", "stream"), SELF_CARRIED)
def test_thinking_comes_back_without_our_memory(row: dict[str, Any], front: str, way: str, stream: bool) -> None:
    assert faults(_cell(row, front, way, fresh=True), stream=stream) == []


@streamed_or_whole
@every_way
@every_front
@every_backend
def test_thinking_comes_back_from_our_memory(row: dict[str, Any], front: str, way: str, stream: bool) -> None:
    if not _is_streamable(row, stream=stream):
        pytest.skip("Bedrock's event stream is written by no hand here")
    assert faults(_cell(row, front, way, fresh=False), stream=stream) == []
