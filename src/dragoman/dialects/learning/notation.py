"""The notation of a call, out of one text that holds it: JSON, Python, tags, elements, braces.

Each reader looks for its own notation in a call of two arguments and says how it is written; the first that finds it
decides.  Knows the record of `dialects/spec.py` and the samples, and nothing of templates or of what stands around
calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...lenient.brackets import closing
from ...types import ToolCall
from ..rows.documents import ARGS, NAMES
from ..spec import (
    AttributeArgs,
    BraceArgs,
    ElementArgs,
    JsonArgs,
    JsonCall,
    KeywordArgs,
    Listing,
    Notation,
    TaggedArgs,
    Typing,
    YamlArgs,
    span,
)
from .marks import prefix, suffix, values
from .samples import ALPHA, DEEP, FIRST_ID, KEY, OTHER, QUOTED, SECOND, TWO, TYPED, VALUE, body
from .voice import CannotWrite, NotUnderstood, Voice


@dataclass(frozen=True, slots=True)
class Form:
    """How one call is written: its notation, and where the name stands."""

    args: Notation
    listing: Listing = Listing.REPEAT
    name_end: str = ""      # between the name and the arguments
    tool_form: str = "{name}"
    value_end: str = ""     # what ends the last argument, where that is markup
    markup: bool = True     # the name stands in markup


def form_of(text: str, voice: Voice) -> Form:
    """The notation of the call of two arguments in `text`.  Raises `NotUnderstood`."""
    for reader in (_json_call, _attributes, _json_args, _keywords, _elements, _braces, _lines, _tags):
        form = reader(text, voice)
        if form is not None:
            return form
    raise NotUnderstood(f"the notation of a call was not understood: {text.strip()[:300]!r}")


def _json_call(text: str, voice: Voice) -> Form | None:
    """`{"name": …, "arguments": {…}}`, alone or in a list."""
    for _, _, value in values(text):
        item = value[0] if isinstance(value, list) and value else value
        notation = _keys(item, TWO)
        if notation is not None:
            listing = Listing.ARRAY if isinstance(value, list) else Listing.REPEAT
            return Form(notation, listing, markup=False)
    return None


def _keys(item: Any, call: ToolCall) -> JsonCall | None:
    """Which keys of an object hold the call."""
    if not isinstance(item, dict):
        return None
    if item == {call.name: call.arguments}:
        return JsonCall(name=NAMES, args=ARGS, single_key=True)
    name = next((k for k, v in item.items() if v == call.name), None)
    args = next((k for k, v in item.items() if _same_arguments(v, call)), None)
    if name and args:
        ids = [k for k, v in item.items() if k not in (name, args) and v in (call.id, "0", "1") and "id" in k]
        return JsonCall(name=_first(name, NAMES), args=_first(args, ARGS), id=_first((*ids, "id")[0], ("id",)))
    for key, value in item.items():
        inner = _keys(value, call)
        if inner is not None:
            return replace(inner, inside=(key, *inner.inside)) if key != "function" else inner
    return None


def _first(key: str, others: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((key, *others)))


def _same_arguments(value: Any, call: ToolCall) -> bool:
    if isinstance(value, str) and value.startswith("{"):
        return any(v == call.arguments for _, _, v in values(value))
    return bool(value == call.arguments)


def _attributes(text: str, voice: Voice) -> Form | None:
    """`<tool_call name="f" args='{…}'/>`."""
    pattern = rf"([\w:-]+)=(['\"]){ALPHA}\2\s+([\w:-]+)=['\"]\{{"
    found = re.search(pattern, text)
    if found is None:
        return None
    return Form(AttributeArgs(name=(found[1],), args=_first(found[3], ("arguments", "args"))), markup=False)


def _json_args(text: str, voice: Voice) -> Form | None:
    """The name in markup, a JSON object of arguments after it."""
    start = next((s for s, _, v in values(text) if v == TWO.arguments), None)
    if start is None:
        return None
    named = _named(text[:start])
    if named is None:
        raise NotUnderstood(f"arguments were found, but no name before them: {text.strip()[:300]!r}")
    begin, end = named
    return Form(JsonArgs(), name_end=text[end:start], tool_form=_tool_form(text[begin:end]))


def _named(text: str) -> tuple[int, int] | None:
    """Where the name stands, with the id and what is between them."""
    at = text.rfind(ALPHA)
    if at < 0:
        return None
    begin, end = at, at + len(ALPHA)
    id_at = text.rfind(FIRST_ID)
    if id_at >= 0:
        return min(begin, id_at), max(end, id_at + len(FIRST_ID))
    counted = re.search(rf"functions\.{ALPHA}:0$", text[: end + 2])
    return (counted.start(), counted.end()) if counted else (begin, end)


def _tool_form(text: str) -> str:
    if text == f"functions.{ALPHA}:0":
        return "functions.{name}:{index}"
    return text.replace("{", "{{").replace("}", "}}").replace(ALPHA, "{name}").replace(FIRST_ID, "{id}")


def _keywords(text: str, voice: Voice) -> Form | None:
    """`f(key='value')`."""
    found = re.search(rf"{ALPHA}\(\s*{KEY}\s*=", text)
    return Form(KeywordArgs(), name_end="(", markup=False) if found else None


def _braces(text: str, voice: Voice) -> Form | None:
    """`f{key:<|"|>value<|"|>}`."""
    found = re.search(rf"{ALPHA}(\s*)\{{\s*{KEY}\s*:\s*(.*?){VALUE}", text, re.DOTALL)
    if found is None:
        return None
    return Form(BraceArgs(quotes=(found[2],) if found[2] else ('"',)), name_end="{")


def _lines(text: str, voice: Voice) -> Form | None:
    """`key: value`, a line for each argument."""
    one, other = rf"{KEY}\s*(?P<sep>[:=|-]+>?)\s*{VALUE}", rf"{OTHER}\s*(?P=sep)\s*{SECOND}\b"
    found = re.search(rf"(?P<line>[\n;,|][ \t]*){one}(?P=line){other}", text)
    if found is None:
        return None
    if found["sep"] != ":" or found["line"][0] != "\n":
        told = f"{found['sep']!r} after the key, {found['line']!r} before the next"
        raise NotUnderstood(f"arguments stand as keys and values with {told}; only lines of 'key: value' can be read")
    at = text.rfind(ALPHA, 0, found.start())
    if at < 0:
        raise NotUnderstood("lines of arguments were found, but the name does not stand in the markup before them")
    begin, end = _named(text[: found.start()]) or (at, at + len(ALPHA))
    return Form(YamlArgs(), name_end=text[end : found.start()], tool_form=_tool_form(text[begin:end]))


def _elements(text: str, voice: Voice) -> Form | None:
    """`<key>value</key>`, perhaps with a prefix before every tag."""
    found = re.search(rf"<{KEY}>(\s*){VALUE}\s*(?P<prefix>\S*?)</{KEY}>", text)
    if found is None:
        return None
    mark = found["prefix"]
    start = found.start() - len(mark)
    at = text.rfind(ALPHA, 0, start)
    notation = ElementArgs(
        prefix=mark,
        nested="<qxkin>" in body(voice, [DEEP]),
        trim="\n" if "\n" in found[1] else "",
        entities=_escapes(voice),
    )
    return Form(notation, name_end=text[at + len(ALPHA) : start])


def _tags(text: str, voice: Voice) -> Form | None:
    """`<parameter=key>value</parameter>`."""
    key = text.find(KEY)
    at = text.rfind(ALPHA, 0, key)
    places = [at, key, text.find(VALUE, key), text.find(OTHER, key), text.find(SECOND, key)]
    if min(places) < 0 or places != sorted(places):
        return None
    words = (ALPHA, KEY, VALUE, OTHER, SECOND)
    ends = [p + len(w) for p, w in zip(places, words, strict=True)]
    first, inner, middle, _ = (text[e:p] for e, p in zip(ends, places[1:], strict=False))
    opener = suffix(first, middle).lstrip()
    closer = prefix(middle[: len(middle) - len(opener)], text[ends[-1] :])
    if not opener or not closer.strip():
        raise NotUnderstood(f"what marks an argument was not understood: {text.strip()[:300]!r}")
    notation = _tagged(opener, inner, closer, voice)
    begin, end = _named(text[:key]) or (at, ends[0])
    name_end = text[end:key][: len(text[end:key]) - len(opener)]
    return Form(notation, name_end=name_end, tool_form=_tool_form(text[begin:end]), value_end=closer)


def _tagged(opener: str, inner: str, closer: str, voice: Voice) -> TaggedArgs:
    """The notation of one argument; `inner` stands between its key and its value."""
    flags = _flags(inner, opener, voice)
    value_open = ""
    partner = "<" + closer.strip().removeprefix("</")
    if closer.strip().startswith("</") and inner.rstrip().endswith(partner):
        cut = inner.rindex(partner)
        inner, value_open = inner[:cut], inner[cut:]
    lead = value_open or inner
    trim = "\n" if lead.endswith("\n") and closer.startswith("\n") else ""
    return TaggedArgs(
        key=span(opener, (inner, *flags)),
        value=span(value_open, closer),
        trim=trim,
        typing=Typing.LITERAL if flags else Typing.TEXT,
        raw_flag=(inner,) if flags else (),
        json_flag=flags,
        entities=_escapes(voice),
    )


def _escapes(voice: Voice) -> bool:
    """Is text escaped as XML escapes it?"""
    try:
        return "&lt;b&gt;" in body(voice, [QUOTED])
    except CannotWrite:
        return False


def _flags(inner: str, opener: str, voice: Voice) -> tuple[str, ...]:
    """How the key's end differs for values that are no text."""
    try:
        text = body(voice, [TYPED]) + body(voice, [DEEP])
    except CannotWrite:
        return ()
    found = []
    for key, written in (("qxknumber", "42"), ("qxkflag", "[Tt]rue"), ("qxkmany", r"\["), ("qxkdeep", r"\{")):
        seen = re.search(rf"{re.escape(opener.strip())}{key}(.*?)(?={written})", text, re.DOTALL)
        if seen and seen[1] != inner and len(seen[1]) < 2 * len(inner) + 40:
            found.append(seen[1])
    return tuple(dict.fromkeys(found))


