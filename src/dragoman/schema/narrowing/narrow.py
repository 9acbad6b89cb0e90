"""JSON Schemas cut to what an API takes, so that one odd tool never kills a request.

Knows JSON Schema and the rows of `api_rules.py`; nothing of wires or of how a schema is sent.
Contract of `narrow`: never raises; the root is an object; every value the full schema takes, the narrowed one takes,
unless a row has no words for it; what was cut is an issue of kind UNSUPPORTED with its path, and a constraint the API
does not take becomes a hint in the description.  Deterministic and idempotent.  The full schema stays the measure of
what comes back: it is validated locally.  No issues: annotations, `additionalProperties: false`, `oneOf` as `anyOf`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ...jsontext import to_json
from ...types import Issue, IssueKind, JsonObject, Tool
from ..api_rules import OPEN, Kinds, Must, Refs, SchemaRules
from ..shape import child
from ..validation import standard
from ..vocabulary import ANNOTATIONS, as_list, collapsed
from .alternatives import Alternatives
from .equivalents import by_kind, tuple_as_list, typed
from .losses import Losses
from .objects import Members
from .references import References

MOST_NODES = 3000
"""More subschemas than this, once references are filled in, are a loop in disguise."""
NOT_STRICT = (
    "strict mode is not asked for: the schema has optional or open properties, or values of any kind; "
    "arguments are checked when they come"
)


NO_STRICT = "strict mode is not known here; arguments are checked when they come"
STRICT = "$.tools.strict"
"""The path of a demand for strict mode that is not sent on."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A schema as an API takes it, what was lost, and whether it says all that a strict mode needs said."""

    schema: JsonObject
    issues: tuple[Issue, ...] = ()
    fits: bool = True


def narrow(schema: JsonObject, rules: SchemaRules = OPEN, name: str = "") -> Narrowed:
    """`schema` cut to `rules`; `name` is the tool it belongs to, for the issues."""
    narrower = _Narrower(schema, rules)
    made = narrower.whole()
    return Narrowed(made, narrower.losses.issues(name), not narrower.losses.unfit)


def narrow_tool(tool: Tool, rules: SchemaRules) -> tuple[Tool, tuple[Issue, ...]]:
    """The tool with its schema cut to `rules`.

    `strict` is kept where the API has it and the schema can be put its way without changing what it asks for.
    """
    written = to_json(tool.parameters)
    issues: tuple[Issue, ...] = ()
    if tool.strict and rules.strict is not None:
        narrowed = _remembered(written, rules.strict, tool.name)
        if narrowed.fits:
            return replace(tool, parameters=narrowed.schema), narrowed.issues
    if tool.strict and not rules.held:
        why = NO_STRICT if rules.strict is None else NOT_STRICT
        issues = (Issue(kind=IssueKind.UNSUPPORTED, message=why, name=tool.name, path=STRICT),)
    narrowed = _remembered(written, rules, tool.name)
    if narrowed.schema == tool.parameters and not tool.strict:
        return tool, issues
    return replace(tool, parameters=narrowed.schema, strict=False), (*issues, *narrowed.issues)


@lru_cache(maxsize=2048)
def _remembered(written: str, rules: SchemaRules, name: str) -> Narrowed:
    """Clients send the same tools with every request."""
    return narrow(json.loads(written), rules, name)


@lru_cache(maxsize=64)
def _any_value(rules: SchemaRules) -> dict[str, Any]:
    return _Narrower({}, rules).template()


