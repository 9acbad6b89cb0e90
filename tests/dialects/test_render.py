"""Rows read backwards: what is rendered is read again as the same calls, for every notation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dragoman.dialects import DIALECTS, Dialect, parse
from dragoman.dialects.rows.documents import HERMES, JSON_PROTOCOL, TILDE_FENCE
from dragoman.dialects.rows.literals import GEMMA4
from dragoman.dialects.rows.names import KIMI_K2
from dragoman.dialects.rows.tags import QWEN3_CODER
from dragoman.dialects.spec import AttributeArgs, JsonArgs, JsonCall, KeywordArgs, TaggedArgs
from dragoman.dialects.writing.history import final_answer, render_message, render_result
from dragoman.dialects.writing.render import Unrenderable, render
from dragoman.errors import UsageError
from dragoman.types import Media, Message, Reasoning, Text, Tool, ToolCall, ToolResult
from tests.support import more_dialects as families

EVERY = list(DIALECTS.values())
JSON_ROWS = [d for d in EVERY if isinstance(d.args, JsonCall | JsonArgs | KeywordArgs | AttributeArgs)]
BIG = 123456789012345678901234567890


def named(rows: Sequence[Dialect]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("dialect", rows, ids=[d.name for d in rows])


def call(name: str = "read_file", /, id: str = "", **arguments: Any) -> ToolCall:  # noqa: A002
    return ToolCall(id=id, name=name, arguments=arguments)


def calls_of(calls: Sequence[ToolCall]) -> list[tuple[str, Any]]:
    return [(c.name, c.arguments) for c in calls]


def kind(value: Any) -> str:
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null", list: "array"}
    return kinds.get(type(value), "object")


def tools_for(calls: Sequence[ToolCall]) -> list[Tool]:
    """The tools of these calls, every argument declared with the type it has."""
    found: dict[str, dict[str, Any]] = {}
    for c in calls:
        found.setdefault(c.name, {}).update({k: {"type": kind(v)} for k, v in c.arguments.items()})
    return [Tool(name=n, parameters={"type": "object", "properties": p}) for n, p in found.items()]


def markup(dialect: Dialect) -> list[str]:
    spans = (dialect.section, dialect.call, dialect.tool, dialect.body)
    return [s for span in spans for s in (*span.open, *span.close)]


MARKS = sorted({m for d in EVERY for m in markup(d)})
SIGNS = ['"', "'", "\\", "\n", "\\n", "{", "}", "]", ",", ": ", "<think>", "</think>", "```", '"}', "\u2028", "é", "日"]
TRICKY = [*MARKS, *SIGNS]
texts = st.text(max_size=12) | st.lists(st.sampled_from(TRICKY) | st.text(max_size=4), max_size=5).map("".join)
numbers = st.integers() | st.just(BIG) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | texts
keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
names = st.from_regex(r"[a-z][a-z0-9_.-]{0,12}[a-z0-9]", fullmatch=True)
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=3), max_leaves=6)
call_lists = st.lists(
    st.builds(ToolCall, id=st.just(""), name=names, arguments=st.dictionaries(keys, values, max_size=4)),
    min_size=1,
    max_size=3,
)


def one_type_per_argument(calls: Sequence[ToolCall]) -> bool:
    declared: dict[tuple[str, str], str] = {}
    return all(declared.setdefault((c.name, k), kind(v)) == kind(v) for c in calls for k, v in c.arguments.items())


def read_again(dialect: Dialect, calls: list[ToolCall]) -> None:
    tools = tools_for(calls)
    try:
        text = render(calls, dialect, tools=tools)
    except Unrenderable:
        assert dialect not in JSON_ROWS, "JSON carries every value"
        return
    read = parse(text, dialects=[dialect], tools=tools)
    assert calls_of(read.calls) == calls_of(calls), text
    assert read.text.strip() == ""


@named(EVERY)
@settings(max_examples=15, deadline=None)
@given(calls=call_lists)
def test_what_is_rendered_is_read_again_as_the_same_calls(dialect: Dialect, calls: list[ToolCall]) -> None:
    assume(one_type_per_argument(calls))
    read_again(dialect, calls)


NASTY: list[tuple[str, dict[str, Any]]] = [
    ("f", {"s": "<![CDATA[x]]>"}),
    ("f", {"s": " <![CDATA[x]]> "}),
    ("f", {"s": "s: x"}),
    ("f", {"s": "<s>x</s>"}),
    ("f", {"s": 's="x"'}),
    ("f", {"s": "a # b"}),
    ("f", {"s": "# a"}),
    ("ns/x", {"n": 1}),
    ("2fast", {"n": 1}),
    ("f", {"ключ": "v"}),
    ("f", {"a-b": 1}),
    ("f", {"content": "x", "id": "call_1"}),
]
"""Names and values that readers take for something else."""


@named(EVERY)
@pytest.mark.parametrize(("name", "arguments"), NASTY, ids=str)
def test_what_a_reader_takes_for_something_else_is_not_written(
    dialect: Dialect, name: str, arguments: dict[str, Any]
) -> None:
    calls = [ToolCall(id="", name=name, arguments=arguments)]
    with suppress(Unrenderable):
        text = render(calls, dialect, tools=tools_for(calls))
        assert calls_of(parse(text, dialects=[dialect], tools=tools_for(calls)).calls) == calls_of(calls), text


odd_keys = st.text(max_size=6) | st.sampled_from(['a"b', "a'b", "a\\", "//", "#", "1", "a b", "{", "true", "日本", "&apos;", "&#39;"])
odd_values = st.recursive(scalars, lambda v: st.dictionaries(odd_keys, v, max_size=3), max_leaves=5)


@named(JSON_ROWS)
@settings(max_examples=15, deadline=None)
@given(arguments=st.dictionaries(odd_keys, odd_values, max_size=3))
def test_keys_of_any_spelling_are_read_again(dialect: Dialect, arguments: dict[str, Any]) -> None:
    calls = [call("f", **arguments)]
    tools = tools_for(calls)
    read = parse(render(calls, dialect, tools=tools), dialects=[dialect], tools=tools)
    assert calls_of(read.calls) == calls_of(calls)


@named([d for d in EVERY if d.sample])
def test_the_sample_of_a_row_is_rendered_back(dialect: Dialect) -> None:
    tools = [Tool(name=n) for n in ("f", "read_file", "kom.memory.v1.search_memory")]
    tools = [replace(t, parameters={"type": "object"}) for t in tools]
    tools += [Tool(name="bash", parameters={"type": "object", "properties": {"command": {"type": "string"}}})]
    read = parse(dialect.sample, dialects=[dialect], tools=tools)
    again = parse(render(read.calls, dialect, tools=tools), dialects=[dialect], tools=tools)
    assert calls_of(read.calls) == calls_of(again.calls) != []


@named(EVERY)
def test_no_calls_are_no_text(dialect: Dialect) -> None:
    assert render([], dialect) == ""


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("tool_call_fence", '~~~tool_call\n{"name": "f", "arguments": {"a": "x", "n": 1}}\n~~~'),
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {"a": "x", "n": 1}}\n</tool_call>'),
        ("json_protocol", '{"action": {"tool": "f", "args": {"a": "x", "n": 1}}}'),
        ("command", '@tool f {"a": "x", "n": 1}'),
        ("xml_attributes", """<tool_call name="f" args='{"a": "x", "n": 1}' />"""),
        ("fenced_json", '```json\n{"name": "f", "arguments": {"a": "x", "n": 1}}\n```'),
        ("mistral", '[TOOL_CALLS][{"name": "f", "arguments": {"a": "x", "n": 1}}]'),
        ("apertus", '<|tools_prefix|>[{"f": {"a": "x", "n": 1}}]<|tools_suffix|>'),
        ("lfm2", '<|tool_call_start|>[f(a="x", n=1)]<|tool_call_end|>'),
        ("gemma4", '<|tool_call>call:f{a:<|"|>x<|"|>,n:1}<tool_call|>'),
        (
            "qwen3_coder",
            "<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n<parameter=n>\n1\n</parameter>\n"
            "</function>\n</tool_call>",
        ),
        (
            "glm45",
            "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n"
            "<arg_key>n</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
        ),
        (
            "deepseek_v32",
            '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n'
            '<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>\n'
            '<｜DSML｜parameter name="n" string="false">1</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        ),
        (
            "kimi_k2",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
            '{"a": "x", "n": 1}<|tool_call_end|><|tool_calls_section_end|>',
        ),
        (
            "elements",
            ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="f">]<]minimax[>[<a>x]<]minimax[>[</a>'
            "]<]minimax[>[<n>1]<]minimax[>[</n>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
        ),
        ("yaml", '<tool_call>\nname: f\narguments:\n  a: "x"\n  "n": 1\n</tool_call>'),
        ("yaml_body", '<call>f\na: "x"\n"n": 1\n</call>'),
        ("tag_is_name", "<f>\n<a>x</a><n>1</n>\n</f>"),
    ],
)
def test_every_notation_is_written_as_its_family_writes_it(row: str, text: str) -> None:
    dialect = {d.name: d for d in [*EVERY, *families.ROWS]}[row]
    assert render([call("f", a="x", n=1)], dialect) == text


@pytest.mark.parametrize(
    ("dialect", "arguments"),
    [(QWEN3_CODER, {"text": "a </parameter> b"}), (GEMMA4, {"text": 'a <|"|> b'}), (QWEN3_CODER, {"a>b": "x"})],
    ids=["closer", "quote", "key"],
)
def test_values_a_notation_cannot_carry_are_refused_with_advice(dialect: Dialect, arguments: dict[str, Any]) -> None:
    tools = [Tool(name="f", parameters={"type": "object", "properties": {k: {"type": "string"} for k in arguments}})]
    with pytest.raises(Unrenderable, match="send it natively") as caught:
        render([call("f", **arguments)], dialect, tools=tools)
    assert isinstance(caught.value, UsageError)
    assert caught.value.dialect == dialect.name


def test_what_a_notation_cannot_carry_is_named_alone() -> None:
    with pytest.raises(Unrenderable, match="it holds '</parameter>', which would end it;") as caught:
        render([call("f", text="a </parameter> b")], QWEN3_CODER)
    assert len(str(caught.value)) < 200


def test_a_value_that_is_not_json_is_refused() -> None:
    with pytest.raises(Unrenderable, match="not JSON"):
        render([call(x=float("nan"))], TILDE_FENCE)


@pytest.mark.parametrize("given", [[{}], [{"name": "f", "arguments": {}}], "text", [None]])
def test_what_is_no_call_is_refused_with_advice(given: Any) -> None:
    with pytest.raises(UsageError, match="decode_tool_calls"):
        render(given, "hermes")


def test_a_name_its_markup_would_cut_is_refused() -> None:
    with pytest.raises(Unrenderable, match="name"):
        render([call("a>b")], QWEN3_CODER)


def test_a_closer_inside_structured_values_is_carried_as_an_escape() -> None:
    calls = [call("f", items=["</parameter>", {"k": "<parameter=x>"}])]
    tools = tools_for(calls)
    text = render(calls, QWEN3_CODER, tools=tools)
    assert text.count("</parameter>") == 1
    assert calls_of(parse(text, dialects=[QWEN3_CODER], tools=tools).calls) == calls_of(calls)


def test_calls_are_counted_through_the_conversation() -> None:
    assert "functions.f:7<" in render([call("f")], KIMI_K2, start=7)


def test_an_id_in_the_familys_own_form_is_kept() -> None:
    assert "functions.f:4<" in render([call("f", id="functions.f:4")], KIMI_K2)


def test_ids_are_written_only_where_the_family_writes_them() -> None:
    assert '"tool_call_id": "c1"' in render([call("f", id="c1")], DIALECTS["cohere_command"])
    assert "c1" not in render([call("f", id="c1")], HERMES)


def test_text_xml_would_cut_is_escaped_by_its_family() -> None:
    rendered = render([call("f", a="1 < 2 && </parameter>")], families.ESCAPED)
    assert '<parameter name="a">1 &lt; 2 &amp;&amp; &lt;/parameter&gt;</parameter>' in rendered


def test_a_tool_of_one_text_is_called_with_that_text() -> None:
    assert render([call("f", text="SELECT 1")], families.TEXT_BODY) == "<call>f\nSELECT 1\n</call>"
    for arguments in ({}, {"a": 1}, {"a": "x", "b": "y"}, {"a": "x\n</call>"}, {"a": " x"}):
        with pytest.raises(Unrenderable):
            render([call("f", **arguments)], families.TEXT_BODY)


# ── results ──────────────────────────────────────────────────────────────────


def result(content: str, **fields: Any) -> ToolResult:
    return ToolResult(call_id="c1", name="read", content=content, **fields)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (result("ok"), "~~~tool_result\nok\n~~~"),
        (result("gone", is_error=True, error_code="ENOENT"), "~~~tool_result\n[ERROR:ENOENT] gone\n~~~"),
        (result("odd", is_error=True), "~~~tool_result\n[ERROR] odd\n~~~"),
        (result("fine", error_code="ENOENT"), "~~~tool_result\nfine\n~~~"),
        (result("{x} {content}"), "~~~tool_result\n{x} {content}\n~~~"),
    ],
    ids=["plain", "code", "no code", "code without failure", "braces"],
)
def test_a_result_is_written_in_the_form_of_its_row(given: ToolResult, text: str) -> None:
    assert render_result(given, TILDE_FENCE) == text


def test_a_row_without_a_result_form_gets_one() -> None:
    assert render_result(result("42"), QWEN3_CODER) == '<tool_result name="read">\n42\n</tool_result>'


@pytest.mark.parametrize("content", ['{"upserted": 1}', "two\nlines", 'a "quote"', "7", "[ERROR] x"])
def test_a_result_in_a_json_form_is_json(content: str) -> None:
    rendered = json.loads(render_result(ToolResult(call_id="c", name='odd"name', content=content), JSON_PROTOCOL))
    assert (rendered["role"], rendered["name"]) == ("tool", 'odd"name')
    assert rendered["content"] == (json.loads(content) if content in ('{"upserted": 1}', "7") else content)


def test_media_in_a_result_are_named() -> None:
    given = ToolResult(call_id="c", name="shot", content=[Text("see "), Media(mime="image/png", name="a.png")])
    assert "see [image/png a.png]" in render_result(given, TILDE_FENCE)


# ── past turns ───────────────────────────────────────────────────────────────


def test_a_past_turn_is_its_text_and_then_its_calls() -> None:
    message = Message("assistant", [Text("Let me look."), call("read", path="a")])
    read = parse(render_message(message, TILDE_FENCE), dialects=[TILDE_FENCE])
    assert read.text.strip() == "Let me look."
    assert calls_of(read.calls) == [("read", {"path": "a"})]


def test_a_past_message_of_results_keeps_their_order() -> None:
    message = Message("tool", [result("one"), result("two", is_error=True)])
    rendered = render_message(message, HERMES)
    assert rendered == "<tool_response>\none\n</tool_response>\n<tool_response>\n[ERROR] two\n</tool_response>"


def test_a_past_call_the_dialect_cannot_carry_is_shown() -> None:
    message = Message("assistant", [call("write", text="</parameter>")])
    tools = tools_for(message.calls)
    assert '{"name": "write", "arguments": {"text": "</parameter>"}}' in render_message(
        message, QWEN3_CODER, tools=tools
    )


@pytest.mark.parametrize("said_as", [Text, Reasoning])
def test_text_beside_a_protocol_call_is_its_thought(said_as: type[Text] | type[Reasoning]) -> None:
    message = Message("assistant", [said_as("need the file"), call("read", path="a")])
    rendered = json.loads(render_message(message, JSON_PROTOCOL))
    assert rendered == {"thought": "need the file", "action": {"tool": "read", "args": {"path": "a"}}}


def test_a_long_thought_is_cut_to_the_protocol_limit() -> None:
    message = Message("assistant", [Text("word " * 100), call("read")])
    assert len(json.loads(render_message(message, JSON_PROTOCOL))["thought"]) <= 200


def test_in_the_protocol_an_answer_is_a_final_object() -> None:
    rendered = render_message(Message("assistant", "Done."), JSON_PROTOCOL)
    assert json.loads(rendered) == {"final": {"content": "Done."}}
    assert parse(rendered, dialects=[JSON_PROTOCOL]).text == "Done."


def test_a_final_answer_may_be_any_json() -> None:
    assert isinstance(JSON_PROTOCOL.args, JsonCall)
    value: Mapping[str, Any] = {"status": "ok", "upserted": 1}
    assert json.loads(final_answer(dict(value), JSON_PROTOCOL.args)) == {"final": {"content": value}}


@named([d for d in EVERY if isinstance(d.args, TaggedArgs)])
def test_a_value_that_opens_like_its_own_notation_is_escaped_or_refused(dialect: Dialect) -> None:
    for value in (["<parameter=a>", "<parameter name=\"b\">"], ["<arg_value>"], "x <parameter=a> y", "<arg_value>", "<parameter"):
        read_again(dialect, [ToolCall(id="", name="f", arguments={"b": value, "a": None})])
