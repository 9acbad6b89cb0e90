"""Ids nobody can guess: the one place where they are made."""

from __future__ import annotations

import secrets

BYTES = 12
"""96 bits: no two answers of a lifetime share one."""


def mint(prefix: str = "") -> str:
    """`prefix` and 24 hexadecimal digits."""
    return prefix + secrets.token_hex(BYTES)
