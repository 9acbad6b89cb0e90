"""Calls written as JSON: one object with name and arguments, or a name in markup and a JSON object after it.

Reads through `Relaxed`, so every spelling it mends is mended here too; aliases of keys come from the row.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...events import PartEnded, ReasoningDelta, TextDelta
from ...lenient.bare_words import NULL
from ...lenient.reader import JSON, Broken, Cut, Form, Relaxed, Repeated, as_text, decoded, may_be_text, quoted
from ...lenient.source import Need, Source
from ...schema.validation import Shape, coerce, shape
from ...types import Edit, IssueKind
from ..judge.candidate import Draft
from ..judge.judge import BENIGN
from ..spec import JsonCall, Listing
from .arguments import ECHO, TEXT, is_name, take_key, unwrapped, wrappers
from .call import MAX_NAME, Attempt, Mismatch
from .clean_call import clean_call
from .exact import object_at, wanted

LISTS = ("tool_calls", "calls", "tool_uses", "function_calls", "toolCalls", "tools_call")
"""Keys of another wire's envelope, written as text."""
ENVELOPES = frozenset({"function", "tool_call", "function_call", "tool_use", "functionCall", "toolUse", *LISTS})
"""Keys of an object that is the call."""
FENCE = re.compile(r"(?P<fence>`{3,}|~{3,})[\w-]*[ \t]*\n\s*(?=[\[{])")
PAIR = re.compile(r"(?P<open>\(?)\s*([\"'])(?P<name>[\w$][\w.\-:/\\]*)\2\s*,\s*(?=\{)")
"""A name in quotes and an object behind it, perhaps as a tuple."""
FINAL = "final"


def json_call(attempt: Attempt) -> Need[None]:
    """One or several call objects, or a list of them."""
    src, args = attempt.src, attempt.spec.args
    assert isinstance(args, JsonCall)
    c = yield from src.peek()
    inside = c != "" and c in "`~" and (attempt.row.call_open or attempt.row.section_open)
    fence = (yield from src.match(FENCE, 40)) if inside else None
    if fence is not None:
        src.pos = fence.end()
        yield from attempt.nested(lambda: json_call(attempt))
        yield from attempt.closing((fence["fence"],))
        attempt.last_edit("fenced")
        return
    if c == "[" and (attempt.spec.listing is Listing.ARRAY or attempt.row.call_open):
        yield from attempt.array()
        return
    if c and c in "(\"'" and attempt.spec.listing is Listing.ARRAY and (yield from _pair(attempt)):
        return
    while True:
        if (yield from src.peek()) != "{":
            if not (yield from _quoted_object(attempt)):
                raise Mismatch
        elif not clean_call(attempt, args):
            yield from _Object(attempt, args).read()
        if not attempt.row.call_open or attempt.spec.listing is Listing.ARRAY:
            return
        size, found = yield from src.glance(("{",), (",", ";"))
        if not found:
            return
        src.pos += size - 1


def _pair(attempt: Attempt) -> Need[bool]:
    """`"f", {…}` in a list, or `("f", {…})`: the name and the arguments side by side."""
    src = attempt.src
    found = yield from src.match(PAIR, MAX_NAME)
    if found is None:
        return False
    draft = attempt.new()
    src.pos = found.end()
    attempt.begin(draft, found["name"].replace("\\", ""))
    reader = Relaxed(src, stops=attempt.stops)
    yield from arguments_object(attempt, draft, reader)
    reader.note("pair")
    yield from src.space()
    if found["open"] and not (yield from src.literal((")",))):
        raise Broken("the brackets around the name and the arguments are not closed")
    attempt.finish(draft, reader)
    return True


def _quoted_object(attempt: Attempt) -> Need[bool]:
    """The whole object inside a JSON string."""
    if not attempt.row.call_open or (yield from attempt.src.peek(2)) not in ('"{', "'{"):
        return False
    reader = Relaxed(attempt.src)
    text = json.loads((yield from reader.captured()))
    value, _ = decoded(text)
    inner = Source()
    inner.feed(json.dumps(value, ensure_ascii=False))
    inner.eof = True
    outer, attempt.src = attempt.src, inner
    yield from _Object(attempt, attempt.spec.args).read()  # type: ignore[arg-type]
    attempt.src = outer
    attempt.last_edit("json_in_string")
    return True


