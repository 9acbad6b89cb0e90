"""Requests of Gemini's Interactions API, read and written: a conversation as a list of steps.

Knows the request side of `POST /interactions` in its form since May 2026; answers are in `interactions.py`.
Every part of a turn is a step of its own, so that what is written is what a stream would hold.  Conversations kept at
the server are refused: the whole conversation goes out each time.
Sources: Gemini API reference (Interactions); google-genai 3.4 (`types.interactions`); recorded streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
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
from ..shared.arguments import as_text as to_text
from ..shared.body import (
    an_object,
    filled,
    items,
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
)
from ..shared.media import from_url, joined, media_kind, one_text, standard_base64
from ..shared.options import read_options, write_options
from ..shared.requests import nearest_choice, past_call, results_merged, split_system, with_quirks
from ..shared.results import Pairing, marked, results_first, tool_result
from ..shared.spec import PLAIN, Quirks, Unsupported, extra_for, own, wire_fields
from ..shared.tools import Found, read_once, read_tool, read_tools, write_tools
from .generate_contents import SIGNATURE

NAME = "gemini_interactions"

_OPTIONS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_output_tokens",
    "seed": "seed",
    "stop": "stop_sequences",
    "effort": "thinking_level",
}
_CONFIG = frozenset({*_OPTIONS.values(), "tool_choice"})
_MODELLED = frozenset(
    {"model", "input", "system_instruction", "tools", "generation_config", "response_format", "stream"}
)
_STORED = ("previous_interaction_id", "background", "continuation_token")
_JSON = "application/json"
_MODES = {"auto": "auto", "none": "none", "any": "required", "validated": "auto"}
_WORDS = {"auto": "auto", "none": "none", "required": "any"}
_KINDS = {"image": "image", "audio": "audio", "video": "video", "file": "document"}
_MEDIA = frozenset(_KINDS.values())
_CONTENTS = _MEDIA | {"text"}
_MEDIA_FIELDS = frozenset({"type", "data", "uri", "mime_type"})
_TOOL = frozenset({"type", "name", "description", "parameters"})
_RESULT = frozenset({"type", "call_id", "name", "result", "is_error"})
_ASKED = ("user_input", "function_result")

# ── reading ──────────────────────────────────────────────────────────────────


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes.  Raises `CodecError` with the path of what is not this API, `Unsupported` for a
    conversation kept at the server."""
    body = an_object(body, "$")
    for key in _STORED:
        if body.get(key):
            message = f"conversations are not stored here; send all steps as input, without `{key}`"
            raise Unsupported(message, f"$.{key}", NAME, {"code": "unsupported_parameter"})
    extra = present(body, _MODELLED)
    config = object_at(body, "generation_config") or {}
    left = present(config, _CONFIG)
    choice = _read_choice(config, left)
    if left:
        extra["generation_config"] = left
    tools, foreign = _read_tools(body)
    extra["tools"] = foreign
    system = string_at(body, "system_instruction")
    return Request(
        model=string_at(body, "model"),
        messages=(*([Message("system", system)] if system else []), *_read_input(body)),
        tools=tools,
        tool_choice=choice,
        sampling=read_options(config, _OPTIONS, "$.generation_config"),
        output_schema=_read_output(body, extra),
        stream=switch_at(body, "stream") or False,
        extra=wire_fields(NAME, extra),
    )


def _read_choice(config: JsonObject, left: dict[str, Any]) -> ToolChoice | None:
    wanted = config.get("tool_choice")
    if wanted is None or isinstance(wanted, str):
        return ToolChoice(_MODES.get(wanted, "auto")) if wanted else None  # type: ignore[arg-type]
    allowed = mapping(an_object(wanted, "$.generation_config.tool_choice").get("allowed_tools"))
    names = items(allowed.get("tools"))
    if len(names) == 1 and isinstance(names[0], str) and allowed.get("mode") == "any":
        return ToolChoice("named", names[0])
    left["tool_choice"] = wanted  # a choice among some of the tools: only this API has it
    only = tuple(name for name in names if isinstance(name, str))
    return ToolChoice(_MODES.get(string(allowed.get("mode")), "auto"), allowed=only)  # type: ignore[arg-type]


def _read_output(body: JsonObject, extra: dict[str, Any]) -> OutputSchema | None:
    wanted = body.get("response_format")
    form = mapping(wanted)
    if form.get("type") != "text" or form.get("mime_type") != _JSON:
        if wanted:
            extra["response_format"] = wanted
        return None
    return OutputSchema(schema=object_at(form, "schema", "$.response_format"))


@read_once("tools")
def _read_tools(body: JsonObject) -> Found:
    return read_tools(objects(body, "tools"), _read_tool)


