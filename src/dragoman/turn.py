"""One request and its answer: a machine that asks a provider and tells what the model really said.

Plan (native tools or text) → repair the history → augment (text only) → encode → open → read → decode → listen.
Knows routes, codecs and the parser by their contracts; performs nothing (`effects.py`), runs no tool, retries nothing
but a refusal of tools.  Contract: yields events as soon as they are certain, returns the `Response` they fold to; a
peer's failure is a `ProviderError` without secrets; nothing is ever told from two attempts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from .augment import Tongue, augment
from .auth import redact
from .codecs import CODECS
from .codecs.spec import Codec, Ids
from .definitions import tools as as_tools
from .dialects.parser import Parser
from .dialects.prompt import with_nonce
from .dialects.rows import ALL
from .effects import Machine, NewId, Open, Opened, Read
from .errors import CodecError, ErrorKind, ProviderError
from .events import Assembler, Ended, Event, Noticed, Started, replay
from .frames import FrameKind, readers, to_json
from .history import repair
from .listener import Listener, Restorer
from .providers import Tools
from .route import Route
from .schema import check_schema
from .types import JsonObject, Request, Response, Tool

MAX_WHOLE = 64 * 1024 * 1024
"""Bytes of a whole answer; a model's longest is a hundredth of it."""
MAX_REFUSAL = 256 * 1024
"""Bytes of a refusal that are read; the rest says nothing new."""
SHOWN_GARBAGE = 200

ACCEPTS: Mapping[FrameKind, str] = {
    FrameKind.SSE: "text/event-stream",
    FrameKind.NDJSON: "application/x-ndjson",
    FrameKind.AWS: "application/vnd.amazon.eventstream",
}


STREAMS = frozenset(ACCEPTS.values())
GARBAGE = "{root} did not answer in the {codec} API{why}; it said {said}; check the base URL and which API it serves"
REDIRECTED = "{root} answered with a redirect ({status}), which is not followed; give its target as base URL"
TOO_LONG = "{root} sent a whole answer of more than 64 MiB; ask for less, or stream it"
NONCE_LENGTH = 8


class Learned:
    """What was learnt about models from their answers; a cache, shared by turns, that each process can relearn."""

    def __init__(self) -> None:
        self._no_tools: set[tuple[str, str]] = set()

    def no_tools(self, route: Route, model: str) -> bool:
        """Has this model refused native tools before?"""
        return (route.root(), model) in self._no_tools

    def note_no_tools(self, route: Route, model: str) -> None:
        """This model has refused native tools."""
        self._no_tools.add((route.root(), model))


def turn(request: Request, route: Route, learned: Learned | None = None) -> Machine[Response]:
    """Ask `route` what `request` asks; yields the events of the answer, returns it whole.

    Raises ProviderError (also after events), and UsageError for a route or request that cannot be asked.
    """
    learned = learned or Learned()
    model = route.model or request.model
    repaired = repair(request.messages)
    request = replace(request, model=model, messages=repaired.messages, tools=_sound(request.tools))
    noticed = [Noticed(issue) for issue in repaired.issues]
    text = route.mode is Tools.TEXT or (route.mode is Tools.BOTH and learned.no_tools(route, model))
    try:
        return (yield from _ask(request, route, noticed, text=text))
    except ToolsRefused:
        learned.note_no_tools(route, model)
    return (yield from _ask(request, route, noticed, text=True))


