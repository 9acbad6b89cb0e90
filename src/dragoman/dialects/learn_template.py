"""A dialect's row out of the turns a voice writes: calls of our choosing, compared with each other.

One call, two calls, no arguments, arguments of every type: what changes is ours, what stays is markup.  The comparison
proposes; `learn.py` proves.  This module knows the record of `spec.py`, and neither templates nor parsing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..types import Tool, ToolCall
from .documents import ARGS, NAMES
from .learn_marks import closing, is_marker, leading_space, prefix, suffix, trailing_space, values
from .learn_render import REASON, REASONING_KEYS, RESULT, TEXT, CannotWrite, NotUnderstood, Voice
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
    Span,
    Strength,
    TaggedArgs,
    Typing,
    span,
)
from .table import QUIET

# ── what we ask to be written ────────────────────────────────────────────────

ALPHA, BETA = "qx_alpha", "qx_beta"
KEY, OTHER, VALUE, SECOND = "qxkone", "qxktwo", "qxvone", "qxvtwo"
FIRST_ID, SECOND_ID = "qxidone01", "qxidtwo02"
"""Nine letters and digits: Mistral's templates refuse any other id."""
TYPES: Mapping[str, Any] = {
    KEY: {"type": "string"},
    OTHER: {"type": "string"},
    "qxknumber": {"type": "integer"},
    "qxkratio": {"type": "number"},
    "qxkflag": {"type": "boolean"},
    "qxkmany": {"type": "array", "items": {"type": "string"}},
    "qxkdeep": {"type": "object", "properties": {"qxkin": {"type": "string"}, "qxksize": {"type": "integer"}}},
    "qxknone": {"type": ["string", "null"]},
}
PLAIN = (KEY, OTHER, "qxknumber")
"""The types every template can list."""


def _tools(types: Mapping[str, Any]) -> tuple[Tool, ...]:
    described = {key: {**schema, "description": "qxq"} for key, schema in types.items()}
    schema = {"type": "object", "properties": described, "required": []}
    return tuple(Tool(name=name, description="qxq", parameters=schema) for name in (ALPHA, BETA))


TOOLS = _tools(TYPES)
SHOWN = (TOOLS, _tools({key: TYPES[key] for key in PLAIN}))


def _call(name: str, call_id: str = FIRST_ID, **arguments: Any) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


ONE = _call(ALPHA, **{KEY: VALUE})
TWO = _call(ALPHA, **{KEY: VALUE, OTHER: SECOND})
EMPTY = _call(ALPHA)
NEXT = _call(BETA, SECOND_ID, **{OTHER: SECOND})
TYPED = _call(ALPHA, **{KEY: "007", "qxknumber": 42, "qxkratio": 1.5, "qxkflag": True})
DEEP = _call(ALPHA, **{"qxkmany": ["qxa", "qxb"], "qxkdeep": {"qxkin": "qxc", "qxksize": 3}})
NULL = _call(ALPHA, **{KEY: VALUE, "qxknone": None})
QUOTED = _call(ALPHA, **{KEY: 'one "two"\nthree \\ <b>four</b> \'five\' ünï'})


# ── what is read ─────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Form:
    """How one call is written: its notation, and where the name stands.  `spans` finds a call in a text."""

    args: Any
    listing: Listing = Listing.REPEAT
    name_end: str = ""      # between the name and the arguments
    tool_form: str = "{name}"
    value_end: str = ""     # what ends the last argument, where that is markup
    markup: bool = True     # the name stands in markup


@dataclass(frozen=True, slots=True)
class Cuts:
    """A text around its calls: before the first, between two (None where only one is ever written), after the last."""

    before: str
    between: str | None
    after: str


@dataclass(slots=True)
class Marks:
    """The spellings around calls, on their way into a row."""

    section: tuple[str, str] = ("", "")
    call: tuple[str, str] = ("", "")
    tool: str = ""
    body: str = ""
    between: str = "\n"
    notes: list[str] = field(default_factory=list)


def propose(voice: Voice, name: str) -> tuple[Dialect, list[str]]:
    """The row that the voice's turns suggest, and what is worth knowing about it.  Raises `NotUnderstood`."""
    text = body(voice, [TWO])
    form = _form(text, voice)
    cuts = _cuts(voice, form)
    marks = _marks(cuts, form, voice)
    if form.listing is Listing.ARRAY or isinstance(form.args, KeywordArgs):
        _wrap(marks)
    row = _row(name, form, marks)
    row = _with_strength(row)
    row, notes = _with_reasoning(row, voice)
    result, told = _result(voice)
    quiet = tuple(dict.fromkeys([*_text_frame(voice, row), *_role(voice)]))
    sample = text.strip()
    return replace(row, result=result, quiet=quiet, sample=sample), [*marks.notes, *notes, *told]


