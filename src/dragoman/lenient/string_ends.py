"""Where a string ends whose quotes are not told from those inside it: decided by what follows each.

In well-formed JSON structure follows a string's end, so a quote that is not followed by structure stands inside; where
both readings are possible there are two, and that is an error.  This module writes nothing and mends nothing;
`strings.py` reads strings with it.

Contract: each quote is decided with a bounded look ahead; runs of quotes that need no decision are skipped at once,
with the same outcome as one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from ..late import late
from .notation import BLANK, CLOSERS, JSON, WIDE_COMMA, Broken, Form
from .source import Need, Source

MOST_QUOTES = 10_000
"""So many quotes may stand inside one string; of Python, where each is decided on alone, inside all of a text."""
MANY = f"{{0,{MOST_QUOTES}}}+"
"""So many more are looked for at once: of a string with more it need not be known how many."""
MAX_KEY = 4096
"""A longer quoted run after a comma is not taken for a key when deciding where a damaged string ends."""

TWO_READINGS = "unescaped quotes inside a string leave two readings"
BLANKS = late(f"[{BLANK}]*")
COMMENTS = ("//", "/*")
COMMENT = late(r"(?:#|//)[^\r\n]*+[\r\n]|/\*(?s:.)*?\*/")
BEGUN = late(r"#|/(?:[/*]|\Z)")
"""What begins as one."""
MAX_COMMENT, MOST_COMMENTS = 1024, 8
"""A longer one is none when deciding where a string ends, nor is one behind as many."""
ARROW = ("=>",)
FLAG = ("--",)
LEADS_ON = tuple(" \t\r\n=:,;([{+-")
WRITTEN = ("\\n", "\\t", "\\r")
"""White space as its escapes."""
GOES_ON = r"[\w=>.)(;+*?!&%$@^:-]"
KEPT = r'[^"\\\x00-\x1f\ud800-\udfff]'
NO_KEY = rf'[^"\\\n]{{0,80}}+"[{BLANK}]*+[^:{BLANK}]'
NO_WORD = rf"(?!\\[ntr])[\w.$\\-]++(?:[{BLANK}]++(?!=>)[^:{BLANK}]|(?!=>)[^\w.$\\:{BLANK}-])"
MORE = rf'[{BLANK}]*+[}}\]][{BLANK}]*+(?:["\'+.;)]|[^\W_])'
INSIDE_ITEM = rf"['\"]|[ \t]*+{GOES_ON}"
INSIDE_MEMBER = rf'{INSIDE_ITEM}|[ \t]++"{NO_KEY}|[{BLANK}]*+,[{BLANK}]*+(?:"{NO_KEY}|{NO_WORD})'
"""What shows, behind a quote in a string of JSON, that the string goes on: no structure, and no key."""


def _quotes(behind: str, first: str = "") -> re.Pattern[str]:
    """Quotes inside a string, each with `first` and `behind` behind it, and the text between them."""
    quote = f'"{first}(?={behind})'
    return late(f"{quote}(?:{KEPT}*+{quote}){MANY}")


NOT_FIRST = rf'(?:(?<![,\s]")|(?={NO_KEY}))'
INNER = {
    ("item", False): _quotes(INSIDE_ITEM),
    ("item", True): _quotes(f"{INSIDE_ITEM}|{MORE}"),
    ("member", False): _quotes(INSIDE_MEMBER, NOT_FIRST),
    ("member", True): _quotes(f"{INSIDE_MEMBER}|{MORE}", NOT_FIRST),
}
"""By what the string stands in, and whether that stands in something else."""
ENDED = {
    "key": late(rf'"[{BLANK}]*+(?:[:=：,{WIDE_COMMA})}}\]]|(?P<bracket>(?!)))'),
    "member": late(rf'"[{BLANK}]*+(?:(?P<bracket>[}}\]])|,[{BLANK}]*+"[^"\\\n]{{0,80}}+"[{BLANK}]*+:)'),
    "item": late(rf'"[{BLANK}]*+(?:(?P<bracket>[}}\]])|,[{BLANK}]*+["\[{{0-9-])'),
    "argument": late(r"(?P<bracket>(?!))"),
}
"""What shows, behind the first quote in a string, that it is the string's end."""
DOUBLED = late(r'(?:"(?="))+')
KEY_GOES_ON = rf"[{BLANK}]*+[^:=：,{WIDE_COMMA})\]}}{BLANK}<\[~{{|]"


