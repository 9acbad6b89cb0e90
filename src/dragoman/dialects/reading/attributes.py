"""Calls written as one tag whose attributes are the name and the arguments: `<tool_call name="f" args='{…}' />`."""

from __future__ import annotations

import json
import re
from typing import Any

from ...late import late
from ...lenient.notation import Broken, Cut
from ...lenient.reader import Relaxed, check_repeated, mend
from ...lenient.source import Need
from ...records import dataclass
from ...schema.validation import Shape, read_text
from ...types import Edit
from ..judge.candidate import Draft
from ..judge.judge import slip_of
from ..spec import AttributeArgs
from .arguments import html_text, take_keys
from .call import MAX_NAME, Attempt, Mismatch
from .plain_argument import names_parameter
from .raw_values import MAX_REREAD, UNCLEAR

ATTRIBUTE = late(r"\s*([\w:.-]+)\s*=\s*")
INNER = {quote: late(rf"(?:[^{quote}\\]*+{quote}(?![\s/>]|\Z))++") for quote in ("'", '"')}
"""Text with quotes in it, each with a sign behind it that no attribute's end has."""
OWN = ("id", "type")
"""The call's own attributes, unless a tool that is given no arguments otherwise wants them."""
WRAPPED = ("arguments", "args", "parameters", "input")
"""Where a call object in the tag's body has its arguments."""
TYPES = frozenset({"function", "tool", "tool_call", "tool_use"})
ATTRIBUTE_NEXT = late(r"\s+[\w:.-]+\s*=|\s*/?\s*>|\s*\Z")


@dataclass(slots=True)
class _Said:
    """What the tag says beside the name: its argument text, its attributes by what they mean, and its body."""

    args: str | None
    declared: dict[str, str]
    others: dict[str, str]
    text: str = ""
    body: str = ""
    unclosed: bool = False

    @property
    def anything(self) -> bool:
        """Does it give an argument, whatever the body holds?"""
        return bool(self.args or self.declared)


def attribute_args(attempt: Attempt) -> Need[None]:
    """`name="…" args='…' />`, the tag's opener already read; or `name="…">{…}</tool_call>`."""
    args = attempt.spec.args
    assert isinstance(args, AttributeArgs)
    draft = attempt.new()
    found, bodied = yield from _attributes(attempt)
    name = next((found[k] for k in args.name if k in found), None)
    if name is None:
        raise Mismatch
    attempt.begin(draft, name, found.get("id"))
    said = _said(args, found, draft.shape)
    attempt.ended = True
    if bodied:
        attempt.row = attempt.row.paired
        yield from attempt.src.space()
        if (yield from attempt.src.peek()) == "{":
            yield from _object(attempt, draft, said)
            return
        yield from _text(attempt, said)
    _settle(attempt, draft, said)


def _said(args: AttributeArgs, found: dict[str, str], shape: Shape) -> _Said:
    text = next((found[k] for k in args.args if k in found), None)
    known = {*args.name, *args.args, *OWN}
    others = {k: v for k, v in found.items() if k not in known}
    if text is None:  # else `id="7"` is the call's, and a tool may want one too
        others |= {k: found[k] for k in OWN if k in found and k in shape.keys and found[k] not in TYPES}
    declared = {k: v for k, v in others.items() if k in shape.keys}
    return _Said(text, declared, {k: v for k, v in others.items() if k not in declared})


def _object(attempt: Attempt, draft: Draft, said: _Said) -> Need[None]:
    """A body that is an object: the arguments, whatever they hold; what stands behind them is the call's end."""
    reader = Relaxed(attempt.src, stops=attempt.stops)
    attempt.ended = False
    said.body = yield from reader.captured(draft.shape)
    _settle(attempt, draft, said, reader)


def _text(attempt: Attempt, said: _Said) -> Need[None]:
    """A body that is text, up to the closer; or to another call's opener, if one begins a line and no closer came."""
    src, opens, got = attempt.src, attempt.row.call_open, list[str]()
    while mark := (yield from src.until(attempt.row.pair_close + opens, got.append)):
        if mark not in opens:
            break
        if not "".join(got[-1:]).rpartition("\n")[2].strip():
            src.pos -= len(mark)
            said.unclosed = True
            break
        got.append(mark)
    said.text = "".join(got).strip()
    if not mark and (said.text or not (said.anything or said.others)):
        raise Cut
    said.unclosed = said.unclosed or not mark


def _settle(attempt: Attempt, draft: Draft, said: _Said, reader: Relaxed | None = None) -> None:
    """The arguments of a tag that has been read to its end: refused alone, where they cannot be told."""
    if said.unclosed:
        draft.edits.append(Edit("unclosed"))
    value: dict[str, Any] = {}
    try:
        value = _arguments(draft, said)
    except (Broken, Cut) as slip:
        why = str(slip) or "a string or bracket is never closed"
        draft.refuse(slip_of(slip), why, attempt.judge.correction(draft, why))
    draft.write(json.dumps(value, ensure_ascii=False))
    attempt.finish(draft, reader)


