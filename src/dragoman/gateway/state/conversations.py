"""Conversations that clients of OpenAI's API keep here: `conv_…`, its metadata, its items.

Knows shelves and items; nothing of models or HTTP.  Contract: known only to its owner; what several requests add at
the same time is all there, each request's items together; limits are those of the API.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...effects import Machine
from ...errors import CodecError, ErrorKind, ProviderError
from ...io.ids import mint
from ...jsontext import dumps
from ...turn.shared_cache import retain
from ...types import NOTHING, JsonObject
from .contents import Contents, Ref, as_item
from .shelf import Shelf

API = "openai_responses"
MOST_METADATA, LONGEST_NAME, LONGEST_VALUE = 16, 64, 512
MOST_AT_ONCE = 20
"""Items that one request may add (OpenAI's reference, conversations)."""
MOST_ITEMS = 10_000
NO_CONVERSATION = "Conversation with id '{id}' not found; create one, or send the whole input"
NO_ITEM = "Item with id '{id}' not found in this conversation; list its items to see which there are"
HOLE = "an item of this conversation is not kept here any more; begin a new one with the items you have"
TOO_LONG = f"a conversation holds at most {MOST_ITEMS} items; begin a new one"
NO_METADATA = "metadata must be an object of at most 16 texts (names up to 64 characters, values up to 512); send less"
NO_ITEMS = f"items must be a list of at most {MOST_AT_ONCE} items, each an object; send fewer at a time"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: when it was made (seconds since 1970), what its client notes of it, and its items."""

    id: str
    created_at: int
    metadata: JsonObject = NOTHING
    items: tuple[Ref, ...] = ()

    def shown(self) -> dict[str, Any]:
        """As the API shows it."""
        known = {"id": self.id, "object": "conversation", "created_at": self.created_at}
        return {**known, "metadata": dict(self.metadata)}


class Conversations:
    """All conversations; their items are among `contents`."""

    def __init__(self, shelf: Shelf, contents: Contents) -> None:
        self._shelf, self._contents = shelf, contents

    def create(self, body: JsonObject, owner: str, now: float) -> Machine[Conversation]:
        """A new one, as `body` says.  Raises CodecError."""
        items = read_items(body.get("items"))
        metadata = read_metadata(body.get("metadata"))
        refs, rows = self._contents.keep(items, owner)
        made = Conversation(mint("conv_"), int(now), metadata, refs)
        yield from retain({**rows, **self._shelf.rows(owner, {made.id: _write(made)})})
        return made

    def get(self, name: str, owner: str) -> Machine[Conversation]:
        """The one called `name`.  Raises ProviderError (404)."""
        text = yield from self._shelf.one(owner, name)
        if text is None:
            raise _missing(NO_CONVERSATION, name)
        return _read(text)

    def update(self, name: str, body: JsonObject, owner: str) -> Machine[Conversation]:
        """The same with other metadata.  Raises CodecError, ProviderError (404)."""
        metadata = read_metadata(body.get("metadata"))
        return (yield from self._change(name, owner, lambda known: replace(known, metadata=metadata)))

    def delete(self, name: str, owner: str) -> Machine[dict[str, Any]]:
        """Forget it; its items may stand elsewhere too.  Raises ProviderError (404)."""
        yield from self.get(name, owner)
        yield from self._shelf.drop(owner, name)
        return {"id": name, "object": "conversation.deleted", "deleted": True}

    # ── items ────────────────────────────────────────────────────────────────

    def items(self, conversation: Conversation, owner: str) -> Machine[list[dict[str, Any]]]:
        """Its items, the oldest first.  Raises ProviderError where one is kept no more."""
        items = yield from self._contents.read(conversation.items, owner)
        if items is None:
            raise ProviderError(HOLE, status=404, kind=ErrorKind.NOT_FOUND, code="item_not_found")
        return items

    def item(self, name: str, item: str, owner: str) -> Machine[dict[str, Any]]:
        """One of its items.  Raises ProviderError (404)."""
        refs = [ref for ref in (yield from self.get(name, owner)).items if ref.id == item]
        found = (yield from self._contents.read(refs[:1], owner)) if refs else None
        if not found:
            raise _missing(NO_ITEM, item)
        return found[0]

    def add(self, name: str, items: Iterable[JsonObject], owner: str) -> Machine[list[dict[str, Any]]]:
        """Add these at its end; they are given as they are kept.  Raises ProviderError (404), CodecError."""
        made = [as_item(item) for item in items]
        refs, rows = self._contents.keep(made, owner)
        yield from retain(rows)
        yield from self.append(name, refs, owner)
        return made

    def append(self, name: str, refs: Sequence[Ref], owner: str) -> Machine[None]:
        """Add items that are kept already.  Raises ProviderError (404), CodecError."""

        def more(known: Conversation) -> Conversation:
            there = {ref.id for ref in known.items}
            added = tuple(ref for ref in refs if ref.id not in there)
            if len(known.items) + len(added) > MOST_ITEMS:
                raise CodecError(TOO_LONG, "items", API)
            return replace(known, items=(*known.items, *added))

        yield from self._change(name, owner, more)

    def remove(self, name: str, item: str, owner: str) -> Machine[Conversation]:
        """Take one item out.  Raises ProviderError (404)."""

        def less(known: Conversation) -> Conversation:
            left = tuple(ref for ref in known.items if ref.id != item)
            if len(left) == len(known.items):
                raise _missing(NO_ITEM, item)
            return replace(known, items=left)

        return (yield from self._change(name, owner, less))

    def _change(self, name: str, owner: str, change: Callable[[Conversation], Conversation]) -> Machine[Conversation]:
        made: list[Conversation] = []

        def changed(text: str | None) -> str:
            if text is None:
                raise _missing(NO_CONVERSATION, name)
            made[:] = [change(_read(text))]
            return _write(made[-1])

        yield from self._shelf.change(owner, name, changed)
        return made[-1]


def read_items(given: Any) -> list[dict[str, Any]]:
    """The items a request adds.  Raises CodecError."""
    items = [] if given is None else given
    if not isinstance(items, list) or len(items) > MOST_AT_ONCE or not all(isinstance(one, Mapping) for one in items):
        raise CodecError(NO_ITEMS, "items", API)
    return [as_item(item) for item in items]


def read_metadata(given: Any) -> JsonObject:
    """What a client notes.  Raises CodecError."""
    metadata = {} if given is None else given
    fits = isinstance(metadata, Mapping) and len(metadata) <= MOST_METADATA
    if not fits or not all(isinstance(value, str) and _short(name, value) for name, value in metadata.items()):
        raise CodecError(NO_METADATA, "metadata", API)
    return dict(metadata)


def _short(name: str, value: str) -> bool:
    return len(name) <= LONGEST_NAME and len(value) <= LONGEST_VALUE


def _missing(message: str, name: str) -> ProviderError:
    return ProviderError(message.format(id=name[:80]), status=404, kind=ErrorKind.NOT_FOUND, code="not_found")


def _write(known: Conversation) -> str:
    return dumps([known.id, known.created_at, dict(known.metadata), [list(ref) for ref in known.items]])


def _read(text: str) -> Conversation:
    name, created, metadata, items = json.loads(text)
    return Conversation(name, created, metadata, tuple(Ref(*ref) for ref in items))
