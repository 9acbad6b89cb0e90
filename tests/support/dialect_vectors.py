"""The vectors of the dialects: read from their files, played through the parser, compared; and the laws of its events."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest

from dragoman.dialects import DIALECTS, Parsed, Parser
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.spec import Strength
from dragoman.events import CallDelta, CallEnded, CallStarted, Event
from dragoman.types import IssueKind
from tests.support import places


def check_strict(stream: list[Event]) -> None:
    """Calls begin, grow and end in order, and each one's deltas are strict JSON."""
    open_calls: dict[int, str] = {}
    for event in stream:
        match event:
            case CallStarted(index, call_id, name):
                assert call_id
                assert name
                open_calls[index] = ""
            case CallDelta(index, piece):
                open_calls[index] += piece
            case CallEnded(index):
                json.loads(open_calls.pop(index), parse_constant=pytest.fail)
            case _:
                pass
    assert not open_calls


WORD = re.compile(r"[A-Za-z0-9]{4,}")
MARKS = {w.casefold() for d in DIALECTS.values() for w in WORD.findall(d.sample + repr(d))} | {"think"}
FOLDER = places.VECTORS / "dialects"


@cache
def vectors(name: str) -> tuple[dict[str, Any], ...]:
    file = FOLDER / f"{name}.jsonl"
    lines = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
    return tuple(json.loads(line) for line in lines if line)


def heard_blind(name: str) -> list[dict[str, Any]]:
    """The vectors of a row that listens unasked."""
    return [] if DIALECTS[name].strength is Strength.ASKED else [v | v.get("blind", {}) for v in vectors(name)]


def stream(v: dict[str, Any], dialects: Any, pieces: list[str]) -> list[Event]:
    parser = Parser(tools=v["tools"], prefix=v["prefix"], finish_reason=v.get("finish"), dialects=dialects)
    return [e for piece in pieces for e in parser.feed(piece)] + parser.close()


def whole(v: dict[str, Any], dialects: Any = "auto") -> Parsed:
    return fold(stream(v, dialects, [v["text"]]))


def outcome(parsed: Parsed) -> dict[str, Any]:
    """What a vector says of a text."""
    return {
        "calls": [{"name": call.name, "arguments": dict(call.arguments)} for call in parsed.calls],
        "doubtful": [{"name": call.name, "arguments": dict(call.arguments)} for call in parsed.doubtful],
        "content": parsed.text,
        "reasoning": parsed.reasoning,
        "issues": [str(issue.kind) for issue in parsed.issues if issue.kind is not IssueKind.NOISE],
        "verdicts": [str(call.report.verdict) for call in parsed.calls if call.report],
    }


def check(v: dict[str, Any], parsed: Parsed) -> None:
    found = outcome(parsed)
    wanted = {key: v.get(key, found[key]) for key in found}
    # as JSON text: 1 is not 1.0, nor true
    assert json.dumps(found, ensure_ascii=False) == json.dumps(wanted, ensure_ascii=False), v["id"]
