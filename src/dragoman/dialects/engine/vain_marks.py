"""Words that calls begin with, where none follows: `return x`, `Answer: 42`, and `>>> x = 1`, which names no tool.

Knows the rows that such a word opens and declared names; not where it stands, nor what is read behind it.
Contract: a word that is vain is one behind which its row would find, with nothing noted, that something else was meant.
It is so by the text alone, however that comes in pieces, and costs no patience (`budget.py`): of code that stands in no
fence every tenth line begins with one.  Nor is asked how its place stands, for which all before it would be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...late import late
from ..judge.declared import PRINT, WORD, Declared
from ..judge.judge import COUNTED
from ..reading.call import MAX_NAME, WRITTEN
from ..reading.compiled import Row
from ..reading.named import begins_name, begins_word
from ..spec import JsonArgs, KeywordArgs
from .lookahead import FAR, ONE_WORD, SP, any_of, opened_by, untried
from .mark_starts import LETTER

CALL = rf"(?P<quote>[\"'`])?+(?P<name>{WRITTEN})?+[\"'`]?+\s*+(?P<sign>[(\[{{]|\Z)?+"
ITEM = rf"[\"'`]?+(?P<item>{WRITTEN})?+[\"'`]?+\s*+(?P<item_sign>[(\[{{\]]|\Z)?+"
BEHIND = rf"{CALL}(?:(?<=[\[{{])\s*+{ITEM})?+"
"""What a call may begin with, as far as it goes, and what a list or a set of calls may."""
NAMED = rf"[ \t]*+(?P<line>(?:[^\s\ufeff][^\n]{{0,{MAX_NAME}}}+)?+)(?P<end>\n{SP}(?P<sign>(?s:.))?+)?+"
"""What stands where a mark wants a tool's name on the line and its arguments below, and the first sign of these."""
BEGINS = frozenset('{"`~')
"""What an object begins with, one in a string, and the fence around one."""
METHOD = ".call"
"""A tool may be called as an object of it is."""


class VainMarks:
    """Asked of the marks of one table; `only_rows` are of those on lines that mean nothing but that rows begin there.

    `every` are all marks, and what stands before declared names.  `refuses` says that a call of a tool that nobody
    declared is told of where it stands, and is no text.
    """

    __slots__ = ("_looks", "_named", "_refuses", "signs")

    def __init__(self, only_rows: Mapping[str, tuple[Row, ...]], every: Iterable[str], *, refuses: bool) -> None:
        words: dict[Row, list[str]] = {}
        self._named: list[tuple[re.Pattern[str], re.Pattern[str]]] = []
        others, begun = tuple(every), set[str]()
        for mark, (row, *more) in only_rows.items():
            if more:
                continue
            if LETTER.match(mark) and _tells(row) and not _goes_on(mark, others):
                words.setdefault(row, []).append(mark)
                begun.add(mark[0])
            elif _wants_name(row) and (before := _before_name(mark, others)):
                self._named.append((late(f"{before}{NAMED}"), late(row.dialect.tool_re)))
                begun.add(mark[0])
        self._refuses = refuses
        self._looks = [late(f"(?={any_of(marks)}){opened_by(row)}{BEHIND}") for row, marks in words.items()]
        self.signs = frozenset(sign for first in begun for sign in (first, first.upper()))

    def is_vain(self, text: str, pos: int, names: Declared, *, ended: bool = True) -> bool | None:
        """Does a mark stand here that opens nothing?  None: more text must tell, where the text has not `ended`."""
        if text[pos : pos + 1] not in self.signs:
            return False
        end, size = pos + FAR, len(text)
        is_cut = not ended and end >= size
        for look in self._looks:
            found = look.match(text, pos, end)
            if found is not None:
                break
        else:
            return self._is_misnamed(text, pos, end, is_cut=is_cut)
        opens = self._opens(found, text, names)
        if opens is None and (is_cut or end < size):
            return None if is_cut else False
        if opens:
            return False
        if not begins_word(names, text, pos):
            return True
        return None if is_cut and WORD.match(text, pos).end() == size else False  # type: ignore[union-attr]

    def _is_misnamed(self, text: str, pos: int, end: int, *, is_cut: bool) -> bool | None:
        """Does a mark stand here that wants a tool's name and its arguments, and something else behind it?"""
        for look, name in self._named:
            found = look.match(text, pos, end)
            if found is not None:
                return _names_none(found, name, text, is_cut=is_cut)
        return False

    def _opens(self, found: re.Match[str], text: str, names: Declared) -> bool | None:
        """May a call of a declared tool stand behind the mark, or of any where none is known?  None: by more text."""
        quote, name, sign = found["quote"], found["name"], found["sign"]
        if name is None:
            if not sign or quote is not None:
                return None if sign == "" else False
            return sign != "(" and _is_list(found)
        if names.some and not self._refuses and not PRINT.startswith(name):
            begins = begins_name(names.heads, text, found.start("name"))
            if begins is False or (sign == "(" and not _may_mean(names, name)):
                return False
        return None if sign == "" else sign == "("


def _names_none(found: re.Match[str], name: re.Pattern[str], text: str, *, is_cut: bool) -> bool | None:
    """Is what stands behind the mark no tool's name by this pattern, or what stands below that no object?"""
    line, end, sign = found["line"], found["end"], found["sign"]
    if not line and (end or found.end() < len(text)):
        return False  # the row would read on behind the line's end
    if len(line) > MAX_NAME:
        return True
    if end and name.fullmatch(line.strip()) is None:
        return True
    if not sign:
        return None if is_cut else False
    return sign not in BEGINS


def _is_list(found: re.Match[str]) -> bool | None:
    """Does what stands in brackets begin as a call does, or a list in the list?"""
    name, sign = found["item"], found["item_sign"]
    if not sign:
        return None if sign == "" else False
    return (sign == "(") is (name is not None)


def _may_mean(names: Declared, name: str) -> bool:
    """May the judge take this for a declared tool's name, as it is or but for what stands around it?"""
    if ":" in name or "\\" in name or COUNTED.fullmatch(name) is not None:
        return True
    return any(any(names.both(part)) for part in (name, name.removesuffix(METHOD), name.partition(".")[0]))


def _tells(row: Row) -> bool:
    """Does what follows tell of this row, which wants a call as Python writes it?"""
    return isinstance(row.dialect.args, KeywordArgs) and untried(row) is not None


def _wants_name(row: Row) -> bool:
    """Does a name that is one word stand behind the mark of this row, to the line's end, and an object below it?"""
    alone = not (row.strong or row.section_open or row.tool_open or row.ends or row.key_open or row.body_open)
    named = row.tool_close == ("\n",) and not row.closer_needed and ONE_WORD.fullmatch(row.dialect.tool_re) is not None
    return alone and named and type(row.dialect.args) is JsonArgs


def _before_name(mark: str, others: Iterable[str]) -> str:
    """A pattern for this mark where it is no part of a longer one, nor of more of its sign; "" for none.

    That is known once the line has ended, so that no mark may go on behind it, nor begin amid this one.
    """
    longer = [other for other in others if other.startswith(mark) and other != mark]
    shorter = [other for other in others if mark.startswith(other) and other != mark]
    if shorter or mark != mark[0] * len(mark) or any("\n" in other[:-1] for other in longer):
        return ""
    return f"(?!{any_of([mark + mark[0], *longer])}){re.escape(mark)}"


def _goes_on(mark: str, others: Iterable[str]) -> bool:
    """Does another mark begin with this one, or this one with what stands before a name?"""
    return any(other != mark and (other.startswith(mark) or mark.startswith(other)) for other in others)
