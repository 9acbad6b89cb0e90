"""The client of an exchange in the background: what it is sent stands on a shelf, for whoever asks later.

Knows ASGI messages, events of Responses and what is kept; nothing of tasks or wires.
Contract: events are numbered without a hole, from `response.created` on to the last one, which says how the response
ended; what is under way is on the shelf within `PIECE` seconds.  A response that ended without an answer has failed,
and says why.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...codecs.shared.errors import ErrorReply
from ...codecs.shared.frames import Frame, SseReader
from ...effects import Machine
from ...jsontext import to_json
from ...types import JsonObject
from ..state.responses import Kept, Opening, failed
from ..state.runs import Event, is_under_way
from ..state.stores import StateStores
from .asgi import Message

PIECE = 0.25
"""Seconds of events that are kept as one chunk."""
MOST_EVENTS = 32 * 1024 * 1024
"""Characters of one response's events that are kept; beyond that only the last one."""
INTERNAL = "internal error; the server's log says more"
WRONG = frozenset({400, 404, 413, 422})
"""Refusals of what was asked."""
CREATED = "response.created"
OURS = "x-dragoman-"
COMMENTS = re.compile(rb"^: (x-dragoman-[a-z-]+): ([ -~]*)$", re.MULTILINE)
"""What a stream says at its end of what a whole answer says in headers."""
LAST = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})


class Shelved:
    """Takes the answer of one exchange; `stream`: its events are kept, and `notify` is called when there are more."""

    def __init__(
        self, name: str, opening: Opening, stores: StateStores, *, stream: bool, notify: Callable[[], None]
    ) -> None:
        self._name, self._opening, self._stores, self._responses = name, opening, stores, stores.responses
        self._in_turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._streams, self._notify = stream, notify
        self._reader = SseReader()
        self._number = self._chunk = self._size = 0
        self._events: list[Event] = []
        self._flushing: asyncio.TimerHandle | None = None
        self._last: JsonObject | None = None
        self._told: dict[str, str] = {}

    # ── as a client ──────────────────────────────────────────────────────────

    async def receive(self) -> Message:
        """It never goes away."""
        await asyncio.Event().wait()
        raise AssertionError

    async def send(self, message: Message) -> None:
        """More of the answer; a whole one is kept where every answer is."""
        if message["type"] == "http.response.start":
            named = {key.decode("latin-1"): value.decode("latin-1") for key, value in message["headers"]}
            self._told |= {name: value for name, value in named.items() if name.startswith(OURS)}
        elif self._streams:
            data = message.get("body", b"")
            self._told |= {name.decode(): said.decode() for name, said in COMMENTS.findall(data)}
            for frame in self._reader.feed(data):
                self._take(frame)

    def _take(self, frame: Frame) -> None:
        if frame.event in LAST:
            self._last = json.loads(frame.data)
        elif frame.event not in {CREATED, "error"} and self._size < MOST_EVENTS:
            self.say(**json.loads(frame.data))
            if self._flushing is None:
                self._flushing = asyncio.get_running_loop().call_later(PIECE, self._flush_beside)

    # ── onto the shelf ───────────────────────────────────────────────────────

    def say(self, type: str, **fields: Any) -> None:  # noqa: A002 -- the API's own word
        """One more event."""
        data = to_json({"type": type, **fields, "sequence_number": self._number})
        self._events.append(Event(self._number, type, data))
        self._number += 1
        self._size += len(data)

    def _flush_beside(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self.flush())

    async def flush(self) -> None:
        """Put what was said where others see it; one chunk after the other."""
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        async with self._in_turn:
            if self._events:
                (events, self._events), chunk = (self._events, []), self._chunk
                self._chunk += 1
                await self._stores.ask(self._responses.runs.add(self._name, self._opening.owner, chunk, events))
        self._notify()

    async def finish(self, error: Exception | None) -> None:
        """The exchange is over; `error` is why there is no answer.  Raises ProviderError where nothing can be kept."""
        await self.flush()
        kept = await self._stores.ask(self._finished(error))
        if kept is not None and self._streams:
            self._end(kept.body)
        await self._stores.ask(self._responses.runs.clear(self._name, self._opening.owner))
        await self.flush()

    def _finished(self, error: Exception | None) -> Machine[Kept | None]:
        """How the answer ended."""
        responses, owner = self._responses, self._opening.owner
        kept = yield from responses.find(self._name, owner)
        if kept is not None and is_under_way(kept.body):
            yield from responses.settle(replace(kept, body={**kept.body, **failed(**_error(error))}), owner)
            kept = yield from responses.find(self._name, owner)
        if kept is None:
            yield from responses.runs.forget(self._name, owner)
        else:
            yield from responses.tell(self._name, owner, self._told)
        return kept

    def _end(self, body: JsonObject) -> None:
        kind = f"response.{body['status']}"
        if self._last is not None and self._last["type"] == kind:
            self.say(**self._last)
        else:
            self.say(kind, response=body)
        self._streams = False


def _error(error: Exception | None) -> dict[str, Any]:
    """Why a response failed, in the words of the API."""
    if error is None:
        return {"message": INTERNAL}
    reply = ErrorReply(error)
    code = {429: "rate_limit_exceeded"}.get(reply.status) or ("invalid_prompt" if reply.status in WRONG else "")
    return {"message": reply.message, "code": code or "server_error"}
