"""Values that are read already: which of them may stand as text, and whether an object says one key twice.

Knows JSON's values; nothing of reading them piece by piece.
"""

from __future__ import annotations

import json
from typing import Any

from ..late import late
from ..types import Edit
from .notation import Repeated

STRING, NUMBER = late(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'), late(r"-?\d[\d.eE+-]*")
SCHEMA_WORDS = frozenset(
    {"type", "description", "enum", "default", "items", "properties", "required", "title", "format"}
)
"""Keys of a value's schema."""


def may_be_text(value: Any) -> bool:
    """Is this a list or an object, and not the schema of the value that should stand here?"""
    if isinstance(value, dict):
        return "type" not in value or not SCHEMA_WORDS.issuperset(value)
    return isinstance(value, list)


def as_text(value: Any, written: str = "") -> tuple[str, list[Edit]]:
    """A list or an object as its JSON text, for a tool that wants a string and reads JSON out of it.

    Where it is at hand as strict JSON, no number is spelt in another way than it is `written`, and a key of two values
    is `Repeated`.
    """
    if written:
        check_repeated(written)
    spaced = json.dumps(value, ensure_ascii=False)
    same = not written or NUMBER.findall(STRING.sub("", written)) == NUMBER.findall(STRING.sub("", spaced))
    return spaced if same else written, [Edit("json_text")]


def check_repeated(written: str) -> Any:
    """The value of strict JSON; `Repeated` where an object in it gives one key two values (judge-rules.md, head)."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in items:
            if key in found and found[key] != value:
                raise Repeated(f"the key {key[:40]!r} is given twice with different values")
            found[key] = value
        return found

    return json.loads(written, object_pairs_hook=pairs)
