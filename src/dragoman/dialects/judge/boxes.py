"""What quotes, what ends it, and whether text that follows a place closes what was open there.

Knows marks of quotation as data; nothing of where they stood, of dialects or of calls.

Contract: a quotation is either sure (a fence: whatever stands in it is quoted) or awaited: it quotes only if what would
close it follows, for a lone quotation mark or a tag mentioned in prose quotes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from ...late import late
from ...records import dataclass

MAX_SPAN = 4000
"""How far what was open before a call may still close after it."""


class Quote(StrEnum):
    """What quotes."""

    FENCE = "a fenced block"
    BLOCK = "a block quote"
    INDENTED = "an indented code block"
    HTML = "an element that quotes"
    COMMENT = "an HTML comment"
    CDATA = "a CDATA section"
    RESULT = "a tool's result"
    SPAN = "a code span"
    MARKS = "quotation marks"
    LATEX = "a LaTeX verbatim text"
    CELL = "a table's cell"
    DIFF = "a diff"
    ANSWER = "a string of a JSON answer"
    SCALAR = "a YAML block"
    LISTING = "a listing"
    STRING = "a string of several lines"
    REMARK = "a comment of code"
    ARGUMENT = "an argument of a call that could not be read"


@dataclass(frozen=True, slots=True)
class Standing:
    """Inside what (None: live); where it quotes only if it closes, all that is awaited: what quotes, and its closer.

    `brief`: what stands here is quoted, but what follows on this line may show that nothing else is.
    """

    quote: Quote | None = None
    awaited: tuple[tuple[Quote, str], ...] = ()
    brief: bool = False

    @property
    def sure(self) -> bool:
        """Is whatever stands here quoted, come what may?"""
        return self.quote is not None and not self.awaited


LIVE = Standing()
ARGUMENT = Standing(Quote.ARGUMENT)

MARKS: Mapping[str, str] = {
    '"': r'(?<!\s)"', '" ': r'(?:\A|(?<=\s))"(?!\w)', "“": "[”“]", "”": "”", "„": "[“”]", "«": "»", "»": "«", "‹": "›",
    "‘": r"’(?!\w)", "‚": "[‘’]", "「": "」", "『": "』", "《": "》", "&quot;": "&quot;", "&laquo;": "&raquo;",
    "&ldquo;": "&rdquo;", "&bdquo;": "&[lr]dquo;", "'": r"\A(?:\\[nrt0])*+'(?!\w)",
}  # fmt: skip
"""Marks that open, and a pattern of what closes them; `" ` stands apart from what it quotes, `'` touches it, or an
escaped line's end."""

RESULTS = (
    "tool_responses?", "tool_results?", "tool_outputs?", "function_responses?", "function_results?",
    "function_outputs?", "observation", "stdout", "stderr", "search[_-]results?",
)  # fmt: skip
"""Elements that hold what a tool answered: no call stands in one, whoever wrote it."""
IS_RESULT = late("|".join(RESULTS))
NAMES = (
    *RESULTS,
    "code", "pre", "blockquote", "textarea", "samp", "kbd", "xmp", "tt", "script", "style", "listing", "nowiki",
    "syntaxhighlight", "q", "quote", "td", "th", "examples?", "samples?", "demos?", "demonstrations?",
    "illustration", "few[_-]?shots?", "template", "excerpt", "snippet", "transcript", "conversation", "dialog",
    "dialogue", "training[_-]data", "dataset", "files?",
    "documents?", "documentation", "docs", "tutorial", "prompt", "usage",
    "bad[_-]examples?", "wrong[_-]examples?", "incorrect[_-]examples?", "negative[_-]examples?",
    "good[_-]examples?", "right[_-]examples?", "correct[_-]examples?", "positive[_-]examples?",
)  # fmt: skip
"""Elements of HTML and wikis that quote, and those by which prompts set apart what is shown, not done."""
ELEMENTS = "|".join(NAMES)
FORUM = "quote|code|pre|noparse|inst|tool_results"
"""Elements in square brackets: a forum's, a user's turn and what a tool answered (Llama 2, Mistral)."""
LONG_QUOTES = ('"""', "'''")
"""What begins and ends a string of several lines, in Python and its kin."""
HERE = late(r"<<[-~]?(?P<quote>['\"]?)(?P<word>[A-Za-z_]\w*)(?P=quote)")
"""What begins a here-document, on the line before it, and the word that ends it."""
FIRST_LETTERS = "".join(sorted({c for name in NAMES for c in (name[0], name[0].upper())})) + "ſ\u212a"
"""What their names begin with, in any case: looked at before the names, for a choice in any case is dear to try."""
VERBATIM = r"verbatim|Verbatim|BVerbatim|lstlisting|minted|alltt|filecontents"
WORD_END = r"\b"
"""What the closer of an element ends with: the name is over."""
END = r"\\end"
"""What the closer of a LaTeX environment begins with."""
HEAD_ROW = r"\A[^\n]*\n[ \t|:]*+(?:(?P<end>-)|(?P<off>[^-]))"
"""What follows in a table's first row: the row of dashes below it."""
FIRST_LINE = r"\A[^\n]*\n(?:(?P<end>[+-]\S|@@ )|(?P<off>[^+@-]|[+-]\s|@[^@]|@@[^ ]))"
"""What follows in a diff's first line: another line of it."""
PARAGRAPH = r"|(?P<off>\n[ \t\r]*\n)"
LINE = r"|(?P<off>\n)"
FIRST = r"|(?P<off>\A(?:\\[nrt0])*+(?:[^'\\]|\\[^nrt0]))"

