"""Headers of a trace: taken from a client's request, and put on every request to a provider.

Knows effects and the W3C's Trace Context; nothing of spans.  Contract: what is not well-formed is not passed on.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any

from ...effects import Effect, Open, PerformAsync

TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
TRACESTATE = re.compile(r"[ -~]{1,512}")


def trace_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of the trace that a request belongs to, as they are passed on."""
    parent = headers.get("traceparent", "")
    if not parent or not TRACEPARENT.fullmatch(parent):
        return {}
    state = headers.get("tracestate", "")
    return {"traceparent": parent} | ({"tracestate": state} if TRACESTATE.fullmatch(state) else {})


def with_headers(perform: PerformAsync, headers: Mapping[str, str]) -> PerformAsync:
    """`perform`, with what `headers` hold by then on every request it sends."""

    def performed(effect: Effect) -> Awaitable[Any]:
        if headers and isinstance(effect, Open):
            effect = replace(effect, headers={**effect.headers, **headers})
        return perform(effect)

    return performed
