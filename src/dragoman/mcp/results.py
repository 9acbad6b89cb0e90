"""A tool's result, as MCP has it and as we have it: JSON of a `CallToolResult` ⇄ `ToolResult`.

Knows the blocks of MCP's content and our parts; no SDK, no connection.
Contract: nothing is lost: a block we have no part for becomes a text that says it, and stands whole in the part's
metadata, so that `written(read(x))` has the same blocks; structured content that no text block repeats becomes a text
block; failures get an `ErrorCode` from marks, errno names and status numbers, never from English.
Source: https://modelcontextprotocol.io/specification/2025-11-25/server/tools
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..codecs.shared.media import media_kind
from ..codecs.shared.results import marked, read_mark
from ..errors import ErrorCode, exit_code, http_code
from ..jsontext import dumps
from ..types import NOTHING, Json, JsonObject, Media, Text, ToolResult

BLOCK = "mcp"
"""The metadata key under which a part keeps the block it was."""
APART = "apart"
"""The metadata key of a text that was given the end of its line."""
STRUCTURED = "structured"
"""The metadata key under which a result keeps its structured content."""


def read(result: JsonObject, call_id: str, name: str = "") -> ToolResult:
    """The result of a call as our value.  `result` is the JSON of MCP's `CallToolResult`."""
    blocks = result.get("content")
    parts = [_part(block) for block in blocks if isinstance(block, Mapping)] if isinstance(blocks, Sequence) else []
    structured = result.get("structuredContent")
    if structured is not None and not repeats(structured, [p.text for p in parts if isinstance(p, Text)]):
        parts.append(Text(dumps(structured), metadata={BLOCK: {"structuredContent": True}}))
    failed = bool(result.get("isError"))
    content, _, code = read_mark(parts, is_error=failed)
    if failed and code is None:
        code = code_in_text("\n".join(part.text for part in content if isinstance(part, Text)))
    return ToolResult(
        call_id=call_id,
        name=name,
        content=apart(content),
        is_error=failed,
        error_code=code,
        metadata=_metadata(result) or NOTHING,
    )


def _metadata(result: JsonObject) -> dict[str, Any]:
    structured = {STRUCTURED: result["structuredContent"]} if "structuredContent" in result else {}
    meta = _meta(result)
    return {**structured, "_meta": meta} if meta else structured


def _meta(result: JsonObject) -> dict[str, Any]:
    """The server's fields beside the result, without the protocol's own stamps."""
    meta = result.get("_meta")
    own = "io.modelcontextprotocol/"
    return {k: v for k, v in meta.items() if not k.startswith(own)} if isinstance(meta, Mapping) else {}


def apart(parts: Sequence[Text | Media]) -> tuple[Text | Media, ...]:
    """The parts with a line's end between texts: blocks are statements of their own, and models get one text."""
    last = len(parts) - 1
    return tuple(_ended(part) if isinstance(part, Text) and at < last else part for at, part in enumerate(parts))


def _ended(part: Text) -> Text:
    if part.text.endswith("\n"):
        return part
    return Text(f"{part.text}\n", metadata={**part.metadata, APART: True})


def repeats(structured: Json, texts: Sequence[str]) -> bool:
    """Do the text blocks hold all of the structured content?

    Servers repeat it as JSON (the specification asks for it), as the only field of an object (`{"result": text}`,
    `{"content": text}`: the official SDKs), or one block for each item of a list.
    """
    if not texts:
        return False
    values = [_parsed(text) for text in texts]
    only = next(iter(structured.values())) if isinstance(structured, dict) and len(structured) == 1 else structured
    wanted = {_canonical(structured), _canonical(only)}
    forms = (*texts, *values, values, list(texts), "".join(texts), "\n".join(texts))
    return any(_canonical(form) in wanted for form in forms)


def _canonical(value: Any) -> str:
    """Equal values as equal text; 1 and true differ here, as they do in JSON."""
    return json.dumps(value, sort_keys=True)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# ── blocks ⇄ parts ───────────────────────────────────────────────────────────


def _part(block: JsonObject) -> Text | Media:
    return _READERS.get(str(block.get("type")), _unknown)(block)


def _rest(block: JsonObject, *known: str) -> JsonObject:
    """The fields of a block that our part has no place for."""
    rest = {key: value for key, value in block.items() if key not in ("type", *known) and value is not None}
    return {BLOCK: rest} if rest else NOTHING


def _text(block: JsonObject) -> Text:
    return Text(str(block.get("text", "")), metadata=_rest(block, "text"))


def _media(block: JsonObject) -> Media:
    return Media(
        mime=str(block.get("mimeType", "")),
        data=str(block.get("data", "")),
        metadata=_rest(block, "mimeType", "data"),
    )


def _link(block: JsonObject) -> Text:
    """A link the model may name to another tool: what it is, in words."""
    title = block.get("title") or block.get("name") or ""
    pieces = [f"[resource: {title}]({block.get('uri', '')})", block.get("mimeType"), block.get("description")]
    return Text(" — ".join(str(piece) for piece in pieces if piece), metadata={BLOCK: dict(block)})


