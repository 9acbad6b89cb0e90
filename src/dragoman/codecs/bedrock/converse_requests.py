"""Requests of Bedrock's Converse, read and written.

Knows the request side of `POST /model/{model}/converse`; the model and the streaming stand in the path.  A block is an
object with one key that says its kind; cache points are blocks of their own.  Answers are in `converse.py`.
Sources: Amazon Bedrock API reference (Converse); wire-quirks.md ("Bedrock"); recorded requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...jsontext import dumps
from ...types import (
    EMPTY_OBJECT_SCHEMA,
    JsonObject,
    Media,
    Message,
    Opaque,
    OutputSchema,
    Part,
    Reasoning,
    Request,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from ..shared import strict
from ..shared.arguments import as_text
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
)
from ..shared.claude_blocks import may_go_back, write_blocks
from ..shared.media import media_kind, note
from ..shared.options import read_options, write_options
from ..shared.requests import nearest_choice, past_call, split_system, with_quirks
from ..shared.results import Pairing, marked, results_apart, tool_result
from ..shared.spec import PLAIN, Quirks, extra_for, own, wire_fields
from ..shared.tools import Found, definition, interleaved, read_once, read_tool, read_tools

NAME = "bedrock_converse"

_MODELLED = frozenset({"messages", "system", "inferenceConfig", "toolConfig", "outputConfig", "modelId"})
_OPTIONS = {"max_tokens": "maxTokens", "temperature": "temperature", "top_p": "topP", "stop": "stopSequences"}
_CONFIG = frozenset(_OPTIONS.values())
_FIELDS = "additionalModelRequestFields"
_POINT: JsonObject = {"cachePoint": {"type": "default"}}
_MODE_WORDS = {"auto": "auto", "required": "any"}
_CALL = frozenset({"toolUseId", "name", "input", "type"})
_RESULT = frozenset({"toolUseId", "content", "status"})
_SERVER = "server_tool_use"
_MEDIA = ("image", "document", "video", "audio")
_FORMATS: Mapping[str, str] = {
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "mp4": "video/mp4",
    "webm": "video/webm",
    "mov": "video/quicktime",
    "mkv": "video/x-matroska",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
}
_FORMAT_OF = {mime: word for word, mime in _FORMATS.items() if word != "jpg"}
_OWNER = "bucketOwner"

# ── reading ──────────────────────────────────────────────────────────────────


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes; streaming stands in the path.  Raises `CodecError` with the path of what is wrong."""
    body = an_object(body, "$")
    extra = present(body, _MODELLED)
    config = object_at(body, "inferenceConfig") or {}
    left = present(config, _CONFIG)
    if left:
        extra["inferenceConfig"] = left
    calling = object_at(body, "toolConfig") or {}
    tools, foreign = _read_tools(calling)
    extra["tools"] = foreign
    output = _read_output(body, extra)
    return Request(
        model=string_at(body, "modelId"),
        messages=(*_read_system(body), *_read_messages(body)),
        tools=tools,
        tool_choice=_read_choice(calling),
        sampling=replace(read_options(config, _OPTIONS, "$.inferenceConfig"), **_read_thinking(body)),
        output_schema=output,
        extra=wire_fields(NAME, extra),
    )


def _read_thinking(body: JsonObject) -> dict[str, Any]:
    """What a model's own fields say of thinking, and of the sampling Converse has no words for; they go out as they
    came."""
    given = mapping(body.get(_FIELDS))
    thinking, nova = mapping(given.get("thinking")), mapping(given.get("reasoningConfig"))
    budget = {"adaptive": -1, "disabled": 0, "enabled": thinking.get("budget_tokens")}.get(string(thinking.get("type")))
    claude = mapping(given.get("output_config"))
    words = (claude.get("effort"), given.get("reasoning_effort"), nova.get("maxReasoningEffort"))
    effort = next((word for word in words if isinstance(word, str)), "none" if nova.get("type") == "disabled" else None)
    top_k = given.get("top_k", mapping(given.get("inferenceConfig")).get("topK"))
    found = {"thinking_budget": budget, "top_k": top_k}
    return {"effort": effort, **{name: value if type(value) is int else None for name, value in found.items()}}


