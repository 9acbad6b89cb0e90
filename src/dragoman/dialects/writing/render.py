"""A dialect's row read backwards: calls as the text a model of that dialect would write.

Knows the record of `dialects/spec.py` and no dialect by name; knows nothing of parsing, judging or prompts.
Law: `parse(render(calls, d, tools=tools), dialects=[d], tools=tools)` gives the same names and arguments.  What a
notation cannot carry (a value that holds its own closer, a name its markup would cut) is written in another spelling of
the row where there is one, else `Unrenderable` is raised: nothing is ever written that would be read differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...errors import UsageError
from ...jsontext import dumps
from ...memo import TOOLS, memoize
from ...schema.validation import Shape, read_text, shape
from ...types import Json, JsonObject, Tool, ToolCall
from ..reading.arguments import literal
from ..reading.nesting import NAME_OVER, TAG_CLOSER
from ..reading.plain_argument import names_parameter
from ..rows.table import row_of
from ..spec import (
    AttributeArgs,
    BraceArgs,
    Dialect,
    ElementArgs,
    JsonArgs,
    JsonCall,
    KeywordArgs,
    Listing,
    TaggedArgs,
    TextArgs,
    Typing,
    YamlArgs,
    YamlCall,
)

Marked: TypeAlias = JsonArgs | KeywordArgs | BraceArgs | TaggedArgs | ElementArgs | YamlArgs | TextArgs

BARE_KEY = re.compile(r"[A-Za-z_][\w.$-]*")
CALLED = re.compile(r"[A-Za-z_$][\w.:$-]*")
"""A function's name as readers of Python's notation know it."""
SECTION = re.compile(r"\s*<!\[CDATA\[(?:(?!\]\]>).)*\]\]>\s*", re.DOTALL)
"""A text that a reader takes for the one in a section."""
ELEMENT = re.compile(r"[A-Za-z_][\w.-]*")
ATTRIBUTE = re.compile(r"[^\s\"'<>&=\\]+")
YAML_PLAIN = re.compile(r"(?!(?i:true|false|null|yes|no|on|off|y|n|nan|inf)$)[A-Za-z_][\w.-]*")
QUOTED_ENDS = ("'", "&apos;", "&#39;", "&#x27;")
"""What ends an attribute, and how escaped text spells that: one of these proves to a reader that all was escaped."""
NAME_IN_TAG = "{name}"
"""Stands for the tool's name in the call markup of families whose tag is the name."""
NO_CALL = (
    "calls must be ToolCalls, not {kind}; make them with `ToolCall(id=…, name=…, arguments={{…}})`, or from a body of "
    "an API with `decode_tool_calls(body, api)`"
)
NO_ARGUMENTS = "the arguments of the call {name!r} are {kind}, not a mapping; give them parsed: json.loads(arguments)"
HOLDS = "it holds {mark!r}, which would end it"
LOST_TYPE = "its schema would not give it back its type"


class Unrenderable(UsageError):
    """This dialect has no spelling for that call.  `dialect` is the row's name, `what` the part that does not fit."""

    dialect: str
    what: str

    def __init__(self, dialect: str, what: str, why: str) -> None:
        self.dialect, self.what = dialect, what
        super().__init__(
            f"dialect {dialect!r} cannot carry {what}: {why}; "
            "render it in a dialect with JSON arguments or send it natively"
        )


# ── calls ────────────────────────────────────────────────────────────────────


def render(
    calls: Iterable[ToolCall] | ToolCall,
    dialect: str | Dialect,
    *,
    tools: Sequence[Tool] | None = None,
    start: int = 0,
    thought: str = "",
) -> str:
    """`calls`, or a single one, as a model of `dialect` writes them; "" for none.

    dialect  the name of a row, or a row; `dragoman list dialects` lists the names
    tools    the tools the reader will have: notations without types of their own (XML-like parameters) need them to
             choose a spelling that is read back as the same value
    start    the number of calls before these in the conversation (Kimi counts them)
    thought  what stands before the first call, where the notation has a place for it

    Raises Unrenderable for a call the notation cannot write, UsageError for a dialect there is not and for what is no
    `ToolCall`.
    """
    dialect = row_of(dialect)
    calls = _checked(calls)
    if not calls:
        return ""
    schemas = None if tools is None else _schemas(tools)
    written = [
        _Writer(dialect, call, start + i, _shape_of(call, schemas), "" if i else thought).call_text()
        for i, call in enumerate(calls)
    ]
    text = _listed(written, dialect)
    return _first(dialect.section.open) + text + _first(dialect.section.close)


