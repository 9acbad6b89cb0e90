"""Items of Responses by what they say: what stands in many answers and conversations is kept once.

Knows items as JSON; nothing of models.  Contract: a reference is an item's id and the digest of its content; the item
it stands for is known only to its owner, for as long as there is room; a conversation with a hole is none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...effects import Address, Machine
from ...io.ids import mint
from ...jsontext import dumps
from ...records import NamedTuple
from ...turn.shared_cache import Shared, SharedCache
from ...types import JsonObject
from .response_items import MAX_BYTES, NEAR_BYTES
from .shelf import ENTRY, key_of

DIGEST = 16
PREFIXES: Mapping[str, str] = {
    "message": "msg", "reasoning": "rs", "function_call": "fc", "function_call_output": "fco",
    "custom_tool_call": "ctc", "custom_tool_call_output": "ctco", "compaction": "cmp",
}  # fmt: skip
"""How the ids of items begin, by type; others begin with `item`."""
SPOKEN = {"assistant": "output_text"}
"""How a text of this role is called; others are `input_text`."""


class Ref(NamedTuple):
    """An item: its id, and the digest of what it says."""

    id: str
    digest: str


class Contents:
    """The latest items, up to about `limit` bytes; `shared` where other processes have some too."""

    def __init__(self, shared: Shared[str] | None = None, limit: int = 0) -> None:
        limit = limit or (NEAR_BYTES if shared else MAX_BYTES)
        self._cache = SharedCache(limit, lambda text: len(text) + ENTRY, shared)

    def keep(self, items: Iterable[JsonObject], owner: str) -> tuple[tuple[Ref, ...], dict[Address, str]]:
        """Keep these items, each of which has an id; what others are to keep of them is given too."""
        written = [(str(item["id"]), dumps(item)) for item in items]
        made = [(Ref(name, _digest(text)), text) for name, text in written]
        rows = self._cache.keep({key_of(owner, ref.digest): text for ref, text in made})
        return tuple(ref for ref, _ in made), rows

    def read(self, refs: Sequence[Ref], owner: str) -> Machine[list[dict[str, Any]] | None]:
        """The items, in order; None where one of them is kept no more."""
        keys = [key_of(owner, ref.digest) for ref in refs]
        found = yield from self._cache.get(list(dict.fromkeys(keys)))
        return [json.loads(found[key]) for key in keys] if all(key in found for key in keys) else None


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).hexdigest()


def as_items(given: Any) -> list[dict[str, Any]]:
    """The input of a request as items with ids, in the form in which the API lists them."""
    if given is None:
        return []
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return [as_item(item) for item in items if isinstance(item, Mapping)]


def as_item(item: JsonObject) -> dict[str, Any]:
    """One item with its type, its status and an id; a message's text as a part."""
    kind = str(item.get("type") or "message")
    made = {**item, "type": kind}
    if not isinstance(made.get("id"), str) or not made["id"]:
        made["id"] = mint(f"{PREFIXES.get(kind, 'item')}_")
    if kind == "message":
        made.setdefault("status", "completed")
        if isinstance(made.get("content"), str):
            made["content"] = [_part(made["content"], str(made.get("role")))]
    return made


def _part(text: str, role: str) -> dict[str, Any]:
    word = SPOKEN.get(role, "input_text")
    return {"type": word, "text": text} | ({"annotations": []} if word == "output_text" else {})
