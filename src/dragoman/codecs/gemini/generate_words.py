"""The words of Gemini's answers: why one stopped, and what it cost.

Knows these; no part of an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import NOTHING, JsonObject, Stop, Usage
from ..shared.body import count

STOPS: Mapping[str, Stop] = {
    "STOP": Stop.END,
    "FINISH_REASON_UNSPECIFIED": Stop.END,
    "UNEXPECTED_TOOL_CALL": Stop.END,  # the call is there (recorded); whether its tool is known is not for us to say
    "MAX_TOKENS": Stop.LENGTH,
    "SAFETY": Stop.FILTERED,
    "RECITATION": Stop.FILTERED,
    "LANGUAGE": Stop.FILTERED,
    "BLOCKLIST": Stop.FILTERED,
    "PROHIBITED_CONTENT": Stop.FILTERED,
    "SPII": Stop.FILTERED,
    "IMAGE_SAFETY": Stop.FILTERED,
    "MALFORMED_FUNCTION_CALL": Stop.ERROR,
    "OTHER": Stop.ERROR,
}
NUMBERED: Mapping[str, str] = {"1": "STOP", "2": "MAX_TOKENS", "3": "SAFETY", "4": "RECITATION", "5": "OTHER"}
"""Words that Vertex over gRPC writes as numbers (recorded); those above stand for other words at Google's two APIs."""
WORDS: Mapping[Stop | None, str] = {
    None: "STOP",
    Stop.END: "STOP",
    Stop.TOOL_CALLS: "STOP",
    Stop.STOP_SEQUENCE: "STOP",
    Stop.PAUSE: "STOP",
    Stop.LENGTH: "MAX_TOKENS",
    Stop.FILTERED: "SAFETY",
    Stop.REFUSED: "SAFETY",
    Stop.ERROR: "OTHER",
}
_USAGE = (
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    "totalTokenCount",
)


def read_usage(usage: JsonObject) -> Usage | None:
    """Token counts in the words of this API, which counts thoughts apart; None when there are none."""
    if not any(usage.get(key) is not None for key in _USAGE):
        return None
    thinking = count(usage.get("thoughtsTokenCount"))
    return Usage(
        input=count(usage.get("promptTokenCount")) + count(usage.get("toolUsePromptTokenCount")),
        output=count(usage.get("candidatesTokenCount")) + thinking,
        cached=count(usage.get("cachedContentTokenCount")),
        reasoning=thinking,
    )


def write_usage(usage: Usage | None, left: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """The field of an answer that says what it cost."""
    if usage is None:
        return {}
    if left and read_usage(left) == usage:
        return {"usageMetadata": dict(left)}  # as the provider counted
    tools = count(left.get("toolUsePromptTokenCount"))
    wire = {
        **left,
        "promptTokenCount": max(0, usage.input - tools),
        "candidatesTokenCount": max(0, usage.output - usage.reasoning),
        "totalTokenCount": usage.total,
    }
    wire |= {"thoughtsTokenCount": usage.reasoning} if usage.reasoning else {}
    wire |= {"cachedContentTokenCount": usage.cached} if usage.cached else {}
    return {"usageMetadata": wire}
