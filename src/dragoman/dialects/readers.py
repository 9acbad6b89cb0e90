"""One attempt to read what stands here as one dialect: its section, its calls, every argument notation.

Each notation of `spec.py` has one reader; no reader knows a dialect by name.  Judging names and arguments is asked of
the `Judge`; this module does not know where in the message it stands.

Contract: an attempt raises `Mismatch` while the text may still be something else (nothing was begun), `Broken` or `Cut`
when it is this dialect, damaged or truncated.  `items` holds what was read so far, in order: drafts and events.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

from ..events import Event, PartEnded, ReasoningDelta, TextDelta
from ..relaxed import JSON, PYTHON, Broken, Cut, Form, Relaxed, check_repeated, escaped, mend, quoted
from ..schema import ANYTHING, Shape, coerce, read_text
from ..text import Need, Source
from ..types import Edit, IssueKind
from .draft import Draft
from .judge import BENIGN, WRAPPERS, Judge, Unknown
from .spec import (
    AttributeArgs,
    BraceArgs,
    Dialect,
    ElementArgs,
    JsonArgs,
    JsonCall,
    KeywordArgs,
    Listing,
    Place,
    Strength,
    TaggedArgs,
    Typing,
    YamlCall,
)

MAX_NAME = 256
NAME = re.compile(r"[^\s\"'`<>{}()\[\],;=]+")
CALL_NAME = re.compile(r"[\"'`]?(?P<name>[A-Za-z_$][\w\\.\-:]*)[\"'`]?\s*(?=\()")
LISTS = ("tool_calls", "calls")
ATTRIBUTE = re.compile(r"\s*([\w:.-]+)\s*=\s*")
ATTRIBUTE_NEXT = re.compile(r"\s+[\w:.-]+\s*=|\s*/?\s*>|\s*\Z")
FINAL_KEY = "final"


class Mismatch(Exception):
    """The text is not what this dialect says."""


class Attempt:
    """One dialect tried at one place."""

    def __init__(self, src: Source, row: Row, judge: Judge, begun: Callable[[Draft], None]) -> None:
        self.src, self.row, self.judge, self._begun = src, row, judge, begun
        self.spec = row.dialect
        self.items: list[Draft | Event] = []
        self.draft: Draft | None = None
        self.closed = True

    @property
    def drafts(self) -> list[Draft]:
        """The calls read so far."""
        return [i for i in self.items if isinstance(i, Draft)]

    # ── sections ─────────────────────────────────────────────────────────────

    def run(self) -> Need[None]:
        """Read everything this dialect has to say here."""
        src, row = self.src, self.row
        inside = yield from src.literal(row.section_open)
        yield from src.space()
        if self.spec.listing is Listing.ARRAY:
            yield from self._array()
        else:
            yield from self._sequence(bool(inside))
        if inside:
            yield from self._closing(row.section_close)
        if not self.items:
            raise Mismatch

    def _array(self) -> Need[None]:
        src = self.src
        c = yield from src.peek()
        if c != "[":
            if c == "{" and self.row.section_open:
                yield from self._call()
                return
            raise Mismatch
        src.pos += 1
        while True:
            yield from src.space()
            c = yield from src.peek()
            if c == "]":
                src.pos += 1
                return
            if not c and self.items:
                self._note_unclosed()
                return
            yield from self._call()
            yield from src.space()
            if (yield from src.literal((",", ";"))) or (yield from src.peek()) == "]":
                continue
            if src.eof and src.pos == len(src.buf):
                self._note_unclosed()
                return
            raise Broken("the list of calls is not closed")

    def _note_unclosed(self) -> None:
        if self.drafts:
            self.drafts[-1].edits.append(Edit("unclosed"))
        self.closed = False

    def _sequence(self, inside: bool) -> Need[None]:
        src, row = self.src, self.row
        while True:
            yield from self._call()
            if inside and isinstance(self.spec.args, KeywordArgs):
                if not (yield from self._another_name()):
                    return
                continue
            size, found = yield from src.glance(row.again, row.between)
            if not found or not (inside or row.chains) or (yield from self._is_end(size - len(found))):
                return
            src.pos += size - len(found)

    def _another_name(self) -> Need[bool]:
        """Does another Python call follow, perhaps after a comma or semicolon?"""
        src = self.src
        yield from src.space()
        if (yield from src.literal((",", ";"))):
            yield from src.space()
        return (yield from src.match(CALL_NAME, MAX_NAME)) is not None

    def _is_end(self, ahead: int) -> Need[bool]:
        """Does the section's closer stand there rather than another call (`</x>` against `<`)?"""
        if not self.row.section_close:
            return False
        ahead_, mark = yield from self.src.glance(self.row.section_close)
        return bool(mark) and ahead_ - len(mark) == ahead

    def _closing(self, marks: tuple[str, ...]) -> Need[bool]:
        """Take a closing mark if one stands here, with the white space before it."""
        size, found = yield from self.src.glance(marks)
        self.src.pos += size
        return bool(found)

    def _call(self) -> Need[None]:
        src, row = self.src, self.row
        yield from src.literal(row.call_open)
        yield from src.space()
        yield from READERS[type(self.spec.args)](self)
        if row.call_close and not (yield from self._closing(row.call_close)):
            yield from self._strays()

    def _strays(self) -> Need[None]:
        """Brackets too many between the object and its closer."""
        size, found = yield from self.src.glance(tuple(b + c for c in self.row.call_close for b in ("}", "}}", "]", ")")))
        if found:
            self.src.pos += size
            self._last_edit("stray_bracket")
        elif self.items and isinstance(self.items[-1], Draft):
            if self.src.eof and self.src.pos == len(self.src.buf) or self.row.closer_needed:
                self._last_edit("unclosed")

    def _last_edit(self, kind: str) -> None:
        if self.drafts:
            self.drafts[-1].edits.append(Edit(kind))

    # ── drafts ───────────────────────────────────────────────────────────────

    def new(self) -> Draft:
        """A draft that begins here."""
        return Draft(self.spec.name, self.src.at, self.spec.strength is Strength.STRONG)

    def begin(self, draft: Draft, name: Any, call_id: Any = None) -> None:
        """The name is known: ask the judge, and let the parser tell it."""
        if not isinstance(name, str):
            raise Broken("the tool's name is not a string")
        try:
            self.judge.name(draft, name)
        except Unknown as unknown:
            if not draft.strong:
                raise Mismatch from None
            draft.refuse(IssueKind.UNKNOWN_TOOL, str(unknown), unknown.correction)
        if call_id is not None and call_id != "":
            draft.id = str(call_id)
        draft.begun = True
        self.draft = draft
        self.items.append(draft)
        self._begun(draft)

    def finish(self, draft: Draft, reader: Relaxed | None = None) -> None:
        """The arguments are complete."""
        if reader is not None:
            draft.edits += reader.edits
            reader.edits = []
            if reader.repeated:
                check_repeated(draft.text())
            if reader.unfit:
                self.judge.refuse_numbers(draft, reader.unfit)
        draft.done, draft.end = True, self.src.at
        self.draft = None

    # ── JSON that holds name and arguments ───────────────────────────────────

    def json_call(self) -> Need[None]:
        """One or several call objects, or a list of them."""
        src = self.src
        c = yield from src.peek()
        if c == "[" and self.spec.listing is not Listing.ARRAY and self.row.call_open:
            yield from self._array()
            return
        while True:
            if (yield from src.peek()) != "{":
                if not (yield from self._quoted_object()):
                    raise Mismatch
            else:
                yield from _Object(self, self.spec.args).read()  # type: ignore[arg-type]
            if not self.row.call_open or self.spec.listing is Listing.ARRAY:
                return
            size, found = yield from src.glance(("{",), (",", ";"))
            if not found:
                return
            src.pos += size - 1

    def _quoted_object(self) -> Need[bool]:
        """The whole object inside a JSON string."""
        if not self.row.call_open or (yield from self.src.peek(2)) not in ('"{', "'{"):
            return False
        reader = Relaxed(self.src)
        text = json.loads((yield from reader.captured()))
        value, edits = mend(text)
        inner = Source()
        inner.feed(json.dumps(value, ensure_ascii=False))
        inner.eof = True
        outer, self.src = self.src, inner
        yield from _Object(self, self.spec.args).read()  # type: ignore[arg-type]
        self.src = outer
        self._last_edit("json_in_string")
        return True

    # ── the name in markup ───────────────────────────────────────────────────

    def _tool(self) -> Need[tuple[str, str | None, str]]:
        """The tool's name, its id, and the mark that ended them."""
        src, row, d = self.src, self.row, self.spec
        if row.tool_open and not (yield from src.literal(row.tool_open)):
            raise Mismatch
        if not row.tool_close:
            found = yield from src.match(NAME, MAX_NAME)
            if found is None:
                raise Mismatch
            src.pos = found.end()
            text, mark = found.group(), ""
        else:
            text, mark = yield from self._until_name(row.tool_close)
        split = re.fullmatch(d.tool_re, text.strip(), re.S)
        if split is None:
            raise Mismatch
        parts = split.groupdict()
        return (parts.get("name") or "").strip(), parts.get("id"), mark

    def _until_name(self, marks: tuple[str, ...]) -> Need[tuple[str, str]]:
        got: list[str] = []

        def take(text: str) -> None:
            got.append(text)
            if sum(map(len, got)) > MAX_NAME:
                raise Mismatch

        mark = yield from self.src.until(marks, take)
        if not mark:
            raise Cut
        return "".join(got), mark

    def json_args(self) -> Need[None]:
        """`NAME … {json}`."""
        draft = self.new()
        name, call_id, mark = yield from self._tool()
        if mark == "{":
            self.src.pos -= 1
        yield from self.src.space()
        yield from self.src.literal(self.row.body_open)
        yield from self.src.space()
        c = yield from self.src.peek()
        if c != "{" and c != "" and not (self.row.closer_needed and (yield from self._bodiless())):
            raise Mismatch
        if not c and not self.row.strong:
            raise Mismatch
        self.begin(draft, name, call_id)
        reader = Relaxed(self.src)
        if c == "{":
            yield from arguments_object(self, draft, reader)
        elif not c:
            raise Cut
        else:
            draft.write("{}")
        self.finish(draft, reader)
        yield from self._closing(self.row.body_close)

    def _bodiless(self) -> Need[bool]:
        _, found = yield from self.src.glance(self.row.body_close + self.row.call_close)
        return bool(found)

    # ── Python ───────────────────────────────────────────────────────────────

    def keyword_args(self) -> Need[None]:
        """`name(key=value, …)`, perhaps quoted or printed as a whole."""
        src = self.src
        draft = self.new()
        found = yield from src.match(CALL_NAME, MAX_NAME)
        if found is None:
            raise Mismatch
        name = found["name"].replace("\\", "")
        src.pos = found.end()
        if name == "print" and not self.judge.known("print"):
            src.pos += 1
            yield from src.space()
            yield from self.keyword_args()
            yield from src.space()
            if not (yield from src.literal((")",))):
                raise Broken("print( is not closed")
            return
        self.begin(draft, name.removesuffix(".call") if not self.judge.known(name) else name)
        reader = Relaxed(src, PYTHON)
        yield from _object(draft, reader, PYTHON)
        self.finish(draft, reader)

    # ── Gemma ────────────────────────────────────────────────────────────────

    def brace_args(self) -> Need[None]:
        """`NAME{key:value}` with the row's own string delimiters."""
        args = self.spec.args
        assert isinstance(args, BraceArgs)
        draft = self.new()
        name, call_id, mark = yield from self._tool()
        if mark == "{":
            self.src.pos -= 1
        if (yield from self.src.peek()) != "{":
            raise Mismatch
        self.begin(draft, name, call_id)
        form = Form(quotes=args.quotes, bare=True)
        reader = Relaxed(self.src, form)
        yield from _object(draft, reader, form)
        self.finish(draft, reader)

    # ── tags ─────────────────────────────────────────────────────────────────

    def tagged_args(self) -> Need[None]:
        """`<parameter=key>value</parameter>` and its kin."""
        args = self.spec.args
        assert isinstance(args, TaggedArgs)
        draft = self.new()
        name, call_id, mark = yield from self._tool()
        if mark and (mark in self.row.key_open or mark in self.row.call_close):
            self.src.pos -= len(mark)
        yield from self.src.space()
        c = yield from self.src.peek()
        if c and c != self.row.tag_lead:
            raise Mismatch
        self.begin(draft, name, call_id)
        yield from _Tags(self, draft, args).read()
        self.finish(draft)
        yield from self._closing(self.row.body_close)

    def element_args(self) -> Need[None]:
        raise Mismatch
        yield

    def yaml_call(self) -> Need[None]:
        raise Mismatch
        yield

    # ── attributes ───────────────────────────────────────────────────────────

    def attribute_args(self) -> Need[None]:
        """`name="…" args='…' />`, the tag's opener already read."""
        args = self.spec.args
        assert isinstance(args, AttributeArgs)
        draft = self.new()
        found, bodied = yield from self._attributes()
        name = next((found[k] for k in args.name if k in found), None)
        if name is None:
            raise Mismatch
        self.begin(draft, name, found.get("id"))
        text = next((found[k] for k in args.args if k in found), None)
        if bodied:
            body: list[str] = []
            closer = yield from self.src.until(self.row.pair_close, body.append)
            if not closer:
                raise Cut
            if text is None:
                text = "".join(body)
        value, edits = _argument_text(text or "", draft.shape)
        draft.edits += edits
        draft.write(json.dumps(value, ensure_ascii=False))
        self.finish(draft)

    def _attributes(self) -> Need[tuple[dict[str, str], bool]]:
        """The attributes up to the tag's end, and whether a body follows."""
        src = self.src
        found: dict[str, str] = {}
        while True:
            yield from src.space()
            end = yield from src.literal(("/>", ">"))
            if end:
                return found, end == ">"
            match = yield from src.match(ATTRIBUTE, MAX_NAME)
            if match is None:
                if src.eof and src.pos == len(src.buf):
                    raise Cut
                raise Mismatch
            src.pos = match.end()
            found.setdefault(match[1].casefold(), (yield from self._attribute_value()))

    def _attribute_value(self) -> Need[str]:
        src = self.src
        quote = yield from src.literal(('"', "'"))
        if not quote:
            got: list[str] = []
            mark = yield from src.until((" ", "\n", "\t", "/>", ">"), got.append)
            if not mark:
                raise Cut
            src.pos -= len(mark)
            return html.unescape("".join(got))
        got = []
        while True:
            mark = yield from src.until((quote, "\\" + quote, "\\\\"), got.append)
            if not mark:
                raise Cut
            if mark != quote:
                got.append(mark)
                continue
            following = yield from src.match(ATTRIBUTE_NEXT, 64)
            if following is not None:
                break
            got.append(quote)
        return _attribute_text("".join(got), quote)