def body(voice: Voice, calls: Sequence[ToolCall], text: str = "", reasoning: str = "") -> str:
    """A turn without what every turn begins and ends with."""
    turn = voice.turn(calls, text, reasoning)
    inner = turn[len(prefix(voice.header, turn)) :]
    return inner[: len(inner) - len(suffix(voice.trailer, inner))] if voice.trailer else inner


# ── the notation ─────────────────────────────────────────────────────────────


def _form(text: str, voice: Voice) -> Form:
    for reader in (_json_call, _attributes, _json_args, _keywords, _elements, _braces, _tags):
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
        ids = tuple(k for k, v in item.items() if k not in (name, args) and v in (call.id, "0", "1") and "id" in k)
        return JsonCall(name=_first(name, NAMES), args=_first(args, ARGS), id=_first(ids[0], ("id",)) if ids else ("id",))
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


def _elements(text: str, voice: Voice) -> Form | None:
    """`<key>value</key>`, perhaps with a prefix before every tag."""
    found = re.search(rf"<{KEY}>(\s*){VALUE}\s*(?P<prefix>\S*?)</{KEY}>", text)
    if found is None:
        return None
    mark = found["prefix"]
    start = found.start() - len(mark)
    at = text.rfind(ALPHA, 0, start)
    notation = ElementArgs(prefix=mark, nested="<qxkin>" in body(voice, [DEEP]), trim="\n" if "\n" in found[1] else "")
    close = text[text.rfind(f"</{OTHER}>") : text.rfind(f"</{OTHER}>") + len(OTHER) + 3]
    return Form(notation, name_end=text[at + len(ALPHA) : start], value_end=close)


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
    )


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


# ── where calls stand ────────────────────────────────────────────────────────


def _cuts(voice: Voice, form: Form) -> Cuts:
    """The text around calls, from a turn with two of them if the voice writes two."""
    if form.listing is Listing.ARRAY:
        return _cuts_of_list(voice)
    try:
        text = body(voice, [ONE, NEXT])
    except CannotWrite:
        text = ""
    spans = [_span(text, c, form) for c in (ONE, NEXT)] if text else []
    if len(spans) == 2 and None not in spans:
        (begin, end), (again, last) = spans  # type: ignore[misc]
        return Cuts(text[:begin], text[end:again], text[last:])
    text = body(voice, [ONE])
    found = _span(text, ONE, form)
    if found is None:
        raise NotUnderstood(f"one call was not found where two arguments were: {text.strip()[:300]!r}")
    return Cuts(text[: found[0]], None, text[found[1] :])


def _cuts_of_list(voice: Voice) -> Cuts:
    for calls in ([ONE, NEXT], [ONE]):
        try:
            text = body(voice, calls)
        except CannotWrite:
            continue
        for start, end, value in values(text):
            if isinstance(value, list) and len(value) == len(calls):
                return Cuts(text[:start], None, text[end:])
    raise NotUnderstood("the list of calls was not found again with fewer arguments")


def _span(text: str, call: ToolCall, form: Form) -> tuple[int, int] | None:
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
    return (begin, end) if (end := _end(text, at, value, form)) else None


def _begin(text: str, at: int, call: ToolCall, form: Form) -> int:
    """Where the name's region begins: ids and namespaces belong to it."""
    head = form.tool_form.split("{name}")[0].replace("{id}", call.id).replace("{{", "{").replace("}}", "}")
    return at - len(head) if head and text[:at].endswith(head) else at


def _end(text: str, at: int, value: str, form: Form) -> int:
    match form.args:
        case KeywordArgs():
            return closing(text, text.index("(", at))
        case BraceArgs() | JsonArgs():
            return closing(text, text.index("{", at))
        case _:
            found = text.index(value, at) + len(value)
            return found + _closer(text[found:], form.value_end)


def _closer(text: str, closer: str) -> int:
    """How far the closer of a value reaches; its last white space may be missing after the last one."""
    if isinstance(text, str) and text.startswith(closer):
        return len(closer)
    at = text.find(closer.strip())
    return at + len(closer.strip()) if at >= 0 else 0


# ── markers ──────────────────────────────────────────────────────────────────


def _marks(cuts: Cuts, form: Form, voice: Voice) -> Marks:
    """Section, call and separators, from what the two calls have in common."""
    if cuts.between is None:
        notes = [] if form.listing is Listing.ARRAY else ["the template writes one call in a turn; more were not seen"]
        marks = Marks(call=(cuts.before.lstrip(), _until_end(cuts.after, voice).rstrip()), notes=notes)
    else:
        marks = _compared(cuts, voice)
    if form.markup:
        _split_name(marks, form)
    return marks