def span_of(text: str, call: ToolCall, form: Form) -> tuple[int, int] | None:
    """Where this call stands: its object, or from its name to the end of its arguments."""
    if isinstance(form.args, JsonCall):
        return next(((s, e) for s, e, v in values(text) if _keys(v, call) is not None), None)
    if isinstance(form.args, AttributeArgs):
        found = re.search(rf"{form.args.name[0]}=(['\"]){call.name}\1.*?\}}['\"]", text, re.DOTALL)
        return (found.start(), found.end()) if found else None
    key, value = next(iter(call.arguments.items()))
    at = text.find(key)
    at = text.rfind(call.name, 0, at) if at >= 0 else at
    if at < 0:
        return None
    begin = _begin(text, at, call, form)
    return (begin, end) if (end := _end(text, at, key, value, form)) else None


def _begin(text: str, at: int, call: ToolCall, form: Form) -> int:
    """Where the name's region begins: ids and namespaces belong to it."""
    head = form.tool_form.split("{name}")[0].replace("{id}", call.id).replace("{{", "{").replace("}}", "}")
    return at - len(head) if head and text[:at].endswith(head) else at


def _end(text: str, at: int, key: str, value: str, form: Form) -> int:
    match form.args:
        case KeywordArgs():
            return closing(text, text.index("(", at))
        case BraceArgs() | JsonArgs():
            return closing(text, text.index("{", at))
        case ElementArgs(prefix=mark):
            return text.index(closer := f"{mark}</{key}>", at) + len(closer)
        case _:
            found = text.index(value, at) + len(value)
            return found + _closer(text[found:], form.value_end)


def _closer(text: str, closer: str) -> int:
    """How far the closer of a value reaches; its last white space may be missing after the last one."""
    if text.startswith(closer):
        return len(closer)
    at = text.find(closer.strip())
    return at + len(closer.strip()) if at >= 0 else 0
