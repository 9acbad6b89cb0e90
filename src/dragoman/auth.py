"""How a provider is told who asks, and how secrets are kept out of everything shown.

Knows header names; nothing of environments, files or clocks: keys come in as arguments.
Contract: a key appears in what `headers` returns and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .codecs.failures import redact as blot
from .errors import UsageError


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

    def headers(self, key: str) -> dict[str, str]:
        """The header that carries `key`; none for no key.  Raises UsageError for what no header can hold."""
        if not key:
            return {}
        if not KEY.fullmatch(key):
            where = " or ".join(self.env) or "the key"
            raise UsageError(f"{where} holds spaces, line breaks or other characters no header carries; copy it again")
        return {self.header: self.form.format(key=key)}


KEY = re.compile(r"[\x21-\x7e]+")
HIDDEN = "[redacted]"
SHORTEST = 6
"""Shorter "keys" are placeholders like `none` or `x`, and blotting those out would eat ordinary words."""


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without `secrets` and without anything that has the shape of a key."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            text = text.replace(secret, HIDDEN)
    return blot(text)