def _read_tool(one: JsonObject, path: str) -> Tool | None:
    if one.get("type", "function") != "function":
        return None  # google_search …
    return read_tool(one, path, object_at(one, "parameters", path), wire_fields(NAME, rest(one, _TOOL)), strict=False)


def _read_input(body: JsonObject) -> tuple[Message, ...]:
    """The conversation: a text, one content, contents, or steps."""
    given = body.get("input")
    if given is None or isinstance(given, str):
        return (Message("user", given),) if given else ()
    listed = isinstance(given, list | tuple)
    steps = objects(body, "input") if listed else [("$.input", an_object(given, "$.input"))]
    if steps and all(string(one.get("type")) in _CONTENTS for _, one in steps):
        return (Message("user", [read_content(one, path) for path, one in steps]),)
    return results_merged(_read_steps(steps))


def _read_steps(steps: Iterable[tuple[str, JsonObject]]) -> Iterator[Message]:
    """Steps → messages: what the model said between two turns of others is one."""
    pairing = Pairing()
    for asked, run in groupby(steps, lambda pair: string(pair[1].get("type")) in _ASKED):
        if asked:
            yield from (_read_turn(step, path, pairing) for path, step in run)
            continue
        parts = [part for path, step in run for part in read_step(step, path)]
        if parts:
            pairing.begin_turn(part for part in parts if isinstance(part, ToolCall))
            yield Message("assistant", parts)


def _read_turn(step: JsonObject, path: str, pairing: Pairing) -> Message:
    if step["type"] == "function_result":
        return Message("tool", (_read_result(step, path, pairing),))
    parts = [read_content(one, where) for where, one in _contents(step, "content", path)]
    return Message("user", parts, metadata=wire_fields(NAME, rest(step, frozenset({"type", "content"}))))


def _contents(step: JsonObject, key: str, path: str) -> list[tuple[str, JsonObject]]:
    given = step.get(key)
    if isinstance(given, str):
        return [(f"{path}.{key}", {"type": "text", "text": given})]
    return objects(step, key, path)


def read_step(step: JsonObject, path: str = "$") -> list[Part]:
    """What a step of the model says.  A step of the server's own tools is kept as it is."""
    match step.get("type"):
        case "model_output":
            return [read_content(one, where) for where, one in _contents(step, "content", path)]
        case "thought":
            return [Reasoning(summary_text(step), metadata=wire_fields(NAME, about(step, "summary")))]
        case "function_call":
            name, call_id = name_at(step, "name", path), string_at(step, "id", path)
            left = wire_fields(NAME, about(step, "id", "name", "arguments"))
            return [past_call(call_id, name, step.get("arguments"), left)]
    return [Opaque(api=NAME, block=step)]


def summary_text(step: JsonObject) -> str:
    """The summary of a thought."""
    return "".join(string(mapping(one).get("text")) for one in items(step.get("summary")))


def about(step: JsonObject, *text: str) -> dict[str, Any]:
    """What a step holds beside what it says; its signature under the word that other wires read too."""
    left = rest(step, frozenset({"type", "signature", *text}))
    return {**left, SIGNATURE: string(step.get("signature")) or None}


def read_content(content: JsonObject, path: str) -> Text | Media | Opaque:
    """A content of a turn."""
    kind = content.get("type")
    if kind == "text":
        left = rest(content, frozenset({"type", "text"}))
        fields = {key: value for key, value in left.items() if value != []}
        return Text(string_at(content, "text", path), metadata=wire_fields(NAME, fields))
    return read_media(content) or Opaque(api=NAME, block=content)


def read_media(content: JsonObject) -> Media | None:
    """The media in a content: its data, or where it is."""
    if string(content.get("type")) not in _MEDIA:
        return None
    left = wire_fields(NAME, rest(content, _MEDIA_FIELDS))
    mime = string(content.get("mime_type"))
    if content.get("data"):
        return Media(mime=mime, data=standard_base64(string(content["data"])), metadata=left)
    media = from_url(string(content.get("uri")), mime=mime, metadata=left)
    fits = media.url and _KINDS[media_kind(media)] == content["type"]
    return media if fits else None


def _read_result(step: JsonObject, path: str, pairing: Pairing) -> ToolResult:
    given = step.get("result")
    call_id = string_at(step, "call_id", path)
    left = rest(step, _RESULT)
    if isinstance(given, str | None):
        parts: list[Text | Media | Opaque] = [Text(given or "")]
    elif isinstance(given, list | tuple):
        parts = [read_content(one, where) for where, one in objects(step, "result", path)]
    else:
        parts = [Text(to_text(an_object(given, f"{path}.result")))]
        left["result"] = given
    carriable = [part for part in parts if isinstance(part, Text | Media)]
    if len(carriable) < len(parts):
        left["result"] = given
    failed = switch_at(step, "is_error", path) or False
    name = string_at(step, "name", path) or pairing.name(call_id)
    return tool_result(call_id, name, carriable, wire_fields(NAME, left), is_error=failed)


