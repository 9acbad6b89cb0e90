"""A flat schema in other words that mean the same, where an API has no own word for something.

Knows keywords and rows; nothing of references or of what is lost.  Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..api_rules import Must, SchemaRules
from ..vocabulary import ANNOTATIONS, IMPLIED, LISTS, any_of, difference, kinds_of_values, only_kind

NULL: Mapping[str, Any] = {"type": "null"}


def in_words_of(rules: SchemaRules, flat: dict[str, Any]) -> dict[str, Any]:
    """`const`, `oneOf` and `nullable` in an API's words for them."""
    takes, typed = rules.takes, Must.TYPE in rules.musts
    if "const" in flat and (typed or not takes("const")):
        flat.setdefault("enum", [flat["const"]])
        del flat["const"]
    if "oneOf" in flat and "anyOf" not in flat and (typed or not takes("oneOf")):
        flat["anyOf"] = flat.pop("oneOf")
    if flat.get("nullable") is True and not takes("nullable"):
        flat = {key: value for key, value in flat.items() if key != "nullable"}
        flat = {**flat, "anyOf": [*flat["anyOf"], NULL]} if "anyOf" in flat else flat
    return flat


def typed(rules: SchemaRules, flat: dict[str, Any]) -> dict[str, Any]:
    """With a type, where the rest implies one and the API wants one."""
    if "type" in flat or Must.TYPE not in rules.musts or "$ref" in flat:
        return flat
    implied = [kind for word, kind in IMPLIED if word in flat and "anyOf" not in flat][:1]
    kinds = kinds_of_values(flat.get("enum", ())) or implied
    return {**flat, "type": kinds[0] if len(kinds) == 1 else kinds} if kinds else flat


def tuple_as_list(rules: SchemaRules, flat: dict[str, Any]) -> dict[str, Any]:
    """A tuple as an array of any of its items, where the API knows no tuples."""
    old = isinstance(flat.get("items"), list)  # the draft's that had no `prefixItems`
    places = flat.get("prefixItems") or (flat["items"] if old else None)
    if places is None or (rules.takes("prefixItems") and not old):
        return flat
    rest = flat.get("additionalItems" if old else "items")
    left = {key: value for key, value in flat.items() if key not in ("items", "additionalItems")}
    if rules.takes("prefixItems"):
        return {**left, "prefixItems": places, **({} if rest is None else {"items": rest})}
    left.pop("prefixItems", None)
    return {**left, "type": "array", "items": any_of([*places, rest] if isinstance(rest, Mapping) else places)}


def by_kind(flat: dict[str, Any], kinds: Sequence[str], *, nullable: bool) -> tuple[dict[str, Any], bool]:
    """A node of several kinds as one with alternatives, and whether it takes null beside.

    With `nullable`, a kind and null is that kind alone.
    """
    if "enum" in flat:
        flat, kinds = _enumerated(flat, kinds)
    rest = [kind for kind in kinds if kind != "null"]
    branches = [only_kind(flat, kind) for kind in rest]
    common = {key: value for key, value in flat.items() if key in ANNOTATIONS or key in LISTS}
    if len(branches) == 1 and nullable:
        return {**branches[0], **common}, len(rest) < len(kinds)
    null = [NULL] if len(rest) < len(kinds) else []
    return {**common, "anyOf": [*branches, *null]}, False


def _enumerated(flat: dict[str, Any], kinds: Sequence[str]) -> tuple[dict[str, Any], Sequence[str]]:
    """The kinds that are among the values, and the values without null where that is one of the kinds."""
    found = kinds_of_values(flat["enum"])
    kinds = [kind for kind in kinds if kind in found or (kind == "number" and "integer" in found)] or kinds
    if "null" in kinds:
        flat = {**flat, "enum": difference(flat["enum"], [None]) or [None]}
    return flat, kinds