def _others(quote: str, behind: str, *, begun: bool) -> re.Pattern[str]:
    """Quotes of another kind in a string that they began, each with `behind` behind it; where it has `begun`, the text
    between them."""
    one = rf"{quote}(?<![,\s]{quote})(?={behind})"
    text = f'[^{quote}"\\\\\\x00-\\x1f\ud800-\udfff]*+' if begun else ""
    return late(f"{one}(?:{text}{one}){MANY}")


OTHERS = {
    (quote, place == "key", begun): _others(quote, KEY_GOES_ON if place == "key" else INSIDE_ITEM, begun=begun)
    for quote in "'`" for place in ("key", "member") for begun in (False, True)
}  # fmt: skip
"""By the quote, whether the string is a key, and whether something was read of it before."""
FAR = "<[~`{|"
"""Signs that no such pattern takes."""
BARE_KEY = late(r"[\w.$\\-]*")
KEY_ENDS = {'"': '"', "'": "'", "`": "`", **CLOSERS}
"""What opens a key in quotes, and what closes it."""
KEYS = {
    quote: late(
        rf"{quote}(?P<key>[^{end}\\\n]*+(?:\\(?s:.)[^{end}\\\n]*+)*+)[{end}][{BLANK}]*+(?P<next>[^{BLANK}])"
    )
    for quote, end in KEY_ENDS.items()
}
"""A quoted run, and what follows it."""
WORD_BEHIND = late(rf'"[\w.:/-]{{1,64}}"[{BLANK}]*+(?:\}}|,[{BLANK}]*+"[\w-]{{1,64}}"[{BLANK}]*+:)')
"""A word in quotes that is a value: the object ends behind it, or a key comes that lacks nothing."""
KEY_RUN = {quote: late(f"[^{end}\\\\\n]+") for quote, end in KEY_ENDS.items()}


def _none(_: str) -> bool:
    return False


