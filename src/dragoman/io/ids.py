"""Ids nobody can guess: the one place where they are made."""

from __future__ import annotations

import os
from collections import deque

BYTES = 12
"""96 bits: no two answers of a lifetime share one."""
AT_ONCE = 128
"""Ids whose bytes are drawn at once: a request takes several, and each draw is a call of the system."""

_drawn: deque[str] = deque()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drawn.clear)  # what was drawn before is its parent's


def mint(prefix: str = "") -> str:
    """`prefix` and 24 hexadecimal digits."""
    try:
        return prefix + _drawn.popleft()
    except IndexError:
        first, *others = _draw()
        _drawn.extend(others)
        return prefix + first


def _draw() -> list[str]:
    digits, size = os.urandom(AT_ONCE * BYTES).hex(), 2 * BYTES
    return [digits[at : at + size] for at in range(0, len(digits), size)]
