"""Which of many marks stands at a place: the longest, in any case.

By its first signs a mark is found in a table, and a pattern of the marks that begin so tells the rest; each is made
when its signs are first met, for most texts meet few.  Knows spellings; not what they stand for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .choices import trie

HEAD = 3
"""So many first signs part the marks: by two, a third of them would begin alike."""


class MarksAt:
    """Asked where one of `marks` may stand; it answers as a pattern of all of them would."""

    __slots__ = ("_by_head", "_patterns")

    def __init__(self, marks: Iterable[str]) -> None:
        folded = {mark.casefold() for mark in marks}
        short = [mark for mark in folded if len(mark) < HEAD]
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._by_head: dict[str, list[str]] = {mark[0]: [] for mark in short}  # where none that is longer stands
        for mark in folded:
            if len(mark) >= HEAD:
                self._by_head.setdefault(mark[:HEAD], []).append(mark)
        for head, alike in self._by_head.items():
            alike += [mark for mark in short if mark.startswith(head) or head.startswith(mark)]

    def alone(self, text: str, pos: int) -> bool:
        """Does one sign that is a mark stand here, and no longer mark?"""
        if text[pos : pos + HEAD].casefold() not in self._by_head:
            short = self._by_head.get(text[pos], ())
            if len(short) < 2:  # none but the sign itself
                return bool(short)
        found = self.match(text, pos)
        return found is not None and found.end() == pos + 1

    def match(self, text: str, pos: int = 0) -> re.Match[str] | None:
        """The mark that stands here."""
        head = text[pos : pos + HEAD].casefold()
        if head not in self._by_head:
            head = head[:1]
            if head not in self._by_head:
                return None
        pattern = self._patterns.get(head)
        if pattern is None:
            pattern = self._patterns[head] = re.compile(trie(self._by_head[head]), re.IGNORECASE)
        return pattern.match(text, pos)
