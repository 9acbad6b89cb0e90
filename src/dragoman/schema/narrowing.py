"""JSON Schemas cut to what an API takes, so that one odd tool never kills a request.

Knows JSON Schema and the rows of `api_rules.py`; nothing of wires or of how a schema is sent.
Contract of `narrow`: never raises; the root is an object; every value the full schema takes, the narrowed one takes,
unless a row has no words for it; what was cut is an `Issue` of kind LOSSY with its path, and a constraint the API does
not take is told in the description instead.  Deterministic and idempotent.  The full schema stays the measure of what
comes back: it is validated locally.  Not told: annotations, `additionalProperties: false`, `oneOf` told as `anyOf`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..jsontext import to_json
from ..types import Issue, IssueKind, JsonObject, Tool
from .api_rules import EVERY, OPEN, Kinds, Must, Refs, SchemaRules
from .shape import child, resolve
from .validation import standard
from .vocabulary import (
    ANNOTATIONS,
    HINTED,
    IMPLIED,
    LISTS,
    MAPS,
    SINGLES,
    as_list,
    collapsed,
    difference,
    is_anchored,
    is_null,
    join,
    kinds_of_values,
    only_kind,
    refs_in,
    takes_null,
    tidy,
    well_formed,
)

MOST_NODES = 3000
"""More subschemas than this, once references are filled in, are a loop in disguise."""
LONGEST_HINT = 200
NULL: JsonObject = {"type": "null"}
NOT_STRICT = (
    "strict mode is not asked for: the schema has optional or open properties, or values of any kind; "
    "arguments are checked when they come"
)


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A schema as an API takes it, what was lost, and whether it says all that a strict mode needs said."""

    schema: JsonObject
    issues: tuple[Issue, ...] = ()
    fits: bool = True


def narrow(schema: JsonObject, rules: SchemaRules = OPEN, name: str = "") -> Narrowed:
    """`schema` cut to `rules`; `name` is the tool it belongs to, for the issues."""
    work = _Work(schema, rules)
    made = work.whole()
    issues = tuple(Issue(kind=IssueKind.LOSSY, message=said, name=name, path=path) for path, said in work.told())
    return Narrowed(made, issues, not work.unfit)


def narrow_tool(tool: Tool, rules: SchemaRules) -> tuple[Tool, tuple[Issue, ...]]:
    """The tool with its schema cut to `rules`.

    `strict` is kept where the API has it and the schema can be told its way without changing what it asks for.
    """
    written = to_json(tool.parameters)
    issues: tuple[Issue, ...] = ()
    if tool.strict and rules.strict is not None:
        told = _remembered(written, rules.strict, tool.name)
        if told.fits:
            return replace(tool, parameters=told.schema), told.issues
        issues = (Issue(kind=IssueKind.LOSSY, message=NOT_STRICT, name=tool.name, path="$"),)
    told = _remembered(written, rules, tool.name)
    if told.schema == tool.parameters and not tool.strict:
        return tool, issues
    return replace(tool, parameters=told.schema, strict=False), (*issues, *told.issues)


@lru_cache(maxsize=2048)
def _remembered(written: str, rules: SchemaRules, name: str) -> Narrowed:
    """Clients send the same tools with every request."""
    return narrow(json.loads(written), rules, name)


@lru_cache(maxsize=64)
def _any_value(rules: SchemaRules) -> dict[str, Any]:
    return _Work({}, rules).template()


