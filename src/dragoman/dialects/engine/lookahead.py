"""What must follow an opener before a row can have been meant: one look, where trying the row costs a hundred.

A dozen rows share `<tool_call>`; the next sign tells which of them are not there.  Knows rows, reads no calls.

Contract: `unlike` is False wherever the row's reader might do anything but find that the text is something else, or
where too little text has come to tell; so nothing changes when a row it rules out is not tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from ...late import late
from ...lenient.source import finder
from ..reading.call import CALL_NAME, CALL_NAME_BEGUN, MAX_NAME
from ..reading.compiled import Row
from ..reading.segments import MAX_HEADER
from ..spec import (
    BraceArgs,
    ElementArgs,
    JsonArgs,
    JsonCall,
    KeywordArgs,
    Listing,
    TaggedArgs,
    TextArgs,
    YamlArgs,
    YamlCall,
)

SP = r"[ \t\r\n\f\v\u00a0\ufeff]*+"
"""White space as `Source.space` takes it."""
FENCED = r"|(?:`{3,}+|~{3,}+)[\w-]*+[ \t]*+\n\s*+[\[{]|(?s:[`~].{0,40}\Z)"
"""Or a fence around an object; forty characters tell that none stands there."""
FAR = 300
"""So much text is waited for; no name is longer."""
NEAR = 64
"""So little text may be waited for before it is asked how its place stands, which is dear."""
Look: TypeAlias = Callable[[str, int], object]
NAMED = (JsonArgs, TaggedArgs, BraceArgs, ElementArgs, YamlArgs, TextArgs)
"""Notations whose readers begin with the tool's name in its markup."""
PAIR = r"\(?\s*[\"'](?:[\w$][\w.\-:/\\]*+[\"']\s*,\s*)?+\{"
PAIR_BEGUN = r"\(?(?:\s*(?:[\"'](?:[\w$][\w.\-:/\\]*(?:[\"']\s*(?:,\s*)?)?)?)?)\Z"
"""A tool's name in quotes and an object behind it, perhaps as a tuple, or an object in quotes; and how they begin."""
ONE_WORD = late(r"\(\?P<name>(\[\^?[^\]]+\])\+\)")
"""A `tool_re` that is a class of characters and nothing else."""


def any_of(marks: Sequence[str]) -> str:
    """A pattern for the longest of `marks` that stands here, in any case, as `Source.literal` takes it."""
    return f"(?>(?ai:{'|'.join(map(re.escape, longest_first(marks)))}))"


def maybe(marks: Sequence[str]) -> str:
    """The same, or nothing."""
    return f"(?:{any_of(marks)})?+" if marks else ""


def longest_first(marks: Sequence[str]) -> list[str]:
    """The marks in the order in which a pattern must try them."""
    return sorted({m for m in marks if m}, key=len, reverse=True)


LeadKind: TypeAlias = tuple[str, str, tuple[str, ...], int, str, tuple[str, ...]]


class Unlike:
    """Tells of a text and an opener's place in it that no row of these kind was meant there.

    Where that is `near`, a little more text tells of what `cut` finds, or the next sign does.
    """

    __slots__ = ("_ends", "_head", "_marks", "_near", "_reach", "_soon", "_word", "kind")

    def __init__(
        self,
        head: str,
        cut: str,
        marks: Sequence[str] = (),
        *,
        reach: int = 0,
        word: str = "",
        ends: Sequence[str] = (),
        near: bool = False,
    ) -> None:
        self.kind: LeadKind = (head, cut, tuple(marks), reach, word, tuple(ends))
        self._head, self._soon = late(head), late(cut)
        self._marks, self._reach, self._ends, self._near = _shortest(marks), reach, _shortest(ends), near
        self._word = late(rf"\s*+{word}") if word else None

    def __call__(self, text: str, pos: int) -> bool:
        head = self._head.match(text, pos)
        if head is None:
            return self._soon.match(text, pos, pos + FAR if self._near else len(text)) is None
        start = head.end()
        end = start + self._reach
        if not self._marks or end > len(text):
            return False
        if self._word is None or self._word.match(text, start) is not None or _holds(text, self._ends, start, end):
            return not _holds(text, self._marks, start, end)
        return True

    @property
    def is_near(self) -> bool:
        """Does a little more text tell of it?"""
        return self._near

    def waits(self, text: str, pos: int) -> bool:
        """Where it is not true: must more text tell?"""
        return self._near and len(text) - pos < FAR and self._head.match(text, pos) is None

    def ended(self, text: str, pos: int) -> bool:
        """The same of a text that has ended: nothing in it can still become anything else."""
        return self._head.match(text, pos) is None or self(text, pos)


def _holds(text: str, marks: Sequence[str], start: int, end: int) -> bool:
    for mark in marks:  # noqa: SIM110 -- a generator would cost more than the searches
        if text.find(mark, start, end) >= 0:
            return True
    return False


def _shortest(marks: Sequence[str]) -> tuple[str, ...]:
    """The marks of which one is in a text if any of all is."""
    kept: list[str] = []
    for mark in sorted({m for m in marks if m}, key=len):
        if not any(k in mark for k in kept):
            kept.append(mark)
    return tuple(kept)


