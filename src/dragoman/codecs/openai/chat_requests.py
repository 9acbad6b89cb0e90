"""Requests of OpenAI Chat Completions, read and written.

Knows the request side of `POST /chat/completions` as OpenAI documents it and as compatible peers really use it;
messages are in `chat_messages.py`, answers in `chat.py`.
Sources: OpenAI API reference; recorded requests of 20 providers (wire-quirks.md).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ...memo import TOOLS, memoize
from ...types import NOTHING, JsonObject, OutputSchema, Request, Sampling, Tool, ToolChoice
from ..shared.body import (
    a_word,
    an_object,
    filled,
    items,
    mapping,
    name_at,
    object_at,
    plain,
    present,
    string,
    string_at,
    switch_at,
    whole_at,
)
from ..shared.options import read_options, write_options
from ..shared.requests import nearest_choice, with_quirks
from ..shared.spec import LEGACY, PLAIN, TYPED, Quirks, TurnWriter, WireFields, extra_for, own, wire_fields
from ..shared.tools import Found, list_functions, read_once, write_function, write_tools
from ..shared.written import EachWriter, write_each
from ..typed.schemas import FREE_TEXT, free_text
from ..typed.table import apart
from .chat_messages import NAME, PlainForms, read_messages, write_message

_OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "top_k": "top_k",
    "seed": "seed",
    "stop": "stop",
    "effort": "reasoning_effort",
}
_LIMITS = ("max_tokens", "max_completion_tokens")
_NO_LIMIT = (None, -1)  # -1: llama.cpp, LM Studio and what is written for them
_CALLING = ("tools", "functions", "tool_choice", "function_call", "parallel_tool_calls")
_OTHERS = ("model", "messages", "response_format", "stream")
_MODELLED = frozenset({*_OPTIONS.values(), *_LIMITS, *_CALLING, *_OTHERS})
_SCHEMA_NAME = "response"
"""The API demands a name for an output schema; this one says that nobody gave it one."""
_MODES = {"auto": "auto", "none": "none", "required": "required", "any": "required"}  # any: Mistral (recorded)
_THINKING = frozenset({"reasoning", "thinking", "enable_thinking", "thinking_budget"})
"""Fields by which peers are told to think: OpenRouter; DeepSeek, Z.ai, Moonshot, LiteLLM; Qwen."""
_SWITCHED: dict[Any, bool] = {"enabled": True, "adaptive": True, "disabled": False, True: True, False: False}
_DECIDES = -1
_USAGE_WANTED = {"include_usage": True}

# ── reading ──────────────────────────────────────────────────────────────────


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes.  Raises `CodecError` with the path of what is not this API."""
    body = an_object(body, "$")
    extra = present(body, _MODELLED)
    tools, foreign = _read_tools(body)
    if foreign is not None:
        extra["tools"] = foreign
    stream = switch_at(body, "stream") or False
    if stream and body.get("stream_options") is None:
        extra["stream_options"] = None  # "no usage, please": ours asks for it otherwise
    elif stream and body["stream_options"] == _USAGE_WANTED:
        del extra["stream_options"]
    if body.get("max_completion_tokens") is not None:
        extra["max_completion_tokens"] = body["max_completion_tokens"]
    choice = _read_choice(body, extra)
    output = _read_output(body, extra)
    return Request(
        model=string_at(body, "model"),
        messages=read_messages(body),
        tools=tools,
        tool_choice=choice,
        parallel=_read_parallel(body, tools),
        sampling=_read_sampling(body),
        output_schema=output,
        stream=stream,
        extra=WireFields(NAME, extra) if extra else NOTHING,
    )


@read_once("tools", "functions")
def _read_tools(body: JsonObject) -> Found:
    """The functions of `body`, and its custom tools."""
    tools, foreign = list_functions(body, _read_custom)
    return apart(tools), foreign


