"""Calls written as JSON: one object with name and arguments, or a name in markup and a JSON object after it.

Reads through `Relaxed`, so every spelling it mends is mended here too; aliases of keys come from the row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ...events import PartEnded, ReasoningDelta, TextDelta
from ...late import late
from ...lenient.bare_words import NULL
from ...lenient.notation import Broken, Cut, Repeated
from ...lenient.quoting import quoted
from ...lenient.reader import Relaxed, decoded
from ...lenient.source import Need, Source
from ...schema.validation import Shape, coerce, shape
from ...types import Edit, IssueKind
from ..judge.candidate import Draft
from ..judge.judge import is_definition
from ..spec import JsonCall, Listing, Strength
from .arguments import is_wrapper, take_keys, unwrapped
from .arguments_object import arguments_object, present, with_texts
from .beside import FIELDS, says_nothing, tells_result
from .call import MAX_NAME, Attempt, Mismatch
from .clean_call import clean_call
from .code_argument import code_argument, refuse_code
from .keys import MEMBER, MEMBER_BEGUN

LISTS = ("tool_calls", "calls", "tool_uses", "function_calls", "toolCalls", "tools_call")
"""Keys of another wire's envelope, written as text."""
ENVELOPES = frozenset({"function", "tool_call", "function_call", "tool_use", "functionCall", "toolUse", *LISTS})
"""Keys of an object that is the call."""
FENCE = late(r"(?P<fence>`{3,}|~{3,})[\w-]*[ \t]*\n\s*(?=[\[{])")
PAIR = late(r"(?P<open>\(?)\s*([\"'])(?P<name>[\w$][\w.\-:/\\]*)\2\s*,\s*(?=\{)")
"""A name in quotes and an object behind it, perhaps as a tuple."""
SCHEMA_KEY = "parameters"
"""Under this key definitions of tools have the schema of their arguments."""
SCHEMA = late(r'\{\s*"(?:type"\s*:\s*"object"|properties"\s*:\s*\{)')
SCHEMA_BEGUN = late(r'\{\s*(?:"[a-z]{0,10}(?:"[\s:"a-z]{0,16})?)?\Z')
"""Text that may go on as one."""
FINAL = "final"
IDENTIFIER = late(r"(?:call|toolu|fc|tool_call|chatcmpl-tool)[_-][\w-]+|\d+")
"""The id of a call, as servers and models make them; it stands where the name should where a history had such ids."""
NAMED_INSIDE = JsonCall(id=())
TOLD_INSIDE = late(r'\{\s*"name"\s*:\s*"(?P<name>[\w.:/-]{1,128})"')
TOLD_BEGUN = late(r'\{\s*(?:"[name]{0,4}(?:"\s*(?::\s*(?:"[\w.:/-]{0,128})?)?)?)?\Z')
"""Text that may go on as one."""


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
        if c != "{" and (yield from src.peek()) != "{":
            if not (yield from _quoted_object(attempt)):
                raise Mismatch
        elif attempt.row.call_open and (yield from code_argument(attempt)):
            return
        elif not clean_call(attempt, args):
            yield from _Object(attempt, args).read()
        if attempt.row.call_open:
            yield from refuse_code(attempt)
        if not attempt.row.call_open or attempt.spec.listing is Listing.ARRAY:
            return
        size, found = yield from src.glance(("{",), (",", ";"))
        if not found:
            return
        src.pos += size - 1
        c = "{"


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
    c, fence = yield from _opened(attempt)
    if c == "{" and IDENTIFIER.fullmatch(name) and not attempt.judge.known(name) and (yield from _names_tool(attempt)):
        yield from _Object(attempt, NAMED_INSIDE, name).read()
        yield from attempt.closing(attempt.row.body_close)
        return
    if c not in {"{", '"', ""} and not (attempt.row.closer_needed and (yield from _bodiless(attempt))):
        raise Mismatch
    if not c and not attempt.row.strong:
        raise Mismatch
    attempt.begin(draft, name, call_id)
    reader = Relaxed(attempt.src, stops=attempt.stops)
    if c == "{":
        yield from arguments_object(attempt, draft, reader)
    elif c == '"':
        text = json.loads((yield from reader.captured()))
        _write(draft, *_decoded(text, draft.shape))
    elif not c:
        raise Cut
    else:
        draft.write("{}")
    if fence and (yield from attempt.closing((fence,))):
        reader.note("fenced")
    attempt.finish(draft, reader)
    if not (yield from attempt.closing(attempt.row.body_close)):
        yield from _refuse_cut(attempt, draft)


