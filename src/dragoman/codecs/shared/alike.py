"""A frame as it stands in a stream, and the places in it where the next frames may differ: read without a JSON parser.

Nearly all frames of a stream are like the one before but for one string, and perhaps a number, a time or a count.  What
stands between those places is compared as it is written; what stands in them is checked to be JSON.  So a frame that
matches says what the first one said, but for what is new in those places; any other frame is read the ordinary way.
Many that came at once are read at once, as one whose string is all of theirs.
Knows JSON's spelling; nothing of an API, of framing or of events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...jsontext import quoted
from ...types import NOTHING
from .strict import loads_leniently, value_at

_INSIDE = re.compile(r'[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*').fullmatch
_COUNT = re.compile(r"0|[1-9][0-9]{0,17}").fullmatch
_FLAT = re.compile(r'0|[1-9][0-9]{0,17}|"[^"\\]*"|\{[^{}\[\]]*\}').fullmatch
"""What a value looks like of which several, parted by commas, are never fewer or more than they seem."""
_HALF = re.compile(r"\\u[dD]").search
_MARK = "\ufdd0"  # no character: where it is found again, there the string stands
_TEXT = ""  # the name of the place of the string itself


Found: TypeAlias = tuple[str, Mapping[str, Any]]
"""What a frame says in its places: the string, and the values of fields that may be another each time."""


class Alike:
    """The frames that are like one: `like_frame` makes it."""

    __slots__ = ("_first", "_holes", "_last", "_parts")

    def __init__(self, parts: Sequence[str], holes: Sequence[str]) -> None:
        self._first, *self._parts = parts
        self._last = self._parts.pop()
        self._holes = holes

    def read(self, frame: str) -> Found | None:
        """What `frame` says, where it is like the one this was made of."""
        first, last = self._first, self._last
        at, end = len(first), len(frame) - len(last)
        if end < at or not frame.startswith(first) or not frame.endswith(last):
            return None
        if not self._parts:
            inside = frame[at:end]
            if "\\" not in inside and _INSIDE(inside) is not None:
                return inside, NOTHING
            text = _string(inside)
            return None if text is None else (text, NOTHING)
        return self._read_places(frame, at, end)

    def read_all(self, data: bytes) -> Found | None:
        """What `data` says, where it is one frame or more, and each is like it."""
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return None
        found = self.read(text)
        if found is None and (run := self.read_run(text, 0)) is not None and run[1] == len(text):
            return run[0]
        return found

    def read_run(self, text: str, at: int) -> tuple[Found, int] | None:
        """What the frames from `at` on say that are like it, in one: their strings joined, the fields as the last has
        them; and where they end.  None where they are not plain, or a single one."""
        first, last = self._first, self._last
        if not text.startswith(first, at):
            return None
        between = f"{last}{first}"
        at += len(first)
        behind = text.rfind(between, at)  # where the last frame begins that begins like it
        if behind < 0:
            return None
        for end in (text.find(last, behind + len(between)), behind):
            if end > at and (found := self._together(text[at:end].split(between))) is not None:
                return found, end + len(last)
        return None

    def _together(self, rows: list[str]) -> Found | None:
        """What frames say in one of which these are the insides."""
        columns = self._columns(rows)
        if columns is None:
            return None
        said, noise = "", {}
        for name, column in zip(self._holes, columns, strict=True):
            found = _joined(column) if name is _TEXT else _last(column)
            if found is None:
                return None
            if name is _TEXT:
                said = found[0]
            else:
                noise[name] = found[0]
        return said, noise or NOTHING

    def _columns(self, rows: list[str]) -> list[list[str]] | None:
        """What stands in each place, of all; None where one of them is another frame."""
        columns = []
        for part in self._parts:
            apart = [row.partition(part) for row in rows]
            if not all(found for _, found, _ in apart):
                return None
            columns.append([before for before, _, _ in apart])
            rows = [behind for _, _, behind in apart]
        return [*columns, rows]

    def _read_places(self, frame: str, at: int, end: int) -> Found | None:
        text = ""
        noise: dict[str, Any] = {}
        for number, name in enumerate(self._holes):
            stop = frame.find(self._parts[number], at, end) if number < len(self._parts) else end
            if stop < 0:
                return None
            inside = frame[at:stop]
            if name is _TEXT:
                found = _string(inside)
                if found is None:
                    return None
                text = found
            else:
                try:
                    noise[name] = int(inside) if _COUNT(inside) else loads_leniently(inside)
                except ValueError:
                    return None
            at = stop + len(self._parts[number]) if number < len(self._parts) else stop
        return text, noise


def like_frame(
    frame: str, text: str, noise: Sequence[str], holds: Callable[[Mapping[str, Any]], str | None]
) -> Alike | None:
    """What reads the frames that are like `frame` but for its string `text` and the values of the fields `noise`.

    `holds` gives the string of a body that may differ.  None where it is not certain where that string stands.
    """
    spellings = dict.fromkeys((quoted(text), json.dumps(text, ensure_ascii=False)))
    for spelt in spellings:
        if frame.count(spelt) == 1:
            at = frame.index(spelt) + 1
            places = [(at, at + len(spelt) - 2, _TEXT)]
            break
    else:
        return None
    begin = frame.find("{")
    try:
        places = sorted([*places, *filter(None, (_place(frame, name) for name in noise))])
        body = loads_leniently(_marked(frame, places)[begin:]) if begin >= 0 else None
        if body is None or holds(body) != _MARK:
            return None
    except (ValueError, AttributeError):
        return None
    return _apart(frame, [place for place in places if place[2] is _TEXT or body.get(place[2]) == _MARK])


def _place(frame: str, name: str) -> tuple[int, int, str] | None:
    """Where the value of a field `name` stands, whoever's it is; None for none, or for more than one of that name."""
    key = f'"{name}":'
    if frame.count(key) != 1:
        return None
    start = frame.index(key) + len(key)
    start += frame[start:].startswith(" ")
    return start, value_at(frame, start), name