class _Narrower:
    """The walk through one schema: each node is made flat, then of one kind, then cut to the members it may have."""

    def __init__(self, schema: JsonObject, rules: SchemaRules) -> None:
        self._source = standard(schema) if isinstance(schema, Mapping) else {}
        self._rules = rules
        self.losses = Losses(rules.name)
        self._references = References(self._source, rules, self.losses)
        self._members = Members(rules, self.losses)
        self._alternatives = Alternatives(rules, self.losses, self._references)
        self._nodes = 0

    # ── the root ─────────────────────────────────────────────────────────────

    def whole(self) -> dict[str, Any]:
        """The schema of a tool's arguments: an object."""
        with self._references.flat(self._source, "$", root=True) as flat:
            kinds = as_list(flat.get("type"))
            if kinds and "object" not in kinds:
                self.losses.note("$", f"arguments are an object, not {' or '.join(kinds)}")
                flat = {key: value for key, value in flat.items() if key in ANNOTATIONS}
            flat = self._one_object(flat)
            made = self._made({**flat, "type": "object"}, "$", 0)
        made = {key: value for key, value in made.items() if key not in self._rules.root}
        place = child("$", "$defs")
        definitions = self._references.definitions(made, lambda target: self._node(target, place, 1, entered=True))
        return {**made, "$defs": definitions} if definitions else made

    def template(self) -> dict[str, Any]:
        """A node for any value, with all that the API demands of a node."""
        return self._made(dict(self._rules.anything), "$", 0) if self._rules.anything else {}

    def _one_object(self, flat: dict[str, Any]) -> dict[str, Any]:
        """The root without the alternatives an API refuses there: all their properties, required by all."""
        for word in ("anyOf", "oneOf"):
            if word in flat and (word in self._rules.root or not self._rules.takes(word)):
                branches = [branch for branch in flat.pop(word) if isinstance(branch, Mapping)]
                with self._references.flats(branches, "$") as flats:
                    flat = collapsed(flat, [b for b in flats if "object" in (as_list(b.get("type")) or ["object"])])
                self.losses.note("$", f"the alternatives of {word} are told as one object with all their properties")
        return flat

    # ── any node ─────────────────────────────────────────────────────────────

    def _node(self, schema: Any, path: str, depth: int, *, entered: bool = False) -> dict[str, Any]:
        """One subschema as the API takes it."""
        self._nodes += 1
        if not isinstance(schema, Mapping):
            return self._anything({}, path)
        if depth > self._rules.deepest or self._nodes > MOST_NODES:
            self.losses.note(path, "nests too deeply; below here any value is taken")
            return self._anything(schema, path)
        if self._rules.refs is not Refs.KEEP and isinstance(schema.get("$ref"), str) and not entered:
            loop = self._loop(schema, path)
            if loop is not None:
                return loop
        with self._references.flat(schema, path) as flat:
            return self._made(flat, path, depth)

    def _loop(self, schema: JsonObject, path: str) -> dict[str, Any] | None:
        """The node for a reference that closes a loop; None for one that does not."""
        ref = schema["$ref"]
        if (name := self._references.definition(ref)) is not None:
            return {"$ref": f"#/$defs/{name}"}
        if not self._references.is_entered(ref):
            return None
        self.losses.note(path, f"{ref} refers to itself; told down to here, any value below")
        self.losses.unfit = True
        target = self._references.target(ref)
        kinds = as_list(target.get("type")) if isinstance(target, Mapping) else []
        own = {key: schema[key] for key in ("description",) if key in schema}
        return self._made({**own, "type": kinds[0]} if kinds else own, path, self._rules.deepest)

    def _made(self, flat: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        """The node of a flat schema: its kinds, its alternatives, its members, then what the API demands."""
        flat = tuple_as_list(self._rules, typed(self._rules, flat))
        kinds = as_list(flat.get("type"))
        if len(kinds) > 1 and self._rules.kinds is not Kinds.LIST:
            flat, null = by_kind(flat, kinds, nullable=self._rules.kinds is not Kinds.ANY_OF)
            made = self._made(flat, path, depth)
            return self._alternatives.nullable(made, path) if null else made
        if "anyOf" in flat:
            return self._chosen(flat, path, depth)
        return self._finished(self._members.of(flat, path, depth, self._node), path)

    def _chosen(self, flat: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        """A node that offers a choice."""
        own, options, null = self._alternatives.of(flat, path, depth, self._node)
        if not options:
            made = self._made(own, path, depth)
        elif len(options) == 1:
            made = {**options[0], **{key: own[key] for key in ("description",) if key in own}}
        else:
            made = self._finished({**self._members.of(own, path, depth, self._node), "anyOf": options}, path)
        return self._alternatives.nullable(made, path) if null else made

    def _finished(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        """With what the API demands of every node."""
        if not {"type", "anyOf", "$ref"} & set(made) and Must.TYPE in self._rules.musts:
            return self._anything(made, path)
        return self._members.finished(made, path, lambda where: self._anything({}, where))

    def _anything(self, schema: JsonObject, path: str) -> dict[str, Any]:
        """Any value, in the API's words."""
        own = {key: schema[key] for key in ("description",) if isinstance(schema.get(key), str)}
        if Must.TYPE in self._rules.musts and not self._rules.anything:
            self.losses.unfit = True
            self.losses.note(path, "any value: cannot be told")
        return {**_any_value(self._rules), **own}
