"""A demand on the answer that a place does not take: told in words, remembered, and judged all the same."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.spec import Quirks
from dragoman.effects import run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.instructions import format_instruction
from dragoman.turn.machine import turn
from dragoman.turn.prepare import only_allowed
from dragoman.turn.rejections import refused_demand, refuses_tools
from dragoman.types import Message, OutputSchema, Request, Response, Tool, ToolChoice
from tests.support.upstreams import UPSTREAMS, ScriptedReply, model, refusal, sent, text_reply

LOOK = Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]})
STOP = Tool(name="stop")
SKY = ScriptedReply(calls=(("a1", "look", {"at": "sky"}),))
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FORM = OutputSchema(schema=SCHEMA, name="count", strict=True)
VALUE = text_reply('{"n": 3}')


def demanding(**more: Any) -> Request:
    return Request(model="m", messages=(Message("user", "What is up?"),), **more)


def answers(request: Request, *turns: ScriptedReply | Answer, api: str = "openai_chat", times: int = 1) -> tuple[Any, Response]:
    memory, learned = model(api, *turns), Capabilities()
    to = Route(provider=COMPATIBLE[api], base_url="http://model.test")
    for _ in range(times):
        response = run(turn(request, to, learned), memory.sync_performer())
    return memory, response


# ── tool choices ─────────────────────────────────────────────────────────────

CHOICES = [
    (400, "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or"
     " object in thinking mode"),
    (400, "Thinking mode does not support this tool_choice"),
    (404, "No endpoints found that support the provided 'tool_choice' value. To learn more, visit: https://openrouter.ai"),
    (400, "Thinking may not be enabled when tool_choice forces tool use."),
    (400, "Required function  is not present"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "words"), CHOICES)
def test_a_call_the_wire_cannot_demand_is_demanded_in_words(status: int, words: str) -> None:
    no = refusal(status, {"error": {"message": words}})
    memory, response = answers(demanding(tools=(LOOK, STOP), tool_choice=ToolChoice("required")), no, SKY, SKY, times=2)
    assert [call.name for call in response.calls] == ["look"]
    assert [sent(memory, i)["tool_choice"] for i in range(3)] == ["required", "auto", "auto"]
    assert ["must call at least one tool" in str(sent(memory, i)["messages"]) for i in range(3)] == [False, True, True]


def test_a_refused_named_call_falls_back_to_words() -> None:
    no = refusal(400, {"error": {"message": CHOICES[0][1]}})
    memory, _ = answers(demanding(tools=(LOOK, STOP), tool_choice=ToolChoice("named", "look")), no, no, SKY)
    assert [sent(memory, i)["tool_choice"] for i in (1, 2)] == ["required", "auto"]
    assert [[tool["function"]["name"] for tool in sent(memory, i)["tools"]] for i in (1, 2)] == [["look"], ["look"]]
    assert "must call the tool `look`" in str(sent(memory, 2)["messages"])


@pytest.mark.parametrize("api", UPSTREAMS)
def test_a_choice_the_wire_lacks_is_put_in_words(api: str) -> None:
    memory, _ = answers(demanding(tools=(LOOK,), tool_choice=ToolChoice("required")), SKY, api=api)
    in_words = "must call at least one tool" in str(sent(memory))
    assert in_words is (api == "ollama_chat")


def test_only_allowed_tools_go_where_the_wire_cannot_say() -> None:
    request = demanding(tools=(LOOK, STOP), tool_choice=ToolChoice("required", allowed=("look",)))
    memory, _ = answers(request, SKY)
    assert [tool["function"]["name"] for tool in sent(memory)["tools"]] == ["look"]
    assert sent(memory)["tool_choice"] == "required"


ALLOWED: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "messages": [],
        "tools": [{"type": "function", "function": {"name": name}} for name in ("look", "stop")],
        "tool_choice": {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "look"}}]},
        },
    },
    "openai_responses": {
        "input": "hi",
        "tools": [{"type": "function", "name": name} for name in ("look", "stop")],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "look"}]},
    },
    "gemini": {
        "contents": [],
        "tools": [{"functionDeclarations": [{"name": "look"}, {"name": "stop"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["look"]}},
    },
}


@pytest.mark.parametrize("api", ALLOWED)
def test_allowed_tools_are_read_and_written_by_every_api(api: str) -> None:
    request = CODECS[api].decode_request(ALLOWED[api])
    assert request.tool_choice == ToolChoice("auto", allowed=("look",))
    key = "toolConfig" if api == "gemini" else "tool_choice"
    assert CODECS[api].encode_request(only_allowed(request, api))[key] == ALLOWED[api][key]
    assert [tool.name for tool in only_allowed(request, "anthropic_messages").tools] == ["look"]


# ── forms ────────────────────────────────────────────────────────────────────

FORMS = [
    (400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}),
    (400, {"error": {"message": "This response_format type is unavailable now", "type": "invalid_request_error"}}),
    (400, {"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."}}),
    (400, {"error": {"message": "Function calling with a response mime type: 'application/json' is unsupported"}}),
    (400, {"error": {"message": "Json mode is not enabled for models/gemma-3-1b"}}),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), FORMS)
@pytest.mark.parametrize("tools", [(), (LOOK,)], ids=["alone", "beside tools"])
def test_a_refused_form_is_put_in_words_and_remembered(
    status: int, body: Any, tools: tuple[Tool, ...]
) -> None:
    no = refusal(status, body)
    memory, response = answers(demanding(tools=tools, output_schema=FORM), no, VALUE, VALUE, times=2)
    assert response.text == '{"n": 3}'
    assert [sent(memory, i)["response_format"]["type"] for i in range(3)] == [
        "json_schema",
        "json_object",
        "json_object",
    ]
    assert ['"integer"' in str(sent(memory, i)["messages"]) for i in range(3)] == [False, True, True]
    assert [bool(sent(memory, i).get("tools")) for i in range(3)] == [bool(tools)] * 3


def test_a_form_wholly_refused_is_put_in_words_alone() -> None:
    no = refusal(400, {"error": {"message": "response_format is not supported"}})
    memory, _ = answers(demanding(output_schema=FORM), no, no, VALUE)
    assert ["response_format" in sent(memory, i) for i in range(3)] == [True, True, False]


def test_one_schema_that_is_refused_says_nothing_of_the_next() -> None:
    no = refusal(
        400, {"error": {"message": "Invalid schema for response_format 'count': 'additionalProperties' is required"}}
    )
    memory, learned = model("openai_chat", no, VALUE, VALUE), Capabilities()
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    for form in (FORM, OutputSchema(schema={**SCHEMA, "title": "other"})):
        run(turn(demanding(output_schema=form), to, learned), memory.sync_performer())
    assert [sent(memory, i)["response_format"]["type"] for i in range(3)] == [
        "json_schema",
        "json_object",
        "json_schema",
    ]


WORDLESS = {"anthropic_messages", "bedrock_converse", "bedrock_invoke", "stackspot"}


@pytest.mark.parametrize("api", CODECS)
def test_a_json_demand_the_wire_lacks_becomes_words(api: str) -> None:
    request = demanding(output_schema=OutputSchema())
    instruction = format_instruction(request, CODECS[api], Quirks(), frozenset())
    assert (instruction.output_schema is None) is (api in WORDLESS)
    assert ("JSON object" in str(instruction.messages)) is (api in WORDLESS)


def test_a_form_the_place_leaves_out_becomes_words() -> None:
    minimax = PROVIDERS["minimax"]
    instruction = format_instruction(demanding(output_schema=FORM), CODECS[minimax.codec], minimax.quirks, frozenset())
    assert instruction.output_schema is None
    assert '"integer"' in instruction.messages[0].text


def test_a_form_on_the_wire_allows_calls_in_text() -> None:
    memory = model("openai_chat", text_reply('~~~tool_call\n{"name": "look", "arguments": {"at": "sky"}}\n~~~'))
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", tools=Tools.TEXT)
    response = run(turn(demanding(tools=(LOOK,), output_schema=FORM), to), memory.sync_performer())
    assert [call.name for call in response.calls] == ["look"]
    assert "response_format" not in sent(memory)
    assert "It must fit this JSON Schema" in str(sent(memory)["messages"])


# ── what is about something else ─────────────────────────────────────────────

ELSE = [
    ("This model's maximum context length is 8192 tokens", ErrorKind.CONTEXT, 400),
    ("Rate limit reached, see tool_choice", ErrorKind.RATE_LIMIT, 429),
    ("Invalid schema for function 'look'", ErrorKind.BAD_REQUEST, 400),
    ("incorrect API key for response_format", ErrorKind.AUTH, 401),
]


@pytest.mark.parametrize(("words", "kind", "status"), ELSE)
def test_other_refusals_are_about_no_demand(words: str, kind: ErrorKind, status: int) -> None:
    request = demanding(tools=(LOOK,), tool_choice=ToolChoice("required"), output_schema=FORM)
    assert refused_demand(ProviderError(words, status=status, kind=kind), request) == ""


def test_a_demand_that_was_not_made_was_not_refused() -> None:
    error = ProviderError("tool_choice and response_format", status=400, kind=ErrorKind.BAD_REQUEST)
    assert refused_demand(error, demanding(tools=(LOOK,))) == ""


NO_TOOLS = [
    (500, "Unsupported param: tools"),
    (400, 'tool_choice="required" requires --tool-call-parser to be set'),
    (501, "Tool calls not implemented"),
    (400, "Unrecognized request argument supplied: tools"),
    (
        422,
        '{"detail": [{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}',
    ),
]


@pytest.mark.parametrize(("status", "words"), NO_TOOLS)
def test_refusals_of_tools_are_known_in_many_words(status: int, words: str) -> None:
    body = words if words.startswith("{") else {"error": {"message": words}}
    assert refuses_tools(CODECS["openai_chat"].decode_error(status, body))


PLACES = ["Unknown parameter: 'tools[0].strict'", "Internal error in tools"]


@pytest.mark.parametrize("words", PLACES)
def test_a_fault_in_one_tool_is_no_refusal_of_all(words: str) -> None:
    status = 500 if words.startswith("Internal") else 400
    assert not refuses_tools(CODECS["openai_chat"].decode_error(status, {"error": {"message": words}}))