def _read_custom(one: JsonObject, path: str) -> Tool | None:
    """A free-form tool, if it is one: elsewhere a function of one text, with its grammar in its description."""
    if one.get("type") != "custom":
        return None
    custom = an_object(one.get("custom"), f"{path}.custom")
    grammar = mapping(mapping(custom.get("format")).get("grammar"))
    return Tool(
        name=name_at(custom, "name", f"{path}.custom"),
        description=free_text(string_at(custom, "description", f"{path}.custom"), grammar),
        parameters=FREE_TEXT,
        metadata=wire_fields(NAME, {TYPED: one}),
    )


def customs(request: Request | None) -> Collection[str]:
    """The names of the tools in `request` that take free text."""
    return _customs(request.tools) if request is not None else frozenset()


@memoize(TOOLS)
def _customs(tools: Sequence[Tool]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools if TYPED in own(NAME, tool.metadata))


def _read_parallel(body: JsonObject, tools: Sequence[Tool]) -> bool | None:
    """May several calls come at once?  The deprecated form has room for one."""
    given = switch_at(body, "parallel_tool_calls")
    return False if given is None and _deprecated(tools) else given


def deprecated(request: Request | None) -> Collection[str]:
    """The names of the tools that were declared as `functions`: whoever did that reads `function_call` alone."""
    return _deprecated(request.tools) if request is not None else frozenset()


@memoize(TOOLS)
def _deprecated(tools: Sequence[Tool]) -> Collection[str]:
    return frozenset(tool.name for tool in tools if LEGACY in own(NAME, tool.metadata))


def wants_usage(request: Request | None) -> bool:
    """Did the client ask for usage in its stream?  A client of another API always gets what it can use."""
    options = extra_for(NAME, request.extra).get("stream_options", _USAGE_WANTED) if request else _USAGE_WANTED
    return bool(mapping(options).get("include_usage"))


def _read_sampling(body: JsonObject) -> Sampling:
    limits = [whole_at(body, key) for key in reversed(_LIMITS) if key in body]  # the modern name counts
    limit = next(iter([limit for limit in limits if limit not in _NO_LIMIT]), None)
    options = read_options(body, _OPTIONS)
    options = options if limit is None else replace(options, max_tokens=limit)
    said = _read_thinking(body) if options.effort is None and not _THINKING.isdisjoint(body) else {}
    return replace(options, **said) if said else options


def _read_thinking(body: JsonObject) -> dict[str, Any]:
    """What peers' own fields say of thinking, for a wire that has other words; on this one they go out as they came."""
    router, switch = mapping(body.get("reasoning")), body.get("thinking", body.get("enable_thinking"))
    if effort := string(router.get("effort")):
        return {"effort": effort}
    given = mapping(switch)
    budgets = (router.get("max_tokens"), given.get("budget_tokens"), body.get("thinking_budget"))
    if budget := next((one for one in budgets if type(one) is int and one > 0), None):
        return {"thinking_budget": budget}
    kinds = (given.get("type"), switch, router.get("enabled"))
    on = next((_SWITCHED[one] for one in kinds if isinstance(one, str | bool) and one in _SWITCHED), None)
    return {} if on is None else {"thinking_budget": _DECIDES} if on else {"effort": "none"}


def _read_output(body: JsonObject, extra: dict[str, Any]) -> OutputSchema | None:
    wanted = object_at(body, "response_format")
    kind = wanted and wanted.get("type")
    if not wanted or kind not in ("json_object", "json_schema"):
        if wanted:
            extra["response_format"] = wanted
        return None
    if kind == "json_object":
        return OutputSchema()
    path = "$.response_format.json_schema"
    schema = an_object(wanted.get("json_schema"), path)
    name = string_at(schema, "name", path)
    return OutputSchema(
        schema=object_at(schema, "schema", path) or {},
        name="" if name == _SCHEMA_NAME else name,
        strict=switch_at(schema, "strict", path) or False,
        description=string_at(schema, "description", path),
    )


