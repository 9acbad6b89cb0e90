"""Document 004: the JSON action protocol, the `@tool` command, the prompt for both, and the example session."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman import Parsed, Parser, parse
from dragoman.dialects import DIALECTS
from dragoman.dialects.engine.parsed import fold
from dragoman.dialects.writing.history import render_message, render_result
from dragoman.dialects.writing.prompt import augment_system_prompt, tool_prompt
from dragoman.events import PartEnded
from dragoman.types import IssueKind, Message, Text, ToolResult
from tests.support.documents import SEARCH, UPSERT, calls_of

TOOLS = [UPSERT, SEARCH]
PROTOCOL = DIALECTS["json_protocol"]
ITEMS = [{"text": "Embedding model comparison takeaways"}]
ARGS = {"namespace": "project:metal", "items": ITEMS}
ACTION = json.dumps({"thought": "need to upsert note", "action": {"tool": UPSERT.name, "args": ARGS}})
FINAL = '{"final":{"content":{"status":"ok","upserted":1}}}'
STORED = [(UPSERT.name, ARGS)]
PROMPT = tool_prompt(TOOLS, PROTOCOL)


def read(text: str, *, strict: bool = False) -> Parsed:
    return parse(text, tools=TOOLS, dialects="json_protocol", strict=strict)


def action(tool: str = UPSERT.name, args: Any = ARGS, thought: str = "x") -> str:
    return json.dumps({"thought": thought, "action": {"tool": tool, "args": args}})


def final_value(text: str) -> Any:
    """The value of a final answer, as it stands on the answer's text."""
    values = [p.metadata["final"] for p in read(text).parts if isinstance(p, Text) and "final" in p.metadata]
    return values[0] if values else None


# ── §1 the protocol ──────────────────────────────────────────────────────────


@pytest.mark.requirement("004-single-object")
@pytest.mark.parametrize("strict", [False, True])
def test_one_object_with_thought_and_action_is_a_call(strict: bool) -> None:
    found = read(ACTION, strict=strict)
    assert calls_of(found.calls) == STORED
    assert (found.text, found.reasoning, found.issues) == ("", "need to upsert note", ())


@pytest.mark.requirement("004-single-object")
def test_it_is_found_without_being_asked_for_by_name() -> None:
    assert calls_of(parse(ACTION, tools=TOOLS).calls) == STORED


@pytest.mark.requirement("004-final")
@pytest.mark.parametrize("value", [{"status": "ok", "upserted": 1}, "done", 7, [1, 2], None, True])
def test_a_final_object_is_the_answer_whatever_its_content(value: Any) -> None:
    text = json.dumps({"final": {"content": value}})
    found = read(text)
    assert found.calls == ()
    assert final_value(text) == value
    assert found.text == (value if isinstance(value, str) else json.dumps(value))


@pytest.mark.requirement("004-final")
def test_a_final_answer_is_told_in_the_stream_too() -> None:
    parser = Parser(tools=TOOLS, dialects="json_protocol")
    events = [e for c in FINAL for e in parser.feed(c)] + parser.close()
    assert [e.metadata["final"] for e in events if isinstance(e, PartEnded) and "final" in e.metadata] == [
        {"status": "ok", "upserted": 1}
    ]


@pytest.mark.requirement("004-results-back")
def test_a_result_returns_as_json_with_role_and_name() -> None:
    rendered = render_result(ToolResult(call_id="c", name=UPSERT.name, content='{ "upserted": 1 }'), PROTOCOL)
    assert json.loads(rendered) == {"role": "tool", "name": UPSERT.name, "content": {"upserted": 1}}


# ── guardrails ───────────────────────────────────────────────────────────────


@pytest.mark.requirement("004-reject-invalid")
@pytest.mark.parametrize("strict", [False, True])
def test_invalid_json_is_refused_and_asked_for_again(strict: bool) -> None:
    found = read('{"thought":"x","action":{"tool":"kom.memory.v1.search_memory","args":{"namespace":}}}', strict=strict)
    assert found.calls == ()
    assert any(i.kind is IssueKind.MALFORMED and "again" in i.correction for i in found.issues)


@pytest.mark.requirement("004-reject-extra-text")
@pytest.mark.requirement("settled-extra-text")
@pytest.mark.parametrize("text", [f"Sure! {ACTION}", f"Sure!\n{ACTION}", f"{ACTION}\nDone.", f"```json\n{ACTION}\n```"])
def test_extra_text_is_refused_in_strict_mode(text: str) -> None:
    found = read(text, strict=True)
    assert found.calls == ()
    [issue] = found.issues
    assert issue.kind is IssueKind.NOT_ALLOWED
    assert "exactly one JSON object" in issue.correction