@lru_cache(maxsize=2048)
def unlike(row: Row) -> Unlike | None:
    """What tells that this row was not meant; None where only trying it can."""
    wanted = _wanted(row)
    if wanted is None:
        return None
    head, ahead = wanted
    if (begun := _begun(row)) is not None:
        return Unlike(head, begun, near=True)
    cut = f"(?s:{opened_by(row)}.{{0,{ahead}}}\\Z)"  # what ends here may still become anything
    if row.dialect.suffix:
        suffixed = any_of([m for m in row.openers if m.endswith(":")])
        head, cut = f"(?!{suffixed}){head}", f"{cut}|{suffixed}"
    marks = row.tool_close + row.ends + row.key_open
    ends = [mark for mark in row.ends + row.key_open if mark not in row.tool_close]
    if row.headed and row.dialect.segments is not None:
        marks = row.dialect.segments.head + row.dialect.segments.close
        return Unlike(head, cut, marks, reach=MAX_HEADER)
    if not (isinstance(row.dialect.args, NAMED) and row.tool_close):
        return Unlike(head, cut, near=ahead < NEAR)
    word = None if row.tool_open else ONE_WORD.fullmatch(row.dialect.tool_re)
    reach = MAX_NAME + max(map(len, marks))
    return Unlike(head, cut, marks, reach=reach, word=word[1] if word else "", ends=ends)


@lru_cache(maxsize=2048)
def untried(row: Row) -> Unlike | None:
    """What tells that this row need not be tried, since nothing is to be noted of how far it reads; None for nothing.

    How far a weak one reads is noted; one that wants an object reads nothing where there is none, one that wants a call
    as Python writes it nothing but what opens it, and a list of either nothing but its bracket.
    """
    args, listing = row.dialect.args, row.dialect.listing
    bare = listing is Listing.REPEAT or not (row.section_open or row.call_open)
    return unlike(row) if row.strong or (isinstance(args, JsonCall | KeywordArgs) and bare) else None


@lru_cache(maxsize=2048)
def unlike_all(rows: tuple[Row, ...]) -> tuple[Unlike, ...]:
    """What tells that none of these rows was meant; empty where nothing does."""
    told: dict[Any, Unlike] = {}
    for row in rows:
        one = unlike(row) if row.strong else None
        if one is None:
            return ()
        told.setdefault(one.kind, one)
    plain = [one.kind for one in told.values() if not one.kind[2]]
    heads, cuts = ("|".join(f"(?:{kind[n]})" for kind in plain) for n in (0, 1))
    near = all(one.is_near for one in told.values())
    return (*([Unlike(heads, cuts, near=near)] if plain else []), *(one for one in told.values() if one.kind[2]))


def opened_by(row: Row) -> str:
    """A pattern for the marks that open a call of this row, and the white space behind them."""
    section = maybe(row.section_open) + SP
    return section if row.dialect.listing is Listing.ARRAY else f"{section}{maybe(row.call_open)}{SP}"


def _wanted(row: Row) -> tuple[str, int] | None:
    """A pattern for what must stand there, and how much text beyond the opener decides."""
    args, opened, weak = row.dialect.args, opened_by(row), not (row.strong or row.call_open)
    longest = max(map(len, (*row.section_open, *row.call_open, *row.tool_open)), default=0) + 2
    if row.sure or row.forms:
        return None
    if row.headed:
        return opened, longest
    if row.dialect.listing is Listing.ARRAY:
        if isinstance(args, JsonCall):
            pair = PAIR if weak else rf"(?:[(\"']|\Z){FENCED}"
            return rf"{opened}(?:\{{|\[{SP}(?:[\[\]{{]|{pair}))", longest
        if isinstance(args, KeywordArgs):
            begun = "" if weak else rf"|[\"'`]|[^(]{{0,{MAX_NAME}}}\Z"
            return rf"{opened}\[{SP}(?:[\]\[{{]|{CALL_NAME.pattern}{begun})", longest
        return None
    if isinstance(args, JsonCall):
        fenced = FENCED if row.call_open or row.section_open else ""
        return rf"{opened}(?:[{{\[\"']{fenced})", longest
    if isinstance(args, KeywordArgs):
        return None if row.strong else (rf"{opened}(?:[{{\[]|{CALL_NAME.pattern})", longest + MAX_NAME)
    if isinstance(args, YamlCall):
        return opened + any_of([f"{name}:" for name in args.name]), longest + max(map(len, args.name))
    if not isinstance(args, NAMED):
        return None
    if row.tool_open:
        return opened + any_of(row.tool_open + row.torn_open), longest
    return (opened, longest) if row.tool_close else None


def _begun(row: Row) -> str | None:
    """A pattern for what ends, and may go on as what is wanted of a weak row; None where only its length tells."""
    args, is_list = row.dialect.args, row.dialect.listing is Listing.ARRAY
    if row.strong or row.call_open or row.dialect.suffix:
        return None
    if isinstance(args, KeywordArgs):
        begun = CALL_NAME_BEGUN.pattern
    elif isinstance(args, JsonCall) and is_list:
        begun = PAIR_BEGUN
    else:
        return None
    return rf"{opened_by(row)}(?:\[{SP}{begun}|\Z)" if is_list else opened_by(row) + begun


@lru_cache(maxsize=2048)
def misnamed(row: Row) -> Look | None:
    """Tells that what stands behind a strong row's opener is no tool's name as the row writes one; None for nothing.

    To be asked where it does not matter how far the row's reader would have gone before it found the same.
    """
    if row.tool_open or row.headed or row.sure or row.forms or row.dialect.suffix:
        return None
    if not (row.strong and row.tool_close and isinstance(row.dialect.args, NAMED)):
        return None
    if row.dialect.listing is Listing.ARRAY:
        return None
    opened, split = re.compile(opened_by(row)), re.compile(row.dialect.tool_re, re.S)
    pattern, _, longest, _ = finder(row.tool_close + row.ends + row.key_open)
    reach = MAX_NAME + longest

    def look(text: str, pos: int) -> bool:
        start = opened.match(text, pos).end()  # type: ignore[union-attr]
        if start + reach > len(text):
            return False
        found = pattern.search(text, start, start + reach)
        if found is None:
            return True
        return found.group() in row.tool_close and split.fullmatch(text[start : found.start()].strip()) is None

    return look