def json_args(attempt: Attempt) -> Need[None]:
    """`NAME … {json}`."""
    draft = attempt.new()
    name, call_id, mark = yield from attempt.tool()
    if mark == "{":
        attempt.src.pos -= 1
    yield from attempt.src.space()
    yield from attempt.src.literal(attempt.row.body_open)
    yield from attempt.src.space()
    c = yield from attempt.src.peek()
    if c not in {"{", ""} and not (attempt.row.closer_needed and (yield from _bodiless(attempt))):
        raise Mismatch
    if not c and not attempt.row.strong:
        raise Mismatch
    attempt.begin(draft, name, call_id)
    reader = Relaxed(attempt.src, stops=attempt.stops)
    if c == "{":
        yield from arguments_object(attempt, draft, reader)
    elif not c:
        raise Cut
    else:
        draft.write("{}")
    attempt.finish(draft, reader)
    yield from attempt.closing(attempt.row.body_close)

def _bodiless(attempt: Attempt) -> Need[bool]:
    _, found = yield from attempt.src.glance(attempt.row.body_close + attempt.call_close)
    return bool(found)


# ── arguments ────────────────────────────────────────────────────────────────


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
    found = object_at(src.buf, src.pos)
    if found is None or not wanted(draft.tool).fit(found[0]) or not reader.would_end(found[2]):
        return False
    if not all(is_name(draft, key) for key in found[0]):
        return False
    draft.write(found[1])
    src.pos = found[2]
    return True


def members_of(draft: Draft, reader: Relaxed, form: Form) -> Need[None]:
    """The arguments between brackets, written to the draft."""
    yield from _Arguments(draft, reader, form).read()


class _Arguments:
    """One call's arguments, member by member; what is wrapped in a key of its own is unwrapped."""

    def __init__(self, draft: Draft, reader: Relaxed, form: Form) -> None:
        self.draft, self.reader, self.form, self.shape = draft, reader, form, draft.shape
        self.seen: set[str] = set()
        self.echo: dict[str, str] = {}
        self.whole, self.how, self.named = "", "", False
        self.around = wrappers(draft)

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
        key = take_key(draft, key, seen)
        if key in ECHO and key not in seen and key not in self.echo and draft.tool is not None and not shape.has(key):
            self.echo[key] = yield from reader.captured()
            return
        if key in self.around and not seen and (yield from self._wrapped(key)):
            return
        if key in seen:
            reader.repeated = True
        elif (yield from reader.drops_null(key, shape)):
            return
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
        inner = unwrapped(json.loads(got), self.shape)
        if inner is None:
            self._key(key)
            self.draft.write(got)
        else:
            self.seen.add(key)
            self._take(inner, "unwrapped")
        return True

    def _take(self, inner: dict[str, Any], how: str) -> None:
        """All arguments stood in one object."""
        kept, absent = _present(inner, self.shape)
        kept, texts = _with_texts(kept, self.shape)
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


