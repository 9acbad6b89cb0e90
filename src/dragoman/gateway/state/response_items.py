"""Items of recent answers by id: a client of Responses may send an answer back as a reference to its items.

A cache of bounded size, of one process or of several.  Contract: a reference that is known becomes the item it stands
for; one that is not is refused with the words of the API itself, for a conversation with a hole is no conversation.
Items are known only to the owner who got them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...codecs.shared.spec import Unsupported
from ...effects import Address, Machine
from ...jsontext import dumps
from ...turn.shared_cache import Shared, SharedCache
from ...types import JsonObject

MAX_BYTES, NEAR_BYTES = 64 * 1024 * 1024, 4 * 1024 * 1024
"""Bytes of this process alone, and of what it has at hand of that which a store keeps for all."""
ENTRY = 500
"""Bytes that keeping an item takes beside its text: many small ones would else take several times the limit."""
AT_ONCE = 256
"""References looked up together: a request with one that is not known is not looked through to its end."""
LOST = "the item {id!r} is not kept here any more; send the whole item, or set store to false so that clients do"


class Items:
    """The latest items, up to about `limit` bytes; `shared` where other processes have some too."""

    def __init__(self, limit: int = 0, shared: Shared[str] | None = None) -> None:
        self._cache = SharedCache(limit or (NEAR_BYTES if shared else MAX_BYTES), _size, shared)

    def keep(self, body: JsonObject, owner: str = "") -> dict[Address, str]:
        """Keep the items of a whole answer; what others are to keep of them is given."""
        items = [item for item in body.get("output", ()) if isinstance(item, Mapping)]
        texts = {_key(owner, item["id"]): dumps(item) for item in items if isinstance(item.get("id"), str)}
        return self._cache.keep(texts)

    def resolve(self, body: JsonObject, api: str, owner: str = "") -> Machine[JsonObject]:
        """`body` with its references replaced by what they stand for.  Raises Unsupported for one that is not kept."""
        given = body.get("input")
        if not isinstance(given, list | tuple):
            return body
        names = list(dict.fromkeys(str(item["id"]) for item in given if _refers(item)))
        if not names:
            return body
        items = yield from self._known(names, owner)
        return {**body, "input": [_item(n, item, items, api) for n, item in enumerate(given)]}

    def _known(self, names: Sequence[str], owner: str) -> Machine[dict[str, Any]]:
        """The items of these names; looked up no further than some that are not all kept."""
        items: dict[str, Any] = {}
        for first in range(0, len(names), AT_ONCE):
            some = {name: _key(owner, name) for name in names[first : first + AT_ONCE]}
            found = yield from self._cache.get(list(some.values()))
            items |= {name: json.loads(found[key]) for name, key in some.items() if key in found}
            if len(items) < first + len(some):
                break
        return items


def _item(place: int, item: Any, items: Mapping[str, Any], api: str) -> Any:
    if not _refers(item):
        return item
    name = str(item["id"])
    if name not in items:
        raise Unsupported(LOST.format(id=name[:80]), f"$.input[{place}].id", api, {"code": "item_not_found"})
    return items[name]


def _size(written: str) -> int:
    return len(written) + ENTRY


def _key(owner: str, name: str) -> str:
    return f"{owner}\0{name}"


def _refers(item: Any) -> bool:
    """Is it a reference?  Some clients leave the type away: an id and nothing else is one too."""
    return isinstance(item, Mapping) and "id" in item and (item.get("type") == "item_reference" or set(item) == {"id"})
