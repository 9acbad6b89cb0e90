"""Calls whose every argument is markup: `<parameter=key>value</parameter>` and its kin.

A raw value has no escape for its own closer, so where it ends is decided by what follows: structure is followed by a
legal next mark (malformations.md §4).  Values are typed by the tool's schema, else by the row.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..relaxed import Broken, Cut, escaped, quoted
from ..schema import Shape, read_text
from ..text import Need
from ..types import Edit
from .attempt import MAX_NAME, Attempt, Mismatch
from .draft import Draft
from .spec import TaggedArgs, Typing


def tagged_args(attempt: Attempt) -> Need[None]:
    """`<parameter=key>value</parameter>` and its kin."""
    args = attempt.spec.args
    assert isinstance(args, TaggedArgs)
    draft = attempt.new()
    name, call_id, mark = yield from attempt.tool()
    if mark and (mark in attempt.row.key_open or mark in attempt.row.call_close):
        attempt.src.pos -= len(mark)
    yield from attempt.src.space()
    c = yield from attempt.src.peek()
    if c and c != attempt.row.tag_lead:
        raise Mismatch
    attempt.begin(draft, name, call_id)
    yield from _Tags(attempt, draft, args).read()
    attempt.finish(draft)
    yield from attempt.closing(attempt.row.body_close)


class _Tags:
    """The arguments of a tagged call."""

    def __init__(self, attempt: Attempt, draft: Draft, args: TaggedArgs) -> None:
        self.a, self.draft, self.args = attempt, draft, args
        self.given: set[str] = set()

    def read(self) -> Need[None]:
        """Read every argument up to the body's end."""
        a, row, draft = self.a, self.a.row, self.draft
        while True:
            size, found = yield from a.src.glance(row.key_open)
            if not found:
                break
            a.src.pos += size
            yield from self._argument()
        yield from self._end()
        draft.write("}" if self.given else "{}")

    def _end(self) -> Need[None]:
        """After the last argument: a closer, or the end of the text."""
        src, row = self.a.src, self.a.row
        _, found = yield from src.glance(row.ends)
        if found:
            return
        yield from src.space()
        if src.eof and src.pos == len(src.buf):
            self.a.closed = False
            self.draft.edits.append(Edit("unclosed"))
            return
        if row.ends:
            raise Broken("text stands between the arguments")

    def _argument(self) -> Need[None]:
        a, row, draft = self.a, self.a.row, self.draft
        key, mark = yield from a.until_name(row.key_close)
        key = key.strip().strip("\"'")
        if row.value_open:
            yield from a.src.space()
            if not (yield from a.src.literal(row.value_open)):
                raise Broken(f"the argument {key[:40]!r} has no value")
        if key in self.given:
            raise Broken(f"the argument {key[:40]!r} is given twice")
        shape = draft.shape.property(key)
        draft.write(("," if self.given else "{") + quoted(key) + ":")
        self.given.add(key)
        text_only = shape.kinds == _TEXT or (mark in self.args.raw_flag and not shape.kinds)
        untyped = not shape.kinds and mark not in self.args.json_flag
        text_only = text_only or (untyped and self.args.typing is Typing.TEXT)
        if text_only and not shape.enum:
            draft.write('"')
            trim = _Trim(self.args.trim, lambda s: draft.write(escaped(s)))
            yield from self._value(trim.feed)
            draft.write('"')
            return
        got: list[str] = []
        trim = _Trim(self.args.trim, got.append)
        yield from self._value(trim.feed)
        self._typed("".join(got), shape, mark)

    def _typed(self, text: str, shape: Shape, mark: str) -> None:
        if shape.kinds or shape.enum:
            value, edit = read_text(text, shape)
            if edit is not None and edit.kind not in ("typed", "read"):
                self.draft.edits.append(edit)
        else:
            value = _literal(text)
        self.draft.write(json.dumps(value, ensure_ascii=False, allow_nan=False))

    def _value(self, sink: Callable[[str], None]) -> Need[None]:
        """Pour the raw value into `sink` up to where it ends."""
        src, row = self.a.src, self.a.row
        while True:
            mark = yield from src.until(row.value_marks, sink)
            if not mark:
                raise Cut
            src.pos -= len(mark)
            src.hold()
            src.pos += len(mark)
            if (yield from self._is_boundary(mark)):
                if mark in row.value_close:
                    src.release()
                else:
                    src.rewind()
                    self.draft.edits.append(Edit("unclosed_argument"))
                return
            src.rewind()
            src.pos += len(mark)
            sink(mark)

    def _is_boundary(self, mark: str) -> Need[bool]:
        """Is this mark structure, or text that looks like it?  Structure is followed by a legal next token."""
        src, row = self.a.src, self.a.row
        if mark in row.value_close:
            _, found = yield from src.glance(row.after_value)
            if found or not row.after_value:
                return True
            yield from src.peek(1)
            ahead = yield from src._over_space(0)
            return src.eof and src.pos + ahead == len(src.buf)
        if mark in row.key_open:
            return (yield from self._declared_key())
        _, found = yield from src.glance(row.after_body)
        space = yield from src._over_space(0)
        return bool(found) or (src.eof and src.pos + space == len(src.buf))

    def _declared_key(self) -> Need[bool]:
        src, row = self.a.src, self.a.row
        ahead = 0
        while ahead < MAX_NAME:
            while src.pos + ahead >= len(src.buf) and not src.eof:
                yield
            rest = src.buf[src.pos : src.pos + ahead + 16]
            for close in row.key_close:
                at = rest.find(close)
                if at >= 0:
                    key = rest[:at].strip().strip("\"'")
                    return self.draft.shape.has(key) and key not in self.given
            if src.eof and src.pos + ahead >= len(src.buf):
                return False
            ahead += 1
        return False


_TEXT = frozenset({"string"})


class _Trim:
    """Drops one given text from each end of a text that arrives in pieces."""

    def __init__(self, what: str, sink: Callable[[str], object]) -> None:
        self.what, self.sink, self.started, self.tail = what, sink, False, ""

    def feed(self, text: str) -> None:
        """More of the text; the last `what` is held back until something follows it."""
        if not self.what:
            self.sink(text)
            return
        text = self.tail + text
        self.tail = ""
        if not self.started and text:
            self.started = True
            text = text.removeprefix(self.what)
        if text.endswith(self.what):
            self.tail, text = self.what, text[: -len(self.what)]
        if text:
            self.sink(text)


def _literal(text: str) -> Any:
    """JSON if it is JSON, else the text."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return {"True": True, "False": False, "None": None}.get(text.strip(), text)
    return value


def _no_constant(word: str) -> Any:
    raise ValueError(word)
