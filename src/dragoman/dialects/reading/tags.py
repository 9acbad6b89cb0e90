"""Calls whose every argument is markup: `<parameter=key>value</parameter>` and its kin.

A raw value has no escape for its own closer, so where it ends is decided by what follows: structure is followed by a
legal next mark (malformations.md §4).  Values are typed by the tool's schema, else by the row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from ...late import late
from ...lenient.notation import Broken, Cut
from ...lenient.source import Need, finder
from ...types import Edit
from ..judge.candidate import Draft
from ..spec import TaggedArgs, Typing
from .arguments import Outdent, RawArguments, Trim, Unescape, declared_key, unescaped
from .bare_keys import key_at
from .call import MAX_NAME, Attempt, Mismatch, Swallowed
from .clean import one_of
from .compiled import Row
from .keys import SCALAR, SCALARS
from .nesting import NAME_OVER, OPENING_TAG, until_over
from .passed_marks import false_closers, no_own, no_tags, own_stops, past_nested, past_own
from .raw_values import RawValue, Role, Seen
from .strays import CallMarks

CDATA, CDATA_END = "<![CDATA[", "]]>"
CLOSER = late(r"\s*</[\w:.|｜ -]{1,80}>")
PAIR = r"""\s+([\w:.-]+)\s*=\s*(?:"([^"<>\n]*)"|'([^'<>\n]*)'|([^\s"'<>/]+))"""
PAIRS = late(PAIR)
ATTRIBUTED = late(rf"(?P<pairs>(?:{re.sub(r'[(](?![?])', '(?:', PAIR)})+)\s*(?P<empty>/?)>")
"""The rest of an opening tag whose attributes say all."""
SIGNS = frozenset("<>|｜")
"""What a piece of a mark holds."""
MAX_SCALAR = 400
"""An argument that is a number or a truth is no longer, with its marks."""
IDENTIFIER = late(r"[A-Za-z_][\w.$-]*")


def tagged_args(attempt: Attempt) -> Need[None]:
    """`<parameter=key>value</parameter>` and its kin."""
    args = attempt.spec.args
    assert isinstance(args, TaggedArgs)
    src, row = attempt.src, attempt.row
    draft = attempt.new()
    name, call_id, mark = yield from attempt.tool()
    first = ""
    if mark[:2] == "</" and mark in row.key_close:
        name, first = _unglued(attempt, name)
    if args.attributes:
        name, draft.spelt_out = unescaped(name), True
    if mark and (mark in row.key_open or mark in row.ends):
        src.pos -= len(mark)
    if mark in row.ends and (yield from src.glance(row.key_open, (mark,)))[1]:
        src.pos += len(mark)
    size, found = yield from src.glance(row.after_value)
    if found in row.key_heads and (yield from src.peek(size + 1))[size:].isalnum():  # `<parameters>` holds others
        found = ""
    found = found or (yield from key_at(src, row))
    empty = mark.endswith("/>") or (mark[:2] == "</" and mark not in row.ends and (yield from _at_end(attempt, ())))
    if not found and not empty and not first and not (yield from _at_end(attempt, row.after_value)):
        raise Mismatch
    attempt.begin(draft, name, call_id)
    if first:
        draft.edits.append(Edit("glued", "$", name + first, f"{name} {first}"))
    if empty:
        draft.write("{}")
        attempt.ended = not row.call_open
    else:
        yield from _Tags(attempt, draft, args).read(first)
    attempt.finish(draft)
    if not empty:
        yield from attempt.closing(row.body_close)


def _unglued(attempt: Attempt, text: str) -> tuple[str, str]:
    """A name and the first key, which lost the mark between them; by the declared name that the text begins with."""
    if attempt.judge.tools is None or attempt.judge.known(text):
        return text, ""
    text = text.replace(attempt.opener, " ", 1) if attempt.opener else text
    names = sorted((name for name in attempt.judge.declared if text.startswith(name)), key=len)
    key = text[len(names[-1]) :].strip() if names else ""
    if not key or not re.fullmatch(r"[\w.-]+", key):
        raise Mismatch
    return names[-1], key


def _at_end(attempt: Attempt, marks: tuple[str, ...]) -> Need[bool]:
    """Has the text ended here, but for white space and the beginning of one of `marks`?"""
    src = attempt.src
    ahead = yield from src._over_space(0)
    return src.ends_within(marks, ahead)