class StringEnds:
    """Decides on quotes over a source.

    `closers` is the stack of brackets still open, outermost first.  `stops` are marks around the whole value: none of
    its strings goes past one that stands directly behind a quote.
    """

    form: Form
    src: Source
    stops: tuple[str, ...]

    def __init__(self, src: Source, form: Form = JSON, stops: tuple[str, ...] = ()) -> None:
        self.src, self.form, self.stops = src, form, stops
        self.closers: list[str] = []
        self.colons = False  # a keyword was written with a colon: the next may be, too
        self.keywords: Callable[[str], bool] = _none  # may a call have one of this name, if a comma was forgotten?
        self.listed = False  # a list stands around the call: its bracket may close both
        self.flags = False  # a key was written as a shell's flag: the next one needs no comma before it
        self._longest_stop = max(map(len, stops), default=0)

    def _ends_here(self, at: int, place: str) -> bool:
        """Is the first quote in a string plainly its end?  As `_closes` would find; the text at hand shows it."""
        found = ENDED[place].match(self.src.buf, at)
        if found is None or not self.closers:
            return False
        bracket = found["bracket"]
        return not bracket or (bracket == self.closers[-1] and self.would_end(found.end() - 1))

    def _quotes_inside(self, quote: str, start: int, place: str, room: int, *, begun: bool) -> int:
        """Skip quotes that can neither end the string nor begin a key, and the text between; how many they are.

        -1: there are more than there is `room` for.
        """
        if not (self.closers and start and self._far_stops):
            return 0
        buf = self.src.buf
        if quote == '"':
            pattern = INNER[place, len(self.closers) > 1] if begun and place != "key" else DOUBLED
        elif quote in "'`" and not self._ticked_stops:
            pattern = OTHERS[quote, place == "key", begun]
        else:
            return 0
        found = pattern.match(buf, start)
        if found is None:
            return 0
        many = buf.count(quote, start, found.end())
        if many > room:
            return -1
        self.src.pos = found.end()
        return many

    @cached_property
    def _far_stops(self) -> bool:
        """Is a quote told from the string's end by JSON's own signs alone?"""
        return not self.form.python and self.form.pair == (":",) and all(stop[0] in FAR for stop in self.stops)

    @cached_property
    def _ticked_stops(self) -> bool:
        return any(stop.startswith("`") for stop in self.stops)

    def _closes(self, place: str, inner: int) -> Need[bool]:
        """Is the quote at `pos` the string's end, or an unescaped quote inside it?

        In well-formed JSON what follows a string's end is structure, so a quote that is not followed by structure
        stands inside.  When quotes inside were seen and a declared key could begin here too, there are two readings.
        """
        look = _Look(self.src)
        c = yield from look.after_space()
        if not c or not self.closers:
            return True
        if (yield from look.at(self.stops, self._longest_stop)):
            return not self.form.python or not (yield from self._quotes_a_stop())
        if c == "]" and place == "member" and (yield from self._list_ends(look.ahead)):
            return True
        if place == "key":
            return c in f":=：,{WIDE_COMMA})]}}"
        if c in "/#" and look.skipped and (c := (yield from look.over_comments())) in ("", "/", "#"):
            return False
        if c == self.closers[-1]:
            return (yield from self._brackets_follow(look))
        if c == "," or (c == WIDE_COMMA and place == "member"):
            if place != "member" and (yield from self._item_follows(_Look(self.src, look.ahead))):
                return True
            if place == "item":
                return False
            verdict = yield from self._key_follows(look)
            if verdict and inner % 2 and verdict != "]":
                raise Broken(TWO_READINGS)
            return bool(verdict)
        if c in "\"'":
            if place != "member" or self.form.python:  # Python joins strings that stand side by side
                return look.skipped and not (inner and self.form.python)
            return look.skipped and bool((yield from self._quoted_key(look)))
        if c == "-" and self.flags and place == "member":
            return look.skipped and (yield from look.at(FLAG, 2))
        if c.isidentifier() and place == "member" and not inner and look.skipped:
            return (yield from self._keyword_follows(look))
        return c in "<~`;" and len(self.closers) == 0

    def _opens_value(self) -> Need[bool]:
        """Is the quote that stands in a key, behind an equals sign, the first of the value: `"name="f", …`?"""
        return self.src.behind(1) == "=" and (yield from self.src.match(WORD_BEHIND, 200)) is not None

    def _refuse_key(self, place: str) -> Need[None]:
        """A quote inside a string of an object, behind a comma: where a key could begin, there are two readings."""
        if place != "member" or not self.src.behind(16).rstrip().endswith(","):
            return
        if (yield from self._quoted_key(_Look(self.src, 0))):
            raise Broken(TWO_READINGS)

    def _brackets_follow(self, look: _Look) -> Need[bool]:
        """After a closing bracket: more brackets, a comma, or the end of everything that was open."""
        for closer in reversed(self.closers):
            c = yield from look.after_space()
            if c == "":
                return True
            if c != closer:
                return c not in "\"'" and not c.isalnum() and c not in "+.;)"
            look.skip()
        if self.form.python:
            return (yield from self._call_ends(look))
        return (yield from look.char()) not in ("\"", "'")

    def would_end(self, pos: int) -> bool:
        """Would a string be taken for ended before brackets that end at `pos`, as far as what follows them is known?"""
        buf, size = self.src.buf, len(self.src.buf)
        for closer in reversed(self.closers):
            pos = BLANKS.match(buf, pos).end()  # type: ignore[union-attr]
            if pos == size:
                return self.src.eof
            c = buf[pos]
            if c != closer:
                return c not in "\"'" and not c.isalnum() and c not in "+.;)"
            pos += 1
        if self.form.python or pos == size:
            return self.src.eof and not self.form.python
        return buf[pos] not in "\"'"

    def _call_ends(self, look: _Look) -> Need[bool]:
        """After a Python call's last bracket: no word, whatever brackets are closed around it; quotes at the end."""
        while (c := (yield from look.char())) in ")]}" and c:
            look.skip()
        if c and c in "\"'":  # perhaps all of the call stands in quotes
            look.skip()
            return not (yield from look.after_space())
        return not c or not c.isalnum()

    def _keyword_follows(self, look: _Look) -> Need[bool]:
        """Does a keyword of the call follow the end of a string, with no comma between?

        Where the string would end in a sign that leads on, the quote is more likely its own.
        """
        if len(self.closers) > 1 or self.src.behind(1) in LEADS_ON:
            return False
        return self.keywords((yield from look.bare_key(("=",))))

    def _list_ends(self, ahead: int) -> Need[bool]:
        """Does a list of calls end here, within the call's own brackets, and nothing follow but a mark around it?"""
        if not self.listed or len(self.closers) > 1:
            return False
        look = _Look(self.src, ahead + 1)
        return not (yield from look.after_space()) or (yield from look.at(self.stops, self._longest_stop))

    def _quotes_a_stop(self) -> Need[bool]:
        """Does a quote stand here, a mark around the whole value, and a quote again?"""
        if not self.stops:
            return False
        text = yield from self.src.peek(max(map(len, self.stops)) + 2)
        return any(text.startswith((f'{stop}"', f"{stop}'"), 1) for stop in self.stops)

    def _item_follows(self, look: _Look) -> Need[bool]:
        look.skip()
        c = yield from look.after_space()
        return not c or c in "\"'[{(-+.0123456789tfnTFNrRuU" or c in CLOSERS or c in "]),"

    def _key_follows(self, look: _Look) -> Need[str]:
        """After a comma in an object: "" unless a key (or the object's end) can begin there."""
        look.skip()
        while (c := (yield from look.over_comments())) == "\\" and (yield from look.at(WRITTEN, 2)):
            look.ahead += 2
        if not c or c == self.closers[-1] or c in (",", WIDE_COMMA) or (yield from look.at(COMMENTS, 2)):
            return "]"
        if c in "\"'" or c in CLOSERS:
            return (yield from self._quoted_key(look))
        return (yield from look.bare_key((*self.form.pair, ":") if self.colons else self.form.pair))

    def _quoted_key(self, look: _Look) -> Need[str]:
        return (yield from look.quoted_key((*self.form.pair, ":", "：")))