def _refuse_cut(attempt: Attempt, draft: Draft) -> Need[None]:
    """Another argument behind the end of the object is one of the call's own."""
    if (yield from attempt.src.match(MEMBER, MAX_NAME, MEMBER_BEGUN)) is not None:
        why = "an argument stands behind the end of the arguments: a bracket is one too many"
        draft.refuse(IssueKind.MALFORMED, why, attempt.judge.correction(draft, why))


def _names_tool(attempt: Attempt) -> Need[bool]:
    """Does the object that stands here begin with a declared tool's name?"""
    found = yield from attempt.src.match(TOLD_INSIDE, MAX_NAME, TOLD_BEGUN)
    return found is not None and attempt.judge.known(found["name"])


def _opened(attempt: Attempt) -> Need[tuple[str, str]]:
    """The sign with which the arguments begin, and the fence that opens before it; a quote is that of an object in a
    string."""
    src, marked = attempt.src, attempt.spec.strength is not Strength.WEAK
    c = yield from src.peek()
    fence = (yield from src.match(FENCE, 40)) if c and c in "`~" and marked else None
    if fence is not None:
        src.pos = fence.end()
        c = yield from src.peek()
    if c == '"' and not (marked and (yield from src.peek(2)) == '"{'):
        c = "?"
    return c, fence["fence"] if fence else ""


def _bodiless(attempt: Attempt) -> Need[bool]:
    _, found = yield from attempt.src.glance(attempt.row.body_close + attempt.call_close)
    return bool(found)