READERS: dict[type, Callable[[Attempt], Need[None]]] = {
    JsonCall: Attempt.json_call,
    JsonArgs: Attempt.json_args,
    KeywordArgs: Attempt.keyword_args,
    BraceArgs: Attempt.brace_args,
    TaggedArgs: Attempt.tagged_args,
    ElementArgs: Attempt.element_args,
    AttributeArgs: Attempt.attribute_args,
    YamlCall: Attempt.yaml_call,
}


def _attribute_text(text: str, quote: str) -> str:
    """An attribute's value as meant: entities decoded when it was escaped, backslashed quotes undone when it was not."""
    if "&" in text and not re.search(r"[<\"]", text):
        text = html.unescape(text)
    if "\\" + quote in text and not _is_json(text):
        text = text.replace("\\" + quote, quote).replace("\\\\", "\\") if quote == '"' else text.replace("\\'", "'")
    return text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _argument_text(text: str, shape: Shape) -> tuple[Any, list[Edit]]:
    """Arguments given as text: an object, or the only string parameter's value."""
    text = text.strip()
    if not text:
        return {}, []
    if text[0] == "{":
        value, edits = mend(text, shape)
        return value, edits
    if len(shape.keys) == 1 and "string" in shape.property(shape.keys[0]).kinds:
        return {shape.keys[0]: text}, [Edit("wrapped_text", "$", text[:40])]
    raise Broken("the arguments are not a JSON object")


