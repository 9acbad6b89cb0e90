"""Formats of logs: a request and its answer, or a span of them: Anthropic's own shape, OpenTelemetry, OpenInference,
Langfuse, LiteLLM, Helicone, OpenPipe.

Bodies inside are read by the codec of their API.  Knows where each log puts request and answer; no API's fields.
Sources: OpenTelemetry GenAI semantic conventions; OpenInference spec; Langfuse, LiteLLM, Helicone, OpenPipe docs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...codecs import CODECS
from ...codecs.openai.chat_messages import write_message
from ...codecs.openai.chat_places import message_of
from ...codecs.shared.tools import write_function
from ...errors import DragomanError
from ...types import Message, Request
from ..row_json import BadRow, text
from .chat import chats, flagged, from_text, listed_tools, others, sorted_fields, tools_of
from .chat_row import Chat, ChatRow, a_list, call, paired, said, typed, typed_tools
from .spec import Demands, Format

# ── bodies of APIs ───────────────────────────────────────────────────────────


CONVERSE = frozenset({"text", "toolUse", "toolResult"})
"""Keys of Bedrock's blocks, which have no type."""
WRAPPED = ("body", "inputBodyJson", "outputBodyJson", "request", "response")
"""Under which keys a body stands inside of request and answer: in logs, and in Code Assist's envelopes."""


def api_of_request(body: Mapping[str, Any]) -> str:
    """The codec that reads this request."""
    if "contents" in body:
        return "gemini"
    if "messages" not in body:
        return "openai_responses" if "input" in body else "openai_chat"
    blocks = [p for m in _objects(body["messages"]) for p in _objects(m.get("content"))]
    if "toolConfig" in body or any("type" not in p and not CONVERSE.isdisjoint(p) for p in blocks):
        return "bedrock_converse"
    claude = any(p.get("type") in ("tool_use", "tool_result", "thinking") for p in blocks)
    schemas = any("input_schema" in tool for tool in _objects(body.get("tools")))
    return "anthropic_messages" if claude or schemas or "system" in body else "openai_chat"


def api_of_response(body: Mapping[str, Any]) -> str:
    """The codec that reads this answer."""
    if isinstance(body.get("output"), dict) and "message" in body["output"]:
        return "bedrock_converse"
    for key, api in (("choices", "openai_chat"), ("candidates", "gemini"), ("output", "openai_responses")):
        if key in body:
            return api
    return "anthropic_messages" if body.get("type") == "message" or isinstance(body.get("content"), list) else ""


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def as_chat(messages: Iterable[Message]) -> list[Chat]:
    """Messages in our own types in the words of the chat API."""
    return [one for message in messages for one in write_message(message)]


def read_request(body: dict[str, Any], path: str = "$") -> ChatRow:
    """A request of any API.  Raises `BadRow`."""
    api = api_of_request(body)
    if api == "openai_chat":
        return ChatRow(messages=paired(chats(body.get("messages", []), f"{path}.messages")), tools=tools_of(body))
    try:
        request = CODECS[api].decode_request(dict(body, model=body.get("model", "")))
    except DragomanError as why:
        raise BadRow("unreadable", f"as a request of {api}: {why}", path) from None
    tools = [write_function(tool) for tool in request.tools] if body.get("tools") else None
    return ChatRow(messages=as_chat(request.messages), tools=tools)


def read_answer(body: Any, path: str) -> list[Chat]:
    """What a model answered: a whole body of any API, a message, or text.  Raises `BadRow`."""
    value = _unwrapped(_unpacked(body, path))
    if value is None:
        return []
    if isinstance(value, str):
        return [said("assistant", value)]
    if _are_items(value):
        return read_request({"input": value}, path).messages
    if isinstance(value, list):
        return [one for part in value for one in read_answer(part, path)]
    if not isinstance(value, dict):
        raise BadRow("unreadable", "an answer must be a body, a message or a text", path)
    api = api_of_response(value)
    if api in ("", "openai_chat") and "choices" not in value:
        message = value.get("message", value)
        told = {"role": "assistant", **message} if isinstance(message, dict) else said("assistant", str(message))
        return chats([told], path) if {"content", "tool_calls"} & told.keys() else [said("assistant", text(value))]
    if api == "openai_chat":
        choices = _objects(value["choices"])
        return chats([{"role": "assistant", **message_of(choices[0])}], path) if choices else []
    try:
        return as_chat([CODECS[api].decode_response(value).message])
    except DragomanError as why:
        raise BadRow("unreadable", f"as an answer of {api}: {why}", path) from None