def _checked(calls: Any) -> Sequence[ToolCall]:
    if not isinstance(calls, Iterable) or isinstance(calls, str | Mapping):
        calls = (calls,)
    found = calls if isinstance(calls, list | tuple) else tuple(calls)
    for call in found:
        if not isinstance(call, ToolCall):
            raise UsageError(NO_CALL.format(kind=type(call).__name__))
        if not isinstance(call.name, str):
            raise UsageError(f"a call's name is a text, not {type(call.name).__name__}; give the name of a tool")
        if not isinstance(call.arguments, Mapping):
            raise UsageError(NO_ARGUMENTS.format(name=call.name, kind=type(call.arguments).__name__))
    return found


@memoize(TOOLS)
def _schemas(tools: Sequence[Tool]) -> Mapping[str, JsonObject]:
    """The schemas of arguments, by the names of the tools."""
    return {tool.name: tool.parameters for tool in tools}


def _shape_of(call: ToolCall, schemas: Mapping[str, JsonObject] | None) -> Shape | None:
    return None if schemas is None else shape(schemas.get(call.name))


def _listed(written: Sequence[str], dialect: Dialect) -> str:
    between = _first(dialect.between)
    if dialect.listing is Listing.ARRAY:
        return "[" + (between if "," in between else ", ").join(written) + "]"
    return between.join(written)


