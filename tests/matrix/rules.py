"""Is a hard cell right: what was sent, what the client holds, what it was told.

Knows the cells of `forty.jsonl` and paths; imports no gateway, so that others are scored by the same rules.
A cell is right when one list of its `right` holds wholly: `at` a path of the body upstream, `answer` one of what the
client holds (`is`, `in`, `between`, `has`, `absent`), `told` a word of the report, `refused` that it was an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .table import MISSING, at

FORTY = Path(__file__).with_name("forty.jsonl")


def cells() -> list[dict[str, Any]]:
    """The cells."""
    return [json.loads(line) for line in FORTY.read_text().splitlines()]


def is_right(cell: Mapping[str, Any], sent: Any, got: Any, told: str, *, refused: bool) -> bool:
    """Does one of the ways to be right hold?"""
    return any(all(_holds(check, sent, got, told, refused) for check in way) for way in cell["right"])


def _holds(check: Mapping[str, Any], sent: Any, got: Any, told: str, refused: bool) -> bool:
    if "told" in check:
        return check["told"].lower() in told.lower()
    if "refused" in check:
        return refused
    body, path = (sent, check["at"]) if "at" in check else (got, check["answer"])
    return body is not None and all(_fits(at(body, path), kind, wish) for kind, wish in check.items())


def _fits(value: Any, kind: str, wish: Any) -> bool:
    match kind:
        case "is":
            return bool(value == wish) and (not isinstance(wish, bool) or value is wish)
        case "in":
            return value in wish
        case "between":
            return isinstance(value, int | float) and wish[0] <= value <= wish[1]
        case "has":
            return value is not MISSING and wish in (value if isinstance(value, str) else json.dumps(value))
        case "absent":
            return value is MISSING or value is None
    return True
