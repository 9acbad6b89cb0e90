"""What the lines before make of the present one: an indented block, a table's row, a diff's line, a YAML block, a turn.

Told each line of the visible text once, by its first characters; knows nothing of marks inside a line, nor of calls.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

from ...late import late
from .boxes import FIRST_LINE, HEAD_ROW, HERE, LIVE, Quote, Standing
from .paragraphs import Prose

HEAD = 200
"""Characters of a line that are looked at."""

NEAR = 24
"""Lines within which a list mostly ends."""
END = 4096
"""Characters that mostly hold so many."""
ITEM = late(r"[ \t]*(?:[-*+]|\d{1,9}[.)])([ \t]+)")
DASHES = late(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t\r]*")
HUNK = late(r"@@ |@@$|diff --git |(?:\+\+\+|---) \S")
SCALAR = late(r"[ \t]*(?:(?:- )?[\w.\"'-]+:[ \t]*[|>][+-]?\d?[ \t\r]*|\.\. [\w:-]+::(?:[ \t].*)?)")
"""What what is indented below belongs to: a YAML block, a directive of reStructuredText."""
LABEL = late(r"\[(?:source|listing|literal|example|quote|verse)\b[^\]\n]*\][ \t\r]*|\.[^\s.].*")
DELIMITER = late(r"([-.=_*+])\1{3,}[ \t\r]*")
BEGINS = late(r"#\+begin_(\w+)\b.*|\{(code|noformat|quote)(?::[^}\n]*)?\}")
"""AsciiDoc's label and its delimiter on the next line; the blocks of Org and of wikis."""

REMARK = late(r"[ \t]*(?:(?://|--|;|%|REM\b)[ \t]|#[ \t]*\Z)")
"""What makes a remark of the line behind it; behind a `#` with words stands a heading, as likely."""

FOREIGN = late(
    r"[ \t]*(?:(?:[*_]{2})?(?:User|USER|Human|HUMAN)(?:[*_]{2}:|:[*_]{0,2})"
    r"|#{1,6}[ \t]*(?:[*_]{2})?(?:User|USER|Human|HUMAN|Instruction)[*_]{0,2}[ \t]*(?::|\r?\Z))"
)
"""A line that begins another party's turn in words."""
BEGINNERS = frozenset("UHd")
"""Letters that lines begin with which are looked at: a turn's label, a diff."""
OWN = late(r"[ \t]*(?:#{1,6}[ \t]*|[*_]{2})?(?:Assistant|ASSISTANT|AI|Model|Bot)(?:[*_]{2})?(?::|[ \t]*\r?\Z)")
FIELD = late(r"[ \t]*[*_]{0,2}[A-Z][\w /-]{0,30}[*_]{0,2}:[ \t*_]")
"""A line of a form: what stands among such is no turn, but a field that bears a role's name."""


