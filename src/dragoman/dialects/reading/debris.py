"""What a damaged mark leaves in a raw value: half a mark around the name of an argument that the call does not give.

A model that drops or misspells one mark of a notation whose values are raw text writes the next argument into the value
before it: `red shoes</parameter>\nparameter=limit>\n5`.  Nothing tells such a value from a text by its grammar, since
any text may hold any mark; what tells it is that a declared argument is missing, and that its name stands in a value
beside a piece of the very mark that should have held it (judge-rules.md D and E: what has two readings is not run).

Knows the marks of a row and the arguments that were read; does not read a source, nor decide what becomes of the call.
Contract: "" where nothing speaks against the values; what is looked at is only what holds a missing argument's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from ...late import late
from ...schema.validation import Shape
from ...types import Edit
from .compiled import Row

PIECE = 3
"""Signs of a mark, beside a name, that are no accident."""
KEY_PIECE = 4
"""Signs of a mark in a name: more, for a name may hold some."""
REACH = 24
"""How far behind a value's closer a name is the next argument's."""
IN_TAG = late(r"<[A-Za-z][\w:-]*(?:\s[^<>]*)?\Z")
"""Attributes of another tag, which is whole up to here."""
WHOLE_TAG = late(r"</?\w[\w:-]*(?:\s[^<>]*)?/?>\Z")
SIGN = late(r"[^\w\s]")
WORD = late(r"\w{4,}")
SIGNS = ("<", ">", "|", "｜")
GUESSED = "unclosed_argument"
NAMED = "the name of an argument that is missing stands in another, beside a piece of a mark"
MARKED = "a mark stands in the name of an argument"
NAMELESS = "an argument has no name"
INSIDE = "the closer of an argument stands in it, and another argument is missing"
ENDED = "a piece of a mark stands where an argument's end was guessed"


def debris(row: Row, shape: Shape, arguments: Mapping[str, Any], edits: list[Edit]) -> str:
    """Why the arguments may hold a damaged mark; "" if nothing says so."""
    if "" in arguments and "" not in shape.keys:
        return NAMELESS
    if any(key not in shape.keys and not key.isidentifier() and _holds_piece(row, key) for key in arguments):
        return MARKED
    texts = [value for value in arguments.values() if isinstance(value, str)]
    guessed = any(edit.kind == GUESSED for edit in edits)
    if guessed and any(_ends_in(closers, text) for closers, text in _ends(row, arguments)):
        return ENDED
    opens, closes = row.key_open, row.key_close
    if not opens and guessed:  # elements: a mark is the name itself, so that any tag of a text is like one
        opens, closes = ("<",), (">",)
    missing = [key for key in shape.keys if key not in arguments]
    if missing and opens:
        marks = opens, closes, row.value_close
        if any(_stands_in(marks, key, text) for key in missing for text in texts if key in text):
            return NAMED
        if any(_closes_more(marks, text) for text in texts):
            return INSIDE
    return ""


def _closes_more(marks: Marks, text: str) -> bool:
    """Do more closers of values end a line of the text than openers of arguments stand in it?"""
    opens, _, closes = marks
    closed = sum([text.count(f"{mark}\n") for mark in closes if len(mark) > PIECE])
    return closed > 0 and closed > sum([text.count(mark) for mark in _shortest(opens)])


def _shortest(marks: tuple[str, ...]) -> list[str]:
    """The marks that begin with no other of them."""
    return [m for m in marks if not any(m != other and m.startswith(other) for other in marks)]


def _holds_piece(row: Row, key: str) -> bool:
    """Does a name hold some signs of a mark in a row?"""
    for mark in (*row.key_open, *row.key_close, *row.value_open, *row.value_close):
        for at in range(len(mark) - KEY_PIECE + 1):
            piece = mark[at : at + KEY_PIECE]
            if piece in key and SIGN.search(piece):
                return True
    return False


Marks: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""What opens a key, what closes it, and what closes a value."""


def _stands_in(marks: Marks, key: str, text: str) -> bool:
    """Does the name stand in the text as the next argument's would, of whose marks a piece is left?"""
    at = text.find(key)
    while at >= 0:
        if _in_marks(marks, text, at, at + len(key)) or _behind_closer(marks, text, at):
            return True
        at = text.find(key, at + 1)
    return f"</{key}>" in text and f"<{key}" not in text


def _in_marks(marks: Marks, text: str, start: int, end: int) -> bool:
    opens, closes, _ = marks
    behind, closed = max((_prefix(text, end, mark) for mark in closes), default=(0, False))
    if closed and behind >= PIECE:
        return True
    before = [(_suffix(text, start, mark), len(mark)) for mark in opens]
    if any(size >= whole - PIECE > 0 for size, whole in before):
        return True
    size = max(size for size, _ in before)
    begun = text[start - size : start]
    return closed and bool(begun.strip()) and not _is_tag(begun, text[max(0, start - 200) : start - size], text[end:])


def _is_tag(begun: str, before: str, behind: str) -> bool:
    """Does what looks like a piece of a mark belong to a tag of another kind, that is whole?"""
    if before.endswith("<") and (word := WORD.match(begun)):
        return f"</{word.group()}>" in behind
    return IN_TAG.search(before) is not None


def _suffix(text: str, end: int, mark: str) -> int:
    """How many of the last signs of `mark` stand before `end`."""
    return next((n for n in range(len(mark), 0, -1) if text.endswith(mark[-n:], 0, end)), 0)


def _prefix(text: str, start: int, mark: str) -> tuple[int, bool]:
    """How many of the first signs of `mark` stand at `start`, and whether all do; white space is none."""
    size = next((n for n in range(len(mark), 0, -1) if text.startswith(mark[:n], start)), 0)
    return (size, size == len(mark)) if mark.strip() else (0, False)


def _behind_closer(marks: Marks, text: str, at: int) -> bool:
    """Does a closer of a value stand just before the name, or the beginning of one at it?"""
    before = text[max(0, at - REACH) : at].rstrip()
    closers = [mark for mark in marks[2] if mark.strip()]
    return any(mark in before or _ends_with(before, mark, KEY_PIECE) for mark in closers)


def _ends_with(text: str, mark: str, least: int) -> bool:
    """Does the text end in the beginning of the mark?"""
    return any(text.endswith(mark[:n]) for n in range(len(mark), least - 1, -1))


def _ends(row: Row, arguments: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """The marks that should have ended each text."""
    for key, value in arguments.items():
        if isinstance(value, str):
            yield row.value_close or (f"</{key}>",), value.rstrip()


def _ends_in(closers: tuple[str, ...], text: str) -> bool:
    """Does a text end in something like one of these marks, of which a sign is missing?"""
    for mark in closers:
        tail = text[-len(mark) - REACH :]
        words = "|".join(map(re.escape, WORD.findall(mark)))
        if words and re.search(rf"(?:[</|:｜]\w*|\A|\s)(?:{words})\W*\Z|<[^<\s]*(?:{words})[^<\s]*\Z", tail):
            return True
        if mark.strip() and _ends_with(text, mark, 2):
            return True
    return (
        text[-1:] in SIGNS
        and any(m[-1:] == text[-1:] or m[:1] == text[-1:] for m in closers)
        and not (text[-1] == ">" and WHOLE_TAG.search(text[-200:]))
    )
