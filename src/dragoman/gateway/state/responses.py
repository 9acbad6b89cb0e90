"""Answers of Responses that clients may come back to: by id, by `previous_response_id`, through a conversation.

Knows bodies of requests and answers, shelves and items; nothing of models, wires or HTTP.  Contract: state is put into
the request itself, so that every backend is asked alike; an answer is known only to its owner, and from the moment its
last event goes out; instructions are never inherited; what cannot be found is refused in the words of the API, for a
conversation with a hole is no conversation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...codecs.shared.spec import Unsupported
from ...effects import Machine
from ...errors import CodecError, ErrorKind, ProviderError
from ...jsontext import dumps
from ...turn.shared_cache import retain
from ...types import NOTHING, JsonObject
from .compaction import expanded
from .contents import Contents, Ref, as_items
from .conversations import Conversations
from .response_items import Items
from .runs import Run, Runs, is_under_way
from .shelf import Shelf

API = "openai_responses"
PREVIOUS, CONVERSATION, BACKGROUND = "previous_response_id", "conversation", "background"
STATE = frozenset({PREVIOUS, CONVERSATION, BACKGROUND, "background_options"})
"""Fields that say where the state of a request is kept, or when it is answered; no backend gets them."""
NOT_FOUND = "Previous response with id '{id}' not found. Send the whole input instead"
NO_RESPONSE = "Response with id '{id}' not found; it was not stored, is kept no more, or is another key's: ask again"
BOTH = "Mutually exclusive parameters: give either 'previous_response_id' or 'conversation', not both"
NO_ID = "{field} must be the id of one; send a text"
RUNNING = "Previous response with id '{id}' is still {status}; wait until it has ended, or cancel it"
NOT_BOOL = "background must be true or false; leave it out for false"
NOT_STORED = "background=true needs store=true, for it is polled for by its id; leave store out"
NO_INPUT = "input must be a text or a list of items; send what is to be said"
NOT_CANCELLED = "only a response that was created with background=true can be cancelled; this one is over"
TOO_LARGE = "this request is too large to be answered in the background; send less, or stream the answer instead"
DIED = "the process that was answering this response ended before it was complete; ask again"


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that is kept: its body, the items it was asked with and answered with; `run` for a background one."""

    body: JsonObject
    asked: tuple[Ref, ...] = ()
    output: tuple[Ref, ...] = ()
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """A request with its state in it: `fields` are what its answer says of that.

    `before` are the items its state brought, `given` those it brought itself; `store` whether its answer is kept,
    `background` whether it is answered while nobody waits.
    """

    body: JsonObject
    fields: JsonObject = NOTHING
    before: tuple[Ref, ...] = ()
    given: tuple[Mapping[str, Any], ...] = ()
    conversation: str = ""
    store: bool = True
    owner: str = field(default="", repr=False)
    background: bool = False

    @property
    def keeps(self) -> bool:
        """Is the answer kept, under its id or in a conversation?"""
        return self.store or bool(self.conversation)


