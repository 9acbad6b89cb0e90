"""JSON, Python and Gemma literals as models write them, read piecemeal and written on as strict JSON.

Mends *spelling* (quotes of any kind, stray commas, bare keys, Python words, raw newlines, invalid escapes, comments,
unescaped inner quotes with one reading, types the schema asks for) and notes every mend as an `Edit`.  It never invents
a value: what has no single reading raises `Broken`, what was cut raises `Cut`.  This module does not know about tools,
calls or dialects.

Contract: what is poured into the sink concatenates to strict JSON, if reading succeeds; every character is looked at a
bounded number of times; any chunking of the source gives the same output.
Rules: malformations.md §2 and §4, judge-rules.md 5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ..late import late
from ..schema.validation import ANYTHING, Shape, coerce, read_text
from ..types import Edit
from .bare_words import NULL, QUOTED_NULL
from .blanks import BlankReader
from .notation import BLANK, INNER_PYTHON, JSON, PYTHON, WIDE_COMMA, Broken, Cut, Form, Repeated
from .quoting import quoted
from .source import Need, Sink, Source
from .string_ends import KEPT, MAX_KEY
from .unquoted import STRING
from .whole_values import as_text, check_repeated, may_be_text

MAX_DEPTH = 96
"""Deeper nesting is refused: json_repair dies of it (peers.md §1), `json` itself at about 1,000."""

STRINGS = tuple(prefix + quote for prefix in ("", *"rRuUfFbB") for quote in "\"'")
"""What a string of Python begins with."""
KEYED = late(
    r"""(?:"(?:[^"\\]|\\.){0,200}+(?:"|\Z)|'(?:[^'\\]|\\.){0,200}+(?:'|\Z)|[^\s,\[\]{}()"'`:=<>|]*+)[ \t\r\n]*+"""
    r"(?:(?P<pair>[=:：])|(?P<cut>\\?\Z))",
    re.S,
)
"""A key and what stands between it and its value, or what may still become that."""
KEY_CHARS = late(r"[^\s,\[\]{}()\"'`:=<>|]*")
COMMAS = late(rf"[,{WIDE_COMMA}{BLANK}]*(?=[,{WIDE_COMMA}])")
PLAIN_ITEM = late(rf'("{KEPT}*+")[ \t\r\n]*+,[ \t\r\n]*+')
PLAIN_ITEMS = late(rf'(?:{PLAIN_ITEM.pattern}(?="))++')
Member = Callable[[str], Need[None]]
Unnamed = Callable[[], Need[None]]


