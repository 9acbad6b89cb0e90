"""Prompts and messages as the weak model understands them.

It gets a conversation as plain messages and finds in it: the tools and the call form that the system prompt shows, the
calls it made itself (in its own text), and the results that came back.  It reads as a weak model would, from the
look of the text; it knows no request fields and no wire.

Contract: never raises on what stands in a message; what is not understood is not seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..dialects import DIALECTS
from ..dialects.engine.parse import parse
from ..dialects.rows.documents import TILDE_FENCE
from ..dialects.rows.nonce import with_nonce
from ..dialects.spec import AttributeArgs, Dialect, JsonCall, TaggedArgs, YamlCall
from ..dialects.writing.history import DEFAULT_RESULT
from ..dialects.writing.prompt import EXAMPLE, LIST_HEAD
from ..dialects.writing.render import Unrenderable, render
from ..types import JsonObject, Tool, ToolCall
from .plans import Offer, PastCall

_ITEM = re.compile(
    r"^(?P<margin>[ \t]*)[-*][ \t]+(?P<tick>`?)(?P<name>[A-Za-z_][\w.:/-]*)(?P=tick)(?P<rest>[^\n]*)", re.MULTILINE
)
_SCHEMA = re.compile(r"^[ \t]*Schema:[ \t]*(?=\{)", re.MULTILINE)
_SIGNATURE = re.compile(r"\((?P<inside>[^()]*)\)")
_NONCE = re.compile(r"(?P<fence>(?:~~~|```)\w+):(?P<nonce>[A-Za-z0-9]{4,32})")
_FAILED = re.compile(r"\s*\[ERROR\b")
_CORRECTION = re.compile(r"^(?:\d+\. )?\[ERROR\b", re.MULTILINE)
_KINDS = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_DEFINITION_KEYS = ("parameters", "input_schema", "inputSchema")


# ── the system prompt ────────────────────────────────────────────────────────


@lru_cache(maxsize=64)
def offers(prompt: str) -> tuple[Offer, ...]:
    """The tools a prompt lists, each once, in order: as a list with schemas or signatures, or as JSON definitions."""
    found = [*_listed(prompt), *_defined(prompt)]
    return tuple({o.name: o for o in reversed(found)}.values())[::-1]


def _listed(prompt: str) -> Iterator[Offer]:
    """Items of a list: a name with a schema on a line of its own, with a signature, or with a description only."""
    listing = prompt.rpartition(LIST_HEAD)[2]
    items = list(_ITEM.finditer(listing))
    margin = min((len(item["margin"]) for item in items), default=0)
    items = [item for item in items if len(item["margin"]) == margin]  # lists in descriptions stand further in
    ends = (*(item.start() for item in items[1:]), len(listing))
    for item, end in zip(items, ends, strict=False):
        rest = item["rest"].lstrip()
        if schema := _SCHEMA.search(listing, item.end(), end):
            yield _offer(item["name"], _json(listing[schema.end() : end]))
        elif signature := _SIGNATURE.match(rest):
            yield _signed(item["name"], signature["inside"])
        elif rest.startswith(("—", "-", ":")):
            yield Offer(item["name"])


def _signed(name: str, inside: str) -> Offer:
    pairs = [pair.partition(":")[::2] for pair in inside.split(",") if pair.strip()]
    properties = {key.strip().rstrip("?"): _kind(kind.strip()) for key, kind in pairs}
    return Offer(name, properties, tuple(key.strip() for key, _ in pairs if not key.strip().endswith("?")))


def _kind(word: str) -> JsonObject:
    if word.endswith("[]"):
        return {"type": "array"}
    return {"type": word} if word in _KINDS else {}


def _defined(prompt: str) -> Iterator[Offer]:
    for line in re.finditer(r"^[ \t\[]*(?P<object>\{.*)$", prompt, re.MULTILINE):
        definition = _json(line["object"])
        inner = definition.get("function", definition)
        key = next((k for k in _DEFINITION_KEYS if isinstance(inner, dict) and k in inner), "")
        if key and isinstance(inner.get("name"), str):
            yield _offer(inner["name"], inner[key])


def _offer(name: str, schema: object) -> Offer:
    fields = schema if isinstance(schema, dict) else {}
    properties, required = fields.get("properties"), fields.get("required")
    return Offer(
        name,
        {k: v for k, v in properties.items() if isinstance(v, dict)} if isinstance(properties, dict) else {},
        tuple(k for k in required if isinstance(k, str)) if isinstance(required, list) else (),
    )


def _json(text: str) -> JsonObject:
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


@lru_cache(maxsize=64)
def shown_dialect(prompt: str) -> Dialect | None:
    """The call form a prompt shows: the row whose own example stands in it, else the row whose whole markup does.

    Of several the one that says most; the nonce the prompt demands is part of the row.
    """
    plain = _NONCE.sub(lambda m: m["fence"], prompt)
    rows = list(dict.fromkeys(DIALECTS.values()))
    shown = [(len(text), row) for row in rows if (text := _example(row)) and text in plain] or [
        (sum(map(len, markup)), row) for row in rows if (markup := _markup(row)) and all(m in plain for m in markup)
    ]
    if not shown:
        return None
    row, demanded = max(shown, key=lambda pair: pair[0])[1], _NONCE.search(prompt)
    return with_nonce(row, demanded["nonce"]) if demanded and row.call.open[:1] == TILDE_FENCE.call.open[:1] else row


@lru_cache(maxsize=256)
def _example(row: Dialect) -> str:
    try:
        return render([EXAMPLE], row).strip()
    except Unrenderable:  # a dialect that cannot carry the example's arguments is not shown by one
        return ""


def _markup(row: Dialect) -> tuple[str, ...]:
    spans = (row.section, row.call, row.tool, row.body)
    pieces = [spelling.strip() for span in spans for spelling in (*span.open[:1], *span.close[:1])]
    match row.args:
        case JsonCall(single_key=False) as notation:
            pieces += [f'"{key}"' for key in (*notation.inside[:1], notation.name[0], notation.args[0])]
        case AttributeArgs() as notation:
            pieces += [f"{notation.name[0]}=", f"{notation.args[0]}="]
        case YamlCall() as notation:
            pieces += [f"{notation.name[0]}:", f"{notation.args[0]}:"]
        case TaggedArgs() as notation:
            pieces += [s.strip() for span in (notation.key, notation.value) for s in (*span.open[:1], *span.close[:1])]
        case _:
            pass
    return tuple(piece for piece in pieces if piece)


# ── calls made and results come back ─────────────────────────────────────────


def own_calls(text: str, dialects: Sequence[Dialect], tools: tuple[Tool, ...] | None) -> tuple[ToolCall, ...]:
    """The calls in a past message of the model itself, by the first of its forms that holds any.

    `tools` None takes any name for a tool's.
    """
    found = (parse(text, dialects=[dialect], tools=tools).calls for dialect in dialects)
    return next(filter(None, found), ())


def as_tools(offered: Sequence[Offer]) -> tuple[Tool, ...]:
    """The offers as tools: to write and read notations that take their types from a schema."""
    return tuple(
        Tool(name=o.name, parameters={"type": "object", "properties": o.properties, "required": list(o.required)})
        for o in offered
    )


def results(text: str, dialect: Dialect) -> tuple[tuple[str, ...], str]:
    """The tool results in a message that came back, in order (() when it holds none), and what else it says.

    They are looked for in the form of the dialect first, then in every other form there is.
    """
    for form in dict.fromkeys([dialect.result, *(row.result for row in DIALECTS.values())]):
        pattern = _result_pattern(form or DEFAULT_RESULT)
        found = tuple(m["content"] for m in pattern.finditer(text))
        if found:
            contents = tuple(map(_unquoted, found)) if form.startswith("{{") else found
            return contents, pattern.sub("", text).strip()
    return (), text


def _unquoted(content: str) -> str:
    """The content of a result that is itself JSON: a string's text, anything else as it is written."""
    try:
        value = json.loads(content)
    except ValueError:
        return content
    return value if isinstance(value, str) else content


@lru_cache(maxsize=256)
def _result_pattern(form: str) -> re.Pattern[str]:
    """A result form as a pattern; a content that nothing closes ends with the message."""
    pieces = [piece for piece in re.split(r"(\{content\}|\{name\}|\{id\}|\{\{|\}\})", form) if piece]
    fields = {"{content}": "(?P<content>.*?)", "{name}": "[^\n]*?", "{id}": "[^\n]*?", "{{": r"\{", "}}": r"\}"}
    pattern = "".join(fields.get(piece) or re.escape(piece) for piece in pieces)
    return re.compile(pattern + (r"\Z" if form.endswith("{content}") else ""), re.DOTALL)


def corrects(text: str) -> bool:
    """Does this tell what was wrong with a call, by an error mark?"""
    return bool(_CORRECTION.search(text))


def answered_calls(calls: Sequence[ToolCall], texts: Sequence[str]) -> tuple[PastCall, ...]:
    """The calls with the results that answered them, first to first; a call without a result was not answered yet."""
    return tuple(
        PastCall(call.name, call.arguments, text, bool(_FAILED.match(text)))
        for call, text in zip(calls, texts, strict=False)
    )
