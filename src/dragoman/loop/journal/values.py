"""Our records as JSON text and back: what a journal holds.

Knows the records of a closed table and JSON; nothing of files.  Contract: `decode(encode(x)) == x` for those records
and for all JSON, tuples staying tuples; anything else is a `TypeError`.  Nothing that is read is ever run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from ...codecs.shared.spec import WireFields
from ...errors import ErrorCode
from ...events import (
    CallDelta,
    CallEnded,
    CallStarted,
    Ended,
    IssueReported,
    PartAdded,
    PartEnded,
    ReasoningDelta,
    Reclassified,
    Started,
    TextDelta,
)
from ...types import (
    Edit,
    Issue,
    IssueKind,
    Media,
    Message,
    Opaque,
    OutputSchema,
    Reasoning,
    Report,
    Response,
    Sampling,
    Stop,
    Text,
    Tier,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
    Verdict,
)
from ..policy import Allowed, Denied, Edited

RECORDS: Mapping[str, Callable[..., Any]] = {
    record.__name__: record
    for record in (
        Allowed, Denied, Edited, ErrorCode, CallDelta, CallEnded, CallStarted, Ended, IssueReported, PartAdded,
        PartEnded, ReasoningDelta, Reclassified, Started, TextDelta, Edit, Issue, IssueKind, Media, Message, Opaque,
        OutputSchema, Reasoning, Report, Response, Sampling, Stop, Text, Tier, Tool, ToolCall, ToolChoice, ToolResult,
        Usage, Verdict,
    )
}  # fmt: skip
"""Everything that is told by name."""
MARK = "!"
"""The key that says what an object is; an object of the user's own with this key is told as pairs."""
TUPLE, PAIRS, WIRE, VALUE, API = "tuple", "pairs", "wire", "is", "api"


def encode(value: Any) -> str:
    """`value` as JSON text.  Raises TypeError for what is no such value."""
    return json.dumps(_plain(value), separators=(",", ":"))


def decode(written: str) -> Any:
    """The value of a text that `encode` wrote.  Raises ValueError for any other."""
    try:
        return _made(json.loads(written))
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"not a journal's value: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return {MARK: _name(value), VALUE: value.value}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        held = {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.init}
        return {MARK: _name(value), **held}
    if isinstance(value, tuple):
        return {MARK: TUPLE, VALUE: [_plain(each) for each in value]}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, WireFields):
        return {MARK: WIRE, API: value.api, VALUE: _plain(dict(value))}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        if MARK in value:
            return {MARK: PAIRS, VALUE: [[key, _plain(held)] for key, held in value.items()]}
        return {key: _plain(held) for key, held in value.items()}
    raise TypeError(f"a journal cannot hold a {type(value).__name__}")


def _name(value: Any) -> str:
    name = type(value).__name__
    if RECORDS.get(name) is not type(value):
        raise TypeError(f"a journal cannot hold a {name}")
    return name


def _made(value: Any) -> Any:
    if isinstance(value, list):
        return [_made(each) for each in value]
    if not isinstance(value, dict):
        return value
    if MARK not in value:
        return {key: _made(held) for key, held in value.items()}
    name = value.pop(MARK)
    if name == TUPLE:
        return tuple(_made(each) for each in value[VALUE])
    if name == PAIRS:
        return {key: _made(held) for key, held in value[VALUE]}
    if name == WIRE:
        return WireFields(value[API], _made(value[VALUE]))
    record = RECORDS[name]
    return record(value[VALUE]) if VALUE in value else record(**{key: _made(held) for key, held in value.items()})
