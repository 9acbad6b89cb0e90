"""Arguments as elements that need no looking for their ends: `<city>Oslo</city>`, no sign of markup in any value.

Knows tags; does not know schemas, and decides nothing on what may follow a call.

Contract: what it finds, the reader of `elements.py` would read to the same values and the same end, unless closers too
many follow the last one; the rest it leaves.
"""

from __future__ import annotations

from collections.abc import Collection

from ...late import late
from ...lenient.source import SPACE
from ...records import NamedTuple

ELEMENT = late(rf"{SPACE.pattern}<(?P<key>\w[\w.-]*+)>(?P<text>[^<]*+)</(?P=key)>")
BEHIND = late(rf"{SPACE.pattern}(?=</)")


class Plain(NamedTuple):
    """One element: its name, what it holds, where it ends."""

    key: str
    text: str
    end: int


def plain_elements(text: str, at: int, closers: tuple[str, ...], keys: Collection[str]) -> list[Plain]:
    """The elements from here to one of the closers, each named by one of the keys and none twice; none where any is
    not so."""
    found: list[Plain] = []
    left = set(keys)
    while (one := ELEMENT.match(text, at)) is not None and one["key"] in left:
        at = one.end()
        left.discard(one["key"])
        found.append(Plain(one["key"], one["text"], at))
    behind = BEHIND.match(text, at)
    closed = behind is not None and text.startswith(closers, behind.end())
    return found if closed and all(mark.startswith("</") for mark in closers) else []
