"""What LlmCore and ChatCLI got wrong (seeds.md (c)), done right, as far as calls in responses and text go."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import parse
from dragoman.dialects import DIALECTS, Dialect
from dragoman.dialects.writing.history import render_message
from dragoman.dialects.writing.prompt import example, tool_prompt
from dragoman.errors import ExtractError
from dragoman.schema.validation import faults
from dragoman.turn.extract import extract
from dragoman.types import IssueKind, Message, Tool, ToolResult
from tests.support.documents import READ_FILE, calls_of, fence

OPEN = {"type": "object"}
A, B = Tool(name="a", parameters=OPEN), Tool(name="b", parameters=OPEN)
TEXT_OF = {"type": "object", "properties": {"text": {"type": "string"}}}


# ── LlmCore ──────────────────────────────────────────────────────────────────


@pytest.mark.requirement("weak-llmcore-1")
@pytest.mark.requirement("weak-chatcli-11")
@pytest.mark.parametrize("arguments", ["{broken", "not json", '{"a": ', "[1]"])
def test_arguments_that_are_no_object_never_run(arguments: str) -> None:
    with pytest.raises(ExtractError) as caught:
        extract({"tool_calls": [{"id": "c", "name": "t", "arguments": arguments}]})
    assert caught.value.issues[0].raw == arguments


@pytest.mark.requirement("weak-chatcli-11")
@pytest.mark.parametrize(("given", "read"), [({"x": 1}, {"x": 1}), (None, {}), ("", {}), ('{"x": 1}', {"x": 1})])
def test_object_arguments_count_and_none_are_none(given: Any, read: dict[str, Any]) -> None:
    assert calls_of(extract({"tool_calls": [{"id": "c", "name": "t", "arguments": given}]})) == [("t", read)]


@pytest.mark.requirement("weak-llmcore-2")
@pytest.mark.parametrize("finish", ["stop", "tool_calls", "end_turn", "length", None])
def test_calls_count_whatever_the_finish_reason_says(finish: str | None) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    openai = {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": finish}]}
    anthropic = {"content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}], "stop_reason": finish}
    assert calls_of(extract(openai)) == calls_of(extract(anthropic)) == [("t", {})]


@pytest.mark.requirement("weak-llmcore-5")
@pytest.mark.parametrize("body", [{"content": None}, {"content": "text"}, {"content": []}, {"content": [None, "x", 5]}])
def test_content_of_any_type_never_raises(body: dict[str, Any]) -> None:
    assert extract(body) == []


@pytest.mark.requirement("weak-llmcore-5")
def test_ids_are_made_where_the_wire_has_none() -> None:
    entries: list[Any] = [{"function": {"name": "t", "arguments": {}}}, {"function": {}}, {}, None]
    found = extract({"message": {"tool_calls": entries}})
    assert [(c.name, bool(c.id)) for c in found] == [("t", True)]
    assert len(found.issues) == 3


@pytest.mark.requirement("weak-llmcore-7")
def test_validation_reaches_every_depth_and_names_every_failing_path() -> None:
    row = {"type": "object", "properties": {"n": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": row}}}
    found = faults(schema, {"rows": [{"n": "x"}, {"n": 1}, {"n": None}]})
    assert [f.path for f in found] == ["$.rows[0].n", "$.rows[2].n"]


# ── ChatCLI ──────────────────────────────────────────────────────────────────


@pytest.mark.requirement("weak-chatcli-1")
@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_what_the_prompt_shows_is_what_the_parser_reads(dialect: Dialect) -> None:
    shown = next(p for p in tool_prompt([READ_FILE], dialect).split("\n\n") if "tool_name" in p)
    call = example(dialect)
    kinds = {str: "string", int: "integer"}
    properties = {k: {"type": kinds[type(v)]} for k, v in call.arguments.items()}
    tool = Tool(name=call.name, parameters={"type": "object", "properties": properties})
    assert calls_of(parse(shown, dialects=[dialect], tools=[tool]).calls) == calls_of([call])


@pytest.mark.requirement("weak-chatcli-2")
@pytest.mark.parametrize("text", [
    '<tool_call>{"name": "a", "arguments": {"x": 1}}</tool_call>', '{"name": "a", "arguments": {"x": 1}}',
    '<tool_call name="a">{"x": 1}</tool_call>',
])  # fmt: skip
def test_bare_json_and_bodies_in_tags_keep_their_arguments(text: str) -> None:
    assert calls_of(extract({"text": text})) == [("a", {"x": 1})]


@pytest.mark.requirement("weak-chatcli-3")
@pytest.mark.parametrize("text", [
    'For reference: {"name": "a", "arguments": {"cmd": "rm -rf /"}} but do not run it',
    '<think><tool_call name="a" args=\'{"x": 1}\' /></think>done',
    'Use it like:\n```xml\n<tool_call name="a" args=\'{"x": 1}\' />\n```\nThanks',
])  # fmt: skip
def test_json_in_prose_reasoning_or_examples_does_not_run(text: str) -> None:
    assert parse(text, tools=[A]).calls == ()


@pytest.mark.requirement("weak-chatcli-4")
def test_a_name_inside_another_attribute_names_no_tool() -> None:
    tool = Tool(name="a", parameters=TEXT_OF)
    read = parse('<tool_call args="name=evil x" name="a" />', tools=[tool])
    assert [c.name for c in read.calls] == ["a"]
    read = parse('<tool_call args=\'{"name": "evil"}\' name="a" />', tools=[A])
    assert calls_of(read.calls) == [("a", {"name": "evil"})]


@pytest.mark.requirement("weak-chatcli-5")
def test_calls_keep_their_order_and_equal_ones_stay() -> None:
    text = (
        '<tool_call>{"name": "b", "arguments": {}}</tool_call>\n<tool_call name="a" args=\'{"x": 1}\' />\n'
        '<tool_call>{"name": "a", "arguments": {"x": 1}}</tool_call>\n<tool_call>{"name": "a"}</tool_call>'
    )
    assert calls_of(parse(text, tools=[A, B]).calls) == [("b", {}), ("a", {"x": 1}), ("a", {"x": 1}), ("a", {})]


@pytest.mark.requirement("weak-chatcli-6")
def test_an_unclosed_tag_does_not_swallow_the_next_call() -> None:
    text = "<tool_call name=\"a\" args='{\"x\":1}'>\n<tool_call name=\"b\" args='{\"y\":2}'></tool_call>"
    assert calls_of(parse(text, tools=[A, B]).calls) == [("a", {"x": 1}), ("b", {"y": 2})]


@pytest.mark.requirement("weak-chatcli-7")
@pytest.mark.parametrize("word", ["İstanbul", "K (Kelvin)", "straße", "ﬁ", "ẞ", "🇩🇪"])
def test_letters_whose_case_changes_their_length_lose_nothing(word: str) -> None:
    text = f"{word} {word}\n<tool_call name=\"a\" args='{{\"x\": \"{word}\"}}' />\n{word}"
    read = parse(text, tools=[A])
    assert calls_of(read.calls) == [("a", {"x": word})]
    assert read.text.split() == f"{word} {word} {word}".split()


@pytest.mark.requirement("weak-chatcli-8")
@pytest.mark.parametrize("tag", [
    '<tool_call name="a" args="{"x": "y]>"}" />', "<tool_call name='a' args='{\"x\": \"y]>\"}' />",
    '<tool_call name="a" args="{&quot;x&quot;: &quot;y]&gt;&quot;}" />',
    '<tool_call name="a" args="{\\"x\\": \\"y]>\\"}" />',
])  # fmt: skip
def test_attributes_are_read_whole(tag: str) -> None:
    assert calls_of(parse(tag, tools=[A]).calls) == [("a", {"x": "y]>"})]


@pytest.mark.requirement("weak-chatcli-9")
@pytest.mark.parametrize(("arguments", "value"), [
    ('{"a":"line1\nline2"}', {"a": "line1\nline2"}), ('{"p":"C:\\Users\\x"}', {"p": "C:\\Users\\x"}),
    ('{"a":1}}', {"a": 1}), ('{"a": 1, "b": [1,2,], }', {"a": 1, "b": [1, 2]}), ('{"a":"x,}",}', {"a": "x,}"}),
    ('// c\n{"a":1}', {"a": 1}), ("{'a': 'it\\'s'}", {"a": "it's"}), ('{"a": True, "b": None}', {"a": True, "b": None}),
])  # fmt: skip
def test_repair_mends_spelling_and_changes_no_value(arguments: str, value: Any) -> None:
    [call] = extract({"tool_calls": [{"name": "t", "arguments": arguments}]})
    assert call.arguments == value


@pytest.mark.requirement("weak-chatcli-9")
@pytest.mark.parametrize("arguments", ['{"a":1', '{"cmd": "rm -rf /tmp/x', '{"a": [1, 2'])
def test_cut_arguments_are_not_completed_into_something_that_runs(arguments: str) -> None:
    with pytest.raises(ExtractError):
        extract({"tool_calls": [{"name": "t", "arguments": arguments}]})


@pytest.mark.requirement("weak-chatcli-16")
def test_one_failure_hides_no_other_result() -> None:
    results = [
        ToolResult(call_id="1", name="a", content="eins"),
        ToolResult(call_id="2", name="b", content="", is_error=True, error_code="Timeout"),
        ToolResult(call_id="3", name="a", content="drei"),
    ]
    rendered = render_message(Message("tool", results), DIALECTS["hermes"])
    inside = [line for line in rendered.split("\n") if not line.startswith("<")]
    assert inside == ["eins", "[ERROR:Timeout] ", "drei"]


@pytest.mark.requirement("weak-chatcli-16")
@pytest.mark.requirement("weak-chatcli-18")
def test_ids_differ_within_an_answer_and_colliding_ones_are_renumbered() -> None:
    entries = [{"id": "xml_1", "name": "a", "input": {"n": n}} for n in range(3)]
    found = extract({"tool_calls": entries})
    assert calls_of(found) == [("a", {"n": n}) for n in range(3)]
    assert len({c.id for c in found}) == 3


@pytest.mark.requirement("weak-chatcli-17")
@pytest.mark.parametrize("text", ["{" * 128_000, "<tool_call " * 30_000, "[tool: " * 50_000, '<tool name="' * 20_000])
def test_openers_without_end_are_read_at_once(text: str) -> None:
    assert parse(text, tools=[A]).calls == ()


@pytest.mark.requirement("settled-self-contained")
@pytest.mark.parametrize("response", [{"text": fence('{"name": "a"}')}, {"tool_calls": [{"name": "a", "input": {}}]}])
def test_tools_that_providers_run_themselves_are_left_alone(response: dict[str, Any]) -> None:
    assert extract(response, {"self_contained_tools": True}) == []


@pytest.mark.requirement("settled-native-despite-claim")
def test_native_calls_count_where_the_provider_denies_them() -> None:
    found = extract({"text": "x", "tool_calls": [{"name": "a", "input": {}}]}, {"native_tool_calls": False})
    assert calls_of(found) == [("a", {})]


@pytest.mark.requirement("settled-ollama-ids")
def test_ids_on_ollamas_wire_are_kept_or_made() -> None:
    call = {"function": {"name": "a", "arguments": {}}}
    entries = [call, {"id": "call_x", **call}]
    first, second = extract({"message": {"tool_calls": entries}})
    assert first.id
    assert second.id == "call_x"


@pytest.mark.requirement("weak-exathena-4")
def test_when_nothing_can_be_run_the_issues_are_raised() -> None:
    with pytest.raises(ExtractError) as caught:
        extract({"text": fence("{bad")})
    assert [i.kind for i in caught.value.issues] == [IssueKind.MALFORMED]