class _Work:
    """One schema being cut.

    `unfit`: it asks for something a strict mode cannot be told.  `_entered` are the references being filled in,
    `_loops` those that were left because they close a loop, by the name of their definition.
    """

    def __init__(self, schema: JsonObject, rules: SchemaRules) -> None:
        self._source = standard(schema) if isinstance(schema, Mapping) else {}
        self._rules = rules
        self._lost: dict[str, dict[str, None]] = {}
        self._notes: dict[tuple[str, str], None] = {}
        self._entered: list[str] = []
        self._loops: dict[str, str] = {}
        self._reaches: dict[str, frozenset[str]] = {}
        self._nodes = 0
        self.unfit = False

    def told(self) -> Iterator[tuple[str, str]]:
        """What was lost: path and sentence."""
        yield from self._notes
        for path, words in self._lost.items():
            yield path, f"{', '.join(words)}: not taken by {self._rules.name}; told in the description where words can"

    # ── the root ─────────────────────────────────────────────────────────────

    def whole(self) -> dict[str, Any]:
        """The schema of a tool's arguments: an object."""
        with self._flat(self._source, "$", root=True) as flat:
            kinds = as_list(flat.get("type"))
            if kinds and "object" not in kinds:
                self._note("$", f"arguments are an object, not {' or '.join(kinds)}")
                flat = {key: held for key, held in flat.items() if key in ANNOTATIONS}
            flat = self._one_object(flat)
            made = self._made({**flat, "type": "object"}, "$", 0)
        made = {key: held for key, held in made.items() if key not in self._rules.root}
        return self._with_definitions(made)

    def _one_object(self, flat: dict[str, Any]) -> dict[str, Any]:
        """The root without the alternatives an API refuses there: all their properties, required by all."""
        for word in ("anyOf", "oneOf"):
            if word in flat and (word in self._rules.root or not self._rules.takes(word)):
                branches = [branch for branch in flat.pop(word) if isinstance(branch, Mapping)]
                with self._flats(branches, "$") as flats:
                    flat = collapsed(flat, [b for b in flats if "object" in (as_list(b.get("type")) or ["object"])])
                self._note("$", f"the alternatives of {word} are told as one object with all their properties")
        return flat

    def _with_definitions(self, made: dict[str, Any]) -> dict[str, Any]:
        """`made` and, below `$defs`, what its loops refer to."""
        definitions: dict[str, Any] = {}
        while left := [ref for ref, name in self._loops.items() if self._is_wanted(name, made, definitions)]:
            self._entered = [left[0]]
            target = resolve(self._source, left[0])
            definitions[self._loops[left[0]]] = self._node(target, child("$", "$defs"), 1, entered=True)
        self._entered = []
        return {**made, "$defs": definitions} if definitions else made

    def _is_wanted(self, name: str, made: JsonObject, definitions: JsonObject) -> bool:
        """Does anything told refer to the definition, which is not there yet?"""
        return name not in definitions and f"#/$defs/{name}" in {*refs_in(made), *refs_in(definitions)}

    # ── any node ─────────────────────────────────────────────────────────────

    def _node(self, schema: Any, path: str, depth: int, *, entered: bool = False) -> dict[str, Any]:
        """One subschema as the API takes it."""
        self._nodes += 1
        if not isinstance(schema, Mapping):
            return self._anything({}, path)
        if depth > self._rules.deepest or self._nodes > MOST_NODES:
            self._note(path, "nests too deeply; below here any value is taken")
            return self._anything(schema, path)
        if self._rules.refs is not Refs.KEEP and isinstance(schema.get("$ref"), str) and not entered:
            loop = self._loop(schema, path)
            if loop is not None:
                return loop
        with self._flat(schema, path) as flat:
            return self._made(flat, path, depth)

    def _loop(self, schema: JsonObject, path: str) -> dict[str, Any] | None:
        """What stands for a reference that closes a loop; None for one that does not."""
        ref = schema["$ref"]
        if self._rules.refs is Refs.LOOPS and ref in self._reached(ref):
            return {"$ref": f"#/$defs/{self._loops.setdefault(ref, self._free_name(ref))}"}
        if ref not in self._entered:
            return None
        self._note(path, f"{ref} refers to itself; told down to here, any value below")
        self.unfit = True
        target = resolve(self._source, ref)
        kinds = as_list(target.get("type")) if isinstance(target, Mapping) else []
        said = {key: schema[key] for key in ("description",) if key in schema}
        return self._made({**said, "type": kinds[0]} if kinds else said, path, self._rules.deepest)

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
                new = [one for one in refs_in(resolve(self._source, left.pop())) if one not in found]
                found.update(dict.fromkeys(new))
                left += new
            self._reaches[ref] = frozenset(found)
        return self._reaches[ref]

    @contextmanager
    def _flat(self, schema: JsonObject, path: str, *, root: bool = False) -> Iterator[dict[str, Any]]:
        """`schema` with what its `$ref` and `allOf` say laid into it, while that is being read."""
        before = len(self._entered)
        yield self._laid(schema, path, root=root)
        del self._entered[before:]

    @contextmanager
    def _flats(self, schemas: Iterable[JsonObject], path: str) -> Iterator[list[dict[str, Any]]]:
        """`_flat` of several."""
        before = len(self._entered)
        yield [self._laid(schema, path, root=True) for schema in schemas]
        del self._entered[before:]

    def _laid(self, schema: JsonObject, path: str, *, root: bool = False) -> dict[str, Any]:
        flat = self._sound(schema, path)
        keeps = self._rules.refs is Refs.KEEP and not root
        if "$ref" in flat and (not keeps or resolve(self._source, flat["$ref"]) is True):
            flat = self._joined(flat, flat.pop("$ref"), path)
        if "allOf" in flat and not (self._rules.takes("allOf") and keeps):
            for member in flat.pop("allOf"):
                if isinstance(member, Mapping):
                    flat = self._join(flat, self._laid(member, path, root=root), path)
        return self._plain_words(flat)

    def _joined(self, flat: dict[str, Any], ref: str, path: str) -> dict[str, Any]:
        """`flat` and what `ref` names."""
        target = resolve(self._source, ref)
        if ref in self._entered or not isinstance(target, Mapping):
            self._lose(path, "$ref")
            return flat
        self._entered.append(ref)
        return self._join(flat, self._laid(target, path, root=True), path)

    def _join(self, first: JsonObject, second: JsonObject, path: str) -> dict[str, Any]:
        return join(first, second, lambda key: self._lose(path, key))

    def _sound(self, schema: JsonObject, path: str) -> dict[str, Any]:
        """`schema` without the keywords that hold what they cannot."""
        return {key: tidy(key, held) for key, held in schema.items() if self._is_sound(key, held, path)}

    def _is_sound(self, key: str, held: Any, path: str) -> bool:
        if self._rules.keywords is not None and key not in EVERY and not self._rules.takes(key):
            return False  # x-order, markdownDescription …: nobody's words for values
        if well_formed(key, held):
            return True
        self._lose(path, key)
        return False

    def _plain_words(self, flat: dict[str, Any]) -> dict[str, Any]:
        """The words of an API for what it has no own keyword for."""
        takes, typed = self._rules.takes, Must.TYPE in self._rules.musts
        if "const" in flat and (typed or not takes("const")):
            flat.setdefault("enum", [flat["const"]])
            del flat["const"]
        if "oneOf" in flat and "anyOf" not in flat and (typed or not takes("oneOf")):
            flat["anyOf"] = flat.pop("oneOf")
        if flat.get("nullable") is True and not takes("nullable"):
            flat = {key: held for key, held in flat.items() if key != "nullable"}
            flat = {**flat, "anyOf": [*flat["anyOf"], NULL]} if "anyOf" in flat else flat
        return flat

    # ── what a node says of itself ───────────────────────────────────────────

    def _made(self, flat: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        """The node of a flat schema: its kinds, its alternatives, its members, then what the API demands."""
        flat = self._tuple_as_list(self._typed(flat))
        kinds = as_list(flat.get("type"))
        if len(kinds) > 1 and self._rules.kinds is not Kinds.LIST:
            return self._several(flat, kinds, path, depth)
        if "anyOf" in flat:
            return self._alternatives(flat, path, depth)
        return self._finished(self._members(flat, path, depth), path)

    def _typed(self, flat: dict[str, Any]) -> dict[str, Any]:
        """With a type, where the rest implies one and the API wants one."""
        if "type" in flat or Must.TYPE not in self._rules.musts or "$ref" in flat:
            return flat
        kinds = kinds_of_values(flat.get("enum", ()))
        if not kinds and "anyOf" not in flat:
            kinds = [next((kind for word, kind in IMPLIED if word in flat), "")]
        kinds = [kind for kind in kinds if kind]
        return {**flat, "type": kinds[0] if len(kinds) == 1 else kinds} if kinds else flat

    def _tuple_as_list(self, flat: dict[str, Any]) -> dict[str, Any]:
        """A tuple as an array of any of its items, where the API knows no tuples."""
        places = flat.get("prefixItems") or (flat["items"] if isinstance(flat.get("items"), list) else None)
        if places is None or (self._rules.takes("prefixItems") and not isinstance(flat.get("items"), list)):
            return flat
        if self._rules.takes("prefixItems"):
            rest = flat.get("additionalItems")
            left = {key: held for key, held in flat.items() if key not in ("items", "additionalItems")}
            return {**left, "prefixItems": places, **({} if rest is None else {"items": rest})}
        rest = flat.get("additionalItems" if isinstance(flat.get("items"), list) else "items")
        distinct: list[Any] = []
        for place in [*places, *([rest] if isinstance(rest, Mapping) else [])]:
            distinct += [place] if place not in distinct else []
        left = {key: held for key, held in flat.items() if key not in ("prefixItems", "items", "additionalItems")}
        return {**left, "type": "array", "items": distinct[0] if len(distinct) == 1 else {"anyOf": distinct}}

    def _several(self, flat: dict[str, Any], kinds: Sequence[str], path: str, depth: int) -> dict[str, Any]:
        """A node of several kinds, in the API's way of telling that."""
        if "enum" in flat:
            told = kinds_of_values(flat["enum"])
            kinds = [kind for kind in kinds if kind in told or (kind == "number" and "integer" in told)] or kinds
        rest = [kind for kind in kinds if kind != "null"]
        if len(rest) < len(kinds) and "enum" in flat:
            flat = {**flat, "enum": difference(flat["enum"], [None]) or [None]}
        branches = [only_kind(flat, kind) for kind in rest]
        common = {key: held for key, held in flat.items() if key in ANNOTATIONS or key in LISTS}
        if len(branches) == 1 and self._rules.kinds is not Kinds.ANY_OF:
            return self._nullable(self._made({**branches[0], **common}, path, depth), path)
        null = [NULL] if len(rest) < len(kinds) else []
        return self._made({**common, "anyOf": [*branches, *null]}, path, depth)

    def _nullable(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        """`made`, and null besides."""
        if self._rules.kinds is Kinds.NULLABLE:
            return {**made, "nullable": True}
        self._note(path, f"null cannot be told to {self._rules.name}")
        return made

    def _alternatives(self, flat: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        """A node that offers a choice, in the API's way of telling that."""
        takes, kinds = self._rules.takes("anyOf"), self._rules.kinds
        own = {key: held for key, held in flat.items() if key not in ("anyOf", "nullable")}
        branches = [branch for branch in flat["anyOf"] if branch is not False]
        if Must.ALONE in self._rules.musts or len(branches) == 1 or not takes:
            beside = {key: held for key, held in own.items() if key not in ANNOTATIONS}
            branches = [self._join(self._sound(b, path), beside, path) for b in branches if isinstance(b, Mapping)]
            own = {key: held for key, held in own.items() if key in ANNOTATIONS}
        told = self._told(branches, path, depth)
        useful = [one for one in told if not is_null(one)]
        null = flat.get("nullable") is True
        if useful and (kinds in (Kinds.NULLABLE, Kinds.NEVER_NULL) or not takes):
            null, told = null or len(useful) < len(told), useful
        if len(told) > 1 and not takes:
            self._note(path, "only the first of the alternatives is told")
            told = told[:1]
        made = self._united(own, told, path, depth)
        return self._nullable(made, path) if null else made

    def _told(self, branches: Sequence[Any], path: str, depth: int) -> list[dict[str, Any]]:
        """The different branches, each as the API takes it; a choice among them is laid open."""
        where = child(path, "anyOf")
        told: list[dict[str, Any]] = []
        for index, branch in enumerate(branches):
            one = self._node(branch, child(where, index), depth + 1)
            for each in one["anyOf"] if set(one) == {"anyOf"} else [one]:
                told += [each] if each not in told else []
        return told

    def _united(self, own: dict[str, Any], told: list[dict[str, Any]], path: str, depth: int) -> dict[str, Any]:
        """The node of `own` and of any of `told`."""
        if not told:
            return self._made(own, path, depth)
        if len(told) == 1:
            return {**told[0], **{key: own[key] for key in ("description",) if key in own}}
        return self._finished({**self._members(own, path, depth), "anyOf": told}, path)

    # ── members and demands ──────────────────────────────────────────────────

    def _members(self, flat: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        """What the API takes of `flat`, the schemas inside it cut in turn; the rest is lost, or said."""
        made: dict[str, Any] = {}
        for key, held in self._closing(flat, path).items():
            where = child(path, key)
            if not self._takes_here(key, held, flat):
                self._drop(key, held, path)
            elif key in MAPS:
                made[key] = {k: self._node(v, child(where, k), depth + 1) for k, v in held.items() if v is not False}
            elif key in LISTS:
                made[key] = [self._node(v, child(where, i), depth + 1) for i, v in enumerate(held)]
            elif key in SINGLES and isinstance(held, Mapping):
                made[key] = self._node(held, where, depth + 1)
            else:
                made[key] = held
        hints = [f"{key}: {_short(flat[key])}" for key in self._lost.get(path, ()) if key in HINTED and key in flat]
        return self._described(self._named(made, path), hints)

    def _takes_here(self, key: str, held: Any, flat: JsonObject) -> bool:
        rules = self._rules
        if not rules.takes(key) or (key in ("$defs", "definitions") and rules.refs is not Refs.KEEP):
            return False
        kind = as_list(flat.get("type"))
        if key == "format" and rules.formats is not None:
            return held in rules.formats.get(kind[0] if kind else "", ())
        if key == "enum":
            return rules.enums.issuperset(kinds_of_values(held)) and bool(self._values(held))
        return not (key == "pattern" and Must.ANCHORED in rules.musts and not is_anchored(held))

    def _values(self, values: Iterable[Any]) -> list[Any]:
        return [value for value in values if value != "" or Must.FILLED not in self._rules.musts]

    def _closing(self, flat: dict[str, Any], path: str) -> dict[str, Any]:
        """With its values filtered and, where the API wants it, its objects closed and complete."""
        musts = self._rules.musts
        if "enum" in flat and (values := self._values(flat["enum"])) and len(values) < len(flat["enum"]):
            self._note(path, 'the value "" cannot be told')
            flat = {**flat, "enum": values}
        if flat.get("type") != "object":
            return flat
        if Must.CLOSED in musts:
            if flat.get("additionalProperties", False) is not False or flat.get("patternProperties"):
                self.unfit = True
            if not isinstance(flat.get("additionalProperties"), Mapping):
                flat = {**flat, "additionalProperties": False}
        if Must.COMPLETE in musts:
            properties = flat.get("properties") or {}
            left = [key for key in properties if key not in flat.get("required", ())]
            self.unfit = self.unfit or not all(takes_null(properties[key]) for key in left)
            flat = {**flat, "required": [*flat.get("required", ()), *left]}
        return flat

    def _drop(self, key: str, held: Any, path: str) -> None:
        """`key` is not told."""
        if key in ANNOTATIONS - {"default"} or held is True or held is False or key == "nullable":
            return
        self._lose(path, key)

    def _named(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        """Without the properties whose names the API refuses, and with `required` as it wants it."""
        keys, musts = self._rules.keys, self._rules.musts
        properties = made.get("properties")
        if keys is not None and properties:
            odd = [key for key in properties if not keys.fullmatch(key)]
            if odd:
                self._note(path, f"properties whose names {self._rules.name} refuses: {', '.join(map(repr, odd))}")
                self.unfit = True
                kept = {key: held for key, held in properties.items() if key not in odd}
                if Must.CLOSED not in musts:
                    made.pop("additionalProperties", None)  # they are some of them now
                made = self._described({**made, "properties": kept}, [f"also: {_short(odd)}"])
                made["required"] = [key for key in made.get("required", ()) if key not in odd]
        if "required" in made and Must.DECLARED in musts:
            declared = made.get("properties", {})
            made["required"] = [key for key in made["required"] if key in declared]
        if made.get("required") == [] and Must.REQUIRED not in musts:
            del made["required"]
        return made

    def _described(self, made: dict[str, Any], hints: Sequence[str]) -> dict[str, Any]:
        """With `hints` at the end of its description."""
        said = made.get("description", "")
        new = [hint for hint in hints if hint not in said]
        if not new or not self._rules.takes("description"):
            return made
        return {**made, "description": f"{said} ({'; '.join(new)})" if said else "; ".join(new)}

    def _finished(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        """With what the API demands of every node."""
        musts, kinds = self._rules.musts, as_list(made.get("type"))
        if not kinds and not {"anyOf", "$ref"} & set(made) and Must.TYPE in musts:
            return self._anything(made, path)
        if "array" in kinds and "items" not in made and Must.ITEMS in musts:
            made = {**made, "items": self._anything({}, path)}
        if "object" in kinds and Must.PROPERTIES in musts:
            made.setdefault("properties", {})
        if "object" in kinds and Must.REQUIRED in musts:
            made.setdefault("required", [])
        return made

    def _anything(self, schema: JsonObject, path: str) -> dict[str, Any]:
        """Any value, in the API's words."""
        said = {key: schema[key] for key in ("description",) if isinstance(schema.get(key), str)}
        if Must.TYPE in self._rules.musts and not self._rules.anything:
            self.unfit = True
            self._note(path, "any value: cannot be told")
        return {**_any_value(self._rules), **said}

    def template(self) -> dict[str, Any]:
        """What stands for any value, with all that the API demands of a node."""
        return self._made(dict(self._rules.anything), "$", 0) if self._rules.anything else {}

    def _lose(self, path: str, key: str) -> None:
        self._lost.setdefault(path, {})[key] = None

    def _note(self, path: str, said: str) -> None:
        self._notes[path, said] = None


def _short(value: Any) -> str:
    said = value if isinstance(value, str) else to_json(value)
    return said if len(said) <= LONGEST_HINT else f"{said[: LONGEST_HINT - 1]}…"