def _pairs(tag: re.Match[str]) -> list[tuple[str, str]]:
    """A tag's attributes."""
    return [(key.casefold(), a or b or c) for key, a, b, c in PAIRS.findall(tag["pairs"])]


class _Tags:
    """The arguments of a tagged call."""

    def __init__(self, attempt: Attempt, draft: Draft, args: TaggedArgs) -> None:
        self.a, self.draft, self.args = attempt, draft, args
        self.out = RawArguments(draft, typing=args.typing)
        self._indent = ""

    def read(self, first: str = "") -> Need[None]:
        """Read every argument up to the body's end; the `first` one's key may have been read with the name."""
        src, row = self.a.src, self.a.row
        if first:
            yield from self._given(first, "")
        while True:
            tag = yield from self._attributes()
            size, found = yield from src.glance(row.key_open)
            if tag is not None:
                yield from self._attributed(tag)
            elif found:
                line = src.behind(1) + src.buf[src.pos : src.pos + size - len(found)]
                self._indent = line.rpartition("\n")[2] if "\n" in line and self.args.trim == "\n" else ""
                src.pos += size
                yield from self._argument(found)
            elif (yield from key_at(src, row)):
                yield from self._argument("")
            elif not (yield from self._stray()):
                break
        end = yield from self._end()
        self.out.finish()
        self._check_last(end)

    def _stray(self) -> Need[bool]:
        """A closing tag that closes nothing here: of another name, or one too many."""
        src, row = self.a.src, self.a.row
        _, found = yield from src.glance(row.ends + row.tool_open)
        if found:
            return False
        closer = yield from src.match(CLOSER, 120)
        if closer is None:
            return False
        src.pos = closer.end()
        self.draft.edits.append(Edit("stray_closer", "$", closer.group().strip()))
        return True

    def _end(self) -> Need[str]:
        """After the last argument: a closer, which is told, or the end of the text."""
        src, row = self.a.src, self.a.row
        _, found = yield from src.glance(row.ends + row.tool_open)
        if found:
            return found
        if (yield from _at_end(self.a, row.ends)):
            if not self.out.given:
                raise Cut
            src.pos = len(src.buf)
            self.a.closed = False
            self.draft.edits.append(Edit("unclosed"))
        elif row.ends:
            raise Broken("text stands between the arguments")
        return ""

    def _check_last(self, end: str) -> None:
        """Does the call's closer that should stand before its `end` stand in an argument's text?"""
        ends = self.a.row.ends
        passed = ends[: ends.index(end)] if end in ends else () if end else ends
        if any(isinstance(text, str) and text.rstrip().endswith(passed) for text in self.draft.arguments().values()):
            raise Broken("an argument ends with the mark that should end the call")

    def _argument(self, opener: str) -> Need[None]:
        src, row = self.a.src, self.a.row
        written, mark = yield from self.a.until_name(row.key_close)
        if mark == self.args.trim:
            src.pos -= len(mark)
        if mark == ">" and (opener[-1:] in ("'", '"')) and (yield from src.peek()) == opener[-1]:
            raise Broken("where the name of an argument ends is not clear: its quote stands behind its tag")
        written = self._undoubled(written.strip().strip("\"'"))
        marked = mark in self.args.joined or any(m in written for m in row.value_marks if len(m) > 2)
        if marked and written not in self.draft.shape.keys:
            raise Swallowed("a mark stands in the name of an argument")
        yield from self._given(unescaped(written) if self.args.attributes else written, mark)

    def _undoubled(self, written: str) -> str:
        """A declared key without the openers that were written before it once more."""
        key = written
        while mark := next((mark for mark in self.a.row.key_open if len(mark) > 2 and key.startswith(mark)), ""):
            key = key[len(mark) :].lstrip()
        if key == written or key not in self.draft.shape.keys:
            return written
        self.draft.edits.append(Edit("doubled_opener", "$", written[:80], key))
        return key

    def _given(self, written: str, mark: str) -> Need[None]:
        """The value of an argument whose key was read, up to this mark."""
        src, row = self.a.src, self.a.row
        told = yield from self._type()
        if row.value_open:
            size, opened = yield from src.glance(row.value_open)
            if not opened and mark in row.key_close:
                size, opened = yield from src.glance(row.value_open, (mark,))
                self.draft.edits += [Edit("stray_closer", "$", mark)] if opened else []
            src.pos += size
            if not opened and mark not in self.args.joined and not (yield from self._unopened(written)):
                yield from self._no_value(written)
                return
            if mark in self.args.joined:
                self.draft.edits.append(Edit("joined_key", "$", f"{written}{mark}", written))
        empty = written.endswith("/") and not row.value_open
        written = written.rstrip("/").rstrip() if empty else written
        typing = Typing.TEXT if mark in self.args.raw_flag else Typing.LITERAL if mark in self.args.json_flag else told
        yield from self._value_of(written, typing, empty=empty)

    def _value_of(self, written: str, typing: Typing | None, *, empty: bool) -> Need[None]:
        """The value behind a key's tag; none where that closes itself."""
        out = self.out
        key = out.key(written)
        if empty:
            out.put(key, "", typing)
        elif out.is_text(key, typing):
            out.begin_text(key)
            yield from self._value(written, out.text, text=True)
            out.end_text()
        else:
            got: list[str] = []
            yield from self._value(written, got.append)
            out.put(key, "".join(got), typing)

    def _attributes(self) -> Need[re.Match[str] | None]:
        """The opening tag that stands here, if its attributes tell the key: in any order, quotes and spacing."""
        src, heads = self.a.src, self.a.row.key_heads
        size, head = yield from src.glance(heads)
        if not head:
            return None
        src.hold()
        src.pos += size - len(head)
        yield from until_over(src)
        found = ATTRIBUTED.match(src.buf, src.pos + len(head))
        if found is None or "name" not in dict(_pairs(found)):
            src.rewind()
            return None
        src.release()
        src.pos = found.end()
        return found

    def _attributed(self, tag: re.Match[str]) -> Need[None]:
        told = dict(_pairs(tag))
        text = told.get("string", "").casefold()
        typing = {"true": Typing.TEXT, "false": Typing.LITERAL}.get(text)
        yield from self._value_of(told["name"].strip(), typing, empty=bool(tag["empty"]))

    def _type(self) -> Need[Typing | None]:
        """What the text itself says of the value's type."""
        src, row = self.a.src, self.a.row
        if not row.type_open:
            return None
        size, found = yield from src.glance(row.type_open)
        if not found:
            return None
        src.pos += size
        word, _ = yield from self.a.until_name(row.type_close)
        return Typing.TEXT if word.strip().casefold() in ("string", "str", "text") else Typing.LITERAL

    def _unopened(self, key: str) -> Need[bool]:
        """Does a value without its opener stand here, no piece of a mark in it, and what must follow behind it?"""
        src, row, got = self.a.src, self.a.row, list[str]()
        src.hold()
        mark = yield from src.until(row.value_marks, got.append)
        follows = mark in row.value_close and bool((yield from src.glance(row.after_value))[1])
        src.rewind()
        text = "".join(got)
        value = text.removeprefix("\n")
        if not follows or not value.strip() or value[0].isspace() or not SIGNS.isdisjoint(value):
            return False
        src.pos += len(text) - len(value)
        self.draft.edits.append(Edit("missing_opener", "$", key[:80]))
        return True

    def _no_value(self, key: str) -> Need[None]:
        """A key whose value is missing: the next key takes its place, or the call's end."""
        _, found = yield from self.a.src.glance(self.a.row.after_value)
        if not found:
            raise Broken(f"the argument {key[:40]!r} has no value")
        self.draft.edits.append(Edit("orphan_key", "$", key[:80]))

    # ── values ───────────────────────────────────────────────────────────────

    def _value(self, key: str, sink: Callable[[str], object], *, text: bool = False) -> Need[None]:
        """Pour the raw value into `sink` up to where it ends."""
        if (yield from self._cdata(sink)):
            return
        unescape = Unescape(sink, active=self.args.entities)
        marks = _ValueMarks(self.a, self.draft, self.out.given, key, text=text)
        indent, self._indent = self._indent, ""
        trim = Outdent(self.args.trim, unescape.feed, indent) if indent else Trim(self.args.trim, unescape.feed)
        value = RawValue(self.a.src, marks, trim.feed, marks.values, marks.nesting.values)
        yield from value.read()
        trim.close(guessed=value.unclosed)
        if isinstance(trim, Outdent) and trim.outdented:
            self.draft.edits.append(Edit("indentation", "$", f"<{key}>"))
        unescape.close()
        assert value.ended is not None
        if value.guessed:
            self.a.guessed.append(self.draft)
        if value.ended.role is Role.WRONG:
            self.draft.edits.append(Edit("wrong_closer", "$", f"</{value.ended.kind}>"))
        elif value.ended.role is not Role.CLOSES:
            self.draft.edits.append(Edit("unclosed_argument", "$", key))

    def _cdata(self, sink: Callable[[str], object]) -> Need[bool]:
        """A value that is one CDATA section and nothing else."""
        src = self.a.src
        size, found = yield from src.glance((CDATA,))
        if not found:
            return False
        src.hold()
        src.pos += size
        got: list[str] = []
        if (yield from src.until((CDATA_END,), got.append)):
            size, closed = yield from src.glance(self.a.row.value_close)
            if closed:
                src.release()
                src.pos += size
                sink("".join(got))
                self.draft.edits.append(Edit("cdata"))
                return True
        src.rewind()
        return False


