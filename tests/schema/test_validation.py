"""Faults and broken schemas reported, tools in one line."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest

from dragoman.errors import UsageError
from dragoman.schema.validation import check_schema, excerpt, faults, shape, signature, standard
from dragoman.types import EMPTY_OBJECT_SCHEMA, Tool
from tests.support.schemas import BOOL, INT, INTS, LIST, NULL, NUM, OBJ, STR, STRS, TREE, nested, rows

ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1, "description": "the order's number"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "minItems": 1},
        "state": {"enum": ["open", "closed"]},
        "note": {"anyOf": [STR, NULL]},
        "to": {"anyOf": [{"$ref": "#/$defs/Item"}, NULL]},
        "pay": {
            "oneOf": [
                {"properties": {"by": {"const": "card"}, "number": STR}, "required": ["by", "number"]},
                {"properties": {"by": {"const": "cash"}}, "required": ["by"]},
            ]
        },
    },
    "required": ["id"],
    "additionalProperties": False,
    "$defs": {
        "Item": {
            "type": "object",
            "properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}},
            "required": ["name"],
        }
    },
}

FAULTS = [
    ({"id": "x"}, "$.id", "type", 'must be integer, not string "x"', ORDER["properties"]["id"]),  # type: ignore[index]
    ({"id": 0}, "$.id", "minimum", "must be at least 1, not integer 0", None),
    (
        {},
        "$",
        "required",
        'the required property "id" is missing',
        {
            "required": ["id"],
            "properties": {"id": {"type": "integer", "minimum": 1, "description": "the order's number"}},
        },
    ),
    ({"id": 1, "who": 2}, "$", "additionalProperties", 'unknown properties: "who"; allowed: "id", "items"', None),
    ({"id": 1, "items": []}, "$.items", "minItems", "must have at least 1 items", None),
    ({"id": 1, "items": [{"name": "a"}, {}]}, "$.items[1]", "required", '"name" is missing', None),
    (
        {"id": 1, "items": [{"name": "A"}]},
        "$.items[0].name",
        "pattern",
        'must match the pattern "^[a-z]+$", not string "A"',
        None,
    ),
    (
        {"id": 1, "state": "Open"},
        "$.state",
        "enum",
        'must be one of "open", "closed", not string "Open"',
        {"enum": ["open", "closed"]},
    ),
    ({"id": 1, "note": 3}, "$.note", "anyOf", "integer 3 fits none of the allowed forms (string or null)", None),
    ({"id": 1, "to": {"name": 3}}, "$.to.name", "type", "must be string, not integer 3", None),
    ({"id": 1, "pay": {"by": "card"}}, "$.pay", "required", '"number" is missing', None),
    ({"id": 1, "state": None}, "$.state", "enum", 'must be one of "open", "closed", not null', None),
]


@pytest.mark.parametrize(("value", "path", "keyword", "message", "schema"), FAULTS)
def test_a_fault_says_where_and_what_would_be_right(
    value: Any, path: str, keyword: str, message: str, schema: dict[str, Any] | None
) -> None:
    (fault,) = faults(ORDER, value)
    assert (fault.path, fault.keyword) == (path, keyword)
    assert message in fault.message
    assert schema is None or fault.schema == schema


@pytest.mark.requirement("000-validate")
def test_all_faults_are_told() -> None:
    found = faults(ORDER, {"state": 1, "items": [{}, {"name": 1}], "x": 1})
    assert {(f.path, f.keyword) for f in found} == {
        ("$", "required"),
        ("$", "additionalProperties"),
        ("$.state", "enum"),
        ("$.items[0]", "required"),
        ("$.items[1].name", "type"),
    }


@pytest.mark.requirement("weak-exathena-9")
def test_validation_knows_all_of_json_schema() -> None:
    flag = {"properties": {"on": BOOL, "by": {"oneOf": [INT, STR]}, "l": INTS, "e": {"enum": [1]}}, "required": ["on"]}
    assert faults(flag, {"on": False}) == []
    assert [f.path for f in faults(flag, {"on": False, "by": 1.5, "l": [1, "x"], "e": 2})] == ["$.by", "$.l[1]", "$.e"]


def test_a_valid_value_has_no_faults() -> None:
    assert faults(ORDER, {"id": 1, "items": [{"name": "a"}], "to": None, "pay": {"by": "cash"}}) == []


@pytest.mark.parametrize(
    "value",
    [{"id": "x" * 10**6}, {"id": ["x" * 10**6]}, {"x" * 10**6: 1, "id": 1}, {"id": 1, "state": {"a": "x" * 10**6}}],
)
def test_a_fault_never_echoes_a_huge_value(value: Any) -> None:
    for fault in faults(ORDER, value):
        assert len(fault.message) <= 300
        assert len(json.dumps(fault.schema)) < 2000


def test_ten_thousand_mistakes_are_told_as_a_hundred() -> None:
    assert len(faults(INTS, ["x"] * 10_000)) == 100


def test_a_huge_schema_is_shown_as_an_excerpt() -> None:
    many = {f"p{i}": {"type": "object", "properties": {"a": INT}} for i in range(1000)}
    huge = {"type": "object", "description": "d" * 10_000, "properties": many}
    (fault,) = faults({"properties": {"a": huge}}, {"a": 1})
    assert len(json.dumps(fault.schema)) < 20_000
    assert excerpt({"$ref": "#/a"}, {"a": {"$ref": "#/a"}}) == {"$ref": "#/a"}


def test_values_of_our_own_mappings_are_validated() -> None:
    assert faults(ORDER, MappingProxyType({"id": 1, "items": ({"name": "a"},)})) == []
    assert [f.path for f in faults(ORDER, MappingProxyType({"id": "x"}))] == ["$.id"]
    assert faults(MappingProxyType({"type": "object", "required": ("a",)}), {})[0].keyword == "required"
    assert faults(EMPTY_OBJECT_SCHEMA, {}) == []


def test_big_integers_are_validated_exactly() -> None:
    assert faults({"maximum": 2**70}, 2**70) == []
    assert [f.keyword for f in faults({"maximum": 2**70}, 2**70 + 1)] == ["maximum"]


@pytest.mark.parametrize("value", [{"a": "\ud800"}, {"a": object()}, {1: 2}])
def test_a_value_that_is_not_json_is_a_fault(value: Any) -> None:
    assert len(faults({"properties": {"a": INT, "1": STR}}, value)) == 1


def test_a_value_nested_without_end_is_a_fault() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = {"kids": [value]}
    (fault,) = faults(TREE, value)
    assert "flatter" in fault.message


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "nullable": True}}},
        {"type": "dict", "properties": {"a": {"type": "int", "nullable": True}, "type": {"type": "any"}}},
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "properties": {"a": {"type": ["integer", "null"], "minimum": 0, "exclusiveMinimum": True}},
        },
        {"properties": {"a": {"type": ["integer", "null"]}, "b": {"items": [INT]}}},
        {"$schema": "https://example.com/unknown", "properties": {"a": {"type": ["integer", "null"]}}},
    ],
)
def test_schemas_of_other_drafts_and_accents_validate_all_the_same(schema: dict[str, Any]) -> None:
    assert faults(schema, {"a": 1}) == faults(schema, {"a": None}) == []
    assert [f.path for f in faults(schema, {"a": "x"})] == ["$.a"]


def test_standard_rewrites_types_and_leaves_data_alone() -> None:
    given = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "enum": ["A"], "nullable": True},
            "d": {"default": {"type": "STRING"}},
        },
    }
    assert standard(given) == {
        "type": "object",
        "properties": {"type": {"type": ["string", "null"], "enum": ["A", None]}, "d": {"default": {"type": "STRING"}}},
    }
    deep = nested("allOf", 5000)
    assert standard(deep) is deep


def test_a_reference_that_leads_nowhere_leaves_the_rest_in_force() -> None:
    schema = {"properties": {"a": {"$ref": "#/lost"}, "b": {"$ref": "https://example.com/x"}, "c": INT}}
    assert [f.path for f in faults(schema, {"a": 1, "b": 2, "c": "x"})] == ["$.c"]


# (schema, what the message must name)
BROKEN: list[tuple[Any, str]] = [
    ({"type": "foo"}, "$.type"),
    ({"properties": {"a": {"pattern": "["}}}, "$.properties.a.pattern"),
    ({"required": "a"}, "$.required"),
    ({"properties": {"a": None}}, "$.properties.a"),
    ({"properties": []}, "$.properties"),
    ({"$ref": "#/nowhere"}, "/nowhere"),
    ({"$ref": "http://127.0.0.1:9/x"}, "move what it names into $defs"),
    ({"$ref": "file:///etc/passwd"}, "move what it names into $defs"),
    (nested("allOf", 5000), "nests deeper"),
    ([], "not array"),
    ("{}", "not string"),
]


@pytest.mark.parametrize(("schema", "named"), BROKEN, ids=[named for _, named in BROKEN])
def test_a_broken_schema_is_reported_and_kills_nothing(schema: Any, named: str) -> None:
    with pytest.raises(UsageError, match="parameters of tool 'f'") as caught:
        check_schema(schema, "f")
    assert named in str(caught.value)
    assert len(str(caught.value)) < 500
    if isinstance(schema, dict):
        assert faults(schema, {"a": 1}) == []
        assert isinstance(shape(schema).kinds, frozenset)


@pytest.mark.parametrize(
    "schema", [{}, ORDER, TREE, EMPTY_OBJECT_SCHEMA, {"$schema": "http://json-schema.org/draft-07/schema#"}]
)
def test_a_sound_schema_passes(schema: dict[str, Any]) -> None:
    check_schema(schema, "f")


# ── signatures ───────────────────────────────────────────────────────────────

# (parameters, description, signature of tool `f`).  Source: seeds.md A4.
SIGNATURES = [
    ({}, "", "f()"),
    ({"properties": {}}, "", "f()"),
    (
        {"properties": {"b": STR, "a": INT, "d": BOOL, "c": NUM}, "required": ["d", "c"]},
        "",
        "f(c: number, d: boolean, a?: integer, b?: string)",
    ),
    (
        {"properties": {"a": STRS, "b": {"type": "array", "items": OBJ}, "c": LIST, "d": {"items": STR}}},
        "",
        "f(a?: string[], b?: array, c?: array, d?: object)",
    ),
    (
        {
            "properties": {
                "a": {"type": ["integer", "null"]},
                "b": {"enum": ["x"]},
                "c": {"$ref": "#"},
                "d": NULL,
                "e": True,
            }
        },
        "",
        "f(a?: integer, b?: object, c?: object, d?: null, e?: object)",
    ),
    ({}, "Reads a file. Returns its content.", "f() — Reads a file."),
    ({}, "Reads  a\n file", "f() — Reads a file"),
    ({}, "Version 1.5 of it. More.", "f() — Version 1.5 of it."),
    ({}, "A" * 100, "f() — " + "A" * 80),
    ({"properties": "broken", "required": 3}, "", "f()"),
]


@pytest.mark.parametrize(("parameters", "description", "line"), SIGNATURES)
def test_a_tool_is_told_in_one_line(parameters: dict[str, Any], description: str, line: str) -> None:
    assert signature(Tool(name="f", description=description, parameters=parameters)) == line


def test_a_tool_without_a_name_is_told_too() -> None:
    assert signature(Tool(name="")) == "<unnamed>()"


COMPACT = [r for r in rows("documents.jsonl", "message") if str(r["id"]).startswith("exa-augment-compact")]


@pytest.mark.skipif(not COMPACT, reason="the outside vectors are not here")
@pytest.mark.parametrize("row", [r for r in COMPACT if "contains" in r["expected"]], ids=lambda row: row["id"])
def test_signatures_hold_what_the_documents_show(row: dict[str, Any]) -> None:
    lines = [
        "- " + signature(Tool(name=t["name"], description=t["description"], parameters=t["schema"]))
        for t in row["tools"]
    ]
    text = "\n".join(lines)
    assert all(part in text for part in row["expected"]["contains"] if "~~~" not in part)
    assert not any(part in text for part in row["expected"]["not_contains"])
