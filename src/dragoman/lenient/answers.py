"""An answer that must be JSON of a schema: the value out of what the model wrote around it.

Knows JSON Schema and the mending of JSON; nothing of models, requests or tools.
Contract: a value is given only if it fits; spelling is mended (fences, commas, types), meaning never: a value that was
cut short is not completed, and of two values in one answer neither is chosen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ..late import late
from ..records import dataclass
from ..schema.coercion import coerce
from ..schema.shape import shape
from ..schema.validation import Fault, faults
from ..types import Edit, JsonObject
from .reader import Broken, Cut, mend

FENCE = late(r"```[\w+-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
OPENER = late(r"[{\[]")
MOST_FAULTS = 8
MOST_CANDIDATES = 16
"""Openers that are tried in prose; more than that is prose about JSON."""


@dataclass(frozen=True, slots=True)
class Fitting:
    """A value that fits, and what had to be mended for it."""

    value: Any
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why no value was found: one sentence, and the faults of the value that came nearest."""

    why: str
    faults: tuple[Fault, ...] = ()


def read_answer(text: str, schema: JsonObject | None) -> Fitting | Unfit:
    """The one value in `text` that fits `schema` (None: any JSON object)."""
    wanted: JsonObject = {"type": "object"} if schema is None else schema
    nearest: Unfit | None = None
    for candidate in _candidates(text):
        try:
            value, edits = _value(candidate)
        except Cut:
            nearest = nearest or Unfit("the JSON ends too early; it was cut")
            continue
        except (Broken, ValueError, RecursionError) as error:
            nearest = nearest or Unfit(f"it is not valid JSON: {str(error)[:200]}")
            continue
        found = fit(value, wanted)
        if isinstance(found, Fitting):
            return Fitting(found.value, (*edits, *found.edits))
        nearest = found if nearest is None or not nearest.faults else nearest
    return nearest or Unfit("there is no JSON in the answer")


def read_word(text: str, schema: JsonObject | None) -> Fitting | Unfit:
    """The one word of the `enum` of `schema` that `text` is: bare, as JSON, or as the one field of an object."""
    words = (schema or {}).get("enum")
    allowed = words if isinstance(words, list) else []
    bare = text.strip()
    if bare in allowed:
        return Fitting(bare)
    for candidate in _candidates(text):
        try:
            value, edits = _value(candidate)
        except (Broken, ValueError, RecursionError):
            continue
        if isinstance(value, dict) and len(value) == 1:
            (value,) = value.values()
        if isinstance(value, str) and value in allowed:
            return Fitting(value, tuple(edits))
    return Unfit(f"it is not one of {', '.join(map(str, allowed))}")


def fit(value: Any, schema: JsonObject) -> Fitting | Unfit:
    """`value`, its types coerced to `schema`, or why it does not fit."""
    coerced, edits = coerce(value, shape(schema))
    found = faults(schema, coerced)
    if not found:
        return Fitting(coerced, tuple(edits))
    told = "; ".join(f"{fault.path}: {fault.message}" for fault in found[:MOST_FAULTS])
    return Unfit(f"it does not fit the schema: {told}", tuple(found))


def _value(candidate: str) -> tuple[Any, list[Edit]]:
    try:
        return json.loads(candidate, parse_constant=_refuse), []
    except ValueError:
        return mend(candidate)


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _candidates(text: str) -> Iterator[str]:
    """What may be the value: all of the text, the one fenced block of it, the one value that stands in prose."""
    bare = text.strip()
    if not bare:
        return
    yield bare
    fenced = FENCE.findall(bare)
    if len(fenced) == 1:
        yield fenced[0]
    if not fenced:
        yield from _in_prose(bare)


def _in_prose(text: str) -> Iterator[str]:
    """The outermost value of the text, where there is exactly one; `raw_decode` says where each ends."""
    decoder = json.JSONDecoder()
    found: list[str] = []
    at = OPENER.search(text)
    tries = 0
    while at is not None and tries < MOST_CANDIDATES:
        tries += 1
        end = at.start() + 1
        try:
            _, end = decoder.raw_decode(text, at.start())
            found.append(text[at.start() : end])
        except (ValueError, RecursionError):
            pass
        at = OPENER.search(text, end)
    whole = [piece for piece in found if piece not in ("[]", "{}")]
    if len(whole) == 1:
        yield whole[0]


