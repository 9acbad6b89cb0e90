"""What the arguments of a damaged Python call were before one kind of sign in them went wrong.

As `one_sign.py` does for JSON, for `("x", tags=["a", "b", limit=5)`: a list that has lost a bracket, or quotes that are
all escaped.  Its signs are read as those of an object, for it is one but for how they are spelt.  Knows which arguments
are wanted; nothing of tools or calls.

Contract of `python_readings`: as of `readings`, but that each candidate is one call of literals for Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from ..late import late
from ..schema.validation import Shape
from ..types import Edit
from .one_sign import MOST_SIGNS, Reading, missing_bracket, over_escaped

TOKEN = late(
    r'"(?:[^"\\\n]++|\\.)*+"|\'(?:[^\'\\\n]++|\\.)*+\'|[(){}\[\],:=]|[^\s(){}\[\],:="\']++|["\']', re.DOTALL
)
OPEN_QUOTES = ('"', "'")
AS_JSON = {"(": "{", ")": "}", "=": ":"}
"""What stands in an object where this stands in a call."""
WARNED = late(r"(?<!\\)(?:\\\\)*+\\[^\\'\"\nabfnrtvxuUN0-7]|\d(?:and|else|for|if|in|is|or|not)")
"""What Python reads with a warning, which is for a program's author: an escape that is none, a word in a number."""
PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
"""What literals are made of."""


def python_readings(text: str, wanted: Mapping[str, Shape]) -> Iterator[Reading]:
    """What `text`, a call's arguments with their brackets, may have been."""
    for reading in (*over_escaped(text, "(", is_python), *_bracketed(text, wanted)):
        if is_python(reading.text):
            yield reading


def is_python(text: str) -> bool:
    """Is this what stands behind a name in a call of literals, to the letter?"""
    if WARNED.search(text) is not None or _joins(token.group() for token in TOKEN.finditer(text)):
        return False
    try:
        call = ast.parse(f"f{text}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or not all(k.arg for k in call.keywords):
        return False
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return all(isinstance(node, PLAIN) for value in values for node in ast.walk(value))


def _bracketed(text: str, wanted: Mapping[str, Shape]) -> Iterator[Reading]:
    """A list that has lost a bracket."""
    tokens: list[re.Match[str]] = []
    for token in TOKEN.finditer(text):
        if token.group() in OPEN_QUOTES or len(tokens) == MOST_SIGNS:
            return
        tokens.append(token)
    written = [token.group() for token in tokens]
    found = missing_bracket(_as_json(written), wanted)
    if found is not None:
        at, bracket = tokens[found[0]].start(), found[1]
        yield Reading(text[:at] + bracket + text[at:], Edit("missing_bracket", "", "", bracket))


def _joins(written: Iterable[str]) -> bool:
    """Do two strings stand side by side, which Python joins?  A sign of their own is missing there."""
    return any(before[0] in OPEN_QUOTES and after[0] in OPEN_QUOTES for before, after in pairwise(written))


def _as_json(written: Sequence[str]) -> list[str]:
    """The signs as an object has them: keywords and strings in double quotes, brackets and colons."""
    signs = [AS_JSON.get(sign, sign) for sign in written]
    for at, sign in enumerate(written):
        if sign[0] == "'" or (sign.isidentifier() and written[at + 1 : at + 2] == ["="]):
            signs[at] = f'"{sign.strip(chr(39))}"'
    return signs


__all__ = ["is_python", "python_readings"]
