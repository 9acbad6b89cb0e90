"""Where a string ends in which quotes were not escaped: found by reading what follows as the structure it must be.

A quote can end the string only if all behind it is JSON up to the last bracket that is open, with the same asked of
every other damaged string there.  Knows JSON's signs; mends nothing and writes nothing; `strings.py` reads with it.

Contract: of several readings the one whose strings end first, quotes inside a string coming in pairs; each quote is
asked about once for each stack of brackets, and the whole is given up after a bounded number of steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from ..late import late
from .notation import BLANK, Broken

MAX_STEPS, MOST_STEPS = 20_000, 30_000
"""So many steps are taken for one way to read a text, and for all ways together."""
MAX_STRINGS = 200
"""No object of a call holds more strings behind a damaged one; reading them recurses."""
QUOTE = late(r"\\.|\"", re.S)
BLANKS = late(rf"[{BLANK}]*")
COMMENTS = {"#": ("\n", 1), "//": ("\n", 2), "/*": ("*/", 2)}
"""What comments begin with, what ends them, and how far behind their beginning that may stand."""
KEY = late(rf'"[^"\\\n]{{1,120}}"[{BLANK}]*:')
SCALAR = late(r"-?\d[\d.eE+-]*|true|false|null|True|False|None")
MEMBER = late(rf'"[{BLANK}]*,[{BLANK}]*{KEY.pattern}')
CONCATENATED = late(rf'"[{BLANK}]*\+[{BLANK}]*"')

Ends: TypeAlias = dict[int, int]
"""By a string's first quote inside (or its end), where it ends."""
Accept: TypeAlias = Callable[[int], bool]


class Damaged:
    """One text with a damaged string in it, read from there on.  `accept` says whether all may be over at a place."""

    steps: int

    def __init__(self, text: str, accept: Accept, *, pairs: bool, room: int) -> None:
        self._text, self._accept, self._pairs, self._room = text, accept, pairs, room
        self._dead: set[tuple[int, str]] = set()
        self._next: dict[str, tuple[int, int]] = {}  # by what ends comments: from where it was looked for, and found
        self.steps = 0

    def ends(self, quote: int, closers: str) -> Ends | None:
        """Where the strings end, of which the first is open at its first bare quote inside `closers`' brackets."""
        return self._string(quote, closers, 0)

    def _quotes(self, at: int) -> Iterator[int]:
        for found in QUOTE.finditer(self._text, at):
            if len(found.group()) == 1:
                yield found.start()

    def _string(self, at: int, closers: str, depth: int) -> Ends | None:
        """The ends of the string that goes on at `at`, and of those behind it."""
        if (at, closers) in self._dead or depth > MAX_STRINGS:
            return None
        first = -1
        for inner, quote in enumerate(self._quotes(at)):
            first = quote if first < 0 else first
            self.steps += 1
            if self.steps > self._room:
                return None
            if inner % 2 and (self._pairs or not self._closes(quote + 1)):
                if not self._pairs and MEMBER.match(self._text, quote):
                    break
                continue
            if not inner % 2 and CONCATENATED.match(self._text, quote):
                raise Broken("a string is joined of several, or holds quotes that were not escaped")
            found = self._behind(quote + 1, closers, depth)
            if found is not None:
                found[first] = quote
                return found
        self._dead.add((at, closers))
        return None

    def _closes(self, at: int) -> bool:
        at = self._skip(at)
        return self._text[at : at + 1] in ("}", "]")

    def _behind(self, at: int, closers: str, depth: int) -> Ends | None:
        """Read on behind a value; the ends of what strings follow, None where this is no structure."""
        text = self._text
        while True:
            self.steps += 1
            at = self._skip(at)
            c = text[at : at + 1]
            if c == closers[-1:] and c:
                closers, at = closers[:-1], at + 1
                if not closers:
                    return {} if self._accept(at) else None
                continue
            if c != ",":
                return None
            at = self._skip(at + 1)
            if text[at : at + 1] == closers[-1]:
                continue
            if closers[-1] == "}":
                key = KEY.match(text, at)
                if key is None:
                    return None
                at = self._skip(key.end())
            value = self._value(at, closers)
            if value is None:
                return None
            at, closers, string = value
            if string:
                return self._string(at, closers, depth + 1)

    def _value(self, at: int, closers: str) -> tuple[int, str, bool] | None:
        """Take a value's beginning: where it goes on, in which brackets, and whether a string was opened."""
        text = self._text
        while True:
            c = text[at : at + 1]
            if c == '"':
                return at + 1, closers, True
            if c not in "{[" or not c:
                found = SCALAR.match(text, at)
                return (found.end(), closers, False) if found else None
            closers += "}" if c == "{" else "]"
            if len(closers) > 90:
                return None
            at = self._skip(at + 1)
            if text[at : at + 1] == closers[-1]:
                return at + 1, closers[:-1], False
            if c == "{":
                key = KEY.match(text, at)
                if key is None:
                    return None
                at = self._skip(key.end())

    def _skip(self, at: int) -> int:
        """Step over white space, and comments with something behind them."""
        text = self._text
        while True:
            at = BLANKS.match(text, at).end()  # type: ignore[union-attr]
            comment = COMMENTS.get(text[at : at + 1]) or COMMENTS.get(text[at : at + 2])
            if comment is None:
                return at
            end, size = comment
            found = self._find(end, at + size)
            if found < 0:
                return at
            at = found + len(end)

    def _find(self, end: str, at: int) -> int:
        """Where the end of a comment is found next; no text is searched twice, however many begin in it."""
        begun, found = self._next.get(end, (at + 1, -1))
        if begun <= at and (found < 0 or at <= found):
            return found
        self._next[end] = at, self._text.find(end, at)
        return self._next[end][1]


def ends_of(text: str, quote: int, closers: str, stops: tuple[str, ...]) -> tuple[Ends, int]:
    """Where the strings end, read as strictly as gives any reading: up to a mark around it all, or the text's end.

    Empty where nothing tells; besides, the steps it took.
    """
    steps = 0
    tries: tuple[Accept, ...] = (lambda at: _over(text, at, stops), lambda at: _goes_on(text, at, stops))
    for pairs in (True, False):
        for accept in tries:
            damaged = Damaged(text, accept, pairs=pairs, room=min(MAX_STEPS, MOST_STEPS - steps))
            found = damaged.ends(quote, closers)
            steps += damaged.steps
            if found is not None:
                return found, steps
    return {}, steps


def _over(text: str, at: int, stops: tuple[str, ...]) -> bool:
    """Does nothing follow but a mark around it all?"""
    rest = _spaces(text, at)
    if rest == len(text):
        return True
    stop = next((s for s in stops if text.startswith(s, rest)), "")
    return bool(stop) and text[rest + len(stop) : rest + len(stop) + 1] not in tuple("\"'}")


def _goes_on(text: str, at: int, stops: tuple[str, ...]) -> bool:
    """Does another call follow, or a line of its own where nothing stands around it all?"""
    rest = _spaces(text, at)
    if text[rest : rest + 1] in ("]", ",", ";"):
        return text[_spaces(text, rest + 1) :][:1] in ("", "{", "[", "<", ",", ";")
    return not stops and "\n" in text[at:rest]


def _spaces(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
