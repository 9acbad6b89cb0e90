"""Every API gets a schema it takes, the same one every time, and losses are reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.schema.api_rules import (
    ANTHROPIC,
    BARE,
    BEDROCK,
    CEREBRAS,
    COHERE,
    EVERY,
    GEMINI,
    GEMINI_JSON,
    LLAMACPP,
    MOONSHOT,
    OPEN,
    OPENAI,
    OPENAI_STRICT,
    ROWS,
    XAI,
    Must,
    Refs,
    SchemaRules,
)
from dragoman.schema.narrowing.narrow import MOST_NODES, narrow, narrow_tool
from dragoman.schema.validation import check_schema, faults
from dragoman.schema.vocabulary import LISTS, MAPS, SINGLES, as_list
from dragoman.types import IssueKind, Tool
from tests.support.schemas import JUNK

STR, INT = {"type": "string"}, {"type": "integer"}
NODE = {"type": "object", "properties": {"v": STR, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
over_every_row = pytest.mark.parametrize("rules", ROWS, ids=lambda rules: rules.name)


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def narrowed(schema: Any, rules: SchemaRules) -> Any:
    """What stands for the property `x` of that schema."""
    return narrow(obj(x=schema), rules).schema["properties"]["x"]


def nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The schema and every schema in it."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    for key, held in schema.items():
        inside = held.values() if key in MAPS else held if key in LISTS else [held] if key in SINGLES else []
        for one in inside:
            yield from nodes(one)


# ── what each API refuses, and what it gets instead ──────────────────────────

CASES: list[tuple[str, SchemaRules, Any, Any]] = [
    ("const", GEMINI, {"const": "fast"}, {"enum": ["fast"], "type": "string"}),
    ("a format it knows", GEMINI, {"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
    ("a format it refuses is said", GEMINI, {"type": "string", "format": "uuid"},
     {"type": "string", "description": "format: uuid"}),
    ("what is said comes after the description", GEMINI, {"type": "integer", "exclusiveMinimum": 0, "description": "N"},
     {"type": "integer", "description": "N (exclusiveMinimum: 0)"}),
    ("two kinds, one of them null", GEMINI, {"type": ["string", "null"]}, {"type": "string", "nullable": True}),
    ("two kinds, one of them a value's", GEMINI, {"type": ["string", "integer"], "enum": ["x"]},
     {"type": "string", "enum": ["x"]}),
    ("anyOf with null", GEMINI, {"anyOf": [STR, {"type": "null"}]}, {"type": "string", "nullable": True}),
    ("several kinds", GEMINI, {"type": ["string", "integer"], "minLength": 1, "minimum": 2},
     {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 2}]}),
    ("oneOf", GEMINI, {"oneOf": [STR, INT]}, {"anyOf": [STR, INT]}),
    ("enumerated numbers", GEMINI, {"type": "integer", "enum": [1, 2]},
     {"type": "integer", "description": "enum: [1,2]"}),
    ("the empty value", GEMINI, {"enum": ["", "a"]}, {"enum": ["a"], "type": "string"}),
    ("required without properties", GEMINI, {"type": "object", "required": ["a"]}, {"type": "object"}),
    ("a map", GEMINI, {"type": "object", "additionalProperties": INT},
     {"type": "object", "description": 'additionalProperties: {"type":"integer"}'}),
    ("a tuple", GEMINI, {"type": "array", "prefixItems": [STR, INT, STR]},
     {"type": "array", "items": {"anyOf": [STR, INT]}}),
    ("an old tuple", GEMINI, {"type": "array", "items": [STR, STR]}, {"type": "array", "items": STR}),
    ("siblings of anyOf", GEMINI, {"type": "string", "anyOf": [{"minLength": 1}, {"maxLength": 9}]},
     {"anyOf": [{"type": "string", "minLength": 1}, {"type": "string", "maxLength": 9}]}),
    ("title", GEMINI, {"type": "string", "title": "T"}, STR),
    ("a map, as JSON Schema", GEMINI_JSON, {"type": "object", "additionalProperties": INT},
     {"type": "object", "additionalProperties": INT}),
    ("enumerated numbers, as JSON Schema", GEMINI_JSON, {"enum": [1, 2]}, {"enum": [1, 2], "type": "integer"}),
    ("a type on the alternatives", MOONSHOT, {"type": "string", "anyOf": [{"enum": ["a"]}, {"enum": ["b"]}]},
     {"anyOf": [{"enum": ["a"], "type": "string"}, {"enum": ["b"], "type": "string"}]}),
    ("null among the alternatives", MOONSHOT, {"anyOf": [STR, {"type": "null"}]}, STR),
    ("values of two kinds", MOONSHOT, {"enum": ["a", 1]},
     {"anyOf": [{"enum": ["a"], "type": "string"}, {"enum": [1], "type": "integer"}]}),
    ("an object without required", MOONSHOT, {"type": "object"}, {"type": "object", "properties": {}, "required": []}),
    ("bounds are said", MOONSHOT, {"type": "integer", "minimum": 1}, {"type": "integer", "description": "minimum: 1"}),
    ("counts", XAI, {"type": "string", "minLength": 1, "pattern": "a"},
     {"type": "string", "pattern": "a", "description": "minLength: 1"}),
    ("an array of anything", OPENAI, {"type": "array"}, {"type": "array", "items": {}}),
    ("a pattern inside", LLAMACPP, {"type": "string", "pattern": "a+"},
     {"type": "string", "description": "pattern: a+"}),
    ("a pattern of the whole", LLAMACPP, {"type": "string", "pattern": "^a+$"}, {"type": "string", "pattern": "^a+$"}),
    ("an object left open", CEREBRAS, obj(a=STR), {**obj(a=STR), "additionalProperties": False}),
    ("a closed object inside allOf", BEDROCK, {"allOf": [obj(a=STR), {**obj(b=INT), "required": ["b"]}]},
     {**obj(a=STR, b=INT), "required": ["b"]}),
    ("no type but members", GEMINI_JSON, {"properties": {"a": STR}}, obj(a=STR)),
    ("null as a kind of its own", CEREBRAS, {"type": ["string", "null"]}, {"anyOf": [STR, {"type": "null"}]}),
    ("a type that is none", OPEN, {"type": "any", "description": "D"}, {"description": "D"}),
    ("required as a flag", OPEN, {"type": "string", "required": True}, STR),
    ("a reference that leads nowhere", GEMINI, {"$ref": "#/$defs/Gone", "type": "string"}, STR),
    ("nothing is allowed there", GEMINI_JSON, {"anyOf": [STR, False]}, STR),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "given_", "wanted"), [c[1:] for c in CASES], ids=[f"{c[1].name}: {c[0]}" for c in CASES])
def test_what_an_api_refuses_is_told_in_its_own_words(rules: SchemaRules, given_: Any, wanted: Any) -> None:
    assert narrowed(given_, rules) == wanted


def test_what_is_refused_nowhere_is_left_alone() -> None:
    schema = {**obj(a=STR, b={"type": "array", "items": INT}), "required": ["a"]}
    assert all(narrow(schema, rules).schema.get("properties") == schema["properties"] for rules in ROWS)
    assert narrow(schema, OPEN).issues == ()


# ── references ───────────────────────────────────────────────────────────────


def test_a_reference_is_filled_in_and_its_neighbours_stay() -> None:
    schema = {**obj(x={"$ref": "#/$defs/City", "description": "where"}), "$defs": {"City": obj(name=STR)}}
    made = narrow(schema, GEMINI).schema
    assert made == obj(x={"description": "where", **obj(name=STR)})


def test_a_loop_stays_a_reference_where_the_api_takes_them() -> None:
    schema = {**obj(x={"$ref": "#/definitions/Node"}), "definitions": {"Node": NODE_IN_DEFINITIONS}}
    made = narrow(schema, MOONSHOT).schema
    assert made["properties"]["x"] == {"$ref": "#/$defs/Node"}
    assert made["$defs"]["Node"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Node"}


NODE_IN_DEFINITIONS = {
    "type": "object",
    "properties": {"v": STR, "kids": {"type": "array", "items": {"$ref": "#/definitions/Node"}}},
}


def test_a_loop_is_cut_and_reported_where_refused() -> None:
    made = narrow({**obj(x={"$ref": "#/$defs/Node"}), "$defs": {"Node": NODE}}, GEMINI, "walk")
    assert made.schema["properties"]["x"] == obj(v=STR, kids={"type": "array", "items": {"type": "object"}})
    (issue,) = made.issues
    assert (issue.kind, issue.name, issue.path) == (
        IssueKind.UNSUPPORTED, "walk", "$.properties.x.properties.kids.items")  # fmt: skip
    assert "refers to itself" in issue.message


def test_a_schema_that_is_its_own_item_is_told() -> None:
    tree = obj(kids={"type": "array", "items": {"$ref": "#"}})
    assert narrow(tree, XAI).schema["$defs"] == {
        "root": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/root"}}}}
    }
    assert narrow(tree, GEMINI).schema == obj(
        kids={"type": "array", "items": obj(kids={"type": "array", "items": {"type": "object"}})}
    )


def test_references_that_grow_without_end_are_cut() -> None:
    defs = {f"d{i}": obj(a={"$ref": f"#/$defs/d{i + 1}"}, b={"$ref": f"#/$defs/d{i + 1}"}) for i in range(30)}
    made = narrow({**obj(x={"$ref": "#/$defs/d0"}), "$defs": {**defs, "d30": STR}}, GEMINI)
    assert sum(1 for _ in nodes(made.schema)) < 20 * MOST_NODES
    assert any("too deeply" in issue.message for issue in made.issues)


# ── the root ─────────────────────────────────────────────────────────────────


@over_every_row
@pytest.mark.parametrize(
    "schema",
    [{}, {"type": "string"}, {"type": ["object", "null"]}, {"$ref": "#/$defs/A", "$defs": {"A": obj(a=STR)}}, STR, []],
    ids=str,
)
def test_the_root_is_an_object(rules: SchemaRules, schema: Any) -> None:
    assert narrow(schema, rules).schema["type"] == "object"


@pytest.mark.parametrize("rules", [OPENAI, ANTHROPIC, BEDROCK, GEMINI, MOONSHOT, XAI, BARE], ids=lambda r: r.name)
@pytest.mark.parametrize("word", ["anyOf", "oneOf"])
def test_alternatives_at_the_root_become_one_object(rules: SchemaRules, word: str) -> None:
    branches = [{**obj(a=STR, c=INT), "required": ["a", "c"]}, {**obj(b=INT, c=INT), "required": ["b", "c"]}]
    made = narrow({"type": "object", word: branches}, rules)
    assert list(made.schema["properties"]) == ["a", "c", "b"]
    assert made.schema["required"] == ["c"]
    assert word not in made.schema
    assert made.issues[0].path == "$"


def test_a_root_that_only_says_what_is_required_loses_that() -> None:
    schema = {**obj(a=STR, b=STR), "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert narrow(schema, ANTHROPIC).schema == obj(a=STR, b=STR)


def test_bedrocks_root_says_three_things() -> None:
    made = narrow({**obj(a=STR), "required": ["a"], "title": "T", "additionalProperties": False}, BEDROCK).schema
    assert made == {**obj(a=STR), "required": ["a"]}


def test_a_property_with_a_refused_name_is_not_sent() -> None:
    schema = {**obj(**{"a": STR, "odd key": STR}), "required": ["a", "odd key"]}
    made = narrow(schema, ANTHROPIC)
    assert made.schema == {**obj(a=STR), "required": ["a"], "description": 'also: ["odd key"]'}
    assert "'odd key'" in made.issues[0].message


# ── strict ───────────────────────────────────────────────────────────────────

STRICT_ENOUGH = {
    "all required": {**obj(a=STR), "required": ["a"]},
    "optional but nullable": {**obj(a={"type": ["string", "null"]}), "required": []},
    "nothing at all": obj(),
    "nested": {**obj(a={**obj(b=INT), "required": ["b"]}), "required": ["a"]},
    "recursive": {**obj(x={"$ref": "#/$defs/N"}), "required": ["x"],
                  "$defs": {"N": {**obj(n={"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]}), "required": ["n"]}}},
}  # fmt: skip
NOT_STRICT = {
    "optional": obj(a=STR),
    "a map": {**obj(a={"type": "object", "additionalProperties": STR}), "required": ["a"]},
    "left open on purpose": {**obj(a=STR), "required": ["a"], "additionalProperties": True},
    "any value": {**obj(a={}), "required": ["a"]},
}


@pytest.mark.parametrize("name", STRICT_ENOUGH)
def test_strict_is_kept_where_the_schema_can_be_told_strictly(name: str) -> None:
    made, issues = narrow_tool(Tool(name="t", parameters=STRICT_ENOUGH[name], strict=True), OPENAI)
    assert made.strict
    assert issues == ()
    for node in nodes(made.parameters):
        if "object" in as_list(node.get("type")):
            assert node["additionalProperties"] is False
            assert set(node.get("required", ())) == set(node["properties"])


@pytest.mark.parametrize("name", NOT_STRICT)
def test_strict_is_given_up_where_it_changes_the_schema(name: str) -> None:
    made, issues = narrow_tool(Tool(name="t", parameters=NOT_STRICT[name], strict=True), OPENAI)
    assert not made.strict
    assert "strict mode is not asked for" in issues[0].message
    assert made.parameters["properties"].keys() == NOT_STRICT[name]["properties"].keys()


def test_an_api_without_strict_is_not_asked_for_it() -> None:
    made, issues = narrow_tool(Tool(name="t", parameters=STRICT_ENOUGH["nested"], strict=True), GEMINI)
    assert not made.strict
    assert [issue.path for issue in issues] == ["$.tools.strict"]


def test_a_tool_that_fits_is_the_same_tool() -> None:
    tool = Tool(name="t", parameters=obj(a=STR))
    assert narrow_tool(tool, OPENAI)[0] is tool


# ── laws ─────────────────────────────────────────────────────────────────────

NAMES = st.sampled_from(["a", "b", "odd key"])
LEAVES: list[Any] = [
    STR, INT, {"type": "number", "minimum": 0}, {"type": "boolean"}, {"type": "null"}, {}, True,
    {"type": ["string", "null"]}, {"type": ["integer", "string"]}, {"enum": ["x", 1, None]}, {"const": "x"},
    {"type": "string", "format": "email", "description": "D"}, {"type": "string", "maxLength": 2, "pattern": "x"},
    {"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Pair"}, {"$ref": "#"}, {"type": "array"}, {"type": "object"},
]  # fmt: skip


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    extra = st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": INT}, {"title": "T"}])
    return st.builds(
        lambda properties, required, more: {
            "type": "object", "properties": properties, "required": [k for k in properties if k in required], **more
        },
        st.dictionaries(NAMES, inner, max_size=3), st.sets(NAMES), extra,
    )  # fmt: skip


INNER = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: (
        _objects(inner)
        | inner.map(lambda s: {"type": "array", "items": s, "minItems": 1})
        | st.builds(lambda word, of: {word: of}, st.sampled_from(["anyOf", "oneOf"]), st.lists(inner, min_size=1, max_size=3))
        | st.lists(inner, min_size=1, max_size=2).map(lambda of: {"allOf": of})
        | st.lists(inner, min_size=1, max_size=2).map(lambda of: {"type": "array", "prefixItems": of})
    ),
    max_leaves=6,
)
DEFS = {"Node": NODE, "Pair": {**obj(a=STR, b=INT), "required": ["a"]}}
SCHEMAS = _objects(INNER).map(lambda schema: {**schema, "$defs": DEFS})
VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, -1, 1.5, "", "x", "xyz"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=6,
)
over_rows = st.sampled_from(ROWS)


@given(JUNK, over_rows)
def test_no_schema_however_broken_raises_or_comes_out_unsound(schema: Any, rules: SchemaRules) -> None:
    check_schema(narrow(schema, rules).schema)


@given(SCHEMAS, over_rows)
def test_what_comes_out_keeps_the_rules(schema: Any, rules: SchemaRules) -> None:
    made = narrow(schema, rules).schema
    check_schema(made)
    assert not set(made) & (rules.root - {"type", "properties", "required"})
    for node in nodes(made):
        assert rules.keywords is None or set(node) <= rules.keywords
        assert rules.refs is not Refs.CUT or "$ref" not in node
        _check_demands(node, rules)


def _check_demands(node: Mapping[str, Any], rules: SchemaRules) -> None:
    kinds = as_list(node.get("type"))
    if Must.TYPE in rules.musts and rules.anything:
        assert kinds or "anyOf" in node or "$ref" in node
    if Must.ITEMS in rules.musts and "array" in kinds:
        assert "items" in node
    if Must.PROPERTIES in rules.musts and "object" in kinds:
        assert "properties" in node
    if Must.DECLARED in rules.musts:
        assert set(node.get("required", ())) <= set(node.get("properties", ()))
    if Must.ALONE in rules.musts and "anyOf" in node:
        assert set(node) <= {"anyOf", "description", "nullable"}
    if rules.keys is not None:
        assert all(map(rules.keys.fullmatch, node.get("properties", ())))


@given(SCHEMAS, over_rows)
def test_narrowing_twice_is_narrowing_once(schema: Any, rules: SchemaRules) -> None:
    once = narrow(schema, rules)
    assert narrow(once.schema, rules).schema == once.schema


LOOSE = [rules for rules in ROWS if rules in (OPEN, LLAMACPP, OPENAI, ANTHROPIC, BEDROCK, XAI, COHERE)]


@settings(max_examples=200)
@given(SCHEMAS, st.dictionaries(NAMES, VALUES, max_size=3), st.sampled_from(LOOSE))
def test_what_the_full_schema_takes_the_narrowed_one_takes(schema: Any, value: Any, rules: SchemaRules) -> None:
    if not faults(schema, value):
        assert faults(narrow(schema, rules).schema, value) == []


@given(SCHEMAS, over_rows)
def test_every_issue_says_where(schema: Any, rules: SchemaRules) -> None:
    for issue in narrow(schema, rules, "t").issues:
        assert issue.kind is IssueKind.UNSUPPORTED
        assert issue.path.startswith("$")
        assert issue.name == "t"


@over_every_row
def test_every_row_cites_a_source_and_speaks_json_schema(rules: SchemaRules) -> None:
    assert rules.source
    assert (rules.keywords or frozenset()) - {"propertyOrdering"} <= EVERY
    assert rules.root <= EVERY
    assert OPENAI_STRICT.deepest < OPENAI.deepest
