"""Endpoints that pass: embeddings, completions, audio, images, files … go to a route that has them, as they are.

Bare ASGI.  Knows who has which endpoint, names of models, and keys; nothing of what is asked or answered there.
Contract: bodies are streamed both ways; nothing of a request changes but the model's name and the key, which is the
route's and never the client's; limits, logs, metrics and spans are those of every request; a refusal comes in the shape
of the caller's API, with the provider's status and without its secrets.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from ...codecs import CODECS
from ...effects import Close, Open, Opened, PerformAsync, Read, arun
from ...errors import CodecError, DragomanError, ErrorKind, ProviderError
from ...fallback import place
from ...jsontext import to_json
from ...providers.authorize import Tokens, admit
from ...providers.route import Route
from ...turn.send import MAX_REFUSAL, without_secrets
from ...types import Message, Request, Response, Usage
from ..config.model import Access, GatewayConfig
from ..exchange import Head, failure
from ..fronts import FRONTS, VERSIONS, Front
from ..state.owned import Owned
from ..state.stores import StateStores
from ..telemetry.exchange_record import GONE, ExchangeRecord
from ..telemetry.headers import printable
from ..telemetry.trace_context import with_headers
from .asgi import Receive, Scope, Send, answer, too_long, until_gone
from .form_data import FieldFinder, boundary_of
from .request_body import Gone, Refused, header, pieces_of, read_request

MOST_SEARCHED = 1024 * 1024
"""Bytes of a form that are looked through for the model before they go on."""
TAIL = 4096
"""Bytes at an answer's end in which its usage is looked for."""
MOST_LISTED = 8 * 1024 * 1024
"""Bytes of an answer that says what was made, or lists it."""
PASSED = ("content-type", "content-length", "content-disposition", "cache-control", "openai-processing-ms")
NONE_HAS = "{model} has no route with {path}; {others}"
NO_MODEL = "the form names no model in its first MB; send the field model before the file, or ?model=NAME"
WORDS: Mapping[str, str] = {"embeddings": "embeddings", "api/embed": "embeddings", "api/embeddings": "embeddings",
                            "completions": "text_completion"}  # fmt: skip
"""Endpoint → its operation in the conventions for generative AI; others are called as they are."""
KEPT: Mapping[str, str] = {"files": "File", "batches": "Batch"}
"""Endpoints whose things providers keep."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One endpoint as we serve it: which it is, its variable part behind that, and the API its callers speak."""

    endpoint: str
    rest: str = ""
    methods: tuple[str, ...] = ("POST",)
    api: str = "openai_chat"

    @property
    def paths(self) -> Iterator[str]:
        """Where it is served."""
        versions = ("", "/v1") if self.endpoint.startswith("api/") else VERSIONS
        yield from (f"{version}/{self.endpoint}{self.rest}" for version in versions)

    @property
    def front(self) -> Front:
        """The API its callers speak."""
        return next(front for front in FRONTS if front.codec.name == self.api)


PASSAGES: tuple[Passage, ...] = (
    *(Passage(name) for name in (
        "embeddings", "completions", "moderations", "rerank", "audio/speech", "audio/transcriptions",
        "audio/translations", "images/generations", "images/edits", "images/variations",
    )),
    Passage("api/embed", api="ollama_chat"),
    Passage("api/embeddings", api="ollama_chat"),
    Passage("files", methods=("GET", "POST")),
    Passage("files", "/{id}", ("GET", "DELETE")),
    Passage("files", "/{id}/content", ("GET",)),
    Passage("batches", methods=("GET", "POST")),
    Passage("batches", "/{id}", ("GET",)),
    Passage("batches", "/{id}/cancel"),
)  # fmt: skip


@dataclass(slots=True)
class Body:
    """A body on its way up: the model it names, what is known of it already, and the pieces that follow."""

    model: str = ""
    whole: Mapping[str, Any] | None = None
    form: FieldFinder | None = None
    more: AsyncIterator[bytes] | None = None
    length: int | None = None

    def sent(self, model: str) -> dict[str, Any]:
        """The fields of `Open` that send it, with the name the provider knows the model by."""
        if self.form is None or self.more is None:
            changed = self.whole if not self.model or self.whole is None else {**self.whole, "model": model}
            return {"body": to_json(changed).encode() if changed is not None else b""}
        begun, more = self.form.replaced(model) if self.model else bytes(self.form.begun), self.more

        async def upload() -> AsyncIterator[bytes]:
            yield begun
            async for piece in more:
                yield piece

        return {"upload": upload()}

    def headers(self, model: str) -> dict[str, str]:
        """The length, where it is known."""
        if self.form is None or self.length is None:
            return {}
        changed = len(model.encode()) - len(self.form.value.encode()) if self.form.span else 0
        return {"content-length": str(self.length + changed)}


