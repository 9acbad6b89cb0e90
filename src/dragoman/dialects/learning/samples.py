"""The calls a learner asks to be written, and what a voice is asked for them.

Every name, key and value is a word no template contains, so that it is found again in what is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...types import Tool, ToolCall
from .marks import prefix, suffix
from .voice import Voice

ALPHA, BETA = "qx_alpha", "qx_beta"
KEY, OTHER, VALUE, SECOND = "qxkone", "qxktwo", "qxvone", "qxvtwo"
FIRST_ID, SECOND_ID = "qxidone01", "qxidtwo02"
"""Nine letters and digits: Mistral's templates refuse any other id."""
TYPES: Mapping[str, Any] = {
    KEY: {"type": "string"},
    OTHER: {"type": "string"},
    "qxknumber": {"type": "integer"},
    "qxkratio": {"type": "number"},
    "qxkflag": {"type": "boolean"},
    "qxkmany": {"type": "array", "items": {"type": "string"}},
    "qxkdeep": {"type": "object", "properties": {"qxkin": {"type": "string"}, "qxksize": {"type": "integer"}}},
    "qxknone": {"type": ["string", "null"]},
}
PLAIN = (KEY, OTHER, "qxknumber")
"""The types every template can list."""


def _tools(types: Mapping[str, Any]) -> tuple[Tool, ...]:
    described = {key: {**schema, "description": "qxq"} for key, schema in types.items()}
    schema = {"type": "object", "properties": described, "required": []}
    return tuple(Tool(name=name, description="qxq", parameters=schema) for name in (ALPHA, BETA))


TOOLS = _tools(TYPES)
SHOWN = (TOOLS, _tools({key: TYPES[key] for key in PLAIN}))


def _call(name: str, arguments: Mapping[str, Any], call_id: str = FIRST_ID) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


ONE = _call(ALPHA, {KEY: VALUE})
TWO = _call(ALPHA, {KEY: VALUE, OTHER: SECOND})
EMPTY = _call(ALPHA, {})
NEXT = _call(BETA, {OTHER: SECOND}, SECOND_ID)
EMPTY_NEXT = _call(ALPHA, {}, SECOND_ID)
TYPED = _call(ALPHA, {KEY: "007", "qxknumber": 42, "qxkratio": 1.5, "qxkflag": True})
DEEP = _call(ALPHA, {"qxkmany": ["qxa", "qxb"], "qxkdeep": {"qxkin": "qxc", "qxksize": 3}})
NULL = _call(ALPHA, {KEY: VALUE, "qxknone": None})
QUOTED = _call(ALPHA, {KEY: 'one "two"\nthree \\ <b>four</b> \'five\' ünï'})


def body(voice: Voice, calls: Sequence[ToolCall], text: str = "", reasoning: str = "") -> str:
    """A turn without what every turn begins and ends with."""
    turn = voice.turn(calls, text, reasoning)
    inner = turn[len(prefix(voice.header, turn)) :]
    return inner[: len(inner) - len(suffix(voice.trailer, inner))] if voice.trailer else inner
