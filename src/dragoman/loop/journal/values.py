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
    CallDoubted,
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
    WireEvent,
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
        Allowed, Denied, Edited, ErrorCode, CallDelta, CallDoubted, CallEnded, CallStarted, Ended, IssueReported,
        PartAdded, PartEnded, ReasoningDelta, Reclassified, Started, TextDelta, Edit, Issue, IssueKind, Media, Message,
        Opaque, OutputSchema, Reasoning, Report, Response, Sampling, Stop, Text, Tier, Tool, ToolCall, ToolChoice,
        ToolResult, Usage, Verdict, WireEvent,
    )
}  # fmt: skip
"""Everything that is written by name."""
MARK = "!"
"""The key that says what an object is; an object of the user's own with this key is written as pairs."""
NO_VALUE = "a journal cannot hold a {kind}"
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
    if is_dataclass(value) and not isinstance(value, type):
        return {
            MARK: _name(value),
            **{each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.init},
        }
    for kinds, write in WRITERS:
        if isinstance(value, kinds):
            return write(value)
    raise TypeError(NO_VALUE.format(kind=type(value).__name__))


def _plain_mapping(value: Mapping[Any, Any]) -> Any:
    if not all(isinstance(key, str) for key in value):
        raise TypeError(NO_VALUE.format(kind=type(value).__name__))
    if MARK in value:
        return {MARK: PAIRS, VALUE: [[key, _plain(inner)] for key, inner in value.items()]}
    return {key: _plain(inner) for key, inner in value.items()}


WRITERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Enum, lambda value: {MARK: _name(value), VALUE: value.value}),
    ((str, bool, int, float, type(None)), lambda value: value),
    (tuple, lambda value: {MARK: TUPLE, VALUE: [_plain(each) for each in value]}),
    (list, lambda value: [_plain(each) for each in value]),
    (WireFields, lambda value: {MARK: WIRE, API: value.api, VALUE: _plain(dict(value))}),
    (Mapping, _plain_mapping),
)
"""How values of each kind are written; the first that fits."""


def _name(value: Any) -> str:
    name = type(value).__name__
    if RECORDS.get(name) is not type(value):
        raise TypeError(NO_VALUE.format(kind=name))
    return name


def _made(value: Any) -> Any:
    if isinstance(value, list):
        return [_made(each) for each in value]
    if not isinstance(value, dict):
        return value
    if MARK not in value:
        return {key: _made(inner) for key, inner in value.items()}
    name = value.pop(MARK)
    if name in READERS:
        return READERS[name](value)
    record = RECORDS[name]
    return record(value[VALUE]) if VALUE in value else record(**{key: _made(inner) for key, inner in value.items()})


READERS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    TUPLE: lambda value: tuple(_made(each) for each in value[VALUE]),
    PAIRS: lambda value: {key: _made(inner) for key, inner in value[VALUE]},
    WIRE: lambda value: WireFields(value[API], _made(value[VALUE])),
}
