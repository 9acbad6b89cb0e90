"""Calls written as YAML: a mapping with name and arguments, or a name in markup and a mapping after it."""

from __future__ import annotations

import json
import re
from typing import Any

from ...late import late
from ...lenient.notation import Broken, Cut
from ...lenient.source import Need
from ...lenient.yaml import read_mapping, split_key
from ...schema.validation import ANYTHING, Shape, coerce, shape
from ...types import Edit
from ..judge.candidate import Draft
from ..spec import TextArgs, YamlCall
from .arguments import take_keys, unescaped
from .call import Attempt, Mismatch
from .plain_argument import names_parameter
from .raw_values import UNCLEAR

CDATA = late(r"<!\[CDATA\[(.*?)\]\]>", re.S)
PARAGRAPH = "\n\n"
"""Behind it no closer is looked for that another could be a part of: what stands there is an answer."""
MOST_OPEN = 64
"""So many calls like the one at hand may be open in its text: each may be looked for to the end of the message."""
INDENTED = late(r"\n[ \t]+</[^<>\n]*>\Z")
"""A closer that stands deeper than a call's first line."""
MAX_INDENT = 200
"""Signs before a colon that may be a parameter's name, with one of them wrong."""
STRAY = late(r"\n</(?P<key>[\w.:-]{1,80})>[ \t\r]*\n?\Z")


def yaml_args(attempt: Attempt) -> Need[None]:
    """`NAME … key: value` lines, up to the call's closer."""
    draft = attempt.new()
    name, call_id, _ = yield from attempt.tool()
    text = yield from _body(attempt)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if first and text.strip() != "{}" and split_key(first.lstrip()) is None:
        raise Mismatch
    attempt.begin(draft, name, call_id)
    _write(draft, _mapping(draft, *_complete(attempt, draft, text)))
    attempt.finish(draft)


def yaml_call(attempt: Attempt) -> Need[None]:
    """`name: NAME`, `arguments:` and indented lines."""
    args = attempt.spec.args
    assert isinstance(args, YamlCall)
    draft = attempt.new()
    if not (yield from attempt.src.glance(tuple(f"{n}:" for n in args.name)))[1]:
        raise Mismatch
    text = yield from _body(attempt)
    text, ended = _complete(attempt, draft, text)
    found = read_mapping(text, _Fields(args.args, _shape_named(attempt, text)), ended=ended)
    name = next((found.pop(k) for k in args.name if k in found), None)
    arguments: Any = next((found.pop(k) for k in args.args if k in found), {})
    attempt.begin(draft, name)
    if found:
        raise Broken(f"fields stand outside the arguments: {', '.join(found)}")
    _write(draft, arguments or {})
    attempt.finish(draft)


class _Fields(Shape):
    """What the fields of a call are: its arguments have the tool's shape."""

    def __init__(self, names: tuple[str, ...], arguments: Shape) -> None:
        super().__init__({}, {}, {})
        self._fields = dict.fromkeys(names, arguments)

    def property(self, key: str) -> Shape:
        return self._fields.get(key, ANYTHING)


def _shape_named(attempt: Attempt, text: str) -> Shape:
    """The shape of the arguments of the tool that the first line names."""
    field = split_key(text.strip().partition("\n")[0])
    name = attempt.judge.resolve(field[1].strip().strip("\"'")) if field is not None else None
    return shape(attempt.judge.declared[name].parameters) if name else ANYTHING


def _body(attempt: Attempt) -> Need[str]:
    """The text up to the call's closer, which is taken; or up to the end of the text.

    A closer that a call like this one opened inside is the text's own, and so is one with words behind it on its line,
    as long as another follows; where that may be either, the call is refused (judge-rules.md D).
    """
    src, got = attempt.src, list[str]()
    closers, openers = attempt.call_close, _openers(attempt)
    depth, first = 0, -1
    start = src.at
    src.hold()
    while mark := (yield from src.until(closers + openers, got.append)):
        if mark in openers:
            depth += 1
            if depth > MOST_OPEN:
                raise Broken(f"more than {MOST_OPEN} calls are open in its text")
        elif depth:
            depth -= 1
            first = src.at - len(mark) - start if first < 0 else first
        elif (yield from _ends(attempt, closers, openers)):
            src.release()
            attempt.ended = True
            return "".join(got)
        got.append(mark)
    text = "".join(got)
    if first >= 0:
        src.rewind()
        src.pos += first
        yield from src.literal(closers)
        attempt.ended = True
        return text[:first]
    src.release()
    cut = max((len(c) for close in closers for c in _beginnings(close) if text.endswith(c)), default=0)
    attempt.closed = False
    return text[: len(text) - cut]


