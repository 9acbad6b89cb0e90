"""The APIs the gateway serves: one row each.

Knows codecs by name and paths; nothing of sockets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..codecs import CODECS
from ..codecs.spec import Codec
from ..frames import FrameKind

VERSIONS = ("/v1", "", "/v1/v1")
"""Base URLs are given with and without /v1, and some clients add it once more (clients.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """One API as we serve it: its codec, the path after the version, and what the ids of its answers begin with."""

    codec: Codec
    path: str
    ids: str

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path it is served under."""
        return tuple(version + self.path for version in VERSIONS)


FRONTS: tuple[Front, ...] = (
    Front(codec=CODECS["openai_chat"], path="/chat/completions", ids="chatcmpl-"),
    Front(codec=CODECS["anthropic_messages"], path="/messages", ids="msg_"),
    Front(codec=CODECS["ollama_chat"], path="/api/chat", ids=""),
)

STREAM_TYPES: Mapping[FrameKind, str] = {
    FrameKind.SSE: "text/event-stream; charset=utf-8",
    FrameKind.NDJSON: "application/x-ndjson",
}
