"""What is kept of OpenAI's Responses, over HTTP: answers by id, what they were asked with, conversations.

Bare ASGI.  Knows paths, queries and the shapes of lists; nothing of models or of how things are kept.
Contract: a key sees what it made itself and nothing else: what is another's is not found; errors are in OpenAI's shape.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import parse_qs

from ...codecs import CODECS
from ...dialects.writing.prompt import estimate
from ...effects import Machine
from ...errors import CodecError, DragomanError, ProviderError
from ...jsontext import to_json
from ...types import NOTHING, JsonObject
from ..config.model import Limits
from ..fronts import VERSIONS
from ..state.conversations import API, Conversations, read_items
from ..state.responses import Responses
from ..state.stores import StateStores
from .asgi import Receive, Scope, Send
from .background import Background
from .endpoints import ACCESS, Endpoint, send_data, send_json
from .events import Events, cursor
from .offload import LARGE, Steps
from .request_body import Gone, Refused, read_body, read_json, unpacked
from .request_body import header as header_of

COUNTED = ("instructions", "input", "tools", "text")
"""Fields of a request that a model reads."""
DEFAULT_PAGE, LARGEST_PAGE = 20, 100
NO_PAGE = f"{{name}} must be {{what}}; leave it out for {DEFAULT_PAGE} of the newest"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: the variables of its address, its query, its body, and whose key it came with."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: JsonObject = NOTHING
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """A body, and the headers it comes with."""

    body: Mapping[str, Any]
    headers: Mapping[str, str] = NOTHING


ENDING = frozenset({"/responses/{response_id}", "/responses/{response_id}/cancel"})
"""Addresses that may end what is in the background."""
Answerer: TypeAlias = Callable[[Asked], Machine[Mapping[str, Any] | Answered]]


class Stateful:
    """Answers by a machine that asks `stores`; where there is a body it is JSON."""

    def __init__(self, stores: StateStores, respond: Answerer, limits: Callable[[], Limits]) -> None:
        self._stores, self._respond, self._limits = stores, respond, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        limits = self._limits()
        try:
            body = await _body(scope, receive, limits) if scope["method"] == "POST" else NOTHING
            data, headers = await self._stores.ask(self._answer(asked_of(scope, body)), Steps(LARGE + 1))
        except Gone:
            return
        except Refused as error:
            await refuse(send, CodecError(str(error), ""), error.status)
        except DragomanError as error:
            await refuse(send, error)
        else:
            await send_data(send, data, more=headers)

    def _answer(self, asked: Asked) -> Machine[tuple[bytes, Mapping[str, str]]]:
        found = yield from self._respond(asked)
        made = found if isinstance(found, Answered) else Answered(found)
        return to_json(made.body).encode(), made.headers


async def _body(scope: Scope, receive: Receive, limits: Limits) -> JsonObject:
    body = await read_body(scope, receive, limits.body, limits.body_timeout)
    body = unpacked(body, header_of(scope, b"content-encoding"), limits.body)
    return read_json(body, limits) if body.strip() else NOTHING


def asked_of(scope: Scope, body: JsonObject = NOTHING) -> Asked:
    """The request in `scope`."""
    access = scope.get(ACCESS)
    query = {name: values[-1] for name, values in parse_qs(scope.get("query_string", b"").decode("latin-1")).items()}
    return Asked(scope.get("path_params", {}), query, body, access.name if access is not None else "")


async def refuse(send: Send, error: DragomanError, status: int = 0) -> None:
    """`error` in OpenAI's shape."""
    own, body = CODECS[API].encode_error(error)
    seconds = error.retry_after if isinstance(error, ProviderError) else None
    await send_json(send, body, status or own, {"retry-after": str(int(seconds))} if seconds else {})


def page(items: Sequence[JsonObject], query: Mapping[str, str]) -> dict[str, Any]:
    """A page of `items` (the oldest first), as `limit`, `order` and `after` ask.  Raises CodecError."""
    order, limit = query.get("order", "desc"), query.get("limit", str(DEFAULT_PAGE))
    if order not in ("asc", "desc"):
        raise CodecError(NO_PAGE.format(name="order", what="asc or desc"), "order", API)
    if not (limit.isascii() and limit.isdecimal() and 1 <= int(limit[:9]) <= LARGEST_PAGE):
        raise CodecError(NO_PAGE.format(name="limit", what=f"a number from 1 to {LARGEST_PAGE}"), "limit", API)
    ordered = list(items) if order == "asc" else list(reversed(items))
    if after := query.get("after", ""):
        place = next((n for n, item in enumerate(ordered) if item.get("id") == after), None)
        if place is None:
            raise CodecError(NO_PAGE.format(name="after", what="the id of an item of this list"), "after", API)
        ordered = ordered[place + 1 :]
    return listed(ordered[: int(limit)], more=len(ordered) > int(limit))


def listed(items: Sequence[JsonObject], *, more: bool = False) -> dict[str, Any]:
    """Items as a list of the API."""
    first, last = (items[0]["id"], items[-1]["id"]) if items else ("", "")
    return {"object": "list", "data": list(items), "first_id": first, "last_id": last, "has_more": more}