async def read_body_of(scope: Scope, receive: Receive, config: GatewayConfig) -> Body:
    """The body as far as it must be read before it goes on.  Raises Refused, CodecError, Gone."""
    length, boundary = header(scope, b"content-length"), boundary_of(header(scope, b"content-type"))
    if not boundary:
        whole, _ = await read_request(scope, receive, config.limits)
        named = whole.get("model")
        return Body(model=named if isinstance(named, str) else "", whole=whole)
    form = FieldFinder(boundary, "model")
    more = pieces_of(scope, receive, config.limits)
    async for piece in more:
        if form.feed(piece) or len(form.begun) > MOST_SEARCHED:
            break
    return Body(form.value, None, form, more, int(length) if length.isdecimal() else None)


class Passing:
    """Serves one endpoint; see the module."""

    gateway: Any
    passage: Passage
    tokens: Tokens

    def __init__(self, passage: Passage, gateway: Any) -> None:
        self.passage, self.gateway, self.tokens = passage, gateway, Tokens()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        gateway, record = self.gateway, self.gateway.record(scope, self.passage.endpoint)
        config: GatewayConfig = gateway.config
        record.begin()
        try:
            gateway.unless_draining()
            query = scope.get("query_string", b"").decode("latin-1")
            async with gateway.access_control.enter(config, record.headers, query, record) as access:
                record.key = access.name if access is not None else ""
                asks = scope["method"] == "POST" and not self.passage.rest
                body = await read_body_of(scope, receive, config) if asks else Body()
                request = _Request(
                    passing=self, scope=scope, body=body, config=config, access=access, record=record
                )
                seconds = config.limits.timeout
                await _unless_gone(request.serve(send), receive, record, seconds, uploading=body.more is not None)
        except Gone:
            record.status = GONE
        except Refused as error:
            await self._refuse(send, CodecError(str(error), ""), record, error.status)
        except DragomanError as error:
            await self._refuse(send, error, record)
        finally:
            record.end()

    async def _refuse(self, send: Send, error: DragomanError, record: ExchangeRecord, status: int = 0) -> None:
        if record.first is not None:
            raise error  # what was begun breaks off: there is no other way to tell
        head, body = failure(self.passage.front, error, record.request_id, status)
        record.failed(error, head.status)
        routed = {"x-dragoman-route": record.route} if record.route else {}
        await answer(send, Head(head.status, {**head.headers, **routed}), body)

    # ── which routes ─────────────────────────────────────────────────────────

    def routes(self, config: GatewayConfig, access: Access | None, model: str, known: str) -> Sequence[Route]:
        """The routes of `model` that have the endpoint; all of them for no model.  Raises ProviderError."""
        endpoint = self.passage.endpoint
        if model:
            if access is not None:
                access.check(model)
            found = [route for route in config.routes(model) if endpoint in route.provider.endpoints]
        else:
            found = [route for name in self._models(config, access) for route in config.routes(name)
                     if endpoint in route.provider.endpoints]  # fmt: skip
            found = [route for route in found if not known or route.provider.name == known] or found
            found = list({(one.provider.name, one.base_url, one.key): one for one in reversed(found)}.values())[::-1]
        if not found:
            raise self._none_has(config, access, model)
        return found

    def _models(self, config: GatewayConfig, access: Access | None) -> Iterator[str]:
        names = [name for name in config.models if "*" not in name]
        yield from (name for name in names if access is None or access.allows(name))
        if config.default is not None and (access is None or access.allows("")):
            yield ""

    def _none_has(self, config: GatewayConfig, access: Access | None, model: str) -> ProviderError:
        endpoint = self.passage.endpoint
        names = [name or "the default" for name in self._models(config, access)
                 if any(endpoint in route.provider.endpoints for route in config.routes(name))]  # fmt: skip
        others = f"ask for one of: {', '.join(names[:20])}" if names else "add a route whose provider has it"
        asked = f"the model {model[:100]!r}" if model else "this gateway"
        message = NONE_HAS.format(model=asked, path=next(iter(self.passage.paths)), others=others)
        return ProviderError(message, status=404, kind=ErrorKind.NOT_FOUND, code="endpoint_not_found")


