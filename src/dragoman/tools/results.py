"""A tool's return value → the `ToolResult` a model is shown.

Does not know who runs tools and opens no file: `FileResult` names one, and whoever runs the tool hands in what reads
it.
Contract: every value gives a result; one that has no JSON gives a failed result that says so, never an exception.
Beside the text, `metadata["value"]` keeps the JSON itself for programs; no wire sends it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..errors import ErrorCode, ToolError
from ..types import NOTHING, JsonObject, Media, Text, ToolCall, ToolResult
from .failures import failure_of
from .to_json import Unwritable, plain

Read: TypeAlias = Callable[[str], bytes]
Content: TypeAlias = "tuple[Text | Media, ...]"


@dataclass(frozen=True, slots=True)
class FileResult:
    """A file as a tool's result, by its path; `mime` and `name` where they are not plain from path and content.

    A text reaches the model as text, an image, sound or document as media.  (A plain `Path` is its text.)
    """

    path: str
    mime: str = ""
    name: str = ""


def result_of(call: ToolCall, value: Any, read: Read | None = None) -> ToolResult:
    """The result of `call` that `value` is: text as it stands, parts as parts, all else as JSON.

    `read` takes the path of a `FileResult` and returns its bytes; what it raises makes the result a failed one.
    An error returned instead of raised is a failure too.
    """
    if isinstance(value, ToolResult):
        return replace(value, call_id=call.id, name=call.name)
    if isinstance(value, BaseException):
        return failure_of(call, value)
    try:
        content, metadata = _content(value, read)
    except Unwritable as error:
        message = f"the tool ran, but what it returned cannot be shown: {error}"
        return failure_of(call, ToolError(ErrorCode.TOOL_CRASHED, message))
    except Exception as error:
        return failure_of(call, error)
    return ToolResult(call_id=call.id, name=call.name, content=content, metadata=metadata)


def _content(value: Any, read: Read | None) -> tuple[Content, JsonObject]:
    if isinstance(value, str):
        return (Text(_clean(value)),), NOTHING
    if _is_part(value):
        return (_part(value, read),), NOTHING
    if (
        isinstance(value, list | tuple)
        and any(map(_is_part, value))
        and all(_is_part(v) or isinstance(v, str) for v in value)
    ):
        return tuple(Text(_clean(v)) if isinstance(v, str) else _part(v, read) for v in value), NOTHING
    written = plain(value)
    text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
    return (Text(text),), {"value": written}


def _is_part(value: Any) -> bool:
    return isinstance(value, _PARTS) or callable(getattr(type(value), "_repr_png_", None))


_PARTS = (Text, Media, FileResult, bytes, bytearray, memoryview)


def _part(value: Any, read: Read | None) -> Text | Media:
    if isinstance(value, Text | Media):
        return value
    if isinstance(value, FileResult):
        if read is None:
            raise Unwritable("a file can be read only where tools are run: return its bytes or its text")
        return _sniffed(read(value.path), value.mime or _mime_of(value.path), value.name or _last(value.path))
    if isinstance(value, bytes | bytearray | memoryview):
        return _sniffed(bytes(value))
    return _sniffed(value._repr_png_(), "image/png")  # what notebooks show: PIL's images, plots


# ── bytes ────────────────────────────────────────────────────────────────────

_MAGIC: Sequence[tuple[bytes, int, str]] = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF8", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"BM", 0, "image/bmp"),
    (b"%PDF-", 0, "application/pdf"),
    (b"WAVE", 8, "audio/wav"),
    (b"ID3", 0, "audio/mpeg"),
    (b"\xff\xfb", 0, "audio/mpeg"),
    (b"OggS", 0, "audio/ogg"),
    (b"fLaC", 0, "audio/flac"),
    (b"ftyp", 4, "video/mp4"),
    (b"PK\x03\x04", 0, "application/zip"),
)
"""Beginnings of files: the bytes, where they stand, the media type."""

_ENDINGS = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "svg": "image/svg+xml", "pdf": "application/pdf", "wav": "audio/wav", "mp3": "audio/mpeg", "ogg": "audio/ogg",
    "flac": "audio/flac", "mp4": "video/mp4", "webm": "video/webm", "zip": "application/zip",
}  # fmt: skip
_UNKNOWN = "application/octet-stream"


def _sniffed(data: bytes, mime: str = "", name: str = "") -> Text | Media:
    """Text where the bytes are text, else media of the type given, recognised or unknown."""
    found = next((kind for magic, at, kind in _MAGIC if data[at : at + len(magic)] == magic), "")
    if not found and not mime.startswith(("image/", "audio/", "video/")):
        text = _decoded(data)
        if text is not None:
            return Text(text)
    return Media(mime=mime or found or _UNKNOWN, data=base64.b64encode(data).decode(), name=name)


def _decoded(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _mime_of(path: str) -> str:
    return _ENDINGS.get(_last(path).rpartition(".")[2].casefold(), "")


def _last(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _clean(text: str) -> str:
    cleaned = plain(text)
    assert isinstance(cleaned, str)
    return cleaned