def _unpacked(value: Any, path: str) -> Any:
    """JSON inside a string, where it is an object or a list; else the value."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return from_text(value, path)
        except BadRow:
            return value
    return value


# ── Anthropic ────────────────────────────────────────────────────────────────


def _fits_anthropic(obj: Mapping[str, Any]) -> bool:
    return isinstance(obj.get("messages"), list) and api_of_request(obj) == "anthropic_messages"


def _read_anthropic(obj: dict[str, Any]) -> ChatRow:
    body: dict[str, Any] = {key: obj[key] for key in ("system", "messages", "tools") if obj.get(key) is not None}
    row = read_request(body)
    return sorted_fields(row, {k: v for k, v in obj.items() if k not in ("system", "messages", "tools")})


def _write_anthropic(row: ChatRow, demands: Demands) -> dict[str, Any]:
    tools = typed_tools(row.tools) or ()
    request = Request(model="m", messages=typed(row.messages, "$.messages"), tools=tools)
    body = CODECS["anthropic_messages"].encode_request(request)
    made: dict[str, Any] = {key: body[key] for key in ("system", "messages", "tools") if key in body}
    return {**made, **others(row)}


# ── request and answer ───────────────────────────────────────────────────────

PAIRS: tuple[tuple[str, str], ...] = (
    ("request_body", "response_body"), ("request", "response"), ("input", "output"), ("messages", "response"),
    ("req_payload", "resp_payload"), ("body", "response"),
)  # fmt: skip
"""Under which keys logs put the request and the answer."""


def _pair(obj: Mapping[str, Any]) -> tuple[str, str] | None:
    """The columns of the request and of the answer; an empty request asks nothing, so its question is elsewhere."""
    return next(((a, b) for a, b in PAIRS if obj.get(a) not in (None, "", [], {}) and obj.get(b) is not None), None)


def _fits_log(obj: Mapping[str, Any]) -> bool:
    pair = _pair(obj)
    if pair is None or "custom_id" in obj:
        return False
    answer = obj[pair[1]]
    return "messages" not in obj or (pair[0] == "messages" and not isinstance(answer, list))


def _read_log(obj: dict[str, Any]) -> ChatRow:
    pair = _pair(obj)
    if pair is None:
        raise BadRow("unreadable", "no request and answer stand in it", "$")
    asked, told = pair
    given = _unpacked(obj[asked], f"$.{asked}")
    body = _unwrapped(given)
    if isinstance(body, dict):
        row = read_request(body, f"$.{asked}")
    elif isinstance(body, list):
        row = read_request({"input" if _are_items(body) else "messages": body}, f"$.{asked}")
    else:
        row = ChatRow(messages=[said("user", str(body))])
    settings = obj.get("model_parameters")
    if row.tools is None:
        row.tools = tools_of(obj) or (tools_of(settings) if isinstance(settings, dict) else None)
    row.messages = paired([*row.messages, *read_answer(obj[told], f"$.{told}")])
    return sorted_fields(row, {k: v for k, v in obj.items() if k not in (asked, told, "tools")})


def _unwrapped(value: Any) -> Any:
    inner = [value[key] for key in WRAPPED if isinstance(value.get(key), dict)] if isinstance(value, dict) else []
    return inner[0] if inner else value


def _are_items(listed: Any) -> bool:
    """Are these the items of OpenAI's Responses API?"""
    return any(one.get("type") in ITEMS for one in _objects(listed))


ITEMS = frozenset({"function_call", "function_call_output", "message", "reasoning", "custom_tool_call"})

# ── a request, or an answer, alone ──────────────────────────────────────────────────────────

REQUEST_KEYS = frozenset(
    {"messages", "contents", "input", "tools", "system", "systemInstruction", "system_instruction", "instructions"}
    | {"toolConfig"}
)
"""What of a request the codec of its API reads."""
ANSWER_KEYS = frozenset({"choices", "content", "role", "type", "tools"})
"""And of an answer."""


def _fits_body(obj: Mapping[str, Any]) -> bool:
    if _is_answer(obj) or isinstance(obj.get("contents"), list) or ("messages" not in obj and _are_items(obj.get("input"))):
        return True
    return isinstance(obj.get("messages"), list) and api_of_request(obj) == "bedrock_converse"