# ── arguments ────────────────────────────────────────────────────────────────


def arguments_object(attempt: Attempt, draft: Draft, reader: Relaxed) -> Need[None]:
    """The arguments object, streamed; one wrapped in a key of its own is unwrapped (malformations.md §3)."""
    shape = draft.shape
    if not shape.keys and not shape.open:
        yield from reader.object(draft.write, shape)
        return
    yield from _object(draft, reader, JSON)


def _object(draft: Draft, reader: Relaxed, form: Form) -> Need[None]:
    shape, write = draft.shape, draft.write
    wrappers = _wrappers(draft)
    seen: set[str] = set()
    wrapped = ""

    def member(key: str) -> Need[None]:
        nonlocal wrapped
        if key in wrappers and not seen:
            c = yield from reader.blank()
            if c in "{\"'":
                seen.add(key)
                got: list[str] = []
                yield from reader.value(got.append, ANYTHING)
                inner = _unwrapped("".join(got), shape)
                if inner is None:
                    write(("{" if not wrapped else "") + quoted(key) + ":" + "".join(got))
                else:
                    wrapped = inner
                return
        if key in seen:
            reader.repeated = True
        if wrapped:
            raise Broken("fields stand beside the wrapped arguments")
        write(("," if seen else "{") + quoted(key) + ":")
        seen.add(key)
        yield from reader.value(write, shape.property(key))

    doubled = form.open == "{" and (yield from reader._doubled())
    yield from reader.members(member, form)
    if doubled:
        yield from reader._undouble()
    if wrapped:
        write(wrapped)
        reader.note("unwrapped")
    else:
        write("}" if seen else "{}")


