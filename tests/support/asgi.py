"""A client in process: speaks ASGI to the gateway, whole or step by step, and may hang up."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.clocks import LONG

LEGAL = re.compile(rb"(?:[^\x00-\x20\x7f](?:[^\x00-\x1f\x7f]|\t)*(?<![ \t]))?")
"""A header's value, by RFC 9110, section 5.5: a server that gets another sends nothing at all."""


@dataclass
class Reply:
    """What the gateway answered; `pieces` are the messages of the body as they came."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    pieces: list[bytes] = field(default_factory=list)
    ended: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """One request in flight.  `hang_up()` is what uvicorn tells when the client's connection is gone."""

    def __init__(
        self, app: Any, path: str, body: Any = None, *, method: str = "POST", headers: Mapping[str, str] | None = None
    ) -> None:
        self.reply = Reply()
        self._app = app
        self._gone = asyncio.Event()
        self._changed = asyncio.Condition()
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        self._messages = [{"type": "http.request", "body": data, "more_body": False}]
        path, _, query = path.partition("?")
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(k.lower().encode(), v.encode()) for k, v in (headers or {}).items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
        }

    async def run(self) -> Reply:
        """The whole exchange."""
        await self._app(self._scope, self._receive, self._send)
        return self.reply

    def hang_up(self) -> None:
        """The client goes away."""
        self._gone.set()

    async def until(self, wanted: bytes, times: int = 1) -> None:
        """Wait until `wanted` has come so often."""
        async with self._changed:
            await asyncio.wait_for(self._changed.wait_for(lambda: self.reply.body.count(wanted) >= times), LONG)

    async def _receive(self) -> dict[str, Any]:
        if self._messages:
            return self._messages.pop(0)
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._changed:
            if message["type"] == "http.response.start":
                assert not self.reply.status, "two heads"
                self.reply.status = message["status"]
                for name, value in message["headers"]:
                    assert LEGAL.fullmatch(value), f"{name!r} is no header servers send: {value!r}"
                self.reply.headers = {k.decode(): v.decode() for k, v in message["headers"]}
            else:
                assert self.reply.status, "a body without a head"
                assert not self.reply.ended, "more after the end"
                if message.get("body"):
                    self.reply.pieces.append(message["body"])
                self.reply.ended = not message.get("more_body", False)
            self._changed.notify_all()


def call(app: Any, path: str, body: Any = None, **more: Any) -> Reply:
    """One request, from the outside of any loop."""

    async def go() -> Reply:
        return await Client(app, path, body, **more).run()

    return asyncio.run(go())
