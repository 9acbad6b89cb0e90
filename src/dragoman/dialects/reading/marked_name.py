"""The tool's name where markup carries it: between marks, in a segment's header, or in the opener itself.

Knows rows and a source; nothing of arguments, of tools or of where in the message it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from ...late import late
from ...lenient.notation import Broken, Cut
from ...lenient.source import Need, Source, finder, may_be_longer
from ..spec import Dialect
from .compiled import Row
from .segments import header

MAX_NAME = 256
"""No tool's name is longer (APIs allow 64 to 128)."""
NAME = late(r"[^\s\"'`<>{}()\[\],;=]+")
NO_NAME = late(r"\w\s+\w+\s+\w|\A\s*[^\s<\[][^<\[]*\n\s*(?:<(?!/)|\[)\S|<[\w:-]+\s+\w+=[\"']")
"""What no cut name holds, nor what stands around one: words, a mark that opens a later line, a tag with attributes."""
TAG_END = late(r"\s*>")
REST = late(r'(?P<name>[\w.:/-]+)">')
"""The end of a name in quotes."""
LINE_END = late(r":?[ \t]*\r?\n")
NAME_END = late(r":?[ \t]*(?:\r?\n|(?=\{))")


class Mismatch(Exception):
    """The text is not what this dialect says."""


class Swallowed(Broken):
    """A string was read past the end of its call, and holds another one: what stands there is to be read again."""


class MarkedName:
    """Reads the name at the source's place; `called` is one that the opener held."""

    row: Row
    src: Source

    def __init__(self, src: Source, row: Row) -> None:
        self.src, self.row = src, row
        self.spec: Dialect = row.dialect
        self.opener = self.called = ""
        self._torn = False

    def tool(self) -> Need[tuple[str, str | None, str]]:
        """The tool's name, its id, and the mark that ended them."""
        src, row, d = self.src, self.row, self.spec
        if self.called:
            yield from self._head_end()
            return self.called, None, ""
        if row.tool_open and not (yield from src.literal(row.tool_open + row.torn_open)):
            raise Mismatch
        if row.tool_open:
            yield from src.space()
        if row.headed:
            text, mark = yield from self._header()
        elif not row.tool_close:
            found = yield from src.match(NAME, MAX_NAME)
            if found is None:
                raise Mismatch
            src.pos = found.end()
            text, mark = found.group(), ""
        else:
            text, mark = yield from self.until_name(row.tool_close + row.ends + row.key_open)
            if mark not in row.tool_close:
                self.src.pos -= len(mark)
                raise Broken("no arguments follow the tool's name")
            # a mark that is no quote leaked into a name in quotes, where one follows: all of it is the name
            leaked = row.tool_open and row.tool_open[0][-1:] == '"' != mark[:1]
            if leaked and (rest := (yield from src.match(REST, MAX_NAME))) is not None:
                text, mark, src.pos = f"{text}{mark}{rest['name']}", '">', rest.end()
        split = _whole(d.tool_re)(text.strip())
        if split is None:
            raise Mismatch
        parts = split.groupdict()
        return (parts.get("name") or "").strip(), parts.get("id"), mark

    def _header(self) -> Need[tuple[str, str]]:
        """The rest of a segment's header, and the mark that ends it."""
        assert self.spec.segments is not None
        head = yield from header(self.src, (self.spec.segments,))
        if head is None:
            raise Mismatch
        mark = next((m for m in self.spec.segments.head if head.endswith(m)), "")
        if not mark:
            raise Cut if "to=" in head else Mismatch
        return head.removesuffix(mark), mark

    def _head_end(self) -> Need[None]:
        """After an opener that ends in the tool's name: what ends the name (a longer one is another tool's)."""
        if not self.opener.endswith(self.called):
            return
        src, tag = self.src, self.opener[0] == "<"
        found = yield from src.match(TAG_END if tag else NAME_END, 64)
        if found is None and tag:
            found = yield from src.match(LINE_END, 64)
            self._torn = found is not None
        if found is None:
            raise Mismatch
        src.pos = found.end()

    def until_name(self, marks: tuple[str, ...]) -> Need[tuple[str, str]]:
        """The text up to the first of `marks`, which must not be far, and that mark."""
        src = self.src
        pattern, prefixes, longest, _ = finder(marks)
        reach = MAX_NAME + longest
        while True:
            found = pattern.search(src.buf, src.pos, src.pos + reach)
            if found is not None and (src.eof or not may_be_longer(found, src.buf, prefixes, longest)):
                text, src.pos = src.buf[src.pos : found.start()], found.end()
                return text, found.group()
            if len(src.buf) - src.pos >= reach:
                raise Mismatch
            if src.eof:
                raise Mismatch if NO_NAME.search(_before_any(marks, src.buf[src.pos :])) else Cut
            yield


@lru_cache(maxsize=256)
def _whole(pattern: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(pattern, re.S).fullmatch


def _before_any(marks: tuple[str, ...], text: str) -> str:
    """`text` without the beginning of one of `marks` that it ends in."""
    begun = (n for mark in marks for n in range(len(mark) - 1, 0, -1) if text.endswith(mark[:n]))
    return text[: len(text) - max(begun, default=0)]
