"""Content blocks of Anthropic Messages, read and written: in requests as history, in answers as content.

Knows every kind of block; a block only this API has is kept as it is.  A marker for the prompt cache stands on a block.
Sources: Anthropic API reference; seeds.md C6, C10; recorded requests.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from ...jsontext import as_dict
from ...types import NOTHING, JsonObject, Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from ..crossing.parts import passage
from ..shared.body import an_array, an_object, mapping, name_at, plain, rest, string, string_at, switch_at
from ..shared.claude_blocks import may_go_back, write_blocks
from ..shared.media import from_url, media_kind, note, one_text
from ..shared.requests import past_call
from ..shared.results import Pairing, marked, tool_result
from ..shared.spec import Quirks, own, seal_of, sealed, wire_fields
from ..shared.written import Forms

NAME = "anthropic_messages"
MARKER = {"type": "ephemeral"}
_UNMARKED = ("thinking", "redacted_thinking")
"""Blocks the API lets no cache marker stand on."""

# ── reading ──────────────────────────────────────────────────────────────────


def read_blocks(content: Any, path: str, pairing: Pairing) -> tuple[list[Part], bool]:
    """The parts of a content, and whether a cache marker stands at its end."""
    if content is None or content == []:
        return [], False
    if isinstance(content, str):
        return [Text(content)], False
    blocks = [an_object(one, f"{path}[{i}]") for i, one in enumerate(an_array(content, path))]
    marked_at = _marked_at(blocks)
    if marked_at is not None and blocks[marked_at]["cache_control"] == MARKER:
        blocks[marked_at] = rest(blocks[marked_at], ("cache_control",))
    return [read_block(block, f"{path}[{i}]", pairing) for i, block in enumerate(blocks)], marked_at is not None


def _marked_at(blocks: Sequence[JsonObject]) -> int | None:
    """Where the last block stands that may bear a cache marker, if it bears one."""
    end = max((i for i, block in enumerate(blocks) if block.get("type") not in _UNMARKED), default=None)
    return end if end is not None and blocks[end].get("cache_control") is not None else None


def read_block(block: JsonObject, path: str, pairing: Pairing) -> Part:
    """The part a content block says; a block only this API has is kept as it is."""
    match block.get("type"):
        case "text":
            left = wire_fields(NAME, rest(block, frozenset({"type", "text"})))
            return Text(string_at(block, "text", path), metadata=left)
        case "thinking":
            left = sealed(block.get("signature")) or wire_fields(NAME, rest(block, frozenset({"type", "thinking"})))
            return Reasoning(string_at(block, "thinking", path), metadata=left)
        case "redacted_thinking":
            data = string_at(block, "data", path)
            return Reasoning("", metadata=sealed(data) or wire_fields(NAME, {"redacted": data}))
        case "tool_use":
            left = wire_fields(NAME, rest(block, frozenset({"type", "id", "name", "input"})))
            return past_call(name_at(block, "id", path), name_at(block, "name", path), block.get("input"), left)
        case "tool_result":
            return _read_result(block, path, pairing)
    return _read_media(block) or Opaque(api=NAME, block=block)


def _read_result(block: JsonObject, path: str, pairing: Pairing) -> ToolResult:
    given = block.get("content")
    parts, _ = read_blocks(given, f"{path}.content", pairing) if given is not None else ([Text("")], False)
    told = [Text(passage(part.block)) if isinstance(part, Opaque) and passage(part.block) else part for part in parts]
    carriable = [part for part in told if isinstance(part, Text | Media)]
    failed = switch_at(block, "is_error", path) or False
    call_id = string_at(block, "tool_use_id", path)
    left = rest(block, frozenset({"type", "tool_use_id", "content", "is_error"}))
    if len(carriable) < len(parts) or told != parts:
        left["content"] = given  # blocks no other API has: tool references, search results
    return tool_result(call_id, pairing.name(call_id), carriable, wire_fields(NAME, left), is_error=failed)


def _read_media(block: JsonObject) -> Media | None:
    """An image or document we can carry elsewhere; files kept at the server stay as they are."""
    kind, source = block.get("type"), mapping(block.get("source"))
    if kind not in ("image", "document"):
        return None
    left = rest(block, frozenset({"type", "source", "title"}))
    name, mime = string(block.get("title")), string(source.get("media_type"))
    metadata = wire_fields(NAME, left)
    match source.get("type"):
        case "base64" if kind == "image" or mime == "application/pdf":
            return Media(mime=mime, data=string(source.get("data")), name=name, metadata=metadata)
        case "text":
            data = base64.b64encode(string(source.get("data")).encode("utf-8", "surrogatepass")).decode()
            return Media(mime=mime, data=data, name=name, metadata=metadata)
        case "url" if string(source.get("url")):
            default = "application/pdf" if kind == "document" else ""
            media = from_url(source["url"], name=name, mime=default, metadata=metadata)
            return media if media.url and _block_type(media) == kind else None
    return None


# ── writing ──────────────────────────────────────────────────────────────────


def write_message(message: Message, quirks: Quirks) -> list[dict[str, Any]]:
    """The blocks of a message, a cache marker on the last that may bear one where the message asks for it."""
    blocks = write_blocks(message, write_part, quirks)
    if message.cache:
        last = next((block for block in reversed(blocks) if block.get("type") not in _UNMARKED), None)
        if last is not None:
            last.setdefault("cache_control", dict(MARKER))
    return blocks


class PlainBlocks(Forms):
    """How this wire has the parts of a plain conversation."""

    def __init__(self) -> None:
        self.numbers: list[Any] = []

    def form(self, thing: Any) -> Any:
        """The block of a part."""
        kind = type(thing)
        if kind is Text:
            return {"type": "text", "text": thing.text}
        if kind is ToolCall:
            given = plain(thing.arguments)
            self.numbers.append(given)
            return {"type": "tool_use", "id": thing.id, "name": thing.name, "input": given}
        if kind is not ToolResult:
            return as_dict(thing)
        content = thing.content
        if thing.is_error or len(content) != 1:
            return write_result(thing)
        return {"type": "tool_result", "tool_use_id": thing.call_id, "content": content[0].text}


def plain_parts(message: Message) -> Sequence[Part]:
    """The parts of such a message that a block stands for: texts that say something, calls, results."""
    parts = message.parts
    first: Any = parts[0] if len(parts) == 1 else None
    if first is not None and (type(first) is not Text or first.text):
        return parts  # as nearly all
    return [part for part in parts if type(part) is not Text or part.text]


def write_part(part: Part, *, unsigned: bool) -> list[dict[str, Any]]:
    """The content blocks of a part; `unsigned` lets reasoning pass that bears no signature."""
    match part:
        case Text(text):
            left = own(NAME, part.metadata) if part.metadata else NOTHING
            return [{"type": "text", "text": text, **left}] if text or left else []
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
    seal = seal_of(part.metadata)
    if "redacted" in part.metadata or (seal and not part.text):
        return [{"type": "redacted_thinking", "data": seal or part.metadata["redacted"]}]
    if seal:
        return [{"type": "thinking", "thinking": part.text, "signature": seal}]
    if not may_go_back(part, unsigned=unsigned):
        return []
    signed = {"signature": part.metadata.get("signature") or ""}
    return [{"type": "thinking", "thinking": part.text, **own(NAME, part.metadata), **signed}]


def write_result(result: ToolResult) -> dict[str, Any]:
    """The block that answers a call: failure has its own field, a code is marked in the text (seeds C10)."""
    content = marked(result, bare=False)
    blocks = [block for part in content for block in write_part(part, unsigned=False)]
    only = one_text(content, NAME)
    wire: dict[str, Any] = {"type": "tool_result", "tool_use_id": result.call_id}
    wire["content"] = blocks if only is None and blocks else only or ""
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
