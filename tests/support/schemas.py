"""Schemas, and ways to make values for them, that several tests share."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.support import places

INT, NUM, STR, BOOL, NULL = ({"type": t} for t in ("integer", "number", "string", "boolean", "null"))
OBJ, LIST = {"type": "object"}, {"type": "array"}
STRS, INTS = {"type": "array", "items": STR}, {"type": "array", "items": INT}
TREE = {"type": "object", "properties": {"name": STR, "kids": {"type": "array", "items": {"$ref": "#"}}}}


def nested(keyword: str, depth: int) -> dict[str, Any]:
    made: Any = {"type": "integer"}
    for _ in range(depth):
        made = {keyword: [made]} if keyword in ("allOf", "anyOf") else {keyword: {"a": made}}
    return dict(made)


KEYWORDS = [
    "type", "properties", "items", "anyOf", "allOf", "oneOf", "$ref", "$defs", "a", "enum", "const", "required",
    "additionalProperties", "patternProperties", "prefixItems", "nullable", "additionalItems",
]  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["string", "object", "#", "#/$defs/a", "x", "("]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYWORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["3", "[1]", "{}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=8,
)


LEAVES = [
    st.tuples(st.just(INT), st.integers()),
    st.tuples(st.just(STR), st.text(max_size=5)),
    st.tuples(st.just(BOOL), st.booleans()),
    st.tuples(st.just({"type": ["string", "null"]}), st.none() | st.text(max_size=5)),
    st.tuples(st.just({"anyOf": [INT, STR]}), st.integers() | st.sampled_from(["3", "x"])),
    st.sampled_from([({"enum": ["a", "A", 1]}, v) for v in ("a", "A", 1)]),
]


def _list_of(pairs: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    return {"type": "array", "prefixItems": [s for s, _ in pairs]}, [v for _, v in pairs]


def _object_of(pairs: dict[str, tuple[Any, Any]]) -> tuple[Any, Any]:
    schema = {"type": "object", "properties": {k: s for k, (s, _) in pairs.items()}, "required": list(pairs)}
    return schema, {k: v for k, (_, v) in pairs.items()}


VALID = st.recursive(
    st.one_of(LEAVES),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(_list_of)
        | st.dictionaries(st.sampled_from(["a", "b", "c d"]), inner, max_size=3).map(_object_of)
    ),
    max_leaves=8,
)


VECTORS = places.RECORDINGS


def rows(path: str, scope: str) -> list[dict[str, Any]]:
    file = VECTORS / path
    if not file.exists():
        return []
    return [row for line in file.read_text().split("\n") if line and (row := json.loads(line)).get("scope") == scope]
