"""Parts of a request that several wires have in forms of their own: image detail, text documents, kept files, found
passages, cache markers, tools of free text.

Knows messages and tools as values and the fields that wires keep with them; nothing of bodies.
Contract of `parts_crossed`: what came on the wire asked for is left as it came; what is said in the words of that wire,
or as text where it has none, is said nowhere else; nothing is invented.
Sources: openai 3.54 types/responses/response_input_{image,file}_param.py, types/chat/…_custom_tool_param.py; anthropic
2.12 types/{document_block,search_result_block,cache_control_ephemeral}_param.py; google-genai PartMediaResolution;
Bedrock API reference (CachePointBlock); openrouter.ai/docs/features/prompt-caching.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ...conversation.grown import by_growth, changed
from ...memo import TOOLS, memoize
from ...types import NOTHING, Media, Message, Opaque, Part, Request, Text, Tool, ToolCall
from ..shared.body import items, mapping, string
from ..shared.spec import TYPED, WireFields
from .settings import ANTHROPIC, BEDROCK, CHAT, COHERE, GEMINI, INVOKE, OLLAMA, RESPONSES

MINTED = "dragoman"
"""Stands in the ids of blocks that we made for a client: no vendor may get these back."""
MARK = "cache_control"
PLAIN_MARK = {"type": "ephemeral"}
INLINE = frozenset({CHAT, RESPONSES, OLLAMA, COHERE})
"""Wires that take no text as a document, or no document at all: what such a one says is told in words."""
LEVELS = {"low": "MEDIA_RESOLUTION_LOW", "high": "MEDIA_RESOLUTION_HIGH"}
"""OpenAI's detail → Gemini's resolution; `auto` is either's own choice."""


def parts_crossed(request: Request, api: str, takes: Collection[str] = ()) -> Request:
    """`request` for wire `api`, whose peer takes `takes` of what only some do: `cache_control`, `media_resolution`."""
    api = ANTHROPIC if api == INVOKE else api
    free = _free(request.tools)
    messages, tools = _messages(request.messages, api, takes, free), _tools(request.tools, api)
    if messages is None and tools is request.tools:
        return request
    return replace(request, messages=request.messages if messages is None else messages, tools=tools)


Changed: TypeAlias = tuple[Message, ...] | None
"""What messages became; None for what they were."""


@by_growth
def _messages(  # noqa: PLR0917
    messages: Sequence[Message], start: int, known: Changed, api: str, takes: Collection[str], free: Collection[str]
) -> Changed:
    return changed(messages, start, known, [_message(message, api, takes, free) for message in messages[start:]])


@memoize(TOOLS)
def _tools(given: tuple[Tool, ...], api: str) -> tuple[Tool, ...]:
    tools = tuple(_tool(tool, api) for tool in given)
    return given if all(map(_same, tools, given)) else tools


def _same(made: object, given: object) -> bool:
    return made is given


def _message(message: Message, api: str, takes: Collection[str], free: Collection[str]) -> Message:
    if message.bare and not (free and message.calls):
        return message
    kept = [part for part in map(_unmade, message.parts) if part is not None]
    parts = [_part(part, api, takes, free) for part in kept]
    if len(parts) < len(message.parts):
        return Message(message.role, parts, cache=message.cache, metadata=message.metadata)
    if all(map(_same, parts, message.parts)) and not (message.cache or api == BEDROCK):
        return message
    cache = message.cache
    if api == BEDROCK and _foreign(message.parts[-1] if message.parts else None, api).get(MARK):
        ttl, parts = _ttl(message.parts), [*parts[:-1], _unmarked(parts[-1])]
        point = Opaque(api=BEDROCK, block={"cachePoint": {"type": "default", "ttl": ttl}})
        parts, cache = ([*parts, point], False) if ttl else (parts, True)
    elif cache and api == CHAT and MARK in takes:
        parts, cache = _marked(parts), False
    elif all(map(_same, parts, message.parts)):
        return message
    return Message(message.role, parts, cache=cache, metadata=message.metadata)


