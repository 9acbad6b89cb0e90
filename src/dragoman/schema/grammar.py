"""JSON Schema → GBNF, the grammar notation that llama.cpp and xgrammar constrain decoding by.

Knows schemas and the notation; nothing of tools, dialects or servers.  Contract: every text the grammar allows is JSON
that fits the schema in shape (types, keys, enums, lengths of arrays); what a grammar cannot say (patterns, ranges) it
leaves to the validator; a schema it cannot read becomes any JSON value, never an error.  Properties are written in the
schema's order, required ones first: a narrower language than JSON's, and an easier one for a model.
Source of the notation: llama.cpp, grammars/README.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..types import JsonObject
from .shape import resolve
from .validation import standard

RULES: Mapping[str, str] = {
    "ws": '| " " | "\\n" [ \\t]{0,20}',
    "char": '[^"\\\\\\x00-\\x1F] | "\\\\" (["\\\\/bfnrt] | "u" escaped)',
    "escaped": '[0-9a-cA-CefEF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}',
    "string": '"\\"" char* "\\""',
    "integer": '"-"? ("0" | [1-9] [0-9]{0,17})',
    "number": 'integer ("." [0-9]{1,17})? ([eE] [-+]? [0-9]{1,2})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "pair": 'string ws ":" ws value',
    "object": '"{" ws (pair ws ("," ws pair ws)*)? "}"',
    "array": '"[" ws (value ws ("," ws value ws)*)? "]"',
    "value": "string | number | object | array | boolean | null",
}
"""JSON itself; a rule is written only where another needs it."""
USED = re.compile(r"(?<![\\\w-])[a-z][\w-]*")
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]')
ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
MAX_DEPTH = 24
MAX_COUNT = 256
"""Array lengths and string lengths above this are not counted by the grammar: it would grow with them."""


def literal(text: str) -> str:
    """`text` as a terminal."""
    return '"' + "".join(ESCAPES.get(c) or (c if c >= " " else f"\\x{ord(c):02X}") for c in text) + '"'


class Grammar:
    """Rules by name, written as they are asked for."""

    def __init__(self) -> None:
        self.rules: dict[str, str] = {}
        self._refs: dict[tuple[int, str], str] = {}

    def text(self, root: str) -> str:
        """The grammar whose start is `root`; only rules that are reached from it."""
        rules = {**RULES, **self.rules, "root": root}
        reached = ["root"]
        for name in reached:
            words = USED.findall(QUOTED.sub(" ", rules[name]))
            reached += [word for word in dict.fromkeys(words) if word in rules and word not in reached]
        return "\n".join(f"{name} ::= {rules[name]}" for name in reached) + "\n"

    def add(self, name: str, rule: str) -> str:
        """A rule; the name it got, which is `name` or, where that is taken, one like it."""
        unused = name
        count = 1
        while unused in self.rules or unused in RULES or unused == "root":
            count += 1
            unused = f"{name}-{count}"
        self.rules[unused] = rule
        return unused

    def schema(self, schema: JsonObject, hint: str = "args") -> str:
        """The name of a rule for the values of `schema`."""
        root = standard(schema)
        return self._named(root, root, _word(hint), 0)

    # ── one schema ───────────────────────────────────────────────────────────

    def _named(self, schema: Any, root: JsonObject, hint: str, depth: int) -> str:
        rule = self._rule(schema, root, hint, depth)
        return rule if rule in RULES or rule in self.rules else self.add(hint, rule)

    def _rule(self, schema: Any, root: JsonObject, hint: str, depth: int) -> str:
        if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
            return "value"
        if "$ref" in schema:
            return self._referred(schema["$ref"], root, hint, depth)
        if "const" in schema:
            return _constant(schema["const"])
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return " | ".join(map(_constant, schema["enum"]))
        for word in ("anyOf", "oneOf"):
            if isinstance(schema.get(word), list) and schema[word]:
                return " | ".join(self._each(schema[word], root, hint, depth))
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return " | ".join(self._each([{**schema, "type": kind} for kind in kinds], root, hint, depth)) or "value"
        return self._typed(kinds, schema, root, hint, depth)

    def _each(self, schemas: Sequence[Any], root: JsonObject, hint: str, depth: int) -> Iterable[str]:
        return dict.fromkeys(self._named(one, root, f"{hint}-{n}", depth + 1) for n, one in enumerate(schemas))

    def _typed(self, kind: Any, schema: JsonObject, root: JsonObject, hint: str, depth: int) -> str:
        match kind:
            case "object" if schema.get("properties"):
                return self._object(schema, root, hint, depth)
            case "object" if "properties" in schema and not schema.get("additionalProperties"):
                return '"{" ws "}"'  # a tool without parameters: what else could a model want to write there
            case "object" if schema.get("additionalProperties") is False:
                return '"{" ws "}"'
            case "object" if isinstance(schema.get("additionalProperties"), Mapping):
                value = self._named(schema["additionalProperties"], root, f"{hint}-value", depth + 1)
                pair = f'string ws ":" ws {value} ws'
                return f'"{{" ws ({pair} ("," ws {pair})*)? "}}"'
            case "array":
                return self._array(schema, root, hint, depth)
            case "string":
                return _string(schema)
            case "object" | "integer" | "number" | "boolean" | "null":
                return str(kind)
            case None if schema.get("properties"):
                return self._object(schema, root, hint, depth)
            case _:
                return "value"

    def _referred(self, ref: Any, root: JsonObject, hint: str, depth: int) -> str:
        """A rule of its own for each definition, so that one may refer to itself."""
        key = (id(root), str(ref))
        if key not in self._refs:
            self._refs[key] = self.add(_word(str(ref).rpartition("/")[2]) or hint, "value")
            self.rules[self._refs[key]] = self._rule(resolve(root, ref), root, self._refs[key], depth + 1)
        return self._refs[key]

    def _object(self, schema: JsonObject, root: JsonObject, hint: str, depth: int) -> str:
        required = schema.get("required")
        needed = set(required) if isinstance(required, list) else set()
        pairs: dict[str, str] = {}
        for key, inner in schema["properties"].items():
            value = self._named(inner, root, f"{hint}-{_word(key) or 'key'}", depth + 1)
            pairs[key] = f'{literal(json.dumps(key, ensure_ascii=False))} ws ":" ws {value} ws'
        must = [pair for key, pair in pairs.items() if key in needed]
        may = [pair for key, pair in pairs.items() if key not in needed]
        if must:
            rest = "".join(f' ("," ws {pair})?' for pair in may)
            return '"{" ws ' + ' "," ws '.join(must) + rest + ' "}"'
        return f'"{{" ws {self._some(may, hint)} "}}"'

    def _some(self, pairs: Sequence[str], hint: str) -> str:
        """Any of `pairs`, in order: for each a rule that it comes first, or that a later one does."""
        later = '""'
        for place in range(len(pairs) - 1, -1, -1):
            rest = "".join(f' ("," ws {pair})?' for pair in pairs[place + 1 :])
            later = self.add(f"{hint}-some", f"{pairs[place]}{rest} | {later}")
        return later

    def _array(self, schema: JsonObject, root: JsonObject, hint: str, depth: int) -> str:
        item = self._named(schema.get("items", True), root, f"{hint}-item", depth + 1)
        least, most = _count(schema, "minItems"), _count(schema, "maxItems")
        more = f'("," ws {item} ws)'
        if most == 0:
            return '"[" ws "]"'
        first = max((least or 1) - 1, 0)
        rest = f"{more}{{{first},{max(most - 1, first) if most is not None else ''}}}"
        inner = f"{item} ws {rest}"
        return f'"[" ws {inner} "]"' if least else f'"[" ws ({inner})? "]"'


def _string(schema: JsonObject) -> str:
    least, most = _count(schema, "minLength"), _count(schema, "maxLength")
    if not least and most is None:
        return "string"
    return f'"\\"" char{{{least or 0},{most if most is not None else ""}}} "\\""'


def _count(schema: JsonObject, word: str) -> int | None:
    count = schema.get(word)
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MAX_COUNT else None


def _constant(value: Any) -> str:
    """`value` and no other; white space between its parts is free."""
    match value:
        case dict():
            pairs = [f'{_constant(key)} ws ":" ws {_constant(inner)} ws' for key, inner in value.items()]
            return f'"{{" ws {_separated(pairs)} "}}"'
        case list():
            return f'"[" ws {_separated([f"{_constant(inner)} ws" for inner in value])} "]"'
        case _:
            return literal(json.dumps(value, ensure_ascii=False))


def _separated(parts: Sequence[str]) -> str:
    return ' "," ws '.join(parts)


def _word(text: str) -> str:
    """`text` as part of a rule's name: letters and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].lstrip("0123456789-")