class Lines:
    """A running reading of lines."""

    __slots__ = (
        "_blank", "_code", "_here", "_hunk", "_items", "_just", "_labelled", "_labels", "_listing", "_loose", "_piped",
        "_scalar", "_sign", "_table", "_turned",
    )  # fmt: skip

    def __init__(self) -> None:
        self._items: list[int] = []   # columns at which the text of the open list items begins
        self._blank = True            # the line before was blank
        self._code = False            # it stood in an indented block, or blank lines have stood since one
        self._piped = self._table = False
        self._hunk = self._loose = False
        self._sign = ""               # the sign that made the line before look like a diff's
        self._scalar = -1
        self._labels = False          # the line before was a listing's label
        self._listing = ""            # the line that ends the listing we are in
        self._here = ""               # the word that ends the here-document we are in
        self._turned = self._labelled = self._just = False

    def state(self) -> Hashable:
        """All that what is told next comes to hangs on."""
        return tuple((*kept,) if type(kept := getattr(self, name)) is list else kept for name in self.__slots__)

    # ── the present line ─────────────────────────────────────────────────────

    def is_code(self, indent: int) -> bool:
        """Is a line with this indentation part of an indented block, rather than of a list item?"""
        if indent < 4 or not (self._blank or self._code):
            return False
        return indent - max((column for column in self._items if column <= indent), default=0) >= 4

    def standing(self, head: str, indent: int) -> Standing:
        """How the place behind `head`, the present line so far, stands."""
        if self._listing:
            return Standing(Quote.LISTING)
        if self._scalar >= 0 and indent > self._scalar:
            return Standing(Quote.SCALAR)
        if REMARK.match(head):
            return Standing(Quote.REMARK)
        if self._here:
            return Standing(Quote.STRING, ((Quote.STRING, rf"\n[ \t]*{self._here}(?=\W)"),))
        if head[:1] in ("+", "-", " ") and head and self._is_diff(head):
            return Standing(Quote.DIFF)
        if self._table and "|" in head:
            return Standing(Quote.CELL)
        if head.lstrip().startswith("|"):
            return Standing(Quote.CELL, ((Quote.CELL, HEAD_ROW),))
        if _sign(head):
            return Standing(Quote.DIFF, ((Quote.DIFF, FIRST_LINE),))
        return LIVE

    def _is_diff(self, head: str) -> bool:
        if self._hunk and not self._loose:
            return True
        sign = _sign(head)
        return bool(sign) and (self._hunk or bool(self._sign))

    def turned(self, head: str) -> bool:
        """Has another party's turn begun, in words, before the place behind `head`?"""
        if self._turned or (self._labelled and OWN.match(head)):
            return True
        return self._blank and FOREIGN.match(head) is not None

    # ── lines that are over ──────────────────────────────────────────────────

    def end(self, head: str, indent: int, *, code: bool) -> None:
        """The line that began with `head` is over."""
        if head[:1].isalpha() and head[0] not in BEGINNERS and self._is_plain(head):
            self._blank, self._code = False, code
            return
        blank = not head or head.isspace()
        if not blank or self._listing or self._labels or self._here:
            self._end_listing(head)
            self._end_here(head)
        if blank:
            self._blank, self._loose, self._table, self._piped, self._sign = True, True, False, False, ""
            self._just = False
            return
        if not code:
            self._end_item(head, indent)
            self._end_label(head)
        self._code, self._blank = code, False
        self._end_row(head)
        self._end_diff(head)
        if self._scalar >= 0 and indent <= self._scalar:
            self._scalar = -1
        if self._scalar < 0 and (": " in head or ".. " in head) and SCALAR.fullmatch(head):
            self._scalar = indent

    def _is_plain(self, head: str) -> bool:
        """Is nothing open that a line of words may end, or go on with, and does this one begin nothing?"""
        line = self._listing or self._labels or self._labelled or self._just or self._items or self._scalar >= 0
        if line or self._hunk or self._sign or self._piped or self._table or self._here:
            return False
        return not ("|" in head or ": " in head or "<<" in head)

    def _end_listing(self, head: str) -> None:
        line = head.strip(" \t\r").casefold()
        if self._listing:
            self._listing = "" if line == self._listing else self._listing
        elif self._labels and DELIMITER.fullmatch(head):
            self._listing = line
        elif line[:2] == "#+" or line[:1] == "{":
            begun = BEGINS.fullmatch(line)
            if begun is not None:
                self._listing = f"#+end_{begun[1]}" if begun[1] else f"{{{begun[2]}}}"
        self._labels = head[:1] in ("[", ".") and LABEL.fullmatch(head) is not None

    def _end_here(self, head: str) -> None:
        if self._here:
            self._here = "" if head.strip() == self._here else self._here
        elif "<<" in head and (begun := HERE.search(head)):
            self._here = begun["word"]

    def _end_item(self, head: str, indent: int) -> None:
        item = ITEM.match(head) if head.lstrip()[0] in "-*+0123456789" else None
        if (item is not None or self._blank) and self._items:
            self._items = [column for column in self._items if column <= indent]
        if item is not None:
            self._items.append(indent + _width(item))

    def _end_label(self, head: str) -> None:
        if head.lstrip()[0] in "UH#*_" and FOREIGN.match(head):
            self._turned, self._labelled, self._just = self._turned or self._blank, True, self._blank
            return
        if self._labelled and OWN.match(head):
            self._turned = True
        elif self._just and FIELD.match(head):
            self._turned = False
        self._just = False

    def _end_row(self, head: str) -> None:
        piped = "|" in head
        self._table = piped and (self._table or (self._piped and DASHES.fullmatch(head) is not None))
        self._piped = piped

    def _end_diff(self, head: str) -> None:
        if not (self._hunk or self._sign or head[0] in "+-@d"):
            return
        if HUNK.match(head):
            self._hunk, self._loose = self._hunk or head[:3] != "---", False
            self._sign = head[0]
            return
        sign = _sign(head)
        if self._hunk and not (head[0] in "+- \\" if not self._loose else sign):
            self._hunk = False
        elif sign:
            self._loose = False
        self._sign = sign

    @property
    def in_table(self) -> bool:
        """Does the line before stand in a table?"""
        return self._table

    @property
    def goes_on(self) -> bool:
        """Does something go on that a paragraph's end does not end?"""
        return self._scalar >= 0 or self._hunk or self._labelled or self._labels or bool(self._listing or self._here)

    def skip(self, prose: Prose) -> None:
        """Whole paragraphs are over in which nothing stands but plain lines and lists.

        What is open behind them hangs on the last lines alone: those from one on which no list goes on.  Where there is
        none, all go on from here.
        """
        text = prose.last(END)
        body = _body(text)
        lines = body.rsplit("\n", NEAR)
        first = _unlisted(lines, 1) if len(lines) > NEAR else -1
        if first < 0:
            text = prose.last(prose.size)
            body = _body(text)
            lines = body.split("\n")
            first = _unlisted(lines, 0)
        if first >= 0:
            self._items, self._blank, self._code, self._sign = [], True, False, ""
            self._piped = self._table = self._hunk = self._just = False
        if body:
            self._skip_lines(lines[max(0, first) :])
        if text.count("\n", len(body)) > bool(body):
            self.end("", 0, code=False)

    def _skip_lines(self, lines: list[str]) -> None:
        for line in lines:
            indent = _indent(line)
            self.end(line[:HEAD], indent, code=bool(line.strip()) and self.is_code(indent))

    def pass_flat(self, lines: list[str]) -> None:
        """Lines are over of which these tell all, none of them indented (`flat_lines.py`)."""
        for line in lines:
            self.end(line[:HEAD], 0, code=False)

    def turn(self) -> None:
        """A mark of another party's turn stood in the text."""
        self._turned = True