def _unmade(part: Part) -> Part | None:
    """A part without what we made of another wire's words for the client: no vendor takes it for its own."""
    if isinstance(part, Opaque):
        ids = (part.block.get("id"), part.block.get("tool_use_id"))
        return None if any(f"_{MINTED}_" in string(one) for one in ids) else part
    if isinstance(part, Text) and (cited := items(_own(part, ANTHROPIC).get("citations"))):
        left = [one for one in cited if mapping(one).get("encrypted_index") != ""]
        return part if len(left) == len(cited) else replace(part, metadata=_with_citations(part, left))
    return part


def _with_citations(part: Text, cited: list[Any]) -> WireFields:
    others = {key: value for key, value in part.metadata.items() if key != "citations"}
    return WireFields(ANTHROPIC, {**others, **({"citations": cited} if cited else {})})


def _unmarked(part: Part) -> Part:
    """The part without its marker, which stands behind it now."""
    left = {key: value for key, value in _foreign(part, "").items() if key != MARK}
    metadata = None if isinstance(part, Opaque) else part.metadata
    if isinstance(part, Opaque) or not isinstance(metadata, WireFields):
        return part
    return replace(part, metadata=WireFields(metadata.api, left) if left else NOTHING)


def _ttl(parts: Sequence[Part]) -> str:
    """How long the cache should hold what ends here, where its marker says so."""
    marks = [mapping(_foreign(part, "").get(MARK)) for part in parts[-1:]]
    return next((string(mark.get("ttl")) for mark in marks), "")


def _marked(parts: list[Part]) -> list[Part]:
    """The parts with a marker on the last text, where nothing stands on it yet."""
    last = next((at for at in reversed(range(len(parts))) if isinstance(parts[at], Text)), -1)
    part = parts[last] if last >= 0 else None
    if not isinstance(part, Text) or MARK in part.metadata:
        return parts
    parts = list(parts)
    parts[last] = Text(part.text, metadata=WireFields(CHAT, {**_own(part, CHAT), MARK: PLAIN_MARK}))
    return parts


def _own(part: Any, api: str) -> Mapping[str, Any]:
    metadata = getattr(part, "metadata", None)
    return metadata if isinstance(metadata, WireFields) and metadata.api == api else {}


def _foreign(part: Any, api: str) -> Mapping[str, Any]:
    """The fields of another wire than `api` that stand with a part."""
    metadata = getattr(part, "metadata", None)
    return metadata if isinstance(metadata, WireFields) and metadata.api != api else {}


def _part(part: Part, api: str, takes: Collection[str], free: Collection[str]) -> Part:
    match part:
        case Text() if MARK in _foreign(part, api) and _takes_marks(api, takes):
            return replace(part, metadata=WireFields(api, {MARK: part.metadata[MARK]}))
        case Media():
            return _media(part, api, takes)
        case Opaque() if part.api != api:
            return _block(part, api)
        case ToolCall() if api == CHAT and part.name in free and not _own(part, CHAT):
            return replace(part, metadata=WireFields(CHAT, {TYPED: "custom"}))
    return part


def _takes_marks(api: str, takes: Collection[str]) -> bool:
    return api == ANTHROPIC or (api == CHAT and MARK in takes)


# ── media ────────────────────────────────────────────────────────────────────


def _media(media: Media, api: str, takes: Collection[str]) -> Media | Text:
    if api in INLINE and media.mime.startswith("text/") and "plain" not in _own(media, api):
        text = _decoded(media.data) if media.data else None
        return media if text is None else Text(_document(media.name, text))
    given = _foreign(media, api)
    write = _DETAIL_WRITTEN.get(api)
    detail = _detail(given) if given and write else ""
    fields = write(detail, takes) if detail and write else {}
    return replace(media, metadata=WireFields(api, fields)) if fields else media


def _decoded(data: str) -> str | None:
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _document(name: str, text: str) -> str:
    """A document as text: who reads it must see where it begins and ends."""
    titled = f' title="{name.replace(chr(34), chr(39))}"' if name else ""
    return f"<document{titled}>\n{text}\n</document>"


def _detail(fields: Mapping[str, Any]) -> str:
    """How closely an image is to be looked at, in OpenAI's words."""
    given = string(fields.get("detail")) or string(mapping(fields.get("inner")).get("detail"))
    level = string(mapping(fields.get("mediaResolution")).get("level"))
    return given or next((word for word, one in LEVELS.items() if one == level), "")


