"""Lines one behind the other of which each leaves nothing open: what they leave behind hangs on few of them.

What outlasts such a line is the list it may begin an item of, and what the last lines look like.  Knows text; no state
of a reading.
Contract: what is passed are whole lines, none blank or indented, in which nothing stands that later paragraphs hang on
(`paragraphs.py`); read one by one, those that `telling` gives leave what all of them do.
"""

from __future__ import annotations

from ...late import late
from .line_marks import LINE_MARKS

FEWEST = 8
"""Fewer lines are read one by one."""
LAST = 3
"""So many lines at the end are looked at, whatever they are."""
ITEM = r"(?:[-*+]|\d{1,9}[.)])[ \t]"
LAST_ITEM = late(rf"(?s:.*)\n(?={ITEM})")
BLOCK = late(r": [ \t]*+[|>]")
"""What may begin a YAML block."""
DASHES = late(r"\n[ \t\r|:-]++(?:(?=\n)|(?<=[ \t\r|:-]{200}))")
"""A line that may make a table of the row before it."""


def flat(calm: str) -> str:
    """A pattern for such lines, each of them `calm` (a pattern that ends before a line's end)."""
    return rf"(?:(?![\s`~]|diff |{LINE_MARKS}){calm}\n)++"


def cut(text: str, pos: int, end: int, *, in_table: bool) -> int:
    """How far the lines from `pos` to `end` may be passed; `pos` where too few of them may.

    Rows leave nothing behind, but for the last of them, where neither the lines before nor one of dashes make a table.
    """
    found = BLOCK.search(text, pos, end)
    if found is not None:
        end = max(pos, text.rfind("\n", pos, found.start()) + 1)
    row = text.find("|", pos, end)
    if row >= 0 and (in_table or DASHES.search(text, pos - 1, end) is not None):
        end = max(pos, text.rfind("\n", pos, row) + 1)
    return end if text.count("\n", pos, end) >= FEWEST else pos


def telling(text: str, pos: int, end: int) -> list[str]:
    """The lines that tell what all of these leave behind: the first, the last item of a list, and the last ones."""
    last = end - 1
    for _ in range(LAST):
        last = text.rfind("\n", pos, last)
    lines = [text[pos : text.find("\n", pos)]]
    item = LAST_ITEM.match(text, pos, last + 1)
    if item is not None:
        lines.append(text[item.end() : text.find("\n", item.end())])
    return [*lines, *text[last + 1 : end - 1].split("\n")]
