"""Where a bracket that opens is closed, strings left aside.

Knows brackets and quotes; nothing of values or dialects.
"""

from __future__ import annotations

import re

from ..late import late

BRACKETS = {"{": "}", "[": "]", "(": ")"}
TOKEN = late(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[{}\[\]()]", re.DOTALL)
NESTING = late(r"[\[\]{}]")


def closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` is closed; 0 where it is not."""
    stack: list[str] = []
    for token in TOKEN.finditer(text, start):
        sign = token.group()
        if sign in BRACKETS:
            stack.append(BRACKETS[sign])
        elif len(sign) == 1 and (not stack or stack.pop() != sign):
            return 0
        if not stack:
            return token.end()
    return 0


def depth(text: str) -> int:
    """How deep the brackets of `text` are nested, those in its strings too."""
    deepest = now = 0
    for bracket in NESTING.findall(text):
        now += 1 if bracket in "[{" else -1
        deepest = max(deepest, now)
    return deepest

