"""Requests of Cohere's Chat v2, read and written.

Knows the request side of `POST /v2/chat`: tools and results look like OpenAI's, what the model plans before it calls
stands in `tool_plan`.  Answers are in `chat.py`.
Sources: Cohere API reference (v2) and cohere 7.3 V2Client.chat (`thinking`, `strict_tools`); wire-quirks.md ("Cohere
v2"); recorded requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...types import (
    JsonObject,
    Media,
    Message,
    Opaque,
    OutputSchema,
    Part,
    Reasoning,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ..shared.arguments import arguments_text, as_text
from ..shared.body import (
    an_array,
    an_object,
    filled,
    mapping,
    name_at,
    object_at,
    objects,
    plain,
    present,
    rest,
    string,
    string_at,
    switch_at,
    whole_at,
)
from ..shared.media import data_url, from_url, media_kind, note, one_text
from ..shared.options import read_options, write_options
from ..shared.requests import nearest_choice, past_call, results_merged, with_quirks
from ..shared.results import Pairing, attached, marked, results_first, texts_only, tool_result
from ..shared.spec import PLAIN, Quirks, WireFields, extra_for, own, wire_fields
from ..shared.tools import interleaved, read_functions, write_function

NAME = "cohere_chat"

_OPTIONS = {
    "temperature": "temperature",
    "top_p": "p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "max_tokens": "max_tokens",
    "top_k": "k",
    "seed": "seed",
    "stop": "stop_sequences",
}
_OTHERS = ("model", "messages", "tools", "tool_choice", "response_format", "stream", "strict_tools", "thinking")
_MODELLED = frozenset({*_OPTIONS.values(), *_OTHERS})
_MODES = {"REQUIRED": "required", "NONE": "none"}
_MODE_WORDS = {"required": "REQUIRED", "none": "NONE", "named": "REQUIRED"}
_MESSAGE = frozenset({"role", "content", "tool_calls", "tool_plan"})
PLAN: JsonObject = {"field": "tool_plan"}
"""Marks reasoning that stood in `tool_plan`."""

# ── reading ──────────────────────────────────────────────────────────────────


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes.  Raises `CodecError` with the path of what is not this API."""
    body = an_object(body, "$")
    extra = present(body, _MODELLED)
    tools, foreign = read_functions(body)
    if switch_at(body, "strict_tools"):
        tools = tuple(replace(tool, strict=True) for tool in tools)
    extra["tools"] = foreign
    mode = _MODES.get(string_at(body, "tool_choice").upper())
    return Request(
        model=string_at(body, "model"),
        messages=_read_messages(body),
        tools=tools,
        tool_choice=ToolChoice(mode) if mode else None,  # type: ignore[arg-type]
        sampling=replace(read_options(body, _OPTIONS), thinking_budget=_read_thinking(body, extra)),
        output_schema=_read_output(body, extra),
        stream=switch_at(body, "stream") or False,
        extra=wire_fields(NAME, extra),
    )


def _read_thinking(body: JsonObject, extra: dict[str, Any]) -> int | None:
    """The budget of thoughts: 0 for none, -1 for as many as it sees fit."""
    thinking = object_at(body, "thinking")
    if thinking is None:
        return None
    if thinking.get("type") not in ("enabled", "disabled") or rest(thinking, frozenset({"type", "token_budget"})):
        extra["thinking"] = thinking
        return None
    tokens = whole_at(thinking, "token_budget", "$.thinking")
    return 0 if thinking["type"] == "disabled" else -1 if tokens is None else tokens


def _write_thinking(budget: int | None) -> dict[str, Any]:
    match budget:
        case None:
            return {}
        case 0:
            return {"type": "disabled"}
    return {"type": "enabled", **filled(token_budget=budget if budget > 0 else None)}


def _read_output(body: JsonObject, extra: dict[str, Any]) -> OutputSchema | None:
    form = object_at(body, "response_format")
    if form is None:
        return None
    if form.get("type") != "json_object":
        extra["response_format"] = form
        return None
    schema = form.get("json_schema", form.get("schema"))
    return OutputSchema(schema=None if schema is None else an_object(schema, "$.response_format.json_schema"))


def _read_messages(body: JsonObject) -> tuple[Message, ...]:
    an_array(body.get("messages"), "$.messages")
    pairing = Pairing()
    return results_merged(_read_message(one, path, pairing) for path, one in objects(body, "messages"))


def _read_message(one: JsonObject, path: str, pairing: Pairing) -> Message:
    role = name_at(one, "role", path)
    left = wire_fields(NAME, rest(one, _MESSAGE))
    if role == "tool":
        return Message("tool", (_read_result(one, path, pairing),))
    parts = _read_content(one, path)
    if role != "assistant":
        return Message("system" if role in ("system", "developer") else "user", parts, metadata=left)
    plan = string_at(one, "tool_plan", path)
    planned = [Reasoning(plan, metadata=WireFields(NAME, PLAN))] if plan else []
    calls = [_read_call(call, where, pairing) for where, call in objects(one, "tool_calls", path)]
    pairing.begin_turn(calls)
    if calls or planned:
        parts = [part for part in parts if part != Text("")]
    return Message("assistant", (*planned, *parts, *calls), metadata=left)


def _read_content(one: JsonObject, path: str) -> list[Part]:
    content = one.get("content")
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content)]
    return [_read_part(part) for _, part in objects(one, "content", path)]


def _read_part(part: JsonObject) -> Part:
    match part.get("type"):
        case "text":
            return Text(string(part.get("text")), metadata=wire_fields(NAME, rest(part, frozenset({"type", "text"}))))
        case "thinking":
            return Reasoning(string(part.get("thinking")))
        case "image_url" if string(mapping(part.get("image_url")).get("url")):
            source = mapping(part["image_url"])
            return from_url(source["url"], metadata=wire_fields(NAME, rest(source, frozenset({"url"}))))
    return Opaque(api=NAME, block=part)


