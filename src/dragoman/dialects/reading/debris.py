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
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from ...late import late
from ...schema.validation import Shape
from ...types import Edit
from .bare_keys import holds_mark
from .compiled import Row
from .keys import SCALAR
from .likeness import SHORT, differ_at_end
from .unbalanced import holds_next, left_over

PIECE = 3
"""Signs of a mark, beside a name, that are no accident."""
KEY_PIECE = 4
"""Signs of a mark in a name: more, for a name may hold some."""
REST = 6
"""Signs at the end of a mark that no text begins with by accident."""
REACH = 24
"""How far behind a value's closer a name is the next argument's."""
MOST_SEEN = 1000
"""So many surroundings are remembered."""
MOST_TAG = 200
"""So far before a name the tag is looked for that it may be an attribute of."""
IN_TAG = late(r"<[A-Za-z][\w:-]*(?:\s[^<>]*)?\Z")
"""Attributes of another tag, which is whole up to here."""
WHOLE_TAG = late(r"</?\w[\w:-]*(?:\s[^<>]*)?/?>\Z")
LAST_CLOSER = late(r"</(?P<name>[\w:.-]+)\s*>?\Z")
LAST_TAG = late(r"<[/|｜]*(?P<word>\w{3,})[^\w<]*\Z")
VALUE = late(rf"\s*(?:{SCALAR.pattern}|\[.*\]|\{{.*\}})\s*", re.DOTALL)
"""A value that is no text."""
SIGN = late(r"[^\w\s]")
WORD = late(r"\w{4,}")
SIGNS = ("<", ">", "|", "｜")
GUESSED = "unclosed_argument"
WRONG = "wrong_closer"
NEARLY, MOST_NEARLY = 8, 256
"""Marks of so many signs are known where a sign of four is wrong, and beside so many names of a text it is looked."""
NAMED = "the name of an argument that is missing stands in another, beside a piece of a mark"
MARKED = "a mark stands in the name of an argument"
ANOTHER = "another call begins in this one, which is not closed"
NAMELESS = "an argument has no name"
INSIDE = "the closer of an argument stands in it, and another argument is missing"
TRIMMED = "an argument's end was guessed, and whether the line's end before it belongs to it"
DOUBLED = "an argument begins with the mark before an argument"
LINE_ENDS = ("\n", "\r")
OPENED = "an argument begins in it, and nothing closes it there: another closer is perhaps damaged"
BEGUN = "a piece of the mark before an argument stands in it"
ENDED = "a piece of a mark stands where an argument's end was guessed"


def debris(
    row: Row, shape: Shape, arguments: Mapping[str, Any], edits: list[Edit], trim: str, *, known: Callable[[str], bool]
) -> str:
    """Why the arguments may hold a damaged mark, or the `trim` around one; "" if nothing says so.

    `known` tells whether a tool has a name.
    """
    if "" in arguments and "" not in shape.keys:
        return NAMELESS
    if any(key not in shape.keys and not key.isidentifier() and _holds_piece(row, key) for key in arguments):
        return MARKED
    if not row.key_open and any(key not in shape.keys and _opens_call(row, key) for key in arguments):
        return ANOTHER
    texts = [value for value in arguments.values() if isinstance(value, str)]
    if any(_begins_again(row, key, value) for key, value in arguments.items() if isinstance(value, str)):
        return DOUBLED
    guessed = any(edit.kind == GUESSED or (edit.kind == WRONG and not row.key_open) for edit in edits)
    if guessed and any(_ends_damaged(*end) for end in _ends(row, arguments)):
        return ENDED
    if guessed and row.value_open and any(mark in text for mark in row.key_close if mark[:2] == "</" for text in texts):
        return ENDED
    if guessed and trim and any(text.endswith(LINE_ENDS) for text in _guessed(arguments, edits)):
        return TRIMMED
    if any(_begins_in(row.key_close, text) for text in texts):
        return BEGUN
    if row.key_open and any(holds_next(row, text, known) for text in texts):
        return OPENED
    opens, closes = row.key_open, row.key_close
    if not opens and guessed:  # elements: a mark is the name itself, so that any tag of a text is like one
        opens, closes = ("<",), (">",)
    missing = [key for key in shape.keys if key not in arguments]
    if missing and any(holds_mark(row, text, missing) for text in texts):
        return INSIDE
    if missing and opens:
        marks = opens, closes, row.value_close
        if any(_stands_in(marks, key, text) for key in missing for text in texts if key in text):
            return NAMED
        if any(_closes_more(row, text) for text in texts):
            return INSIDE
    return ""