@pytest.mark.requirement("settled-extra-text")
@pytest.mark.requirement("weak-happy-thinking")
@pytest.mark.parametrize("text", [f"Sure!\n{ACTION}", f"```json\n{ACTION}\n```", f"<think>hm</think>\n{ACTION}"])
def test_text_around_an_action_is_tolerated_otherwise(text: str) -> None:
    assert calls_of(read(text).calls) == STORED


@pytest.mark.requirement("weak-happy-thinking")
def test_reasoning_before_the_object_is_allowed_in_strict_mode() -> None:
    assert calls_of(read(f"<think>hm</think>\n{ACTION}", strict=True).calls) == STORED


@pytest.mark.requirement("004-thought-cap")
def test_a_thought_of_two_hundred_characters_is_the_longest() -> None:
    assert calls_of(read(action(thought="x" * 200), strict=True).calls) == STORED
    refused = read(action(thought="x" * 201), strict=True)
    assert refused.calls == ()
    assert "200 characters" in refused.issues[0].correction


@pytest.mark.requirement("004-thought-cap")
def test_a_long_thought_costs_no_call_outside_strict_mode() -> None:
    [call] = read(action(thought="x" * 201)).calls
    assert call.report is not None
    assert "long_thought" in {e.kind for e in call.report.edits}


@pytest.mark.requirement("004-registry")
@pytest.mark.parametrize("strict", [False, True])
def test_an_undeclared_tool_is_refused_with_the_declared_ones(strict: bool) -> None:
    found = read(action("kom.memory.v1.drop_all", {}), strict=strict)
    assert found.calls == ()
    [issue] = found.issues
    assert issue.kind is IssueKind.UNKNOWN_TOOL
    assert UPSERT.name in issue.correction
    assert SEARCH.name in issue.correction


@pytest.mark.requirement("004-invalid-protocol")
@pytest.mark.parametrize("text", ['{"thought":"hmm"}', '{"foo": 1}', "[]", "plain words"])
def test_neither_action_nor_final_is_an_error_of_protocol(text: str) -> None:
    found = read(text, strict=True)
    assert found.calls == ()
    assert [i.kind for i in found.issues] == [IssueKind.NOT_ALLOWED]


@pytest.mark.requirement("004-args-mismatch")
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("args", "message"), [({"namespace": "p"}, '"items"'), ({"namespace": "p", "items": [{"txt": "a"}]}, '"text"')]
)
def test_wrong_arguments_are_refused_with_their_schema(args: Any, message: str, strict: bool) -> None:
    found = read(action(args=args), strict=strict)
    assert found.calls == ()
    [issue] = found.issues
    assert issue.kind is IssueKind.INVALID_ARGUMENTS
    assert "Schema: {" in issue.correction
    assert message in issue.correction


@pytest.mark.requirement("004-args-mismatch")
def test_an_invented_field_is_not_passed_on() -> None:
    found = read(action(args={**ARGS, "priority": 1}), strict=True)
    assert found.calls == ()
    assert found.issues[0].correction


# ── §2 the command ───────────────────────────────────────────────────────────

COMMAND = '@tool kom.memory.v1.search_memory {"namespace":"project:metal", "query":{"text":"embedding model"}}'
FOUND = [(SEARCH.name, {"namespace": "project:metal", "query": {"text": "embedding model"}})]


@pytest.mark.requirement("004-command")
@pytest.mark.requirement("004-command-dotted")
@pytest.mark.parametrize("text", [COMMAND, f"{COMMAND}\n", f"I look it up.\n{COMMAND}"])
def test_a_command_line_is_a_call_with_dotted_name(text: str) -> None:
    assert calls_of(parse(text, tools=TOOLS, dialects="command").calls) == FOUND
    assert calls_of(parse(text, dialects="command").calls) == FOUND


@pytest.mark.requirement("004-command")
@pytest.mark.parametrize("text", [f"Write {COMMAND} to search.", "@tool", "mail me @tool tomorrow", "@tool nothing {"])
def test_a_command_within_a_sentence_or_without_arguments_is_text(text: str) -> None:
    assert parse(text, tools=TOOLS).calls == ()


# ── §3 the prompt ────────────────────────────────────────────────────────────


@pytest.mark.requirement("004-template-object")
def test_the_prompt_demands_a_single_object_and_nothing_else() -> None:
    assert "single JSON object" in PROMPT
    assert "no Markdown" in PROMPT
    assert "no commentary" in PROMPT


@pytest.mark.requirement("004-template-schema")
def test_the_prompt_shows_both_forms_and_they_are_the_protocols() -> None:
    shown = [json.loads(p) for p in PROMPT.split("\n\n") if p.startswith("{")]
    assert [set(s) for s in shown] == [{"thought", "action"}, {"final"}]
    assert set(shown[0]["action"]) == {"tool", "args"}
    assert set(shown[1]["final"]) == {"content"}
    assert "`thought` is short" in PROMPT


