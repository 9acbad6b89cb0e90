"""What is wrong with a settings file, in words: where it stands, what it is, and what to write instead.

Knows the form and TOML's text; nothing of what settings mean.  Contract: every complaint has the path of the value and,
where the text is known, its line; every complaint ends with what to do.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ...errors import nearest
from ...records import NamedTuple
from ...schema.shape import child
from ...schema.validation import faults
from .json_schema import FORM

Steps: TypeAlias = "tuple[str | int, ...]"

MISSPELT = "unknown here; write {near}"
UNKNOWN = "unknown here; leave it out, or take one of: {known}"
SET = "what was set"
"""What is not right where no file says it: an option, or a variable."""
NOT_FINITE = "must be a finite number; write one (0 stands for no limit, where there is none)"
NOT_QUOTED = "a {kind} is nothing that is wanted here; put it between quotes"


class Complaint(NamedTuple):
    """One thing that is wrong: the path of the value (`$.server.port`), and the message."""

    path: str
    message: str


def complaints(data: Mapping[str, Any]) -> list[Complaint]:
    """All that is wrong with the form of `data`."""
    places = _places(data)
    odd = {path: word for path, steps in places.items() if (word := _no_json(_at(data, steps)))}
    found = [Complaint(path, word) for path, word in odd.items()]
    seen = set(odd)
    for fault in faults(FORM, _as_json(data)):
        if fault.path in odd or (fault.path in seen and fault.keyword in {"anyOf", "oneOf"}):
            continue
        seen.add(fault.path)
        steps = places.get(fault.path, ())
        shape = _shape(data, steps)
        if fault.keyword == "additionalProperties":
            found += _unknown(fault.path, shape, _at(data, steps))
        else:
            found.append(Complaint(fault.path, shape.get("errorMessage") or f"{fault.message}; mend it there"))
    return found


def _unknown(path: str, shape: Mapping[str, Any], row: Any) -> Iterator[Complaint]:
    known = list(shape.get("properties", ()))
    for name in row if isinstance(row, Mapping) else ():
        if name not in known:
            near = " or ".join(map(repr, nearest(name, known, 2)))
            words = MISSPELT.format(near=near) if near else UNKNOWN.format(known=", ".join(known))
            yield Complaint(child(path, name), words)


def _no_json(value: Any) -> str:
    """What is wrong with a value of TOML that JSON does not have; "" for nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        return NOT_FINITE
    plain = isinstance(value, str | int | float | list | Mapping)
    return "" if plain else NOT_QUOTED.format(kind=type(value).__name__)


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_as_json(one) for one in value]
    return 0 if _no_json(value) else value


# ── places ───────────────────────────────────────────────────────────────────


def _places(data: Any, path: str = "$", steps: Steps = ()) -> dict[str, Steps]:
    """Path → steps, of every value in `data`."""
    places = {path: steps}
    inside = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()
    for step, value in inside:
        places |= _places(value, child(path, step), (*steps, step))
    return places


def _at(data: Any, steps: Steps) -> Any:
    for step in steps:
        data = data[step]
    return data


def _shape(data: Any, steps: Steps) -> Mapping[str, Any]:
    """The part of the form that holds for the value there: of several forms that of its kind."""
    shape: Any = FORM
    for step in steps:
        if isinstance(step, int):
            shape = shape.get("items", {})
        else:
            more = shape.get("additionalProperties")
            shape = shape.get("properties", {}).get(step) or (more if isinstance(more, Mapping) else {})
        data = data[step]
        shape = {**shape, **_of_kind(shape.get("anyOf", ()), data)}
    found: Mapping[str, Any] = shape
    return found


def _of_kind(forms: Sequence[Mapping[str, Any]], value: Any) -> Mapping[str, Any]:
    kind = "object" if isinstance(value, Mapping) else "string" if isinstance(value, str) else ""
    return next((form for form in forms if form.get("type") == kind), {})


# ── lines ────────────────────────────────────────────────────────────────────


def shown(wrong: Sequence[Complaint], text: str, variables: Mapping[str, str], source: str) -> str:
    """All complaints about a file, each with its line, or with its variable (`variables`: by path), as one message.

    A file that says nothing wrong is not blamed for what an option or a variable says.
    """
    lines = text.splitlines(keepends=True)
    places = _places(tomllib.loads(text)) if text else {}

    def where(path: str) -> str:
        return f"the variable {variables[path]}: " if path in variables else _where(lines, places, path)

    if all(one.path in variables or not one.path.startswith("$") for one in wrong):
        source = SET
    rows = [f"{where(one.path)}{one.path}: {one.message}" for one in dict.fromkeys(wrong)]
    apart = "\n  "
    return f"{source} is not right: {rows[0]}" if len(rows) == 1 else f"{source} is not right:{apart}{apart.join(rows)}"


def _where(lines: Sequence[str], places: Mapping[str, Steps], path: str) -> str:
    """`line 3: ` for the value at `path`, or for the nearest around it that stands in the text."""
    around = max((known for known in places if _within(path, known)), key=len, default="$")
    return f"line {_line(lines, places[around])}: " if places.get(around) else ""


def _within(path: str, outer: str) -> bool:
    return path == outer or (path.startswith(outer) and path[len(outer)] in ".[")


def _line(lines: Sequence[str], steps: Steps) -> int:
    """The line where the value begins: up to the line before, the text is TOML without it.

    Halving: `before` is a number of lines that make TOML without the value, `after` one that make it with the value.
    """
    before, after = 0, len(lines)
    while after - before > 1:
        middle = (before + after) // 2
        tried = next((n for n in range(middle, after) if _parsed(lines[:n]) is not None), after)
        if tried == after:
            tried = next((n for n in range(middle - 1, before, -1) if _parsed(lines[:n]) is not None), before)
            if tried == before:
                break
        if _holds(_parsed(lines[:tried]), steps):
            after = tried
        else:
            before = tried
    return before + 1


def _parsed(lines: Sequence[str]) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads("".join(lines))
    except tomllib.TOMLDecodeError:
        return None


def _holds(data: Any, steps: Steps) -> bool:
    try:
        _at(data, steps)
    except (KeyError, IndexError, TypeError):
        return False
    return True
