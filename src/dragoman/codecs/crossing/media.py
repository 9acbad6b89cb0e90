"""Images and sound that stand beside the text of an answer, in fields of their own.

Knows the fields of the chat API's messages; nothing of bodies, nor of what becomes of what they hold.
"""

from __future__ import annotations

from ...types import JsonObject, Media
from ..shared.body import items, mapping, string
from ..shared.media import from_url
from ..shared.spec import WireFields
from .settings import CHAT


def media_beside(extra: JsonObject) -> list[Media]:
    """Images and sound of a chat answer, which stand in fields of its message."""
    message = mapping(extra.get("message")) if isinstance(extra, WireFields) and extra.api == CHAT else {}
    urls = [string(mapping(mapping(one).get("image_url")).get("url")) for one in items(message.get("images"))]
    sound = string(mapping(message.get("audio")).get("data"))
    return [*(from_url(url) for url in urls if url), *([Media(mime="audio/wav", data=sound)] if sound else [])]