class _Object:
    """One call object, key by key."""

    def __init__(self, attempt: Attempt, args: JsonCall, call_id: str | None = None) -> None:
        self.a, self.args = attempt, args
        self.reader = Relaxed(attempt.src, stops=attempt.stops)
        self.reader.may_end = None if attempt.row.strong else attempt.ends
        self.draft = attempt.new()
        self.name: Any = None
        self.id: Any = call_id
        self.held: str | None = None
        self.foreign: dict[str, str] = {}
        self.beside: dict[str, str] = {}
        self.flat: dict[str, str] = {}
        self.outside: list[str] = []
        self.several = self.keyed = self.unwrapped = False
        self.defines = False  # may the arguments be the schema of them?
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
        self._claim_beside()
        if self.flat and self.held is None and not self.draft.begun:
            self.held = "{" + ",".join(f"{quoted(k)}:{v}" for k, v in self.flat.items()) + "}"
            reader.note("flat")
        elif self.flat:
            self.foreign |= self.flat
        if not self.draft.begun:
            yield from self._begin_late()
        if self.foreign and not self.draft.refusal:
            self._refuse_foreign()
        elif self.outside and not self.draft.refusal:
            self._refuse_outside(self.outside)
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
        self._refuse_outside(self.foreign)

    def _refuse_outside(self, keys: Iterable[str]) -> None:
        fields = ", ".join(key[:40] for key in keys)
        self.draft.refuse(
            IssueKind.MALFORMED,
            f"fields stand outside the arguments: {fields}",
            self.a.judge.correction(self.draft, f"put {fields} inside the arguments object"),
        )

    def _refuse_record(self, why: str) -> None:
        """What has a tool's name in it, and is no call."""
        if not self.a.row.strong:
            raise Mismatch
        self.draft.refuse(IssueKind.MALFORMED, why, self.a.judge.correction(self.draft, why))

    def _claim_beside(self) -> None:
        """What stands beside the name and is an argument of the tool by its key: part of a call that has no object for
        its arguments, else refused where they do not give it."""
        judge = self.a.judge
        name = judge.resolve(self.name) if isinstance(self.name, str) and not self.keyed else None
        if name is None:
            return
        wanted, beside = shape(judge.declared[name].parameters), {k: json.loads(v) for k, v in self.beside.items()}
        if self.defines and is_definition(json.loads(self.held or "null"), wanted.keys):
            self._refuse_record("a tool is defined here, not called")
        if self.args.inside:
            return
        if (by := tells_result(beside)) and not wanted.has(by):
            self._refuse_record("this is the result of a call, and none")
        told = {k: self.beside[k] for k, v in beside.items() if wanted.has(k) and not says_nothing(k, v, beside)}
        if self.held is None and not self.draft.begun:
            self.flat |= {**told, **{k: v for k, v in self.foreign.items() if wanted.has(k)}}
            self.foreign = {k: v for k, v in self.foreign.items() if k not in self.flat}
        elif told and not self.draft.refusal:
            given = json.loads(self.draft.text() if self.held is None else self.held)
            self.outside = [key for key in told if not (isinstance(given, dict) and key in given)]

    def _member(self, key: str) -> Need[None]:
        a, reader = self.args, self.reader
        c = yield from reader.blank()
        key = self._in_small(key)
        if key in a.inside or (key in ENVELOPES and c == "{" and self.name is None and not a.inside):
            self.beside = {}
            yield from reader.members(self._member)
            self.unwrapped = True
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
            yield from self._arguments(c, key)
        elif (key in a.id and self.name is None) or key in FIELDS:
            written = yield from reader.captured()
            if not self.unwrapped:
                self.beside.setdefault(key, written)
            if key in a.id:
                self.id = json.loads(written)
        elif key in LISTS and c == "[" and self.name is None:
            yield from self._list()
        elif not (c == "{" and self.a.judge.known(key) and (yield from self._named_by(key))):
            yield from self._foreign(key)

    def _in_small(self, key: str) -> str:
        """A key of the call itself, however large its letters are."""
        a, small = self.args, key.casefold()
        if small == key or not (small in a.args or (small in a.name and self.name is None)) or self._property(key):
            return key
        self.reader.note("key", key[:80], small)
        return small

    def _named_by(self, key: str) -> Need[bool]:
        """A tool's name is the key of its arguments: those of the call, or of one more.  False: it is no such key."""
        if self.keyed:
            self.more.append((key, (yield from self.reader.captured())))
            return True
        if self.name is not None or self.foreign or self.args.inside:
            return False
        self.name, self.keyed = key, True
        self.reader.note("name_as_key", key)
        self.held = yield from self.reader.captured()
        return True

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
        self.foreign[key] = yield from self.reader.captured()

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

    def _arguments(self, c: str, key: str) -> Need[None]:
        reader = self.reader
        if self.held is not None or self.draft.begun:
            raise Repeated("the arguments are given twice")
        if key == SCHEMA_KEY and (yield from reader.src.match(SCHEMA, MAX_NAME, SCHEMA_BEGUN)) is not None:
            self.held, self.defines = (yield from reader.captured()), True
        elif self.name is not None and c == "{":
            self.a.begin(self.draft, self.name, self.id)
            yield from arguments_object(self.a, self.draft, reader)
        else:
            self.held = yield from reader.captured()

    def _begin_late(self) -> Need[None]:
        """The arguments came before the name, as a string, or not at all."""
        value = json.loads(self.held) if self.held is not None else None
        if self.held is None and not self.a.judge.bare_name(self.a.row.strong, str(self.name)):
            raise Mismatch
        if self.held is None and any(edit.kind == "missing_bracket" for edit in self.reader.edits):
            self.a.begin(self.draft, self.name, self.id)
            raise Cut  # where the bracket is missing, the arguments may be, too
        unfit = isinstance(value, list | int | float) or (value is None and not self.a.judge.may_guess)
        if unfit and not self.a.row.strong:
            raise Mismatch
        self.a.begin(self.draft, self.name, self.id)
        if self.reader.repeated and self.held is not None:
            self.a.refuse_repeated(self.draft, self.held)
        shape = self.draft.shape
        edits: list[Edit] = []
        if isinstance(value, str):
            value, edits = _decoded(value, shape)
        elif value is None:
            value = {}
        if not isinstance(value, dict):
            raise Broken(f"the arguments are {_kind(value)}, not an object")
        value = self._opened(value)
        inner = _unwrap_late(value, self.draft)
        if inner is not None:
            value, edits = inner, [*edits, Edit("unwrapped")]
        _write(self.draft, value, edits)
        return
        yield

    def _opened(self, value: dict[str, Any]) -> dict[str, Any]:
        """The arguments in an envelope of their own, under the name: `{"f": {"id": …, "args": {…}}}`."""
        around = {*self.args.args, *self.args.id, *FIELDS}
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


_NAME_SHAPE = shape({"type": "string"})


def _decoded(text: str, shape: Shape) -> tuple[Any, list[Edit]]:
    """The arguments that stand in a string; none in an empty one."""
    if not text.strip():
        return {}, []
    value, edits = decoded(text, shape)
    return {} if value is None else value, [Edit("json_in_string"), *edits]


def _write(draft: Draft, value: Any, edits: list[Edit]) -> None:
    """Arguments that came whole, as the schema has them."""
    if not isinstance(value, dict):
        raise Broken(f"the arguments are {_kind(value)}, not an object")
    value, more = coerce(take_keys(draft, value), draft.shape)
    value, absent = present(value, draft.shape)
    value, texts = with_texts(value, draft.shape)
    draft.edits += [*edits, *more, *absent, *texts]
    draft.write(json.dumps(value, ensure_ascii=False))


def _unwrap_late(value: dict[str, Any], draft: Draft) -> dict[str, Any] | None:
    if len(value) != 1:
        return None
    [(key, inner)] = value.items()
    if not is_wrapper(draft, key) or not isinstance(inner, dict | str):
        return None
    return unwrapped(inner, draft.shape)


def _kind(value: Any) -> str:
    return {list: "a list", str: "a string", bool: "a boolean"}.get(type(value), "a number")