class _Object:
    """One call object, key by key."""

    def __init__(self, attempt: Attempt, args: JsonCall) -> None:
        self.a, self.args = attempt, args
        self.reader = Relaxed(attempt.src, stops=attempt.stops)
        self.reader.may_end = attempt.ends
        self.draft = attempt.new()
        self.name: Any = None
        self.id: Any = None
        self.held: str | None = None
        self.foreign: list[str] = []
        self.flat: dict[str, str] = {}
        self.several = self.keyed = False
        self.more: list[tuple[str, str]] = []
        self.answered = False

    def read(self) -> Need[None]:
        """Read the object and finish its draft."""
        reader = self.reader
        doubled = yield from reader._doubled()
        yield from self._members()
        if doubled:
            yield from reader._undouble()
        if self.several or self.answered:
            if self.answered and self.a.judge.strict and (self.name is not None or self.reader.edits):
                raise Mismatch
            return
        if self.name is None and not self._swallowed():
            raise Mismatch
        if self.flat and self.held is None and not self.draft.begun:
            self.held = "{" + ",".join(f"{quoted(k)}:{v}" for k, v in self.flat.items()) + "}"
            reader.note("flat")
        elif self.flat:
            self.foreign += self.flat
        if not self.draft.begun:
            yield from self._begin_late()
        if self.foreign and not self.draft.refusal:
            self._refuse_foreign()
        self.a.finish(self.draft, reader)
        for name, held in self.more:  # each key of the object is a call
            self.name, self.held, self.draft = name, held, self.a.new()
            yield from self._begin_late()
            reader.note("name_as_key", self.name)
            self.a.finish(self.draft, reader)

    def _swallowed(self) -> bool:
        """Did the arguments take in the name, since their bracket is missing?"""
        if self.held is None or all(edit.kind != "missing_bracket" for edit in self.reader.edits):
            return False
        value = json.loads(self.held)
        if not isinstance(value, dict):
            return False
        key = next((k for k in self.args.name if self.a.judge.known(str(value.get(k, "")))), None)
        if key is None:
            return False
        self.name = value.pop(key)
        self.held = json.dumps(value, ensure_ascii=False)
        return True

    def _members(self) -> Need[None]:
        try:
            yield from self.reader.members(self._member)
        except Cut:
            if self.name is not None and not self.draft.begun:
                self.a.begin(self.draft, self.name, self.id)
            raise

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
        if key in a.inside or (key in ENVELOPES and c == "{" and self.name is None and not a.inside):
            yield from reader.members(self._member)
        elif a.answer and key == a.answer[0] and not NULL.match((yield from reader.src.peek(5))):
            yield from self._answer(c)
        elif key in a.thought and c in "\"'“":
            self._thought(json.loads((yield from reader.captured())))
        elif key in a.name and self.name is None and c not in "{[":
            before = len(reader.edits)
            self.name = json.loads((yield from reader.captured(_NAME_SHAPE)))
            if any(e.kind == "coerced" for e in reader.edits[before:]):
                raise Broken("the tool's name is not a string")
        elif a.single_key and self.name is None and c == "{":
            self.name = key
            self.held = yield from reader.captured()
        elif key in a.args:
            yield from self._arguments(c)
        elif (key in a.id and self.name is None) or key in BENIGN:
            value = json.loads((yield from reader.captured()))
            if key in a.id:
                self.id = value
        elif key in LISTS and c == "[" and self.name is None:
            yield from self._list()
        elif self.keyed and c == "{" and self.a.judge.known(key):
            self.more.append((key, (yield from reader.captured())))
        elif self.name is None and not self.foreign and c == "{" and not a.inside and self.a.judge.known(key):
            self.name, self.keyed = key, True
            reader.note("name_as_key", key)
            self.held = yield from reader.captured()
        else:
            yield from self._foreign(key)

    def _foreign(self, key: str) -> Need[None]:
        if NULL.match((yield from self.reader.src.peek(5))):
            yield from self.reader.captured()  # it says nothing
            return
        wanted = self._property(key)
        if wanted is not None and key not in self.flat:
            self.flat[key] = yield from self.reader.captured(wanted)
            return
        if not self.a.row.strong or self.args.inside:
            raise Mismatch
        self.foreign.append(key[:40])
        yield from self.reader.captured()

    def _property(self, key: str) -> Shape | None:
        """What the tool that is called wants under this key, which stands beside its name; None where nothing."""
        judge = self.a.judge
        name = judge.resolve(self.name) if isinstance(self.name, str) and not self.draft.begun else None
        if name is None or self.held is not None or self.args.inside:
            return None
        wanted = shape(judge.declared[name].parameters)
        return wanted.property(key) if wanted.has(key) else None

    def _thought(self, text: str) -> None:
        if text:
            self.a.items.append(ReasoningDelta(text))
            self.a.items.append(PartEnded())
        self.a.judge.thought(self.draft, text)

    def _arguments(self, c: str) -> Need[None]:
        reader = self.reader
        if self.held is not None or self.draft.begun:
            raise Repeated("the arguments are given twice")
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
        unfit = isinstance(value, list | int | float) or (value is None and not self.a.judge.may_guess)
        if unfit and not self.a.row.strong:
            raise Mismatch
        self.a.begin(self.draft, self.name, self.id)
        shape = self.draft.shape
        edits: list[Edit] = []
        if isinstance(value, str):
            if value.strip():
                value, edits = decoded(value, shape)
                edits.insert(0, Edit("json_in_string"))
                value = {} if value is None else value
            else:
                value = {}
        elif value is None:
            value = {}
        if not isinstance(value, dict):
            raise Broken(f"the arguments are {_kind(value)}, not an object")
        value = self._opened(value)
        inner = _unwrap_late(value, self.draft)
        if inner is not None:
            value, edits = inner, [*edits, Edit("unwrapped")]
        value, more = coerce(value, shape)
        value, absent = _present(value, shape)
        value, texts = _with_texts(value, shape)
        self.draft.edits += [*edits, *more, *absent, *texts]
        self.draft.write(json.dumps(value, ensure_ascii=False))
        return
        yield

    def _opened(self, value: dict[str, Any]) -> dict[str, Any]:
        """The arguments in an envelope of their own, under the name: `{"f": {"id": …, "args": {…}}}`."""
        around = {*self.args.args, *self.args.id, *BENIGN}
        inner = [key for key in self.args.args if isinstance(value.get(key), dict)]
        if len(inner) != 1 or len(value) < 2 or not around.issuperset(value) or any(map(self.draft.shape.has, value)):
            return value
        self.draft.edits.append(Edit("unwrapped"))
        return dict(value[inner[0]])

    def _list(self) -> Need[None]:
        """`{"tool_calls": [ … ]}`: the envelope of another wire, written as text."""
        self.several = True
        yield from self.a.array()

    def _answer(self, c: str) -> Need[None]:
        """The protocol's final answer."""
        reader = self.reader
        value = json.loads((yield from reader.captured()))
        if isinstance(value, dict) and len(self.args.answer) > 1 and set(value) == {self.args.answer[1]}:
            value = value[self.args.answer[1]]
        elif self.a.judge.strict or not self.a.judge.asked_by_name:
            raise Mismatch
        self.answered = True
        if not self.a.judge.asked_by_name:
            raise Mismatch
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.a.items += [TextDelta(text), PartEnded({FINAL: value})]