@dataclass(kw_only=True)
class _Request:
    """One request to one endpoint."""

    passing: Passing
    scope: Scope
    body: Body
    config: GatewayConfig
    access: Access | None
    record: ExchangeRecord

    def __post_init__(self) -> None:
        self._passage = self.passing.passage
        self._stores: StateStores = self.passing.gateway.stores
        self._owned: Owned = self._stores.owned
        query = self.scope.get("query_string", b"").decode("latin-1")
        self._query = dict(parse_qsl(query, keep_blank_values=True))
        self._query.pop("key", None)
        perform: PerformAsync = self.passing.gateway.upstreams.performer()
        self._perform = with_headers(perform, self.record.trace_headers)

    async def serve(self, send: Send) -> None:
        """Ask the routes in order; nothing is asked again of which a part went out."""
        body, record = self.body, self.record
        named = self._query.pop("model", "")
        model = record.model = body.model or named
        if body.form is not None and not (model or body.form.ended or self._passage.endpoint in KEPT):
            raise CodecError(NO_MODEL, "model")
        record.stream = body.whole is not None and body.whole.get("stream") is True
        routes = self.passing.routes(self.config, self.access, model, await self._known_place())
        balance, name = self.config.balance(model) if model else (None, "")
        spread = self.passing.gateway.balancer.spread(balance, name) if balance is not None else None
        if spread is not None and len(routes) > 1:
            routes = spread.order(routes)
        for left, route in zip(range(len(routes) - 1, -1, -1), routes, strict=True):
            ticket = spread.enter(route) if spread is not None else None
            try:
                await self._ask(route, model, send)
            except ProviderError as error:
                if not left or body.more is not None or not error.retryable or record.first is not None:
                    raise
            else:
                return
            finally:
                if ticket is not None:
                    ticket.leave()

    async def _known_place(self) -> str:
        """Where the thing is kept that the request names; refused where it is another key's."""
        kind, owner = KEPT.get(self._passage.endpoint), self.record.key
        name = self.scope.get("path_params", {}).get("id", "")
        if kind is None:
            return ""
        if "/" in name or "\\" in name or name in {".", ".."}:
            message = f"{name[:40]!r} is no id of a {kind}; send one that was given here"
            raise ProviderError(message, status=404, kind=ErrorKind.NOT_FOUND)
        named = (self.body.whole or {}).get("input_file_id")
        if isinstance(named, str) and self._passage.endpoint == "batches":
            return await self._stores.ask(self._owned.place(named, owner, "File"))
        return await self._stores.ask(self._owned.place(name, owner, kind)) if name else ""

    # ── one route ────────────────────────────────────────────────────────────

    async def _ask(self, route: Route, model: str, send: Send) -> None:
        where = place(route, model)
        request = Request(model=model, messages=(), stream=self.record.stream)
        self.record.ask(where, request, WORDS.get(self._passage.endpoint, self._passage.endpoint))
        try:
            usage = await self._exchange(route, where.model, send)
        except ProviderError as error:
            self.record.answered(None, without_secrets(error, route))
            raise without_secrets(error, route) from None
        finally:
            await self._perform(Close())
        response = Response(message=Message("assistant", ()), usage=usage)
        self.record.response = response
        self.record.answered(response)

    async def _exchange(self, route: Route, model: str, send: Send) -> Usage | None:
        asked = Open(
            url=self._url(route, model),
            method=self.scope["method"],
            headers=self._headers(route, model),
            timeouts=route.timeouts,
            **self.body.sent(model),
        )
        opened: Opened = await self._perform(await arun(admit(asked, route, self.passing.tokens), self._perform))
        if not 200 <= opened.status < 300:
            raise CODECS[route.provider.codec].decode_error(opened.status, await self._all(MAX_REFUSAL), opened.headers)
        if self._passage.endpoint in KEPT and not self._passage.rest.endswith("/content"):
            await self._give_noted(opened, route.provider.name, send)
            return None
        return await self._give(opened, send)

    def _url(self, route: Route, model: str) -> str:
        named = self.scope.get("path_params", {}).get("id", "")
        rest = self._passage.rest.format(id=quote(named, safe="", errors="replace"))
        url = route.url(route.provider.endpoints[self._passage.endpoint].rstrip("/"), model) + rest
        return f"{url}?{urlencode(self._query)}" if self._query else url

    def _headers(self, route: Route, model: str) -> dict[str, str]:
        own = {"accept": header(self.scope, b"accept") or "*/*"}
        if self.body.form is not None:
            own["content-type"] = header(self.scope, b"content-type")
        return {**route.headers(), **own, **self.body.headers(model)}

    async def _all(self, limit: int) -> bytes:
        body = b""
        while len(body) < limit and (data := await self._perform(Read(held=len(body)))):
            body += data
        return body

    async def _give(self, opened: Opened, send: Send) -> Usage | None:
        """The answer as it comes."""
        named = {name: opened.headers[name] for name in PASSED if name in opened.headers}
        await _start(send, Head(opened.status, {**named, **self._ours()}))
        tail = b""
        while data := await self._perform(Read()):
            self.record.flowing()
            tail = (tail + data)[-TAIL:]
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        self.record.status = opened.status
        return _usage(tail)

    async def _give_noted(self, opened: Opened, where: str, send: Send) -> None:
        """The answer that says what was made or is kept, without what is another key's."""
        body, owner = await self._all(MOST_LISTED), self.record.key
        try:
            said = json.loads(body)
        except ValueError:
            raise ProviderError("the provider's answer is no JSON; ask again", kind=ErrorKind.GARBLED) from None
        if isinstance(said.get("data"), list):
            said = {**said, "data": await self._stores.ask(self._owned.own(said["data"], owner))}
        elif self.scope["method"] != "DELETE":
            await self._stores.ask(self._owned.note(said, owner, where))
        data = to_json(said).encode()
        self.record.flowing()
        self.record.status = opened.status
        named = {"content-type": "application/json", "content-length": str(len(data))}
        await answer(send, Head(opened.status, {**named, **self._ours()}), data)

    def _ours(self) -> dict[str, str]:
        return {"x-request-id": self.record.request_id, "x-dragoman-route": printable(self.record.route)}