def _openers(attempt: Attempt) -> tuple[str, ...]:
    """What opens a call like this one."""
    if not attempt.row.forms:
        return attempt.row.call_open
    return (attempt.opener,) if len(attempt.opener) > 2 else ()


def _ends(attempt: Attempt, closers: tuple[str, ...], openers: tuple[str, ...]) -> Need[bool]:
    """Does the closer that was just taken end the call?  False: it is a part of its text."""
    src, behind = attempt.src, list[str]()
    indented = INDENTED.search(src.behind(MAX_INDENT)) is not None
    src.hold()
    mark = yield from src.until((*closers, *openers, PARAGRAPH), behind.append)
    src.rewind()
    if mark not in closers:
        return True
    text = "".join(behind)
    if indented or text.partition("\n")[0].strip():
        return False
    if text.strip():
        return True
    raise Broken(UNCLEAR)


def _complete(attempt: Attempt, draft: Draft, text: str) -> tuple[str, bool]:
    """The YAML without a closing tag of another name behind it, and whether it is ended; `Cut` if it is not whole."""
    stray = STRAY.search(text)
    if stray is not None and (not attempt.ended or draft.shape.has(stray["key"])):
        draft.edits.append(Edit("stray_closer", "$", stray["key"]))
        return text[: stray.start()] + "\n", True
    if attempt.ended:
        return text, True
    last = split_key(text.rstrip("\n").rpartition("\n")[2]) if text.endswith("\n") else None
    if last is None or last[1].strip()[:1] in ("", "|", ">", "[", "{"):
        raise Cut
    draft.edits.append(Edit("unclosed"))
    return text, False


def _beginnings(close: str) -> list[str]:
    return [close[:n] for n in range(2, len(close))]


def _mapping(draft: Draft, text: str, ended: bool) -> dict[str, Any]:
    return read_mapping("" if text.strip() == "{}" else text, draft.shape, ended=ended)


def _write(draft: Draft, value: Any) -> None:
    if not isinstance(value, dict):
        raise Broken("the arguments are not a mapping")
    fixed, edits = coerce(take_keys(draft, value), draft.shape)
    draft.edits += edits
    draft.write(json.dumps(fixed, ensure_ascii=False, allow_nan=False))


def text_args(attempt: Attempt) -> Need[None]:
    """`NAME` in markup and plain text after it: the value of the one parameter that it can be."""
    draft, args = attempt.new(), attempt.spec.args
    assert isinstance(args, TextArgs)
    name, call_id, _ = yield from attempt.tool()
    given = yield from _body(attempt)
    if given.startswith(args.first) and given.endswith(args.last):
        given = given[len(args.first) :].removesuffix(args.last)
    text = given.strip()
    if not attempt.ended:
        raise Cut
    if text[:1] in ("{", "[") or text[:2] == "- ":
        raise Mismatch
    attempt.begin(draft, name, call_id)
    key = _only_text(draft.shape)
    if not text or not key or names_parameter(text, draft.shape):
        raise Broken("text stands where the arguments should be")
    draft.edits.append(Edit("wrapped_text", "$", text[:40]))
    section = CDATA.fullmatch(text)
    _write(draft, {key: section[1] if section and "]]>" not in section[1] else unescaped(given)})
    attempt.finish(draft)


def _only_text(shape: Shape) -> str:
    """The parameter that plain text must mean: the only one, the only required one, or the only one for text."""
    texts = [k for k in shape.keys if "string" in shape.property(k).kinds]
    keys = list(shape.required) if shape.required else shape.keys if len(shape.keys) == 1 else texts
    return keys[0] if len(keys) == 1 and keys[0] in texts else ""