# ── what is served ───────────────────────────────────────────────────────────


class StoredResponses:
    """Answers by id."""

    def __init__(self, responses: Responses) -> None:
        self._responses = responses

    def show(self, asked: Asked) -> Machine[Answered]:
        """The answer, with the headers that one in the background would have had."""
        kept = yield from self._responses.get(asked.path["response_id"], asked.owner)
        return Answered(kept.body, kept.run.told if kept.run is not None else NOTHING)

    def delete(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """Forget it."""
        return (yield from self._responses.delete(asked.path["response_id"], asked.owner))

    def cancel(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """The answer, which nobody goes on with."""
        return (yield from self._responses.cancel(asked.path["response_id"], asked.owner))

    def count(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """How many tokens a request is about to take, its state included: an estimate, as for the other APIs."""
        opening = yield from self._responses.opening({**asked.body, "store": False, "background": None}, asked.owner)
        counted = {key: opening.body[key] for key in COUNTED if opening.body.get(key)}
        return {"object": "response.input_tokens", "input_tokens": estimate(to_json(counted)) if counted else 0}

    def input_items(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """What it was asked with."""
        name = asked.path["response_id"]
        kept = yield from self._responses.get(name, asked.owner)
        return page((yield from self._responses.asked(kept.asked, name, asked.owner)), asked.query)


class StoredConversations:
    """Conversations and their items."""

    def __init__(self, conversations: Conversations, clock: Callable[[], float] = time.time) -> None:
        self._conversations, self._clock = conversations, clock

    def create(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """A new one."""
        return (yield from self._conversations.create(asked.body, asked.owner, self._clock())).shown()

    def show(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """One of them."""
        return (yield from self._conversations.get(asked.path["conversation_id"], asked.owner)).shown()

    def update(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """Note something else of it."""
        return (yield from self._conversations.update(asked.path["conversation_id"], asked.body, asked.owner)).shown()

    def delete(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """Forget it."""
        return (yield from self._conversations.delete(asked.path["conversation_id"], asked.owner))

    def items(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """Its items."""
        known = yield from self._conversations.get(asked.path["conversation_id"], asked.owner)
        return page((yield from self._conversations.items(known, asked.owner)), asked.query)

    def add(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """Add items."""
        items = read_items(asked.body.get("items"))
        return listed((yield from self._conversations.add(asked.path["conversation_id"], items, asked.owner)))

    def item(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """One item."""
        return (yield from self._conversations.item(asked.path["conversation_id"], asked.path["item_id"], asked.owner))

    def remove(self, asked: Asked) -> Machine[Mapping[str, Any]]:
        """Take it out."""
        known = yield from self._conversations.remove(asked.path["conversation_id"], asked.path["item_id"], asked.owner)
        return known.shown()


class Shown:
    """One answer: whole, or its events where they are asked for."""

    def __init__(self, whole: Endpoint, events: Events) -> None:
        self._whole, self._events = whole, events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        asked = asked_of(scope)
        if asked.query.get("stream") != "true":
            await self._whole(scope, receive, send)
            return
        name = asked.path["response_id"]
        try:
            after = cursor(asked.query)
            await self._events.check(name, asked.owner)
        except DragomanError as error:
            await refuse(send, error)
        else:
            await self._events.serve(name, asked.owner, after, receive, send)


def ending(endpoint: Endpoint, background: Background) -> Endpoint:
    """`endpoint`, behind which what runs here is looked after at once: it may end something."""

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        await endpoint(scope, receive, send)
        background.look()

    return served


def stored_endpoints(
    stores: StateStores, limits: Callable[[], Limits], background: Background, events: Events
) -> Iterator[tuple[str, dict[str, Endpoint]]]:
    """The addresses, and an endpoint per method."""
    answers, talks = StoredResponses(stores.responses), StoredConversations(stores.responses.conversations)
    one, items = "/conversations/{conversation_id}", "/conversations/{conversation_id}/items"
    served: Mapping[str, Mapping[str, Answerer]] = {
        "/responses/input_tokens": {"POST": answers.count},
        "/responses/{response_id}": {"GET": answers.show, "DELETE": answers.delete},
        "/responses/{response_id}/cancel": {"POST": answers.cancel},
        "/responses/{response_id}/input_items": {"GET": answers.input_items},
        "/conversations": {"POST": talks.create},
        one: {"GET": talks.show, "POST": talks.update, "DELETE": talks.delete},
        items: {"GET": talks.items, "POST": talks.add},
        items + "/{item_id}": {"GET": talks.item, "DELETE": talks.remove},
    }
    for version in VERSIONS:
        for path, methods in served.items():
            made: dict[str, Endpoint] = {
                method: Stateful(stores, respond, limits) for method, respond in methods.items()
            }
            if path in ENDING:
                made |= {method: ending(made[method], background) for method in ("POST", "DELETE") if method in made}
                made |= {"GET": Shown(made["GET"], events)} if "GET" in made else {}
            yield version + path, made
