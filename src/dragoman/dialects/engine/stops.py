"""What may begin a marker in running text, as far as the text goes: whoever tells the text asks here where to stop.

Knows how markers are spelt, the forms with a declared name in them and how names begin; not what a marker means.
Contract: where it says that text passes, the scanner finds no marker there, whatever follows; it may say otherwise of
text in which the scanner finds none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from functools import cached_property
from typing import TypeAlias

from ..judge.declared import PRINT
from ..reading.compiled import Form
from ..reading.named import PRINTED, SIGNS, begins_name, leads

Search: TypeAlias = Callable[..., "re.Match[str] | None"]
Match: TypeAlias = Callable[[str, int], re.Match[str] | None]
"""A pattern's own `match`."""
LONG = 300
"""So much text behind the beginning of a marker is waited for; whoever reads markers decides on more."""
END = "\0"
"""What goes on with no marker."""
NAMES = frozenset({"name", "form", "word"})
"""Groups of the pattern for places where a declared name must follow: in a line, behind something else first on a line,
and first on a line itself (then as much of the name as `HEAD` says)."""


class Fate(IntEnum):
    """What becomes of text that looks like a marker's beginning."""

    PASSES = 0  # it is none
    WAITS = 1   # more text must tell
    STOPS = 2   # it may be one: the scanner must look


class Stops:
    """The stops of one table.

    `inline` and `line` are patterns of the beginnings of markers that may begin anywhere, and of those that begin a
    line; `waiting` are the inline ones, with so much of them as is waited for; `forms` the openers with a declared name
    in them, of which `within` may stand in a line.  A caller's `heads` are how declared names begin.
    """

    def __init__(
        self, inline: Iterable[str], waiting: Iterable[str], line: Iterable[str], forms: frozenset[Form],
        within: frozenset[Form],
    ) -> None:  # fmt: skip
        self._inline, self._line = tuple(inline), tuple(line)
        lines = forms - within
        words = frozenset(form for form in lines if not form[0])
        self._forms = {
            "name": leads(tuple(within), line=False), "form": leads(tuple(lines - words), line=True),
            "word": leads(tuple(words), line=True, taken=True),
        }  # fmt: skip
        befores = sorted({before for before, _ in lines - words})
        self._befored = [(before, leads(((before, ""),), line=True)[0]) for before in befores]
        self._waiting: dict[str, list[str]] = {}
        for pattern in waiting:
            self._waiting.setdefault(pattern[1] if pattern[0] == "\\" else pattern[0], []).append(pattern)
        self._befores = {
            "name": {before for before, _ in within}, "form": {"", *(b for b, _ in lines)}, "word": {""},
        }  # fmt: skip
        self._later: dict[str, Match] = {}

    @cached_property
    def _alone(self) -> Mapping[str, Callable[[str], re.Match[str] | None]]:
        """The patterns of what has a name in it, by kind."""
        return {
            kind: re.compile("|".join((*patterns, *(self._forms["word"] if kind == "form" else ())))).match
            for kind, patterns in self._forms.items()
        }

    @property
    def every_word(self) -> bool:
        """May any word begin a marker?  Then `search` is of no use."""
        return "" in self._befores["name"]

    @cached_property
    def search(self) -> Search:
        """The next place that may matter; a line's end, with the blanks behind it, if the next line may begin one.

        What is found reaches to the text's end where more text must tell.  Letters come first in the pattern, for text
        is made of letters.
        """
        return self._pattern.search

    def surely(self, heads: frozenset[str]) -> Search:
        """The same where names that do not begin with one of `heads` are told from others at once."""
        word = rf"(?i:{'|'.join(map(re.escape, sorted(heads))) or '(?!)'})|[\w$@][\w.\-:/$@]?(?:\Z|\\)|\Z"
        forms = {
            "name": self._forms["name"],
            "form": [f"(?!{re.escape(b)}(?=[{SIGNS}])(?!{word})){p}" for b, p in self._befored],
            "word": [f"(?={word}){pattern}" for pattern in self._forms["word"]],
        }
        return _pattern(self._inline, self._line, forms).search

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return _pattern(self._inline, self._line, self._forms)

    def fate(self, found: re.Match[str], text: str, heads: frozenset[str]) -> Fate:
        """What becomes of the place that `search` found in a text."""
        at, end = found.span()
        kind = found.lastgroup
        if kind in NAMES:
            return self._named(kind, text, found.start(kind), heads)
        if end == len(text):
            return Fate.WAITS if end - at < LONG else Fate.STOPS
        if kind is not None:
            return Fate.STOPS
        later = self._later_of(text[at])(text, at)
        if later is None:
            return self._named("name", text, at, heads) if self._forms["name"] else Fate.PASSES
        return Fate.WAITS if later.end() == len(text) else Fate.STOPS

    def opens(self, text: str, pos: int, heads: frozenset[str]) -> Fate:
        """What becomes of the text at a place first on its line, of all that may stand there."""
        inline = self._pattern.match(text, pos) if text[pos] != "\n" else None
        begun = f"\n{text[pos : pos + LONG]}"
        line = self._pattern.match(begun)
        return max(
            Fate.PASSES if inline is None else self.fate(inline, text, heads),
            Fate.PASSES if line is None else self.fate(line, begun, heads),
        )

    def _later_of(self, sign: str) -> Match:
        found = self._later.get(sign)
        if found is None:
            found = self._later[sign] = re.compile("|".join(self._waiting[sign])).match
        return found

    # ── names ────────────────────────────────────────────────────────────────

    def _named(self, kind: str, text: str, pos: int, heads: frozenset[str]) -> Fate:
        """What becomes of the place of something with a name in it: may it be a declared one?"""
        known = _known(text, pos, self._befores[kind], heads)
        if known is not Fate.STOPS or len(text) - pos >= LONG:
            return known
        return Fate.STOPS if self._alone[kind](text[pos:] + END) else Fate.WAITS


