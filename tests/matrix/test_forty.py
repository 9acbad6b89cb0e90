"""Forty hard cells, written before any was run: effort, thinking that goes round, files, marks, searches, answers' extras."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.effects import Open
from dragoman.providers.rows import PROVIDERS
from dragoman.sim.scripted import Answer
from tests.support.asgi import call
from tests.support.cells import FRONTS, gone_on
from tests.support.gateways import PATHS

from .rules import cells, is_right
from .running import PLAIN, TOLD, TOLD_FIELDS, chosen, gateway, said
from .table import BACKENDS, C, R

NAMES = {front: name for name, front in FRONTS.items()}
CELLS = {cell["id"]: cell for cell in cells()}
OTHERWISE = {
    "named-pdf-ollama": "it is told by its place (messages[0].parts[0]), which the cell's words do not name",
}
"""What is not right by the cell's own words, and why."""


def _answer(cell: Any, opened: Open) -> bytes:
    codec = PROVIDERS[BACKENDS[cell["backend"]]].codec
    if cell["id"] == "enum-gemini-chat":
        return said(codec, chosen(opened.body.decode()))
    return json.dumps(cell["answer"]).encode() if "answer" in cell else said(codec, "ok")


def outcome(cell: Any) -> tuple[Any, Any, str, bool]:
    """What was sent last, what the client held first, what it was told, and whether it was refused."""
    front, kind = cell["front"], {"content-type": "application/json"}
    app, peer = gateway(cell["backend"], cell["model"], lambda opened: Answer((_answer(cell, opened),), headers=kind))
    body = {**PLAIN[front], **cell["request"]}
    if cell.get("echo") and front == R:
        body["input"] = [{"role": "user", "content": "hi"}]
    reply = call(app, PATHS[front], body)
    got = reply.json if reply.status == 200 else None
    if cell.get("echo") and got is not None:
        app, peer = gateway(cell["backend"], cell["model"], lambda opened: Answer((_answer(cell, opened),), headers=kind))
        reply = call(app, PATHS[front], gone_on(NAMES[front], body, got, "all"))
    told = " ".join(reply.headers.get(name, "") for name in (TOLD, TOLD_FIELDS))
    return (json.loads(peer.sent[0].body) if peer.sent else None), got, told, reply.status >= 400


@pytest.mark.parametrize("name", CELLS)
def test_a_hard_cell_is_right(name: str) -> None:
    sent, got, told, refused = outcome(CELLS[name])
    assert is_right(CELLS[name], sent, got, told, refused=refused) == (name not in OTHERWISE), (sent, told)


def test_there_are_forty_of_every_kind() -> None:
    assert len(CELLS) == 40
    assert {cell["item"] for cell in CELLS.values()} == {1, 2, 3, 4, 5}
    assert C in {cell["front"] for cell in CELLS.values()}