def begins_turn(text: str) -> bool:
    """Does another party's turn begin with the first words of `text`, on a line of their own?"""
    blank = text[: len(text) - len(text.lstrip())]
    return "\n" in blank and FOREIGN.match(text[len(blank) :].partition("\n")[0]) is not None


def _body(text: str) -> str:
    """The text up to the end of its last line that is not blank."""
    end = len(text.rstrip())
    return text[: text.find("\n", end)] if end else ""


def _unlisted(lines: list[str], begin: int) -> int:
    """The last line, from number `begin` on, that ends every list before it; -1 for none."""
    for n in range(len(lines) - 1, begin - 1, -1):
        first = lines[n][:1]
        if first and not first.isspace() and (ITEM.match(lines[n]) or _is_first(lines, n, begin)):
            return n
    return -1


def _is_first(lines: list[str], n: int, begin: int) -> bool:
    """Does line `n` follow a blank one?  (Of the lines before `begin` that is not known.)"""
    return n > begin and not lines[n - 1].strip()


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t\r"))].replace("\t", "    "))


def _width(item: re.Match[str]) -> int:
    """How wide a list item's mark is, with the gap behind it."""
    width, gap = len(item.group().lstrip().replace("\t", "    ")), len(item[1].replace("\t", "    "))
    return width if gap <= 4 else width - gap + 1


def _sign(head: str) -> str:
    """The sign of a line of a diff; a list item has a space behind it."""
    return head[0] if head[:1] in ("+", "-") and head[1:2] not in (" ", "\t") and head[1:2] != head[0] else ""