def _resource(block: JsonObject) -> Text | Media:
    """A resource in full: its text under its address, or its bytes."""
    resource = block.get("resource")
    if not isinstance(resource, Mapping):
        return _unknown(block)
    uri, whole = str(resource.get("uri", "")), {BLOCK: dict(block)}
    if "text" in resource:
        return Text(f"{uri}\n{resource['text']}", metadata=whole)
    mime = str(resource.get("mimeType", "application/octet-stream"))
    return Media(mime=mime, data=str(resource.get("blob", "")), name=uri, metadata=whole)


def _unknown(block: JsonObject) -> Text:
    return Text(dumps(block), metadata={BLOCK: dict(block)})


_READERS: Mapping[str, Callable[[JsonObject], Text | Media]] = {
    "text": _text,
    "image": _media,
    "audio": _media,
    "resource_link": _link,
    "resource": _resource,
}


def written(result: ToolResult, *, any_json: bool = False) -> dict[str, Any]:
    """The JSON of MCP's `CallToolResult` for our value; a failure is marked `[ERROR:CODE]` in its text.

    Structured content is sent where the result is one JSON object, or, with `any_json` (2026-07-28), any JSON
    container.
    """
    made: dict[str, Any] = {"content": [_block(part) for part in marked(result) if not _only_structured(part)]}
    if result.is_error:
        made["isError"] = True
    structured = _structure(result)
    if isinstance(structured, dict | list if any_json else dict) and not result.is_error:
        made["structuredContent"] = structured
    return made


def _only_structured(part: Text | Media) -> bool:
    mine = part.metadata.get(BLOCK)
    return isinstance(mine, Mapping) and "structuredContent" in mine


def _structure(result: ToolResult) -> Any:
    if STRUCTURED in result.metadata:
        return result.metadata[STRUCTURED]
    texts = [part.text for part in result.content if isinstance(part, Text)]
    return _parsed(texts[0]) if len(texts) == 1 == len(result.content) else None


def _block(part: Text | Media) -> dict[str, Any]:
    block = part.metadata.get(BLOCK)
    whole = dict(block) if isinstance(block, Mapping) else {}
    if "type" in whole:
        return whole
    if isinstance(part, Text):
        text = part.text.removesuffix("\n") if part.metadata.get(APART) else part.text
        return {"type": "text", "text": text, **whole}
    kind = media_kind(part)
    if part.url:
        name = part.name or part.url.rpartition("/")[2] or part.url
        return {"type": "resource_link", "uri": part.url, "name": name, **_mime(part)}
    if kind in ("image", "audio"):
        return {"type": kind, "data": part.data, "mimeType": part.mime or "image/png", **whole}
    uri = part.name if "://" in part.name else f"file:///{part.name or 'file'}"
    return {"type": "resource", "resource": {"uri": uri, "blob": part.data, **_mime(part)}}


def _mime(part: Media) -> dict[str, str]:
    return {"mimeType": part.mime} if part.mime else {}


# ── failures ─────────────────────────────────────────────────────────────────

_ERRNOS: frozenset[str] = frozenset(errno.errorcode.values())


def _errno(word: str) -> str | None:
    return word if word in _ERRNOS else None


_NUMBERED: Sequence[tuple[re.Pattern[str], Callable[[str], str | None]]] = (
    (re.compile(r"\b(E[A-Z]{2,}[A-Z0-9]*)\b:"), _errno),  # node: "ENOENT: no such file or directory, open …"
    (re.compile(r"\[(?:Errno|WinError) (\d+)\]"), lambda n: errno.errorcode.get(int(n))),  # Python's OSError
    (re.compile(r"(?:MCP error|JSON-RPC error|error code)\W{1,2}(-32\d{3})\b", re.I), lambda n: rpc_code(int(n))),
    (re.compile(r"\bHTTP(?:/[\d.]+)?(?: status)?(?: code)?\W{1,2}([45]\d\d)\b"), lambda n: http_code(int(n))),
    (re.compile(r"\bexit(?:ed with)?(?: code| status)\W{1,2}(\d{1,3})\b"), lambda n: exit_code(int(n))),
)
"""Marks in a failure's text that say more than English: a pattern, and the code of what it found."""

_LOOK_AT = 2000


def code_in_text(text: str) -> str:
    """The code of a failure by the marks in `text`; `UnknownError` where the text holds no mark we know."""
    for pattern, code in _NUMBERED:
        for found in pattern.finditer(text[:_LOOK_AT]):
            if known := code(found[1]):
                return known
    return ErrorCode.UNKNOWN_ERROR


RPC_CODES: Mapping[int, ErrorCode] = {
    -32000: ErrorCode.ECONNRESET,
    -32001: ErrorCode.TIMEOUT,
    -32601: ErrorCode.UNKNOWN_TOOL,
    -32602: ErrorCode.INVALID_ARGS,
    -32603: ErrorCode.TOOL_CRASHED,
    -32700: ErrorCode.NETWORK_ERROR,
    -32042: ErrorCode.DENIED,
}
"""JSON-RPC and MCP error numbers → our codes: connection closed, request timed out (the SDKs' numbers), no such
method, invalid params, internal error, not JSON, a URL the user must visit first."""


def rpc_code(number: int) -> str:
    """The code of a JSON-RPC error; `JSONRPC:-32050` for a number of the server's own."""
    return RPC_CODES.get(number) or f"JSONRPC:{number}"


def as_part(block: JsonObject) -> Text | Media:
    """A content block as a part of a message."""
    return _part(block)
