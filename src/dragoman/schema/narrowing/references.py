"""References and `allOf` filled in, and the loops that references make.

Knows the whole schema and what of it is being filled in; nothing of kinds, alternatives or members.
Contract: a flat schema holds no `$ref` and no `allOf`, but where the API takes them; while it is read, a reference that
comes back to it is a loop, which is given a definition where the API takes those and cut where it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...types import JsonObject
from ..api_rules import EVERY, Refs, SchemaRules
from ..shape import resolve
from ..vocabulary import join, refs_in, tidy, well_formed
from .equivalents import in_words_of
from .losses import Losses


class References:
    """The references of one schema.

    `_entered` are those being filled in, `_loops` those that were left because they close a loop, by the name of their
    definition.
    """

    def __init__(self, source: JsonObject, rules: SchemaRules, losses: Losses) -> None:
        self._source, self._rules, self._losses = source, rules, losses
        self._entered: list[str] = []
        self._loops: dict[str, str] = {}
        self._reaches: dict[str, frozenset[str]] = {}

    def target(self, ref: str) -> Any:
        """The subschema that `ref` names."""
        return resolve(self._source, ref)

    # ── filled in ────────────────────────────────────────────────────────────

    @contextmanager
    def flat(self, schema: JsonObject, path: str, *, root: bool = False) -> Iterator[dict[str, Any]]:
        """`schema` with what its `$ref` and `allOf` name laid into it, while that is being read."""
        before = len(self._entered)
        yield self._laid(schema, path, root=root)
        del self._entered[before:]

    @contextmanager
    def flats(self, schemas: Iterable[JsonObject], path: str) -> Iterator[list[dict[str, Any]]]:
        """`flat` of several."""
        before = len(self._entered)
        yield [self._laid(schema, path, root=True) for schema in schemas]
        del self._entered[before:]

    def sound(self, schema: JsonObject, path: str) -> dict[str, Any]:
        """`schema` without the keywords that hold what they cannot."""
        return {key: tidy(key, value) for key, value in schema.items() if self._is_sound(key, value, path)}

    def join(self, first: JsonObject, second: JsonObject, path: str) -> dict[str, Any]:
        """One schema for what fits both."""
        return join(first, second, lambda key: self._losses.lose(path, key))

    def _laid(self, schema: JsonObject, path: str, *, root: bool = False) -> dict[str, Any]:
        flat = self.sound(schema, path)
        keeps = self._rules.refs is Refs.KEEP and not root
        if "$ref" in flat and (not keeps or self.target(flat["$ref"]) is True):
            flat = self._joined(flat, flat.pop("$ref"), path)
        if "allOf" in flat and not (self._rules.takes("allOf") and keeps):
            for member in flat.pop("allOf"):
                if isinstance(member, Mapping):
                    flat = self.join(flat, self._laid(member, path, root=root), path)
        return in_words_of(self._rules, flat)

    def _joined(self, flat: dict[str, Any], ref: str, path: str) -> dict[str, Any]:
        """`flat` and what `ref` names."""
        target = self.target(ref)
        if ref in self._entered or not isinstance(target, Mapping):
            self._losses.lose(path, "$ref")
            return flat
        self._entered.append(ref)
        return self.join(flat, self._laid(target, path, root=True), path)

    def _is_sound(self, key: str, value: Any, path: str) -> bool:
        if self._rules.keywords is not None and key not in EVERY and not self._rules.takes(key):
            return False  # x-order, markdownDescription …: nobody's words for values
        if well_formed(key, value):
            return True
        self._losses.lose(path, key)
        return False

    # ── loops ────────────────────────────────────────────────────────────────

    def definition(self, ref: str) -> str | None:
        """The name of the definition that `ref` is left to, for it closes a loop; None where it is filled in."""
        if self._rules.refs is not Refs.LOOPS or ref not in self._reached(ref):
            return None
        return self._loops.setdefault(ref, self._free_name(ref))

    def is_entered(self, ref: str) -> bool:
        """Is `ref` being filled in already?"""
        return ref in self._entered

    def definitions(self, made: JsonObject, cut: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """The definitions that `made` refers to, and those that they refer to in turn; `cut` makes one of a schema."""
        found: dict[str, Any] = {}
        while left := [ref for ref, name in self._loops.items() if _is_wanted(name, made, found)]:
            self._entered = [left[0]]
            found[self._loops[left[0]]] = cut(self.target(left[0]))
        self._entered = []
        return found

    def _free_name(self, ref: str) -> str:
        """A name for the definition of `ref` that no other has."""
        name = ref.rpartition("/")[2].strip("#") or "root"
        while name in self._loops.values():
            name += "_"
        return name

    def _reached(self, ref: str) -> frozenset[str]:
        """The references that can be reached from what `ref` names."""
        if ref not in self._reaches:
            found: dict[str, None] = {}
            left = [ref]
            while left:
                new = [one for one in refs_in(self.target(left.pop())) if one not in found]
                found.update(dict.fromkeys(new))
                left += new
            self._reaches[ref] = frozenset(found)
        return self._reaches[ref]


def _is_wanted(name: str, made: JsonObject, definitions: JsonObject) -> bool:
    """Does anything refer to the definition, which is not there yet?"""
    return name not in definitions and f"#/$defs/{name}" in {*refs_in(made), *refs_in(definitions)}