def _wrappers(draft: Draft) -> frozenset[str]:
    names = WRAPPERS | {draft.name}
    return frozenset(n for n in names if not draft.shape.has(n)) if draft.tool is not None else frozenset()


def _unwrapped(text: str, shape: Shape) -> str | None:
    """The inner object, typed by the schema, when its keys are the tool's."""
    value = json.loads(text)
    if isinstance(value, str):
        try:
            value, _ = mend(value, shape)
        except (Broken, Cut):
            return None
    if not isinstance(value, dict) or not (value or not shape.required) or not all(map(shape.has, value)):
        return None
    fixed, _ = coerce(value, shape)
    return json.dumps(fixed, ensure_ascii=False)


class _Object:
    """One call object, key by key."""

    def __init__(self, attempt: Attempt, args: JsonCall) -> None:
        self.a, self.args = attempt, args
        self.reader = Relaxed(attempt.src)
        self.draft = attempt.new()
        self.name: Any = None
        self.id: Any = None
        self.held: str | None = None
        self.foreign: list[str] = []
        self.several = False
        self.answered = False

    def read(self) -> Need[None]:
        """Read the object and finish its draft."""
        reader = self.reader
        doubled = yield from reader._doubled()
        yield from reader.members(self._member)
        if doubled:
            yield from reader._undouble()
        if self.several or self.answered:
            return
        if self.name is None:
            raise Mismatch
        if not self.draft.begun:
            yield from self._begin_late()
        if self.foreign and not self.draft.refusal:
            self._refuse_foreign()
        self.a.finish(self.draft, reader)

    def _refuse_foreign(self) -> None:
        if not self.a.row.strong:
            raise Mismatch
        fields = ", ".join(self.foreign)
        self.draft.refuse(
            IssueKind.MALFORMED,
            f"fields stand outside the arguments: {fields}",
            self.a.judge.correction(self.draft, f"put {fields} inside the arguments object"),
        )

    def _member(self, key: str) -> Need[None]:
        a, reader = self.args, self.reader
        c = yield from reader.blank()
        row = self.a.row
        if key in a.inside or (key == "function" and c == "{" and not a.inside):
            yield from reader.members(self._member)
        elif a.answer and key == a.answer[0]:
            yield from self._answer(c)
        elif key in a.thought and c in "\"'“":
            self._thought(json.loads((yield from reader.captured())))
        elif key in a.name and self.name is None and c not in "{[":
            self.name = json.loads((yield from reader.captured(_NAME_SHAPE)))
        elif key in a.args:
            yield from self._arguments(c)
        elif key in a.id and self.name is None or key in BENIGN:
            value = json.loads((yield from reader.captured()))
            if key in a.id:
                self.id = value
        elif key in LISTS and c == "[" and self.name is None:
            yield from self._list()
        elif self.name is None and not self.foreign and c == "{" and not a.inside and self.a.judge.known(key):
            self.name = key
            reader.note("name_as_key", key)
            yield from self._arguments(c)
        else:
            yield from self._foreign(key)

    def _foreign(self, key: str) -> Need[None]:
        if not self.a.row.strong or self.args.inside:
            raise Mismatch
        self.foreign.append(key[:40])
        yield from self.reader.captured()

    def _thought(self, text: str) -> None:
        if text:
            self.a.items.append(ReasoningDelta(text))
            self.a.items.append(PartEnded())
        self.a.judge.thought(self.draft, text)

    def _arguments(self, c: str) -> Need[None]:
        reader = self.reader
        if self.held is not None or self.draft.begun:
            raise Broken("the arguments are given twice")
        if self.name is not None and c == "{":
            self.a.begin(self.draft, self.name, self.id)
            yield from arguments_object(self.a, self.draft, reader)
        else:
            self.held = yield from reader.captured()

    def _begin_late(self) -> Need[None]:
        """The arguments came before the name, as a string, or not at all."""
        value = json.loads(self.held) if self.held is not None else None
        if self.held is None and not self.a.judge.bare_name(self.a.row.strong, str(self.name)):
            raise Mismatch
        if isinstance(value, list | int | float) and not self.a.row.strong:
            raise Mismatch
        self.a.begin(self.draft, self.name, self.id)
        shape = self.draft.shape
        edits: list[Edit] = []
        if isinstance(value, str):
            if value.strip():
                value, edits = mend(value, shape)
                edits.insert(0, Edit("json_in_string"))
            else:
                value = {}
        elif value is None:
            value = {}
        if not isinstance(value, dict):
            raise Broken(f"the arguments are {_kind(value)}, not an object")
        inner = _unwrap_late(value, self.draft)
        if inner is not None:
            value, edits = inner, [*edits, Edit("unwrapped")]
        value, more = coerce(value, shape)
        self.draft.edits += [*edits, *more]
        self.draft.write(json.dumps(value, ensure_ascii=False))
        return
        yield

    def _list(self) -> Need[None]:
        """`{"tool_calls": [ … ]}`: the envelope of another wire, written as text."""
        self.several = True
        yield from self.a._array()

    def _answer(self, c: str) -> Need[None]:
        """The protocol's final answer."""
        reader = self.reader
        value = json.loads((yield from reader.captured()))
        if isinstance(value, dict) and len(self.args.answer) > 1 and set(value) == {self.args.answer[1]}:
            value = value[self.args.answer[1]]
        elif not self.a.judge.asked_by_name:
            raise Mismatch
        self.answered = True
        if not self.a.judge.asked_by_name:
            raise Mismatch
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.a.items += [TextDelta(text), PartEnded({FINAL_KEY: value})]