def _present(value: dict[str, Any], shape: Shape) -> tuple[dict[str, Any], list[Edit]]:
    """The arguments without the optional ones that are null, where null means nothing else (as `drops_null`)."""
    kept = {key: held for key, held in value.items() if held is not None or not _is_absent(shape, key)}
    return kept, [Edit("null_dropped", "null")] if len(kept) < len(value) else []


def _is_absent(wanted: Shape, key: str) -> bool:
    """May null for this argument mean nothing but that it is not given?"""
    kinds = wanted.property(key).kinds
    return bool(kinds) and "null" not in kinds and key not in wanted.required


_NAME_SHAPE = shape({"type": "string"})


def _unwrap_late(value: dict[str, Any], draft: Draft) -> dict[str, Any] | None:
    if len(value) != 1:
        return None
    [(key, inner)] = value.items()
    if key not in wrappers(draft) or not isinstance(inner, dict | str):
        return None
    return unwrapped(inner, draft.shape)


def _with_texts(value: dict[str, Any], shape: Shape) -> tuple[dict[str, Any], list[Edit]]:
    """The arguments, with lists and objects that can be nothing but a text as their JSON."""
    edits: list[Edit] = []
    for key, held in value.items():
        wanted = shape.property(key)
        if wanted.kinds == TEXT and not wanted.enum and may_be_text(held):
            text, more = as_text(held)
            value, edits = {**value, key: text}, edits + more
    return value, edits


def _kind(value: Any) -> str:
    return {list: "a list", str: "a string", bool: "a boolean"}.get(type(value), "a number")


