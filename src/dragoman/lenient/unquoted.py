"""Values that models write without quotes, or whose opening quote was lost, read piecemeal.

Numbers, words of any language, bare strings where the schema wants one.  This module does not know about objects, tools
or calls; what single words mean is in `bare_words.py`.
"""

from __future__ import annotations

from operator import ne

from ..late import late
from ..schema.validation import Shape
from .bare_words import BARE, COMMENTED, TYPES, is_one_word, is_plain, is_whole, literal
from .notation import JSON, Broken, Cut, Form
from .quoting import quoted
from .source import Need, Sink, Source
from .strings import StringReader

MAX_UNOPENED = 2000
"""A string without its opening delimiter is not longer."""
MAX_BARE = 20_000
"""A number or a word without quotes is shorter: it is looked at again with each piece that comes."""
LOOSE = late(r"[^\"'`(){}\[\]=<>|;\n]*+")
"""Text without the signs of any structure."""
NEXT_KEY = late(r",\s*[\w.-]+:")
STRING = frozenset({"string"})


class WordReader(StringReader):
    """Reads values without quotes; `unfit` are the paths of fractions where the schema wants integers."""

    def __init__(self, src: Source, form: Form = JSON, stops: tuple[str, ...] = ()) -> None:
        super().__init__(src, form, stops)
        self.unfit: list[str] = []

    def _word(self, out: Sink, shape: Shape) -> Need[None]:
        """A number or a word without quotes."""
        src = self.src
        if self.form.quotes and (yield from self._unopened(out)):
            return
        if self.form.python and shape.kinds == STRING and (yield from self._loose(out)):
            return
        while True:
            found = BARE.match(src.buf, src.pos, src.pos + MAX_BARE)
            if found is not None and found.end() - src.pos == MAX_BARE:
                raise Broken(f"a value without quotes is longer than {MAX_BARE} characters")
            if found is None or found.end() < len(src.buf) or src.eof:
                break
            yield
        if found is None:
            raise Broken(f"a value was expected, not {src.buf[src.pos : src.pos + 1]!r}")
        if src.eof and found.end() == len(src.buf) and self.closers:
            raise Cut
        commented = COMMENTED.match(found.group())
        word = (commented or found).group()
        end = src.pos + len(word)
        written = yield from self._spelt(word, end, shape)
        src.pos = end
        if shape.kinds == STRING and written[0] != '"' and written != "null":
            self.note("coerced", written, quoted(word))
            written = quoted(word)
        out(written)

    def _unopened(self, out: Sink) -> Need[bool]:
        """A string that lost its opening delimiter: bare text, then the delimiter, then structure."""
        src, mark = self.src, self.form.quotes[0]
        ends = (mark, "}", "{", "[", "]")
        while True:
            ahead = src.buf[src.pos : src.pos + MAX_UNOPENED]
            at = min((i for e in ends if (i := ahead.find(e)) >= 0), default=-1)
            if src.eof or len(ahead) == MAX_UNOPENED or 0 <= at < len(ahead) - len(mark):
                break
            yield
        text, after = ahead[:at], ahead[at + len(mark) : at + len(mark) + 1]
        if at <= 0 or not ahead.startswith(mark, at) or after not in ("", ",", "}", "]"):
            return False
        if NEXT_KEY.search(text) or text.rstrip().endswith((",", ":")):
            return False
        if _is_piece(text.lstrip()[: len(mark)], mark):
            raise Broken("a string begins with a piece of its mark")
        src.pos += at + len(mark)
        self.note("unopened_string", text)
        out(quoted(text))
        return True

    def _loose(self, out: Sink) -> Need[bool]:
        """A string without any quotes, where the schema wants one: up to the next key or item or the bracket."""
        src = self.src
        while True:
            found = LOOSE.match(src.buf, src.pos, src.pos + MAX_UNOPENED)
            assert found is not None
            end = src.buf[found.end() : found.end() + 1]
            if end or src.eof or found.end() - src.pos >= MAX_UNOPENED:
                break
            yield
        text = found.group()
        if self._place != "member":
            text = text.partition(",")[0]
        elif end == "=":
            text = text.rpartition(",")[0]
        word = text.strip()
        if end not in ("=", *self.closers[-1:]) or not (is_plain(word, self.path[-1:]) or self._passes_on(word)):
            return False
        src.pos += len(text)
        self.note("variable" if self._passes_on(word) else "bare_string", word, quoted(word))
        out(quoted(word))
        return True

    def _passes_on(self, word: str) -> bool:
        """Is a keyword's own name its value, `f(a=a)`: perhaps a placeholder, perhaps a variable of a program?"""
        return self._place == "member" and self.path[-1:] == [f".{word}"] and word.isidentifier()

    def _spelt(self, word: str, end: int, shape: Shape) -> Need[str]:
        """What a bare word means, as JSON."""
        src = self.src
        found = literal(word)
        if found is not None:
            written, mended = found
            if mended:
                self.note(mended, word, written)
            elif "." in word and "integer" in shape.kinds and "number" not in shape.kinds and not is_whole(word):
                self.unfit.append("$" + "".join(self.path))
            return written
        yield from src.peek(end - src.pos + 1)
        clean = word.replace("\\_", "_")  # Markdown's escape
        if self._takes(clean, shape) and self._word_ends(end):
            self.note("variable" if self._passes_on(clean) else "bare_string", word, quoted(clean))
            return quoted(clean)
        raise Broken(f"{word[:40]!r} is neither a literal nor a quoted string")

    def _takes(self, word: str, shape: Shape) -> bool:
        """May this word be a string that lost its quotes?  In Python only where the schema says nothing at all."""
        if not self.form.python:
            return (self.form.bare or shape.kinds == STRING) and is_one_word(word)
        named = self._place == "member" or len(self.path) > 1
        return named and not (shape.kinds or shape.enum) and word.isidentifier() and word.casefold() not in TYPES

    def _word_ends(self, end: int) -> bool:
        rest = self.src.buf[end : end + 1]
        return rest == "" or rest in ",}])" or rest in "\r\n"


def _is_piece(begun: str, mark: str) -> bool:
    """Does a text begin with signs of the mark that should have stood before it?"""
    signs = {sign for sign in mark if not sign.isalnum()}
    if len(mark) > 2 and (sum(map(ne, begun, mark)) + len(mark) - len(begun) == 1 or sorted(begun) == sorted(mark)):
        return True
    return len(mark) > 1 and (begun[:1] in signs or any(begun.startswith(mark[n:]) for n in range(1, len(mark) - 2)))
