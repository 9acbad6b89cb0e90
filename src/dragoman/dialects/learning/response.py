"""Hugging Face's `response_template` as a voice: the text its own parser would read as our calls.

The record (transformers >= 5.13, `utils/chat_parsing`; vLLM `parser/response_template.py`) says how to take a message
apart: fields with an opener, a closer and a parser of what is between.  Read backwards it writes, and what it writes is
compared as a chat template's turns are.  This module knows that record, and no dialect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...types import ToolCall
from ..engine.common_marks import FABRICATED, FOREIGN_TURN, QUIET
from ..spec import Dialect, Span, TaggedArgs, Typing
from .marks import is_marker
from .patterns import Filler
from .voice import REASONING_KEYS, CannotWrite, LearnError, NotUnderstood

CALLS, CONTENT = "tool_calls", "content"
PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)*)\}")
PARSERS = frozenset({"text", "int", "float", "bool", "json", "xml-inline", "kv-lines"})
FIELD = frozenset(
    {"open", "open_pattern", "close", "close_pattern", "content", "content_args", "repeats", "join", "optional",
     "transform", "transform_each"}
)
TOP = frozenset({"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"})


class ResponseTemplate:
    """A `response_template` read backwards.  A `Voice`.

    `chained`: alternatives in its expressions spell the first call's opener and the others', see `Filler`.
    """

    role = asker = header = trailer = ""

    def __init__(self, template: Mapping[str, Any], *, chained: bool = False) -> None:
        check(template)
        self.fields: Mapping[str, Mapping[str, Any]] = template["fields"]
        self.chained = chained
        thinking = (self.fields[key] for key in REASONING_KEYS if key in self.fields)
        self.thinking: Mapping[str, Any] | None = next(thinking, None)
        self.opening: str = self._anchor(template, "start_anchor", {})

    @property
    def calls(self) -> Mapping[str, Any]:
        """The field of the calls."""
        return self.fields[CALLS]

    def turn(self, calls: Sequence[ToolCall], text: str = "", reasoning: str = "") -> str:
        """One assistant turn; its regions in the order models write them."""
        told = self._region(self.thinking, reasoning) if reasoning else ""
        said = self._region(self.fields.get(CONTENT, {}), text) if text else ""
        return told + said + self._calls(calls)

    def result(self, call: ToolCall, content: str) -> str:
        """A response template says nothing of results."""
        return ""

    def ends(self) -> tuple[str, ...]:
        """What ends the visible text and is no part of it."""
        field = self.fields.get(CONTENT, {})
        found = spellings(field.get("close")) or (self._anchor(field, "close", {}),)
        return tuple(e.strip() for e in found if is_marker(e) and e.strip() not in {*QUIET, *FABRICATED, *FOREIGN_TURN})

    # ── regions ──────────────────────────────────────────────────────────────

    def _region(self, field: Mapping[str, Any] | None, text: str) -> str:
        if field is None:
            raise CannotWrite("there is no such field")
        if not _has_opener(field):
            return text
        return self._anchor(field, "open", {}) + text + self._anchor(field, "close", {})

    def _calls(self, calls: Sequence[ToolCall]) -> str:
        if len(calls) > 1 and not self.calls.get("repeats") and not self.calls.get("transform_each"):
            raise CannotWrite("the field of the calls does not repeat")
        if self.calls.get("transform_each"):
            return self._one_region([self._inverted(c, {}) for c in calls], {}, None, None) if calls else ""
        written = []
        for i, call in enumerate(calls):
            captures: dict[str, Any] = {}
            content = self._inverted(call, captures)
            place = (i == 0, i == len(calls) - 1) if self.chained else (None, None)
            written.append(self._one_region(content, captures, *place))
        return ("" if self.chained else "\n").join(written)

    def _one_region(self, content: Any, captures: Mapping[str, Any], first: bool | None, last: bool | None) -> str:
        told = {key: value if isinstance(value, str) else _json(value) for key, value in captures.items()}
        opener = self._anchor(self.calls, "open", told, first, last)
        return opener + self._content(content) + self._anchor(self.calls, "close", told, first, last)

    def _anchor(
        self, field: Mapping[str, Any], key: str, captures: Mapping[str, str], first: bool | None = None,
        last: bool | None = None,
    ) -> str:  # fmt: skip
        pattern = field.get(f"{key}_pattern")
        if pattern is not None:
            return Filler(captures, first=first, last=last).fill(pattern)
        literals = spellings(field.get(key))
        return literals[0] if literals else ""

    # ── a call, put back into the shape it was taken from ────────────────────

    def _inverted(self, call: ToolCall, captures: dict[str, Any]) -> Any:
        """What `transform` makes this call of: the content; what it takes from the anchors goes into `captures`."""
        target = {"type": "function", "function": {"name": call.name, "arguments": dict(call.arguments)}}
        transform = self.calls.get("transform")
        if transform is None:
            return target
        content = _Content()
        self._unify(transform, target, content, captures)
        return content.value

    def _unify(self, transform: Any, target: Any, content: _Content, captures: dict[str, Any]) -> None:
        if isinstance(transform, Mapping) and isinstance(target, Mapping):
            for key, value in transform.items():
                if key in target:
                    self._unify(value, target[key], content, captures)
            return
        found = PLACEHOLDER.fullmatch(transform) if isinstance(transform, str) else None
        if found is None:
            if transform != target:
                raise NotUnderstood(f"the calls' {transform!r} is fixed by the template, whatever the model writes")
            return
        root, *path = found[1].split(".")
        if root == CONTENT or self.calls.get("transform_each"):
            content.put([root, *path] if self.calls.get("transform_each") else path, target)
        else:
            captures[root] = target

    def _content(self, value: Any) -> str:
        parser = self.calls.get("content", "text")
        args = self.calls.get("content_args") or {}
        match parser:
            case "json":
                return _lax(value, args)
            case "xml-inline":
                return self._tags(value, args)
            case "kv-lines":
                line, sep = str(args.get("line_sep", "\n")), str(args.get("kv_sep", ":"))
                return "".join(f"{line}{k}{sep} {_raw(v, args)}" for k, v in dict(value).items()) + line
            case _:
                raise NotUnderstood(f"the arguments are plain {parser}, without names")

    def _tags(self, value: Any, args: Mapping[str, Any]) -> str:
        pattern = str(args.get("tag_pattern", ""))
        written = [Filler({"key": k, "value": _raw(v, args)}).fill(pattern) for k, v in dict(value).items()]
        between = ", " if pattern.startswith("(?P<key>") else "\n"
        return between.join(written) + ("\n" if written and between == "\n" else "")


class _Content:
    """A value under construction, member by member."""

    def __init__(self) -> None:
        self.value: Any = None

    def put(self, path: Sequence[str], value: Any) -> None:
        """Set the member at `path`; the empty path is the whole."""
        if not path:
            self.value = value
            return
        self.value = self.value or {}
        inner = self.value
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = value


# ── what values look like ────────────────────────────────────────────────────


def _raw(value: Any, args: Mapping[str, Any]) -> str:
    """A value inside a tag, as its own parser would read it."""
    parser = args.get("value_parser") or {"name": "text"}
    own = parser.get("args") or {}
    if parser.get("name") != "json":
        return value if isinstance(value, str) else _json(value)
    bare = isinstance(value, str) and own.get("allow_non_json") and not own.get("string_delims")
    return value if bare else _lax(value, own)


def _lax(value: Any, args: Mapping[str, Any]) -> str:
    """JSON with the string marks and the bare keys of `content_args`."""
    marks = next(iter(args.get("string_delims") or ()), None)
    bare = bool(args.get("unquoted_keys"))
    if isinstance(value, Mapping):
        gap = "" if bare else " "
        told = (f"{k if bare else _json(k)}:{gap}{_lax(v, args)}" for k, v in value.items())
        return "{" + f",{gap}".join(told) + "}"
    if isinstance(value, list):
        return "[" + (", " if not bare else ",").join(_lax(v, args) for v in value) + "]"
    if isinstance(value, str) and marks:
        return f"{marks[0]}{value}{marks[1]}"
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# ── the record ───────────────────────────────────────────────────────────────


def spellings(literal: Any) -> tuple[str, ...]:
    """An anchor's literals: one, or several of which any will do."""
    return (literal,) if isinstance(literal, str) else tuple(literal or ())


