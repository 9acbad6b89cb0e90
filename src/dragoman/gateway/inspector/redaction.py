"""Secrets blotted out of what the inspector keeps: headers by their names, everything else by what is known.

Knows headers, addresses and bytes; nothing of exchanges.  Contract: a body keeps its length, so that what came when
still holds; a text that is shown holds no known secret, whatever shape it is in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from ...redaction import HIDDEN, SHORTEST, redact

NAMED = re.compile(r"auth|key|token|secret|cookie|credential|password|passwd|signature", re.IGNORECASE)
"""Names of headers and parameters whose values are secret, whoever invented them."""
COUNTS = re.compile(r"ratelimit|rate-limit|-tokens?-(limit|used|remaining)|max[-_]tokens", re.IGNORECASE)
"""Names that only sound like it."""
LENGTH = "content-length"
"""A header that is another with every message."""
COOKIES = frozenset({"cookie", "set-cookie"})
"""Headers of several values, of which each alone is secret."""
SCHEMES = ("bearer ", "basic ", "token ")


def is_secret(name: str, value: str) -> bool:
    """Does a header or parameter of this name hold a secret?"""
    return _names_a_secret(name) and not value.isdigit() and bool(value)


@lru_cache(maxsize=256)
def _that_name_secrets(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same of the headers of a request: a client sends the same ones with all of its own."""
    return tuple([name for name in names if _names_a_secret(name)])


@lru_cache(maxsize=1024)
def _names_a_secret(name: str) -> bool:
    return bool(NAMED.search(name)) and not COUNTS.search(name)


def without_scheme(value: str) -> str:
    """The secret in the value of a header."""
    scheme = next((s for s in SCHEMES if value.lower().startswith(s)), "")
    return value[len(scheme) :].strip()


def secrets_in(headers: Mapping[str, str], query: str = "") -> frozenset[str]:
    """What these headers and this query hold that must not be shown."""
    found: frozenset[str] = frozenset()
    for name in _that_name_secrets(tuple(headers)):
        found |= _secrets_of(name, headers[name])
    if query:
        found |= {value for name, value in parse_qsl(query) if is_secret(name, value) and len(value) >= SHORTEST}
    return found


@lru_cache(maxsize=1024)
def _secrets_of(name: str, value: str) -> frozenset[str]:
    """What a header holds that must not be shown."""
    secrets: set[str] = {without_scheme(value)} if is_secret(name, value) else set()
    if name in COOKIES:
        secrets |= {pair.partition("=")[2].strip() for pair in value.split(";")}
    return frozenset({secret for secret in secrets if len(secret) >= SHORTEST})


def shown_headers(headers: Mapping[str, str], secrets: Iterable[str]) -> dict[str, str]:
    """The headers as they may be shown."""
    known = frozenset(secrets)
    return {
        name: value if name == LENGTH and value.isdigit() else _shown_header(name, value, known)
        for name, value in headers.items()
    }


def shown_request_headers(headers: Mapping[str, str], secrets: Iterable[str]) -> dict[str, str]:
    """The same of a request: all but its length come again with the next one."""
    length = headers.get(LENGTH, "")
    if not length.isdigit():
        return {**_shown_together(tuple(headers.items()), frozenset(secrets))}
    shown = {**_shown_together(tuple({**headers, LENGTH: "0"}.items()), frozenset(secrets))}
    shown[LENGTH] = length
    return shown


@lru_cache(maxsize=512)
def _shown_together(headers: tuple[tuple[str, str], ...], secrets: frozenset[str]) -> dict[str, str]:
    return shown_headers(dict(headers), secrets)


@lru_cache(maxsize=4096)
def _shown_header(name: str, value: str, secrets: frozenset[str]) -> str:
    """A header as it may be shown.  A client sends the same ones with all its requests."""
    if not is_secret(name, value):
        return redact(value, secrets)
    return value[: len(value) - len(without_scheme(value))] + HIDDEN


def shown_query(query: str, secrets: Iterable[str]) -> str:
    """A query as it may be shown; it stays as it was written where it holds nothing secret."""
    if not query:
        return query
    pairs = parse_qsl(query, keep_blank_values=True)
    if any(is_secret(name, value) for name, value in pairs):
        shown = ((name, HIDDEN if is_secret(name, value) else value) for name, value in pairs)
        query = "&".join(f"{quote(name)}={quote(value, safe='[]')}" for name, value in shown)
    return redact(query, secrets)


def shown_url(url: str, secrets: Iterable[str]) -> str:
    """An address as it may be shown: without who asks."""
    return _shown_url(url, frozenset(secrets))


@lru_cache(maxsize=1024)
def _shown_url(url: str, known: frozenset[str]) -> str:
    parts = urlsplit(url)
    _, at, host = parts.netloc.rpartition("@")
    shown = parts._replace(netloc=f"{HIDDEN}@{host}" if at else host, query=shown_query(parts.query, known))
    return redact(urlunsplit(shown), known)


@lru_cache(maxsize=256)
def joined(known: frozenset[str], more: frozenset[str]) -> frozenset[str]:
    """All of these secrets: the same object for the same ones, so that what is remembered of them is found at once."""
    return known if more <= known else known | more


def spellings(secrets: Iterable[str]) -> tuple[str, ...]:
    """Every way in which the secrets may be written in a body, the longest first."""
    return _spellings(frozenset(secrets))


@lru_cache(maxsize=64)
def _spellings(secrets: frozenset[str]) -> tuple[str, ...]:
    found: set[str] = set()
    for secret in secrets:
        if len(secret) >= SHORTEST:
            found |= {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, "")}
    return tuple(sorted(found, key=len, reverse=True))


@lru_cache(maxsize=64)
def in_bytes(spelt: tuple[str, ...]) -> tuple[bytes, ...]:
    """The same spellings as they stand in bytes."""
    return tuple([word.encode("utf-8", "surrogatepass") for word in spelt])


@lru_cache(maxsize=64)
def _stars(spelt: tuple[str, ...]) -> tuple[tuple[bytes, bytes], ...]:
    """The same with what stands in their place."""
    return tuple([(word, b"*" * len(word)) for word in in_bytes(spelt)])


@lru_cache(maxsize=64)
def longest(spelt: tuple[str, ...]) -> int:
    """Bytes of the longest of these spellings; 0 where there is none."""
    return max(map(len, in_bytes(spelt)), default=0)


def blot(data: bytes, spelt: tuple[str, ...]) -> bytes:
    """`data` without what is secret, as long as before."""
    for secret, stars in _stars(spelt):  # no `in`, which makes an error first: it takes numbers too
        data = data.replace(secret, stars)
    return data


def is_spelt_in(data: bytes, spelt: tuple[str, ...]) -> bool:
    """Does `data` hold a secret?"""
    for secret in in_bytes(spelt):  # noqa: SIM110  a generator takes longer than all the rest
        if data.find(secret) >= 0:
            return True
    return False


def holds(text: str, spelt: Iterable[str]) -> bool:
    """Does `text` hold a secret?"""
    for word in spelt:  # noqa: SIM110  as above
        if word in text:
            return True
    return False


def blotted(value: Any, spelt: tuple[str, ...]) -> Any:
    """Plain data without what is secret, however deep it stands; texts keep their length."""
    if not spelt:
        return value
    if isinstance(value, str):
        for word in spelt:
            value = value.replace(word, "*" * len(word))
        return value
    if isinstance(value, Mapping):
        return {blotted(key, spelt): blotted(each, spelt) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [blotted(each, spelt) for each in value]
    return value
