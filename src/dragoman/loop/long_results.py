"""Results that are too long for the model, kept whole for as long as the run lasts, and the tool that reads on in them.

Knows how results are shortened (`tools/truncation.py`).  Contract: deterministic; the tool is there once a result was
shortened and not before, so that runs without long results send the same tools as ever; what it gives is never too
long itself.
"""

from __future__ import annotations

from collections.abc import Container

from ..tools import Runnable, Shortener, read_more
from ..types import ToolResult

NAME = "read_more"
ROOM = 100
"""Characters kept free for the line that says how to go on."""


class Archive:
    """The long results of one run.  `limit` is in characters; `taken` are the names of the run's own tools."""

    def __init__(self, limit: int | None, taken: Container[str] = ()) -> None:
        self._limit = limit
        self._whole: dict[str, str] = {}
        self._name = next(name for n in range(1, 1000) if (name := NAME if n == 1 else f"{NAME}_{n}") not in taken)

    def shown(self, result: ToolResult) -> ToolResult:
        """`result` as the model gets it: whole, or shortened and kept."""
        if self._limit is None:
            return result
        return Shortener(self._whole, self._limit, self._name)(result, f"r{len(self._whole) + 1}")

    def tools(self) -> dict[str, Runnable]:
        """The tool that reads on, by its name; none while nothing was shortened."""
        if self._limit is None or not self._whole:
            return {}
        return {self._name: read_more(self._whole, self._limit - ROOM, self._name)}
