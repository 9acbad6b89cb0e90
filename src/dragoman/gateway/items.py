"""What was told lately, by its id: a client of Responses may send an answer back as a reference to its items.

A cache of bounded size, one per process.  Contract: a reference that is known becomes the item it stands for; one that
is not is refused with the words of the API itself, for a conversation with a hole is no conversation.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ..codecs.spec import Unsupported
from ..events import dumps
from ..types import JsonObject

MAX_BYTES = 64 * 1024 * 1024
LOST = "the item {id!r} is not kept here any more; send the whole item, or set store to false so that clients do"


class Items:
    """The items told last, up to `limit` bytes of them."""

    def __init__(self, limit: int = MAX_BYTES) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[str, tuple[JsonObject, int]] = OrderedDict()

    def keep(self, body: JsonObject) -> None:
        """Keep the items of a whole answer."""
        for item in body.get("output", ()):
            if isinstance(item, Mapping) and isinstance(item.get("id"), str):
                self._put(item["id"], item)

    def _put(self, name: str, item: JsonObject) -> None:
        size = len(dumps(item))
        _, before = self._kept.pop(name, ({}, 0))
        self._kept[name] = (item, size)
        self._size += size - before
        while self._size > self._limit and self._kept:
            _, (_, gone) = self._kept.popitem(last=False)
            self._size -= gone

    def resolve(self, body: JsonObject, api: str) -> JsonObject:
        """`body` with its references replaced by what they stand for.  Raises Unsupported for one that is not kept."""
        given = body.get("input")
        if not isinstance(given, list) or not any(map(_refers, given)):
            return body
        return {**body, "input": [self._item(n, item, api) for n, item in enumerate(given)]}

    def _item(self, place: int, item: Any, api: str) -> Any:
        if not _refers(item):
            return item
        name = str(item["id"])
        if name not in self._kept:
            raise Unsupported(LOST.format(id=name[:80]), f"$.input[{place}].id", api, {"code": "item_not_found"})
        self._kept.move_to_end(name)
        return self._kept[name][0]


def _refers(item: Any) -> bool:
    """Is it a reference?  Some clients leave the type away: an id and nothing else is one too."""
    return isinstance(item, Mapping) and "id" in item and (item.get("type") == "item_reference" or set(item) == {"id"})
