"""Reasons to stop and token counts in the words of OpenAI Chat Completions, both ways, and how fields add up in chunks.

Knows the words of many peers that speak this API; nothing else of an answer.
Sources: OpenAI API reference; wire-quirks.md ("OpenAI-compatible responses").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import NOTHING, JsonObject, Stop, Usage
from ..shared.body import count, items, mapping, string

STOPS: Mapping[str, Stop] = {
    "stop": Stop.END,
    "eos": Stop.END,
    "tool_calls": Stop.TOOL_CALLS,
    "tool_call": Stop.TOOL_CALLS,  # DeepSeek at Azure (recorded)
    "function_call": Stop.TOOL_CALLS,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "model_length": Stop.LENGTH,  # Mistral
    "content_filter": Stop.FILTERED,
    "sensitive": Stop.FILTERED,  # Z.ai
    "safety": Stop.FILTERED,  # Gemini's words, which proxies hand on in capitals (LiteLLM's map_finish_reason)
    "recitation": Stop.FILTERED,
    "error": Stop.ERROR,  # OpenRouter, Mistral
    "network_error": Stop.ERROR,  # Z.ai
    "insufficient_system_resource": Stop.ERROR,  # DeepSeek
}
WORDS: Mapping[Stop | None, str] = {
    None: "stop",
    Stop.END: "stop",
    Stop.STOP_SEQUENCE: "stop",
    Stop.PAUSE: "stop",
    Stop.TOOL_CALLS: "tool_calls",
    Stop.LENGTH: "length",
    Stop.FILTERED: "content_filter",
    Stop.REFUSED: "content_filter",
    Stop.ERROR: "length",  # no word of OpenAI's says that a server failed, and strict clients know no others
}
_CACHED = ("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens")  # DeepSeek, Kimi, Mistral
_MODELLED_USAGE = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})


def read_usage(usage: JsonObject) -> Usage | None:
    """Token counts in the words of this API; None when there are none."""
    if not [key for key in _MODELLED_USAGE if key in usage and usage[key] is not None]:
        return None
    given = mapping(usage["prompt_tokens_details"]) if "prompt_tokens_details" in usage else NOTHING
    asked, made = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    details = mapping(usage["completion_tokens_details"]) if "completion_tokens_details" in usage else NOTHING
    thought = count(details["reasoning_tokens"]) if "reasoning_tokens" in details else 0
    if thought and count(usage.get("total_tokens")) == asked + made + thought:
        made += thought  # xAI counts thoughts apart; its total says so
    cached = count(given["cached_tokens"]) if "cached_tokens" in given else 0
    cached = cached or next(iter([n for key in _CACHED if key in usage and (n := count(usage[key]))]), 0)
    return Usage(
        input=asked,
        output=made,
        cached=cached,
        cache_written=count(given["cache_write_tokens"]) if "cache_write_tokens" in given else 0,  # OpenRouter
        reasoning=thought,
    )


def write_usage(usage: Usage, left: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """Token counts in the words of this API."""
    if left and read_usage(left) == usage:
        return dict(left)  # as the provider counted
    given = dict(mapping(left.get("prompt_tokens_details")))
    made = dict(mapping(left.get("completion_tokens_details")))
    given |= {k: n for k, n in (("cached_tokens", usage.cached), ("cache_write_tokens", usage.cache_written)) if n}
    made |= {"reasoning_tokens": usage.reasoning} if usage.reasoning else {}
    wire = {
        **left,
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": given,
        "completion_tokens_details": made,
    }
    return {key: value for key, value in wire.items() if value != {}}


def gather(into: dict[str, Any], fields: Mapping[str, Any]) -> None:
    """Collect fields over the chunks: the last value counts, log probabilities and sound add up."""
    for key, value in fields.items():
        before = into.get(key)
        if key == "logprobs" and isinstance(before, Mapping) and isinstance(value, Mapping):
            into[key] = {k: [*items(before.get(k)), *items(value.get(k))] for k in {**before, **value}}
        elif key == "audio" and isinstance(before, Mapping) and isinstance(value, Mapping):
            pieces = {k: string(before.get(k)) + string(value.get(k)) for k in ("data", "transcript") if k in value}
            into[key] = {**before, **value, **pieces}
        elif value is not None:
            into[key] = value
