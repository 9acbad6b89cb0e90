"""Which marks of a row open and close what, so that a value may hold whole calls of its own dialect.

Derived from the row's spans.  A closer that is a tag (`</parameter>`) is balanced by any tag of its
name, whatever dialect spells it (`<parameter=a>`, `<parameter name="a">`); every other closer by its span's openers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ...late import late
from ...lenient.source import Need, Source

TAG_CLOSER = late(r"</(?P<name>[^<>]+)>")
OPENING_TAG = late(r"<[^<>\n]{1,400}(?<!/)>")
"""A tag that opens something: one that closes itself does not."""
OPENER = late(r"<(?P<name>[^<>\s=/]+)(?=[\s=>])[^<>\n]{0,400}(?<!/)>")
"""The same, by its name."""
TAG_OVER = late(r"[<>]")
"""Where it shows that a tag is one, or none."""
MAX_OPENER = 400
NAME_OVER = frozenset(" \t=>")

Pair: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


class Nesting:
    """Marks inside a value by kind: `opens` and `closes`; `values` are the kinds that are arguments."""

    def __init__(self, arguments: Pair, *around: Pair) -> None:
        self.opens: dict[str, str] = {}
        self.closes: dict[str, str] = {}
        self.values: frozenset[str] = self._level("0", *arguments)
        for i, pair in enumerate(around, 1):
            self._level(f"{i}", *pair)
        self.marks: tuple[str, ...] = tuple(dict.fromkeys((*self.closes, *self.opens)))

    def _level(self, level: str, openers: Iterable[str], closers: Iterable[str]) -> frozenset[str]:
        kinds = set()
        for closer in closers:
            tag = TAG_CLOSER.match(closer) if closer.startswith("</") else None
            kind = self.closes.setdefault(closer, tag["name"] if tag else level)
            kinds.add(kind)
            if tag:
                self.opens.setdefault(f"<{kind}", kind)
        if level in kinds:
            for opener in openers:
                self.opens.setdefault(opener, level)
        return frozenset(kinds)

    def kind_of(self, opener: str) -> str:
        """What this opener, however it goes on behind the name, opens; "" for nothing that a closer balances."""
        known = self.opens.get(opener)
        if known is not None:
            return known
        head = next((o for o in self.opens if opener.startswith(o) and opener[len(o) : len(o) + 1] in NAME_OVER), "")
        return self.opens.get(head, "")


def until_over(src: Source) -> Need[None]:
    """Wait until the tag that begins here is over, or is none."""
    while True:
        over = TAG_OVER.search(src.buf, src.pos + 1, src.pos + MAX_OPENER)
        if over is not None or src.eof or len(src.buf) - src.pos >= MAX_OPENER:
            return
        yield