def _opens_call(row: Row, key: str) -> bool:
    """Is an element named as what opens a call?"""
    return any(mark.endswith(f"<{key}>") for mark in row.opens_call)


def _begins_again(row: Row, key: str, text: str) -> bool:
    """Does a text begin with the opener of an argument that nothing in it closes: its own, once more?"""
    begun = text.lstrip()
    if row.key_open:
        opens, closes = row.value_open or row.key_open, row.value_close
    else:
        opens, closes = (f"<{key}>",), (f"</{key}>",)
    first = next((mark for mark in opens if len(mark) > PIECE and begun.startswith(mark) and begun != mark), "")
    return bool(first) and text.count(first) > sum([text.count(mark) for mark in _shortest(closes)])


def _closes_more(row: Row, text: str) -> bool:
    """Does a closer of a value, which no opener in the text accounts for, stand at a line's end in it, or before most
    of an argument's opener, and not all of it?"""
    if not any(mark in text for mark in row.value_close if len(mark) > PIECE):
        return False
    begun = tuple(mark[: max(PIECE, len(mark) * 2 // 3)] for mark in row.key_open)
    for at in left_over(row, text).closes:
        behind = text[at : at + MOST_TAG].lstrip()
        if text.startswith("\n", at) or VALUE.fullmatch(text, at) is not None:
            return True
        if behind.startswith(begun) and not behind.startswith(row.key_open):
            return True
    return False


def _shortest(marks: tuple[str, ...]) -> list[str]:
    """The marks that begin with no other of them."""
    return [m for m in marks if not any(m != other and m.startswith(other) for other in marks)]


def _begins_in(marks: tuple[str, ...], text: str) -> bool:
    """Does a text begin with one of these marks, or the rest of one, which should have stood before it?"""
    return any(text.startswith(mark[at:]) for mark in marks for at in range(len(mark) - REST + 1))


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
    around = _Around(marks, text)
    at = text.find(key)
    while at >= 0:
        if around.tells(at, at + len(key)):
            return True
        at = text.find(key, at + 1)
    return f"</{key}>" in text and f"<{key}" not in text


class _Around:
    """Asked what stands around places of one text; what is spelt alike is looked at once."""

    def __init__(self, marks: Marks, text: str) -> None:
        self._marks, self._text = marks, text
        self._reach = max([REACH, *(len(mark) + NEARLY for some in marks for mark in some)])
        self._seen: dict[tuple[str, str], bool | str] = {}
        self._left = MOST_NEARLY
        self._last: dict[str, int] = {}

    def tells(self, start: int, end: int) -> bool:
        """Is a piece of a mark left there that would hold the name of an argument?"""
        before, behind = self._text[max(0, start - self._reach) : start], self._text[end : end + self._reach]
        found = self._seen.get((before, behind))
        if found is None:
            if len(self._seen) >= MOST_SEEN:
                self._seen.clear()
            found = _behind_closer(self._marks, before) or _between_marks(self._marks, before, behind)
            if found is not True:
                found = self._is_behind_nearly(before, end - start) or found
            self._seen[before, behind] = found
        return found is True or (found is not False and not self._is_tag(found, start - len(found), end))

    def _is_behind_nearly(self, before: str, size: int) -> bool:
        """Does what a few wrong signs make of an argument's opener stand before a name of this size?"""
        if size < SHORT or self._left <= 0 or not any(sign in before for sign in SIGNS):
            return False
        self._left -= 1
        return any(len(mark) >= NEARLY and _ends_nearly(before, mark) for mark in self._marks[0])

    def _is_tag(self, begun: str, start: int, end: int) -> bool:
        """Does what looks like a piece of a mark, `begun` here, belong to a tag of another kind, that is whole?"""
        before = self._text[max(0, start + len(begun) - MOST_TAG) : start]
        if before.endswith("<") and (word := WORD.match(begun)):
            closer = f"</{word.group()}>"
            if closer not in self._last:
                self._last[closer] = self._text.rfind(closer)
            return self._last[closer] >= end
        return IN_TAG.search(before) is not None


def _between_marks(marks: Marks, before: str, behind: str) -> bool | str:
    """Does a piece of a mark stand beside a name, before it or behind?  What may be one before it is told, if it is
    only that where it is no other tag's."""
    opens, closes, _ = marks
    size, closed = max((_prefix(behind, mark) for mark in closes), default=(0, False))
    if closed and size >= PIECE:
        return True
    sizes = [(_suffix(before, mark), len(mark)) for mark in opens]
    if any(size >= whole - PIECE > 0 for size, whole in sizes):
        return True
    size = max(size for size, _ in sizes)
    begun = before[len(before) - size :]
    return begun if closed and begun.strip() else False


def _suffix(text: str, mark: str) -> int:
    """How many of the last signs of `mark` the text ends with."""
    return next((n for n in range(len(mark), 0, -1) if text.endswith(mark[-n:])), 0)


def _prefix(text: str, mark: str) -> tuple[int, bool]:
    """How many of the first signs of `mark` the text begins with, and whether with all; white space is none."""
    size = next((n for n in range(len(mark), 0, -1) if text.startswith(mark[:n])), 0)
    return (size, size == len(mark)) if mark.strip() else (0, False)


def _behind_closer(marks: Marks, before: str) -> bool:
    """Does a closer of a value stand just before the name, or the beginning of one at it?"""
    before = before[-REACH:].rstrip()
    closers = [mark for mark in marks[2] if mark.strip()]
    return any(mark in before or _ends_with(before, mark, KEY_PIECE) for mark in closers)


def _ends_with(text: str, mark: str, least: int) -> bool:
    """Does the text end in the beginning of the mark?"""
    return any(text.endswith(mark[:n]) for n in range(len(mark), least - 1, -1))


def _guessed(arguments: Mapping[str, Any], edits: list[Edit]) -> Iterator[str]:
    """The texts whose end was guessed; all of them, where one's key was mended."""
    keys = {edit.before for edit in edits if edit.kind == GUESSED}
    for key, value in arguments.items():
        if isinstance(value, str) and (key in keys or not keys <= arguments.keys()):
            yield value


def _ends(row: Row, arguments: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Each text with its key and the marks that should have ended it."""
    for key, value in arguments.items():
        if isinstance(value, str):
            yield key, row.value_close or (f"</{key}>",), value.rstrip()


def _ends_damaged(key: str, closers: tuple[str, ...], text: str) -> bool:
    """Does a text end in what is left of a closer: of one of these marks, of the argument's name, or of any tag?"""
    if _ends_in(closers, text) or _ends_unopened(text):
        return True
    return re.search(rf"<\W*{re.escape(key)}\W*\Z", text[-len(key) - REACH :]) is not None


def _ends_unopened(text: str) -> bool:
    """Does a text end in a closing tag more often written in it than the opening one: perhaps its own, misspelt?"""
    found = LAST_CLOSER.search(text[-MOST_TAG:])
    return found is not None and text.count(f"</{found['name']}") > text.count(f"<{found['name']}")


def _ends_nearly(text: str, mark: str) -> bool:
    """Does a text end in the mark but for one sign of four, or in a tag that is a part of it; white space is none?"""
    found = LAST_CLOSER.search(text[-MOST_TAG:])
    if found is not None and f"<{found['name']}" in text:
        return False
    tail, mark = ("".join(one.split()) for one in (text[-2 * len(mark) - REACH :], mark))
    tag = LAST_TAG.search(tail)
    if tag is not None and tag["word"] in mark:
        return True
    if sorted(tail[-len(mark) :]) == sorted(mark):
        return True
    wrong = len(mark) // 4
    return differ_at_end(tail[-len(mark) - wrong :], mark) <= wrong


def _ends_in(closers: tuple[str, ...], text: str) -> bool:
    """Does a text end in something like one of these marks, of which a sign is missing?"""
    for mark in closers:
        tail = text[-len(mark) - REACH :]
        words = "|".join(map(re.escape, WORD.findall(mark)))
        if words and re.search(rf"(?:[</|:｜]\w*|\A|\s)(?:{words})\W*\Z|<[^<\s]*(?:{words})[^<\s]*\Z", tail):
            return True
        if mark.strip() and (_ends_with(text, mark, 2) or _ends_nearly(text, mark)):
            return True
    return (
        text[-1:] in SIGNS
        and any(m[-1:] == text[-1:] or m[:1] == text[-1:] for m in closers)
        and not (text[-1] == ">" and WHOLE_TAG.search(text[-200:]))
    )
