"""Endpoints that do not ask a model, or only for its name: bare ASGI, one class each.

Knows ASGI messages, the gateway's parts and the shapes of answers; nothing of wires or routes.
Contract: an address that is served answers a wrong method with 405, one that is not with 404, both as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote

from ...codecs import CODECS
from ...dialects.writing.prompt import estimate
from ...errors import CodecError, DragomanError, ProviderError
from ...io.ids import mint
from ...jsontext import to_json
from ...types import NOTHING
from ..config.model import Access, Limits
from ..exchange import JSON_TYPE, Head
from .asgi import Receive, Scope, Send, answer
from .keys import AGAIN, KEYS, known, sent_key
from .models import GEMINI, Shape, shape_for
from .offload import offload
from .request_body import Gone, Refused, read_body, read_request

Endpoint: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Named: TypeAlias = Callable[[], Awaitable[list[str]]]
"""Gives the names of the models served."""
Respond: TypeAlias = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Answers one JSON body."""


async def send_json(send: Send, body: Mapping[str, Any], status: int = 200, more: Mapping[str, str] = NOTHING) -> None:
    """Answer with JSON."""
    await send_data(send, to_json(body).encode(), status, more)


async def send_data(send: Send, data: bytes, status: int = 200, more: Mapping[str, str] = NOTHING) -> None:
    """Answer with what is JSON already."""
    headers = {"content-type": JSON_TYPE, "content-length": str(len(data)), "x-request-id": mint("req_")}
    await answer(send, Head(status, {**headers, **more}), data)


OLLAMA = ("/api/", "/v1/api/")
"""How the addresses of its API begin."""


GOOGLE = ("/v1beta", "/v1alpha")
"""How the addresses of Gemini's API begin."""
GOOGLE_WORDS = {
    "not_found_error": (404, "NOT_FOUND"),
    "invalid_request_error": (405, "INVALID_ARGUMENT"),
    "authentication_error": (401, "UNAUTHENTICATED"),
}
"""Kind of error → Gemini's status and its word for it (google.rpc.Code)."""


def problem(message: str, kind: str, path: str = "") -> dict[str, Any]:
    """An error that clients of OpenAI and Anthropic read; at an address of Ollama's or Gemini's as its clients do."""
    if path.startswith(OLLAMA):
        return {"error": message}
    if path.startswith(GOOGLE):
        code, word = GOOGLE_WORDS[kind]
        return {"error": {"code": code, "message": message, "status": word}}
    return {"type": "error", "error": {"message": message, "type": kind, "param": None, "code": None}}


class Methods:
    """One address: an endpoint per method; HEAD is GET without its body."""

    def __init__(self, **endpoints: Endpoint) -> None:
        self._endpoints = endpoints

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        found = self._endpoints.get(scope["method"])
        return self._other(scope, receive, send) if found is None else found(scope, receive, send)

    async def _other(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        if method == "HEAD" and "GET" in self._endpoints:
            await self._endpoints["GET"](scope, receive, _headless(send))
        else:
            allowed = ", ".join(self._endpoints)
            message = f"{method} is not served at {scope['path'][:200]}; use {allowed}"
            await send_json(send, problem(message, "invalid_request_error", scope["path"]), 405, {"allow": allowed})


def _headless(send: Send) -> Send:
    async def quiet(message: Any) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return quiet


class Fixed:
    """The same JSON, always."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = dict(body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await send_json(send, self._body)


class Ready:
    """Whether requests should be sent here; `why_not` gives the reason and for how many seconds, "" for none."""

    def __init__(self, why_not: Callable[[], tuple[str, float]]) -> None:
        self._why_not = why_not

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        why, seconds = self._why_not()
        more = {"retry-after": str(max(math.ceil(seconds), 1))} if why else {}
        await send_json(send, {"status": why or "ok"}, 503 if why else 200, more)


class Guarded:
    """An endpoint for whoever has a key, where keys are asked for; its answers carry the id the client gave.

    The access of the key stands in the scope, under `ACCESS`.
    """

    def __init__(self, endpoint: Endpoint, access: Callable[[], tuple[Access, ...]]) -> None:
        self._endpoint, self._access = endpoint, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers, rows = headers_of(scope), self._access()
        send = _named(send, headers.get("x-request-id", "")[:128].strip())
        try:
            if rows:
                scope[ACCESS] = known(rows, sent_key(headers, scope.get("query_string", b"").decode("latin-1")))
        except ProviderError as error:
            await send_json(send, problem(error.message, "authentication_error", scope["path"]), error.status)
            return
        await self._endpoint(scope, receive, send)


ACCESS = "dragoman.access"


def _named(send: Send, request_id: str) -> Send:
    if not request_id:
        return send
    named = (b"x-request-id", request_id.encode("latin-1"))

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            others = [pair for pair in message["headers"] if pair[0] != named[0]]
            message = {**message, "headers": [*others, named]}
        await send(message)

    return sent


class Exposed:
    """What was counted."""

    def __init__(self, exposed: Callable[[str], tuple[str, bytes]]) -> None:
        self._exposed = exposed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Show it."""
        kind, body = self._exposed(headers_of(scope).get("accept", ""))
        headers = {"content-type": kind, "content-length": str(len(body)), "x-request-id": mint("req_")}
        await answer(send, Head(200, headers), body)


class Words:
    """The same words, always."""

    def __init__(self, words: str) -> None:
        self._data = words.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        headers = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(self._data))}
        await answer(send, Head(200, headers), self._data)