@lru_cache(maxsize=256)
def _scalar(row: Row) -> re.Pattern[str]:
    """An argument that holds a number or a truth, its closer, and the next argument or the call's end."""
    opens, over, closes, behind = map(one_of, (row.key_open, row.key_close, row.value_close, row.key_open + row.ends))
    begins = rf"\s*+{one_of(row.value_open)}" if row.value_open else ""
    return re.compile(rf"{opens}(?P<key>[\w.-]{{1,128}}){over}{begins}\s*+(?:{SCALAR.pattern})\s*+{closes}\s*+{behind}")


class _ValueMarks:
    """What the marks inside one value are.  `values` are the kinds that are nothing but arguments."""

    def __init__(self, attempt: Attempt, draft: Draft, given: Collection[str], key: str, *, text: bool) -> None:
        self.a, self.draft, self.given, self.key, self.text = attempt, draft, given, key, text
        row = attempt.row
        self.nesting = row.nesting
        self.values = self.nesting.values | {"", key}
        named = row.value_close[:1] and row.value_close[0].startswith("</") and IDENTIFIER.fullmatch(key)
        self.opener, self.closer = (f"<{key}", f"</{key}>") if named else ("", "")
        if self.closer in self.nesting.closes:
            self.opener = self.closer = ""
        self.marks = (*row.value_marks, self.opener, self.closer) if self.closer else row.value_marks
        own = tuple(mark for mark, kind in self.nesting.closes.items() if kind in self.nesting.values)
        self.wrong = tuple(mark for mark in row.key_close if row.value_open and mark.startswith("</"))
        self.marks += tuple(mark for mark in self.wrong if mark not in self.marks)
        self.nothing: re.Pattern[str] | None = None
        self.false = false_closers(self.marks, own, row.after_value) if row.bare_key is None else None
        self._any = False

    def past(self, text: str, pos: int, limit: int, depth: dict[str, int], *, known: bool, nests: bool = False) -> int:
        if self.a.row.bare_key is not None:
            return pos
        if known:
            own = own_stops(self.a.row, self.key).search(text, pos, limit) if self.closer else None
            end = limit if own is None else own.start()
            pos = past_nested(self.a.row, text, pos, end, depth, nests=nests, whole=own is not None)
            if own is None or pos < end:
                return pos
        pattern = no_own(self.a.row) if known else no_tags(self.a.row)
        run = pattern.match(text, pos, limit) if pattern is not None else None
        if run is None:
            return pos
        end = run.end()
        return past_own(self.key, text, pos, end, depth) if self.closer else end

    def look(self, mark: str, balances: Callable[[str], bool]) -> Need[Seen]:
        """What the mark that stands here is."""
        nesting, size = self.nesting, len(mark)
        kind, first, self._any = nesting.closes.get(mark), not self._any, True
        if mark in self.wrong and kind is None:
            # of one behind other marks nobody knows what opened it
            return (yield from self._wrong_key_closer(size, mark[2:-1])) if first else Seen(Role.TEXT, size)
        if kind is not None:
            own = kind in nesting.values
            if not own and balances(kind):
                return Seen(Role.ENDS, size, kind)
            follows, _ = yield from self._behind(size, self.a.row.after_value if own else self.a.row.after_body)
            sure = own and follows and (yield from self._ends_well(size))
            return Seen(Role.CLOSES if own else Role.ENDS, size, kind, follows, sure)
        if mark == self.closer:
            follows, sure = yield from self._behind(size, self.a.row.key_open + self.a.row.ends)
            return Seen(Role.WRONG, size, self.key, follows, sure)
        kind = self.key if mark == self.opener else nesting.kind_of(mark)
        if mark in self.a.row.key_open:
            key = yield from self._key_behind(size)
            if key:
                sure = self.a.row.special or key in self.draft.shape.required or (yield from self._is_scalar(size, key))
                return Seen(Role.NEXT, size, kind, follows=True, sure=sure)
        if not kind or not (yield from self._is_tag(mark)):
            return Seen(Role.TEXT, size)
        return Seen(Role.OPENS, size, kind)

    def _wrong_key_closer(self, size: int, kind: str) -> Need[Seen]:
        """The closer of a key, where that of the value should stand, if a known argument or the call's end follows."""
        _, known = yield from self._behind(size, self.a.row.key_open)
        ends, _ = yield from self._behind(size, self.a.row.ends)
        return Seen(Role.WRONG, size, kind, known or ends, known)

    def goes_on(self, seen: Seen) -> Need[bool]:
        """Does the value go on behind the closer that stands here?"""
        row = self.a.row
        opens = row.opens_call
        if row.forms:
            names = self.a.judge.declared
            opens += tuple(before + name + behind for before, behind in row.forms for name in names)
        return (yield from self.a.goes_on(seen.size, CallMarks(row.value_close, row.ends, opens), text=self.text))

    def _behind(self, size: int, marks: tuple[str, ...]) -> Need[tuple[bool, bool]]:
        """Does one of `marks` stand behind so many characters, or the text's end; and does it open a known argument?"""
        src = self.a.src
        src.hold()
        src.pos += size
        ahead, found = yield from src.glance(marks)
        follows = bool(found) or not marks or (yield from _at_end(self.a, marks))
        known = ""
        if found in self.a.row.key_open:
            src.pos += ahead
            known = yield from self._next_key()
        elif not found and marks is not self.a.row.after_body and (known := (yield from key_at(src, self.a.row))):
            follows = True
        src.rewind()
        return follows, bool(known) and self.draft.tool is not None

    def _ends_well(self, size: int) -> Need[bool]:
        """If what closes the call's inside stands behind so many characters: does what must follow that, too?"""
        src, row = self.a.src, self.a.row
        outer = row.section_close or row.call_close
        src.hold()
        src.pos += size
        ahead, found = yield from src.glance(row.after_value)
        src.pos += ahead
        well = found not in row.ends or found in outer or bool((yield from src.glance(row.after_body))[1])
        well = well or (yield from _at_end(self.a, row.after_body))
        src.rewind()
        return well

    def _is_tag(self, mark: str) -> Need[bool]:
        """Does an opening tag stand here, if the mark is the beginning of one?"""
        if self.nesting.opens.get(mark, mark) != mark[1:] and mark != self.opener:
            return True
        src = self.a.src
        yield from until_over(src)
        found = OPENING_TAG.match(src.buf, src.pos)
        return found is not None and src.buf[src.pos + len(mark) : src.pos + len(mark) + 1] in NAME_OVER

    def _is_scalar(self, size: int, key: str) -> Need[bool]:
        """Does this opener, `size` long, begin its line, a number or truth in it as declared, and structure behind it?

        A text that holds an opener by itself holds no such value in front of its own closer.
        """
        src, kinds = self.a.src, self.draft.shape.property(key).kinds
        if not kinds or not kinds <= SCALARS or src.behind(1) != "\n":
            return False
        found = yield from src.match(_scalar(self.a.row), MAX_SCALAR)
        return found is not None and found.end("key") == found.start() + size + len(key)

    def _key_behind(self, size: int) -> Need[str]:
        src = self.a.src
        src.hold()
        src.pos += size
        key = yield from self._next_key()
        src.rewind()
        return key

    def _next_key(self) -> Need[str]:
        """The key whose name stands here, if it may be given: one the tool declares, or any, where it is not known."""
        written = yield from self._name_ahead(self.a.row.key_close)
        if self.draft.tool is None:
            return written if IDENTIFIER.fullmatch(written) and written not in self.given else ""
        key = declared_key(self.draft, written)
        return key if self.draft.shape.has(key) and key not in self.given else ""

    def _name_ahead(self, closers: tuple[str, ...]) -> Need[str]:
        """The text from here to the first of `closers`; "" when none comes soon.  Nothing is consumed."""
        src = self.a.src
        pattern, _, longest, _ = finder(closers)
        while True:
            found = pattern.search(src.buf, src.pos, src.pos + MAX_NAME + longest - 1)
            end = found.start() if found else src.pos + MAX_NAME
            if src.eof or len(src.buf) >= end + longest:
                return src.buf[src.pos : end].strip().strip("\"'") if found else ""
            yield