def _as_resolution(detail: str, takes: Collection[str]) -> dict[str, Any]:
    known = detail in LEVELS and "media_resolution" in takes
    return {"mediaResolution": {"level": LEVELS[detail]}} if known else {}


_DETAIL_WRITTEN: Mapping[str, Callable[[str, Collection[str]], dict[str, Any]]] = {
    CHAT: lambda detail, _: {"inner": {"detail": detail}},
    COHERE: lambda detail, _: {"detail": detail},  # types/image_url.py of cohere 7.3
    RESPONSES: lambda detail, _: {"detail": detail},
    GEMINI: _as_resolution,
}


# ── blocks of one wire ───────────────────────────────────────────────────────


def _block(part: Opaque, api: str) -> Part:
    """A block in the words of another wire, or as text; as it came where it is neither."""
    if file_id := _kept_file(part):
        if api == CHAT:
            return Opaque(api=CHAT, block={"type": "file", "file": {"file_id": file_id}})
        return Opaque(api=RESPONSES, block={"type": "input_file", "file_id": file_id}) if api == RESPONSES else part
    text = passage(part.block) if part.api == ANTHROPIC else ""
    return Text(text) if text else part


def _kept_file(part: Opaque) -> str:
    """The id of a file kept at OpenAI, by either of its wires."""
    if part.api == CHAT and part.block.get("type") == "file":
        return string(mapping(part.block.get("file")).get("file_id"))
    return string(part.block.get("file_id")) if part.api == RESPONSES and part.block.get("type") == "input_file" else ""


def passage(block: Mapping[str, Any]) -> str:
    """The text of a found passage, or of a document in blocks, with where it is from; "" for any other block."""
    if block.get("type") == "search_result":
        where = string(block.get("source"))
        head = f'<search_result source="{where}" title="{string(block.get("title"))}">'
        return "\n".join([head, *_texts(items(block.get("content"))), "</search_result>"])
    source = mapping(block.get("source"))
    if block.get("type") == "document" and source.get("type") == "content":
        content = source.get("content")
        listed = [content] if isinstance(content, str) else _texts(items(content))
        return _document(string(block.get("title")), "\n\n".join(listed))
    return ""


def _texts(blocks: Sequence[Any]) -> list[str]:
    return [text for block in blocks if (text := string(mapping(block).get("text")))]


# ── tools of free text ───────────────────────────────────────────────────────


@memoize(TOOLS)
def _free(tools: Sequence[Tool]) -> frozenset[str]:
    """The names of the tools that take free text instead of JSON."""
    return frozenset(tool.name for tool in tools if _custom(tool) is not None)


def _custom(tool: Tool) -> Mapping[str, Any] | None:
    """The definition of a tool of free text as Responses writes it."""
    if "custom" in _own(tool, RESPONSES):
        return mapping(tool.metadata["custom"])
    given = mapping(mapping(_own(tool, CHAT).get(TYPED)).get("custom"))
    if not given:
        return None
    form = mapping(given.get("format"))
    flat = {"type": form["type"], **mapping(form.get("grammar"))} if "grammar" in form else form
    return {"type": "custom", **given, **({"format": flat} if flat else {})}


def _tool(tool: Tool, api: str) -> Tool:
    if api == BEDROCK and _foreign(tool, api).get(MARK) == PLAIN_MARK:  # there always is one behind the tools
        left = {key: value for key, value in tool.metadata.items() if key != MARK}
        return replace(tool, metadata=WireFields(ANTHROPIC, left) if left else NOTHING)
    definition = _custom(tool) if api in (CHAT, RESPONSES) and not _own(tool, api) else None
    if definition is None:
        return tool
    if api == RESPONSES:
        return replace(tool, metadata=WireFields(RESPONSES, {"custom": definition}))
    form = mapping(definition.get("format"))
    grammar = {key: value for key, value in form.items() if key != "type"}
    nested = {"type": form["type"], **({"grammar": grammar} if grammar else {})} if form else {}
    inner = {key: value for key, value in definition.items() if key not in ("type", "format")}
    custom = {**inner, **({"format": nested} if nested else {})}
    return replace(tool, metadata=WireFields(CHAT, {TYPED: {"type": "custom", "custom": custom}}))
