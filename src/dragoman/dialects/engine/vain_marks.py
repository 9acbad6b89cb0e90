"""Words that calls begin with, where none follows: `return x`, `Answer: 42`.

Knows the rows that such a word opens and declared names; not where it stands, nor what is read behind it.
Contract: a word that is vain is one behind which its row would find, with nothing noted, that something else was meant.
It is so by the text alone, however that comes in pieces, and costs no patience (`budget.py`): of code that stands in no
fence every tenth line begins with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...late import late
from ..judge.declared import PRINT, WORD, Declared
from ..judge.judge import COUNTED
from ..reading.call import WRITTEN
from ..reading.compiled import Row
from ..reading.named import begins_name, begins_word
from ..spec import KeywordArgs
from .lookahead import FAR, any_of, opened_by, untried
from .mark_starts import LETTER

CALL = rf"(?P<quote>[\"'`])?+(?P<name>{WRITTEN})?+[\"'`]?+\s*+(?P<sign>[(\[{{]|\Z)?+"
ITEM = rf"[\"'`]?+(?P<item>{WRITTEN})?+[\"'`]?+\s*+(?P<item_sign>[(\[{{\]]|\Z)?+"
BEHIND = rf"{CALL}(?:(?<=[\[{{])\s*+{ITEM})?+"
"""What a call may begin with, as far as it goes, and what a list or a set of calls may."""
METHOD = ".call"
"""A tool may be called as an object of it is."""


class VainMarks:
    """Asked of the marks of one table; `only_rows` are of those on lines that mean nothing but that rows begin there.

    `every` are all marks, and what stands before declared names.  `refuses` says that a call of a tool that nobody
    declared is told of where it stands, and is no text.
    """

    __slots__ = ("_looks", "_refuses", "signs")

    def __init__(self, only_rows: Mapping[str, tuple[Row, ...]], every: Iterable[str], *, refuses: bool) -> None:
        words: dict[Row, list[str]] = {}
        others = tuple(every)
        for mark, rows in only_rows.items():
            if len(rows) == 1 and LETTER.match(mark) and _tells(rows[0]) and not _goes_on(mark, others):
                words.setdefault(rows[0], []).append(mark)
        self._refuses = refuses
        self._looks = [late(f"(?={any_of(marks)}){opened_by(row)}{BEHIND}") for row, marks in words.items()]
        self.signs = frozenset(sign for marks in words.values() for m in marks for sign in (m[0], m[0].upper()))

    def is_vain(self, text: str, pos: int, names: Declared, *, ended: bool = True) -> bool | None:
        """Does a mark stand here that opens nothing?  None: more text must tell, where the text has not `ended`."""
        end, size = pos + FAR, len(text)
        is_cut = not ended and end >= size
        for look in self._looks:
            found = look.match(text, pos, end)
            if found is not None:
                break
        else:
            return False
        opens = self._opens(found, text, names)
        if opens is None and (is_cut or end < size):
            return None if is_cut else False
        if opens:
            return False
        if not begins_word(names, text, pos):
            return True
        return None if is_cut and WORD.match(text, pos).end() == size else False  # type: ignore[union-attr]

    def _opens(self, found: re.Match[str], text: str, names: Declared) -> bool | None:
        """May a call of a declared tool stand behind the mark, or of any where none is known?  None: by more text."""
        quote, name, sign = found["quote"], found["name"], found["sign"]
        if name is None:
            if not sign or quote is not None:
                return None if sign == "" else False
            return sign != "(" and _is_list(found)
        if quote is None and names.some and not self._refuses and not PRINT.startswith(name):
            begins = begins_name(names.heads, text, found.start("name"))
            if begins is False or (sign == "(" and not _may_mean(names, name)):
                return False
        return None if sign == "" else sign == "("


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


def _goes_on(mark: str, others: Iterable[str]) -> bool:
    """Does another mark begin with this one, or this one with what stands before a name?"""
    return any(other != mark and (other.startswith(mark) or mark.startswith(other)) for other in others)