def _pattern(inline: Iterable[str], line: Iterable[str], forms: Mapping[str, Iterable[str]]) -> re.Pattern[str]:
    parts = sorted(inline, key=lambda part: not part[0].isalpha())
    named = {kind: f"(?P<{kind}>{'|'.join(patterns)})" for kind, patterns in forms.items() if patterns}
    parts += [named.pop("name")] if "name" in named else []
    first = [f"(?P<line>{'|'.join(line)})"] if line else []
    first += named.values()
    if first:
        parts.append(rf"\n[ \t\r]*(?:\Z|{'|'.join(first)})")
    return re.compile("|".join(parts) or r"(?!)")


def _known(text: str, pos: int, befores: Iterable[str], heads: frozenset[str]) -> Fate:
    """May a declared name stand here behind one of `befores`?"""
    fate = Fate.PASSES
    if not heads:
        return fate
    for before in befores:
        start = pos + len(before)
        if text.startswith(before, pos):
            fate = max(fate, _name(text, start, heads) if before else _word(text, pos, heads))
        elif start > len(text) and before.startswith(text[pos:]):
            fate = max(fate, Fate.WAITS)
    return fate


def _name(text: str, pos: int, heads: frozenset[str]) -> Fate:
    """May a declared name begin here?"""
    begins = begins_name(heads, text, pos)
    return Fate.WAITS if begins is None else Fate.STOPS if begins else Fate.PASSES


def _word(text: str, pos: int, heads: frozenset[str]) -> Fate:
    """The same of a word that may stand alone; a call may be printed."""
    fate = _name(text, pos, heads)
    if fate:
        return fate
    begins = PRINTED.match(text, pos).end()  # type: ignore[union-attr]
    fate = _name(text, begins, heads) if begins > pos else fate
    prints = len(text) - begins <= len(PRINT) and PRINT.startswith(text[begins:])
    return Fate.WAITS if prints and not fate else fate