def _arguments(draft: Draft, said: _Said) -> Any:
    """The one reading of what the tag, its attributes and its body say; raises `Broken` where there are two."""
    shape, value = draft.shape, _unwrapped(draft, said.body) if said.body else None
    if said.args is not None:
        written, edits = _argument_text(said.args, shape)
        draft.edits += edits
        if value and written and value != written:
            raise Broken("the arguments are written twice, and differ")
        value = written or value
    elif value is None and not said.declared and (said.text or not said.others):
        if said.text and said.unclosed:
            raise Broken("text stands between the tag and the next call, and no closer")
        value, edits = _argument_text(said.text, shape)
        draft.edits += edits
        said.text = ""
    return _with_attributes(draft, said, value)


def _unwrapped(draft: Draft, written: str) -> Any:
    """The arguments that a body is, or holds, if it is a whole call object of the tool that the tag names."""
    check_repeated(written)
    body = json.loads(written)
    inner = next((body[key] for key in WRAPPED if key in body and key not in draft.shape.keys), None)
    if not isinstance(inner, dict) or not body.keys() <= {"name", *OWN, *WRAPPED}:
        return body
    if body.get("name", draft.name) != draft.name:
        raise Broken(f"the tag and its body name two tools: {draft.name[:40]!r} and {str(body['name'])[:40]!r}")
    draft.edits.append(Edit("unwrapped"))
    return inner


def _with_attributes(draft: Draft, said: _Said, value: Any) -> Any:
    """The arguments, with those that stand as attributes; what is none is told."""
    shape, attributes = draft.shape, said.declared
    if value is None and said.others:
        attributes = said.declared | said.others
        if not all(map(shape.has, said.others)):
            raise Broken(f"the tag has attributes that mean nothing: {', '.join(said.others)[:80]}")
    elif said.others:
        draft.edits.append(Edit("extra_attribute", "", str(said.others)[:80]))
    if said.text:
        draft.edits.append(Edit("extra_text", "", said.text[:80]))
    read = {k: read_text(v, shape.property(k))[0] for k, v in attributes.items()}
    given = value or {}
    if not isinstance(given, dict):
        return given
    if any(k in given and given[k] != v for k, v in read.items()):
        raise Broken("the arguments are written twice, and differ")
    if read.keys() - given.keys():
        draft.edits.append(Edit("attributes_as_arguments"))
    return take_keys(draft, read | given)


def _attributes(attempt: Attempt) -> Need[tuple[dict[str, str], bool]]:
    """The attributes up to the tag's end, and whether a body follows."""
    src = attempt.src
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
        found.setdefault(match[1].casefold(), (yield from _attribute_value(attempt)))


def _attribute_value(attempt: Attempt) -> Need[str]:
    """One value; of a message made of openers whose values never end, no more is read than is worth it."""
    src = attempt.src
    if src.reread > MAX_REREAD + 4 * src.at:
        raise Broken(UNCLEAR)
    begun = src.at
    try:
        return (yield from _quoted_or_bare(attempt))
    finally:
        src.reread += src.at - begun


def _quoted_or_bare(attempt: Attempt) -> Need[str]:
    src = attempt.src
    quote = yield from src.literal(('"', "'"))
    if not quote:
        got: list[str] = []
        mark = yield from src.until((" ", "\n", "\t", "/>", ">"), got.append)
        if not mark:
            raise Cut
        src.pos -= len(mark)
        return html_text("".join(got))
    got = []
    inner = INNER[quote]
    while True:
        run = inner.match(src.buf, src.pos)
        if run is not None:  # quotes behind which the value plainly goes on
            got.append(run.group())
            src.pos = run.end()
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


ESCAPED_QUOTE = late("&(?:apos|#39|#x27);", re.IGNORECASE)
"""In an attribute between single quotes it proves that the text was escaped: JSON in it has raw double ones."""


HALF_TAG = late(r"&lt;/?[A-Za-z][^<>&]*>")
"""A tag of which only what an attribute must not hold was escaped."""


def _attribute_text(text: str, quote: str) -> str:
    """An attribute's value as meant: entities decoded where it was escaped, backslashed quotes undone."""
    quotes = ESCAPED_QUOTE.search(text) if quote == "'" else '"' not in text
    if "&" in text and "<" not in text and (quotes or HALF_TAG.search(text)):
        text = html_text(text)
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
    if len(shape.keys) == 1 and "string" in shape.property(shape.keys[0]).kinds and not names_parameter(text, shape):
        return {shape.keys[0]: text}, [Edit("wrapped_text", "$", text[:40])]
    raise Broken("the arguments are not a JSON object")
