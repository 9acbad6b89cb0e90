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

    __slots__ = ("_by_head",)

    def __init__(self, marks: Iterable[str]) -> None:
        folded = {mark.casefold() for mark in marks}
        short = [mark for mark in folded if len(mark) < HEAD]
        found: dict[str, list[str]] = {mark[0]: [] for mark in short}  # where none that is longer stands
        for mark in folded:
            if len(mark) >= HEAD:
                found.setdefault(mark[:HEAD], []).append(mark)
        for head, alike in found.items():
            alike += [mark for mark in short if mark.startswith(head) or head.startswith(mark)]
        self._by_head: dict[str, list[str] | re.Pattern[str]] = {**found}

    def match(self, text: str, pos: int = 0) -> re.Match[str] | None:
        """The mark that stands here."""
        head = text[pos : pos + HEAD].casefold()
        found = self._by_head.get(head)
        if found is None:
            head = head[:1]
            found = self._by_head.get(head)
            if found is None:
                return None
        if isinstance(found, list):
            found = self._by_head[head] = re.compile(trie(found), re.IGNORECASE)
        return found.match(text, pos)
