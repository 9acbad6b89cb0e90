"""What may stand between the parts of a value: white space, however it is spelt, and comments.

Knows characters; nothing of objects and lists.
Contract: what is skipped besides plain white space is noted as a mend; a comment that would swallow
all that could close what is open is none.
"""

from __future__ import annotations

from .notation import BLANK
from .source import Need
from .unquoted import WordReader

LINE_ENDS = ("\n", "\r")


class BlankReader(WordReader):
    """Skips what separates values."""

    def blank(self) -> Need[str]:
        """Skip white space and comments; returns the next character, "" at the end."""
        src = self.src
        while True:
            buf, pos, size = src.buf, src.pos, len(src.buf)
            while pos < size and buf[pos] in BLANK:
                pos += 1
            src.pos = pos
            if pos < size:
                c = buf[pos]
                if c not in "/#\\":
                    return c
                if not (yield from self._comment(c) if c != "\\" else self._written_blank()):
                    return c
            elif src.eof:
                return ""
            else:
                yield

    def _written_blank(self) -> Need[bool]:
        """White space written as its escape between tokens: a backslash and an `n`."""
        if (yield from self.src.peek(2)) not in ("\\n", "\\t", "\\r"):
            return False
        self.src.pos += 2
        self.note("escaped_blank")
        return True

    def _comment(self, c: str) -> Need[bool]:
        two = yield from self.src.peek(2)
        ends = {"//": LINE_ENDS, "/*": ("*/",)}.get(two) if c == "/" else LINE_ENDS
        if ends is None:
            return False
        self.src.hold()
        if not (yield from self.src.until(ends, _drop)) and self.closers:
            self.src.rewind()  # nothing after it could close what is open: it is no comment, but damage
            return False
        self.src.release()
        self.note("comment")
        return True


def _drop(text: str) -> None:
    return None
