"""Choices and null, in an API's way of offering them.

Knows `anyOf` and `nullable` of one flat schema at a time; nothing of members.  Branches are cut by a function it is
given with each node, and does not keep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...records import NamedTuple
from ..api_rules import Kinds, Must, SchemaRules
from ..shape import child
from ..vocabulary import ANNOTATIONS, is_null
from .losses import Losses
from .objects import Cut
from .references import References


class Choice(NamedTuple):
    """A node's own keywords, its alternatives as the API takes them, and whether null will do too."""

    own: dict[str, Any]
    options: list[dict[str, Any]]
    null: bool


class Alternatives:
    """The choices of one node after the other."""

    def __init__(self, rules: SchemaRules, losses: Losses, references: References) -> None:
        self._rules, self._losses, self._references = rules, losses, references

    def of(self, flat: dict[str, Any], path: str, depth: int, cut: Cut) -> Choice:
        """The choice that `flat` offers."""
        takes, kinds = self._rules.takes("anyOf"), self._rules.kinds
        own, branches = self._apart(flat, path)
        options = _options(branches, path, depth, cut)
        useful = [one for one in options if not is_null(one)]
        null = flat.get("nullable") is True
        if useful and (kinds in (Kinds.NULLABLE, Kinds.NEVER_NULL) or not takes):
            null, options = null or len(useful) < len(options), useful
        if len(options) > 1 and not takes:
            self._losses.note(path, "only the first of the alternatives is told")
            options = options[:1]
        return Choice(own, options, null)

    def nullable(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        """`made`, and null besides."""
        if self._rules.kinds is Kinds.NULLABLE:
            return {**made, "nullable": True}
        self._losses.note(path, f"null cannot be told to {self._rules.name}")
        return made

    def _apart(self, flat: dict[str, Any], path: str) -> tuple[dict[str, Any], list[Any]]:
        """The keywords beside the branches, and the branches, which hold them where nothing may stand beside."""
        own = {key: value for key, value in flat.items() if key not in ("anyOf", "nullable")}
        branches = [branch for branch in flat["anyOf"] if branch is not False]
        if Must.ALONE not in self._rules.musts and len(branches) != 1 and self._rules.takes("anyOf"):
            return own, branches
        beside = {key: value for key, value in own.items() if key not in ANNOTATIONS}
        filled = self._references
        joined = [filled.join(filled.sound(one, path), beside, path) for one in branches if isinstance(one, Mapping)]
        return {key: value for key, value in own.items() if key in ANNOTATIONS}, joined


def _options(branches: Sequence[Any], path: str, depth: int, cut: Cut) -> list[dict[str, Any]]:
    """The different branches, each as the API takes it; a choice among them is laid open."""
    where = child(path, "anyOf")
    options: list[dict[str, Any]] = []
    for index, branch in enumerate(branches):
        one = cut(branch, child(where, index), depth + 1)
        for each in one["anyOf"] if set(one) == {"anyOf"} else [one]:
            options += [each] if each not in options else []
    return options