def _read_output(body: JsonObject, extra: dict[str, Any]) -> OutputSchema | None:
    config = object_at(body, "outputConfig")
    form = mapping(mapping(config).get("textFormat"))
    wanted = mapping(mapping(form.get("structure")).get("jsonSchema"))
    try:
        schema = strict.loads(string(wanted.get("schema")))
    except ValueError:
        schema = None
    if not isinstance(schema, Mapping):
        extra |= {"outputConfig": config} if config else {}
        return None
    return OutputSchema(schema=schema, name=string(wanted.get("name")), description=string(wanted.get("description")))


def _read_choice(calling: JsonObject) -> ToolChoice | None:
    choice = object_at(calling, "toolChoice", "$.toolConfig")
    if not choice:
        return None
    if (named := object_at(choice, "tool", "$.toolConfig.toolChoice")) is not None:
        return ToolChoice("named", name_at(named, "name", "$.toolConfig.toolChoice.tool"))
    return ToolChoice("required" if "any" in choice else "auto")


@read_once("tools")
def _read_tools(calling: JsonObject) -> Found:
    return read_tools(objects(calling, "tools", "$.toolConfig"), _read_tool)


def _read_tool(one: JsonObject, path: str) -> Tool | None:
    given = object_at(one, "toolSpec", path)
    if given is None:
        return None  # a cache point, or a tool of the server
    schema = object_at(object_at(given, "inputSchema", path) or {}, "json", f"{path}.inputSchema")
    left = rest(given, ("name", "description", "inputSchema", "strict"))
    return read_tool(given, path, schema, wire_fields(NAME, left))


def _read_system(body: JsonObject) -> list[Message]:
    parts, cached = _read_blocks(body, "system", "$", Pairing())
    return [Message("system", parts, cache=cached)] if parts else []


def _read_messages(body: JsonObject) -> list[Message]:
    an_array(body.get("messages", []), "$.messages")
    pairing = Pairing()
    return [message for path, one in objects(body, "messages") for message in _read_message(one, path, pairing)]


def _read_message(one: JsonObject, path: str, pairing: Pairing) -> list[Message]:
    role = name_at(one, "role", path)
    parts, cached = _read_blocks(one, "content", path, pairing)
    if role == "assistant":
        pairing.begin_turn([part for part in parts if isinstance(part, ToolCall)])
        return [Message("assistant", parts, cache=cached)]
    return results_apart(parts, cache=cached)


def _read_blocks(body: JsonObject, key: str, path: str, pairing: Pairing) -> tuple[list[Part], bool]:
    """The parts of a content, and whether a cache point stands at its end."""
    blocks = objects(body, key, path)
    cached = bool(blocks) and blocks[-1][1] == _POINT
    if cached:
        blocks = blocks[:-1]
    return [read_block(block, where, pairing) for where, block in blocks], cached


def read_block(block: JsonObject, path: str, pairing: Pairing) -> Part:
    """The part a block says; a block only this API has is kept as it is."""
    if isinstance(block.get("text"), str):
        return Text(block["text"], metadata=wire_fields(NAME, rest(block, frozenset({"text"}))))
    call = block.get("toolUse")
    if isinstance(call, Mapping) and call.get("type") != _SERVER:
        where = f"{path}.toolUse"
        left = wire_fields(NAME, rest(call, _CALL))
        return past_call(name_at(call, "toolUseId", where), name_at(call, "name", where), call.get("input"), left)
    answer = block.get("toolResult")
    if isinstance(answer, Mapping) and answer.get("type") is None:
        return _read_result(answer, f"{path}.toolResult", pairing)
    if isinstance(block.get("reasoningContent"), Mapping):
        return read_reasoning(block["reasoningContent"])
    return _read_media(block) or Opaque(api=NAME, block=block)


def read_reasoning(content: JsonObject) -> Reasoning:
    """Reasoning with its signature, or what is hidden of it."""
    if "redactedContent" in content:
        return Reasoning("", metadata=wire_fields(NAME, {"redacted": content["redactedContent"]}))
    reasoning = mapping(content.get("reasoningText"))
    return Reasoning(string(reasoning.get("text")), metadata=wire_fields(NAME, rest(reasoning, ("text",))))


