"""Proofs of who asks: a machine that puts the key, a signed token or a signature into a request's headers.

Knows the ways of `auth.py` and effects; performs nothing.  Contract: tokens it fetches stay in the `Tokens` it is
given, until shortly before its end; a place that gives no token is a `ProviderError` of kind AUTH, without secrets.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..codecs.shared.body import items
from ..codecs.shared.spec import own
from ..conversation.grown import by_growth
from ..effects import Machine, Now, Open, Opened, Read
from ..errors import ErrorKind, ProviderError
from ..redaction import redact
from ..types import NOTHING, Media, Message, Part, Request, ToolResult
from .auth import ClientCredentials, KeyHeader, SignedKey, SigV4, Token
from .route import Route
from .sigv4 import Credentials, Scope, sign
from .spec import Signal

MAX_TOKEN_ANSWER = 256 * 1024
NO_TOKEN = "{where} gave no token for {name} (status {status}{why}); check the client's id and key and the realm"


class Tokens:
    """Tokens that were fetched, by who they are for; a cache that each process can fill again."""

    def __init__(self) -> None:
        self._tokens: dict[str, Token] = {}

    def get(self, route: Route, now: float) -> Token | None:
        """The token for `route`, None where there is none that is still good."""
        token = self._tokens.get(_owner(route))
        return token if token is not None and token.until > now else None

    def put(self, route: Route, token: Token) -> None:
        """This is the token for `route` from now on."""
        self._tokens[_owner(route)] = token

    def drop(self, route: Route) -> None:
        """The token for `route` was refused."""
        self._tokens.pop(_owner(route), None)


def _owner(route: Route) -> str:
    parts = "\0".join((route.provider.name, route.key, *map(str, sorted({**route.secrets, **route.settings}.items()))))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


def admit(request: Open, route: Route, tokens: Tokens) -> Machine[Open]:
    """`request`, which carries `route.headers()`, with the proof of who sends it.  Raises ProviderError."""
    auth = route.provider.auth
    match auth:
        case KeyHeader():
            return request
        case SignedKey():
            proof = auth.headers(route.key, (yield Now()))
        case ClientCredentials():
            token = yield from _token(auth, route, tokens)
            proof = auth.headers(token)
        case SigV4():
            proof = _signature(auth, request, route, (yield Now()))
    return replace(request, headers={**request.headers, **proof})


def _signature(auth: SigV4, request: Open, route: Route, now: float) -> dict[str, str]:
    credentials = Credentials(
        access_key_id=route.secrets.get("access_key_id", ""),
        secret_access_key=route.key,
        session_token=route.secrets.get("session_token", ""),
    )
    scope = Scope(route.setting("region"), auth.service)
    return sign(
        request.method, request.url, request.headers, request.body, credentials=credentials, scope=scope, now=now
    )


def _token(auth: ClientCredentials, route: Route, tokens: Tokens) -> Machine[Token]:
    now: float = yield Now()
    known = tokens.get(route, now)
    if known is not None:
        return known
    wanted = {setting.name: route.setting(setting.name) for setting in route.provider.settings}
    request = auth.token_request(route.key, {**wanted, **route.secrets})
    opened: Opened = yield Open(url=request.url, headers=request.headers, body=request.body, timeouts=route.timeouts)
    body = b""
    while len(body) < MAX_TOKEN_ANSWER and (data := (yield Read())):
        body += data
    try:
        if not 200 <= opened.status < 300:
            raise ValueError(redact(body[:200].decode("utf-8", "replace"), route.hidden))
        token = auth.read_token(body, now)
    except (ValueError, RecursionError) as error:
        why = f": {error}" if str(error) else ""
        message = NO_TOKEN.format(where=request.url, name=route.provider.name, status=opened.status, why=why)
        kind = ErrorKind.SERVER if opened.status >= 500 else ErrorKind.AUTH
        raise ProviderError(message, status=opened.status, kind=kind) from None
    tokens.put(route, token)
    return token


def signals(request: Request, route: Route) -> Mapping[str, str]:
    """The headers that describe the request."""
    wanted = route.provider.signals
    if not wanted:
        return NOTHING
    said = {header: _SAID_BY[what](request) for header, what in wanted.items()}
    return {header: value for header, value in said.items() if value}


BETAS_OF, BETAS = "anthropic_messages", "betas"
"""The wire whose clients ask for unfinished features in a header, and the field that holds them."""


def _is_word(beta: object) -> bool:
    return isinstance(beta, str) and re.fullmatch(r"[\w.-]+", beta) is not None


def _is_users(request: Request) -> bool:
    """Did the user speak last?  Results, also those a client sends as the user's, go on with what the user asked."""
    last = request.messages[-1] if request.messages else None
    return last is None or (last.role not in ("assistant", "tool") and not last.results)


def _betas(request: Request) -> str:
    asked = own(BETAS_OF, request.extra).get(BETAS)
    return ",".join(filter(_is_word, items(asked))) if asked else ""


@by_growth
def _has_images(messages: Sequence[Message], start: int, known: bool | None) -> bool:
    return bool(known) or any(map(_is_image, (part for message in messages[start:] for part in message.parts)))


def _is_image(part: Part) -> bool:
    if isinstance(part, ToolResult):
        return any(map(_is_image, part.content))
    return isinstance(part, Media) and not part.mime.startswith(("audio/", "video/"))


_SAID_BY: Mapping[Signal, Callable[[Request], str]] = {
    Signal.INITIATOR: lambda request: "user" if _is_users(request) else "agent",
    Signal.VISION: lambda request: "true" if _has_images(request.messages) else "",
    Signal.BETAS: _betas,
}
