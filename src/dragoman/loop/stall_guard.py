"""Does a run still get anywhere?  Turns that bring nothing new are counted.

Knows calls and results.  A turn brings nothing new when each of its calls was made before in this run and had the very
same result then: identity of the call *and* of the result, so that waiting for something that changes is no loop
(peers.md pain 11: 220 identical calls in one run).
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..turn.composer import identity
from ..types import Text, ToolCall, ToolResult


class Guard:
    """Counts turns in a row that brought nothing new."""

    stale: int

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()
        self.stale = 0

    def note(self, pairs: Iterable[tuple[ToolCall, ToolResult]]) -> int:
        """The calls of one turn with their results; how many turns in a row have been alike, this one included."""
        now = {(identity(call), _result(result)) for call, result in pairs}
        if now:
            self.stale = self.stale + 1 if now <= self._seen else 1
            self._seen |= now
        return self.stale


def _result(result: ToolResult) -> str:
    content = [p.text if isinstance(p, Text) else [p.mime, p.data, p.url] for p in result.content]
    return json.dumps([content, result.is_error, result.error_code], default=str)
