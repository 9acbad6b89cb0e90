"""The arguments of a call where they are an object: read piecemeal, unwrapped, and what they may be besides.

Knows a draft, its schema and the lenient reader; not in what notation the call stands round them.
Contract: what is written to the draft concatenates to strict JSON; one wrapped in a key of its own is unwrapped.
"""

from __future__ import annotations

import json
from typing import Any

from ...lenient.notation import JSON, Broken, Form
from ...lenient.quoting import quoted
from ...lenient.reader import Relaxed, as_text, may_be_text
from ...lenient.source import Need, Source
from ...schema.validation import Shape
from ...types import Edit
from ..judge.candidate import Draft
from ..judge.judge import is_definition
from .arguments import MOST_MEMBERS, MOST_OTHERS, is_name, is_wrapper, refuse_many, take_key, unwrapped
from .call import Attempt
from .clean_members import clean_members
from .exact import object_at, wanted
from .keys import ECHO, TEXT


def arguments_object(attempt: Attempt, draft: Draft, reader: Relaxed) -> Need[None]:
    """The arguments object, streamed; one wrapped in a key of its own is unwrapped (malformations.md §3)."""
    shape = draft.shape
    if _as_written(attempt.src, draft, reader):
        return
    if not shape.keys and not shape.open:
        yield from reader.object(draft.write, shape)
        return
    yield from members_of(draft, reader, JSON)


def _as_written(src: Source, draft: Draft, reader: Relaxed) -> bool:
    """Take the object that stands here, if all of it has come and it needs nothing."""
    found = object_at(src.buf, src.pos, wanted(draft.tool))
    if found is None or not reader.would_end(found[2]):
        return False
    if not all(is_name(draft, key) for key in found[0]):
        return False
    draft.write(found[1])
    src.pos = found[2]
    return True


def members_of(draft: Draft, reader: Relaxed, form: Form) -> Need[None]:
    """The arguments between brackets, written to the draft."""
    if clean_members(draft, reader.src, form):
        return
    yield from _Arguments(draft, reader, form).read()


class _Arguments:
    """One call's arguments, member by member; what is wrapped in a key of its own is unwrapped."""

    def __init__(self, draft: Draft, reader: Relaxed, form: Form) -> None:
        self.draft, self.reader, self.form, self.shape = draft, reader, form, draft.shape
        self.seen: set[str] = set()
        self.echo: dict[str, str] = {}
        self.whole, self.how, self.named = "", "", False
        self._again = 0  # members whose key had come before

    def read(self) -> Need[None]:
        """Read them all and close the object."""
        reader, write = self.reader, self.draft.write
        reader.outer = len(reader.path)
        doubled = self.form.open == "{" and (yield from reader._doubled())
        yield from reader.members(self._member, self.form, self._unnamed if self.form.python else None)
        if doubled:
            yield from reader._undouble()
        if self.whole:
            write(self.whole)
            reader.note(self.how)
            return
        for key, written in self.echo.items():
            self._key(key)
            write(written)
        write("}" if self.seen else "{}")

    def _key(self, key: str) -> None:
        self.draft.write(("," if self.seen else "{") + quoted(key) + ":")
        self.seen.add(key)

    def _member(self, key: str) -> Need[None]:
        draft, reader, shape, seen = self.draft, self.reader, self.shape, self.seen
        self.named = True
        key = take_key(draft, key)
        if key in ECHO and key not in seen and key not in self.echo and draft.tool is not None and not shape.has(key):
            self.echo[key] = yield from reader.captured()
            return
        if is_wrapper(draft, key) and not seen and (yield from self._wrapped(key)):
            return
        if key in seen:
            reader.repeated = True
            self._again += 1
            if self._again > MOST_OTHERS:
                raise Broken(f"arguments are given more than {MOST_OTHERS} times more")
        elif (yield from reader.drops_null(key, shape)):
            return
        if shape.keys:
            refuse_many(draft, seen, MOST_MEMBERS)
        yield from self._value(key)

    def _value(self, key: str) -> Need[None]:
        if self.whole:
            raise Broken("fields stand beside the wrapped arguments")
        self._key(key)
        yield from self.reader.value(self.draft.write, self.shape.property(key))

    def _wrapped(self, key: str) -> Need[bool]:
        """All arguments once more in an object (or a string) under one key."""
        if (yield from self.reader.blank()) not in ("{", '"', "'"):
            return False
        got = yield from self.reader.captured()
        value = json.loads(got)
        defines = not self.draft.strong and is_definition({key: value})
        inner = None if defines else unwrapped(value, self.shape)
        if inner is None:
            self._key(key)
            self.draft.write(got)
        else:
            self.seen.add(key)
            self._take(inner, "unwrapped")
        return True

    def _take(self, inner: dict[str, Any], how: str) -> None:
        """All arguments stood in one object."""
        kept, absent = present(inner, self.shape)
        kept, texts = with_texts(kept, self.shape)
        self.draft.edits += [*absent, *texts]
        self.whole, self.how = json.dumps(kept, ensure_ascii=False), how

    def _unnamed(self) -> Need[None]:
        """A value without a key: all arguments as one object, or the next one that the tool declares."""
        reader, shape = self.reader, self.shape
        if self.draft.tool is None:
            raise Broken("arguments stand without their names")
        if not self.seen and not self.whole and (yield from reader.blank()) == "{":
            inner = unwrapped(json.loads((yield from reader.captured())), shape)
            if inner is None:
                raise Broken("the object does not hold the tool's arguments")
            self._take(inner, "positional")
            return
        left = [key for key in shape.keys if key not in self.seen]
        if self.named or not left:
            raise Broken("more values are given than the tool has arguments")
        reader.note("positional")
        reader.path.append(f".{left[0]}")
        yield from self._value(left[0])
        reader.path.pop()


def present(value: dict[str, Any], shape: Shape) -> tuple[dict[str, Any], list[Edit]]:
    """The arguments without the optional ones that are null, where null means nothing else (as `drops_null`)."""
    kept = {key: held for key, held in value.items() if held is not None or not _is_absent(shape, key)}
    return kept, [Edit("null_dropped", "null")] if len(kept) < len(value) else []


def _is_absent(wanted: Shape, key: str) -> bool:
    """May null for this argument mean nothing but that it is not given?"""
    kinds = wanted.property(key).kinds
    return bool(kinds) and "null" not in kinds and key not in wanted.required


def with_texts(value: dict[str, Any], shape: Shape) -> tuple[dict[str, Any], list[Edit]]:
    """The arguments, with lists and objects that can be nothing but a text as their JSON."""
    edits: list[Edit] = []
    for key, held in value.items():
        wanted = shape.property(key)
        if wanted.kinds == TEXT and not wanted.enum and may_be_text(held):
            text, more = as_text(held)
            value, edits = {**value, key: text}, edits + more
    return value, edits