@pytest.mark.requirement("004-template-invent")
def test_the_prompt_forbids_invention() -> None:
    assert "Never invent tool names or fields." in PROMPT


@pytest.mark.requirement("004-template-tools")
def test_the_prompt_gives_every_tools_schema() -> None:
    for tool in TOOLS:
        assert f"`{tool.name}`" in PROMPT
        assert json.dumps(tool.parameters, separators=(",", ":")) in PROMPT


# ── §6 and §7: several steps ─────────────────────────────────────────────────


@pytest.mark.requirement("004-multi-step")
def test_each_result_stands_before_the_next_action() -> None:
    first = read(action(SEARCH.name, {"namespace": "p"}, thought="look"))
    call = first.calls[0]
    result = ToolResult(call_id=call.id, name=call.name, content='["a"]')
    history = [
        render_message(Message("assistant", first.parts), PROTOCOL, tools=TOOLS),
        render_message(Message("tool", [result]), PROTOCOL),
    ]
    assert [json.loads(h) for h in history] == [
        {"thought": "look", "action": {"tool": SEARCH.name, "args": {"namespace": "p"}}},
        {"role": "tool", "name": SEARCH.name, "content": ["a"]},
    ]


@pytest.mark.requirement("004-example-session")
def test_the_example_session_works_to_its_final_answer() -> None:
    system = augment_system_prompt("You are a coding assistant.", TOOLS, dialect=PROTOCOL)
    assert system.startswith("You are a coding assistant.\n\n")
    first = read(ACTION, strict=True)
    assert calls_of(first.calls) == STORED
    result = ToolResult(call_id=first.calls[0].id, name=UPSERT.name, content='{ "upserted": 1 }')
    assert json.loads(render_result(result, PROTOCOL))["content"] == {"upserted": 1}
    last = read(FINAL, strict=True)
    assert last.calls == ()
    assert last.issues == ()
    assert final_value(FINAL) == {"status": "ok", "upserted": 1}


# ── what the note left open ──────────────────────────────────────────────────


@pytest.mark.requirement("weak-happy-crash")
@pytest.mark.parametrize(
    "text",
    [
        '{"action":',
        "{",
        '{"action": {"tool": "nope", "args": {}}}',
        '{"action": {"tool": "kom.memory.v1.upsert_memory"}}',
        '{"action": {"tool": "kom.memory.v1.upsert_memory", "args": {}}}',
        '{"action": []}',
        "null",
        "",
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_no_model_text_crashes_and_every_mistake_is_correctable(text: str, strict: bool) -> None:
    found = read(text, strict=strict)
    assert found.calls == ()
    assert all(i.correction for i in found.issues if i.kind is not IssueKind.NOISE)
    assert found.issues or not strict or not text


@pytest.mark.requirement("weak-happy-ids")
def test_actions_get_ids_and_several_are_several_calls() -> None:
    calls = read(f"{ACTION}\n{ACTION}").calls
    assert calls_of(calls) == STORED * 2
    assert len({c.id for c in calls}) == 2


@pytest.mark.requirement("weak-happy-role")
def test_a_protocol_result_is_text_for_the_model() -> None:
    message = Message("tool", [ToolResult(call_id="c", name="f", content="x"), ToolResult(call_id="d", name="g")])
    rendered = render_message(message, PROTOCOL)
    assert [json.loads(line)["name"] for line in rendered.split("\n")] == ["f", "g"]


@pytest.mark.requirement("weak-happy-thought")
def test_the_thought_is_reasoning_streamed_and_whole() -> None:
    parser = Parser(tools=TOOLS, dialects="json_protocol")
    streamed = fold([e for c in ACTION for e in parser.feed(c)] + parser.close())
    for found in (streamed, read(ACTION)):
        assert (found.reasoning, found.text) == ("need to upsert note", "")


@pytest.mark.requirement("weak-happy-streaming")
@pytest.mark.parametrize("text", [ACTION, FINAL, f"<think>hm</think>\n{ACTION}", action("no.such", {})])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_any_chunking_gives_the_same(text: str, size: int) -> None:
    parser = Parser(tools=TOOLS, dialects="json_protocol")
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert fold([e for p in pieces for e in parser.feed(p)] + parser.close()) == read(text)


@pytest.mark.requirement("weak-happy-errors")
def test_a_failed_result_is_marked_in_the_protocol() -> None:
    result = ToolResult(call_id="c", name="f", content="no such file", is_error=True, error_code="ENOENT")
    assert json.loads(render_result(result, PROTOCOL))["content"] == "[ERROR:ENOENT] no such file"