def _compared(cuts: Cuts, voice: Voice) -> Marks:
    assert cuts.between is not None
    before = cuts.before or suffix(voice.header, cuts.between)
    opener = suffix(before, cuts.between)
    opener = opener[len(leading_space(opener)) :] if opener.strip() else ""
    section = before[: len(before) - len(opener)].lstrip()
    rest = cuts.between[: len(cuts.between) - len(opener)]
    after = _until_end(cuts.after, voice)
    closer = prefix(rest, after)
    closer = closer[: len(closer) - len(trailing_space(closer))] if closer.strip() else ""
    end = after[len(closer) :].rstrip() if section else ""
    return Marks(section=(section, end), call=(opener, closer), between=rest[len(closer) :])


def _until_end(text: str, voice: Voice) -> str:
    """`text` up to what ends a turn or begins another."""
    stops = [*QUIET, *(m for m in re.findall(r"<[^<>\s]+>", voice.role))]
    ends = [at for stop in stops if (at := text.find(stop)) > 0]
    return text[: min(ends)] if ends else text


def _split_name(marks: Marks, form: Form) -> None:
    """The tag the name stands in, apart from what is around the call."""
    opener, closer = marks.call
    at = opener.rfind("<")
    if at < 0 or ">" in opener[at:]:
        return
    wrapper, marks.tool = opener[:at], opener[at:]
    word = re.match(r"<[|｜]?([^\s=>]+)", marks.tool)
    partner = next((m for m in (f"</{word[1]}>",) if m in closer), "") if word else ""
    if wrapper.strip() and partner:
        cut = closer.index(partner) + len(partner)
        marks.body, closer = closer[:cut], closer[cut:]
    marks.call = (wrapper, closer)


def _wrap(marks: Marks) -> None:
    """Python calls and lists stand in a section, not each in a call."""
    opener, closer = marks.call
    if not marks.section[0]:
        marks.section, marks.call = (opener, closer), ("", "")


def _row(name: str, form: Form, marks: Marks) -> Dialect:
    listing = form.listing
    section_open, section_close = marks.section
    if isinstance(form.args, KeywordArgs) and section_open.rstrip().endswith("["):
        listing = Listing.ARRAY
        section_open = section_open.rstrip()[:-1]
        section_close = section_close.lstrip().removeprefix("]")
    call = span(marks.call[0], marks.call[1])
    body_ = span("", marks.body)
    return Dialect(
        name=name,
        section=span(section_open, section_close),
        call=call,
        tool=_tool(form, marks, call, body_),
        tool_re=_tool_re(form),
        tool_form=form.tool_form,
        body=body_,
        args=form.args,
        between=(marks.between,),
        listing=listing,
        source="learned from a chat template",
    )


def _tool(form: Form, marks: Marks, call: Span, body_: Span) -> Span:
    if not form.markup:
        return Span()
    end = form.name_end
    if end.strip() or isinstance(form.args, JsonArgs):
        return span(marks.tool, end or "{")
    opens = form.args.key.open if isinstance(form.args, TaggedArgs) else ("<",)
    ends = (end, *(s.strip() for s in (*opens[:1], *(body_.close or call.close)[:1])))
    return span(marks.tool, tuple(dict.fromkeys(e for e in ends if e)))


def _tool_re(form: Form) -> str:
    """The pattern that splits the name's region; an id beside the name may be missing."""
    if form.tool_form == "functions.{name}:{index}":
        return r"(?P<id>(?:functions\.)?(?P<name>.+?)(?::\d+)?)"
    if "{id}" not in form.tool_form:
        plain = isinstance(form.args, TaggedArgs) and not form.name_end.strip()
        around = [re.escape(t) for t in form.tool_form.split("{name}")]
        return (r"(?P<name>[^\s{}\"<>=]+)" if plain else r"(?P<name>.+)").join(around)
    before, _, after = form.tool_form.partition("{name}")
    if "{id}" in before:
        head = re.escape(before).replace(re.escape("{id}"), "(?P<id>.*?)")
        return rf"(?:{head})?(?P<name>.+)"
    tail = re.escape(after).replace(re.escape("{id}"), "(?P<id>.*)")
    return rf"(?P<name>.+?)(?:{tail})?"


STRONG = re.compile(r"[<｜]\S|\[/?[A-Z_]{3,}\]|~~~\w|>>>")


def _with_strength(row: Dialect) -> Dialect:
    """Openers that ordinary text could begin with prove little."""
    opener = first(row.section.open or row.call.open or row.tool.open)
    if STRONG.search(opener):
        return row
    if not opener and not (row.listing is Listing.ARRAY or isinstance(row.args, JsonCall)):
        raise NotUnderstood("nothing marks where a call begins")
    return replace(row, strength=Strength.WEAK, place=Place.LINE)


