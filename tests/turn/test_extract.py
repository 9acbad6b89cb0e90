"""Calls out of any provider's response."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.codecs import CODECS, decode, decode_tool_calls
from dragoman.codecs.shared.answer_shapes import WRITTEN_BY
from dragoman.codecs.shared.spec import Stamp
from dragoman.errors import CodecError, ExtractError, ProviderError, UsageError
from dragoman.turn.extract import Calls, extract
from dragoman.types import Issue, IssueKind, Message, Response, Stop, Text, Tier, Tool, ToolCall, Verdict

FENCE = '~~~tool_call\n{"name": "t", "arguments": {"x": 1}}\n~~~'
HERMES = '<tool_call>\n{"name": "t", "arguments": {"x": 1}}\n</tool_call>'
BARE = '{"name": "t", "arguments": {"x": 1}}'
TOOLS = [Tool(name="t", parameters={"type": "object", "properties": {"x": {"type": "integer"}}})]


def calls_of(calls: Calls) -> list[tuple[str, Any]]:
    return [(c.name, c.arguments) for c in calls]


ENTRIES: dict[str, dict[str, Any]] = {
    "OpenAI, string arguments": {"id": "c", "type": "function", "function": {"name": "t", "arguments": '{"x": 1}'}},
    "OpenAI, object arguments": {"id": "c", "type": "function", "function": {"name": "t", "arguments": {"x": 1}}},
    "without type": {"id": "c", "function": {"name": "t", "arguments": '{"x": 1}'}},
    "Responses": {"type": "function_call", "id": "c", "name": "t", "arguments": '{"x": 1}'},
    "Responses, call_id": {"type": "function_call", "call_id": "c", "name": "t", "arguments": '{"x": 1}'},
    "Anthropic": {"type": "tool_use", "id": "c", "name": "t", "input": {"x": 1}},
    "flat": {"id": "c", "name": "t", "arguments": {"x": 1}},
    "flat, input": {"id": "c", "name": "t", "input": {"x": 1}},
    "stream chunk": {"type": "tool_call", "name": "t", "arguments": {"x": 1}, "metadata": {"id": "c"}},
    "Gemini": {"functionCall": {"id": "c", "name": "t", "args": {"x": 1}}},
    "Bedrock": {"toolUse": {"toolUseId": "c", "name": "t", "input": {"x": 1}}},
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_a_native_call_of_any_shape_is_the_same_value(entry: dict[str, Any]) -> None:
    [call] = extract({"text": None, "tool_calls": [entry]})
    assert call == ToolCall(id="c", name="t", arguments={"x": 1})
    assert call.report is not None
    assert call.report.tier is Tier.NATIVE


def test_a_call_value_is_taken_as_it_is() -> None:
    given = ToolCall(id="c", name="t", arguments={"x": 1})
    assert extract({"tool_calls": [given]}) == [given]


OPENAI_CALL = {"id": "c", "type": "function", "function": {"name": "t", "arguments": '{"x": 1}'}}
BODIES: dict[str, dict[str, Any]] = {
    "OpenAI Chat": {"choices": [{"message": {"content": None, "tool_calls": [OPENAI_CALL]}, "finish_reason": "stop"}]},
    "OpenAI message": {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
    "OpenAI's first form": {"choices": [{"message": {"function_call": {"name": "t", "arguments": '{"x": 1}'}}}]},
    "Anthropic": {
        "content": [{"type": "text", "text": "Hm."}, {"type": "tool_use", "id": "c", "name": "t", "input": {"x": 1}}],
        "stop_reason": "tool_use",
    },
    "Ollama": {"message": {"content": "", "tool_calls": [{"function": {"name": "t", "arguments": {"x": 1}}}]}},
    "OpenAI Chat, text": {"choices": [{"message": {"content": FENCE}}]},
    "Anthropic, text": {"content": [{"type": "text", "text": FENCE}]},
    "Ollama, text": {"message": {"content": FENCE}, "done_reason": "stop"},
    "a text": {"text": FENCE},
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_whole_body_of_an_api_gives_its_calls(body: dict[str, Any]) -> None:
    assert calls_of(extract(body)) == [("t", {"x": 1})]


@pytest.mark.parametrize("api", CODECS)
def test_a_whole_body_of_every_api_gives_its_calls(api: str) -> None:
    """On the wires without calls they stand in the text."""
    call: Any = Text(HERMES) if api in ("ollama_generate", "stackspot") else ToolCall(id="c", name="t", arguments={"x": 1})
    told = Response(message=Message("assistant", [Text("Hm."), call] if isinstance(call, ToolCall) else [call]))
    body = CODECS[api].encode_response(told, Stamp(id="answer_1", created=1, model="m"))
    [found] = extract(body, tools=TOOLS)
    assert (found.name, found.arguments) == ("t", {"x": 1})
    assert found.report is not None
    assert decode_tool_calls(body, api) == ([] if isinstance(call, Text) else [found])


PIECES: dict[str, dict[str, Any]] = {
    "Gemini, a message": {"role": "model", "parts": [{"functionCall": {"name": "t", "args": {"x": 1}}}]},
    "OpenAI's completions": {"choices": [{"text": HERMES, "finish_reason": "stop"}]},
    "Cohere": {"message": {"role": "assistant", "tool_calls": [OPENAI_CALL]}, "finish_reason": "TOOL_CALL"},
    "Responses, with its settings": {
        "status": "completed", "text": {"format": {"type": "text"}}, "error": None,
        "output": [{"type": "function_call", "call_id": "c", "name": "t", "arguments": '{"x": 1}'}],
    },
}  # fmt: skip


@pytest.mark.parametrize("body", PIECES.values(), ids=PIECES)
def test_what_apis_answer_besides_gives_its_calls(body: dict[str, Any]) -> None:
    assert calls_of(extract(body)) == [("t", {"x": 1})]


def test_a_cut_answer_of_any_api_is_cut() -> None:
    for body in (
        {"message": {"content": FENCE[:-5]}, "finish_reason": "MAX_TOKENS"},
        {"candidates": [{"content": {"parts": [{"text": FENCE[:-5]}]}, "finishReason": "MAX_TOKENS"}]},
    ):
        with pytest.raises(ExtractError) as caught:
            extract(body)
        assert caught.value.issues[0].kind is IssueKind.TRUNCATED


FAILED: list[dict[str, Any]] = [
    {"error": {"message": "bad key", "code": 401}},
    {"error": "bad key"},
    {"type": "error", "error": {"type": "authentication_error", "message": "bad key"}},
    {"object": "error", "message": "bad key"},
    {"base_resp": {"status_code": 1004, "status_msg": "bad key"}},
    {"__type": "AccessDeniedException", "Message": "bad key"},
    {"message": "bad key"},
    {"detail": "bad key"},
]


@pytest.mark.parametrize("body", FAILED)
@pytest.mark.parametrize("api", ["", *CODECS])
def test_a_body_that_is_an_error_is_raised_and_is_no_answer_without_calls(body: dict[str, Any], api: str) -> None:
    if api == "stackspot" and "message" in body:
        return  # its answers have the text there
    with pytest.raises(ProviderError, match=r"bad key|AccessDenied"):
        decode_tool_calls(body, api) if api else extract(body)


@pytest.mark.parametrize("api", CODECS)
def test_an_answer_of_another_api_is_named(api: str) -> None:
    call = ToolCall(id="c", name="t", arguments={"x": 1})
    other = next(name for name in ("gemini", "anthropic_messages") if name != WRITTEN_BY.get(api, api))
    body = CODECS[other].encode_response(Response(message=Message("assistant", [call])))
    for read in (lambda: decode_tool_calls(body, api), lambda: decode(api, body)):
        with pytest.raises(CodecError, match=f"answer of {other}, not of {api}"):
            read()


@pytest.mark.parametrize("body", [{"foo": 1}, {"output": 5}, {"choices": [{"delta": {"content": "x"}}]}])
def test_what_holds_no_answer_is_the_callers_mistake(body: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"no answer|piece of a stream"):
        extract(body)


@pytest.mark.parametrize("api", CODECS)
def test_no_api_reads_an_answer_without_calls_out_of_anything(api: str) -> None:
    with pytest.raises(CodecError):
        decode_tool_calls({"foo": 1}, api)


EMPTY: list[dict[str, Any]] = [
    {}, {"text": None}, {"choices": [{}]}, {"message": None}, {"content": None}, {"content": "hello"},
    {"choices": [{"message": None}]},
]  # fmt: skip


@pytest.mark.parametrize("body", [{"choices": []}, {"choices": [], "usage": None}])
def test_a_body_that_answers_nothing_is_no_answer_without_calls(body: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="no answer in a mapping of"):
        extract(body)


@pytest.mark.parametrize("body", EMPTY)
def test_a_body_without_calls_gives_an_empty_list(body: dict[str, Any]) -> None:
    assert extract(body) == []


def test_a_response_value_gives_its_calls_and_its_issues() -> None:
    issue = Issue(kind=IssueKind.WIRE_FAULT, message="odd frame")
    call = ToolCall(id="c", name="t")
    found = extract(Response(message=Message("assistant", [Text(FENCE), call]), issues=(issue,)))
    assert (list(found), found.issues) == ([call], (issue,))


def test_a_response_value_without_native_calls_is_read() -> None:
    assert calls_of(extract(Response(message=Message("assistant", FENCE), stop=Stop.END))) == [("t", {"x": 1})]


@pytest.mark.parametrize("claim", [True, False, None])
@pytest.mark.parametrize("text", [FENCE, HERMES, BARE, f"```json\n{BARE}\n```", f"I call it.\n{BARE}"])
def test_what_a_provider_claims_does_not_change_what_is_found(text: str, claim: bool | None) -> None:
    assert calls_of(extract({"text": text, "tool_calls": []}, {"native_tool_calls": claim})) == [("t", {"x": 1})]


def test_native_calls_come_before_anything_in_the_text() -> None:
    both = {"text": FENCE, "tool_calls": [{"id": "c", "name": "n", "input": {}}]}
    found = extract(both, {"native_tool_calls": False})
    assert calls_of(found) == [("n", {})]


@pytest.mark.parametrize("response", [{"text": FENCE}, {"tool_calls": [OPENAI_CALL]}, {"tool_calls": [{"bad": 1}]}])
def test_nothing_is_taken_from_a_provider_that_runs_its_tools(response: dict[str, Any]) -> None:
    assert extract(response, {"self_contained_tools": True, "native_tool_calls": True}) == []


def test_native_calls_are_held_to_the_declared_tools() -> None:
    found = extract({"tool_calls": [{"name": "t", "input": {}}, {"name": "rm", "input": {}}]}, tools=TOOLS)
    assert calls_of(found) == [("t", {})]
    [issue] = found.issues
    assert (issue.kind, issue.name) == (IssueKind.UNKNOWN_TOOL, "rm")
    assert "Available tools: t." in issue.correction


def test_native_calls_are_mended_and_refused_by_the_judges_rules() -> None:
    count = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tools = [{"name": "count_to", "parameters": count}]
    wire = [
        {"id": "a", "name": "functions.count_to", "arguments": {"n": "3"}},
        {"id": "b", "name": "count_to", "arguments": '{"n": 4}'},
        {"id": "c", "name": "count_to", "arguments": {}},
    ]
    found = extract({"tool_calls": wire}, tools=tools)
    assert [(call.id, call.name, call.arguments) for call in found] == [
        ("a", "count_to", {"n": 3}),
        ("b", "count_to", {"n": 4}),
    ]
    assert found[0].report is not None
    assert next(edit.kind for edit in found[0].report.edits) == "name"
    assert [(issue.kind, issue.call_id) for issue in found.issues] == [(IssueKind.INVALID_ARGUMENTS, "c")]
    assert [call.arguments for call in extract({"tool_calls": wire[:1]})] == [{"n": "3"}], "no tools, no schema"


def test_any_providers_definitions_do_as_tools() -> None:
    wire = [{"type": "function", "function": {"name": "t", "parameters": {"type": "object"}}}]
    assert calls_of(extract({"text": BARE}, tools=wire)) == [("t", {"x": 1})]


@pytest.mark.parametrize("arguments", ["{not json", "[1, 2]", "5", "true", '"text"', [1], 5, True])
def test_a_bad_native_call_keeps_id_and_text(arguments: Any) -> None:
    with pytest.raises(ExtractError, match="ask again") as caught:
        extract({"tool_calls": [{"id": "c9", "name": "t", "arguments": arguments}]})
    [issue] = caught.value.issues
    assert (issue.name, issue.call_id) == ("t", "c9")
    assert issue.raw in (arguments, str(arguments).lower())
    assert "JSON object" in issue.correction


def test_a_good_native_call_survives_a_bad_one() -> None:
    found = extract({"tool_calls": [{"name": "t", "arguments": "{"}, {"name": "t", "arguments": "{}"}, {"no": "name"}]})
    assert calls_of(found) == [("t", {})]
    assert [i.kind for i in found.issues] == [IssueKind.MALFORMED, IssueKind.MALFORMED]


def test_a_mended_native_call_keeps_its_raw_text() -> None:
    [call] = extract({"tool_calls": [{"id": "c", "name": "t", "arguments": "{'x': 1,}"}]})
    assert (call.arguments, call.raw) == ({"x": 1}, "{'x': 1,}")
    assert call.report is not None
    assert call.report.verdict is Verdict.MENDED
    assert {e.kind for e in call.report.edits} >= {"trailing_comma"}


@pytest.mark.parametrize("cut", ["length", "max_tokens"])
def test_the_last_call_of_a_cut_answer_does_not_run(cut: str) -> None:
    body = {"finish_reason": cut, "tool_calls": [OPENAI_CALL, {"id": "d", "name": "t", "arguments": '{"x": '}]}
    found = extract(body)
    assert calls_of(found) == [("t", {"x": 1})]
    assert [i.kind for i in found.issues] == [IssueKind.TRUNCATED]


def test_a_cut_text_is_refused() -> None:
    message = {"content": '~~~tool_call\n{"name": "t", "arguments": {"x": 1'}
    body = {"choices": [{"message": message, "finish_reason": "length"}]}
    with pytest.raises(ExtractError) as caught:
        extract(body)
    assert caught.value.issues[0].kind is IssueKind.TRUNCATED


def test_ids_are_given_kept_and_never_twice() -> None:
    entries = [{"name": "t"}, {"id": "call_0", "name": "t"}, {"id": "a", "name": "t"}, {"id": "a", "name": "u"},
               {"id": 7, "name": "t"}, {"id": "", "name": "t"}]  # fmt: skip
    ids = [c.id for c in extract({"tool_calls": entries})]
    assert ids[1:3] == ["call_0", "a"]
    assert ids[4] == "7"
    assert len(set(ids)) == len(ids)
    assert all(ids)


@pytest.mark.parametrize("make", [lambda n: "same", lambda n: "", lambda n: f"id-{n}"])
def test_ids_are_made_by_whoever_is_asked_and_still_unique(make: Any) -> None:
    ids = [c.id for c in extract({"tool_calls": [{"name": "t"}, {"name": "t"}, {"name": "t"}]}, ids=make)]
    assert len(set(ids)) == 3
    assert all(ids)


def test_a_call_sent_twice_id_and_all_counts_once() -> None:
    assert len(extract({"tool_calls": [OPENAI_CALL, dict(OPENAI_CALL)]})) == 1


def test_two_identical_calls_are_two_calls() -> None:
    assert len(extract({"tool_calls": [{"name": "roll"}, {"name": "roll"}]})) == 2
    assert len(extract({"text": f"{FENCE}\n{FENCE}"})) == 2


def test_text_may_be_limited_to_one_dialect() -> None:
    assert extract({"text": HERMES}, dialects="tool_call_fence") == []


def test_an_issue_that_is_no_failure_raises_nothing() -> None:
    found = extract({"text": f"<think>\n{FENCE}\n</think>\nI will not."})
    assert found == []


@pytest.mark.parametrize("given", ["text", None, 5, [FENCE]])
def test_what_is_no_response_is_the_callers_mistake(given: Any) -> None:
    with pytest.raises(UsageError, match="mapping"):
        extract(given)


REASONED = (
    ({"choices": [{"message": {"content": None, "reasoning_content": "Hm. {}"}, "finish_reason": "stop"}]}, 1),
    ({"message": {"content": "", "thinking": "Hm. {}"}, "done_reason": "stop"}, 1),
    ({"content": [{"type": "thinking", "thinking": "Hm. {}"}], "stop_reason": "end_turn"}, 1),
    ({"text": "", "reasoning": "Hm. {}"}, 1),
    ({"text": "", "reasoning": "Hm. {} No, wait."}, 0),
    ({"text": "Done.", "reasoning": "Hm. {}"}, 0),
    ({"text": "", "reasoning": "Hm. {}", "finish_reason": "length"}, 0),
)


def _filled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner) for key, inner in value.items()}
    return [_filled(inner) for inner in value] if isinstance(value, list) else value and value.replace("{}", HERMES)


@pytest.mark.parametrize(("response", "many"), REASONED)
def test_a_call_that_reasoning_ends_in_counts_where_nothing_stands_behind_it(response: Any, many: int) -> None:
    found = extract(_filled(response), tools=TOOLS)
    assert calls_of(found) == [("t", {"x": 1})] * many
    assert [issue.kind for issue in found.issues if issue.kind is IssueKind.WIRE_FAULT] == [IssueKind.WIRE_FAULT] * many


# ── wherever a wire has the message ──────────────────────────────────────────

NATIVE: dict[str, Any] = {"type": "function_call", "call_id": "c", "name": "t", "arguments": '{"x": 1}'}
ANSWERED: dict[str, Any] = {"object": "response", "output": [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "message", "content": [{"type": "output_text", "text": "So."}]}, NATIVE,
]}  # fmt: skip


def gemini(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, "finishReason": "STOP"}]}


def chat(**choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, **choice}]}


PLACED: dict[str, dict[str, Any]] = {
    "a completion": chat(text=HERMES, finish_reason="stop"),
    "a completion beside a null message": chat(text=HERMES, message=None),
    "a delta": chat(delta={"content": HERMES}, finish_reason="stop"),
    "content of texts": chat(message={"content": [HERMES]}),
    "content that is one part": chat(message={"content": {"type": "text", "text": HERMES}}),
    "Gemini": gemini({"functionCall": {"name": "t", "args": {"x": 1}}}),
    "Gemini, in text behind a thought": gemini({"text": "Hm.", "thought": True}, {"text": HERMES}),
    "Gemini, all of it a thought": gemini({"text": f"Hm.\n{HERMES}", "thought": True}),
    "Code Assist": {"response": gemini({"functionCall": {"name": "t", "args": {"x": 1}}}), "traceId": "7"},
    "Responses": ANSWERED,
    "Responses, the last event": {"type": "response.completed", "response": ANSWERED},
    "Responses, in text": {"output": [{"type": "message", "content": [{"type": "output_text", "text": HERMES}]}]},
    "Bedrock": {"output": {"message": {"content": [{"toolUse": {"toolUseId": "c", "name": "t", "input": {"x": 1}}}]}}},
    "Bedrock, in text": {"output": {"message": {"content": [{"text": HERMES}]}}, "stopReason": "end_turn"},
    "interactions": {"status": "requires_action", "steps": [NATIVE]},
    "Ollama's completions": {"response": HERMES, "done": True},
    "Cohere": {"message": {"tool_calls": [{"id": "c", "function": {"name": "t", "arguments": '{"x": 1}'}}]}},
}


@pytest.mark.parametrize("body", PLACED.values(), ids=PLACED)
def test_a_call_is_found_wherever_a_wire_has_the_message(body: dict[str, Any]) -> None:
    assert calls_of(extract(body, tools=TOOLS)) == [("t", {"x": 1})]
