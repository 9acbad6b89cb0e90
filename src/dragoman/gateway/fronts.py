"""The APIs the gateway serves: one row each.

Knows codecs by name and paths; nothing of sockets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ..codecs import CODECS
from ..codecs.shared.frames import FrameKind
from ..codecs.shared.spec import Codec
from ..types import NOTHING, JsonObject

VERSIONS = ("/v1", "", "/v1/v1")
"""Base URLs are given with and without /v1, and some clients add it once more (clients.md)."""
GOOGLE_VERSIONS = ("/v1beta", "/v1", "/v1alpha", "", "/v1beta/v1beta")


ALIKE = {"anthropic_messages": ("bedrock_converse", "bedrock_invoke")}
"""Front → other APIs whose signatures and redacted thoughts stand in the same words."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a front is served, below the version.

    `{model:path}` in it names the model; `stream` says whether it streams, None that the body says so.
    """

    path: str
    stream: bool | None = None


@cache
def _native(api: str) -> frozenset[str]:
    return frozenset({api, *ALIKE.get(api, ())})


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """One API as we serve it: its codec, endpoints, the versions before them, and how the ids of its answers begin.

    `history` is the field of its requests that grows from turn to turn.
    `told` are headers by which its clients say what others say in the body: header → field, a list of words.
    `refers` says that its clients may send back what they got by its id alone (Responses' `item_reference`),
    `comments` that its streams may hold comments: google-genai takes one for the beginning of an error, `arrays` that
    they are arrays of JSON unless events are asked for (`alt=sse`).
    """

    codec: Codec
    endpoints: tuple[Endpoint, ...]
    ids: str
    versions: tuple[str, ...] = VERSIONS
    refers: bool = False
    comments: bool = True
    arrays: bool = False
    history: str = "messages"
    told: Mapping[str, str] = NOTHING
    loads: frozenset[str] | None = None

    @property
    def native(self) -> frozenset[str]:
        """The APIs whose own fields of reasoning its clients can hold: its own, and what spells them alike."""
        return _native(self.codec.name)

    def heard(self, body: JsonObject, headers: Mapping[str, str]) -> JsonObject:
        """`body` with what its client says in headers."""
        if not self.told:
            return body
        said = {field: headers[name] for name, field in self.told.items() if headers.get(name)}
        words = {field: [word.strip() for word in value.split(",")] for field, value in said.items()}
        return {**body, **words} if words else body

    @property
    def served(self) -> Iterator[tuple[str, Endpoint]]:
        """Every path it is served under, and which endpoint that is."""
        for endpoint in self.endpoints:
            yield from ((version + endpoint.path, endpoint) for version in self.versions)

    @property
    def shown(self) -> str:
        """Its path, as people are shown it."""
        return self.versions[0] + self.endpoints[0].path.replace(":path}", "}")


FRONTS: tuple[Front, ...] = (
    Front(codec=CODECS["openai_chat"], endpoints=(Endpoint("/chat/completions"),), ids="chatcmpl-"),
    Front(codec=CODECS["openai_responses"], endpoints=(Endpoint("/responses"),), ids="resp_", refers=True,
          history="input"),
    Front(codec=CODECS["anthropic_messages"], endpoints=(Endpoint("/messages"),), ids="msg_",
          told={"anthropic-beta": "betas"}),
    Front(codec=CODECS["ollama_chat"], endpoints=(Endpoint("/api/chat"),), ids="", versions=("", "/v1"),
          loads=frozenset()),
    Front(codec=CODECS["ollama_generate"], endpoints=(Endpoint("/api/generate"),), ids="", versions=("", "/v1"),
          loads=frozenset({"system"})),
    Front(
        codec=CODECS["gemini"],
        comments=False,
        arrays=True,
        history="contents",
        endpoints=(
            Endpoint("/models/{model:path}:generateContent", stream=False),
            Endpoint("/models/{model:path}:streamGenerateContent", stream=True),
        ),
        ids="",
        versions=GOOGLE_VERSIONS,
    ),
)

STREAM_TYPES: Mapping[FrameKind, str] = {
    FrameKind.SSE: "text/event-stream; charset=utf-8",
    FrameKind.NDJSON: "application/x-ndjson",
}