# ── reasoning, text and results ──────────────────────────────────────────────


def _with_reasoning(row: Dialect, voice: Voice) -> tuple[Dialect, list[str]]:
    for calls, text in (([], TEXT), ([ONE], "")):
        for turn in _reasoned(voice, calls, text):
            tags = _around(turn, voice)
            if tags is None:
                return row, ["reasoning is written without marks of its own"]
            return replace(row, reasoning=(span(*tags),)), []
    return row, ["the template does not write the reasoning of past turns"]


def _reasoned(voice: Voice, calls: Sequence[ToolCall], text: str) -> Iterator[str]:
    manner = getattr(voice, "manner", None)
    for key in REASONING_KEYS if manner is not None else ("",):
        if manner is not None:
            voice.manner = replace(manner, reasoning=key)  # type: ignore[attr-defined]
        try:
            turn = voice.turn(calls, text, REASON)
        except CannotWrite:
            turn = ""
        if REASON in turn:
            yield turn
            return
        if manner is not None:
            voice.manner = manner  # type: ignore[attr-defined]


def _around(turn: str, voice: Voice) -> tuple[str, str] | None:
    """The marks around the reasoning: the nearest before it, with what touches it, and the nearest after."""
    before, _, after = turn.partition(REASON)
    closer = re.match(r"\s*(?:<[^<>\n]+>|\[/?[A-Z_]+\]|◁[^▷]*▷)", after)
    role = prefix(voice.role, before)
    own = before[len(role) :] if is_marker(before[len(role) :]) else before
    opener = re.search(r"(?:(?:<[^<>\n]+>|\[[A-Z_]+\]|◁[^▷]*▷)\w*)+\s*$", own)
    if closer is None or opener is None:
        return None
    return opener.group(), closer.group()


def _text_frame(voice: Voice, row: Dialect) -> Iterator[str]:
    """What stands around plain text: `<|START_RESPONSE|>` … `<|END_RESPONSE|>`."""
    try:
        before, found, after = body(voice, [], TEXT).partition(TEXT)
    except CannotWrite:
        return
    opener = first(row.section.open or row.call.open).strip()
    if opener and voice.header.endswith(opener):  # the prompt had opened it
        before = opener + before
    for frame in (before, _until_end(after, voice)) if found else ():
        if is_marker(frame) and frame.strip() not in QUIET:
            yield frame.strip()


def _role(voice: Voice) -> Iterator[str]:
    """The role's header, where one turn is written as several messages."""
    try:
        turn = voice.turn([ONE], TEXT, REASON)
    except CannotWrite:
        return
    if is_marker(voice.role) and turn.count(voice.role.strip()) > 1:
        yield voice.role.strip()


def _result(voice: Voice) -> tuple[str, list[str]]:
    """How a result is told inside a user's turn."""
    try:
        before, found, after = voice.result(ONE, RESULT).partition(RESULT)
    except CannotWrite as why:
        return "", [f"the template tells no results ({why})"]
    frame = _frame(before, after) if found else None
    if frame is None:
        return "", ["results have turns of their own in this template; told as text they are framed as by default"]
    form = (frame[0] + RESULT + frame[1]).strip().replace("{", "{{").replace("}", "}}")
    for word, slot in ((RESULT, "{content}"), (ONE.name, "{name}"), (ONE.id, "{id}")):
        form = form.replace(word, slot)
    return form, []


ROLE = re.compile(r"role|header|im_start|turn|user|observation", re.IGNORECASE)
TAG = re.compile(r"<(?P<word>[^<>/\s|｜][^<>\s]*)>")
SIGN = re.compile(r"<[^<>\s]+>|\[/?[A-Z_]+\]|\s")


def _frame(before: str, after: str) -> tuple[str, str] | None:
    """The marks around a result that are not those of a turn: the outermost pair of tags, or nothing but marks."""
    for tag in TAG.finditer(before):
        closer = f"</{tag['word']}>"
        if closer in after and not ROLE.search(tag["word"]):
            return before[tag.start() :], after[: after.index(closer) + len(closer)]
    bare = SIGN.sub("", before.replace(ONE.id, "").replace(ONE.name, ""))
    marks = SIGN.findall(before)
    if bare or not "".join(marks).strip() or any(ROLE.search(m) for m in marks):
        return None
    ends = [m.end() for m in SIGN.finditer(after) if m.group().strip() and m.group() not in QUIET]
    return before, after[: max(ends, default=0)]


def first(spellings: Sequence[str]) -> str:
    """The canonical spelling, "" for none."""
    return spellings[0] if spellings else ""


def distinct(notes: Iterable[str]) -> tuple[str, ...]:
    """Each note once."""
    return tuple(dict.fromkeys(notes))