class Responses:
    """All of it; `items` are those that clients may refer to one by one, `runs` are the responses in the background."""

    conversations: Conversations
    runs: Runs

    def __init__(
        self, shelf: Shelf, items: Items, contents: Contents, conversations: Conversations, runs: Runs
    ) -> None:
        self._shelf, self._items, self._contents = shelf, items, contents
        self.conversations, self.runs = conversations, runs

    # ── around one request ───────────────────────────────────────────────────

    def opening(self, body: JsonObject, owner: str) -> Machine[Opening]:
        """The request with what it refers to.  Raises CodecError, ProviderError."""
        body = yield from self._items.resolve(body, API, owner)
        store, background = body.get("store") is not False, _in_background(body)
        previous, conversation = _named(body, PREVIOUS), _conversation(body)
        if previous and conversation:
            raise Unsupported(BOTH, PREVIOUS, API, {"code": "mutually_exclusive_parameters"})
        if background and not store:
            raise Unsupported(NOT_STORED, BACKGROUND, API, {"code": "unsupported_parameter"})
        if not (store or previous or conversation):
            return Opening(expanded(_without_state(body), owner), {"store": False}, store=False, owner=owner)
        refs, items = yield from self._before(previous, conversation, owner)
        given = as_items(body.get("input")) if _is_readable(body.get("input")) else []
        whole = {**_without_state(body), "input": [*items, *given]} if items else _without_state(body)
        fields: dict[str, Any] = {"store": store, PREVIOUS: previous or None}
        fields |= {BACKGROUND: True} if background else {}
        if conversation:
            fields[CONVERSATION] = {"id": conversation}
        return Opening(expanded(whole, owner), fields, refs, tuple(given), conversation, store, owner, background)

    def window(self, body: JsonObject, owner: str) -> Machine[list[dict[str, Any]]]:
        """The items that a request stands for, as they were given.  Raises CodecError, ProviderError."""
        body = yield from self._items.resolve(body, API, owner)
        _, items = yield from self._before(_named(body, PREVIOUS), "", owner)
        if not _is_readable(body.get("input")):
            raise CodecError(NO_INPUT, "input", API)
        return [*items, *as_items(body.get("input"))]

    def _before(
        self, previous: str, conversation: str, owner: str
    ) -> Machine[tuple[tuple[Ref, ...], list[dict[str, Any]]]]:
        """The items that stand before those of the request."""
        if conversation:
            known = yield from self.conversations.get(conversation, owner)
            return known.items, (yield from self.conversations.items(known, owner))
        if not previous:
            return (), []
        kept = yield from self.current(previous, owner)
        if kept is not None and is_under_way(kept.body):
            message = RUNNING.format(id=previous[:80], status=kept.body["status"])
            raise Unsupported(message, PREVIOUS, API, {"code": "previous_response_in_progress"})
        refs = (*kept.asked, *kept.output) if kept is not None else ()
        items = (yield from self._contents.read(refs, owner)) if kept is not None else None
        if items is None:
            message = NOT_FOUND.format(id=previous[:80])
            raise Unsupported(message, PREVIOUS, API, {"code": "previous_response_not_found"})
        return refs, items

    def close(self, opening: Opening, body: JsonObject) -> Machine[None]:
        """The answer of a request is complete, and `opening.keeps`: keep it; once this ends, others find it."""
        owner = opening.owner
        output = [item for item in body.get("output", ()) if isinstance(item, Mapping) and item.get("id")]
        given, rows = self._contents.keep(opening.given, owner)
        said, more = self._contents.keep(output, owner)
        rows |= more
        kept = Kept(body, (*opening.before, *given), said)
        if opening.background:
            yield from retain(rows)
            rows = {}
            if not (yield from self.settle(kept, owner)):
                return  # it was cancelled, or forgotten
        if opening.store:
            rows |= self._items.keep(body, owner)
        if opening.store and not opening.background:
            rows |= self._shelf.rows(owner, {str(body["id"]): _write(kept)})
        yield from retain(rows)
        if opening.conversation:
            yield from self.conversations.append(opening.conversation, (*given, *said), owner)

    # ── in the background ────────────────────────────────────────────────────

    def begin(self, opening: Opening, body: JsonObject, run: Run) -> Machine[None]:
        """A request is answered in the background from now on; `body` is its answer as it stands."""
        asked, rows = self._contents.keep(opening.given, opening.owner)
        name, kept = str(body["id"]), Kept(body, (*opening.before, *asked), run=run)
        yield from self.runs.beat(run.runner)
        yield from retain({**rows, **self._shelf.rows(opening.owner, {name: _write(kept)})})
        if (yield from self.find(name, opening.owner)) is None:
            raise ProviderError(TOO_LARGE, status=413, kind=ErrorKind.BAD_REQUEST, code="request_too_large")

    def settle(self, kept: Kept, owner: str) -> Machine[bool]:
        """This is how the answer stands now, unless it had ended or was forgotten: then nothing changes."""
        name = str(kept.body["id"])
        return (yield from self._advance(name, owner, lambda known: replace(kept, run=known.run)))

    def refresh(self, name: str, owner: str) -> Machine[None]:
        """Keep this one as long as the newest."""
        yield from self._shelf.change(owner, name, lambda text: text)

    def tell(self, name: str, owner: str, told: Mapping[str, str]) -> Machine[None]:
        """Headers that an answer in the background would have had."""

        def changed(text: str | None) -> str | None:
            known = _read(text) if text is not None else None
            if known is None or known.run is None:
                return text
            return _write(replace(known, run=replace(known.run, told=told)))

        yield from self._shelf.change(owner, name, changed)

    def progress(self, name: str, owner: str, **fields: Any) -> Machine[bool]:
        """These fields of an answer are so now, unless it had ended or was forgotten."""
        return (yield from self._advance(name, owner, lambda kept: replace(kept, body={**kept.body, **fields})))

    def _advance(self, name: str, owner: str, change: Callable[[Kept], Kept]) -> Machine[bool]:
        done = False

        def changed(text: str | None) -> str | None:
            nonlocal done
            known = _read(text) if text is not None else None
            done = known is not None and is_under_way(known.body)
            return _write(change(known)) if known is not None and done else text

        yield from self._shelf.change(owner, name, changed)
        return done

    def current(self, name: str, owner: str) -> Machine[Kept | None]:
        """The answer called `name`; one that is answered by nobody any more has failed."""
        kept = yield from self.find(name, owner)
        if kept is None or not is_under_way(kept.body):
            return kept
        if kept.run is not None and (yield from self.runs.lives(kept.run.runner)):
            return kept
        yield from self.progress(name, owner, **failed(DIED))
        return (yield from self.find(name, owner))

    def cancel(self, name: str, owner: str) -> Machine[JsonObject]:
        """The answer, which nobody goes on with; one that has ended stays as it is.  Raises ProviderError (404)."""
        kept = yield from self.get(name, owner)
        if kept.run is None:
            raise CodecError(NOT_CANCELLED, "response_id", API)
        if is_under_way(kept.body) and (yield from self.progress(name, owner, status="cancelled")):
            yield from self.runs.stop(name, owner)
        return (yield from self.get(name, owner)).body

    # ── answers by id ────────────────────────────────────────────────────────

    def find(self, name: str, owner: str) -> Machine[Kept | None]:
        """The answer called `name`, None where there is none."""
        text = yield from self._shelf.one(owner, name)
        return _read(text) if text is not None else None

    def get(self, name: str, owner: str) -> Machine[Kept]:
        """The answer called `name`.  Raises ProviderError (404)."""
        kept = yield from self.current(name, owner)
        if kept is None:
            raise missing(name)
        return kept

    def delete(self, name: str, owner: str) -> Machine[dict[str, Any]]:
        """Forget it; nobody goes on with it.  Raises ProviderError (404)."""
        kept = yield from self.get(name, owner)
        yield from self._shelf.drop(owner, name)
        if kept.run is not None:
            yield from self.runs.forget(name, owner)
        if is_under_way(kept.body):
            yield from self.runs.stop(name, owner)
        return {"id": name, "object": "response", "deleted": True}

    def asked(self, refs: Sequence[Ref], name: str, owner: str) -> Machine[list[dict[str, Any]]]:
        """The items an answer was asked with, the oldest first.  Raises ProviderError (404)."""
        items = yield from self._contents.read(refs, owner)
        if items is None:
            raise missing(name)
        return items