def _read_choice(body: JsonObject, extra: dict[str, Any]) -> ToolChoice | None:
    wanted = body.get("tool_choice", body.get("function_call"))
    if wanted is None or wanted == "":
        return None
    if isinstance(wanted, str):
        path = "$.tool_choice" if "tool_choice" in body else "$.function_call"
        return ToolChoice(_MODES[a_word(wanted.lower(), _MODES, path)])  # type: ignore[arg-type]
    choice = an_object(wanted, "$.tool_choice")
    name = string(mapping(choice.get("function")).get("name")) or string(choice.get("name"))
    if name and choice.get("type") in (None, "function", "tool"):  # tool: seen at Databricks
        return ToolChoice("named", name)
    extra["tool_choice"] = wanted  # allowed_tools, custom: only this API has them; {type: auto}: clients of others
    custom = string(mapping(choice.get("custom")).get("name"))
    return ToolChoice("named", custom) if custom else _read_allowed(choice)


def _read_allowed(choice: JsonObject) -> ToolChoice:
    among = mapping(choice.get("allowed_tools"))
    word = string(among.get("mode")) or string(choice.get("type"))
    functions = [mapping(mapping(one).get("function")) for one in items(among.get("tools"))]
    allowed = tuple(filter(None, (string(function.get("name")) for function in functions)))
    return ToolChoice(_MODES.get(word, "required"), allowed=allowed)  # type: ignore[arg-type]


# ── writing ──────────────────────────────────────────────────────────────────


def write_tool(tool: Tool) -> dict[str, Any]:
    """The definition of a tool."""
    definition = own(NAME, tool.metadata).get(TYPED)
    return write_function(tool) if definition is None else dict(definition)


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`."""
    extra = dict(extra_for(NAME, request.extra))
    body = filled(model=request.model)
    body["messages"] = write_each(request.messages, write_message, quirks, forms=PlainForms)
    choice = nearest_choice(request.tool_choice, quirks)
    body |= filled(
        tools=write_tools(request.tools, write_tool, extra.pop("tools", None)),
        tool_choice=_write_choice(choice, quirks) if choice is not None else None,
    )
    if request.parallel is not None:
        body["parallel_tool_calls"] = request.parallel
    body |= _write_sampling(request.sampling, extra, quirks)
    body |= filled(response_format=_write_output(request.output_schema), stream=request.stream)
    if request.stream:
        body |= present({"stream_options": extra.get("stream_options", _USAGE_WANTED)})
    return with_quirks(body, extra, quirks)


def turn_writer(request: Request, quirks: Quirks) -> TurnWriter:
    """What writes the messages of a body."""
    return EachWriter("messages", PlainForms(quirks))


def _write_sampling(sampling: Sampling, extra: dict[str, Any], quirks: Quirks) -> dict[str, Any]:
    spelling = "max_completion_tokens" if extra.pop("max_completion_tokens", None) is not None else "max_tokens"
    body = write_options(sampling, {"max_tokens": spelling, **_OPTIONS})
    if sampling.effort and any(extra.get(key) is not None for key in _THINKING):
        del body["reasoning_effort"]  # the peer's own field says it
    elif sampling.effort == "none" and quirks.thinking_off:
        del body["reasoning_effort"]
        body |= quirks.thinking_off
    return body


def _write_choice(choice: ToolChoice, quirks: Quirks) -> Any:
    if choice.mode == "named":
        return {"type": "function", "function": {"name": choice.name}}
    return quirks.required_word if choice.mode == "required" else choice.mode


def _write_output(output: OutputSchema | None) -> dict[str, Any]:
    if output is None:
        return {}
    if output.schema is None:
        return {"type": "json_object"}
    schema = {"name": output.name or _SCHEMA_NAME, "schema": plain(output.schema)}
    schema |= filled(description=output.description, strict=output.strict)
    return {"type": "json_schema", "json_schema": schema}
