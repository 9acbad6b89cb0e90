"""Keys and tokens taken out of text before anybody reads it.

Knows the shapes that keys have; nothing of requests, logs or providers.
Contract: `redact` takes out the secrets it is given and whatever looks like one; text without any comes back unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEY_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key|hf|nvapi|glpat|ghp|gho|ghu)[-_][\w-]{8,}[\w*.-]*|\bAIza[\w-]{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bxox[a-z]-[\w-]{8,}|\bxapp-[\w-]{8,}|\bgithub_pat_\w{16,}|\bnpm_\w{16,}"
    r"|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bya29\.[\w-]{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\w+/=\s\\]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
    r"|\b(Bearer|Basic)\s+[\w.~+/=-]{6,}|\beyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]+)?"
)

HIDDEN = "[redacted]"
SHORTEST = 6
"""Shorter "keys" are placeholders like `none` or `x`, and blotting those out would eat ordinary words."""


def redact_patterns(text: str) -> str:
    """`text` with everything that looks like a key or token blotted out."""
    return _KEY_SHAPES.sub(lambda found: f"{found[1]} [redacted]" if found[1] else "[redacted]", text)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without `secrets` and without anything that has the shape of a key."""
    for secret in secrets:
        if len(secret) >= SHORTEST:
            text = text.replace(secret, HIDDEN)
    return redact_patterns(text)
