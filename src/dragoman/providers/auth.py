"""Proofs of who asks, for a provider: a closed union of ways, and how secrets are kept out of everything shown.

Knows header names and signatures; nothing of environments, files or clocks: keys and the time come in as arguments, and
tokens are fetched by whoever performs effects (`authorize.py`).
Contract: a secret appears in what `headers` and `token_request` return and nowhere else: in no repr and in no message.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import quote, urlencode

from ..errors import UsageError
from ..types import NOTHING


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that a route needs: its name, the environment variables it is looked for in, best first, its default.

    `secret` ones are kept out of everything shown.  One that is made `of` another is looked for nowhere: it is what
    `words` say for the other's value, else `form` with that value in it.
    """

    name: str
    env: tuple[str, ...] = ()
    default: str = ""
    secret: bool = False
    required: bool = True
    of: str = ""
    words: Mapping[str, str] = NOTHING
    form: str = ""


@dataclass(frozen=True, slots=True)
class KeyHeader:
    """A key in one header.

    `form` is how it is written there; `env` the environment variables it is looked for in, best first; `required`
    says that the provider answers nobody without one.
    """

    header: str = "authorization"
    form: str = "Bearer {key}"
    env: tuple[str, ...] = ()
    required: bool = True

    @property
    def parts(self) -> tuple[Setting, ...]:
        """Settings it needs beside the key."""
        return ()

    def headers(self, key: str) -> dict[str, str]:
        """The header that carries `key`; none for no key.  Raises UsageError for what no header can hold."""
        if not key:
            return {}
        if not KEY.fullmatch(key):
            where = " or ".join(self.env) or "the key"
            raise UsageError(f"{where} holds spaces, line breaks or other characters no header carries; copy it again")
        return {self.header: self.form.format(key=key)}


@dataclass(frozen=True, slots=True)
class SignedKey:
    """A key of the form `id.secret` (Z.ai): its secret signs a token that is valid for a while and is sent instead.

    A key without a dot is sent as it is: Z.ai takes those too.  Source: seeds.md (b); docs.z.ai, "JWT".
    """

    env: tuple[str, ...] = ()
    seconds: int = 30 * 60
    required: bool = True

    @property
    def parts(self) -> tuple[Setting, ...]:
        """Settings it needs beside the key."""
        return ()

    def headers(self, key: str, now: float) -> dict[str, str]:
        """The header that carries a token signed at `now` (seconds since 1970); none for no key."""
        name, _, secret = key.partition(".")
        return KeyHeader(env=self.env).headers(self._token(name, secret, now) if name and secret else key)

    def _token(self, name: str, secret: str, now: float) -> str:
        """A JSON Web Token, HS256; its times are in milliseconds."""
        at = int(now * 1000)
        head = {"alg": "HS256", "sign_type": "SIGN"}
        claims = {"api_key": name, "exp": at + self.seconds * 1000, "timestamp": at}
        signed = f"{_segment(head)}.{_segment(claims)}"
        return f"{signed}.{_base64url(hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest())}"


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """The form to post for a token."""

    url: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(
        default_factory=lambda: {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
    )


@dataclass(frozen=True, slots=True)
class Token:
    """A token and the end of its life (seconds since 1970)."""

    value: str = field(repr=False)
    until: float


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """OAuth 2 client credentials (StackSpot): id and key are exchanged for a token, which is sent as a bearer.

    `url` is where tokens are given out, with the route's settings in braces; `env` are the variables of the id, then
    those of the key.
    """

    url: str
    id_env: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    required: bool = True

    EARLY = 60.0
    """Seconds before its end that a token is renewed."""
    LIFETIME = 300.0
    """Seconds a token without a stated end is used."""

    @property
    def parts(self) -> tuple[Setting, ...]:
        """Settings it needs beside the key."""
        return (Setting("client_id", self.id_env, secret=True),)

    def token_request(self, key: str, settings: Mapping[str, str]) -> TokenRequest:
        """The form to post; `settings` hold the client's id and what the address needs."""
        form = {"grant_type": "client_credentials", "client_id": settings["client_id"], "client_secret": key}
        places = {name: quote(value, safe="") for name, value in settings.items()}
        return TokenRequest(self.url.format_map(places), urlencode(form).encode())

    def read_token(self, body: bytes, now: float) -> Token:
        """The token in the answer.  Raises ValueError for an answer that holds none."""
        answer = json.loads(body)
        token = answer.get("access_token") if isinstance(answer, dict) else None
        if not isinstance(token, str) or not token:
            raise ValueError("the answer holds no access_token")
        lasts = answer.get("expires_in")
        seconds = float(lasts) if isinstance(lasts, int | float) else self.LIFETIME
        return Token(token, now + max(0.0, seconds - self.EARLY))

    def headers(self, token: Token) -> dict[str, str]:
        """The header that carries the token."""
        return KeyHeader(env=self.env).headers(token.value)


@dataclass(frozen=True, slots=True)
class SigV4:
    """AWS Signature Version 4: the request itself is signed (`sigv4.py`); the key is the secret access key."""

    service: str
    id_env: tuple[str, ...] = ("AWS_ACCESS_KEY_ID",)
    env: tuple[str, ...] = ("AWS_SECRET_ACCESS_KEY",)
    session_env: tuple[str, ...] = ("AWS_SESSION_TOKEN",)
    required: bool = True

    @property
    def parts(self) -> tuple[Setting, ...]:
        """Settings it needs beside the key."""
        session = Setting("session_token", self.session_env, secret=True, required=False)
        return (Setting("access_key_id", self.id_env, secret=True), session)


Auth: TypeAlias = KeyHeader | SignedKey | ClientCredentials | SigV4


def _segment(value: Mapping[str, Any]) -> str:
    return _base64url(json.dumps(value, separators=(",", ":")).encode())


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


KEY = re.compile(r"[\x21-\x7e]+")


