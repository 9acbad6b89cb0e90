"""Answers of Responses that clients may come back to: by id, by `previous_response_id`, through a conversation.

Knows bodies of requests and answers, shelves and items; nothing of models, wires or HTTP.  Contract: state is put into
the request itself, so that every backend is asked alike; an answer is known only to its owner, and from the moment its
last event goes out; instructions are never inherited; what cannot be found is refused in the words of the API, for a
conversation with a hole is no conversation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...codecs.shared.spec import Unsupported
from ...errors import CodecError, ErrorKind, ProviderError
from ...jsontext import dumps
from ...types import NOTHING, JsonObject
from .contents import Contents, Ref, as_items
from .conversations import Conversations
from .response_items import Items
from .shelf import Shelf

API = "openai_responses"
PREVIOUS, CONVERSATION = "previous_response_id", "conversation"
STATE = frozenset({PREVIOUS, CONVERSATION})
"""Fields that say where the state of a request is kept; no backend gets them."""
NOT_FOUND = "Previous response with id '{id}' not found. Send the whole input instead"
NO_RESPONSE = "Response with id '{id}' not found; it was not stored, is kept no more, or is another key's: ask again"
BOTH = "Mutually exclusive parameters: give either 'previous_response_id' or 'conversation', not both"
NO_ID = "{field} must be the id of one; send a text"


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that is kept: its body, and the items it was asked with and answered with."""

    body: JsonObject
    asked: tuple[Ref, ...] = ()
    output: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Opening:
    """A request with its state in it: `fields` are what its answer says of that.

    `before` are the items its state brought, `given` those it brought itself; `store` whether its answer is kept.
    """

    body: JsonObject
    fields: JsonObject = NOTHING
    before: tuple[Ref, ...] = ()
    given: tuple[Mapping[str, Any], ...] = ()
    conversation: str = ""
    store: bool = True
    owner: str = field(default="", repr=False)

    @property
    def keeps(self) -> bool:
        """Is the answer kept, under its id or in a conversation?"""
        return self.store or bool(self.conversation)


class Responses:
    """All of it; `items` are those that clients may refer to one by one."""

    def __init__(self, shelf: Shelf, items: Items, contents: Contents, conversations: Conversations) -> None:
        self._shelf, self._items, self._contents = shelf, items, contents
        self.conversations = conversations

    # ── around one request ───────────────────────────────────────────────────

    def opening(self, body: JsonObject, owner: str) -> Opening:
        """The request with what it refers to.  Raises CodecError, ProviderError."""
        body = self._items.resolve(body, API, owner)
        store = body.get("store") is not False
        previous, conversation = _named(body, PREVIOUS), _conversation(body)
        if previous and conversation:
            raise Unsupported(BOTH, PREVIOUS, API, {"code": "mutually_exclusive_parameters"})
        if not (store or previous or conversation):
            return Opening(_without_state(body), {"store": False}, store=False, owner=owner)
        refs, items = self._before(previous, conversation, owner)
        given = as_items(body.get("input")) if _is_readable(body.get("input")) else []
        whole = {**_without_state(body), "input": [*items, *given]} if items else _without_state(body)
        fields: dict[str, Any] = {"store": store, PREVIOUS: previous or None}
        if conversation:
            fields[CONVERSATION] = {"id": conversation}
        return Opening(whole, fields, refs, tuple(given), conversation, store, owner)

    def _before(self, previous: str, conversation: str, owner: str) -> tuple[tuple[Ref, ...], list[dict[str, Any]]]:
        """The items that stand before those of the request."""
        if conversation:
            known = self.conversations.get(conversation, owner)
            return known.items, self.conversations.items(known, owner)
        if not previous:
            return (), []
        kept = self.find(previous, owner)
        refs = (*kept.asked, *kept.output) if kept is not None else ()
        items = self._contents.read(refs, owner) if kept is not None else None
        if items is None:
            message = NOT_FOUND.format(id=previous[:80])
            raise Unsupported(message, PREVIOUS, API, {"code": "previous_response_not_found"})
        return refs, items

    def close(self, opening: Opening, body: JsonObject) -> None:
        """The answer of a request is complete, and `opening.keeps`: keep it."""
        owner = opening.owner
        output = [item for item in body.get("output", ()) if isinstance(item, Mapping) and item.get("id")]
        given = self._contents.keep(opening.given, owner)
        said = self._contents.keep(output, owner)
        if opening.store:
            self._items.keep(body, owner)
            self.put(Kept(body, (*opening.before, *given), said), owner)
        if opening.conversation:
            self.conversations.append(opening.conversation, (*given, *said), owner)

    # ── answers by id ────────────────────────────────────────────────────────

    def put(self, kept: Kept, owner: str) -> None:
        """Keep this answer under its id."""
        refs = [[list(ref) for ref in some] for some in (kept.asked, kept.output)]
        self._shelf.put(owner, {str(kept.body["id"]): dumps([dict(kept.body), *refs])})

    def find(self, name: str, owner: str) -> Kept | None:
        """The answer called `name`, None where there is none."""
        text = self._shelf.one(owner, name)
        if text is None:
            return None
        body, *refs = json.loads(text)
        return Kept(body, *(tuple(Ref(*ref) for ref in some) for some in refs))

    def get(self, name: str, owner: str) -> Kept:
        """The answer called `name`.  Raises ProviderError (404)."""
        kept = self.find(name, owner)
        if kept is None:
            raise missing(name)
        return kept

    def delete(self, name: str, owner: str) -> dict[str, Any]:
        """Forget it.  Raises ProviderError (404)."""
        self.get(name, owner)
        self._shelf.drop(owner, name)
        return {"id": name, "object": "response", "deleted": True}

    def asked(self, refs: Sequence[Ref], name: str, owner: str) -> list[dict[str, Any]]:
        """The items an answer was asked with, the oldest first.  Raises ProviderError (404)."""
        items = self._contents.read(refs, owner)
        if items is None:
            raise missing(name)
        return items


def missing(name: str) -> ProviderError:
    """The error of an answer that is not kept."""
    return ProviderError(NO_RESPONSE.format(id=name[:80]), status=404, kind=ErrorKind.NOT_FOUND)


def _without_state(body: JsonObject) -> JsonObject:
    return body if STATE.isdisjoint(body) else {key: value for key, value in body.items() if key not in STATE}


def _named(body: JsonObject, name: str) -> str:
    value = body.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise CodecError(NO_ID.format(field=name), name, API)


def _conversation(body: JsonObject) -> str:
    """The conversation a request belongs to: its id, or an object with it."""
    value = body.get(CONVERSATION)
    return _named({"conversation": value.get("id")} if isinstance(value, Mapping) else body, CONVERSATION)


def _is_readable(given: Any) -> bool:
    """Is it an input?  What is not is refused by the codec, with its place."""
    return given is None or isinstance(given, str) or (isinstance(given, list) and all(map(_is_object, given)))


def _is_object(item: Any) -> bool:
    return isinstance(item, Mapping)
