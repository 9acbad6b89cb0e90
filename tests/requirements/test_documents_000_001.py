"""Documents 000 and 001: native and tagged calls, the fallback between them, the prompt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import parse
from dragoman.dialects.writing.prompt import augment_system_prompt
from dragoman.errors import ExtractError
from dragoman.turn.extract import Calls, extract
from dragoman.types import IssueKind, ToolCall
from tests.support.documents import READ_FILE, calls_of, fence

CALL = '{"name": "read_file", "arguments": {"path": "/tmp/foo"}}'
FOO = [("read_file", {"path": "/tmp/foo"})]
OPENAI = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "call_abc", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "/tmp/foo"}'}}
    ],
}
OLLAMA = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"function": {"name": "read_file", "arguments": {"path": "/tmp/foo"}}}],
}
ANTHROPIC = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "toolu_abc", "name": "read_file", "input": {"path": "/tmp/foo"}}],
}
NATIVE = pytest.mark.parametrize("message", [OPENAI, OLLAMA, ANTHROPIC], ids=["openai", "ollama", "anthropic"])
CLAIMS = pytest.mark.parametrize("claim", [True, False])


def in_text(arguments: str) -> dict[str, Any]:
    return {"text": fence(f'{{"name": "t", "arguments": {arguments}}}')}


def native(arguments: Any) -> dict[str, Any]:
    return {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": arguments}}]}


# ── native calls ─────────────────────────────────────────────────────────────


@pytest.mark.requirement("000-native-openai")
def test_openais_message_is_read_with_its_own_id() -> None:
    assert extract(OPENAI) == [ToolCall(id="call_abc", name="read_file", arguments={"path": "/tmp/foo"})]


@pytest.mark.requirement("000-native-ollama")
def test_ollamas_message_is_read_and_given_an_id() -> None:
    [call] = extract(OLLAMA)
    assert (calls_of([call]), bool(call.id)) == (FOO, True)


@pytest.mark.requirement("000-native-anthropic")
def test_anthropics_blocks_are_read_with_their_own_ids() -> None:
    assert extract(ANTHROPIC) == [ToolCall(id="toolu_abc", name="read_file", arguments={"path": "/tmp/foo"})]


@NATIVE
@pytest.mark.requirement("000-canonical")
@pytest.mark.requirement("001-native")
def test_every_native_shape_gives_the_same_kind_of_value(message: dict[str, Any]) -> None:
    [call] = extract(message)
    assert type(call) is ToolCall
    assert calls_of([call]) == FOO


# ── tagged calls ─────────────────────────────────────────────────────────────


@pytest.mark.requirement("000-fence")
def test_a_fence_is_a_call() -> None:
    assert calls_of(parse(fence(CALL)).calls) == FOO


@pytest.mark.requirement("000-fence-many")
def test_several_fences_are_several_calls_in_order() -> None:
    text = fence('{"name": "a", "arguments": {}}') + "\n\n" + fence('{"name": "b", "arguments": {"x": 1}}')
    assert calls_of(parse(text).calls) == [("a", {}), ("b", {"x": 1})]


@pytest.mark.requirement("000-fence-own-lines")
@pytest.mark.parametrize(
    "text",
    ["Write ~~~tool_call and then JSON.", "see ~~~tool_caller text", f"Begin ~~~tool_call\n{CALL}\n~~~ on a line."],
)
def test_fence_marks_within_a_sentence_are_text(text: str) -> None:
    read = parse(text, tools=[READ_FILE])
    assert (read.calls, read.text) == ((), text)


@pytest.mark.requirement("000-fence-id")
def test_a_fences_id_is_kept_or_made() -> None:
    text = fence('{"id": "mine", "name": "t", "arguments": {}}') + "\n" + fence('{"name": "t", "arguments": {}}')
    first, second = parse(text).calls
    assert first.id == "mine"
    assert second.id not in {"", "mine"}


@pytest.mark.requirement("000-fence-malformed")
@pytest.mark.parametrize(
    "body", ["{invalid json", '{"name": "t", "arguments": {"x": }}', '{"name": "t", "arguments": {"x"}}']
)
def test_a_malformed_block_is_an_error(body: str) -> None:
    with pytest.raises(ExtractError) as caught:
        extract({"text": fence(body)})
    assert caught.value.issues[0].kind in {IssueKind.MALFORMED, IssueKind.TRUNCATED}
    assert caught.value.issues[0].correction


@pytest.mark.requirement("001-tagged")
def test_text_around_a_tagged_block_stays_text() -> None:
    read = parse(f"Sure, I'll read the file.\n\n{fence(CALL)}\n\nWait for it.")
    assert calls_of(read.calls) == FOO
    assert " ".join(read.text.split()) == "Sure, I'll read the file. Wait for it."


# ── raw JSON ─────────────────────────────────────────────────────────────────


@CLAIMS
@pytest.mark.requirement("001-raw-bare")
def test_a_bare_object_is_a_call(claim: bool) -> None:
    assert calls_of(extract({"text": CALL}, {"native_tool_calls": claim})) == FOO


@CLAIMS
@pytest.mark.requirement("001-raw-fenced")
def test_an_object_in_a_json_fence_is_a_call(claim: bool) -> None:
    assert calls_of(extract({"text": f"```json\n{CALL}\n```\n"}, {"native_tool_calls": claim})) == FOO


@pytest.mark.requirement("001-raw-needs-both")
@pytest.mark.parametrize(
    "text", ['{"name": "ping"}', '{"arguments": {}}', '{"foo": "bar"}', '{"name": "Ada", "age": 36}', "[]"]
)
def test_json_without_name_and_arguments_is_no_call(text: str) -> None:
    assert extract({"text": text}) == []


# ── the cascade ──────────────────────────────────────────────────────────────


@CLAIMS
@pytest.mark.requirement("000-two-protocols")
@pytest.mark.requirement("000-recover")
@pytest.mark.requirement("000-extract-fence")
@pytest.mark.requirement("000-extract-text")
def test_a_fence_is_found_whatever_the_provider_claims(claim: bool) -> None:
    assert calls_of(extract({"text": fence(CALL), "tool_calls": []}, {"native_tool_calls": claim})) == FOO


@pytest.mark.requirement("000-extract-array")
@pytest.mark.requirement("001-tier-order")
@CLAIMS
def test_an_array_of_calls_is_taken_before_any_text(claim: bool) -> None:
    both = {"text": f"{fence(CALL)}\n{CALL}", "tool_calls": [{"name": "n", "input": {}}]}
    found = extract(both, {"native_tool_calls": claim})
    assert calls_of(found) == [("n", {})]


@pytest.mark.requirement("001-tier-order")
def test_a_tagged_block_is_taken_before_raw_json() -> None:
    text = f'{{"name": "bare", "arguments": {{}}}}\n{fence(CALL)}'
    assert calls_of(extract({"text": text})) == FOO


@pytest.mark.requirement("000-extract-nothing")
@pytest.mark.requirement("001-no-match")
@CLAIMS
def test_text_without_a_call_is_an_empty_list(claim: bool) -> None:
    assert extract({"text": "all done", "tool_calls": []}, {"native_tool_calls": claim}) == []


@pytest.mark.requirement("001-always-list")
@pytest.mark.parametrize("response", [{}, {"text": None, "tool_calls": None}, {"text": ""}, {"tool_calls": []}])
def test_the_result_is_always_a_list(response: dict[str, Any]) -> None:
    found = extract(response)
    assert isinstance(found, Calls)
    assert isinstance(found, list)
    assert found == []


@pytest.mark.requirement("001-capabilities-optional")
def test_capabilities_may_be_left_out() -> None:
    assert calls_of(extract({"text": fence(CALL)})) == calls_of(extract({"text": fence(CALL)}, {})) == FOO


# ── arguments ────────────────────────────────────────────────────────────────


@pytest.mark.requirement("000-arguments-map")
@pytest.mark.parametrize("response", [in_text('{"x": 1}'), native({"x": 1})], ids=["text", "native"])
def test_arguments_may_be_a_map(response: dict[str, Any]) -> None:
    assert calls_of(extract(response)) == [("t", {"x": 1})]


@pytest.mark.requirement("000-arguments-string")
@pytest.mark.parametrize("response", [in_text(json.dumps('{"x": 1}')), native('{"x": 1}')], ids=["text", "native"])
def test_arguments_may_be_a_json_string(response: dict[str, Any]) -> None:
    assert calls_of(extract(response)) == [("t", {"x": 1})]


@pytest.mark.requirement("000-arguments-empty")
@pytest.mark.parametrize("response", [in_text('""'), native("")], ids=["text", "native"])
def test_an_empty_string_is_no_arguments(response: dict[str, Any]) -> None:
    assert calls_of(extract(response)) == [("t", {})]


@pytest.mark.requirement("000-arguments-else")
@pytest.mark.parametrize("value", [[1, 2], 5, True, "text", 1.5])
@pytest.mark.parametrize("place", ["text", "native"])
def test_arguments_of_another_type_are_an_error(value: Any, place: str) -> None:
    with pytest.raises(ExtractError):
        extract(in_text(json.dumps(value)) if place == "text" else native(value))


@pytest.mark.requirement("000-validate")
def test_wrong_arguments_are_refused_with_every_failing_path() -> None:
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "lines": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        },
        "required": ["path", "mode"],
    }
    tools = [{"name": "read_file", "parameters": schema}]
    read = parse(fence('{"name": "read_file", "arguments": {"path": "a", "lines": [0, 1]}}'), tools=tools)
    assert read.calls == ()
    [issue] = read.issues
    assert issue.kind is IssueKind.INVALID_ARGUMENTS
    assert "$.lines[0]" in issue.message
    assert "mode" in issue.message


# ── the prompt ───────────────────────────────────────────────────────────────

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS = [{"name": "read_file", "description": "read a file", "schema": SCHEMA}]


@pytest.mark.requirement("000-augment")
def test_the_prompt_teaches_the_fence_and_gives_every_tools_schema() -> None:
    prompt = augment_system_prompt("Be helpful.", TOOLS)
    assert "~~~tool_call\n{" in prompt
    assert "`read_file` — read a file" in prompt
    assert '{"type":"object","properties":{"path":{"type":"string"}}}' in prompt


@pytest.mark.requirement("001-augment-existing")
def test_what_was_there_comes_first_unchanged() -> None:
    alone = augment_system_prompt(None, TOOLS)
    assert augment_system_prompt("Be helpful.", TOOLS) == f"Be helpful.\n\n{alone}"
    assert augment_system_prompt("  ", TOOLS) == alone


@pytest.mark.requirement("001-augment-compact")
def test_compact_is_one_line_per_tool() -> None:
    prompt = augment_system_prompt(None, [READ_FILE], compact=True)
    assert "- read_file(path: string, content?: string) — Read a file from the filesystem." in prompt.split("\n")
    assert "Schema:" not in prompt
    assert "~~~tool_call" in prompt


@pytest.mark.requirement("001-augment-default")
def test_full_is_the_default() -> None:
    assert augment_system_prompt("x", [READ_FILE]) == augment_system_prompt("x", [READ_FILE], compact=False)