class _Look:
    """A look ahead from a quote, without consuming; remembers how far it got while it waits for more text."""

    __slots__ = ("ahead", "skipped", "src")

    def __init__(self, src: Source, ahead: int = 1) -> None:
        self.src, self.ahead, self.skipped = src, ahead, False

    def char(self) -> Need[str]:
        src = self.src
        while src.pos + self.ahead >= len(src.buf) and not src.eof:
            yield
        return src.buf[src.pos + self.ahead : src.pos + self.ahead + 1]

    def after_space(self) -> Need[str]:
        return (yield from self._after(BLANKS, spaces=True))

    def _after(self, pattern: re.Pattern[str], *, spaces: bool = False) -> Need[str]:
        """Skip what `pattern` takes; returns the character behind it."""
        src = self.src
        while True:
            buf, begin = src.buf, src.pos + self.ahead
            end = pattern.match(buf, begin).end()  # type: ignore[union-attr]
            self.ahead += end - begin
            self.skipped = self.skipped or (spaces and end > begin)
            if end < len(buf) or src.eof:
                return buf[end : end + 1]
            yield

    def skip(self) -> None:
        self.ahead += 1

    def over_comments(self) -> Need[str]:
        """Skip white space and whole comments; returns what stands behind them."""
        src, left = self.src, MOST_COMMENTS
        while (c := (yield from self.after_space())) in ("#", "/") and left:
            begin = src.pos + self.ahead
            found = COMMENT.match(src.buf, begin, begin + MAX_COMMENT)
            if found is not None:
                self.ahead += found.end() - begin
                left -= 1
            elif src.eof or len(src.buf) - begin >= MAX_COMMENT or not BEGUN.match(src.buf, begin):
                return c
            else:
                yield
        return c

    def at(self, marks: tuple[str, ...], longest: int) -> Need[bool]:
        """Does one of `marks` stand here?"""
        src = self.src
        while True:
            begin = src.pos + self.ahead
            if src.buf.startswith(marks, begin):
                return True
            if src.eof or len(src.buf) - begin >= longest:
                return False
            rest = src.buf[begin:]
            if not any(m.startswith(rest) for m in marks):
                return False
            yield

    def quoted_key(self, pairs: tuple[str, ...]) -> Need[str]:
        """The key that begins at the present quote, if one does: a short quoted run and then a pair mark."""
        quote = yield from self.char()
        if quote not in KEYS:  # it only closes
            return ""
        whole = KEYS[quote].match(self.src.buf, begin := self.src.pos + self.ahead, begin + MAX_KEY)
        if whole is not None:
            return (whole["key"] or "]") if whole["next"] in pairs else ""
        return (yield from self._long_key(quote, pairs))

    def _long_key(self, quote: str, pairs: tuple[str, ...]) -> Need[str]:
        """The same where the key is long, or not all of it has come."""
        start = self.ahead + 1
        self.skip()
        while not (c := (yield from self.char())) or c not in KEY_ENDS[quote]:
            if not c or c == "\n" or self.ahead - start > MAX_KEY:
                return "" if c else "]"
            begin = self.src.pos + self.ahead
            run = KEY_RUN[quote].match(self.src.buf, begin, self.src.pos + start + MAX_KEY + 1) if c != "\\" else None
            self.ahead += 2 if c == "\\" else run.end() - begin if run else 1
        key = self.src.buf[self.src.pos + start : self.src.pos + self.ahead]
        self.skip()
        c = yield from self.after_space()
        return (key or "]") if not c or c in pairs else ""

    def bare_key(self, pairs: tuple[str, ...]) -> Need[str]:
        """The bare key that begins here, if one does."""
        start = self.ahead
        yield from self._after(BARE_KEY)
        if self.ahead - start > MAX_KEY:
            return ""
        key = self.src.buf[self.src.pos + start : self.src.pos + self.ahead]
        c = yield from self.after_space()
        arrow = c == "=" and (yield from self.at(ARROW, 2))
        return key if key and (not c or c in pairs or arrow) else ""
