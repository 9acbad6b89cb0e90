"""Where a declared tool is named next: behind many marks that meant nothing, only what stands near a name is read.

A mark that proves little opens a call only if a declared tool's name follows, so where none does nobody has to look at
it: a name is found by one search, where looking at a mark takes a hundred steps.  An object may name its tool behind
its arguments, however long they are, so their key counts as a name where it comes first.  Knows declared names and a
source; nothing of marks.

Contract: a place is clear or not by the text alone, never by the pieces it came in; no text is searched twice.
"""

from __future__ import annotations

import re

from ...late import late
from ...lenient.source import Source
from ...records import NamedTuple
from ..judge.declared import Declared
from .choices import either
from .overlooked import ARGUMENT_KEYS

REACH = 400
"""So far behind its first mark a call is named."""
FEW = 64
"""Of more names the words of a text are looked up: one pattern of all would try each at every place."""
RUN = late(r"[^\W_]+")
BEFORE = (*ARGUMENT_KEYS, "thought")
"""What an object may say at length before it names its tool: where it begins with such a key, that stands for it."""
KEY = rf"(?<=\{{)(?=[\s\"'\w])\s{{0,8}}+[\"']?+\w{{0,8}}?(?i:{'|'.join(BEFORE)})[\"']?\s{{0,4}}:"
"""One, from behind its bracket on."""
LONGEST_KEY = 24 + max(map(len, BEFORE))
FIRST = late(r"\{\s{0,8}[\"']?(?:\w{1,8}_)?\Z")
"""What stands before one."""
ESCAPED = r"\\u00[4-7]"
"""A letter as JSON may write one."""


class Keys(NamedTuple):
    """What one of is in every spelling of every name: a pattern for them, or the words themselves; the longest."""

    pattern: re.Pattern[str] | None
    words: frozenset[str]
    longest: int


class Nearby:
    """Asked of one message, from the front to its end."""

    __slots__ = ("_found", "_keys", "_searched", "_src")

    def __init__(self, src: Source, names: Declared) -> None:
        self._src, self._keys = src, _keys(names)
        self._found = self._searched = -1

    def clear(self) -> int:
        """Up to which place of `src.buf` no name comes near; not behind `src.pos` where one may."""
        src = self._src
        at = self._next()
        if at < 0:
            at = len(src.buf) - (0 if src.eof else self._keys.longest)
        return at - REACH

    def ends(self) -> int:
        """Behind which place of `src.buf` the name that is near has begun; -1 where more text must tell."""
        at = self._next()
        return at + 1 if at >= 0 else len(self._src.buf) if self._src.eof else -1

    def _next(self) -> int:
        """Where in the buffer the next name stands; -1 for none."""
        src = self._src
        base, pos, size = src.base, src.pos, len(src.buf)
        if self._found >= base + pos:
            return self._found - base
        start = max(pos, self._searched - base)
        at = _find(self._keys, src.buf, start) if start < size else -1
        self._searched = base + (max(start, size - self._keys.longest) if at < 0 else at + 1)
        if at >= 0:
            self._found = base + at
        return at


def _find(keys: Keys, text: str, start: int) -> int:
    if keys.pattern is not None:
        found = keys.pattern.search(text, start)
        return -1 if found is None else found.start()
    for run in RUN.finditer(text, start):
        word, at = run.group().casefold(), run.start()
        if word in keys.words or (word in BEFORE and FIRST.search(text, max(0, at - LONGEST_KEY), at) is not None):
            return at
    return -1


def _keys(names: Declared) -> Keys:
    found: Keys | None = names.prepared.get(Nearby)
    if found is None:
        found = names.prepared[Nearby] = _make(names)
    return found


def _make(names: Declared) -> Keys:
    """Of each name its longest word behind its namespace, in any case: signs between words are written in many ways."""
    tails = [name.rpartition(".")[2] or name for name in names.written]
    words = {max(RUN.findall(tail), key=len, default="").casefold() for tail in tails}
    longest = max([len(ESCAPED), LONGEST_KEY, *map(len, words)])
    if len(words) > FEW:
        whole = {"".join(RUN.findall(name)).casefold() for name in names.written}
        return Keys(None, frozenset(words | whole), max(longest, *map(len, whole)))
    if "" in words:
        return Keys(re.compile(""), frozenset(), longest)
    firsts = sorted({word[0] for word in words})
    signs = "".join(either(sign).strip("[]") for sign in firsts)
    choice = "|".join(f"(?<={either(word[0])})(?i:{re.escape(word[1:])})" for word in sorted(words))
    escaped = rf"(?<=\\){ESCAPED[2:]}"
    return Keys(re.compile(rf"[{signs}\\{{](?:{choice}|{KEY}|{escaped})"), frozenset(), longest)
