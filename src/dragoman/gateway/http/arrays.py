"""A stream of events as one array of JSON, for clients of Gemini that do not ask for `alt=sse`.

Knows the messages of ASGI and frames of events; nothing of what they say.  Contract: each event is an element, sent
once it is complete; whatever is no stream of events (an error before it began) passes as it is; an array that was begun
ends as one, also where the stream ended early.
Source: ai.google.dev/api/generate-content, streamGenerateContent ("a stream of GenerateContentResponse"): without
`alt=sse` the REST API gives an array, element by element.
"""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.types import Message, Send

from ...codecs.shared.frames import FrameKind, readers

EVENTS, JSON = b"text/event-stream", b"application/json; charset=UTF-8"


def wants_events(query: str) -> bool:
    """Does the query ask for a stream of events?"""
    return "sse" in parse_qs(query).get("alt", ())


class ArrayOut:
    """What sends an answer's messages to the client, its events as elements of an array."""

    def __init__(self, send: Send) -> None:
        self._send, self._reader = send, readers[FrameKind.SSE]()
        self._streams = self._begun = False

    async def __call__(self, message: Message) -> None:
        """Send one message."""
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            self._streams = headers.get(b"content-type", b"").startswith(EVENTS)
            as_array = [*{**headers, b"content-type": JSON}.items()]
            await self._send({**message, "headers": as_array} if self._streams else message)
        elif self._streams and message["type"] == "http.response.body":
            await self._body(message)
        else:
            await self._send(message)

    async def _body(self, message: Message) -> None:
        more = message.get("more_body", False)
        frames = [*self._reader.feed(message.get("body", b"")), *(() if more else self._reader.close())]
        pieces = [self._before() + frame.data.encode() for frame in frames]
        if not more:
            pieces.append(b"]" if self._begun else b"[]")
        if pieces:
            await self._send({**message, "body": b"".join(pieces)})

    def _before(self) -> bytes:
        """What stands before the next element."""
        begun, self._begun = self._begun, True
        return b",\r\n" if begun else b"["