class Relaxed(BlankReader):
    """A reader of relaxed literals over a source.

    Callers that read the outer object themselves through `members` get the stack of open brackets kept for them.
    `repeated` says that an object gave a key twice; `may_end` that the text's end may stand for the last bracket;
    `outer` how many keys lead to the object whose values are arguments.
    """

    flags: bool

    def __init__(self, src: Source, form: Form = JSON, stops: tuple[str, ...] = ()) -> None:
        super().__init__(src, form, stops)
        self.repeated = False
        self.may_end: Callable[[], bool] | None = None
        self.outer = 0

    # ── objects ──────────────────────────────────────────────────────────────

    def members(self, member: Member, form: Form | None = None, unnamed: Unnamed | None = None) -> Need[None]:
        """Read an object, calling `member(key)` at each value's first character; consumes both braces.

        Where values may stand without a key, `unnamed()` is called at theirs.
        """
        src, form = self.src, form or self.form
        src.pos += len(form.open)
        self._open(form.close, "member")
        first = comma = True
        while True:
            if src.at > src.limit:
                raise Cut
            c = yield from self._parting()
            if not first:
                comma = c == ","
            if c == ",":
                src.pos += 1
                c = yield from self._parting()
                if first or c == ",":
                    self.note("extra_comma")
                elif c == form.close:
                    self.note("trailing_comma")
                if c == ",":
                    self._over_commas()
                    continue
            elif not first and c and c != form.close:
                if (yield from self._stopped()):
                    return
                self.note("missing_comma")
            if not c and not first and not comma and len(self.closers) == 1 and self.may_end and self.may_end():
                self.note("missing_bracket", "", form.close)
                self._shut()
                return
            if not c:
                raise Cut
            if c == form.close:
                src.pos += 1
                self._shut()
                return
            if c == "]" or (c == ")" and form.close != ")"):
                raise Broken(f"a {c!r} closes nothing here")
            if unnamed is not None and not (yield from self._keyed()):
                if not comma:
                    raise Broken("an argument is an expression, not a literal")
                self.places[-1] = "argument"
                yield from unnamed()
                self.places[-1] = "member"
            else:
                yield from self._member(member, form)
            first = False

    def _parting(self) -> Need[str]:
        """The next character between values; a wide comma counts as a comma."""
        c = yield from self.blank()
        if c != WIDE_COMMA:
            return c
        self.note("comma", c, ",")
        return ","

    def _over_commas(self) -> None:
        """Go to the last of the commas that stand here with nothing between them."""
        src = self.src
        src.pos = COMMAS.match(src.buf, src.pos).end()  # type: ignore[union-attr]

    def _stopped(self) -> Need[bool]:
        """Does a mark or a list around it all end where a bracket should close?  Then the bracket is missing."""
        stop = self.stops and (yield from self.src.glance(self.stops))[1]
        if not stop and not ((yield from self.src.peek()) == "]" and (yield from self._list_ends(0))):
            return False
        self.note("missing_bracket", "", self.closers[-1])
        self._shut()
        return True

    def _keyed(self) -> Need[bool]:
        """Does a key stand here, and not a value that has none?"""
        src = self.src
        while True:
            found = KEYED.match(src.buf, src.pos)
            if found is None or found["cut"] is None or src.eof:
                return found is not None and found["pair"] is not None
            yield

    def _member(self, member: Member, form: Form) -> Need[None]:
        key = yield from self.key(form)
        c = yield from self.blank()
        if not c:
            raise Cut
        if c in form.pair:
            self.src.pos += 1
        elif key.startswith("--") and c not in ":=,}":
            key, self.flags = key[2:], True  # a shell's flag for a key (MiniMax)
            self.note("flag", key)
        elif c in ":=：":
            self.src.pos += 1
            self.colons: bool = self.colons or (c == ":" and form.python)
            if (yield from self.src.peek()) == ">" and c == "=":
                self.src.pos += 1
            self.note("pair", c, form.pair[0])
        elif key[-1:] == "=" and c == '"':
            key = key[:-1]  # the equals sign took the place of the key's quote and of the colon
            self.note("pair", "=", form.pair[0])
        else:
            raise Broken(f"no {form.pair[0]!r} after the key {key[:40]!r}")
        c = yield from self.blank()
        if not c:
            raise Cut
        self.path.append(f".{key}")
        yield from member(key)
        self.path.pop()

    def key(self, form: Form | None = None) -> Need[str]:
        """Read one key, quoted or bare."""
        src, form = self.src, form or self.form
        got: list[str] = []
        if (yield from self._quoted(got.append, form, "key")):
            written = "".join(got)
            return str(json.loads(f'"{written}"')) if "\\" in written else written
        while True:
            end = KEY_CHARS.match(src.buf, src.pos).end()  # type: ignore[union-attr]
            if end < len(src.buf) or src.eof or end - src.pos > MAX_KEY:
                break
            yield
        word = src.buf[src.pos : end]
        if not word:
            raise Broken(f"a key was expected, not {src.buf[src.pos : src.pos + 1]!r}")
        src.pos = end
        if form.pair[0] == ":" and not form.bare:
            self.note("bare_key", word, f'"{word}"')
        return word

    def _open(self, closer: str, place: str) -> None:
        if len(self.closers) >= MAX_DEPTH:
            raise Broken(f"nested deeper than {MAX_DEPTH}")
        self.closers.append(closer)
        self.places.append(place)

    def _shut(self) -> None:
        self.closers.pop()
        self.places.pop()

    # ── values ───────────────────────────────────────────────────────────────

    def captured(self, shape: Shape = ANYTHING) -> Need[str]:
        """Read one value and return it as strict JSON."""
        got: list[str] = []
        yield from self.value(got.append, shape)
        return "".join(got)

    def value(self, out: Sink, shape: Shape = ANYTHING) -> Need[None]:
        """Read one value, mended and typed by `shape`, into `out`."""
        c = yield from self.blank()
        if not c:
            raise Cut
        kinds = shape.kinds
        if c == "{" and self.form.python and (not kinds or "array" in kinds) and (yield from self._is_set()):
            yield from self.array(out, shape)
        elif c == "{" and (not kinds or "object" in kinds):
            yield from self.object(out, shape)
        elif c == "(" and self.form.python and "array" not in kinds:
            yield from self._typed(out, shape)
        elif c in "[(" and (not kinds or "array" in kinds):
            if c == "(" and not self.form.python:
                self.note("tuple")
            yield from self.array(out, shape)
        elif not shape.enum and (not kinds or (c not in "{[" and (kinds == STRING or _may_be_string(c, kinds)))):
            yield from self._plain(out, shape)
        else:
            yield from self._typed(out, shape)

    def _is_set(self) -> Need[bool]:
        """Is this Python's `{a, b}`, which has no keys?"""
        src = self.src
        src.hold()
        src.pos += 1
        c = yield from self.blank()
        found = False
        if c and c in "\"'-0123456789":
            yield from Relaxed(src, self.form).value(_drop)
            found = (yield from self.blank()) in (",", "}")
        src.rewind()
        return found

    def object(self, out: Sink, shape: Shape = ANYTHING, form: Form | None = None) -> Need[None]:
        """Read an object into `out`."""
        seen: set[str] = set()
        count = 0

        def member(key: str) -> Need[None]:
            nonlocal count
            if key in seen:
                self.repeated = True
            elif (yield from self.drops_null(key, shape)):
                return
            seen.add(key)
            out(("," if count else "") + quoted(key) + ":")
            count += 1
            yield from self.value(out, shape.property(key))

        out("{")
        doubled = form is None and (yield from self._doubled())
        yield from self.members(member, form or _inner(self.form))
        if doubled:
            yield from self._undouble()
        out("}")

    def drops_null(self, key: str, shape: Shape) -> Need[bool]:
        """Skip a null given for an optional property that does not allow it: it means that the property is absent.

        So does the word for it in quotes, where no string is wanted.
        """
        kinds = shape.property(key).kinds
        if not kinds or "null" in kinds or key in shape.required:
            return False
        found = NULL.match((yield from self.src.peek(5)))
        if found is None and "string" not in kinds:
            found = QUOTED_NULL.match((yield from self.src.peek(6)))
        if found is None:
            return False
        self.src.pos += found.end()
        self.note("null_dropped", found.group())
        return True

    def array(self, out: Sink, shape: Shape = ANYTHING) -> Need[bool]:
        """Read an array (or a Python tuple) into `out`; does it hold one value, and no comma?"""
        src = self.src
        close = {"(": ")", "{": "}"}.get(src.buf[src.pos], "]")
        src.pos += 1
        self._open(close, "item")
        item = shape.item
        count, parted = 0, False
        out("[")
        while True:
            c = yield from self._parting()
            if c == ",":
                parted = True
                src.pos += 1
                c = yield from self._parting()
                if not count or c == ",":
                    self.note("extra_comma")
                elif c == close and close == "]":
                    self.note("trailing_comma")
                if c == ",":
                    self._over_commas()
                    continue
            elif count and c and c != close:
                if (yield from self._stopped()):
                    out("]")
                    return False
                self.note("missing_comma")
            if not c:
                raise Cut
            if c == close:
                src.pos += 1
                self._shut()
                out("]")
                return count == 1 and not parted
            if c in "}])":
                raise Broken(f"a {c!r} closes nothing here")
            if count:
                out(",")
            if c == '"' and (more := self._plain_items(out, item)):
                count += more
            self.path.append(f"[{count}]")
            yield from self.value(out, item)
            self.path.pop()
            count += 1

    def _plain_items(self, out: Sink, item: Shape) -> int:
        """Take the strings here that leave nothing to decide, up to one before which a comma stands; how many."""
        src = self.src
        if self.form is not JSON or item.enum or not (not item.kinds or item.kinds == STRING):
            return 0
        found = PLAIN_ITEMS.match(src.buf, src.pos)
        if found is None:
            return 0
        src.pos = found.end()
        text, count = PLAIN_ITEM.subn(r"\1,", found.group())
        out(text)
        return count

    def _typed(self, out: Sink, shape: Shape) -> Need[None]:
        """A value whose type the schema narrows: it is known only when it is whole."""
        c = yield from self.blank()
        got: list[str] = []
        string = yield from self._string(got.append)
        lone = False
        if not string:
            if c == "{":
                yield from self.object(got.append)
            elif c == "[" or (c == "(" and self.form.python):
                lone = yield from self.array(got.append, shape if "array" in shape.kinds else ANYTHING)
            else:
                yield from self._word(got.append, shape)
        text = "".join(got)
        if c == "(" and lone and "array" not in shape.kinds:
            text = text[1:-1]  # brackets around one value are no tuple
        value = json.loads(text)
        fixed, edits = coerce(value, shape)
        if isinstance(value, str) and not edits and "string" not in shape.kinds and shape.kinds:
            fixed, edit = read_text(value, shape)
            edits = [edit] if edit else []
        narrowed = shape.kinds or shape.enum  # brackets bring any value here
        if isinstance(fixed, str) and narrowed and "string" not in shape.kinds and fixed[:1] in "{[":
            fixed, edits = _within(fixed, shape) or (fixed, edits)
        argument = shape.kinds == STRING and not shape.enum and len(self.path) == self.outer + 1
        if argument and may_be_text(fixed):
            fixed, edits = as_text(fixed, text if fixed is value else "")  # an argument that can be nothing else
        for edit in edits:
            self.note(edit.kind, edit.before, edit.after)
        out(text if not edits else json.dumps(fixed, ensure_ascii=False, allow_nan=False))

    def _plain(self, out: Sink, shape: Shape) -> Need[None]:
        c = yield from self.src.peek()
        if c == '"' and not self.form.quotes:
            three = (yield from self.src.peek(3)) == '"""'
            if not three:
                self.src.pos += 1
                out('"')
                yield from self._chars('"', out, self._place)
                if self.form.python:
                    yield from self._joined(out)
                out('"')
                return
        if not (yield from self._string(out)):
            yield from self._word(out, shape)

    def _string(self, out: Sink) -> Need[bool]:
        """Read a string with its quotes into `out`, if one stands here."""
        parts: list[str] = []
        if not (yield from self._quoted(parts.append, self.form, self._place)):
            return False
        if self.form.python:
            yield from self._joined(parts.append)
        out('"' + "".join(parts) + '"')
        return True

    def _joined(self, out: Sink) -> Need[None]:
        """The strings that Python joins to the one before; none of them is damaged, or they would not be told apart.

        In a list a comma was as likely forgotten.
        """
        many = len(self.edits)
        while (yield from self._beside()):
            if self._place == "item" and self.closers[-1:] != [")"]:
                raise Broken("strings stand side by side in a list: a comma between them may be missing")
            yield from self._quoted(out, self.form, self._place)
            if any(edit.kind == "unescaped_quote" for edit in self.edits[many:]):
                raise Broken("where a string ends is not clear: strings stand side by side, and quotes in one")

    def _beside(self) -> Need[bool]:
        """Does another string follow, behind white space alone, which Python joins to the one before?"""
        size, found = yield from self.src.glance(STRINGS)
        if not found or size == len(found):
            return False
        if self.src.behind(2)[:1] == ",":
            raise Broken("where a string ends is not clear: a comma ends one, and is missing behind it")
        self.src.pos += size - len(found)
        return True

    # ── doubled braces ───────────────────────────────────────────────────────

    def _doubled(self) -> Need[bool]:
        """`{{…}}`, braces doubled throughout, as copied from a format string."""
        two = yield from self.src.peek(2)
        if two != "{{":
            return False
        self.note("doubled_braces")
        self.src.pos += 1
        return True

    def _undouble(self) -> Need[None]:
        if (yield from self.src.peek()) != "}":
            raise Broken("braces are doubled at the start but not at the end")
        self.src.pos += 1


