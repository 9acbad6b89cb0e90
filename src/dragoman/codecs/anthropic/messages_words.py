"""Reasons to stop and token counts in the words of Anthropic Messages, both ways.  Knows nothing else of an answer.

Sources: Anthropic API reference; wire-quirks.md ("Anthropic").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import NOTHING, JsonObject, Stop, Usage
from ..shared.body import count, mapping
from ..shared.claude_blocks import Counts, uncached

STOPS: Mapping[str, Stop] = {
    "end_turn": Stop.END,
    "max_tokens": Stop.LENGTH,
    "model_context_window_exceeded": Stop.LENGTH,
    "stop_sequence": Stop.STOP_SEQUENCE,
    "tool_use": Stop.TOOL_CALLS,
    "pause_turn": Stop.PAUSE,
    "compaction": Stop.PAUSE,
    "refusal": Stop.REFUSED,
}
WORDS: Mapping[Stop | None, str] = {
    None: "end_turn",
    Stop.END: "end_turn",
    Stop.ERROR: "end_turn",
    Stop.LENGTH: "max_tokens",
    Stop.STOP_SEQUENCE: "stop_sequence",
    Stop.TOOL_CALLS: "tool_use",
    Stop.PAUSE: "pause_turn",
    Stop.REFUSED: "refusal",
    Stop.FILTERED: "refusal",
}
_COUNTS = Counts("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def read_usage(usage: JsonObject) -> Usage | None:
    """Token counts in the words of this API; None when there are none."""
    return _COUNTS.usage(usage, count(mapping(usage.get("output_tokens_details")).get("thinking_tokens")))


def write_usage(usage: Usage | None, left: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """Token counts in the words of this API; zeros where there are none, for clients count on the fields."""
    if left and usage is not None and read_usage(left) == usage:
        return dict(left)  # as the provider counted
    known = usage or Usage()
    wire: dict[str, Any] = {**left, _COUNTS.input: uncached(known)}
    wire |= {key: n for key, n in ((_COUNTS.written, known.cache_written), (_COUNTS.read, known.cached)) if n}
    wire[_COUNTS.output] = known.output
    if known.reasoning:
        wire["output_tokens_details"] = {"thinking_tokens": known.reasoning}
    return wire