def _sound(given: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tools, each once.  Raises UsageError for two of one name and for a schema that is none."""
    return tuple(
        replace(tool, parameters=_sound_schema(tool.name, to_json(tool.parameters))) for tool in as_tools(given) or ()
    )


@lru_cache(maxsize=1024)
def _sound_schema(name: str, written: str) -> JsonObject:
    """The schema, checked; the same object for the same text.

    Clients send the same tools with every request, and what is known of a schema is kept by its identity.
    """
    schema: JsonObject = json.loads(written)
    check_schema(schema, name)
    return schema


class ToolsRefused(Exception):
    """The model takes no native tools, and nothing of an answer was told yet."""


TOOLS_REFUSED = re.compile(
    r"\b(?:tools?|functions?)\b(?![_ ]choice)[^.;]{0,60}?\b(?:not|n't|never|un)\W?(?:currently )?"
    r"(?:supported|support|available|enabled|allowed|implemented)"
    r"|\b(?:not|n't|un)\s?support(?:ed|s|ing)?\b[^.;]{0,40}?\b(?:tools?|functions?)\b(?![_ ]choice)",
    re.IGNORECASE,
)
"""How servers without a machine field say that a model takes no tools."""
REFUSALS = frozenset({ErrorKind.BAD_REQUEST, ErrorKind.NOT_FOUND, ErrorKind.UNKNOWN})


def refuses_tools(error: ProviderError) -> bool:
    """Does this refusal of a request that carried tools say that the model takes none?"""
    return error.kind is ErrorKind.NO_TOOLS or (error.kind in REFUSALS and bool(TOOLS_REFUSED.search(error.message)))


# ── one request ──────────────────────────────────────────────────────────────


def _ask(request: Request, route: Route, noticed: Sequence[Event], *, text: bool) -> Machine[Response]:
    """Raises ToolsRefused instead of the provider's error where the caller may ask again in text."""
    codec = CODECS[route.provider.codec]
    mint = yield from _minter()
    nonce = (yield NewId())[:NONCE_LENGTH] if text and route.nonce else ""
    plan = Plan(request, route, text=text, nonce=nonce)
    hear, told, committed = plan.listener(mint), Assembler(), False
    try:
        source = yield from _open(plan, codec, mint)
        while True:
            data = yield Read()
            for heard in source.feed(data) if data else source.close():
                for event in (*([] if committed else noticed), *hear(heard)):
                    committed = True
                    told.add(event)
                    yield event
            if not data:
                return told.response()
    except ProviderError as error:
        if not committed and not text and request.tools and route.mode is Tools.BOTH and refuses_tools(error):
            raise ToolsRefused from error
        raise _without_secrets(error, route) from error.__cause__


def _minter() -> Machine[Callable[[str], Ids]]:
    """Ids for the calls of one answer: `mint("x")(0)`; the letter keeps those of two sources apart."""
    base: str = yield NewId("call_")
    return lambda letter: lambda index: f"{base}{letter}{index}"


class Plan:
    """How one request is asked: the request as the wire carries it, and what is listened for in the answer."""

    def __init__(self, request: Request, route: Route, *, text: bool, nonce: str) -> None:
        self.route = route
        self.asked = request
        self.text = text
        self.nonce = nonce
        self.stream = route.stream if route.stream is not None else request.stream
        self.sent = replace(augment(request, self._tongue()) if text else request, stream=self.stream)

    def listener(self, mint: Callable[[str], Ids]) -> Callable[[Event], list[Event]]:
        """What to make of each event the wire tells."""
        listener = Listener(self._parser(mint("t")), native=not self.text)
        if not self.text:
            return listener.hear
        undo = Restorer()
        return lambda event: [undo.hear(heard) for heard in listener.hear(event)]

    def _tongue(self) -> Tongue:
        route = self.route
        return Tongue(dialect=route.tongue, guarded=ALL, compact=route.compact, nonce=self.nonce)

    def _parser(self, ids: Ids) -> Parser | None:
        """None where nothing may be called: then text is text, untouched."""
        asked, route = self.asked, self.route
        if not asked.tools or (asked.tool_choice is not None and asked.tool_choice.mode == "none"):
            return None
        return Parser(
            tools=asked.tools,
            dialects=with_nonce(route.tongue, self.nonce) if self.nonce else route.dialects,
            prefix=route.prefix,
            shown=[result.text for message in asked.messages for result in message.results],
            ids=ids,
        )


def _open(plan: Plan, codec: Codec, mint: Callable[[str], Ids]) -> Machine[Source]:
    """Send the request; the source of the answer's events.  Raises ProviderError for a refusal."""
    route, sent = plan.route, plan.sent
    path = codec.stream_path if plan.stream else codec.path
    accept = ACCEPTS[codec.frames] if plan.stream else "application/json"
    opened: Opened = yield Open(
        url=route.url(path, sent.model),
        headers={**route.headers(), "accept": accept},
        body=to_json(codec.encode_request(sent, route.provider.quirks)).encode(),
        patience=route.patience,
    )
    if not 200 <= opened.status < 300:
        raise (yield from _refusal(opened, codec, route))
    kind = opened.headers.get("content-type", "").partition(";")[0].strip().lower()
    streams = kind in STREAMS or (plan.stream and kind != "application/json")
    return Streamed(codec, mint("n"), route) if streams else Whole(codec, mint("n"), route)


def _refusal(opened: Opened, codec: Codec, route: Route) -> Machine[ProviderError]:
    if 300 <= opened.status < 400:
        return ProviderError(REDIRECTED.format(root=route.root(), status=opened.status), status=opened.status)
    body = b""
    while len(body) < MAX_REFUSAL and (data := (yield Read())):
        body += data
    return codec.decode_error(opened.status, body, opened.headers)


def _without_secrets(error: ProviderError, route: Route) -> ProviderError:
    """The error as it may be shown: peers echo keys."""
    return ProviderError(
        redact(error.message, [route.key]),
        status=error.status,
        kind=error.kind,
        code=redact(error.code, [route.key]),
        retry_after=error.retry_after,
        body=redact(error.body, [route.key]),
    )


# ── where the events come from ───────────────────────────────────────────────


class Source(Protocol):
    """Bytes of an answer → events."""

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events that `data` completes."""

    def close(self) -> Iterable[Event]:
        """The events still due, `Ended` last.  Raises ProviderError where nothing was understood at all."""


class Streamed:
    """An answer in frames."""

    def __init__(self, codec: Codec, ids: Ids, route: Route) -> None:
        self._reader = readers[codec.frames]()
        self._decoder = codec.decode_stream(ids)
        self._route = route
        self._start = b""
        self._spoke = False

    def feed(self, data: bytes) -> Iterator[Event]:
        """Events leave one by one: what came before an error in the same bytes is told before it."""
        if not self._spoke:
            self._start += data[: SHOWN_GARBAGE - len(self._start)]
        for frame in self._reader.feed(data):
            yield from self._heard(self._decoder.feed(frame))

    def close(self) -> Iterator[Event]:
        for frame in self._reader.close():
            yield from self._heard(self._decoder.feed(frame))
        last = self._heard(self._decoder.close())
        if not self._spoke:
            raise _garbled(self._start, self._route)
        yield from last

    def _heard(self, events: list[Event]) -> list[Event]:
        self._spoke = self._spoke or any(map(_says_something, events))
        return events


def _says_something(event: Event) -> bool:
    return not isinstance(event, Started | Noticed | Ended) or (isinstance(event, Ended) and event.stop is not None)


class Whole:
    """An answer in one piece."""

    def __init__(self, codec: Codec, ids: Ids, route: Route) -> None:
        self._codec, self._ids, self._route = codec, ids, route
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterable[Event]:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > MAX_WHOLE:
            raise ProviderError(TOO_LONG.format(root=self._route.root()), kind=ErrorKind.GARBLED)
        return ()

    def close(self) -> Iterable[Event]:
        body = b"".join(self._pieces)
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            raise _garbled(body, self._route) from None
        try:
            return replay(self._codec.decode_response(parsed, self._ids))
        except CodecError as error:
            raise _garbled(body, self._route, f"; {error}") from error


def _garbled(start: bytes, route: Route, why: str = "") -> ProviderError:
    shown = redact(start[:SHOWN_GARBAGE].decode("utf-8", "replace"), [route.key])
    said = f"{shown!r}" if shown else "nothing"
    message = GARBAGE.format(root=route.root(), codec=route.provider.codec, said=said, why=why)
    return ProviderError(message, kind=ErrorKind.GARBLED, body=shown)
