"""The cost of a schema's regular expressions: a client, or an MCP server, may send any.

Knows how much compiling and matching a pattern takes; nothing of what it means.
Contract: all patterns of a schema together are compiled in a fraction of a second, however they are written, and
matching takes time linear in the text: the engine has no backtracking but for patterns that look around or refer back.
Of these a schema may have a few, which are tried on texts up to `LONGEST` characters with so many steps back.  What
would take longer says nothing, as if it were not there.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import prod
from typing import Any

from ..late import late

BUDGET = 50_000
"""Microseconds of compiling, about, that one schema may ask for."""
SIZE = 2 * 1024 * 1024
"""Bytes of a compiled pattern; ten thousand letters of any alphabet need so much."""
PER_CHARACTER = 2
PER_CLASS = 40
"""Microseconds for one more copy of a class of characters in a repetition: `.`, `\\w`, `[^"]` hold most of Unicode."""
PER_PROPERTY = 1600
"""As above, for `\\p{L}` and its like: hundreds of ranges."""
LONGEST = 1000
"""Characters of a text on which a pattern is tried that may go back in it."""
STEPS = 5000
"""Steps back that it may take: some milliseconds."""
PER_RETURN = 5000
"""Microseconds that it costs, for it may be tried on every text of a value."""
GAVE_UP = "Error executing regex"
"""What the engine's word for a pattern begins with that took too many steps."""
PLAIN = late(r"(?:[^\\(+*?}]|\\[^1-9kgGKz]|\((?!\?)|\(\?:|[+*?}](?!\+))*+")
"""Patterns without anything that may look around or refer back."""
REPEATED = late(r"\{(\d{1,9})(?:,(\d{0,9}))?\}")


def cost(pattern: str) -> int:
    """About how many microseconds compiling `pattern` takes, at least."""
    copies = [int(found[2] or found[1]) for found in REPEATED.finditer(pattern)]
    times = prod(copies) if "){" in pattern else sum(copies)
    each = PER_PROPERTY if r"\p" in pattern or r"\P" in pattern else PER_CLASS
    return len(pattern) * PER_CHARACTER + times * each


@lru_cache(maxsize=1024)
def is_linear(pattern: str) -> bool:
    """Does matching take time linear in the text, whatever the text?"""
    if PLAIN.fullmatch(pattern) is not None:
        return True
    # Loaded when first needed, as in validation.py.
    import jsonschema_rs as engine  # noqa: PLC0415

    try:
        engine.validator_for({"pattern": pattern}, pattern_options=engine.RegexOptions(size_limit=SIZE))
    except ValueError:
        return False
    return True


class Budget:
    """Compiling and matching that one schema may still ask for."""

    def __init__(self) -> None:
        self._left = BUDGET

    def affords(self, pattern: str) -> bool:
        """Is there enough left for `pattern`?  Then it is spent."""
        price = cost(pattern)
        if price <= self._left and not is_linear(pattern):
            price += PER_RETURN
        if price > self._left:
            return False
        self._left -= price
        return True


def affordable(plain: dict[str, Any]) -> dict[str, Any]:
    """`plain`, a schema of plain containers that nobody else holds, without the patterns beyond its budget.

    Every place counts, for a reference may lead anywhere.
    """
    budget = Budget()
    nodes: list[Any] = [plain]
    while nodes:
        node = nodes.pop()
        if isinstance(node, list):
            nodes += node
        elif isinstance(node, dict):
            nodes += node.values()  # as they were: what is made of a pattern below is bounded already
            if isinstance(node.get("pattern"), str):
                _bound(node, budget)
            if isinstance(node.get("patternProperties"), dict):
                _bound_names(node, budget)
    return plain


def _bound(node: dict[str, Any], budget: Budget) -> None:
    """The pattern of a text: gone where it costs too much, tried on short texts alone where it may go back."""
    pattern = node["pattern"]
    if not budget.affords(pattern):
        del node["pattern"]
    elif not is_linear(pattern):
        del node["pattern"]
        others = node.get("allOf")
        tried = {"if": {"maxLength": LONGEST}, "then": {"pattern": pattern}}
        node["allOf"] = [*(others if isinstance(others, list) else ()), tried]


def _bound_names(node: dict[str, Any], budget: Budget) -> None:
    """The patterns of names.  Without one of them nobody knows which names are others."""
    keyed = node["patternProperties"]
    kept = {p: value for p, value in keyed.items() if is_linear(p) and budget.affords(p)}
    node["patternProperties"] = kept
    if len(kept) < len(keyed):
        for rest in ("additionalProperties", "unevaluatedProperties"):
            node.pop(rest, None)


@cache
def options() -> Any:
    """Settings of the engine's pattern compiler."""
    # Loaded when first needed, as in validation.py.
    import jsonschema_rs as engine  # noqa: PLC0415

    return engine.FancyRegexOptions(backtrack_limit=STEPS, size_limit=SIZE, dfa_size_limit=SIZE)