def _may_be_string(c: str, kinds: frozenset[str]) -> bool:
    return c in "\"'" and "string" in kinds


def _drop(text: str) -> None:
    return None


def _inner(form: Form) -> Form:
    """Inside another notation's arguments, objects are ordinary braces."""
    return form if form.open == "{" else INNER_PYTHON if form.python else Form(quotes=form.quotes, bare=form.bare)


def _within(text: str, shape: Shape) -> tuple[Any, list[Edit]] | None:
    """The object or array spelt inside a string where the schema wants one, if it can be read."""
    try:
        value, edits = decoded(text, shape)
    except (Broken, Cut):
        return None
    return value, [Edit("json_in_string"), *edits]


def mend(text: str, shape: Shape = ANYTHING) -> tuple[Any, list[Edit]]:
    """One whole value out of `text`; raises `Broken` or `Cut`.  Anything after the value is `Broken`, stray closing
    brackets apart."""
    src = Source()
    src.feed(text)
    src.eof = True
    reader = Relaxed(src)
    got: list[str] = []
    _run(reader.value(got.append, shape))
    _run(reader.blank())
    rest = src.buf[src.pos :].strip()
    if rest.strip("}]"):
        raise Broken(f"text follows the value: {rest[:40]!r}")
    if rest:
        reader.note("stray_bracket", rest[:20])
    written = "".join(got)
    if reader.repeated:
        check_repeated(written)
    return json.loads(written), reader.edits


def decoded(text: str, shape: Shape = ANYTHING) -> tuple[Any, list[Edit]]:
    """`mend` for what stood inside a string: there, triple quotes may be the string's own escapes gone wrong."""
    value, edits = mend(text, shape)
    if any(e.kind == "triple_quotes" for e in edits):
        raise Broken("triple quotes inside a string leave two readings")
    return value, edits


def _run(reader: Need[object]) -> None:
    for _ in reader:
        raise AssertionError("a reader waited for more at the end of the text")


__all__ = [
    "JSON",
    "PYTHON",
    "Broken",
    "Cut",
    "Form",
    "Relaxed",
    "Repeated",
    "as_text",
    "check_repeated",
    "decoded",
    "may_be_text",
    "mend",
]
