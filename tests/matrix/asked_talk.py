"""Rows of requests: messages, tools, choices, results, history.  Knows how APIs write them; runs nothing."""

from __future__ import annotations

from typing import Any

from .table import GONE, A, B, C, G, H, L, R, Row, X, both, has, one_of, says, written

SDK = "openai 3.54, anthropic 2.12, google-genai 3.4, ollama 0.6.3, botocore 1.44.5 (ConverseRequest), cohere 7.3 (V2Client.chat)"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
DEEP: dict[str, Any] = {"type": "object", "properties": {"place": {"type": "object", "properties": {"kind": {"type": "string", "enum": ["sea", "hill"], "description": "WHICH"}}}}, "required": ["place"]}
OPEN_API: dict[str, Any] = {"type": "OBJECT", "properties": {"place": {"type": "OBJECT", "properties": {"kind": {"type": "STRING", "enum": ["sea", "hill"], "description": "WHICH"}}}}, "required": ["place"]}
ASK: dict[str, Any] = {"role": "user", "content": "hi"}


def chat_tool(name: str = "weather", schema: Any = SCHEMA, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": "Look.", "parameters": schema, **more}}


def tools(schema: Any = SCHEMA, names: tuple[str, ...] = ("weather",)) -> dict[str, Any]:
    """The declarations of the same tools on each front."""
    return {
        C: {"tools": [chat_tool(name, schema) for name in names]},
        R: {"tools": [{"type": "function", "name": name, "description": "Look.", "parameters": schema} for name in names]},
        A: {"tools": [{"name": name, "description": "Look.", "input_schema": schema} for name in names]},
        G: {"tools": [{"functionDeclarations": [{"name": n, "description": "Look.", "parametersJsonSchema": schema} for n in names]}]},
        L: {"tools": [chat_tool(name, schema) for name in names]},
    }


def over(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    return {front: {**base[front], **one} for front, one in more.items()}


KIND = "properties.place.properties.kind"
OF_TOOL: dict[str, Any] = {C: "tools[0].function.parameters", R: "tools[0].parameters", A: "tools[0].input_schema", L: "tools[0].function.parameters",
           G: "tools[0].functionDeclarations[0].parametersJsonSchema|tools[0].functionDeclarations[0].parameters",
           B: "toolConfig.tools[0].toolSpec.inputSchema.json", H: "tools[0].function.parameters", X: "tools[0].function.parameters"}  # fmt: skip


def below(place: str, rest: str) -> str:
    return "|".join(f"{one}.{rest}" for one in place.split("|"))


DEEP_AT: dict[str, Any] = {b: {below(p, f"{KIND}.enum"): ["sea", "hill"], below(p, f"{KIND}.description"): "WHICH"} for b, p in OF_TOOL.items()}
CALLED: dict[str, Any] = {"type": "function", "id": "call_1", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}}
GIVEN: dict[str, Any] = {"city": "Oslo"}


def history(result: dict[str, Any]) -> dict[str, Any]:
    """A call and its result on each front, the result as `result` says it there."""
    call_a = {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "weather", "input": GIVEN}]}
    call_g = {"role": "model", "parts": [{"functionCall": {"id": "call_1", "name": "weather", "args": GIVEN}}]}
    call_o = {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "function": {"name": "weather", "arguments": GIVEN}}]}
    call_r = {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{\"city\": \"Oslo\"}"}
    before: dict[str, Any] = {
        C: lambda one: {"messages": [ASK, {"role": "assistant", "content": None, "tool_calls": [CALLED]}, {"role": "tool", "tool_call_id": "call_1", **one}]},
        R: lambda one: {"input": [ASK, call_r, {"type": "function_call_output", "call_id": "call_1", **one}]},
        A: lambda one: {"messages": [ASK, call_a, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", **one}]}]},
        G: lambda one: {"contents": [{"role": "user", "parts": [{"text": "hi"}]}, call_g,
                                     {"role": "user", "parts": [{"functionResponse": {"id": "call_1", "name": "weather", **one}}]}]},
        L: lambda one: {"messages": [ASK, call_o, {"role": "tool", "tool_name": "weather", "tool_call_id": "call_1", **one}]},
    }  # fmt: skip
    return {front: {**tools()[front], **before[front](one)} for front, one in result.items()}


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
URL = "data:image/png;base64," + PNG
RESULT_AT: dict[str, Any] = {
    C: {"messages[role=tool].content": says("sunny"), "messages[role=tool].tool_call_id": "call_1"},
    R: {"input[type=function_call_output].output": says("sunny"), "input[type=function_call_output].call_id": "call_1"},
    A: {"messages[2].content[type=tool_result].content": says("sunny"), "messages[2].content[type=tool_result].tool_use_id": "call_1"},
    G: {"contents[2].parts[0].functionResponse.response": has("sunny"), "contents[2].parts[0].functionResponse.name": "weather"},
    L: {"messages[role=tool].content": says("sunny"), "messages[role=tool].tool_name": "weather"},
    B: {"messages[2].content[0].toolResult.content": has("sunny"), "messages[2].content[0].toolResult.toolUseId": "call_1"},
    H: {"messages[role=tool].content": says("sunny"), "messages[role=tool].tool_call_id": "call_1"},
    X: {"messages[role=tool].content": says("sunny"), "messages[role=tool].tool_call_id": "call_1"},
}
CALL_AT: dict[str, Any] = {
    C: {"messages[1].tool_calls[0].function.arguments": written(GIVEN), "messages[1].tool_calls[0].id": "call_1"},
    R: {"input[type=function_call].arguments": written(GIVEN), "input[type=function_call].call_id": "call_1"},
    A: {"messages[1].content[type=tool_use].input": GIVEN, "messages[1].content[type=tool_use].id": "call_1"},
    G: {"contents[1].parts[0].functionCall.args": GIVEN, "contents[1].parts[0].functionCall.name": "weather"},
    L: {"messages[1].tool_calls[0].function.arguments": GIVEN, "messages[1].tool_calls[0].function.name": "weather"},
    B: {"messages[1].content[0].toolUse.input": GIVEN, "messages[1].content[0].toolUse.toolUseId": "call_1"},
    H: {"messages[1].tool_calls[0].function.arguments": written(GIVEN), "messages[1].tool_calls[0].id": "call_1"},
    X: {"messages[1].tool_calls[0].function.arguments": written(GIVEN), "messages[1].tool_calls[0].id": "call_1"},
}
TEXT_RESULT: dict[str, Any] = {C: {"content": "sunny"}, R: {"output": "sunny"}, A: {"content": "sunny"}, G: {"response": {"output": "sunny"}}, L: {"content": "sunny"}}
IMAGE_RESULT: dict[str, Any] = {
    R: {"output": [{"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": URL}]},
    A: {"content": [{"type": "text", "text": "seen"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]},
    G: {"response": {"output": "seen"}, "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}]},
}
PROBLEM: dict[str, Any] = {A: {"content": "no such city", "is_error": True}, G: {"response": {"error": "no such city"}}}

SYSTEM: dict[str, Any] = {C: {"messages": [{"role": "system", "content": "SYS"}, ASK]}, R: {"instructions": "SYS"}, A: {"system": "SYS"},
          G: {"systemInstruction": {"parts": [{"text": "SYS"}]}}, L: {"messages": [{"role": "system", "content": "SYS"}, ASK]}}  # fmt: skip
SYSTEM_AT: dict[str, Any] = {C: {"messages[0].content": says("SYS"), "messages[0].role": one_of("system", "developer")}, R: {"instructions": "SYS"},
             A: {"system": says("SYS")}, G: {"systemInstruction.parts": says("SYS")}, L: {"messages[0].content": "SYS", "messages[0].role": "system"},
             B: {"system": says("SYS")}, H: {"messages[0].content": says("SYS"), "messages[0].role": "system"},
             X: {"messages[0].content": says("SYS"), "messages[0].role": "system"}}  # fmt: skip
DEVELOPER: dict[str, Any] = {C: {"messages": [{"role": "developer", "content": "SYS"}, ASK]}, R: {"input": [{"role": "developer", "content": "SYS"}, ASK]}}
THREE: dict[str, Any] = {
    C: {"messages": [ASK, {"role": "assistant", "content": "SAID"}, {"role": "user", "content": "LAST"}]},
    R: {"input": [ASK, {"role": "assistant", "content": "SAID"}, {"role": "user", "content": "LAST"}]},
    A: {"messages": [ASK, {"role": "assistant", "content": "SAID"}, {"role": "user", "content": "LAST"}]},
    G: {"contents": [{"role": role, "parts": [{"text": text}]} for role, text in (("user", "hi"), ("model", "SAID"), ("user", "LAST"))]},
    L: {"messages": [ASK, {"role": "assistant", "content": "SAID"}, {"role": "user", "content": "LAST"}]},
}
SAID_IN_CHAT: dict[str, Any] = {"messages[1].role": "assistant", "messages[1].content": says("SAID"), "messages[2].content": says("LAST")}
THREE_AT: dict[str, Any] = {
    **dict.fromkeys((C, A, L, B, H, X), SAID_IN_CHAT),
    R: {"input[1].role": "assistant", "input[1].content": says("SAID"), "input[2].content": says("LAST")},
    G: {"contents[1].role": "model", "contents[1].parts": says("SAID"), "contents[2].parts": says("LAST")},
}
TWO = ("weather", "time")
CHOICE_SOURCE = "tool_choice of chat and Responses, ToolChoice* of Anthropic, FunctionCallingConfig, ToolChoice of Bedrock, REQUIRED|NONE of Cohere; Ollama's /api/chat has none"
NAMED_CHAT: dict[str, Any] = {"tool_choice.function.name": "time"}

IN_WORDS = has("start: \"a\"")

ROWS: tuple[Row, ...] = (
    Row(name="instructions", source=SDK, said=SYSTEM, stands=SYSTEM_AT),
    Row(name="developer instructions", source="OpenAI's roles; elsewhere a system message", said=DEVELOPER,
        stands={C: SYSTEM_AT[C], R: {"instructions|input[0].content": says("SYS")}}, near={**{b: SYSTEM_AT[b] for b in (A, G, L, B, H)}, X: SYSTEM_AT[C]}),
    Row(name="earlier turns", source=SDK, said=THREE, stands=THREE_AT),
    Row(name="a nested schema", source=SDK, said=tools(DEEP), stands=DEEP_AT, words=("tools",)),
    Row(name="a schema of OpenAPI", source="google-genai Schema: types in capitals; JSON Schema elsewhere", said={G: {"tools": [{"functionDeclarations": [{"name": "weather", "parameters": OPEN_API}]}]}},
        stands={b: {**DEEP_AT[b], below(p, f"{KIND}.type"): "string"} for b, p in OF_TOOL.items() if b != G} | {G: {below(OF_TOOL[G], f"{KIND}.type"): one_of("STRING", "string")}}),
    Row(name="a call demanded", source=CHOICE_SOURCE, reply="call",
        said=over(tools(), {C: {"tool_choice": "required"}, R: {"tool_choice": "required"}, A: {"tool_choice": {"type": "any"}}, G: {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}}),
        stands={C: {"tool_choice": "required"}, R: {"tool_choice": "required"}, A: {"tool_choice.type": "any"}, G: {"toolConfig.functionCallingConfig.mode": "ANY"},
                B: {"toolConfig.toolChoice.any": {}}, H: {"tool_choice": "REQUIRED"}, X: {"tool_choice": "required"}},
        near={L: {"messages[0].content": has("must call")}}, words=("tool_choice",)),
    Row(name="this call demanded", source=CHOICE_SOURCE, reply="call time",
        said=over(tools(names=TWO), {C: {"tool_choice": {"type": "function", "function": {"name": "time"}}}, R: {"tool_choice": {"type": "function", "name": "time"}},
                                     A: {"tool_choice": {"type": "tool", "name": "time"}}, G: {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["time"]}}}}),
        stands={C: NAMED_CHAT, R: {"tool_choice.name": "time"}, A: {"tool_choice": {"type": "tool", "name": "time"}},
                G: {"toolConfig.functionCallingConfig.allowedFunctionNames": ["time"], "toolConfig.functionCallingConfig.mode": "ANY"}, B: {"toolConfig.toolChoice.tool.name": "time"}},
        near={H: {"tool_choice": "REQUIRED", "tools[0].function.name": "time", "tools[1]": GONE}, L: {"tools[0].function.name": "time", "tools[1]": GONE},
              X: {"tool_choice": has("time")}}, words=("tool_choice",)),
    Row(name="no call allowed", source=CHOICE_SOURCE,
        said=over(tools(), {C: {"tool_choice": "none"}, R: {"tool_choice": "none"}, A: {"tool_choice": {"type": "none"}}, G: {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}}),
        near={C: {"tool_choice": one_of("none")}, R: {"tool_choice": "none"}, A: {"tool_choice.type": "none"}, G: {"toolConfig.functionCallingConfig.mode": "NONE"},
              L: {"tools": GONE}, B: {"toolConfig.toolChoice": GONE}, H: {"tool_choice": "NONE"}, X: {"tool_choice": "none"}}, words=("tool_choice",)),
    Row(name="one of some tools demanded", source=CHOICE_SOURCE + "; allowed_tools of OpenAI", reply="call time",
        said=over(tools(names=(*TWO, "moon")), {
            C: {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": name}} for name in ("time", "moon")]}}},
            R: {"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": name} for name in ("time", "moon")]}},
            G: {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["time", "moon"]}}}}),
        stands={C: {"tool_choice.allowed_tools.mode|tool_choice": "required"}, R: {"tool_choice.mode|tool_choice": "required"},
                G: {"toolConfig.functionCallingConfig.mode": "ANY"}, A: {"tool_choice.type": "any"},
                B: {"toolConfig.toolChoice.any": {}}, H: {"tool_choice": "REQUIRED"}},
        near={L: {"tools": has("moon")}, X: {"tool_choice": has("required")}}, words=("tool_choice",)),
    Row(name="one call at a time", source="parallel_tool_calls of OpenAI, disable_parallel_tool_use of Anthropic; no such field elsewhere",
        said=over(tools(), {C: {"parallel_tool_calls": False}, R: {"parallel_tool_calls": False}, A: {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}}),
        stands={C: {"parallel_tool_calls": False}, R: {"parallel_tool_calls": False}, A: {"tool_choice.disable_parallel_tool_use": True}, X: {"parallel_tool_calls": False}},
        words=("parallel",)),
    Row(name="a strict tool", source="strict of OpenAI and Anthropic, ToolSpecification.strict, Cohere's strict_tools",
        said={C: {"tools": [chat_tool(strict=True)]}, R: {"tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": True}]},
              A: {"tools": [{"name": "weather", "input_schema": SCHEMA, "strict": True}]}},
        stands={C: {"tools[0].function.strict": True}, R: {"tools[0].strict": True}, A: {"tools[0].strict": True}, B: {"toolConfig.tools[0].toolSpec.strict": True},
                H: {"strict_tools": True}, X: {"tools[0].function.strict": True}},
        either={G: {"toolConfig.functionCallingConfig.mode": "VALIDATED"}}, words=("strict",)),
    Row(name="calls that fit their schema", source="FunctionCallingConfigMode.VALIDATED: calls held to the schema, as strict does",
        said={G: {**tools()[G], "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}}}},
        stands={G: {"toolConfig.functionCallingConfig.mode": "VALIDATED"}},
        either={C: {"tools[0].function.strict": True}, R: {"tools[0].strict": True}, A: {"tools[0].strict": True}, B: {"toolConfig.tools[0].toolSpec.strict": True},
                H: {"strict_tools": True}, X: {"tools[0].function.strict": True}}, words=("VALIDATED", "toolConfig", "mode", "strict")),
    Row(name="a call in the history", source=SDK, said=history(TEXT_RESULT), stands=CALL_AT),
    Row(name="a result", source=SDK, said=history(TEXT_RESULT), stands=RESULT_AT),
    Row(name="a failed result", source="is_error of Anthropic, ToolResultStatus, Gemini's response.error; words elsewhere", said=history(PROBLEM),
        stands={A: {"messages[2].content[0].is_error": True, "messages[2].content[0].content": has("no such city")}, B: {"messages[2].content[0].toolResult.status": "error"},
                G: {"contents[2].parts[0].functionResponse.response.error": has("no such city")}},
        near={C: {"messages[role=tool].content": has("ERROR")}, R: {"input[type=function_call_output].output": has("ERROR")}, L: {"messages[role=tool].content": has("ERROR")},
              H: {"messages[role=tool].content": has("ERROR")}, X: {"messages[role=tool].content": has("ERROR")}}),
    Row(name="an image in a result", source="image blocks of Anthropic, Bedrock, function_call_output parts, FunctionResponsePart; elsewhere the next turn", said=history(IMAGE_RESULT),
        stands={A: {"messages[2].content[0].content[type=image].source.data": PNG}, R: {"input[type=function_call_output].output[type=input_image].image_url": URL},
                B: {"messages[2].content[0].toolResult.content[1].image.source.bytes": PNG}, G: {"contents[2].parts": has(PNG)}},
        near={C: {"messages": has(PNG)}, L: {"messages": has(PNG)}, H: {"messages": has(PNG)}, X: {"messages": has(PNG)}}),
    Row(name="a name of the speaker", source="name of chat's messages", said={C: {"messages": [{**ASK, "name": "alice"}]}},
        stands={C: {"messages[0].name": "alice"}, X: {"messages[0].name": "alice"}}, words=("name",)),
    Row(name="examples of a tool's input", source="ToolParam.input_examples", said={A: {"tools": [{"name": "weather", "input_schema": SCHEMA, "input_examples": [GIVEN]}]}},
        stands={A: {"tools[0].input_examples": [GIVEN]}}, words=("input_examples",)),
    Row(name="arguments streamed eagerly", source="ToolParam.eager_input_streaming", said={A: {"tools": [{"name": "weather", "input_schema": SCHEMA, "eager_input_streaming": True}]}},
        stands={A: {"tools[0].eager_input_streaming": True}}, words=("eager_input_streaming",)),
    Row(name="a tool loaded on demand", source="ToolParam.defer_loading; FunctionTool.defer_loading of Responses",
        said={A: {"tools": [{"name": "weather", "input_schema": SCHEMA, "defer_loading": True}]}, R: {"tools": [{"type": "function", "name": "weather", "parameters": SCHEMA, "defer_loading": True}]}},
        either={A: {"tools[0].defer_loading": True}, R: {"tools[0].defer_loading": True}}, words=("defer_loading",)),
    Row(name="a tool of text", source="CustomTool of OpenAI: text instead of arguments; elsewhere a function with one text",
        said={C: {"tools": [{"type": "custom", "custom": {"name": "sum", "description": "Adds."}}]}, R: {"tools": [{"type": "custom", "name": "sum", "description": "Adds."}]}},
        stands={C: {"tools[0].custom.name": "sum"}, R: {"tools[0].type": "custom", "tools[0].name": "sum"}},
        near={A: {"tools[0].name": "sum", "tools[0].input_schema.properties": has("string")}, G: {"tools[0].functionDeclarations[0].name": "sum"}, L: {"tools[0].function.name": "sum"},
              B: {"toolConfig.tools[0].toolSpec.name": "sum"}, H: {"tools[0].function.name": "sum"}, X: {"tools[0]": has("sum")}}, words=("custom", "tools")),
    Row(name="a tool with a grammar", source="CustomToolFormat grammar of OpenAI; elsewhere the grammar in the description",
        said={C: {"tools": [{"type": "custom", "custom": {"name": "sum", "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: \"a\""}}}}]},
              R: {"tools": [{"type": "custom", "name": "sum", "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"a\""}}]}},
        stands={C: {"tools[0].custom.format.grammar.definition": "start: \"a\"", "tools[0].custom.format.grammar.syntax": "lark"}, R: {"tools[0].format.definition": "start: \"a\"", "tools[0].format.syntax": "lark"}},
        near={A: {"tools[0].name": "sum", "tools[0].description": IN_WORDS}, G: {"tools[0].functionDeclarations[0].description": IN_WORDS}, L: {"tools[0].function.description": IN_WORDS},
              B: {"toolConfig.tools[0].toolSpec.description": IN_WORDS}, H: {"tools[0].function.description": IN_WORDS}, X: {"tools[0]": has("start")}}, words=("format", "grammar", "tools")),
    Row(name="a refusal in the history", source="refusal of chat's assistant message, of Responses' content; words elsewhere",
        said={C: {"messages": [ASK, {"role": "assistant", "content": None, "refusal": "NO-THANKS"}, ASK]},
              R: {"input": [ASK, {"role": "assistant", "type": "message", "id": "msg_1", "status": "completed", "content": [{"type": "refusal", "refusal": "NO-THANKS"}]}, ASK]}},
        near={C: {"messages[1]": has("NO-THANKS")}, R: {"input[1]": has("NO-THANKS")}, A: {"messages": has("NO-THANKS")}, G: {"contents": has("NO-THANKS")},
              L: {"messages": has("NO-THANKS")}, B: {"messages": has("NO-THANKS")}, H: {"messages": has("NO-THANKS")}, X: {"messages": has("NO-THANKS")}}),
    Row(name="two tools", source="in any order: sorted, so that prompt caches find the same prefix", said=tools(names=TWO),
        stands={b: {"toolConfig" if b == B else "tools": both(*TWO)} for b in (C, R, A, G, L, B, H, X)}),
)  # fmt: skip
