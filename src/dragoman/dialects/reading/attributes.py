"""Calls written as one tag whose attributes are the name and the arguments: `<tool_call name="f" args='{…}' />`."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from ...late import late
from ...lenient.reader import Broken, Cut, mend
from ...lenient.source import Need
from ...schema.validation import Shape, read_text
from ...types import Edit
from ..spec import AttributeArgs
from .call import MAX_NAME, Attempt, Mismatch
from .raw_values import MAX_REREAD, UNCLEAR

ATTRIBUTE = late(r"\s*([\w:.-]+)\s*=\s*")
INNER = {
    quote: re.compile(rf"(?:[^{quote}\\]*+{quote}(?![\s/>]|\Z))++") for quote in ("'", '"')
}
"""Text with quotes in it, each with a sign behind it that no attribute's end has."""
ATTRIBUTE_NEXT = late(r"\s+[\w:.-]+\s*=|\s*/?\s*>|\s*\Z")


def attribute_args(attempt: Attempt) -> Need[None]:
    """`name="…" args='…' />`, the tag's opener already read."""
    args = attempt.spec.args
    assert isinstance(args, AttributeArgs)
    draft = attempt.new()
    found, bodied = yield from _attributes(attempt)
    attempt.ended = True
    name = next((found[k] for k in args.name if k in found), None)
    if name is None:
        raise Mismatch
    attempt.begin(draft, name, found.get("id"))
    text = next((found[k] for k in args.args if k in found), None)
    if bodied:
        body: list[str] = []
        opens = attempt.row.call_open
        closer = yield from attempt.src.until(attempt.row.pair_close + opens, body.append)
        if not closer:
            raise Cut
        if closer in opens:
            attempt.src.pos -= len(closer)
            draft.edits.append(Edit("unclosed"))
        elif text is None:
            text = "".join(body)
    known = {*args.name, *args.args, "id", "type"}
    others = {k: v for k, v in found.items() if k not in known}
    if others and text is None and not all(map(draft.shape.has, others)):
        raise Broken(f"the tag has attributes that mean nothing: {', '.join(others)[:80]}")
    if others and text is not None:
        draft.edits.append(Edit("extra_attribute", "", str(others)[:80]))
    if others and text is None:
        value: Any = {k: read_text(v, draft.shape.property(k))[0] for k, v in others.items()}
        draft.edits.append(Edit("attributes_as_arguments"))
    else:
        value, edits = _argument_text(text or "", draft.shape)
        draft.edits += edits
    draft.write(json.dumps(value, ensure_ascii=False))
    attempt.finish(draft)

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
        return html.unescape("".join(got))
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


def _attribute_text(text: str, quote: str) -> str:
    """An attribute's value as meant: entities decoded where it was escaped, backslashed quotes undone."""
    if "&" in text and "<" not in text and (ESCAPED_QUOTE.search(text) if quote == "'" else '"' not in text):
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
