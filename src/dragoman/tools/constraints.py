"""The notes of `Annotated[…]`: descriptions and limits, as JSON Schema keywords or, where it has none, as checks.

Notes of annotated_types, pydantic and msgspec are known by their attributes (`ge`, `max_length`, `pattern` …), and a
plain text is a description; a note that nobody knows is left to whom it concerns.
Contract: a limit is never dropped silently: one without a keyword is described and checked when a value is read.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import UsageError
from ..schema.validation import check_schema
from ..types import JsonObject
from .qualified_names import descends
from .to_json import Unwritable, as_text, plain
from .type_schema import JsonForm, Read, invalid_value


@dataclass(frozen=True, slots=True)
class NotedLimit:
    """A limit in a note: its attribute, the keyword for each kind of value, and how it is checked and described."""

    attribute: str
    keywords: Mapping[str, str]
    holds: Callable[[Any, Any], bool]
    words: str


def _numbers(keyword: str) -> Mapping[str, str]:
    return {"integer": keyword, "number": keyword}


def _sizes(end: str) -> Mapping[str, str]:
    return {"string": f"{end}Length", "array": f"{end}Items", "object": f"{end}Properties"}


BOUNDS = (
    NotedLimit("gt", _numbers("exclusiveMinimum"), operator.gt, "greater than {}"),
    NotedLimit("ge", _numbers("minimum"), operator.ge, "at least {}"),
    NotedLimit("lt", _numbers("exclusiveMaximum"), operator.lt, "less than {}"),
    NotedLimit("le", _numbers("maximum"), operator.le, "at most {}"),
    NotedLimit("multiple_of", _numbers("multipleOf"), lambda value, step: value % step == 0, "a multiple of {}"),
    NotedLimit("min_length", _sizes("min"), lambda value, size: len(value) >= size, "with a length of at least {}"),
    NotedLimit("max_length", _sizes("max"), lambda value, size: len(value) <= size, "with a length of at most {}"),
)
_COPIED = ("examples",)  # keywords that notes carry as they are


@dataclass(slots=True)
class _Gathered:
    """The content of notes: keywords for the schema, and checks with their words."""

    schema: dict[str, Any] = field(default_factory=dict)
    checks: list[tuple[Callable[[Any], bool], str]] = field(default_factory=list)

    def check(self, holds: Callable[[Any], bool], words: str) -> None:
        self.checks.append((holds, words))


def constrained(form: JsonForm, notes: Iterable[Any]) -> JsonForm:
    """`form` with its notes."""
    gathered = _Gathered()
    kinds = kinds_of(form.schema)
    for note in _flat(notes):
        _gather(note, kinds, gathered)
    if not gathered.schema and not gathered.checks:
        return form
    described = " ".join((gathered.schema.pop("description", ""), *_check_words(gathered.checks))).strip()
    schema = {**form.schema, **gathered.schema, **({"description": described} if described else {})}
    return replace(form, schema=schema, read=_checked(form.read, gathered.checks, schema))


def description_of(notes: Iterable[Any]) -> str:
    """The description among the notes; the last one given."""
    return next((text for note in reversed(list(_flat(notes))) if (text := _description(note))), "")


def _flat(notes: Iterable[Any]) -> Iterator[Any]:
    """The notes, those that hold others (pydantic's `Field`) together with what they hold."""
    for note in notes:
        yield note
        value = getattr(note, "metadata", None)
        if isinstance(value, list | tuple) and not isinstance(note, type):
            yield from _flat(value)


def _gather(note: Any, kinds: frozenset[str], into: _Gathered) -> None:
    if isinstance(note, Mapping):
        into.schema.update({key: plain(inner) for key, inner in note.items() if isinstance(key, str)})
        return
    if text := _description(note):
        into.schema["description"] = text
    for bound in BOUNDS:
        limit = getattr(note, bound.attribute, None)
        if limit is not None and not callable(limit):
            _limit(bound, limit, kinds, into)
    _pattern(note if descends(note, "re.Pattern") else getattr(note, "pattern", None), into)
    into.schema.update(_extras(note))
    if descends(note, "annotated_types.Predicate"):
        into.check(note.func, f"that satisfies {getattr(note.func, '__name__', repr(note.func))}")


def _extras(note: Any) -> Iterator[tuple[str, Any]]:
    """The keywords that a note carries as they are."""
    for key in _COPIED:
        value = getattr(note, key, None)
        if isinstance(value, list) and value:
            yield key, plain(value)
    for extra in ("json_schema_extra", "extra_json_schema"):
        keywords = getattr(note, extra, None)
        if isinstance(keywords, Mapping):
            yield from ((key, plain(value)) for key, value in keywords.items())


def _description(note: Any) -> str:
    if isinstance(note, str):
        return note.strip()
    value = getattr(note, "documentation", None) or getattr(note, "description", None)
    return value.strip() if isinstance(value, str) else ""


def _limit(bound: NotedLimit, limit: Any, kinds: frozenset[str], into: _Gathered) -> None:
    words = {bound.keywords[kind] for kind in kinds if kind in bound.keywords}
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    is_trivial = bound.attribute == "min_length" and limit == 0
    if words and is_number:
        into.schema.update({} if is_trivial else dict.fromkeys(sorted(words), limit))
    elif not is_trivial:
        into.check(lambda value: value is None or bound.holds(value, limit), bound.words.format(_shown(limit)))


def _pattern(pattern: Any, into: _Gathered) -> None:
    """Python's own syntax is checked by Python, the rest by the schema."""
    source = getattr(pattern, "pattern", pattern)
    if not isinstance(source, str):
        return
    flags = getattr(pattern, "flags", re.UNICODE.value)
    compiled = re.compile(pattern) if isinstance(pattern, str) else pattern
    try:
        check_schema({"type": "string", "pattern": source})
    except UsageError:
        flags = ~0
    if flags == re.UNICODE.value:
        into.schema["pattern"] = source
    else:
        into.check(lambda value: bool(compiled.search(str(value))), f"that matches the Python pattern {source}")


def _check_words(checks: Iterable[tuple[Any, str]]) -> Iterator[str]:
    words = [words for _, words in checks]
    if words:
        yield f"(must be one {', '.join(words)})"


def _checked(read: Read, checks: list[tuple[Callable[[Any], bool], str]], schema: JsonObject) -> Read:
    if not checks:
        return read

    def checking(value: Any) -> Any:
        found = read(value)
        for holds, words in checks:
            if not _holds(holds, found):
                raise invalid_value(f"must be one {words}", schema, "constraint")
        return found

    return checking


def _holds(holds: Callable[[Any], bool], value: Any) -> bool:
    try:
        return bool(holds(value))
    except Exception:  # a limit that cannot even be put to the value
        return False


def _shown(limit: Any) -> str:
    try:
        written = plain(limit)
    except Unwritable:
        return repr(limit)
    return written if isinstance(written, str) else as_text(written)


def kinds_of(schema: JsonObject) -> frozenset[str]:
    """The JSON kinds that a schema of ours names, through its unions."""
    kind = schema.get("type")
    found = {kind} if isinstance(kind, str) else set(kind or ())
    for branch in schema.get("anyOf", ()):
        found |= kinds_of(branch)
    return frozenset(found)