def _read_result(answer: JsonObject, path: str, pairing: Pairing) -> ToolResult:
    content: list[Text | Media] = []
    blocks = objects(answer, "content", path)
    for where, block in blocks:
        part = read_block({"text": as_text(block["json"])} if "json" in block else block, where, pairing)
        content += [part] if isinstance(part, Text | Media) else []
    failed = answer.get("status") == "error"
    call_id = string_at(answer, "toolUseId", path)
    left = rest(answer, _RESULT)
    if len(content) < len(blocks) or any("json" in block for _, block in blocks):
        left["content"] = answer["content"]
    return tool_result(call_id, pairing.name(call_id), content, wire_fields(NAME, left), is_error=failed)


def _read_media(block: JsonObject) -> Media | None:
    kind = next((kind for kind in _MEDIA if isinstance(block.get(kind), Mapping)), "")
    given = mapping(block.get(kind))
    source = mapping(given.get("source"))
    data, url = string(source.get("bytes")), string(mapping(source.get("s3Location")).get("uri"))
    if not kind or not (data or url):
        return None
    word = string(given.get("format"))
    owner = mapping(source.get("s3Location")).get(_OWNER)
    left = {**rest(given, frozenset({"format", "name", "source"})), _OWNER: owner}
    mime = _FORMATS.get(word, f"{'application' if kind == 'document' else kind}/{word}")
    return Media(mime=mime, data=data, url=url, name=string(given.get("name")), metadata=wire_fields(NAME, left))


