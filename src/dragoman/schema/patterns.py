"""The cost of a schema's regular expressions: a client, or an MCP server, may send any.

Knows how much compiling a pattern takes; nothing of what it means.
Contract: all patterns of a schema together are compiled in a fraction of a second, however they are written; one that
would take longer says nothing, as if it were not there.  Matching takes time linear in the text, or gives up: that is
the engine's own promise.
"""

from __future__ import annotations

import re
from functools import cache
from math import prod
from typing import Any

BUDGET = 50_000
"""Microseconds of compiling, about, that one schema may ask for."""
SIZE = 2 * 1024 * 1024
"""Bytes of a compiled pattern; ten thousand letters of any alphabet need so much."""
PER_CHARACTER = 2
PER_CLASS = 40
"""Microseconds for one more copy of a class of characters in a repetition: `.`, `\\w`, `[^"]` hold most of Unicode."""
PER_PROPERTY = 1600
"""As above, for `\\p{L}` and its like: hundreds of ranges."""
REPEATED = re.compile(r"\{(\d{1,9})(?:,(\d{0,9}))?\}")


def cost(pattern: str) -> int:
    """About how many microseconds compiling `pattern` takes, at least."""
    copies = [int(found[2] or found[1]) for found in REPEATED.finditer(pattern)]
    times = prod(copies) if "){" in pattern else sum(copies)
    each = PER_PROPERTY if r"\p" in pattern or r"\P" in pattern else PER_CLASS
    return len(pattern) * PER_CHARACTER + times * each


class Budget:
    """Compiling that one schema may still ask for."""

    def __init__(self) -> None:
        self._left = BUDGET

    def affords(self, pattern: str) -> bool:
        """Is there enough left for `pattern`?  Then it is spent."""
        price = cost(pattern)
        if price > self._left:
            return False
        self._left -= price
        return True


def affordable(plain: dict[str, Any]) -> dict[str, Any]:
    """`plain`, a schema of plain containers that nobody else holds, without the patterns beyond its budget."""
    budget = Budget()
    nodes: list[Any] = [plain]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += node
        elif isinstance(node, dict):
            if isinstance(node.get("pattern"), str) and not budget.affords(node["pattern"]):
                del node["pattern"]
            keyed = node.get("patternProperties")
            if isinstance(keyed, dict):
                node["patternProperties"] = {p: value for p, value in keyed.items() if budget.affords(p)}
            nodes += node.values()
    return plain


@cache
def options() -> Any:
    """Settings of the engine's pattern compiler."""
    # Loaded when first needed, as in schema.py.
    import jsonschema_rs as engine  # noqa: PLC0415

    return engine.FancyRegexOptions(size_limit=SIZE, dfa_size_limit=SIZE)