async def _start(send: Send, head: Head) -> None:
    headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in head.headers.items()]
    await send({"type": "http.response.start", "status": head.status, "headers": headers})


async def _unless_gone(
    work: Any, receive: Receive, record: ExchangeRecord, seconds: float, *, uploading: bool
) -> None:
    """Do it, unless the client goes away; while its body is still read, that is where it is noticed.

    Raises ProviderError where it takes longer than `seconds` (0: no limit).
    """
    job = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(asyncio.Event().wait() if uploading else until_gone(receive))
    try:
        await asyncio.wait({job, watch}, timeout=seconds or None, return_when=asyncio.FIRST_COMPLETED)
        late = not (job.done() or watch.done())
        if not job.done():
            job.cancel()
            record.status = GONE
        with contextlib.suppress(asyncio.CancelledError):
            await job
        if late:
            raise too_long(seconds)
    finally:
        watch.cancel()
        job.cancel()


def _usage(tail: bytes) -> Usage | None:
    """The tokens an answer counts, from its end; None where it counts none."""
    at = tail.rfind(b'"usage"')
    begin = tail.find(b"{", at) if at >= 0 else -1
    if begin < 0:
        return None
    try:
        said, _ = json.JSONDecoder().raw_decode(tail[begin:].decode("utf-8", "replace"))
    except ValueError:
        return None
    given = said.get("prompt_tokens", said.get("input_tokens", 0))
    made = said.get("completion_tokens", said.get("output_tokens", 0))
    return Usage(input=given, output=made) if isinstance(given, int) and isinstance(made, int) else None


def passing_endpoints(gateway: Any) -> Iterator[tuple[str, dict[str, Callable[..., Any]]]]:
    """The addresses, and an endpoint per method."""
    for passage in PASSAGES:
        served = Passing(passage, gateway)
        for path in passage.paths:
            yield path, dict.fromkeys(passage.methods, served)