_NAME_SHAPE = Shape.of({"type": "string"}) if hasattr(Shape, "of") else ANYTHING


def _unwrap_late(value: dict[str, Any], draft: Draft) -> dict[str, Any] | None:
    if len(value) != 1:
        return None
    [(key, inner)] = value.items()
    if key not in _wrappers(draft) or not isinstance(inner, dict | str):
        return None
    text = _unwrapped(json.dumps(inner, ensure_ascii=False), draft.shape)
    return None if text is None else dict(json.loads(text))


def _kind(value: Any) -> str:
    return {list: "a list", str: "a string", bool: "a boolean"}.get(type(value), "a number")


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
        key, mark = yield from a._until_name(row.key_close)
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
        text_only = text_only or (not shape.kinds and self.args.typing is Typing.TEXT and mark not in self.args.json_flag)
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


# ── a row, prepared for reading ──────────────────────────────────────────────


class Row:
    """A dialect with its marks stripped of white space and its derived sets, made once."""

    def __init__(self, dialect: Dialect) -> None:
        d = self.dialect = dialect
        self.strong = d.strength is Strength.STRONG
        self.section_open, self.section_close = _bare(d.section.open), _bare(d.section.close)
        self.call_open, self.call_close = _bare(d.call.open), _bare(d.call.close)
        self.tool_open, self.tool_close = _bare(d.tool.open), _bare(d.tool.close, newline=True)
        self.body_open, self.body_close = _bare(d.body.open), _bare(d.body.close)
        self.between = _bare(d.between)
        self.pair_close = tuple(c for c in (s.lstrip(">") for s in self.call_close) if c.startswith("</"))
        self.closer_needed = bool(self.call_close) and bool(self.call_open or self.tool_open)
        self.chains = False
        self._tags()
        self.openers = self._openers()
        self.again = self.call_open or self.tool_open or self._first()

    def _tags(self) -> None:
        args = self.dialect.args
        tagged = isinstance(args, TaggedArgs)
        self.key_open = _bare(args.key.open) if isinstance(args, TaggedArgs) else ()
        self.key_close = _longest(_bare(args.key.close) + args.raw_flag + args.json_flag) if isinstance(args, TaggedArgs) else ()
        self.value_open = _bare(args.value.open) if isinstance(args, TaggedArgs) else ()
        self.value_close = _bare(args.value.close) if isinstance(args, TaggedArgs) else ()
        self.ends = self.body_close or self.call_close or self.section_close
        self.after_value = self.key_open + self.body_close + self.call_close + self.section_close if tagged else ()
        self.after_body = (self.call_close + self.section_close + self.call_open + self.tool_open) if self.body_close else (
            self.section_close + self.call_open + self.tool_open)
        self.value_marks = _longest(self.value_close + self.key_open + (self.body_close or self.call_close)) if tagged else ()
        self.tag_lead = self.key_open[0][0] if self.key_open else ""

    def _first(self) -> tuple[str, ...]:
        args = self.dialect.args
        if isinstance(args, JsonCall):
            return ("{",)
        return ()

    def _openers(self) -> tuple[str, ...]:
        marks = self.section_open + self.call_open + (self.tool_open if not self.call_open else ())
        if marks:
            return marks
        return ("[",) if self.dialect.listing is Listing.ARRAY else self._first()

    @property
    def place(self) -> Place:
        """Where the opener may stand."""
        return self.dialect.place


def _bare(spellings: tuple[str, ...], *, newline: bool = False) -> tuple[str, ...]:
    """Spellings without the white space at their ends; one that is nothing else stays only as a line end."""
    out = [s.strip() or ("\n" if newline and "\n" in s else "") for s in spellings]
    return tuple(dict.fromkeys(s for s in out if s))


def _longest(marks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(marks))