def _marked(frame: str, places: Sequence[tuple[int, int, str]]) -> str:
    """`frame` with the mark in all places: where it is found again shows whose they are."""
    parts: list[str] = []
    at = 0
    for start, end, name in places:
        parts += (frame[at:start], _MARK if name is _TEXT else f'"{_MARK}"')
        at = end
    return "".join((*parts, frame[at:]))


def _apart(frame: str, places: Sequence[tuple[int, int, str]]) -> Alike | None:
    parts, at = [], 0
    for start, end, _ in places:
        if start < at:
            return None
        parts.append(frame[at:start])
        at = end
    return Alike([*parts, frame[at:]], [name for _, _, name in places])


def _string(inside: str) -> str | None:
    """The text of a string's inside; None where it is none, or holds half a character."""
    if _INSIDE(inside) is None:
        return None
    if "\\" not in inside:
        return inside
    text: str = json.loads(f'"{inside}"')
    if "\\u" in inside and not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return None
    return text


def _joined(insides: list[str]) -> tuple[str] | None:
    """The texts of strings as one; None where one is none, or holds half a character."""
    joined = "".join(insides)
    if "\\" not in joined:
        return (joined,) if _INSIDE(joined) is not None else None
    apart = " ".join(insides)
    if _INSIDE(apart) is None or (_HALF(apart) is not None and _string(apart) is None):
        return None
    return (json.loads(f'"{joined}"'),)


def _last(values: list[str]) -> tuple[Any] | None:
    """The last of several values; None where one is none, or the last leaves open what another says."""
    if not all(map(_FLAT, values)):
        return None
    try:
        found = loads_leniently(f"[{','.join(values)}]")
    except ValueError:
        return None
    last = found[-1] if len(found) == len(values) else None
    if last is None or len({tuple(value) if type(value) is dict else () for value in found}) > 1:
        return None
    return None if type(last) is dict and None in last.values() else (last,)
