"""Requests of Anthropic Messages, read and written.

Knows the request side of `POST /v1/messages` (and of `count_tokens`, the same body); the answer side is
`messages.py`.  Results stand in the user turn that follows the calls, first in it; instructions stand beside
the messages; markers for the prompt cache stand on blocks, four at most.
Sources: Anthropic API reference; seeds.md C6, C10; streaming.md §3 (message threads); recorded requests.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...conversation.cache_markers import CacheMode
from ...errors import CodecError
from ...jsontext import to_json
from ...memo import JSON_MESSAGES, TOOLS, FrozenTools, memoize
from ...types import (
    EMPTY_OBJECT_SCHEMA,
    NOTHING,
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
from ..shared.body import (
    an_array,
    an_object,
    items,
    mapping,
    name_at,
    object_at,
    objects,
    plain,
    present,
    rest,
    string_at,
    switch_at,
    text,
)
from ..shared.media import from_url, joined, media_kind, note
from ..shared.options import read_options, write_options
from ..shared.requests import (
    WrittenTools,
    finished,
    foreign_tools,
    nearest_choice,
    past_call,
    read_once,
    split_system,
    woven,
)
from ..shared.results import Pairing, marked, read_mark
from ..shared.spec import PLAIN, Quirks, Unsupported, WireFields, carried, own, wished

NAME = "anthropic_messages"
DEFAULT_MAX_TOKENS = 2**13 - 1
"""The API demands a limit.  This one says that nobody gave one: a number nobody gives."""
MAX_MARKERS = 4
"""More cache markers are refused (seeds C6)."""

_OPTIONS = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stop": "stop_sequences",
}
_OTHERS = ("model", "messages", "system", "tools", "tool_choice", "stream", "output_config")
_MODELLED = frozenset({*_OPTIONS.values(), *_OTHERS})
_MARKER = {"type": "ephemeral"}
_MODES = {"auto": "auto", "any": "required", "none": "none", "tool": "named"}
_MODE_WORDS = {mode: word for word, mode in _MODES.items()}
_UNMARKED = ("thinking", "redacted_thinking")
"""Blocks the API lets no cache marker stand on."""
_NO_THREADS: JsonObject = {"error_code": "thread_unsupported_request", "unsupported": ["message_threads"]}

# ── reading ──────────────────────────────────────────────────────────────────


def decode_request(body: JsonObject) -> Request:
    """The request `body` makes.  Raises `CodecError` with the path of what is not this API.

    Raises `Unsupported` for message threads: its error tells the official clients to send the whole history instead.
    """
    body = an_object(body, "$")
    if body.get("thread") is not None:
        message = "message threads are not served here; send the whole history, without `thread`"
        raise Unsupported(message, "$.thread", NAME, _NO_THREADS)
    extra = present(body, _MODELLED)
    tools, foreign = _read_tools(body)
    if foreign is not None:
        extra["tools"] = foreign
    choice, parallel = _read_choice(body)
    effort, output, config = _read_output(body)
    if config:
        extra["output_config"] = config
    return Request(
        model=string_at(body, "model"),
        messages=(*_read_system(body), *_read_messages(body)),
        tools=tools,
        tool_choice=choice,
        parallel=parallel,
        sampling=_read_sampling(body, effort),
        output_schema=output,
        stream=switch_at(body, "stream") or False,
        extra=WireFields(NAME, extra) if extra else NOTHING,
    )


def _read_sampling(body: JsonObject, effort: str | None) -> Sampling:
    sampling = read_options(body, _OPTIONS)
    limit = None if sampling.max_tokens == DEFAULT_MAX_TOKENS else sampling.max_tokens
    return replace(sampling, max_tokens=limit, effort=effort)


def _read_output(body: JsonObject) -> tuple[str | None, OutputSchema | None, dict[str, Any]]:
    """The effort and schema in `output_config`, and what else is there."""
    config = object_at(body, "output_config") or {}
    form = object_at(config, "format", "$.output_config")
    left = rest(config, frozenset({"effort", "format"}))
    effort = string_at(config, "effort", "$.output_config") or None
    if form is None or form.get("type") != "json_schema":
        return effort, None, {**left, **({"format": form} if form else {})}
    return effort, OutputSchema(schema=object_at(form, "schema", "$.output_config.format") or {}), left


def _read_choice(body: JsonObject) -> tuple[ToolChoice | None, bool | None]:
    wanted = object_at(body, "tool_choice")
    if wanted is None:
        return None, None
    serial = switch_at(wanted, "disable_parallel_tool_use", "$.tool_choice")
    parallel = None if serial is None else not serial
    mode = _MODES.get(text(wanted.get("type")), "auto")
    if mode == "auto" and parallel is not None:
        return None, parallel  # the switch has no other place to stand; "auto" is the default
    name = name_at(wanted, "name", "$.tool_choice") if mode == "named" else ""
    return ToolChoice(mode, name), parallel  # type: ignore[arg-type]


@read_once("tools")
def _read_tools(body: JsonObject) -> tuple[tuple[Tool, ...], list[Any] | None]:
    tools: list[Tool] = []
    places: list[Any] = []
    for path, one in objects(body, "tools"):
        if one.get("type") not in (None, "custom"):
            places.append(one)  # a tool of the server: web_search_20250305 …
            continue
        schema = object_at(one, "input_schema", path)
        left = rest(one, frozenset({"name", "description", "input_schema", "strict"}))
        tool = Tool(
            name=name_at(one, "name", path),
            description=string_at(one, "description", path),
            parameters=EMPTY_OBJECT_SCHEMA if schema is None else schema,
            strict=switch_at(one, "strict", path) or False,
            metadata=carried(NAME, left),
        )
        tools.append(tool)
        places.append(None)
    return tuple(tools), foreign_tools(places)


def _read_system(body: JsonObject) -> list[Message]:
    system = body.get("system")
    if not system and isinstance(system, str | list | None):
        return []
    parts, cached = _read_blocks(system, "$.system", Pairing())
    return [Message("system", parts, cache=cached)]


def _read_messages(body: JsonObject) -> list[Message]:
    an_array(body.get("messages"), "$.messages")
    pairing = Pairing()
    return [message for path, one in objects(body, "messages") for message in _read_again(one, path, pairing)]


def _read_again(one: JsonObject, path: str, pairing: Pairing) -> Sequence[Message]:
    """`_read_message`, by what it knows already: agents send the same messages again and again."""
    called = [text(mapping(block).get("tool_use_id")) for block in items(one.get("content"))]
    names = tuple((call_id, name) for call_id in called if (name := pairing.name(call_id)))
    try:
        messages = _read_alone(one, names)
    except CodecError:
        return _read_message(one, path, pairing)  # which says where
    if one.get("role") == "assistant":
        pairing.see(messages[0].calls)
    return messages


@memoize(JSON_MESSAGES)
def _read_alone(one: JsonObject, names: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
    """A message that stands for itself, but for the `names` of the calls that its results answer, by their ids."""
    pairing = Pairing()
    pairing.see(ToolCall(id=call_id, name=name) for call_id, name in names)
    return tuple(_read_message(one, "$", pairing))


def _read_message(one: JsonObject, path: str, pairing: Pairing) -> list[Message]:
    role = name_at(one, "role", path)
    content, where = one.get("content"), f"{path}.content"
    left = carried(NAME, rest(one, frozenset({"role", "content"})))
    if role == "assistant":
        parts, cached = _read_blocks(content, where, pairing)
        pairing.see(part for part in parts if isinstance(part, ToolCall))
        return [Message("assistant", parts, cache=cached, metadata=left)]
    if role == "system":  # among the messages, not beside them: it goes back where it stood
        parts, cached = _read_blocks(content, where, pairing)
        return [Message("system", parts, cache=cached, metadata=WireFields(NAME, {**left, "role": "system"}))]
    blocks = content if isinstance(content, list | tuple) else []
    results = [block for block in blocks if mapping(block).get("type") == "tool_result"]
    if not results:
        parts, cached = _read_blocks(content, where, pairing)
        return [Message("user", parts, cache=cached, metadata=left)]
    others = [block for block in blocks if mapping(block).get("type") != "tool_result"]
    parts, cached = _read_blocks(results, where, pairing)
    told = [Message("tool", parts, cache=cached)]
    if others:
        parts, cached = _read_blocks(others, where, pairing)
        told.append(Message("user", parts, cache=cached, metadata=left))
    return told


def _read_blocks(content: Any, path: str, pairing: Pairing) -> tuple[list[Part], bool]:
    """The parts of a content, and whether a cache marker stands at its end."""
    if content is None or content == []:
        return [], False
    if isinstance(content, str):
        return [Text(content)], False
    blocks = [an_object(one, f"{path}[{i}]") for i, one in enumerate(an_array(content, path))]
    end = max((i for i, block in enumerate(blocks) if block.get("type") not in _UNMARKED), default=-1)
    cached = end >= 0 and blocks[end].get("cache_control") is not None
    if cached and blocks[end]["cache_control"] == _MARKER:
        blocks[end] = rest(blocks[end], frozenset({"cache_control"}))
    return [read_block(block, f"{path}[{i}]", pairing) for i, block in enumerate(blocks)], cached


def read_block(block: JsonObject, path: str, pairing: Pairing) -> Part:
    """The part a content block says; a block only this API has is kept as it is."""
    match block.get("type"):
        case "text":
            left = carried(NAME, rest(block, frozenset({"type", "text"})))
            return Text(string_at(block, "text", path), metadata=left)
        case "thinking":
            left = carried(NAME, rest(block, frozenset({"type", "thinking"})))
            return Reasoning(string_at(block, "thinking", path), metadata=left)
        case "redacted_thinking":
            return Reasoning("", metadata=carried(NAME, {"redacted": string_at(block, "data", path)}))
        case "tool_use":
            left = carried(NAME, rest(block, frozenset({"type", "id", "name", "input"})))
            return past_call(name_at(block, "id", path), name_at(block, "name", path), block.get("input"), left)
        case "tool_result":
            return _read_result(block, path, pairing)
    return _read_media(block) or Opaque(api=NAME, block=block)


def _read_result(block: JsonObject, path: str, pairing: Pairing) -> ToolResult:
    given = block.get("content")
    parts, _ = _read_blocks(given, f"{path}.content", pairing) if given is not None else ([Text("")], False)
    carriable = [part for part in parts if isinstance(part, Text | Media)]
    failed = switch_at(block, "is_error", path) or False
    content, is_error, code = read_mark(carriable, is_error=failed)
    call_id = string_at(block, "tool_use_id", path)
    left = rest(block, frozenset({"type", "tool_use_id", "content", "is_error"}))
    if len(carriable) < len(parts):
        left["content"] = given  # blocks no other API has: tool references, search results
    return ToolResult(
        call_id=call_id,
        name=pairing.name(call_id),
        content=content,
        is_error=is_error,
        error_code=code,
        metadata=carried(NAME, left),
    )


def _read_media(block: JsonObject) -> Media | None:
    """An image or document we can carry elsewhere; files kept at the server stay as they are."""
    kind, source = block.get("type"), mapping(block.get("source"))
    if kind not in ("image", "document"):
        return None
    left = rest(block, frozenset({"type", "source", "title"}))
    name, mime = text(block.get("title")), text(source.get("media_type"))
    metadata = carried(NAME, left)
    match source.get("type"):
        case "base64" if kind == "image" or mime == "application/pdf":
            return Media(mime=mime, data=text(source.get("data")), name=name, metadata=metadata)
        case "text":
            data = base64.b64encode(text(source.get("data")).encode("utf-8", "surrogatepass")).decode()
            return Media(mime=mime, data=data, name=name, metadata=metadata)
        case "url" if text(source.get("url")):
            default = "application/pdf" if kind == "document" else ""
            media = from_url(source["url"], name=name, mime=default, metadata=metadata)
            return media if media.url and _block_type(media) == kind else None
    return None


# ── writing ──────────────────────────────────────────────────────────────────


def encode_request(request: Request, quirks: Quirks = PLAIN) -> dict[str, Any]:
    """The body that makes `request`."""
    extra = dict(wished(NAME, request.extra))
    head, turns = split_system(request.messages, _stands_among)
    system = [block for message in head for block in _write_blocks(message, quirks)]
    foreign = extra.pop("tools", None)
    tools = (
        _written_once(request.tools, quirks.cache)
        if foreign is None
        else _marked(woven(map(write_tool, request.tools), foreign), quirks.cache)
    )
    messages = _write_messages(turns, quirks)
    _mark(tools, system, messages, quirks, taken=bool(extra.get("cache_control")))
    body: dict[str, Any] = {"model": request.model} if request.model else {}
    if system:
        plain = len(system) == 1 and set(system[0]) == {"type", "text"}
        body["system"] = system[0]["text"] if plain else system
    body["messages"] = messages
    if tools:
        body["tools"] = tools
    choice = nearest_choice(request.tool_choice, quirks)
    if choice is not None or request.parallel is not None:
        body["tool_choice"] = _write_choice(choice, request.parallel)
    body |= {"max_tokens": DEFAULT_MAX_TOKENS, **write_options(request.sampling, _OPTIONS)}
    config = _write_output(request, extra.pop("output_config", None))
    if config:
        body["output_config"] = config
    if request.stream:
        body["stream"] = True
    return finished(body, extra, quirks)


def _write_output(request: Request, left: Any) -> dict[str, Any]:
    config = dict(mapping(left))
    if request.sampling.effort:
        config["effort"] = request.sampling.effort
    if request.output_schema is not None and request.output_schema.schema is not None:
        config["format"] = {"type": "json_schema", "schema": plain(request.output_schema.schema)}
    return config


def _write_choice(choice: ToolChoice | None, parallel: bool | None) -> dict[str, Any]:
    mode = choice.mode if choice else "auto"
    wire: dict[str, Any] = {"type": _MODE_WORDS[mode]}
    if choice and mode == "named":
        wire["name"] = choice.name
    if parallel is not None and mode != "none":
        wire["disable_parallel_tool_use"] = not parallel
    return wire


def write_tool(tool: Tool) -> dict[str, Any]:
    """The definition of a tool."""
    wire: dict[str, Any] = {"name": tool.name}
    if tool.description:
        wire["description"] = tool.description
    wire["input_schema"] = plain(tool.parameters or EMPTY_OBJECT_SCHEMA)
    if tool.strict:
        wire["strict"] = True
    return {**wire, **own(NAME, tool.metadata)}


def _stands_among(message: Message) -> bool:
    return own(NAME, message.metadata).get("role") == "system"


def _write_messages(messages: Iterable[Message], quirks: Quirks) -> list[dict[str, Any]]:
    wires: list[dict[str, Any]] = []
    answering = False
    for message in messages:
        blocks = _write_blocks(message, quirks)
        left = dict(own(NAME, message.metadata))
        role = left.pop("role", "assistant" if message.role == "assistant" else "user")
        if answering and message.role == "user":
            wires[-1] = {**wires[-1], "content": [*wires[-1]["content"], *blocks], **left}
        else:
            wires.append({"role": role, "content": blocks or joined(message.parts), **left})
        answering = message.role == "tool" and bool(blocks)
    return wires


def _write_blocks(message: Message, quirks: Quirks) -> list[dict[str, Any]]:
    ordered = [*message.results, *(part for part in message.parts if not isinstance(part, ToolResult))]
    blocks = [block for part in ordered for block in write_part(part, unsigned=quirks.unsigned_reasoning == "send")]
    if message.cache:
        last = next((block for block in reversed(blocks) if block.get("type") not in _UNMARKED), None)
        if last is not None:
            last.setdefault("cache_control", dict(_MARKER))
    return blocks


def write_part(part: Part, *, unsigned: bool) -> list[dict[str, Any]]:
    """The content blocks of a part; `unsigned` lets reasoning pass that bears no signature."""
    match part:
        case Text(said):
            left = own(NAME, part.metadata)
            return [{"type": "text", "text": said, **left}] if said or left else []
        case Reasoning():
            return _write_reasoning(part, unsigned=unsigned)
        case Media():
            return [_write_media(part)]
        case ToolCall():
            call = {"type": "tool_use", "id": part.id, "name": part.name, "input": plain(part.arguments)}
            return [{**call, **own(NAME, part.metadata)}]
        case ToolResult():
            return [write_result(part)]
        case Opaque():
            return [dict(part.block)] if part.api == NAME else []
    return []


def _write_reasoning(part: Reasoning, *, unsigned: bool) -> list[dict[str, Any]]:
    if "redacted" in part.metadata:
        return [{"type": "redacted_thinking", "data": part.metadata["redacted"]}]
    signature = part.metadata.get("signature") or ""
    if not signature and not (unsigned and part.text):
        return []
    return [{"type": "thinking", "thinking": part.text, **own(NAME, part.metadata), "signature": signature}]


def write_result(result: ToolResult) -> dict[str, Any]:
    """The block that answers a call: failure has its own field, a code is marked in the text (seeds C10)."""
    content = marked(result, bare=False)
    blocks = [block for part in content for block in write_part(part, unsigned=False)]
    plain = len(content) == 1 and isinstance(content[0], Text) and not own(NAME, content[0].metadata)
    wire: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id}
    wire["content"] = joined(content) if plain or not blocks else blocks
    if result.is_error:
        wire["is_error"] = True
    return {**wire, **own(NAME, result.metadata)}


def _block_type(media: Media) -> str:
    return {"image": "image", "file": "document"}.get(media_kind(media), "")


def _write_media(media: Media) -> dict[str, Any]:
    left = own(NAME, media.metadata)
    kind, source = _block_type(media), _source(media)
    if not kind or source is None:
        return {"type": "text", "text": note(media)}
    title = {"title": media.name} if media.name and kind == "document" else {}
    return {"type": kind, "source": source, **title, **left}


def _source(media: Media) -> dict[str, Any] | None:
    if media.url:
        return {"type": "url", "url": media.url}
    if media_kind(media) == "image" or media.mime == "application/pdf":
        return {"type": "base64", "media_type": media.mime, "data": media.data}
    if media.mime.startswith("text/"):
        try:
            decoded = base64.b64decode(media.data, validate=True).decode()
        except (binascii.Error, ValueError):
            return None
        return {"type": "text", "media_type": media.mime, "data": decoded}
    return None


# ── cache markers ────────────────────────────────────────────────────────────


@memoize(TOOLS)
def _written_once(tools: tuple[Tool, ...], mode: CacheMode) -> list[Any]:
    listed = _marked(list(map(write_tool, tools)), mode)
    return WrittenTools(listed, to_json(listed)) if type(tools) is FrozenTools else listed


def _marked(tools: list[Any], mode: CacheMode) -> list[Any]:
    """The tools with one marker at most, which is set here where markers are always."""
    if mode == "always":
        for block in tools[-1:]:
            block.setdefault("cache_control", dict(_MARKER))
    cap_markers(tools, 0 if mode == "never" else 1)
    return tools


def _mark(
    tools: list[Any], system: list[dict[str, Any]], messages: list[dict[str, Any]], quirks: Quirks, *, taken: bool
) -> None:
    """Set the markers the quirks ask for, and drop what is over the limit: of each kind the earliest first.

    Those of the tools are set already.
    """
    inside = [block for message in messages for block in message["content"] if isinstance(block, dict)]
    if quirks.cache == "always":
        for block in system[-1:]:
            block.setdefault("cache_control", dict(_MARKER))
    if quirks.cache == "never":
        cap_markers([*system, *inside], 0)
        return
    held = sum("cache_control" in tool for tool in tools) + taken
    cap_markers([*system, *inside], MAX_MARKERS - held)


def cap_markers(blocks: Sequence[Mapping[str, Any]], limit: int) -> None:
    """Take the earliest cache markers off `blocks` until `limit` are left (seeds C6)."""
    carrying = [block for block in blocks if "cache_control" in block]
    for block in carrying[: max(0, len(carrying) - limit)]:
        if isinstance(block, dict):
            del block["cache_control"]
