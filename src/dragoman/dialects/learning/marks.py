"""Comparing rendered texts: where two begin and end alike, in whole markers.

`<|START_ACTION|>` and `<|START_TEXT|>` begin alike by character, not by marker; everything learned from a comparison is
cut at the borders found here.  Knows nothing of templates, calls or dialects.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from ...lenient.brackets import closing

PIECE = re.compile(
    r"<\|(?:open|close)\|>[^<]{0,120}<\|sep\|>|<[|｜/!]?[^<>\s\"'=]{0,80}[>=]?|\[/?[A-Z_]{2,40}\]|\w+|\s|.", re.DOTALL
)
"""One marker, word, white space or other character: `</arg_value>`, `<function=`, `[TOOL_CALLS]`, `name`, and Kimi K3's
markers of two tokens, `<|close|>call<|sep|>`."""
MARKER = re.compile(r"[<\[{|｜~`@#◁▷]|>>>")
"""What ordinary prose does not begin a line with, and models are taught to."""


def pieces(text: str) -> list[str]:
    """`text` cut into markers, words and characters; joined they are `text`."""
    return PIECE.findall(text)


def prefix(first: str, *others: str) -> str:
    """What all begin with, in whole pieces."""
    columns = zip(*map(pieces, (first, *others)), strict=False)
    return "".join(column[0] for column in takewhile(lambda c: len(set(c)) == 1, columns))


def suffix(first: str, *others: str) -> str:
    """What all end with, in whole pieces."""
    columns = zip(*(reversed(pieces(t)) for t in (first, *others)), strict=False)
    return "".join(reversed([column[0] for column in takewhile(lambda c: len(set(c)) == 1, columns)]))


def is_marker(text: str) -> bool:
    """Could this be markup rather than words?"""
    return len(text.strip()) > 1 and MARKER.search(text) is not None


def first(spellings: Sequence[str]) -> str:
    """The canonical spelling, "" for none."""
    return spellings[0] if spellings else ""


def leading_space(text: str) -> str:
    """The white space `text` begins with."""
    return text[: len(text) - len(text.lstrip())]


def trailing_space(text: str) -> str:
    """The white space `text` ends with."""
    return text[len(text.rstrip()) :]


def values(text: str) -> Iterator[tuple[int, int, Any]]:
    """Every object or list in `text`, as JSON or as Python writes it: where it stands, and its value."""
    for found in re.finditer(r"[{\[]", text):
        read = _json(text, found.start()) or _python(text, found.start())
        if read is not None:
            yield found.start(), *read


def _json(text: str, start: int) -> tuple[int, Any] | None:
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return None
    return end, value


def _python(text: str, start: int) -> tuple[int, Any] | None:
    end = closing(text, start)
    try:
        return (end, ast.literal_eval(text[start:end])) if end else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


