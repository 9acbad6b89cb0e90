"""Where in the visible text we stand: live, or inside something that quotes.

Follows Markdown, HTML, LaTeX, JSON and diffs as far as they decide that (judge-rules.md, boxes).  What quotes is in
`boxes.py`, what closes it in `closing.py`, what whole lines tell in `lines.py`.  This module does not know about calls
or dialects.

Contract: `add` takes the visible text in order, in any pieces; `standing` says how the place just after it stands.
Each character is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Hashable

from ...late import late
from .alike import SOON, Alike
from .boxes import CODE, ELEMENTS, END, FIRST_LETTERS, FORUM, LIVE, LONG_QUOTES, MARKS, VERBATIM, Quote, Standing
from .calm_lines import CALM, ENTITIES, FLAT, IN_MARKS, IN_SPAN, TICKS
from .closing import element, fence_closers, mark, spelt
from .flat_lines import cut, telling
from .hints import KEPT
from .json_answer import JsonAnswer
from .lines import HEAD, Lines
from .paragraphs import Paragraphs, Passed

PENDING = 2_000_000
"""Text is looked at when asked, or when this much has gathered: where no marker comes, nobody asks.  So much of it is
kept anyhow (`visible.py`)."""

FEW = 160
"""So little text is read sooner than it is asked whether it may be passed over."""

SIGNS = "“”„«»‹›‘’‚「」『』《》"
QUOTATION_MARKS = ('"', *SIGNS)
TOKEN = late(
    rf"\n|``*|~~~+|>[ \t\r]*|<(?=[/!{FIRST_LETTERS}])(?:/?(?:{ELEMENTS})\b[^>\n]{{0,80}}>|!--|!\[CDATA\[)|-->|\]\]>"
    rf"|\\(?:begin|end)\{{(?:{VERBATIM})\*?\}}"
    rf"|\\(?:verb|lstinline)\*?(?P<delimiter>[^\w\s*{{])(?:(?:(?!(?P=delimiter))[^\n])*(?P=delimiter))?|\[(?:INST|/?(?:{FORUM})(?:=[^\]\n]{{0,40}})?)\]"
    rf"|/\*(?<![^\s;{{}}(,]/\*)|\*/|'''|&(?:{ENTITIES});|\"\"\"|{'|'.join(QUOTATION_MARKS)}",
    re.IGNORECASE,
)
"""Each begins with a literal that has no case: so `re` skips what begins none at the speed of C."""
TAIL = late(
    rf"(?:(?<!\")\"+\s?|(?<!')'+|[{SIGNS}]\s?|(?<![/*])[/*]+|`+|~+|<[!/]?[\w-]{{0,10}}[^>\n]{{0,80}}|-{{1,2}}|\]{{1,2}}|\\\w{{0,12}}\*?\{{?\w{{0,12}}\*?|&\w{{0,5}}"
    r"|\\(?:verb|lstinline)\b[^\n]*"
    r"|\[/?\w{0,12}(?:=[^\]\n]{0,40})?\]{0,2}|\n[ \t\r]*)\Z"
)
"""What may be the beginning of more at the end of what has come."""
FAR = 10_000
"""Where little could be passed again and again, it is asked so far behind at the latest."""
SLOW = 32
"""So many signs of one text are read before lines are looked for that may be passed."""
BLANK_LINES = late(r"(?:[ \t\r]*+\n)++")
IN_FENCE = late(r"[^\n]*+")
VALUE = late(r"[ \t\r\n]*+[{\[]")
PLAIN = frozenset("{}()0123456789")
"""Signs that a line may begin with, beside letters, and that quote nothing."""
LINE_BLANKS = " \t\r"
"""What may stand before the first sign of a line; any other white space is a sign of its own."""


class Context:
    """A running reading of visible text; `any` says that there has been any visible character."""

    __slots__ = (
        "_answer", "_any", "_blank", "_cut", "_element", "_fence", "_fence_line", "_head", "_indent", "_indented",
        "_known", "_last", "_lines", "_marks", "_may_answer", "_new", "_outer", "_quotations", "_quote", "_run",
        "_size", "_spans", "_stands", "_tail", "_words", "any",
    )  # fmt: skip

    any: bool

    def __init__(self) -> None:
        self._new: list[str] = []
        self._size = 0
        self._cut = False         # a call was taken out behind all of that
        self._fence = ""          # the run that opened the fence we are in
        self._fence_line = ""     # a fence run on this line whose line is not over: "open" or "close"
        self._run = ""            # that run
        self._element: tuple[Quote, str] | None = None  # what the element, comment or environment we are in awaits
        self._outer: tuple[list[str], str] = ([], "")   # spans and marks that were open where it began
        self._spans: list[str] = []  # backtick runs that may have opened a span, in order
        self._marks = ""          # the pattern that would close the quotation marks
        self._lines = Lines()
        self._head = ""           # how the present line begins
        self._blank = True        # the line is blank so far
        self._indent = 0
        self._quote = False
        self._indented = False
        self._last = "\n"
        self._any = False         # has a character been read that is no blank
        self.any = False          # has there been any visible one, read or not
        self._tail = ""           # the last text read, for the words before a candidate
        self._words = ""          # the same, with so many of the new pieces behind it
        self._known = 0
        self._stands: Standing | None = None  # what was said last, while no text has come since
        self._quotations = 0      # fences, comments, elements and block quotes begun
        self._answer: JsonAnswer | None = None  # the value that the message is, while it is open
        self._may_answer = True   # nothing was taken out of the message that may be one

    def add(self, text: str) -> None:
        """More visible text."""
        if self._cut:
            self._interrupted()
        self._stands = None
        self.any = self.any or not text.isspace()
        self._new.append(text)
        gathered = self._size
        self._size += len(text)
        if self._size > PENDING and (len(text) < PENDING or gathered > PENDING):  # behind one so long perhaps none asks
            self._read(final=False)

    def add_call(self, text: str) -> None:
        """More visible text, a call that stays in it: a fence among its marks (DeepSeek's) quotes nothing behind it."""
        if "```" not in text:
            self.add(text)
            return
        if self._cut:
            self._interrupted()
        self._read(final=True)
        is_open = self._fence or self._fence_line
        self.add(text)
        self._read(final=True)
        if not is_open:
            self._fence = self._fence_line = ""

    def forget(self) -> None:
        """Keep nothing of the text but what it leaves behind."""
        if self._cut:
            self._interrupted()
        self._read(final=False)

    def interrupt(self) -> None:
        """A call was taken out of the text here: what follows does not stand first on a line.

        Behind most calls nothing follows, so that what stands before them need not be read for it.
        """
        if self._cut:
            self._interrupted()
        self._stands, self._cut = None, True

    def _interrupted(self) -> None:
        """Something follows where a call was taken out, or is asked of that place."""
        self._cut = False
        self._read(final=True)
        self._blank, self._last, self._may_answer = False, "\0", False
        self._head = (self._head + "\0")[:HEAD]

    @property
    def line_blank(self) -> bool:
        """Is the present line blank so far?"""
        if self._cut:
            return False
        for piece in reversed(self._new):
            cut = piece.rfind("\n")
            rest = piece[cut + 1 :]
            if rest.strip(LINE_BLANKS):
                return False
            if cut >= 0:
                return True
        return self._blank

    @property
    def before(self) -> str:
        """The last words before this place."""
        new, known = self._new, self._known
        if known == len(new):
            return self._words
        text, rest = "", len(new)
        while rest > known and len(text) < KEPT:  # each piece is looked at once, however small they are
            rest -= 1
            text = new[rest][-KEPT:] + text if text else new[rest][-KEPT:]
        self._words = words = text if len(text) == KEPT else (self._words + text)[-KEPT:]
        self._known = len(new)
        return words

    @property
    def quotations(self) -> int:
        """How many fences, comments, code elements and quoted lines have begun by the place `standing` told of."""
        return self._quotations

    @property
    def fenced(self) -> int:
        """The number of the fence in whose lines the place stands that `standing` told of; 0: none, or not asked."""
        return self._quotations if self._stands is not None and self._fence and not self._fence_line else 0

    @property
    def quoted_line(self) -> int:
        """The number of the quoted line in which the place stands that `standing` told of; 0: none, or not asked."""
        return self._quotations if self._stands is not None and self._stands.quote is Quote.BLOCK else 0

    def turned(self) -> bool:
        """Has another party's turn begun, in words?"""
        if not self.any:
            return False
        if self._stands is None:
            self.standing()
        return self._lines.turned(self._head)

    def standing(self) -> Standing:
        """How the present place stands."""
        if not self.any:
            return LIVE  # nothing is open where nothing was said
        if self._cut:
            self._interrupted()
        if self._stands is None:
            self._read(final=True)
            self._stands = self._look()
        return self._stands

    def _look(self) -> Standing:
        if self._fence or self._fence_line == "open":
            return Standing(Quote.FENCE, brief=not self._fence)
        if self._quote:
            return Standing(Quote.BLOCK)
        if self._answer is not None and self._answer.in_string:
            return Standing(Quote.ANSWER)
        if self._indent >= 4 and (self._lines.is_code(self._indent) if self._blank else self._indented):
            return Standing(Quote.INDENTED) if self.any else LIVE
        line = self._lines.standing(self._head, self._indent) if self.any else LIVE
        if line is not LIVE and line.sure:
            return line
        awaited = self._awaited() + line.awaited
        return Standing(awaited[0][0], awaited) if awaited else LIVE

    def _awaited(self) -> tuple[tuple[Quote, str], ...]:
        """What would have to close to quote this place."""
        if not (self._element or self._spans or self._marks or self._head[-1:] == "'"):
            return ()
        found = [self._element] if self._element else []
        found += [(Quote.SPAN, f"(?<!`){spelt(run)}(?!`)") for run in self._spans]
        if self._marks:
            found.append((Quote.MARKS, self._marks))
        elif not self._spans and self._head[-1:] == "'" and self._tail[-2:-1] in " \n([{:=":
            found.append((Quote.MARKS, MARKS["'"]))
        return tuple(found)

    # ── reading ──────────────────────────────────────────────────────────────

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
            self._words, self._known = self._tail, 0
            return
        self._tail = self._words = (self._tail + text)[-KEPT:] if len(text) < KEPT else text[-KEPT:]
        self._known = 0
        text = self._last + text
        answer = self._answer
        if answer is None and self._may_answer and not self._any and VALUE.match(text, 1):
            answer = JsonAnswer()
        if answer is not None:
            self._answer = answer if answer.read(text, blank=self._blank) else None
        if text[1:] == "\n":  # what mostly stands between calls
            self._newline(text, 1)
        else:
            self._read_marks(text)
        line = text.rfind("\n", 1) + 1
        self._head = text[line : line + HEAD] if line else (self._head + text[1 : HEAD + 1])[:HEAD]
        self._last = text[-1]

    def _read_marks(self, text: str) -> None:
        pos, size, paragraphs = 1, len(text), None
        until, awaited = size, ""
        retry = size if size <= FEW else 1
        signs, ask, wait, little = 0, SLOW, SLOW, 1
        alike: Alike | None = None
        while pos < size:
            signs += 1
            if signs >= SOON and self._blank and text[pos - 1] == "\n" and not self._fence_line:
                alike = alike or Alike(text)
                pos = self._pass_alike(alike, pos, signs)
            if signs >= ask and self._blank and text[pos - 1] == "\n" and self._is_bare():
                begin, pos = pos, self._pass_flat(text, pos)
                wait = 1 if pos > begin else 2 * wait
                ask = signs + wait
                if pos > begin:
                    continue
            if pos >= retry and self._blank and text[pos - 1] == "\n" and not self._goes_on():
                paragraphs = paragraphs or Paragraphs(text)
                closer = self._element[1] if self._element else ""
                if closer != awaited or until < pos:
                    until, awaited = _found_from(closer, text, pos), closer
                passed = paragraphs.passable(pos, until)
                if passed is None:
                    retry = size
                else:
                    begin, pos = pos, self._pass(passed, pos)
                    little = min(2 * little, FAR) if pos < begin + FEW else 1
                    retry = max(passed.retry, pos + little)
            elif self._fence and not self._fence_line:
                pos = self._skip_code(text, pos)
            if self._blank and not self._fence_line and ((sign := text[pos : pos + 1]).isalpha() or sign in PLAIN):
                self._first_character()  # of a line of words, or of data
            run = self._run_here()
            if run is IN_SPAN:
                pos = self._pass_spans(text, pos)
            elif run is not None and (end := run.match(text, pos).end()) > pos:  # type: ignore[union-attr]
                pos = end
                continue
            found = TOKEN.search(text, pos)
            start, end = found.span() if found else (size, size)
            if start > pos:
                self._plain(text[pos:start])
            if found is not None:
                if self._marks and found.group() == LONG_QUOTES[0]:
                    end = start + 1  # the first of them closes what is open
                self._token(text[start:end], text, start, end)
                if text.startswith("\n\n", start) and not self._fence:
                    self._newline(text, end)  # of blank lines one tells as much as all
                    end = BLANK_LINES.match(text, end).end()  # type: ignore[union-attr]
            pos = end

    def _pass_alike(self, alike: Alike, pos: int, signs: int) -> int:
        """Leave lines unread that repeat themselves, where reading them changes nothing; returns where they end."""
        end, more = alike.passes(pos, signs, self._reading)
        self._quotations += more
        return end

    def _reading(self) -> tuple[Hashable, int]:
        """All that reading on hangs on where a line begins, and how many quotations have begun."""
        spans, marks = self._outer
        here = (
            self._fence, self._run, self._element, (*spans,), marks, (*self._spans,), self._marks, self._indent,
            self._quote, self._indented, self._any, self._lines.state(),
        )  # fmt: skip
        return here, self._quotations

    def _run_here(self) -> re.Pattern[str] | None:
        """What may be skipped as it changes nothing here; None where every sign counts."""
        if self._blank or self._fence_line or (self._element and not self._fence):
            return None
        if self._fence:
            return IN_FENCE
        if self._spans:
            return IN_SPAN
        return CALM if not self._marks else IN_MARKS if self._marks == MARKS['"'] else None

    def _pass_spans(self, text: str, pos: int) -> int:
        """While a span is open, nothing counts on its line but backticks; returns where the line or the span ends."""
        spans = self._spans
        while spans and (found := TICKS.match(text, pos)) is not None:
            pos, run = found.end(), found[1]
            if run in spans:
                del spans[spans.index(run) :]
            else:
                spans.append(run)
        return pos if not spans else IN_SPAN.match(text, pos).end()  # type: ignore[union-attr]

    def _skip_code(self, text: str, pos: int) -> int:
        """Leave whole lines of a fenced block unread, up to the end of the line before the one that may close it."""
        here, later = fence_closers(self._fence)
        if self._blank and here(text, pos):
            return pos
        found = later(text, pos)
        return max(pos, found.start() if found is not None else text.rfind("\n", pos))

    def _goes_on(self) -> bool:
        """Is something open that a paragraph's end does not end, and that has no closer which could be looked for?"""
        return bool(self._fence or self._fence_line or self._lines.goes_on)

    def _is_bare(self) -> bool:
        """Is nothing open that a line could close?"""
        return not (self._spans or self._marks or self._element or self._goes_on())

    def _pass_flat(self, text: str, pos: int) -> int:
        """Leave whole lines unread of which each leaves nothing open; returns where they end."""
        found = FLAT.match(text, pos)
        end = pos if found is None else cut(text, pos, found.end(), in_table=self._lines.in_table)
        if end > pos:
            self._lines.pass_flat(telling(text, pos, end))
            self._quotations += text.count("\n>", pos - 1, end)
            self._any = True
            self._quote, self._indented, self._indent = False, False, 0
        return end

    def _pass(self, passed: Passed, pos: int) -> int:
        """Leave whole paragraphs unread that cannot matter: spans and quotation marks end with their paragraph."""
        if passed.end == pos:
            return pos
        self._lines.skip(passed.prose)
        if passed.fences or not passed.prose.is_blank():
            self._any = True
        if passed.fences or passed.prose.is_parted():
            self._spans, self._marks, self._outer = [], "", ([], "")
        self._quotations += passed.fences
        self._blank, self._quote, self._indented, self._indent = True, False, False, 0
        return passed.end

    def _plain(self, text: str) -> None:
        if self._blank:
            body = text.lstrip(" \t\r")
            self._indent += len(text[: len(text) - len(body)].replace("\t", "    "))
            if body:
                self._first_character()
        if self._fence_line == "close" and text.strip(LINE_BLANKS):
            self._fence_line = ""

    def _first_character(self) -> None:
        self._indented = self._any and self._lines.is_code(self._indent)
        self._blank = False
        self._any = True

    def _token(self, token: str, text: str, start: int, end: int) -> None:
        if token == "\n":
            self._newline(text, start)
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
            self._inline(token, text, start, end)

    def _inline(self, token: str, text: str, start: int, end: int) -> None:
        first = self._blank
        if first:
            self._first_character()
        if self._element and re.compile(self._element[1], re.IGNORECASE).match(token):
            self._element, (self._spans, self._marks) = None, self._outer
        elif token[0] == "`":
            if token in self._spans:
                del self._spans[self._spans.index(token) :]
            else:
                self._spans.append(token)
        elif self._spans:
            pass
        elif not self._marks and token.casefold() == "[inst]" and self._is_turn(text, start, first=first):
            self._lines.turn()
        elif not self._element and (opened := element(token)) and not (self._marks and opened[0] in CODE):
            self._element, self._outer = opened, ([], self._marks)
            self._quotations += 1
        elif self._marks:
            if re.compile(self._marks, re.IGNORECASE).match(text, start):
                self._marks = ""
        elif token.casefold() != "[inst]":
            self._marks = mark(token, text[start - 1], text[end : end + 1])

    @staticmethod
    def _is_turn(text: str, start: int, *, first: bool) -> bool:
        """Does a mark of a turn open one here: first on its line, or glued to what ends before it?"""
        return first or not (text[start - 1].isspace() or text[start - 1] in "\"'([*_")

    def _in_fence(self, token: str) -> None:
        if token[0] == self._fence[0] and len(token) >= len(self._fence) and self._blank:
            self._fence_line, self._run = "close", token
        else:
            self._fence_line = ""
        if self._blank:
            self._first_character()

    def _newline(self, text: str, at: int) -> None:
        if not (self._fence or self._fence_line):
            start = text.rfind("\n", 1, at) + 1
            head = text[start : min(at, start + HEAD)] if start else (self._head + text[1:at])[:HEAD]
            self._lines.end(head, self._indent, code=self._indented and not self._blank)
        opens = self._fence_line == "open"
        if self._fence_line:
            self._fence = self._run if opens else ""
        self._fence_line = ""
        if self._blank or opens:  # a fence ends a paragraph as a blank line does
            self._spans, self._marks, self._outer = [], "", ([], "")
        if self._element and self._element[0] is Quote.LATEX and not self._element[1].startswith(END):
            self._element = None
        self._blank, self._indent, self._quote, self._indented = True, 0, False, False


def _found_from(closer: str, text: str, pos: int) -> int:
    """Where what closes an element stands next, from `pos` on; the text's end where it does not, or none is open."""
    found = re.compile(closer, re.IGNORECASE).search(text, pos) if closer else None
    return len(text) if found is None else found.start()


__all__ = ["KEPT", "Context"]