def _read_call(one: JsonObject, path: str, pairing: Pairing) -> ToolCall:
    function = an_object(one.get("function"), f"{path}.function")
    call_id = string_at(one, "id", path) or pairing.mint()
    left = wire_fields(NAME, rest(one, frozenset({"id", "type", "function"})))
    return past_call(call_id, name_at(function, "name", f"{path}.function"), function.get("arguments"), left)


def _read_result(one: JsonObject, path: str, pairing: Pairing) -> ToolResult:
    parts = _read_content(one, path)
    shown = [Text(_document(part)) if isinstance(part, Opaque) else part for part in parts]
    call_id = string_at(one, "tool_call_id", path)
    left = rest(one, frozenset({"role", "content", "tool_call_id"}))
    left |= {"content": one["content"]} if any(isinstance(part, Opaque) for part in parts) else {}
    carriable = [part for part in shown if isinstance(part, Text | Media)]
    return tool_result(call_id, pairing.name(call_id), carriable, wire_fields(NAME, left))


def _document(part: Opaque) -> str:
    """What a document in a result says, for other wires."""
    data = mapping(part.block.get("document")).get("data")
    return data if isinstance(data, str) else as_text(data if data is not None else dict(part.block))


# ── writing ──────────────────────────────────────────────────────────────────


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`.  The API cannot name the tool to call: it is the only one then offered."""
    extra = dict(extra_for(NAME, request.extra))
    choice = nearest_choice(request.tool_choice, quirks)
    named = [tool for tool in request.tools if choice and choice.mode == "named" and tool.name == choice.name]
    body = filled(model=request.model)
    body["messages"] = [wire for message in request.messages for wire in _write_message(message)]
    offered = named or list(request.tools)
    body |= filled(
        tools=interleaved(map(_write_tool, offered), extra.pop("tools", None)),
        strict_tools=_is_strict(offered) or None,
        tool_choice=_MODE_WORDS.get(choice.mode) if choice else None,
    )
    body |= write_options(request.sampling, _OPTIONS)
    body |= filled(thinking=_write_thinking(request.sampling.thinking_budget))
    body |= filled(response_format=_write_output(request.output_schema))
    body["stream"] = request.stream
    return with_quirks(body, extra, quirks)


def _write_tool(tool: Tool) -> dict[str, Any]:
    """A definition; being strict is said of all at once."""
    return write_function(replace(tool, strict=False) if tool.strict else tool)


def _is_strict(tools: Sequence[Tool]) -> bool:
    """Are calls of all `tools` to be held to their schemas?  Then each must demand something (docs.cohere.com,
    "Structured Outputs (Tools)": at least one required parameter)."""
    return bool(tools) and all(tool.strict and tool.parameters.get("required") for tool in tools)


def _write_output(output: OutputSchema | None) -> dict[str, Any]:
    if output is None:
        return {}
    fitting = {} if output.schema is None else {"json_schema": plain(output.schema)}
    return {"type": "json_object", **fitting}


def _write_message(message: Message) -> list[dict[str, Any]]:
    results, other = results_first(message)
    wires = [write_result(result) for result in results]
    if media := attached(results):
        wires.append({"role": "user", "content": _write_content(media)})
    if other is None:
        return wires
    if other.role == "assistant":
        return [*wires, {**write_answer(other.parts), **own(NAME, other.metadata)}]
    return [*wires, {"role": other.role, "content": _write_content(other.parts), **own(NAME, other.metadata)}]


def write_answer(parts: Iterable[Part]) -> dict[str, Any]:
    """An assistant's message: its plan, its thoughts and text, its calls."""
    plans: list[Part] = []
    shown: list[Part] = []
    calls: list[ToolCall] = []
    for part in parts:
        if isinstance(part, ToolCall):
            calls.append(part)
        else:
            (plans if isinstance(part, Reasoning) and own(NAME, part.metadata) == PLAN else shown).append(part)
    wire: dict[str, Any] = {"role": "assistant"}
    if plans:
        wire["tool_plan"] = "".join(plan.text for plan in plans if isinstance(plan, Reasoning))
    if shown:
        wire["content"] = _write_content(shown)
    return wire | filled(tool_calls=[write_call(call) for call in calls])


def write_call(call: ToolCall) -> dict[str, Any]:
    """A call in an assistant's message."""
    function = {"name": call.name, "arguments": arguments_text(call)}
    return {"id": call.id, "type": "function", "function": function, **own(NAME, call.metadata)}


def write_result(result: ToolResult) -> dict[str, Any]:
    """The message that answers a call: text alone, a failure is marked in it.  Media follow in a user turn."""
    content = _write_content(texts_only(marked(result)))
    return {"role": "tool", "tool_call_id": result.call_id, "content": content, **own(NAME, result.metadata)}


def _write_content(parts: Iterable[Part]) -> Any:
    listed = list(parts)
    only = one_text(listed, NAME) if listed else ""
    return only if only is not None else [wire for part in listed for wire in _write_part(part)]


def _write_part(part: Part) -> list[dict[str, Any]]:
    match part:
        case Text(text):
            return [{"type": "text", "text": text, **own(NAME, part.metadata)}]
        case Reasoning(text):
            return [{"type": "thinking", "thinking": text}]
        case Media():
            if media_kind(part) != "image":
                return [{"type": "text", "text": note(part)}]
            return [{"type": "image_url", "image_url": {"url": data_url(part), **own(NAME, part.metadata)}}]
        case Opaque():
            return [dict(part.block)] if part.api == NAME else []
    return []