def _is_answer(obj: Mapping[str, Any]) -> bool:
    """Is it what OpenAI or Anthropic answers, told by the name that either gives it?"""
    named = (obj.get("object") == "chat.completion" and "choices" in obj) or obj.get("type") == "message"
    return named and "messages" not in obj


def _read_body(obj: dict[str, Any]) -> ChatRow:
    if _is_answer(obj):
        row = ChatRow(messages=paired(read_answer(obj, "$")), tools=tools_of(obj))
        return sorted_fields(row, {key: value for key, value in obj.items() if key not in ANSWER_KEYS})
    row = read_request({key: value for key, value in obj.items() if key in REQUEST_KEYS and value is not None})
    row.messages = paired(row.messages)
    return sorted_fields(row, {key: value for key, value in obj.items() if key not in REQUEST_KEYS})


# ── spans ────────────────────────────────────────────────────────────────────


def _attributes(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes of a span: an object, OTLP's list of keys and values, or the row itself."""
    given = obj.get("attributes", obj)
    if isinstance(given, list):
        return {str(one.get("key")): _otlp(one.get("value")) for one in _objects(given)}
    return given if isinstance(given, dict) else {}


def _otlp(value: Any) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        kind, inner = next(iter(value.items()))
        if kind == "arrayValue":
            return [_otlp(one) for one in inner.get("values", [])]
        if kind == "kvlistValue":
            return {one["key"]: _otlp(one.get("value")) for one in inner.get("values", [])}
        return int(inner) if kind == "intValue" else inner
    return value


def _fits_otel(obj: Mapping[str, Any]) -> bool:
    found = _attributes(obj)
    return any(key in found for key in ("gen_ai.input.messages", "gen_ai.output.messages"))


def _read_otel(obj: dict[str, Any]) -> ChatRow:
    found = _attributes(obj)
    made: list[Chat] = []
    system = _unpacked(found.get("gen_ai.system_instructions"), "$")
    if system:
        made.append(said("system", "".join(str(p.get("content", "")) for p in _objects(system)) or str(system)))
    for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
        listed = _unpacked(found.get(key), f"$.{key}")
        for i, one in enumerate(a_list(listed, f"$.{key}") if listed is not None else []):
            made += _from_parts(one, f"$.{key}[{i}]")
    tools = found.get("gen_ai.tool.definitions")
    row = ChatRow(messages=paired(made), tools=None if tools is None else listed_tools(tools, "$.tools"))
    finish = [m.get("finish_reason") for m in _objects(_unpacked(found.get("gen_ai.output.messages"), "$"))]
    if finish and finish[0]:
        row.labels["finish_reason"] = finish[0]
    row.metadata |= {"model": found["gen_ai.response.model"]} if "gen_ai.response.model" in found else {}
    return sorted_fields(row, {"span": obj})


def _from_parts(message: Any, path: str) -> list[Chat]:
    """A message of parts: texts, reasoning, calls, and each result as a message of its own."""
    if not isinstance(message, dict) or not isinstance(message.get("parts"), list):
        return chats([message], path)
    made: Chat = {"role": message.get("role", "user"), "content": None}
    results: list[Chat] = []
    for part in _objects(message["parts"]):
        kind, content = part.get("type"), part.get("content", part.get("text", ""))
        if kind == "text":
            made["content"] = (made["content"] or "") + str(content)
        elif kind == "reasoning":
            made["reasoning_content"] = made.get("reasoning_content", "") + str(content)
        elif kind == "tool_call":
            made.setdefault("tool_calls", []).append(call(part.get("name"), part.get("arguments"), str(part.get("id") or "")))
        elif kind == "tool_call_response":
            given = part.get("response", part.get("result", content))
            more = {"tool_call_id": part["id"]} if part.get("id") else {}
            results.append(said("tool", given if isinstance(given, str) else text(given), **more))
    spoken = made.get("content") is not None or "tool_calls" in made or "reasoning_content" in made or not results
    return [*results, *([made] if spoken and made["role"] != "tool" else [])]


_STEP = re.compile(r"\.")


def _fits_openinference(obj: Mapping[str, Any]) -> bool:
    return any(key.startswith(("llm.input_messages.", "llm.output_messages.")) for key in _attributes(obj)) or (
        isinstance(_attributes(obj).get("llm.input_messages"), list)
    )


def _read_openinference(obj: dict[str, Any]) -> ChatRow:
    tree = unflattened({k: v for k, v in _attributes(obj).items() if k.startswith("llm.")}).get("llm", {})
    made = [
        _from_openinference(one) for key in ("input_messages", "output_messages") for one in _objects(tree.get(key))
    ]
    tools = [one.get("tool", one).get("json_schema") for one in _objects(tree.get("tools"))]
    row = ChatRow(messages=paired(made), tools=listed_tools(tools, "$.tools") if tools else None)
    row.metadata |= {"model": tree["model_name"]} if "model_name" in tree else {}
    return sorted_fields(row, {"span": obj})


def _from_openinference(one: Mapping[str, Any]) -> Chat:
    given = one.get("message", one)
    made: Chat = flagged({k: v for k, v in given.items() if k not in ("tool_calls", "contents")})
    made.setdefault("content", "".join(str(c.get("message_content", c).get("text", "")) for c in _objects(given.get("contents"))) or None)
    calls = [one.get("tool_call", one) for one in _objects(given.get("tool_calls"))]
    if calls:
        made["tool_calls"] = [
            call(c.get("function", {}).get("name"), c.get("function", {}).get("arguments"), str(c.get("id") or ""))
            for c in calls
        ]
    return made


def unflattened(flat: Mapping[str, Any]) -> dict[str, Any]:
    """`{"a.0.b": 1}` → `{"a": [{"b": 1}]}`: keys of numbers make lists, in the order of the numbers."""
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *steps, last = key.split(".")
        node = tree
        for step in steps:
            inner = node.setdefault(step, {})
            node = inner if isinstance(inner, dict) else node
        node[last] = value
    made = _listed(tree)
    return made if isinstance(made, dict) else {}


def _listed(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(key.isdecimal() for key in node):
        return [_listed(node[key]) for key in sorted(node, key=int)]
    return {key: _listed(value) for key, value in node.items()}


_PART = '"parts":[{"type":"%s"%s}]'
ANTHROPIC = Format(
    name="anthropic", fits=_fits_anthropic, read=_read_anthropic, write=_write_anthropic,
    demands=Demands(arguments="object", turns="alternate"),
    sample='{"system":"s","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"7"}]},{"role":"assistant","content":"Seven."}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"integer"}}}}]}',
    source="https://docs.claude.com/en/api/messages",
)  # fmt: skip
BODY = Format(
    name="body", fits=_fits_body, read=_read_body, demands=Demands(arguments="object"),
    sample='{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":7}}}]},{"role":"model","parts":[{"text":"Seven."}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"a":{"type":"INTEGER"}}}}]}]}',
    source="https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/tuning",
)  # fmt: skip
OTEL = Format(
    name="otel", fits=_fits_otel, read=_read_otel,
    sample='{"attributes":{"gen_ai.input.messages":[{"role":"user",' + _PART % ("text", ',"content":"hi"') + '}],"gen_ai.output.messages":[{"role":"assistant",' + _PART % ("tool_call", ',"id":"c1","name":"f","arguments":{"a":1}') + ',"finish_reason":"tool_call"}],"gen_ai.tool.definitions":[{"type":"function","name":"f","parameters":{"type":"object","properties":{"a":{"type":"integer"}}}}]}}',
    source="https://opentelemetry.io/docs/specs/semconv/gen-ai/",
)  # fmt: skip
OPENINFERENCE = Format(
    name="openinference", fits=_fits_openinference, read=_read_openinference,
    sample='{"attributes":{"llm.model_name":"m","llm.input_messages.0.message.role":"user","llm.input_messages.0.message.content":"hi","llm.output_messages.0.message.role":"assistant","llm.output_messages.0.message.tool_calls.0.tool_call.id":"c1","llm.output_messages.0.message.tool_calls.0.tool_call.function.name":"f","llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments":"{\\"a\\":1}","llm.tools.0.tool.json_schema":"{\\"name\\":\\"f\\",\\"parameters\\":{\\"type\\":\\"object\\",\\"properties\\":{\\"a\\":{\\"type\\":\\"integer\\"}}}}"}}',
    source="https://arize-ai.github.io/openinference/spec/semantic_conventions.html",
)  # fmt: skip
LOG = Format(
    name="log", fits=_fits_log, read=_read_log,
    sample='{"id":"l1","input":{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]},"output":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},"tags":{}}',
    source="https://docs.litellm.ai/docs/proxy/logging_spec",
)  # fmt: skip
