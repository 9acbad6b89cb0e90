"""Where a pattern is found next in text that arrives in pieces.

Knows a source and one pattern; not what the pattern stands for.
"""

from __future__ import annotations

import re

from ...lenient.source import Source


class Lead:
    """Where a pattern is found next; no text is searched twice, however often it is asked.

    A character class counts where it begins, a line's beginning where it ends.
    """

    __slots__ = ("_found", "_one", "_pattern", "_searched")

    def __init__(self, pattern: re.Pattern[str], *, one: bool) -> None:
        self._pattern, self._one = pattern, one
        self._found = self._searched = -1

    def next(self, src: Source, start: int) -> int:
        """The first such place at or after `start` (an index into `src.buf`); the buffer's length if none."""
        base, size = src.base, len(src.buf)
        if self._found >= base + start:
            return self._found - base
        begin = max(start, self._searched - base, 0)
        match = self._pattern.search(src.buf, begin)
        if match is None:
            newline = src.buf.rfind("\n", begin)
            self._searched = base + (newline if newline >= 0 else size)
            return size
        at = match.end() - 1 if self._one else match.end()
        self._found = base + at
        return at
