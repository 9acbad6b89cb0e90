"""Where in the visible text we stand: live, or inside something that quotes.

Follows Markdown as far as it decides that: fences, code spans, block quotes, indented code, quotation marks, `<code>`,
`<pre>`, HTML comments (judge-rules.md 2).  This module does not know about calls or dialects.

Contract: `add` takes the visible text in order, in any pieces; `standing` says how the place just after it stands.
Each character is looked at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

PENDING = 4096
"""Text is looked at when asked, or when this much has gathered, so that plain prose costs next to nothing."""

KEPT = 600
"""Characters kept for the words before a candidate."""

TOKEN = re.compile(
    r"\n|`+|~{3,}|>[ \t\r>]*|</?(?:code|pre|blockquote)\b[^>\n]{0,80}>|<!--|-->|[\"“”„«»「」『』]",
    re.IGNORECASE,
)
TAIL = re.compile(r"(?:\"|`+|~+|<[!/]?[\w-]{0,10}[^>\n]{0,80}|-{1,2})\Z")
NO_TAG = r"<(?!!--|/?(?:code|pre|blockquote))"
OPENS = r"(?<=[\s(\[{:—–-])\"(?=\S)"
"""A quotation mark that opens."""
CALM = re.compile(
    "(?:"
    + "|".join(
        (
            r"[^\n`<\"“”„«»「」『』]++",
            NO_TAG,
            r"(?<![\s(\[{:—–-])\"",
            r"\"(?=\s)",
            OPENS + r"(?:[^\n`<\"]++|(?<=\s)\")*+(?<!\s)\"",
            rf"(`++)(?:[^`\n<]++|{NO_TAG})++\1(?!`)",
        )
    )
    + ")*+",
    re.IGNORECASE,
)
"""Text on one line after which nothing is open that was not before: what it opens it closes."""
IN_FENCE, IN_SPAN = re.compile(r"[^\n]*+"), re.compile(rf"(?:[^`\n<]++|{NO_TAG})*+", re.IGNORECASE)
IN_HTML, IN_MARKS = re.compile(r"[^\n<-]*+"), re.compile(r"(?:[^\n`<\"]++|(?<=\s)\")*+")
PAIRS = {"“": "”", "„": "“”", "«": "»", "「": "」", "『": "』"}


class Quote(StrEnum):
    """What quotes."""

    FENCE = "a fenced block"
    BLOCK = "a block quote"
    INDENTED = "an indented code block"
    HTML = "an HTML code element"
    COMMENT = "an HTML comment"
    SPAN = "a code span"
    MARKS = "quotation marks"


@dataclass(frozen=True, slots=True)
class Standing:
    """Inside what (None: live); for spans and quotation marks, which only quote if they close, the closers awaited."""

    quote: Quote | None = None
    closers: tuple[str, ...] = ()


LIVE = Standing()


class Context:
    """A running reading of visible text."""

    def __init__(self) -> None:
        self._new: list[str] = []
        self._size = 0
        self._fence = ""          # the run that opened the fence we are in
        self._fence_line = ""     # a fence run on this line whose line is not over: "open" or "close"
        self._run = ""            # that run
        self._html = ""
        self._spans: list[str] = []  # backtick runs that may have opened a span, in order
        self._marks = ""
        self._blank = True        # the line is blank so far
        self._before_blank = True # the line before was blank
        self._indent = 0
        self._quote = False
        self._indented = False
        self._last = "\n"
        self._any = False
        self._said = False        # has anything but white space been added
        self._tail = ""           # the last text read, for the words before a candidate
        self._stands: Standing | None = None  # what was said last, while no text has come since
        self._quotations = 0      # fences, comments, elements and block quotes begun

    def add(self, text: str) -> None:
        """More visible text."""
        self._stands = None
        self._said = self._said or not text.isspace()
        self._new.append(text)
        self._size += len(text)
        if self._size > PENDING:
            self._read(final=False)

    @property
    def any(self) -> bool:
        """Has there been any visible character?"""
        return self._any or self._said

    @property
    def line_blank(self) -> bool:
        """Is the present line blank so far?"""
        for piece in reversed(self._new):
            cut = piece.rfind("\n")
            rest = piece[cut + 1 :]
            if rest and not rest.isspace():
                return False
            if cut >= 0:
                return True
        return self._blank

    @property
    def before(self) -> str:
        """The last words before this place."""
        if self._size <= KEPT:
            return (self._tail + "".join(self._new))[-KEPT:]
        text = ""
        for piece in reversed(self._new):
            text = piece[-KEPT:] + text
            if len(text) >= KEPT:
                break
        return text[-KEPT:]

    @property
    def quotations(self) -> int:
        """How many fences, comments, code elements and quoted lines have begun by the place `standing` told of."""
        return self._quotations

    def standing(self) -> Standing:
        """How the present place stands."""
        if self._stands is None:
            self._stands = self._look()
        return self._stands

    def _look(self) -> Standing:
        self._read(final=True)
        if self._fence or self._fence_line == "open":
            return Standing(Quote.FENCE)
        if self._html:
            return Standing(Quote.COMMENT if self._html == "-->" else Quote.HTML)
        if self._quote:
            return Standing(Quote.BLOCK)
        if self._blank and self._before_blank and self._indent >= 4:
            return Standing(Quote.INDENTED)
        if self._indented and not self._blank:
            return Standing(Quote.INDENTED)
        if self._spans:
            return Standing(Quote.SPAN, tuple(self._spans))
        if self._marks:
            return Standing(Quote.MARKS, (self._marks,))
        return LIVE

    def _read(self, *, final: bool) -> None:
        if not self._new:
            return
        text = "".join(self._new)
        keep = ""
        if not final:
            tail = TAIL.search(text, max(0, len(text) - 100))
            if tail:
                keep, text = text[tail.start() :], text[: tail.start()]
        self._new, self._size = ([keep] if keep else []), len(keep)
        if not text:
            return
        self._tail = (self._tail + text)[-KEPT:]
        text = self._skip_paragraphs(text)
        pos, size = 0, len(text)
        while pos < size:
            run = self._run_here() if pos else None  # it looks at the character before it
            if run is not None and (end := run.match(text, pos).end()) > pos:  # type: ignore[union-attr]
                self._last, pos = text[end - 1], end
                continue
            found = TOKEN.search(text, pos)
            start, end = found.span() if found else (size, size)
            if start > pos:
                self._plain(text[pos:start])
            if found is not None:
                self._token(found.group(), text, end)
            pos = end

    def _run_here(self) -> re.Pattern[str] | None:
        """What may be skipped as it changes nothing here; None where every sign counts."""
        if self._blank or self._fence_line:
            return None
        if self._fence:
            return IN_FENCE
        if self._html:
            return IN_HTML
        if self._spans:
            return IN_SPAN
        return CALM if not self._marks else IN_MARKS if self._marks == '"' else None

    def _skip_paragraphs(self, text: str) -> str:
        """Leave whole paragraphs unread that cannot matter: spans and quotation marks end with their paragraph."""
        cut = text.rfind("\n\n") + 1
        if not cut or self._fence or self._fence_line or self._html:
            return text
        head = text[:cut]
        if "<" in head or "```" in head or "~~~" in head:
            return text
        self._any = self._any or not head.isspace()
        self._blank, self._indented = not head.rpartition("\n")[0].rpartition("\n")[2].strip(), False
        self._newline()
        self._blank = True
        return text[cut:]

    def _plain(self, text: str) -> None:
        if self._blank:
            body = text.lstrip(" \t\r")
            self._indent += len(text[: len(text) - len(body)].replace("\t", "    "))
            if body:
                self._first_character()
        if self._fence_line == "close" and text.strip():
            self._fence_line = ""
        self._last = text[-1]

    def _first_character(self) -> None:
        self._indented = self._indent >= 4 and (self._before_blank or self._indented)
        self._blank, self._any = False, True

    def _token(self, token: str, text: str, end: int) -> None:
        if token == "\n":
            self._newline()
        elif self._fence:
            self._in_fence(token)
        elif token[0] in "`~" and len(token) >= 3 and self._blank:
            self._fence_line, self._run = "open", token
            self._quotations += 1
            self._first_character()
        elif self._fence_line == "open":
            if token[0] == "`" and self._run[0] == "`":
                self._fence_line = ""
                self._spans = [] if len(token) == len(self._run) else [self._run]
        elif token[0] == ">" and self._blank:
            self._quote = True
            self._quotations += 1
            self._first_character()
        else:
            self._inline(token, text[end : end + 1])
        if token != "\n":
            self._last = token[-1]

    def _inline(self, token: str, after: str) -> None:
        if self._blank:
            self._first_character()
        if self._html:
            if token.casefold().startswith(self._html):
                self._html = ""
        elif token[0] == "`":
            if token in self._spans:
                del self._spans[self._spans.index(token) :]
            else:
                self._spans.append(token)
        elif self._spans:
            pass
        elif token == "<!--":
            self._html = "-->"
            self._quotations += 1
        elif token[0] == "<" and token[1] != "/":
            self._html = "</" + token[1:].split(">", maxsplit=1)[0].split(" ", maxsplit=1)[0].casefold()
            self._quotations += 1
        elif self._marks:
            if token in self._marks and not self._last.isspace():
                self._marks = ""
        elif token in PAIRS:
            self._marks = PAIRS[token]
        elif token == '"' and (self._last.isspace() or self._last in "([{:—–-") and not after.isspace():
            self._marks = '"'

    def _in_fence(self, token: str) -> None:
        if token[0] == self._fence[0] and len(token) >= len(self._fence) and self._blank:
            self._fence_line, self._run = "close", token
        if self._blank:
            self._first_character()

    def _newline(self) -> None:
        if self._fence_line == "open":
            self._fence = self._run
        elif self._fence_line == "close":
            self._fence = ""
        self._fence_line = ""
        if self._blank:
            self._spans, self._marks = [], ""
        self._before_blank, self._blank = self._blank, True
        self._indented = self._indented and self._before_blank
        self._indent, self._quote = 0, False
        self._last = "\n"


ENDS = {
    Quote.FENCE: re.compile(r"\n(?=[ \t\r]*(?:`{3}|~{3}|\Z))"),
    Quote.BLOCK: re.compile(r"\n"),
    Quote.HTML: re.compile(r"</"),
    Quote.COMMENT: re.compile(r"-->"),
}
"""What may end a quotation that quotes whatever stands in it."""


def still(quote: Quote, text: str, pos: int) -> int:
    """Up to where what stands at `pos` inside such a quotation is surely quoted."""
    found = ENDS[quote].search(text, pos)
    return found.start() if found else len(text)


def closes(standing: Standing, text: str) -> bool | None:
    """Does `text`, which follows a place with this tentative standing, close it?  None: more text must tell."""
    if standing.quote is Quote.SPAN:
        for found in re.finditer(r"`+|\n[ \t\r]*\n", text):
            if found.end() == len(text) and found.group()[0] == "`":
                return None
            if found.group()[0] == "\n":
                return False
            if found.group() in standing.closers:
                return True
        return None
    for found in re.finditer(rf"[{re.escape(''.join(standing.closers))}]|\n[ \t\r]*\n", text):
        if found.group()[0] == "\n":
            return False
        if found.start() == 0 or not text[found.start() - 1].isspace():
            return True
    return None