def missing(name: str) -> ProviderError:
    """The error of an answer that is not kept."""
    return ProviderError(NO_RESPONSE.format(id=name[:80]), status=404, kind=ErrorKind.NOT_FOUND)


def failed(message: str, code: str = "server_error") -> dict[str, Any]:
    """The fields of an answer that failed."""
    return {"status": "failed", "error": {"code": code, "message": message}}


def _write(kept: Kept) -> str:
    run = [] if kept.run is None else [[kept.run.runner, kept.run.stream, dict(kept.run.told)]]
    return dumps([dict(kept.body), *([list(ref) for ref in some] for some in (kept.asked, kept.output)), *run])


def _read(text: str) -> Kept:
    body, asked, output, *run = json.loads(text)
    before, said = (tuple(Ref(*ref) for ref in some) for some in (asked, output))
    return Kept(body, before, said, Run(*run[0]) if run else None)


def _without_state(body: JsonObject) -> JsonObject:
    return body if STATE.isdisjoint(body) else {key: value for key, value in body.items() if key not in STATE}


def _named(body: JsonObject, name: str) -> str:
    value = body.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise CodecError(NO_ID.format(field=name), name, API)


def _in_background(body: JsonObject) -> bool:
    given = body.get(BACKGROUND)
    if given is None or isinstance(given, bool):
        return bool(given)
    raise CodecError(NOT_BOOL, BACKGROUND, API)


def _conversation(body: JsonObject) -> str:
    """The conversation a request belongs to: its id, or an object with it."""
    value = body.get(CONVERSATION)
    return _named({"conversation": value.get("id")} if isinstance(value, Mapping) else body, CONVERSATION)


def _is_readable(given: Any) -> bool:
    """Is it an input?  What is not is refused by the codec, with its place."""
    return given is None or isinstance(given, str) or (isinstance(given, list | tuple) and all(map(_is_object, given)))


def _is_object(item: Any) -> bool:
    return isinstance(item, Mapping)