Serves: TypeAlias = Callable[[str], bool]


class Models:
    """The list of models; `shape` None asks the caller's headers.

    One that is not listed may be served, by a pattern: `serves`.
    """

    def __init__(self, named: Named, shape: Shape | None = None, serves: Serves | None = None) -> None:
        self._named, self._shape, self._serves = named, shape, serves

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """List them, or show the one the address names."""
        shape = self._shape or shape_for(headers_of(scope))
        name = unquote(scope.get("path_params", {}).get("model", ""))
        access = scope.get(ACCESS)
        names = [one for one in await self._named() if access is None or access.allows(one)]
        if not name:
            await send_json(send, shape.all(names))
        elif names and name not in names and not self._is_served(name, access):
            message = f"the model {name[:100]!r} is not served here; ask for one of: {', '.join(names[:20])}"
            path = GOOGLE[0] if shape is GEMINI else ""
            await send_json(send, problem(message, "not_found_error", path), 404)
        else:
            await send_json(send, shape.one(name))

    def _is_served(self, name: str, access: Access | None) -> bool:
        return self._serves is not None and self._serves(name) and (access is None or access.allows(name))


def headers_of(scope: Scope) -> dict[str, str]:
    """The request's headers by their lower-case names; of one that came again the last, but of keys all (`AGAIN`)."""
    rows, headers = scope["headers"], {}
    for key, value in rows:
        name, told = _TOLD.get((key, value)) or _told(key, value)
        headers[name] = told
    if len(headers) < len(rows):
        for name in KEYS & headers.keys():
            headers[name] = AGAIN.join(value.decode("latin-1") for key, value in rows if key.decode("latin-1") == name)
    return headers


_TOLD: dict[tuple[bytes, bytes], tuple[str, str]] = {}
"""Headers that came before: clients send the same ones each time, and a stream holds what it was asked with."""
LONGEST, MOST_TOLD = 100, 512


def _told(key: bytes, value: bytes) -> tuple[str, str]:
    name, told = key.decode("latin-1"), value.decode("latin-1")
    if name not in KEYS and len(key) + len(value) <= LONGEST:
        if len(_TOLD) >= MOST_TOLD:
            _TOLD.clear()
        _TOLD[bytes(key), bytes(value)] = name, told
    return name, told


SHORT = 8 * 1024
"""Bytes of a body that is answered at once; what is to be parsed may cost much more than its reading."""


class Reads:
    """Answers a JSON body by a function, within `limits`; what is wrong with it is answered in the shape of `api`.

    `names`: it says something of the model that the body names, which is for keys that may ask for it.
    """

    def __init__(
        self, respond: Respond, limits: Callable[[], Limits], api: str = "openai_chat", *, names: bool = False
    ) -> None:
        self._respond, self._limits, self._api, self._names = respond, limits, api, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        limits = self._limits()
        try:
            body, size = await read_request(scope, receive, limits)
            if self._names and scope.get(ACCESS) is not None:
                scope[ACCESS].check(named(body))
            data = self._answer(body) if size <= SHORT else await offload(self._answer, body)
        except Gone:
            return
        except Refused as error:
            await self._refuse(send, CodecError(str(error), ""), error.status)
        except DragomanError as error:
            await self._refuse(send, error)
        else:
            await send_data(send, data)

    def _answer(self, body: Mapping[str, Any]) -> bytes:
        return to_json(self._respond(body)).encode()

    async def _refuse(self, send: Send, error: DragomanError, status: int = 0) -> None:
        own, refused = CODECS[self._api].encode_error(error)
        await send_json(send, refused, status or own)


def count_anthropic(body: Mapping[str, Any]) -> dict[str, Any]:
    """`count_tokens`: an estimate, for no API says how a foreign model counts."""
    counted = {key: body[key] for key in ("system", "messages", "tools") if key in body}
    return {"input_tokens": estimate(to_json(counted))}


def count_gemini(body: Mapping[str, Any]) -> dict[str, Any]:
    """Gemini's `countTokens`; newer clients wrap the request."""
    inner = body.get("generateContentRequest", body)
    counted = {key: inner[key] for key in ("systemInstruction", "contents", "tools") if key in inner}
    return {"totalTokens": estimate(to_json(counted))}


async def no_such_method(scope: Scope, receive: Receive, send: Send) -> None:
    """What Gemini's API says of a method of a model (`:fooBar`) that it does not have."""
    message = f"no such method: {scope['path'][:200]}; use generateContent, streamGenerateContent or countTokens"
    await send_json(send, problem(message, "not_found_error", scope["path"]), 404)


def named(body: Mapping[str, Any]) -> str:
    """The model that a request of Ollama's names.  Raises CodecError."""
    name = body.get("model") or body.get("name")
    if not isinstance(name, str):
        raise CodecError("model is missing; name the model to show", "$.model", "ollama")
    return name


async def take(scope: Scope, receive: Receive, send: Send) -> None:
    """Telemetry that a client sends beside its requests: taken and forgotten."""
    try:
        await read_body(scope, receive, 4 * 1024 * 1024, 30.0)
    except (Gone, Refused):
        return
    await send_json(send, {})
