"""Are these calls what a row expects?  The rules of the Berkeley Function Calling Leaderboard, of our own writing.

An expectation lists, for each call, the possible values of each argument; an empty string among them says that the
argument may be left out.  Strings are compared without case, blanks and the signs `,./-_*^`, and with `'` for `"`.  In
Java and JavaScript rows a value is source text and is tried as the literal it denotes.  Several calls may come in any
order.  Source: the leaderboard's published description of its AST evaluation.
Knows plain calls, tools' schemas and expectations; nothing of how calls were read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from ...records import dataclass
from ...schema.validation import kind_of, shape
from .source_literals import readings

Call: TypeAlias = tuple[str, Mapping[str, Any]]
"""A call's name and its arguments."""
Possible: TypeAlias = Mapping[str, Mapping[str, Any]]
"""One expected call: its name → each argument → its possible values."""

_IGNORED = re.compile(r"[ ,./\-_*^]")
_SOURCE = frozenset({"java", "javascript"})


class Strictness(StrEnum):
    """How types of values are compared: EXACT as the leaderboard does, LOOSE where 5.0 may stand for 5."""

    EXACT = "exact"
    LOOSE = "loose"


@dataclass(frozen=True, slots=True)
class Expectation:
    """What calls a row expects: `calls`, or by `category` only their names (`names_only`: REST rows, any URL)."""

    calls: tuple[Possible, ...]
    category: str = ""
    names_only: bool = False


def fits(
    calls: Sequence[Call],
    expected: Expectation,
    parameters: Mapping[str, Mapping[str, Any]],
    strictness: Strictness = Strictness.LOOSE,
) -> bool:
    """Are these calls, in any order, what is expected?  `parameters` are the schemas of the row's tools by name."""
    if expected.names_only:
        return len(calls) == 1 and _names_url(calls[0], expected.calls[0])
    if len(calls) != len(expected.calls):
        return False
    judge = _Judge(expected.category, parameters, strictness)
    return _all_placed([[n for n, one in enumerate(expected.calls) if judge.fits(call, one)] for call in calls])


def _all_placed(fitting: Sequence[Sequence[int]]) -> bool:
    """Can each call have an expectation of its own?"""
    taken: dict[int, int] = {}

    def place(call: int, seen: set[int]) -> bool:
        for one in fitting[call]:
            if one not in seen:
                seen.add(one)
                if one not in taken or place(taken[one], seen):
                    taken[one] = call
                    return True
        return False

    return all(place(call, set()) for call in range(len(fitting)))


def _names_url(call: Call, expected: Possible) -> bool:
    return call[0] in expected and any("url" in str(key).lower() for key in call[1])


class _Judge:
    """Calls of one row against what it expects."""

    def __init__(self, category: str, parameters: Mapping[str, Mapping[str, Any]], strictness: Strictness) -> None:
        self._parameters = parameters
        self._exact = strictness is Strictness.EXACT and category not in _SOURCE
        self._executable = category.startswith("executable")
        self._among: Callable[[Any, Sequence[Any]], bool] = among
        if self._executable:
            self._among = _same_as_one
        elif category in _SOURCE:
            self._among = _denotes_one

    def fits(self, call: Call, expected: Possible) -> bool:
        [(name, possible)] = expected.items()
        if not same_name(call[0], name):
            return False
        schema = self._parameters.get(name, {})
        properties, required = schema.get("properties") or {}, frozenset(schema.get("required") or ())
        if not all(
            self._argument(value, possible.get(key), properties.get(key), key in required)
            for key, value in call[1].items()
        ):
            return False
        missing = possible.keys() - call[1].keys()
        return not any(key in required or "" not in possible[key] for key in missing)

    def _argument(self, value: Any, choices: Sequence[Any] | None, declared: Any, required: bool) -> bool:
        if choices is None:
            return declared is not None and ((value is None and not required) or self._is_default(value, declared))
        if value is None and not required and "" in choices:
            return True
        return self._among(value, choices) and (not self._exact or _type_fits(value, declared, choices))

    def _is_default(self, value: Any, declared: Any) -> bool:
        return (
            self._executable
            and isinstance(declared, Mapping)
            and "default" in declared
            and same(value, declared["default"])
        )


def same_name(written: str, expected: str) -> bool:
    """Is a name the one expected?  Vendors that forbid dots have them written as `_`."""
    return written == expected or ("." in expected and written == expected.replace(".", "_"))


def _type_fits(value: Any, declared: Any, choices: Sequence[Any]) -> bool:
    """Has a value the declared type, or that of a possible answer, down to the items of a list?"""
    kinds = shape(declared).kinds if isinstance(declared, Mapping) else frozenset[str]()
    if not kinds or kind_of(value) in kinds or (kind_of(value) == "integer" and "number" in kinds):
        return not isinstance(value, list | tuple) or _items_fit(value, declared, choices)
    return any(kind_of(value) == kind_of(choice) for choice in choices if choice != "")


def _items_fit(items: Sequence[Any], declared: Any, choices: Sequence[Any]) -> bool:
    item = declared.get("items") if isinstance(declared, Mapping) else None
    if not isinstance(item, Mapping):
        return True
    possible = [one for choice in choices if isinstance(choice, list | tuple) for one in choice]
    kinds = shape(item).kinds
    return not kinds or all(
        kind_of(one) in kinds
        or (kind_of(one) == "integer" and "number" in kinds)
        or any(kind_of(one) == kind_of(choice) for choice in possible)
        for one in items
    )


# ── values ───────────────────────────────────────────────────────────────────


def _same_as_one(value: Any, choices: Sequence[Any]) -> bool:
    return any(same(value, choice) for choice in choices)


def _denotes_one(value: Any, choices: Sequence[Any]) -> bool:
    """Is a value, or a literal that it denotes as source text, one of these?"""
    if any(among(reading, choices) for reading in readings(value)):
        return True
    texts = [plain(choice) for choice in choices if isinstance(choice, str)]
    return isinstance(value, str) and (plain(value) in texts or plain(value.strip("\"'")) in texts)


def plain(text: str) -> str:
    """A text as texts are compared."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def same(value: Any, literal: Any) -> bool:
    """Is a value this literal?"""
    if isinstance(value, bool) or isinstance(literal, bool):
        return value is literal
    if _is_number(value) and _is_number(literal):
        return value == literal or math.isclose(value, literal, rel_tol=1e-9)
    if isinstance(value, str) and isinstance(literal, str):
        return plain(value) == plain(literal)
    if isinstance(value, list | tuple) and isinstance(literal, list | tuple):
        return len(value) == len(literal) and all(map(same, value, literal))
    if isinstance(value, Mapping) and isinstance(literal, Mapping):
        return value.keys() == literal.keys() and all(same(value[key], literal[key]) for key in value)
    return value is None and literal is None


def _is_one(value: Any, choice: Any) -> bool:
    """Is a value this choice?  An object among the choices holds lists of choices."""
    if isinstance(value, Mapping) and isinstance(choice, Mapping):
        lists = {key: held if isinstance(held, list) else [held] for key, held in choice.items()}
        return value.keys() <= lists.keys() and all(
            among(value[key], held) if key in value else "" in held for key, held in lists.items()
        )
    if isinstance(value, list | tuple) and isinstance(choice, list):
        return len(value) == len(choice) and all(map(_is_one, value, choice))
    return same(value, choice)


def among(value: Any, choices: Sequence[Any]) -> bool:
    """Is a value one of these?"""
    if any(_is_one(value, choice) for choice in choices if choice != ""):
        return True
    return (value == "" and "" in choices) or (isinstance(value, list | tuple) and same(value, choices))