# ── writing ──────────────────────────────────────────────────────────────────


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`."""
    extra = dict(extra_for(NAME, request.extra))
    head, turns = split_system(request.messages)
    system = "\n\n".join(filter(None, (joined(message.parts) for message in head)))
    body = filled(model=request.model, system_instruction=system)
    body["input"] = [step for message in turns for step in _write_message(message)]
    choice = nearest_choice(request.tool_choice, quirks) if request.tools else None  # refused without functions
    config = write_options(request.sampling, _OPTIONS)
    config |= {"tool_choice": _write_choice(choice)} if choice else {}
    body |= filled(
        tools=write_tools(request.tools, write_tool, extra.pop("tools", None)),
        generation_config={**config, **mapping(extra.pop("generation_config", None))},
        response_format=_write_output(request.output_schema),
        stream=request.stream,
    )
    return with_quirks(body, extra, quirks)


def _write_output(output: OutputSchema | None) -> dict[str, Any]:
    if output is None:
        return {}
    fitting = {} if output.schema is None else {"schema": plain(output.schema)}
    return {"type": "text", "mime_type": _JSON, **fitting}


def _write_choice(choice: ToolChoice) -> Any:
    if choice.mode == "named":
        return {"allowed_tools": {"mode": "any", "tools": [choice.name]}}
    return _WORDS[choice.mode]


def write_tool(tool: Tool) -> dict[str, Any]:
    """The definition of a tool."""
    wire: dict[str, Any] = {"type": "function", "name": tool.name}
    if tool.description:
        wire["description"] = tool.description
    return {**wire, "parameters": plain(tool.parameters), **own(NAME, tool.metadata)}


def _write_message(message: Message) -> Iterator[dict[str, Any]]:
    results, other = results_first(message)
    yield from map(write_result, results)
    if other is None:
        return
    if other.role == "assistant":
        yield from write_steps(other.parts)
        return
    content = [wire for part in other.parts for wire in _write_content(part)]
    yield {"type": "user_input", "content": content, **own(NAME, other.metadata)}


def write_steps(parts: Iterable[Part]) -> Iterator[dict[str, Any]]:
    """The steps in which a model said `parts`, one for each."""
    for part in parts:
        match part:
            case Reasoning(text):
                summary = {"summary": [{"type": "text", "text": text}]} if text else {}
                yield {"type": "thought", **_signed(part.metadata), **summary}
            case ToolCall():
                call = {"id": part.id, "name": part.name, "arguments": plain(part.arguments)}
                yield {"type": "function_call", **call, **_signed(part.metadata)}
            case Text() | Media():
                yield {"type": "model_output", "content": _write_content(part)}
            case Opaque(api=api, block=block) if api == NAME:
                content = string(block.get("type")) in _CONTENTS
                yield {"type": "model_output", "content": [dict(block)]} if content else dict(block)


def _signed(metadata: JsonObject) -> dict[str, Any]:
    left = rest(own(NAME, metadata), frozenset({SIGNATURE}))
    signature = metadata.get(SIGNATURE)
    return {**left, "signature": signature} if signature else left


def _write_content(part: Part) -> list[dict[str, Any]]:
    match part:
        case Text(text):
            return [{"type": "text", "text": text, **own(NAME, part.metadata)}]
        case Media():
            return [write_media(part)]
        case Opaque(api=api, block=block) if api == NAME:
            return [dict(block)]
    return []


def write_media(media: Media) -> dict[str, Any]:
    """Media inline, or by their address."""
    where = {"uri": media.url} if media.url else {"data": media.data}
    typed = {"mime_type": media.mime} if media.mime else {}
    return {"type": _KINDS[media_kind(media)], **where, **typed, **own(NAME, media.metadata)}


def write_result(result: ToolResult) -> dict[str, Any]:
    """The step that answers a call: failure has its own field, a code is marked in the text."""
    content = marked(result, bare=False)
    only = one_text(content, NAME) if content else ""
    text: Any = only if only is not None else [wire for part in content for wire in _write_content(part)]
    step: dict[str, Any] = {"type": "function_result", "call_id": result.call_id, "result": text}
    step |= {"name": result.name} if result.name else {}
    step |= {"is_error": True} if result.is_error else {}
    return {**step, **own(NAME, result.metadata)}
