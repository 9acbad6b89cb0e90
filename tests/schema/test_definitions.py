"""Any provider's tool definitions → tools."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.errors import UsageError
from dragoman.schema.definitions import tool, tools
from dragoman.schema.validation import check_schema
from dragoman.types import EMPTY_OBJECT_SCHEMA, NOTHING, Tool

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GOOGLE = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
BARE: dict[str, Any] = {"name": "f", "description": "d"}
WANTED = Tool(name="f", description="d", parameters=SCHEMA)

FORMS: dict[str, dict[str, Any]] = {
    "OpenAI Chat, Ollama": {"type": "function", "function": {**BARE, "parameters": SCHEMA}},
    "OpenAI Responses": {"type": "function", **BARE, "parameters": SCHEMA},
    "Anthropic": {**BARE, "input_schema": SCHEMA},
    "Anthropic, with its type": {"type": "custom", **BARE, "input_schema": SCHEMA},
    "Gemini, its own types": {"functionDeclarations": [{**BARE, "parameters": GOOGLE}]},
    "Gemini, JSON Schema": {"functionDeclarations": [{**BARE, "parametersJsonSchema": SCHEMA}]},
    "Gemini, Python SDK": {"function_declarations": [{**BARE, "parameters_json_schema": SCHEMA}]},
    "Bedrock Converse": {"toolSpec": {**BARE, "inputSchema": {"json": SCHEMA}}},
    "MCP": {**BARE, "inputSchema": SCHEMA},
    "bare, parameters": {**BARE, "parameters": SCHEMA},
    "bare, schema": {**BARE, "schema": SCHEMA},
    "absent fields are null": {**BARE, "parameters": SCHEMA, "input_schema": None, "strict": None, "type": None},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_every_providers_form_is_read(form: dict[str, Any]) -> None:
    assert tool(form) == WANTED
    assert tools([form]) == (WANTED,)


@pytest.mark.parametrize(
    "form",
    [
        {"type": "function", "function": {**BARE, "parameters": SCHEMA, "strict": True}},
        {"type": "function", **BARE, "parameters": SCHEMA, "strict": True},
        {**BARE, "input_schema": SCHEMA, "strict": True},
    ],
)
def test_strictness_is_read(form: dict[str, Any]) -> None:
    assert tool(form) == Tool(name="f", description="d", parameters=SCHEMA, strict=True)


def test_a_tool_is_itself() -> None:
    assert tool(WANTED) is WANTED


def test_one_entry_may_hold_many_declarations() -> None:
    entry = {"functionDeclarations": [{"name": "a"}, {"name": "b", "parameters": GOOGLE}]}
    found = tools([entry, {"name": "c"}])
    assert found is not None
    assert [t.name for t in found] == ["a", "b", "c"]


def test_not_known_is_not_the_same_as_none_at_all() -> None:
    assert tools(None) is None
    assert tools([]) == ()
    assert tools(iter([BARE])) == (Tool(name="f", description="d"),)


@pytest.mark.parametrize("form", [{"name": "f"}, {"type": "function", "function": {"name": "f", "parameters": None}}])
def test_a_tool_without_a_schema_takes_no_arguments(form: dict[str, Any]) -> None:
    assert tool(form) == Tool(name="f", parameters=EMPTY_OBJECT_SCHEMA)


def test_an_empty_schema_stays_empty() -> None:
    assert tool({"name": "f", "schema": {}}).parameters == {}


def test_foreign_type_names_become_json_schema() -> None:
    nullable = {"type": "INTEGER", "nullable": True}
    found = tool({"name": "f", "parameters": {"type": "OBJECT", "properties": {"n": nullable}}})
    assert found.parameters == {"type": "object", "properties": {"n": {"type": ["integer", "null"]}}}
    check_schema(found.parameters, "f")


def test_a_standard_schema_is_taken_as_it_is() -> None:
    assert tool({"name": "f", "parameters": SCHEMA}).parameters is SCHEMA


def test_fields_we_do_not_model_are_kept_and_never_sent() -> None:
    cached = {"type": "function", "function": {**BARE, "x": 1}, "cache_control": {"type": "ephemeral"}}
    assert tool(cached).metadata == {"cache_control": {"type": "ephemeral"}, "x": 1}
    assert tool({**BARE, "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}).metadata == {
        "annotations": {"readOnlyHint": True}
    }
    assert tool(BARE).metadata == NOTHING


def test_different_tools_of_one_name_are_reported() -> None:
    again = {"functionDeclarations": [{"name": "f", "description": "another"}]}
    with pytest.raises(UsageError, match="named 'g', 'f':"):
        tools([{"name": "f"}, {"name": "g"}, {"name": "h"}, Tool(name="g", strict=True), again])


def test_the_same_tool_twice_counts_once() -> None:
    assert tools([{"name": "f"}, {"name": "g"}, Tool(name="f")]) == (Tool(name="f"), Tool(name="g"))


MISTAKES: list[tuple[Any, str]] = [
    ("f", "must be a list"),
    ({"name": "f"}, "put it in a list"),
    (WANTED, "put it in a list"),
    (3, "must be a list of definitions, not int"),
    ([BARE, "f"], r"tools\[1\] is a str"),
    ([{"description": "no name"}], r"tools\[0\] has no name"),
    ([{"type": "function", "function": {"name": ""}}], r"tools\[0\] has no name"),
    ([{"name": 3}], "has no name"),
    ([{"functionDeclarations": {"name": "f"}}], r"tools\[0\]\.functionDeclarations must be a list"),
    ([{"functionDeclarations": [{}]}], r"tools\[0\]\.functionDeclarations\[0\] has no name"),
    ([{"name": "f", "parameters": "{}"}], r"tools\[0\]\.parameters \('f'\) must be a JSON Schema object, not str"),
    ([{"type": "web_search_20250305", "name": "web_search"}], "not a function with a schema"),
    ([{"type": "custom", "name": "sql", "format": {"type": "text"}}], "not a function with a schema"),
    ([{"googleSearch": {}}], "has no name"),
]


@pytest.mark.parametrize(("given", "message"), MISTAKES, ids=[m for _, m in MISTAKES])
def test_what_cannot_be_read_is_the_callers_mistake(given: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        tools(given)


def test_one_definition_that_holds_several_is_refused() -> None:
    with pytest.raises(UsageError, match="holds 2 tools"):
        tool({"functionDeclarations": [{"name": "a"}, {"name": "b"}]})


def test_a_schema_that_is_broken_is_read_all_the_same() -> None:
    endless: dict[str, Any] = {"type": "WHATEVER"}
    for _ in range(5000):
        endless = {"type": "OBJECT", "properties": {"a": endless}}
    assert tool({"name": "f", "parameters": endless}).parameters is endless
