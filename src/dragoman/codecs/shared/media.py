"""Media of messages: data URLs, and what kind of thing a media type names.

Knows no wire.  Contract: `from_url(data_url(m))` is `m`, its name and metadata apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal
from urllib.parse import urlsplit

from ...types import NOTHING, JsonObject, Media, Part, Text
from .spec import own

Kind = Literal["image", "audio", "video", "file"]

_DATA_URL = re.compile(r"data:([^,]*?);base64,(.*)", re.DOTALL)
_STANDARD = str.maketrans("-_", "+/")
_BY_SUFFIX = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
}


def media_kind(media: Media) -> Kind:
    """What `media` is, by its media type; what does not say is taken for an image, the commonest."""
    head = media.mime.split("/", 1)[0]
    if head in ("image", ""):
        return "image"
    if head == "audio":
        return "audio"
    return "video" if head == "video" else "file"


def data_url(media: Media) -> str:
    """The URL of `media`: its own, or its data in one."""
    return media.url or f"data:{media.mime};base64,{media.data}"


def from_url(url: str, *, name: str = "", mime: str = "", metadata: JsonObject = NOTHING) -> Media:
    """Media from a URL: the data in it, or the URL with the media type of its suffix, else `mime`."""
    if found := _DATA_URL.fullmatch(url):
        return Media(mime=found[1], data=found[2], name=name, metadata=metadata)
    return Media(mime=_suffix_type(url) or mime, url=url, name=name, metadata=metadata)


def standard_base64(data: str) -> str:
    """`data` in the alphabet every API takes: google-genai writes bytes in that of URLs, others refuse it."""
    if "-" in data or "_" in data:
        data = data.translate(_STANDARD)
    return data + "=" * (-len(data) % 4)


def _suffix_type(url: str) -> str:
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    return _BY_SUFFIX.get(path.rpartition(".")[2].lower(), "")


def note(media: Media) -> str:
    """What stands for `media` on a wire that cannot carry it."""
    if media.url:
        return f"[{media_kind(media)} at {media.url}]"
    what = " ".join(filter(None, (media.name, media.mime and f"({media.mime})"))) or "unnamed"
    return f"[{media_kind(media)}: {what}; this API cannot carry it]"


def joined(parts: Iterable[Part], between: str = "\n\n") -> str:
    """The texts of `parts`, with what stands `between` separate ones."""
    return between.join(part.text for part in parts if isinstance(part, Text) and part.text)


def one_text(parts: Sequence[Part], api: str) -> str | None:
    """The text of `parts` where they are one text, of which wire `api` says nothing else."""
    only = parts[0] if len(parts) == 1 else None
    return only.text if isinstance(only, Text) and not own(api, only.metadata) else None