def _has_opener(field: Mapping[str, Any]) -> bool:
    return "open" in field or "open_pattern" in field


def check(template: Mapping[str, Any]) -> None:
    """Raise `LearnError` for a record this is not."""
    if not isinstance(template, Mapping) or not isinstance(template.get("fields"), Mapping):
        raise LearnError("the response template has no object of fields")
    unknown = sorted(set(template) - TOP)
    fields = template["fields"]
    for name, field in fields.items():
        unknown += [f"{name}.{key}" for key in sorted(set(field) - FIELD)]
        if field.get("content", "text") not in PARSERS:
            unknown.append(f"{name}.content={field['content']!r}")
    if unknown:
        raise LearnError(f"the response template says what we do not know: {', '.join(unknown)}")
    if template.get("version", 1) != 1:
        raise LearnError(f"the response template is of version {template['version']!r}; version 1 is known")
    if CALLS not in fields:
        raise LearnError("the response template has no field tool_calls")
    if not _has_opener(fields[CALLS]):
        raise LearnError("the response template marks no beginning of calls")


def refined(row: Dialect, template: ResponseTemplate) -> Dialect:
    """The row with what no turn shows: other spellings of its marks, and how a value without a schema is read."""
    opens, closes = spellings(template.calls.get("open")), spellings(template.calls.get("close"))
    row = replace(row, section=_widened(row.section, opens, closes), call=_widened(row.call, opens, closes))
    if template.thinking is not None and row.reasoning:
        span = _widened(row.reasoning[0], *(spellings(template.thinking.get(k)) for k in ("open", "close")))
        row = replace(row, reasoning=(span,))
    parser = (template.calls.get("content_args") or {}).get("value_parser") or {}
    if isinstance(row.args, TaggedArgs) and parser.get("name") == "json":
        row = replace(row, args=replace(row.args, typing=Typing.LITERAL))
    quiet = tuple(dict.fromkeys((*row.quiet, *template.ends())))
    return replace(row, call=_ended(row), quiet=quiet, source="learned from a response template")


def _ended(row: Dialect) -> Span:
    """The call's end, also behind the closer of the name's own tag.

    `xml-inline` reads past everything between arguments, so templates leave `</function>` out; models do write it.
    """
    word = re.match(r"<([^\s=>]+)", "".join(row.tool.open[:1]))
    partner = f"</{word[1]}>" if word else ""
    if not partner or not isinstance(row.args, TaggedArgs) or partner in "".join(row.body.close + row.call.close):
        return row.call
    return Span(row.call.open, (*row.call.close, *(partner + gap + c for c in row.call.close for gap in ("\n", ""))))


def _widened(span: Span, opens: Sequence[str], closes: Sequence[str]) -> Span:
    return Span(_more(span.open, opens), _more(span.close, closes))


def _more(known: tuple[str, ...], literals: Sequence[str]) -> tuple[str, ...]:
    alike = known and literals and known[0].strip() == literals[0].strip()
    return tuple(dict.fromkeys((*known, *literals[1:]))) if alike else known
