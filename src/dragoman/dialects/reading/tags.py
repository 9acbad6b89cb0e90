"""Calls whose every argument is markup: `<parameter=key>value</parameter>` and its kin.

A raw value has no escape for its own closer, so where it ends is decided by what follows: structure is followed by a
legal next mark (malformations.md §4).  Values are typed by the tool's schema, else by the row.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...lenient.reader import Broken, Cut
from ...lenient.source import Need, finder
from ...types import Edit
from ..judge.candidate import Draft
from ..spec import TaggedArgs, Typing
from .arguments import RawArguments, Trim, Unescape, declared_key, unescaped
from .call import MAX_NAME, Attempt, Mismatch

CDATA, CDATA_END = "<![CDATA[", "]]>"
CLOSER = re.compile(r"\s*</[\w:.|｜ -]{1,80}>")
IDENTIFIER = re.compile(r"[A-Za-z_][\w.$-]*")


def tagged_args(attempt: Attempt) -> Need[None]:
    """`<parameter=key>value</parameter>` and its kin."""
    args = attempt.spec.args
    assert isinstance(args, TaggedArgs)
    src, row = attempt.src, attempt.row
    draft = attempt.new()
    name, call_id, mark = yield from attempt.tool()
    if args.attributes:
        name, draft.spelt_out = unescaped(name), True
    if mark and (mark in row.key_open or mark in row.ends):
        src.pos -= len(mark)
    if mark in row.ends and (yield from src.glance(row.key_open, (mark,)))[1]:
        src.pos += len(mark)
    _, found = yield from src.glance(row.after_value)
    empty = mark.endswith("/>")
    if not found and not empty and not (yield from _at_end(attempt, row.after_value)):
        raise Mismatch
    attempt.begin(draft, name, call_id)
    if empty:
        draft.write("{}")
        attempt.ended = not row.call_open
    else:
        yield from _Tags(attempt, draft, args).read()
    attempt.finish(draft)
    if not empty:
        yield from attempt.closing(row.body_close)


def _at_end(attempt: Attempt, marks: tuple[str, ...]) -> Need[bool]:
    """Has the text ended here, but for white space and the beginning of one of `marks`?"""
    src = attempt.src
    ahead = yield from src._over_space(0)
    return src.ends_within(marks, ahead)


class _Tags:
    """The arguments of a tagged call."""

    def __init__(self, attempt: Attempt, draft: Draft, args: TaggedArgs) -> None:
        self.a, self.draft, self.args = attempt, draft, args
        self.out = RawArguments(draft, typing=args.typing)

    def read(self) -> Need[None]:
        """Read every argument up to the body's end."""
        src, row = self.a.src, self.a.row
        while True:
            size, found = yield from src.glance(row.key_open)
            if found:
                src.pos += size
                yield from self._argument()
            elif not (yield from self._stray()):
                break
        yield from self._end()
        self.out.finish()

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

    def _end(self) -> Need[None]:
        """After the last argument: a closer, or the end of the text."""
        src, row = self.a.src, self.a.row
        _, found = yield from src.glance(row.ends + row.tool_open)
        if found:
            return
        if (yield from _at_end(self.a, row.ends)):
            if not self.out.given:
                raise Cut
            src.pos = len(src.buf)
            self.a.closed = False
            self.draft.edits.append(Edit("unclosed"))
            return
        if row.ends:
            raise Broken("text stands between the arguments")

    def _argument(self) -> Need[None]:
        src, row, out = self.a.src, self.a.row, self.out
        written, mark = yield from self.a.until_name(row.key_close)
        if mark == self.args.trim:
            src.pos -= len(mark)
        written = written.strip().strip("\"'")
        written = unescaped(written) if self.args.attributes else written
        told = yield from self._type()
        if row.value_open:
            yield from src.space()
            if not (yield from src.literal(row.value_open)):
                yield from self._no_value(written)
                return
        empty = written.endswith("/") and not row.value_open
        key = out.key(written.rstrip("/").rstrip() if empty else written)
        typing = Typing.TEXT if mark in self.args.raw_flag else Typing.LITERAL if mark in self.args.json_flag else told
        if empty:
            out.put(key, "", typing)
        elif out.is_text(key, typing):
            out.begin_text(key)
            yield from self._value(written, out.text)
            out.end_text()
        else:
            got: list[str] = []
            yield from self._value(written, got.append)
            out.put(key, "".join(got), typing)

    def _type(self) -> Need[Typing | None]:
        """What the text itself says of the value's type."""
        src, row = self.a.src, self.a.row
        size, found = yield from src.glance(row.type_open) if row.type_open else src.glance(())
        if not found:
            return None
        src.pos += size
        word, _ = yield from self.a.until_name(row.type_close)
        return Typing.TEXT if word.strip().casefold() in ("string", "str", "text") else Typing.LITERAL

    def _no_value(self, key: str) -> Need[None]:
        """A key whose value is missing: the next key takes its place, or the call's end."""
        _, found = yield from self.a.src.glance(self.a.row.after_value)
        if not found:
            raise Broken(f"the argument {key[:40]!r} has no value")
        self.draft.edits.append(Edit("orphan_key", "$", key[:80]))

    # ── values ───────────────────────────────────────────────────────────────

    def _value(self, key: str, sink: Callable[[str], object]) -> Need[None]:
        """Pour the raw value into `sink` up to where it ends."""
        if (yield from self._cdata(sink)):
            return
        unescape = Unescape(sink, active=self.args.entities)
        trim = Trim(self.args.trim, unescape.feed)
        src, row = self.a.src, self.a.row
        doubtful, wrong = False, f"</{key}>"
        marks = (*row.value_marks, wrong) if row.value_close[:1] and row.value_close[0][:2] == "</" else row.value_marks
        while True:
            mark = yield from src.until(marks, trim.feed)
            if not mark:
                raise Cut
            src.pos -= len(mark)
            src.hold()
            src.pos += len(mark)
            if (yield from self._is_boundary(mark, wrong)):
                break
            src.rewind()
            src.pos += len(mark)
            trim.feed(mark)
            doubtful = doubtful or mark in row.value_close
        if mark in row.value_close or mark == wrong:
            src.release()
            self.draft.edits += [Edit("wrong_closer", "$", mark)] if mark == wrong else []
        elif doubtful:
            raise Broken("where an argument ends is not clear")
        else:
            src.rewind()
            self.draft.edits.append(Edit("unclosed_argument"))
        unescape.close()

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

    def _is_boundary(self, mark: str, wrong: str) -> Need[bool]:
        """Is this mark structure, or text that looks like it?  Structure is followed by a legal next token."""
        src, row = self.a.src, self.a.row
        if mark in row.value_close:
            _, found = yield from src.glance(row.after_value + row.value_close)
            return bool(found) or not row.after_value or (yield from _at_end(self.a, row.after_value))
        if mark == wrong:
            _, found = yield from src.glance(row.key_open + row.ends)
            return bool(found)
        if mark in row.key_open:
            return (yield from self._begins_key())
        if mark in row.tool_open and mark not in row.ends:
            return (yield from self._begins_tool())
        _, found = yield from src.glance(row.after_body)
        return bool(found) or (yield from _at_end(self.a, row.after_body))

    def _begins_key(self) -> Need[bool]:
        """Does a key that may stand here follow?  One the tool declares, or any, where it is not known."""
        key = yield from self._name_ahead(self.a.row.key_close)
        if self.draft.tool is None:
            return IDENTIFIER.fullmatch(key) is not None and key not in self.out.given
        known = declared_key(self.draft, key, self.out.given)
        return self.draft.shape.has(known) and known not in self.out.given

    def _begins_tool(self) -> Need[bool]:
        """Does another call's name follow?"""
        name = yield from self._name_ahead(self.a.row.tool_close)
        return self.a.judge.known(name) or (self.a.judge.tools is None and IDENTIFIER.fullmatch(name) is not None)

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