# ── writing ──────────────────────────────────────────────────────────────────


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`; its model and streaming belong into the path."""
    extra = dict(extra_for(NAME, request.extra))
    head, turns = split_system(request.messages)
    system = [block for message in head for block in _write_blocks(message, quirks)]
    body: dict[str, Any] = {"messages": _write_messages(turns, quirks)}
    body |= filled(
        system=_pointed(system, quirks),
        toolConfig=_write_tools(request, extra.pop("tools", None), quirks),
        inferenceConfig={**write_options(request.sampling, _OPTIONS), **mapping(extra.pop("inferenceConfig", None))},
        outputConfig=_write_output(request.output_schema),
    )
    body |= filled(**{_FIELDS: _write_thinking(request.sampling, mapping(extra.pop(_FIELDS, None)), quirks)})
    return with_quirks(body, extra, quirks)


def _write_thinking(sampling: Sampling, left: JsonObject, quirks: Quirks) -> dict[str, Any]:
    """The model's own fields, with what was asked of its thinking where nothing in them says it."""
    made = {key: value for key, value in _THINKING[quirks.thinking_fields](sampling).items() if key not in left}
    return {**left, **made}


def _as_claude(sampling: Sampling) -> dict[str, Any]:
    budget = sampling.thinking_budget
    kinds = {None: {}, -1: {"type": "adaptive"}, 0: {"type": "disabled"}}
    thinking = kinds.get(budget, {"type": "enabled", "budget_tokens": budget})
    return filled(thinking=thinking, output_config=filled(effort=sampling.effort), top_k=sampling.top_k)


def _as_nova(sampling: Sampling) -> dict[str, Any]:
    made = filled(inferenceConfig=filled(topK=sampling.top_k))
    if sampling.effort in (None, "none"):
        return made | ({"reasoningConfig": {"type": "disabled"}} if sampling.effort else {})
    return made | {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": sampling.effort}}


_THINKING: Mapping[str, Callable[[Sampling], dict[str, Any]]] = {
    "": lambda _: {},
    "claude": _as_claude,
    "effort": lambda sampling: filled(reasoning_effort=sampling.effort),
    "nova": _as_nova,
}
"""How a model is told to think, and how many tokens it may choose from, whose words Converse passes on:
docs.aws.amazon.com, "Extended thinking", "Nova 2", "Complete request schema"; "Using Converse" (Claude's `top_k`)."""


def _pointed(listed: list[Any], quirks: Quirks) -> list[Any]:
    """The blocks or tools, with a cache point at their end where there always is one."""
    missing = quirks.cache == "always" and listed and listed[-1] != _POINT
    return [*listed, dict(_POINT)] if missing else listed


def _write_output(output: OutputSchema | None) -> dict[str, Any]:
    if output is None or output.schema is None:
        return {}
    schema = {"schema": dumps(output.schema), **filled(name=output.name, description=output.description)}
    return {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}


def _write_tools(request: Request, foreign: Any, quirks: Quirks) -> dict[str, Any]:
    """The tools and the choice.  Calls are forbidden by offering no tools, where no past call needs them."""
    forbidden = request.tool_choice == ToolChoice("none")
    if forbidden and not any(message.calls for message in request.messages):
        return {}
    tools = interleaved(({"toolSpec": write_tool(tool)} for tool in request.tools), foreign)
    choice = None if forbidden else nearest_choice(request.tool_choice, quirks)
    return filled(tools=_pointed(tools, quirks), toolChoice=_write_choice(choice))


def _write_choice(choice: ToolChoice | None) -> dict[str, Any]:
    if choice is None:
        return {}
    return {"tool": {"name": choice.name}} if choice.mode == "named" else {_MODE_WORDS[choice.mode]: {}}


def write_tool(tool: Tool) -> dict[str, Any]:
    """The specification of a tool."""
    schema = {"json": plain(tool.parameters or EMPTY_OBJECT_SCHEMA)}
    return {**definition(tool, "inputSchema", schema), **own(NAME, tool.metadata)}


def _write_messages(messages: Sequence[Message], quirks: Quirks) -> list[dict[str, Any]]:
    """The turns: results and what the user says after them are one, for roles must alternate."""
    wires: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _write_blocks(message, quirks)
        if wires and wires[-1]["role"] == role == "user":
            wires[-1]["content"] += blocks
        else:
            wires.append({"role": role, "content": blocks})
    return wires


def _write_blocks(message: Message, quirks: Quirks) -> list[dict[str, Any]]:
    blocks = write_blocks(message, write_part, quirks)
    return [*blocks, dict(_POINT)] if message.cache and blocks and quirks.cache != "never" else blocks


def write_part(part: Part, *, unsigned: bool) -> list[dict[str, Any]]:
    """The blocks of a part; `unsigned` lets reasoning pass that bears no signature."""
    match part:
        case Text(text):
            return [{"text": text, **own(NAME, part.metadata)}]
        case Reasoning():
            return _write_reasoning(part, unsigned=unsigned)
        case Media():
            return [_write_media(part)]
        case ToolCall():
            call = {"toolUseId": part.id, "name": part.name, "input": plain(part.arguments)}
            return [{"toolUse": {**call, **own(NAME, part.metadata)}}]
        case ToolResult():
            return [{"toolResult": write_result(part)}]
        case Opaque():
            return [dict(part.block)] if part.api == NAME else []
    return []


def _write_reasoning(part: Reasoning, *, unsigned: bool) -> list[dict[str, Any]]:
    if "redacted" in part.metadata:
        return [{"reasoningContent": {"redactedContent": part.metadata["redacted"]}}]
    if not may_go_back(part, unsigned=unsigned):
        return []
    signed = {"signature": part.metadata["signature"]} if part.metadata.get("signature") else {}
    return [{"reasoningContent": {"reasoningText": {"text": part.text, **own(NAME, part.metadata), **signed}}}]


def write_result(result: ToolResult) -> dict[str, Any]:
    """The block that answers a call: failure has its own field, a code is marked in the text."""
    content = marked(result, bare=False)
    blocks = [block for part in content for block in write_part(part, unsigned=False)]
    wire: dict[str, Any] = {"toolUseId": result.call_id, "content": blocks or [{"text": ""}]}
    if result.is_error:
        wire["status"] = "error"
    return {**wire, **own(NAME, result.metadata)}


def document_name(name: str) -> str:
    """`name` in the letters a document's may have: alphanumeric, single spaces, hyphens, brackets (Converse's API
    reference, DocumentBlock), 200 at most."""
    return " ".join(_NO_NAME.sub(" ", name).split())[:200].strip() or "document"


_NO_NAME = re.compile(r"[^A-Za-z0-9 ()\[\]-]+")


def _write_media(media: Media) -> dict[str, Any]:
    kind = {"file": "document"}.get(media_kind(media), media_kind(media))
    word = _FORMAT_OF.get(media.mime, media.mime.partition("/")[2])
    if media.url and not media.url.startswith("s3:"):
        return {"text": note(media)}
    left = dict(own(NAME, media.metadata))
    owner = {_OWNER: left.pop(_OWNER)} if _OWNER in left else {}
    source = {"s3Location": {"uri": media.url, **owner}} if media.url else {"bytes": media.data}
    named = {"name": document_name(media.name)} if kind == "document" else {}
    return {kind: {"format": word, **named, "source": source, **left}}
