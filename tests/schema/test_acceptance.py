"""What is accepted without the validator is what the validator accepts."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.schema.acceptance import acceptor
from tests.support.schemas import INT, OBJ, STR

ORDINARY: list[tuple[dict[str, Any], Any]] = [
    ({"type": "object", "properties": {"a": STR}, "required": ["a"], "additionalProperties": False}, {"a": "x"}),
    ({"type": ["integer", "null"], "minimum": 1, "description": "d"}, None),
    ({"type": "array", "items": {"enum": ["a", 1, None]}, "minItems": 1}, ["a", 1, None]),
    ({"anyOf": [STR, {"type": "object", "properties": {"b": INT}}], "x-own": 1}, {"b": 1, "c": [{}]}),
    ({"$ref": "#/$defs/City", "$defs": {"City": {"type": "object", "required": ["n"]}}}, {"n": {"deep": [1.5]}}),
    ({}, {"anything": [True, None, 0.5]}),
]


@pytest.mark.parametrize(("schema", "value"), ORDINARY)
def test_ordinary_values_of_ordinary_schemas_are_accepted(schema: dict[str, Any], value: Any) -> None:
    accepts = acceptor(schema)
    assert accepts is not None
    assert accepts(value)


UNKNOWN: list[dict[str, Any]] = [
    {"oneOf": [STR]}, {"not": STR}, {"pattern": "a"}, {"format": "date"}, {"patternProperties": {}}, {"if": STR},
    {"uniqueItems": True}, {"multipleOf": 2}, {"items": [STR]}, {"required": True}, {"type": "text"}, {"$id": "x"},
    {"exclusiveMinimum": True}, {"enum": [[1]]}, {"$ref": "other.json"}, {"someday": 1}, {"title": 5}, {"items": False},
    {"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", UNKNOWN, ids=str)
def test_a_keyword_that_is_not_known_is_left_to_the_validator(schema: dict[str, Any]) -> None:
    assert acceptor(schema) is None


STRANGE = [float("nan"), float("inf"), 10**30, (1,), {1: 2}, {"a": object()}, {"a": {1, 2}}]


@pytest.mark.parametrize("value", STRANGE, ids=range(len(STRANGE)))
@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "number"}, {"items": INT}, {"required": []}])
def test_values_that_are_not_plain_json_are_never_accepted(schema: dict[str, Any], value: Any) -> None:
    accepts = acceptor(schema)
    assert accepts is not None
    assert not accepts(value)


def test_depth_is_left_to_the_validator() -> None:
    value: Any = 1
    for _ in range(1000):
        value = [value]
    accepts = acceptor({"type": "object"})
    assert accepts is not None
    assert not accepts({"a": value})


def test_one_parse_of_an_ordinary_tool_loads_no_validator() -> None:
    code = """import dragoman, sys
tools = [dragoman.Tool(name="t", parameters={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})]
(call,) = dragoman.parse('<tool_call>{"name": "t", "arguments": {"a": "x"}}</tool_call>', tools=tools).calls
print(sorted({"jsonschema_rs", "orjson", "asyncio", "socket", "datetime", "difflib"} & set(sys.modules)))"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


NAMES = st.sampled_from("abc")
SCALARS = st.none() | st.booleans() | st.integers(-3, 5) | st.sampled_from([0.0, 1.0, 1.5, "", "a", "long text", "1"])
VALUES = st.recursive(
    SCALARS, lambda c: st.lists(c, max_size=3) | st.dictionaries(NAMES, c, max_size=3), max_leaves=6
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
COUNT = st.integers(0, 3)


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=2)
    optional = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
        "properties": st.dictionaries(NAMES, inner, max_size=2), "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": st.booleans() | inner, "items": inner, "anyOf": several, "allOf": several,
        "enum": st.lists(VALUES, min_size=1, max_size=3), "const": VALUES, "minimum": COUNT, "maximum": COUNT,
        "exclusiveMinimum": COUNT, "exclusiveMaximum": COUNT, "minLength": COUNT, "maxLength": COUNT,
        "minItems": COUNT, "maxItems": COUNT, "minProperties": COUNT, "maxProperties": COUNT,
        "$ref": st.just("#/$defs/a"), "$schema": st.just("http://json-schema.org/draft-07/schema#"),
    }  # fmt: skip
    return st.fixed_dictionaries({}, optional=optional)


SCHEMAS = st.recursive(st.fixed_dictionaries({"type": TYPES}), _schemas, max_leaves=5)


@settings(max_examples=200, deadline=None)
@given(SCHEMAS, SCHEMAS, VALUES)
def test_nothing_is_accepted_that_the_validator_refuses(schema: Any, named: Any, value: Any) -> None:
    schema = {**schema, "$defs": {"a": named}}
    accepts = acceptor(schema)
    if accepts is not None and accepts(value):
        assert jsonschema_rs.validator_for(schema).is_valid(value)


def test_objects_without_more_are_accepted_whatever_they_hold() -> None:
    accepts = acceptor(OBJ)
    assert accepts is not None
    assert accepts({"a": {"b": [1, "x", None]}})
    assert not accepts([])
