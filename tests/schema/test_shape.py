"""What a schema says of a value."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.schema.validation import ANYTHING, coerce, faults, read_text, shape
from tests.support.schemas import BOOL, INT, INTS, JUNK, LIST, NULL, NUM, STR, TREE, VALUES, nested

KINDS = [
    ({}, ""),
    (INT, "integer"),
    ({"type": ["string", "null"]}, "null string"),
    ({"enum": ["a", 1, None, True, 1.5]}, "boolean integer null number string"),
    ({"const": {"a": 1}}, "object"),
    ({"type": "string", "enum": ["a"]}, "string"),
    ({"anyOf": [STR, INT]}, "integer string"),
    ({"oneOf": [STR, NULL]}, "null string"),
    ({"anyOf": [STR, {}]}, ""),
    ({"anyOf": [STR, True]}, ""),
    ({"anyOf": [STR, False]}, "string"),
    ({"type": "string", "anyOf": [{"minLength": 3}, {"format": "date"}]}, "string"),
    ({"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}]}, "integer"),
    ({"allOf": [NUM, INT]}, "integer"),
    ({"allOf": [STR, INT]}, ""),  # contradictory: says nothing
    ({"properties": {}}, "object"),
    ({"items": {}}, "array"),
    ({"$ref": "#/$defs/X", "$defs": {"X": STR}}, "string"),
    ({"$ref": "#/definitions/a~1b%20c", "definitions": {"a/b c": STR}}, "string"),
    ({"anyOf": [{"$ref": "#/$defs/X"}, NULL], "$defs": {"X": INTS}}, "array null"),
    ({"$ref": "#"}, ""),
    ({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}, ""),
    ({"$ref": "#/nowhere"}, ""),
    ({"$ref": "https://example.com/x.json"}, ""),
    ({"$ref": 7}, ""),
    ({"type": "STRING"}, "string"),  # Gemini
    ({"type": "STRING", "nullable": True}, "null string"),
    ({"type": "dict"}, "object"),  # BFCL
    ({"type": "float"}, "number"),
    ({"type": "any"}, ""),
    ({"type": ["string", "any"]}, ""),
    ({"type": {"oops": 1}}, ""),
    ({"type": 3, "enum": 3, "anyOf": 3, "allOf": "x", "properties": 3}, ""),
]


@pytest.mark.parametrize(("schema", "kinds"), KINDS, ids=lambda v: json.dumps(v)[:60] if isinstance(v, dict) else None)
def test_the_kinds_a_schema_allows(schema: dict[str, Any], kinds: str) -> None:
    assert " ".join(sorted(shape(schema).kinds)) == kinds


@pytest.mark.parametrize(
    ("schema", "enum"),
    [
        ({"enum": ["a", "b"]}, ("a", "b")),
        ({"const": 3}, (3,)),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, ("a", "b")),
        ({"anyOf": [{"enum": ["a"]}, NULL]}, ("a", None)),
        ({"anyOf": [{"enum": ["a"]}, STR]}, ()),
        ({"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, ("b",)),
        ({"enum": [1, True]}, (1, True)),
        (STR, ()),
        ({"enum": []}, ()),
    ],
)
def test_the_values_a_schema_enumerates(schema: dict[str, Any], enum: tuple[Any, ...]) -> None:
    assert shape(schema).enum == enum


def test_properties_of_every_branch_are_known() -> None:
    it = shape(
        {
            "type": "object",
            "properties": {"a": INT},
            "required": ["a"],
            "anyOf": [
                {"properties": {"b": INT, "c": STR}, "required": ["b"]},
                {"properties": {"b": STR}, "required": ["b", "c"]},
            ],
        }
    )
    assert it.keys == ("a", "b", "c")
    assert it.required == ("a", "b")
    assert it.property("b").kinds == {"integer", "string"}
    assert it.property("c").kinds == frozenset()  # anything in the second branch
    assert it.has("a")
    assert not it.has("z")


@pytest.mark.parametrize(
    ("schema", "open_"),
    [
        ({"properties": {}}, True),
        ({"additionalProperties": False}, False),
        ({"additionalProperties": INT}, True),
        ({"allOf": [{"additionalProperties": False}, {}]}, False),
        ({"anyOf": [{"additionalProperties": False}, {"properties": {}}]}, True),
        ({"unevaluatedProperties": False}, False),
    ],
)
def test_whether_other_properties_are_allowed(schema: dict[str, Any], open_: bool) -> None:
    assert shape(schema).open is open_


def test_undeclared_properties_have_their_patterns_shape() -> None:
    it = shape({"patternProperties": {"^x-": INT, "(": STR}, "additionalProperties": BOOL})
    assert it.property("x-a").kinds == {"integer"}
    assert it.property("other").kinds == {"boolean"}
    assert it.has("x-a")
    assert not it.has("other")
    assert shape({"additionalProperties": False}).property("a") is ANYTHING


def test_items_by_place_and_in_general() -> None:
    pair = shape({"prefixItems": [INT, STR], "items": BOOL})
    assert [sorted(pair.at(i).kinds) for i in range(3)] == [["integer"], ["string"], ["boolean"]]
    assert pair.item.kinds == {"integer", "string", "boolean"}
    assert shape(INTS).item.kinds == shape(INTS).at(7).kinds == {"integer"}
    old = shape({"items": [INT], "additionalItems": STR})  # before draft 2020-12
    assert [sorted(old.at(i).kinds) for i in range(2)] == [["integer"], ["string"]]
    assert shape(LIST).item is ANYTHING


def test_a_recursive_schema_closes_on_itself() -> None:
    it = shape(TREE)
    deep = it
    for _ in range(1000):
        deep = deep.property("kids").item
    assert deep.property("name").kinds == {"string"}
    assert it.property("kids").item is deep


def test_a_shape_is_made_once_per_schema() -> None:
    schema = {"properties": {"a": {"properties": {"b": STR}}}}
    assert shape(schema) is shape(schema)
    assert shape(schema).property("a") is shape(schema).property("a")
    assert shape(dict(schema)) is not shape(schema)


def test_keys_a_model_makes_up_are_not_remembered() -> None:
    it = shape({"anyOf": [{"additionalProperties": INT}, {"additionalProperties": STR}]})
    before = len(it._book)
    for n in range(100):
        assert it.property(f"k{n}").kinds == {"integer", "string"}
    assert len(it._book) == before


@pytest.mark.parametrize("nothing", [None, {}, True, 3, "x", [], MappingProxyType({})])
def test_no_schema_says_nothing(nothing: Any) -> None:
    assert shape(nothing) is ANYTHING
    assert ANYTHING.property("a") is ANYTHING
    assert ANYTHING.item is ANYTHING
    assert (ANYTHING.kinds, ANYTHING.keys, ANYTHING.required, ANYTHING.enum) == (frozenset(), (), (), ())
    assert ANYTHING.open


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "properties", "$defs"])
def test_a_schema_nested_without_end_is_asked_without_harm(keyword: str) -> None:
    it = shape(nested(keyword, 20_000))
    assert it.kinds in (frozenset(), {"object"})
    assert it.enum == ()
    assert isinstance(it.keys, tuple)


def test_combinations_without_end_say_nothing_rather_than_take_forever() -> None:
    many = {"allOf": [{"anyOf": [{"properties": {f"{i}{j}": STR}} for j in range(10)]} for i in range(50)]}
    assert "00" in shape(many).keys


@given(JUNK, VALUES, st.text(max_size=8))
def test_no_schema_and_no_value_raises(schema: Any, value: Any, text: str) -> None:
    it = shape(schema)
    assert isinstance(it.kinds, frozenset)
    for inner in (it, it.item, it.at(1), it.property("a")):
        assert all(isinstance(k, str) for k in (*inner.keys, *inner.required))
        assert isinstance(inner.open, bool)
        assert isinstance(inner.enum, tuple)
    coerce(value, it)
    read_text(text, it)
    if isinstance(schema, dict):
        assert all(f.path.startswith("$") for f in faults(schema, value))