AGAIN = rf"|(?P<off><(?:{'|'.join(RESULTS)})>)"
"""Another result: the first was never closed."""

ENDINGS: Mapping[Quote, str] = {Quote.MARKS: PARAGRAPH, Quote.SPAN: PARAGRAPH, Quote.RESULT: AGAIN}
"""What shows that a quotation is none, beside its closer."""
SHORT = frozenset({Quote.SPAN, Quote.MARKS})
"""Quotations that a longer text closes no more, and whose closer must be seen to its end."""

CODE = frozenset({Quote.STRING, Quote.REMARK})
"""What only code has: between quotation marks its signs mean nothing."""

ENDS = {
    Quote.FENCE: late(r"\n(?=[ \t\r]*(?:`{3}|~{3}|\Z))"),
    Quote.ANSWER: late(r'"|\n[ \t\r]*\n'),
}
"""What may end a quotation that quotes whatever stands in it, where that is not the line's end."""
LINE_END = late(r"\n")


def still(quote: Quote, text: str, pos: int) -> int:
    """Up to where what stands at `pos` inside such a quotation is surely quoted."""
    found = ENDS.get(quote, LINE_END).search(text, pos)
    return found.start() if found else len(text)


def closes(standing: Standing, text: str) -> bool | None:
    """Does `text`, which follows a place with this standing, close what is open there?  None: more text must tell."""
    found = [_closes(quote, closer, text) for quote, closer in standing.awaited]
    return True if True in found else None if None in found else False


def closes_behind(standing: Standing, text: str, end: int) -> bool:
    """Does what is open there close behind the place `end` of a text that is all there?"""
    after = text[end : end + MAX_SPAN] + (" " if end + MAX_SPAN >= len(text) else "")
    return closes(standing, after) is True


def lasts(standing: Standing) -> bool:
    """Does something go on quoting that was not closed for long?"""
    return any(quote not in SHORT for quote, _ in standing.awaited)


def _closes(quote: Quote, closer: str, text: str) -> bool | None:
    found = _ending(quote, closer).search(text)
    open_ended = quote in SHORT or closer.endswith(WORD_END)  # the name of a tag may go on
    if found is None or (open_ended and found.end() == len(text) and found.lastgroup == "end"):
        return None
    return found.lastgroup == "end"


@lru_cache(maxsize=512)
def _ending(quote: Quote, closer: str) -> re.Pattern[str]:
    if quote in {Quote.CELL, Quote.DIFF}:
        return re.compile(closer)
    off = LINE if quote is Quote.LATEX and not closer.startswith(END) else ENDINGS.get(quote, "")
    if closer == MARKS["'"]:
        off = FIRST
    return re.compile(f"(?P<end>{closer}){off}", re.IGNORECASE)
