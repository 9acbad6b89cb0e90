"""Grammars and tags that hold a model to its dialect: what they allow is what the parser accepts."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from dragoman.dialects import DIALECTS
from dragoman.dialects.engine.parse import parse
from dragoman.dialects.writing.constraint import call_schema, grammar, structural_tag
from dragoman.dialects.writing.render import render
from dragoman.schema.grammar import Grammar
from dragoman.schema.validation import faults
from dragoman.types import Tool, ToolCall
from tests.support.gbnf import Gbnf

LOOK = Tool(
    name="look",
    parameters={
        "type": "object",
        "properties": {
            "at": {"type": "string"},
            "n": {"type": "integer"},
            "how": {"enum": ["far", "near"]},
            "in": {"type": "object", "properties": {"x": {"type": ["number", "null"]}}, "additionalProperties": False},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        },
        "required": ["at"],
        "additionalProperties": False,
    },
)
STOP = Tool(name="stop", parameters={"type": "object", "properties": {}, "additionalProperties": False})
TOOLS = (LOOK, STOP)
CALLS = [
    ToolCall(id="", name="look", arguments={"at": "the sky", "n": 3, "how": "far"}),
    ToolCall(id="", name="look", arguments={"at": 'say "no"\n', "in": {"x": None}, "tags": ["a", "b"]}),
    ToolCall(id="", name="stop", arguments={}),
]
HELD = sorted({row.name for row in DIALECTS.values() if grammar(row, TOOLS, required=True)})


def test_most_rows_with_json_arguments_can_be_held() -> None:
    assert {"hermes", "tool_call_fence", "llama3_json", "mistral", "kimi_k2", "json_protocol", "deepseek_v3"} <= set(HELD)
    assert grammar(DIALECTS["qwen3_coder"], TOOLS) is None
    assert grammar(DIALECTS["hermes"], ()) is None


@pytest.mark.parametrize("name", HELD)
def test_a_demanded_call_is_allowed_as_it_is_rendered(name: str) -> None:
    row = DIALECTS[name]
    allowed = Gbnf(grammar(row, TOOLS, required=True) or "")
    for call in CALLS:
        text = render([call], row, tools=TOOLS)
        assert allowed.allows(text)
        assert not allowed.allows(text[: len(text) // 2])
        assert not allowed.allows("")
        assert not allowed.allows(text.replace("look", "lock").replace("stop", "step"))


@pytest.mark.parametrize("name", HELD)
def test_whatever_the_grammar_allows_is_a_call_that_runs(name: str) -> None:
    row, luck = DIALECTS[name], Random(name)
    allowed = Gbnf(grammar(row, TOOLS, required=True, parallel=False) or "")
    for _ in range(12):
        text = allowed.sample(luck)
        parsed = parse(text, tools=TOOLS, dialects=[row])
        assert [call.name for call in parsed.calls] in (["look"], ["stop"]), text
        tool = next(tool for tool in TOOLS if tool.name == parsed.calls[0].name)
        assert faults(tool.parameters, parsed.calls[0].arguments) == []


FREE = sorted({row.name for row in DIALECTS.values() if grammar(row, TOOLS)})


@pytest.mark.parametrize("name", FREE)
def test_text_is_free_until_a_call_begins(name: str) -> None:
    row = DIALECTS[name]
    allowed = Gbnf(grammar(row, TOOLS) or "")
    call = render(CALLS[:1], row, tools=TOOLS)
    assert allowed.allows("It is 5 < 6, and <b>that</b> is all.")
    assert allowed.allows(call)
    if "{" not in call[:1] and "[" not in call[:1]:
        assert allowed.allows(f"I look. {call}")
    assert not allowed.allows(call.replace("look", "lock"))


@pytest.mark.parametrize("name", ["hermes", "tool_call_fence", "deepseek_v3", "mistral"])
def test_several_calls_are_allowed_where_they_may_be(name: str) -> None:
    row = DIALECTS[name]
    text = render(CALLS[:2], row, tools=TOOLS)
    assert Gbnf(grammar(row, TOOLS, required=True) or "").allows(text)
    assert not Gbnf(grammar(row, TOOLS, required=True, parallel=False) or "").allows(text)


SCHEMAS: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc"], ["a", "abcd", 3]),
    ({"type": "integer"}, [0, -7, 12], [1.5, "1", None]),
    ({"type": "number"}, [0, -1.5, 2e9], ["1"]),
    ({"type": ["string", "null"]}, ["x", None], [1]),
    ({"const": {"a": 1}}, [{"a": 1}], [{}, {"a": 2}]),
    ({"enum": ["a", 1, None]}, ["a", 1, None], ["b", 2]),
    ({"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "integer"}}]}, [True, [], [1, 2]], ["x", ["x"]]),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2}, [[1], [1, 2]], [[], [1, 2, 3]]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"a": 1}], [{"a": "x"}]),
    ({"type": "object"}, [{}, {"a": [1, {"b": None}]}], [[], 1]),
    ({}, [1, "x", [{}], None], []),
    (
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "null"}}},
        [{}, {"a": 1}, {"b": 2}, {"a": 1, "c": None}, {"a": 1, "b": 2, "c": None}, {"c": None}],
        [{"d": 1}, {"a": "x"}],
    ),
    (
        {
            "type": "object",
            "properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}},
            "required": ["v"],
        },
        [{"v": 1}, {"v": 1, "next": {"v": 2, "next": {"v": 3}}}],
        [{"next": {"v": 1}}, {"v": 1, "next": {}}],
    ),
    (
        {"$defs": {"T": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}},
         "$ref": "#/$defs/T"},
        [{}, {"kids": [{}, {"kids": []}]}],
        [{"kids": [1]}],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "fits", "unfit"), SCHEMAS, ids=[json.dumps(s[0])[:50] for s in SCHEMAS])
def test_a_schema_as_a_grammar_allows_what_fits(schema: dict[str, Any], fits: list[Any], unfit: list[Any]) -> None:
    made = Grammar()
    allowed = Gbnf(made.text(made.schema(schema)))
    for value in fits:
        assert allowed.allows(json.dumps(value)), value
        assert allowed.allows(json.dumps(value, separators=(",", ":"))), value
    for value in unfit:
        assert not allowed.allows(json.dumps(value)), value


ODD: list[Any] = [{"type": "strange"}, {"$ref": "#/nowhere"}, {"type": 3}, {"properties": {"": {}}}, {"enum": []}]


@pytest.mark.parametrize("schema", ODD)
def test_a_schema_that_cannot_be_read_still_gives_a_grammar(schema: dict[str, Any]) -> None:
    made = Grammar()
    assert Gbnf(made.text(made.schema(schema))).allows('{"": 1}') or "strange" in str(schema)


def test_tags_carry_each_tools_schema_between_what_the_row_writes() -> None:
    made = structural_tag(DIALECTS["hermes"], TOOLS)
    assert made is not None
    assert made["triggers"] == ["<tool_call>"]
    begin, end = made["structures"][0]["begin"], made["structures"][0]["end"]
    parsed = parse(begin + '{"at": "x"}' + end, tools=TOOLS, dialects=["hermes"])
    assert [call.name for call in parsed.calls] == ["look"]
    assert made["structures"][1]["schema"] == STOP.parameters
    assert structural_tag(DIALECTS["deepseek_v3"], TOOLS) is None


def test_one_call_as_a_schema() -> None:
    schema = call_schema(TOOLS)
    assert faults(schema, {"name": "look", "arguments": {"at": "x"}}) == []
    assert faults(schema, {"name": "look", "arguments": {}}) != []
    assert faults(call_schema(TOOLS[:1]), {"name": "stop", "arguments": {}}) != []
