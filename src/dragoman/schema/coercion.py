"""Values that fit their schema: raw markup text → a typed value, and a JSON value → one of the kind asked for.

Knows shapes, not tools or dialects.
Contract: never an error and never an invention; what does not convert, or converts in two ways, stays as it is (the
validator then reports it).  Digits of big integers survive; no NaN or infinity comes out.  A parameter that is a string
and nothing else is never parsed.  Rules: formats.md 4.1, malformations.md 4.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from ..late import late
from ..records import NamedTuple
from ..types import Edit
from .shape import ANYTHING, Shape, child, kind_of, nests_deeper

_DEEPEST = 96  # lenient/reader.py refuses deeper text; deeper values of peers are left as they are
_LONGEST_ENUM_TEXT = 200
_SHORT = 60

_JSON_INTEGER = late(r"-?(?:0|[1-9][0-9]*)")
_JSON_NUMBER = late(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INTEGER = late(r"[+-]?[0-9]+")
_WHOLE = late(r"([+-]?[0-9]+)\.0*")
_NUMBER = late(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_QUOTED = late(r"""(["'])(.*)\1""", re.DOTALL)
_SPACE = late(r"\s+")
_SEPARATOR = late(r"(?<=[^\W\d_])[_-]+(?=[^\W\d_])")  # between letters only: "-1" is not "1"
_ODD_ESCAPE = late(r"(?<!\\)(?:\\\\)*\\[^\\'\"abfnrtvxuUN0-7\n]")  # Python would warn of it on stderr
_ONE_STRING = r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'"""
_PARTED = late(rf"""(?:[^"']++|(?:{_ONE_STRING})(?!\s*+["']))*+""", re.DOTALL)  # Python joins strings without a comma
_LISTED = late(r"[,;\n]")

_NO = object()  # "does not convert": None is a value


class _Place(NamedTuple):
    """A place in a value: the shape wanted here, the path, the edits so far, how deep, and whether [value] will do."""

    shape: Shape
    path: str
    edits: list[Edit]
    depth: int = 0
    may_wrap: bool = True

    def member(self, shape: Shape, key: str | int, *, may_wrap: bool = True) -> _Place:
        return _Place(shape, child(self.path, key), self.edits, self.depth + 1, may_wrap)

    def note(self, kind: str, before: Any, after: Any) -> None:
        self.edits.append(Edit(kind, self.path, _short(before), _short(after)))


def read_text(text: str, shape: Shape) -> tuple[Any, Edit | None]:
    """The value that raw text stands for, and the mend it took, if any.

    Kinds are tried in the order null, integer, number, boolean, array/object, string.  Where `string` is allowed beside
    others these must be spelt exactly as JSON spells them; where it is not, `True`, `007`, `"42"` and ` 5 ` will do.
    """
    edits: list[Edit] = []
    value = _read(text, _Place(shape, "$", edits))
    return value, edits[0] if edits else None


def coerce(value: Any, shape: Shape, path: str = "$") -> tuple[Any, list[Edit]]:
    """`value`, or one that says the same and fits, with the edits that made it.  `value` itself is not changed."""
    edits: list[Edit] = []
    return _fit(value, _Place(shape, path, edits)), edits


# ── raw text ─────────────────────────────────────────────────────────────────


def _read(text: str, at: _Place) -> Any:
    kinds, enum = at.shape.kinds, at.shape.enum
    if text in enum or not kinds:
        return text
    if kinds == _STRING:
        return _spelt(text, at) if enum else text
    strict = "string" in kinds
    value = _scalar(text, kinds, strict=strict)
    if value is not _NO:
        if not strict and not isinstance(value, float) and text != _short(value, None):
            at.note("spelling", text, value)
        return value
    value = _structure(text, at)
    if value is not _NO:
        return value
    return _spelt(text, at) if strict else _unquoted_or_wrapped(text, at)


def _scalar(text: str, kinds: frozenset[str], *, strict: bool) -> Any:
    """null, an integer, a number or a boolean, by its spelling; `_NO` for anything else."""
    if not strict:
        text = text.strip()
    if len(text) > 5000:
        return _NO
    for kind in _SCALARS:
        if kind in kinds:
            value = (_STRICT if strict else _LOOSE)[kind](text, kinds)
            if value is not _NO:
                return value
    return _NO


def _integer(text: str, pattern: re.Pattern[str]) -> Any:
    if not pattern.fullmatch(text):
        return _NO
    try:
        return int(text)
    except ValueError:  # longer than the interpreter converts: the digits stay, as text
        return _NO


def _loose_integer(text: str, kinds: frozenset[str]) -> Any:
    value = _integer(text, _INTEGER)
    if value is not _NO or "number" in kinds:
        return value
    whole = _WHOLE.fullmatch(text)
    if whole:
        return _integer(whole[1], _INTEGER)
    number = _number(text, _NUMBER)
    return _whole(number) if isinstance(number, float) else _NO


def _number(text: str, pattern: re.Pattern[str]) -> Any:
    if not pattern.fullmatch(text):
        return _NO
    value = _integer(text, _INTEGER)
    if value is _NO:
        value = float(text)
    return value if isinstance(value, int) or math.isfinite(value) else _NO


def _whole(value: float) -> Any:
    """The integer a float is exactly, as far as floats are exact."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else _NO


def _loose_boolean(text: str, kinds: frozenset[str]) -> Any:
    return _BOOLEANS.get(text.casefold(), _NO)


def _loose_null(text: str, kinds: frozenset[str]) -> Any:
    return None if text.casefold() in ("null", "none", "nil") else _NO


_STRING = frozenset({"string"})
_BOOLEANS: Mapping[str, Any] = {"true": True, "false": False, "1": True, "0": False}
_JSON_BOOLEANS: Mapping[str, Any] = {"true": True, "false": False}
_Read: TypeAlias = Callable[[str, frozenset[str]], Any]
_SCALARS = ("null", "integer", "number", "boolean")
_STRICT: Mapping[str, _Read] = {
    "null": lambda text, _: None if text in ("null", "None") else _NO,
    "integer": lambda text, _: _integer(text, _JSON_INTEGER),
    "number": lambda text, _: _number(text, _JSON_NUMBER),
    "boolean": lambda text, _: _JSON_BOOLEANS.get(text, _NO),
}
_LOOSE: Mapping[str, _Read] = {
    "null": _loose_null,
    "integer": _loose_integer,
    "number": lambda text, _: _number(text, _NUMBER),
    "boolean": _loose_boolean,
}


def _structure(text: str, at: _Place) -> Any:
    """An array or an object out of its JSON text, its members fitted in turn."""
    value = _load(text)
    if value is _NO and "string" not in at.shape.kinds:
        value = _python(text)
        if value is not _NO:
            at.note("python_literal", text, value)
    if value is _NO or kind_of(value) not in at.shape.kinds:
        return _NO
    return _fit(value, at._replace(depth=at.depth + 1))


def _python(text: str) -> Any:
    """A list or mapping as Python prints it: `['a', None]`.  Templates that print values teach models to write so."""
    if text.lstrip()[:1] not in ("{", "[") or _ODD_ESCAPE.search(text) or not _PARTED.fullmatch(text):
        return _NO
    try:
        tree = ast.parse(text.strip(), mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                _no_repeats([(ast.literal_eval(k), ast.dump(v)) for k, v in pairs if k])
        return _load(json.dumps(ast.literal_eval(tree), allow_nan=False))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _NO


def _load(text: str) -> Any:
    if text.lstrip(" \t\r\n")[:1] not in ("{", "["):
        return _NO
    try:
        value = json.loads(text, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_no_repeats)
    except (ValueError, RecursionError):
        return _NO
    # Few brackets cannot nest deeply; only many are worth the look.
    return _NO if text.count("[") + text.count("{") > _DEEPEST and nests_deeper(value, _DEEPEST) else value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key given twice with different values has no single reading."""
    found = dict(pairs)
    if len(found) < len(pairs) and any(found[key] != value for key, value in pairs):
        raise ValueError("repeated key")
    return found


def _unquoted_or_wrapped(text: str, at: _Place) -> Any:
    """The last attempts where a string will not do: quotes around the value, brackets left off around a list."""
    quoted = _QUOTED.fullmatch(text.strip())
    if quoted:
        value = _scalar(quoted[2], at.shape.kinds, strict=False)
        if value is not _NO:
            at.note("unquoted", text, value)
            return value
    value = _wrapped(text, at)
    return text if value is _NO else value


# ── values ───────────────────────────────────────────────────────────────────


def _fit(value: Any, at: _Place) -> Any:
    if at.shape is ANYTHING or at.depth > _DEEPEST:
        return value
    kind = kind_of(value)
    if _allows(at.shape, kind):
        into = _INTO.get(kind)
        return into(value, at) if into else value
    fixed = _from_string(value, at) if kind == "string" else _converted(value, kind, at)
    return value if fixed is _NO else fixed


def _allows(shape: Shape, kind: str) -> bool:
    kinds = shape.kinds
    return not kinds or kind in kinds or (kind == "integer" and "number" in kinds)


def _fits_as_it_is(value: Any, shape: Shape) -> bool:
    """The quick answer for the members of long lists: a scalar that needs no second look."""
    kind = kind_of(value)
    return kind not in _CONTAINERS and not shape.enum and _allows(shape, kind)


def _object(value: Mapping[str, Any], at: _Place) -> Any:
    shape = at.shape.narrowed(value)
    changed: dict[str, Any] = {}
    for key, member in value.items():
        wanted = shape.property(key) if isinstance(key, str) else ANYTHING
        if wanted is not ANYTHING and not _fits_as_it_is(member, wanted):
            fixed = _fit(member, at.member(wanted, key))
            if fixed is not member:
                changed[key] = fixed
    return {**value, **changed} if changed else value


def _array(value: list[Any], at: _Place) -> Any:
    if at.shape.item is ANYTHING:
        return value
    changed: dict[int, Any] = {}
    for index, item in enumerate(value):
        wanted = at.shape.at(index)
        if not _fits_as_it_is(item, wanted):
            fixed = _fit(item, at.member(wanted, index))
            if fixed is not item:
                changed[index] = fixed
    return [changed.get(i, item) for i, item in enumerate(value)] if changed else value


def _string(value: str, at: _Place) -> Any:
    return _spelt(value, at) if at.shape.enum else value


_CONTAINERS = ("object", "array")
_INTO: Mapping[str, Callable[[Any, _Place], Any]] = {"object": _object, "array": _array, "string": _string}


def _from_string(text: str, at: _Place) -> Any:
    """A JSON string where another kind is wanted: what its text says; `_NO` where it says nothing of the kind."""
    mends: list[Edit] = []
    fixed = _read(text, at._replace(edits=mends))
    if isinstance(fixed, str):
        return _NO
    at.note(f"string_to_{kind_of(fixed)}", text, fixed)
    at.edits.extend(mend for mend in mends if mend.path != at.path)
    return fixed


def _converted(value: Any, kind: str, at: _Place) -> Any:
    """`value`, of a kind the shape does not allow, as one it does; `_NO` where there is no one reading."""
    for fixed in _spellings(value, kind, at.shape.kinds):
        at.note(f"{kind}_to_{kind_of(fixed)}", value, fixed)
        return _string(fixed, at) if isinstance(fixed, str) else fixed
    return _wrapped(value, at) if kind not in ("null", "array", "") else _NO


def _spellings(value: Any, kind: str, kinds: frozenset[str]) -> Iterator[Any]:
    """The scalars of another kind that a scalar may have meant, likeliest first."""
    if kind == "number" and "integer" in kinds and _whole(value) is not _NO:
        yield _whole(value)
    if kind == "integer" and "boolean" in kinds and "string" not in kinds and value in (0, 1):
        yield bool(value)
    if kind in ("integer", "number", "boolean") and "string" in kinds:
        text = _short(value, None)
        if text:
            yield text


def _wrapped(value: Any, at: _Place) -> Any:
    """One item given for a list of items → the list; `_NO` where it does not make an item, or looks like several."""
    if "array" not in at.shape.kinds or not at.may_wrap:
        return _NO
    if isinstance(value, str):
        head = value.lstrip()[:1]
        if head in ("{", "["):
            value = _load(value)
        elif not head or _LISTED.search(value):
            return _bracketed(value, at)
    mends: list[Edit] = []
    inner = at.member(at.shape.at(0), 0, may_wrap=False)._replace(edits=mends)
    fixed = _read(value, inner) if isinstance(value, str) else _fit(value, inner)
    if value is _NO or not _allows(inner.shape, kind_of(fixed)):
        return _NO
    at.note("wrapped", value, "")
    at.edits.extend(mends)
    return [fixed]


def _bracketed(text: str, at: _Place) -> Any:
    """`1, 2, 3` for a list of numbers.  Where items may be strings, the comma may belong to one of them."""
    item = at.shape.item
    value = _NO if not item.kinds or "string" in item.kinds else _load(f"[{text}]")
    if not isinstance(value, list) or not value or not all(_allows(item, kind_of(v)) for v in value):
        return _NO
    at.note("missing_brackets", text, "")
    return _fit(value, at._replace(depth=at.depth + 1))


# ── enumerations ─────────────────────────────────────────────────────────────


def _spelt(text: str, at: _Place) -> str:
    """The enumerated string that `text` is but for case, spaces, quotes and separators, if exactly one is."""
    enum = at.shape.enum
    if text in enum or len(text) > _LONGEST_ENUM_TEXT:
        return text
    folded = _fold(text)
    found = [v for v in enum if isinstance(v, str) and _fold(v) == folded]
    if len(found) != 1:
        return text
    at.note("enum_spelling", text, found[0])
    return found[0]


def _fold(text: str) -> str:
    text = text.strip()
    quoted = _QUOTED.fullmatch(text)
    return _SEPARATOR.sub("", _SPACE.sub("", quoted[2] if quoted else text)).casefold()


def _short(value: Any, limit: int | None = _SHORT) -> str:
    """A scalar as JSON spells it (a string as it is), cut to `limit`; nothing for a container."""
    if isinstance(value, str):
        return value if limit is None or len(value) <= limit else value[:limit] + "…"
    if isinstance(value, Mapping | list | tuple):
        return ""
    try:
        return json.dumps(value, allow_nan=False)[:limit]
    except (TypeError, ValueError):
        return ""
