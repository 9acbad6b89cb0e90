"""The members of a node: which keywords an API takes, what it demands of objects, and hints for the rest.

Knows one flat schema at a time; nothing of references or alternatives.  The schemas inside it are cut by a function it
is given with each node, and does not keep: whose walk it is goes when it ends, without a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ...jsontext import to_json
from ...types import JsonObject
from ..api_rules import Must, Refs, SchemaRules
from ..shape import child
from ..vocabulary import ANNOTATIONS, HINTED, LISTS, MAPS, SINGLES, as_list, is_anchored, kinds_of_values, takes_null
from .losses import Losses

LONGEST_HINT = 200
Cut: TypeAlias = Callable[[Any, str, int], dict[str, Any]]
"""A schema, its path and its depth → the schema as the API takes it."""


class Members:
    """The members of one node after the other."""

    def __init__(self, rules: SchemaRules, losses: Losses) -> None:
        self._rules, self._losses = rules, losses

    def of(self, flat: dict[str, Any], path: str, depth: int, cut: Cut) -> dict[str, Any]:
        """`flat` as far as the API takes it, the schemas inside it `cut` in turn; the rest is lost, or hinted at."""
        made: dict[str, Any] = {}
        for key, value in self._closed(self._enumerated(flat, path)).items():
            if self._takes_here(key, value, flat):
                made[key] = _inside(key, value, child(path, key), depth + 1, cut)
            else:
                self._drop(key, value, path)
        hints = [f"{key}: {_short(flat[key])}" for key in self._losses.keywords(path) if key in HINTED and key in flat]
        return self._described(self._required(self._named(made, path)), hints)

    def finished(self, made: dict[str, Any], path: str, anything: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
        """`made` with what the API demands of every array and object; `anything` stands for items of any kind."""
        musts, kinds = self._rules.musts, as_list(made.get("type"))
        if "array" in kinds and "items" not in made and Must.ITEMS in musts:
            made = {**made, "items": anything(path)}
        if "object" in kinds and Must.PROPERTIES in musts:
            made.setdefault("properties", {})
        if "object" in kinds and Must.REQUIRED in musts:
            made.setdefault("required", [])
        return made

    # ── keywords ─────────────────────────────────────────────────────────────

    def _takes_here(self, key: str, value: Any, flat: JsonObject) -> bool:
        rules = self._rules
        if not rules.takes(key) or (key in ("$defs", "definitions") and rules.refs is not Refs.KEEP):
            return False
        kind = as_list(flat.get("type"))
        if key == "format" and rules.formats is not None:
            return value in rules.formats.get(kind[0] if kind else "", ())
        if key == "enum":
            return rules.enums.issuperset(kinds_of_values(value)) and bool(self._values(value))
        return not (key == "pattern" and Must.ANCHORED in rules.musts and not is_anchored(value))

    def _values(self, values: Iterable[Any]) -> list[Any]:
        return [value for value in values if value != "" or Must.FILLED not in self._rules.musts]

    def _enumerated(self, flat: dict[str, Any], path: str) -> dict[str, Any]:
        """With those of its values that the API takes."""
        if "enum" in flat and (values := self._values(flat["enum"])) and len(values) < len(flat["enum"]):
            self._losses.note(path, 'the value "" cannot be told')
            return {**flat, "enum": values}
        return flat

    def _drop(self, key: str, value: Any, path: str) -> None:
        if key in ANNOTATIONS - {"default"} or value is True or value is False or key == "nullable":
            return
        self._losses.lose(path, key)

    # ── objects ──────────────────────────────────────────────────────────────

    def _closed(self, flat: dict[str, Any]) -> dict[str, Any]:
        """With objects closed and complete, where the API wants that."""
        if flat.get("type") != "object":
            return flat
        if Must.CLOSED in self._rules.musts:
            if flat.get("additionalProperties", False) is not False or flat.get("patternProperties"):
                self._losses.unfit = True
            if not isinstance(flat.get("additionalProperties"), Mapping):
                flat = {**flat, "additionalProperties": False}
        if Must.COMPLETE in self._rules.musts:
            properties = flat.get("properties") or {}
            left = [key for key in properties if key not in flat.get("required", ())]
            if not all(takes_null(properties[key]) for key in left):
                self._losses.unfit = True
            flat = {**flat, "required": [*flat.get("required", ()), *left]}
        return flat

    def _named(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        """Without the properties whose names the API refuses."""
        keys, properties = self._rules.keys, made.get("properties")
        odd = [key for key in properties or () if keys is not None and not keys.fullmatch(key)]
        if not odd or properties is None:
            return made
        self._losses.note(path, f"properties whose names {self._rules.name} refuses: {', '.join(map(repr, odd))}")
        self._losses.unfit = True
        if Must.CLOSED not in self._rules.musts:
            made.pop("additionalProperties", None)  # they are some of them now
        named = {key: value for key, value in properties.items() if key not in odd}
        made = self._described({**made, "properties": named}, [f"also: {_short(odd)}"])
        made["required"] = [key for key in made.get("required", ()) if key not in odd]
        return made

    def _required(self, made: dict[str, Any]) -> dict[str, Any]:
        """With `required` as the API wants it."""
        musts = self._rules.musts
        if "required" in made and Must.DECLARED in musts:
            declared = made.get("properties", {})
            made["required"] = [key for key in made["required"] if key in declared]
        if made.get("required") == [] and Must.REQUIRED not in musts:
            del made["required"]
        return made

    def _described(self, made: dict[str, Any], hints: Sequence[str]) -> dict[str, Any]:
        """With `hints` at the end of its description."""
        text = made.get("description", "")
        new = [hint for hint in hints if hint not in text]
        if not new or not self._rules.takes("description"):
            return made
        return {**made, "description": f"{text} ({'; '.join(new)})" if text else "; ".join(new)}


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else to_json(value)
    return text if len(text) <= LONGEST_HINT else f"{text[: LONGEST_HINT - 1]}…"


def _inside(key: str, value: Any, path: str, depth: int, cut: Cut) -> Any:
    """The value of `key`, cut where it is schemas."""
    if key in MAPS:
        return {k: cut(v, child(path, k), depth) for k, v in value.items() if v is not False}
    if key in LISTS:
        return [cut(v, child(path, i), depth) for i, v in enumerate(value)]
    return cut(value, path, depth) if key in SINGLES and isinstance(value, Mapping) else value