@dataclass(frozen=True, slots=True)
class _Writer:
    """One call on its way to text.  `shape` is that of the arguments, None where the tools are not known."""

    dialect: Dialect
    call: ToolCall
    index: int
    shape: Shape | None
    thought: str

    def refuse(self, what: str, why: str) -> Unrenderable:
        return Unrenderable(self.dialect.name, f"{what} of {self.call.name!r}", why)

    def call_text(self) -> str:
        match self.dialect.args:
            case JsonCall() as notation:
                inside = self.json_call(notation)
            case YamlCall() as notation:
                inside = self.yaml_call(notation)
            case AttributeArgs() as notation:
                inside = self.attribute_call(notation)
            case notation:
                inside = self.marked_call(self.argument_text(notation))
        return self.opened + inside + self.closed

    @property
    def opened(self) -> str:
        """What begins the call; in families whose tag is the name, with the name in it."""
        return _first(self.dialect.call.open).replace(NAME_IN_TAG, self.call.name)

    @property
    def closed(self) -> str:
        """What ends the call."""
        return _first(self.dialect.call.close).replace(NAME_IN_TAG, self.call.name)

    def argument_text(self, notation: Marked) -> str:
        match notation:
            case JsonArgs():
                return self.json(self.call.arguments)
            case YamlArgs():
                return "\n".join(map(self.yaml_member, self.call.arguments)) or "{}"
            case TextArgs():
                return self.only_text()
            case KeywordArgs():
                return "(" + ", ".join(f"{_key(k)}={_python(v)}" for k, v in self.arguments()) + ")"
            case BraceArgs():
                return "{" + ",".join(f"{_key(k)}:{self.brace(v, k, notation)}" for k, v in self.arguments()) + "}"
            case TaggedArgs():
                return "".join(self.tagged(k, v, notation) for k, v in self.arguments())
            case ElementArgs():
                return "".join(self.element(k, v, notation, self.shape_of(k)) for k, v in self.arguments())

    def arguments(self) -> Iterator[tuple[str, Json]]:
        """The arguments, each proved to be JSON."""
        for key, value in self.call.arguments.items():
            self.json(value)
            yield key, value

    def only_text(self) -> str:
        """The one argument, as the text it is."""
        values = list(self.call.arguments.values())
        keys = self.shape.keys if self.shape is not None else ()
        if len(values) != 1 or not isinstance(values[0], str) or (keys and tuple(self.call.arguments) != keys):
            raise self.refuse("the arguments", "it holds one text and nothing else")
        if values[0] != values[0].strip() or not values[0] or _cuts(values[0], self.ends()):
            raise self.refuse("the argument", "the markup around it would change it")
        if self.shape is not None and names_parameter(values[0], self.shape):
            raise self.refuse("the argument", "the markup around it would change it")
        return values[0]

    def ends(self) -> tuple[str, ...]:
        """What ends the arguments."""
        return _bare((*self.dialect.body.close, self.closed))

    def shape_of(self, key: str) -> Shape | None:
        return None if self.shape is None else self.shape.property(key)

    def json(self, value: Any) -> str:
        try:
            return dumps(value)
        except (TypeError, ValueError) as why:
            raise self.refuse("an argument", f"{why}, so it is not JSON") from None

    # ── name and arguments in one object ─────────────────────────────────────

    def json_call(self, notation: JsonCall) -> str:
        call = self.call
        if notation.single_key:
            return self.json({call.name: call.arguments})
        body: dict[str, Any] = {notation.name[0]: call.name, notation.args[0]: call.arguments}
        if notation.id and call.id and _shows_ids(self.dialect, notation.id[0]):
            body = {notation.id[0]: call.id, **body}
        for key in reversed(notation.inside):
            body = {key: body}
        if notation.thought and self.thought:
            body = {notation.thought[0]: self.thought, **body}
        return self.json(body)

    def yaml_call(self, notation: YamlCall) -> str:
        head = f"{notation.name[0]}: {_scalar(self.call.name)}\n{notation.args[0]}:"
        if not self.call.arguments:
            return head + " {}"
        return head + "".join(f"\n  {self.yaml_member(key)}" for key in self.call.arguments)

    def yaml_member(self, key: str) -> str:
        """One argument on a line, the call's closer escaped where it stands in it."""
        return _escaped(f"{_scalar(key)}: {self.json(self.call.arguments[key])}", self.ends())

    def attribute_call(self, notation: AttributeArgs) -> str:
        if not ATTRIBUTE.fullmatch(self.call.name):
            raise self.refuse("the name", "it does not fit into an attribute")
        written = _escaped(self.json(self.call.arguments), QUOTED_ENDS)
        return f'{notation.name[0]}="{self.call.name}" {notation.args[0]}=\'{written}\''

    # ── name in the markup, arguments after it ───────────────────────────────

    def marked_call(self, arguments: str) -> str:
        row = self.dialect
        rest = _first(row.body.open) + arguments + _first(row.body.close)
        if NAME_IN_TAG in _first(row.call.open):
            if not ELEMENT.fullmatch(self.call.name):
                raise self.refuse("the name", "it is no element name")
            return rest
        name = self.name_text()
        end = self.name_end(rest + self.closed)
        return _first(row.tool.open) + name + end + rest

    def name_text(self) -> str:
        """The name as the markup writes it, proved to be read back as the same name."""
        row, call = self.dialect, self.call
        own = re.fullmatch(row.tool_re, call.id, re.DOTALL) if call.id else None
        kept = own is not None and own.groupdict().get("id") == call.id and own["name"] == call.name
        escaped = isinstance(row.args, TaggedArgs) and row.args.attributes
        name = _attribute(call.name) if escaped else call.name
        written = call.id if kept else row.tool_form.format(name=name, id=call.id, index=self.index)
        read = re.fullmatch(row.tool_re, written, re.DOTALL)
        ends = _bare(row.tool.close) or ("(" if isinstance(row.args, KeywordArgs) else "{",)
        if read is None or read["name"].strip() != name or any(e in written for e in ends):
            raise self.refuse("the name", "the markup around it would cut it")
        if isinstance(row.args, KeywordArgs) and not CALLED.fullmatch(written):
            raise self.refuse("the name", "no function of Python is called so")
        return written

    def name_end(self, rest: str) -> str:
        """What ends the name: the first spelling that is either already the beginning of `rest` (and is not written
        twice) or is nobody's beginning.

        `tool.close` may list what begins the arguments or closes the call (GLM's `<arg_key>`, Gemma's brace).
        """
        row = self.dialect
        begins = {"{", "(", *_bare(row.body.open), *_bare(row.call.close), *_bare(row.section.close)}
        if isinstance(row.args, TaggedArgs):
            begins |= {*_bare(row.args.key.open)}
        for written, bare in zip(row.tool.close, _bare(row.tool.close), strict=True):
            if rest.startswith((bare, written)):
                return ""
            if bare not in begins:
                return written
        return ""

    def brace(self, value: Json, key: str, notation: BraceArgs) -> str:
        if isinstance(value, Mapping):
            return "{" + ",".join(f"{_key(k)}:{self.brace(v, k, notation)}" for k, v in value.items()) + "}"
        if isinstance(value, list | tuple):
            return "[" + ",".join(self.brace(v, key, notation) for v in value) + "]"
        if not isinstance(value, str):
            return dumps(value)
        for quote in notation.quotes:
            if len(quote) == 1:
                return dumps(value)
            if quote not in value:
                return quote + value + quote
        raise self.refuse(f"the argument {key!r}", f"it holds the quote {notation.quotes[0]!r}, which has no escape")

    # ── arguments that are markup ────────────────────────────────────────────

    def tagged(self, key: str, value: Json, notation: TaggedArgs) -> str:
        spelt = _attribute(key) if notation.attributes else key
        if not key or key != key.strip(" \t\r\n\"'") or _holds(spelt, _bare(notation.key.close)):
            raise self.refuse(f"the key {key!r}", "the markup around it would cut it")
        marks = self.value_marks(notation)
        written = list(self.spellings(key, value, notation, marks))
        for end, text in written:
            if not _cuts(text, marks):
                opened = _first(notation.key.open) + spelt + end + _first(notation.value.open)
                closed = _first(notation.value.close)
                return opened.rstrip() + notation.trim + text + notation.trim + closed.lstrip()
        held = [mark for mark in marks if any(_holds(text, (mark,)) for _, text in written)]
        raise self.refuse(f"the argument {key!r}", HOLDS.format(mark=held[0]) if held else LOST_TYPE)

    def value_marks(self, notation: TaggedArgs) -> tuple[str, ...]:
        """What ends a raw value, also where its own closer is missing: the next key, the end of body or section.

        And what opens one: that closes with the value's own closer, wherever it stands alone.
        """
        row = self.dialect
        ends = (*(row.body.close or row.call.close), *row.section.close)
        marks = _bare((*notation.value.close, *notation.value.open, *notation.key.open, *ends))
        tags = filter(None, map(TAG_CLOSER.fullmatch, _bare(notation.value.close)))
        return (*marks, *(f"<{tag['name']}{over}" for tag in tags for over in sorted(NAME_OVER)))

    def spellings(
        self, key: str, value: Json, notation: TaggedArgs, marks: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """Ways to write one value, best first: how its key ends, and the text."""
        known, written = self.shape_of(key), _xml if notation.entities else str
        as_json = _escaped(self.json(value), marks)
        texts = (value, as_json) if isinstance(value, str) else (as_json,)
        ends = [(flag, Typing.TEXT) for flag in notation.raw_flag[:1] if isinstance(value, str)]
        ends += [(flag, Typing.LITERAL) for flag in notation.json_flag[:1]]
        for end, typing in (*ends, (_first(notation.key.close), notation.typing)):
            trusted = known is None and typing is notation.typing is Typing.TEXT and not isinstance(value, str)
            yield from ((end, written(t)) for t in texts if trusted or _same(_read(t, known, typing), value))

    def element(self, key: str, value: Json, notation: ElementArgs, known: Shape | None) -> str:
        if not ELEMENT.fullmatch(key):
            raise self.refuse(f"the key {key!r}", "it is no element name")
        inside = self.element_text(key, value, notation, known)
        return f"{notation.prefix}<{key}>{inside}{notation.prefix}</{key}>"

    def element_text(self, key: str, value: Json, notation: ElementArgs, known: Shape | None) -> str:
        children = list(self.children(value, notation, known))
        if children:
            try:
                return "".join(self.element(k, v, notation, s) for k, v, s in children)
            except Unrenderable:
                pass  # a child loses its type as an element; as JSON the whole keeps it, where the schema says so
        closer, written = f"{notation.prefix}</{key}>", _xml if notation.entities else str
        as_json = self.json(value)
        trusted = known is None and notation.typing is Typing.TEXT and not isinstance(value, str)
        marks = (f"{notation.prefix}<" if notation.nested else closer, *self.ends())
        for text in (value, as_json) if isinstance(value, str) else (_escaped(as_json, marks),):
            if _cuts(written(text), marks):
                continue
            if trusted or _same(_read(text, known, notation.typing), value):
                return _padded(written(text), notation.trim)
        raise self.refuse(f"the argument {key!r}", f"it holds {closer!r}" if closer in as_json else LOST_TYPE)

    def children(
        self, value: Json, notation: ElementArgs, known: Shape | None
    ) -> Iterator[tuple[str, Json, Shape | None]]:
        """The elements a value is told by: an object's members, an array's items where the schema tells an array."""
        if notation.nested and isinstance(value, Mapping):
            yield from ((k, v, known.property(k) if known else None) for k, v in value.items())
        elif notation.nested and isinstance(value, list | tuple) and known and "array" in known.kinds:
            yield from (("item", v, known.item) for v in value)


# ── small spellings ──────────────────────────────────────────────────────────


def _first(spellings: Sequence[str]) -> str:
    return spellings[0] if spellings else ""


def _bare(spellings: Sequence[str]) -> tuple[str, ...]:
    """Spellings as the parser looks for them: without the white space at their ends, which it does not demand."""
    return tuple(s.strip() or s for s in spellings if s)


def _holds(text: str, markers: Sequence[str]) -> bool:
    folded = text.casefold()
    return any(m.casefold() in folded for m in markers)


def _cuts(text: str, markers: Sequence[str]) -> bool:
    """Would a reader end the text at a mark in it, or take it for the section that holds it?"""
    return _holds(text, markers) or SECTION.fullmatch(text) is not None


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    return _xml(text).replace('"', "&quot;")


def _padded(text: str, trim: str) -> str:
    """`text` with `trim` on both ends, if its own ends would otherwise be taken for it."""
    return trim + text + trim if trim and (text.startswith((trim, "\r")) or text.endswith(trim)) else text


def _shows_ids(dialect: Dialect, key: str) -> bool:
    """Do calls of this dialect carry ids?  Where its results name them, or its own sample shows one."""
    return "{id}" in dialect.result or f'"{key}"' in dialect.sample


def _key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else dumps(key)


def _scalar(text: str) -> str:
    return text if YAML_PLAIN.fullmatch(text) else dumps(text)


def _python(value: Json) -> str:
    """A Python literal; strings in JSON's escapes, which Python shares."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{dumps(k)}: {_python(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_python, value)) + "]"
    return str(value) if value is None or isinstance(value, bool) else dumps(value)


def _escaped(json_text: str, markers: Sequence[str]) -> str:
    """The same JSON with every marker's first character written as an escape; markers inside strings only."""
    for marker in markers:
        found = re.compile(re.escape(marker), re.IGNORECASE)
        json_text = found.sub(lambda m: f"\\u{ord(m[0][0]):04x}{m[0][1:]}", json_text)
    return json_text


def _read(text: str, known: Shape | None, typing: Typing) -> Any:
    """What a reader makes of a raw value: by the schema where it says something, else by the notation."""
    if known is not None and (known.kinds or known.enum):
        return read_text(text, known)[0]
    return text if typing is Typing.TEXT else literal(text)



def _same(a: Any, b: Any) -> bool:
    """Equal as JSON: a boolean is no number."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b)
