"""The visible text of a message, as far back as anyone reads it once more.

Knows text and where nothing but white space parts it; not what it is read for.
Contract: what was appended to `pieces` is in `end()` or was read into its context, in order, and where the one begins
depends on the text alone, not on its pieces; the memory is bounded; each character is looked at a bounded number of
times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...late import late, late_call

if TYPE_CHECKING:
    from ..judge.quotation import Context

_context: Callable[[], Context] = late_call("..judge.quotation", "Context", __name__)

BLOCK = 1_000_000
"""Characters by which the text is cut."""
MOST_VISIBLE = 2 * BLOCK
"""Characters that are kept; of more than that, the last block and what was begun of the next."""
BLANK_LINE = late(r"\n[ \t\r]*\n")
NEAR = 10_000
"""Characters behind a block's end in which a blank line is looked for."""


class VisibleText:
    """Whoever appends to `pieces` counts the characters in `size`, and calls `cut` beyond `MOST_VISIBLE`."""

    __slots__ = ("_base", "_before", "pieces", "size")
    size: int

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.size = 0
        self._base = 0  # characters that went
        self._before: Context | None = None

    def cut(self) -> None:
        """Let the first blocks go: memory is bounded by what is unread, however long a model talks.

        It is cut at a blank line, where no line has begun and hardly any call goes on; what was open there, a fence
        say, is in the context.
        """
        block = ((self._base + self.size - 1) // BLOCK - 1) * BLOCK - self._base
        if block <= 0:
            return
        text = "".join(self.pieces)
        blank = BLANK_LINE.search(text, block, block + NEAR)
        at = blank.end() if blank else block
        self._before = self._before or _context()
        self._before.add(text[:at])
        self._before.forget()
        self.pieces[:] = (text[at:],)
        self._base, self.size = self._base + at, len(text) - at

    def end(self) -> tuple[str, Context | None]:
        """What is kept, and what has read the text before it (None: there was none); to be asked for once."""
        if self._base:
            self.cut()
        return "".join(self.pieces), self._before
