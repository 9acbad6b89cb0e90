"""The model of a soak, in its own process: `python -m bench.soak.servers PORT [harsh]`.

The weak model without a tool API, erring; some of its connections are reset before the head or in the middle.  A harsh
one besides refuses, is slow, ends early and sends what is no answer.
"""

from __future__ import annotations

import asyncio
import sys
from random import Random
from typing import Any

import uvicorn

from dragoman.sim.model import WeakModel
from dragoman.sim.server import app as weak

RESETS = 0.05
"""How many answers break off: half of them before the first byte, half in the middle."""


class Torn:
    """An ASGI application whose connections are sometimes cut."""

    def __init__(self, app: Any, seed: int) -> None:
        self._app, self._luck = app, Random(seed)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve, or break off."""
        if scope["type"] != "http" or self._luck.random() >= RESETS:
            await self._app(scope, receive, send)
            return
        left = self._luck.choice([0, 3])

        async def cut(message: Any) -> None:
            nonlocal left
            if message["type"] == "http.response.body":
                left -= 1
                if left < 0:
                    scope["extensions"]["cut"]()
            await send(message)

        scope.setdefault("extensions", {})["cut"] = lambda: (_ for _ in ()).throw(ConnectionResetError("cut"))
        await self._app(scope, receive, cut)


REFUSALS = (
    (500, "application/json", b'{"error": {"message": "CUDA error: device-side assert", "type": "server_error"}}'),
    (429, "application/json", b'{"error": {"message": "Too many requests", "type": "rate_limit_error"}}'),
    (503, "text/html", b"<html><body><h1>503 Service Unavailable</h1></body></html>"),
    (502, "text/plain", b""),
)
GARBLED = (
    (200, "text/event-stream", b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hel'),
    (200, "text/event-stream", b"data: {]\n\ndata: \xff\xfe\n\ndata: [DONE]\n\n"),
    (200, "text/html", b"<html>Sign in to continue</html>"),
    (200, "application/json", b'{"choices": 7}'),
    (200, "application/json", b""),
)
HARSH = {"refuse": 0.03, "garble": 0.02, "slow": 0.06, "early": 0.01}
"""How many answers are so; the rest is the model's."""


class Harsh:
    """An ASGI application some of whose answers are refusals, late, cut off in good order, or no answers at all."""

    def __init__(self, app: Any, seed: int) -> None:
        self._app, self._luck = app, Random(seed)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve, or do what luck says."""
        ways = [*HARSH, ""]
        way = self._luck.choices(ways, [*HARSH.values(), 1 - sum(HARSH.values())])[0] if scope["type"] == "http" else ""
        if way == "refuse":
            await _say(send, *self._luck.choice(REFUSALS))
        elif way == "garble":
            await _say(send, *self._luck.choice(GARBLED))
        else:
            if way == "slow":
                await asyncio.sleep(self._luck.uniform(0.3, 5.0))
            await self._app(scope, receive, _early(send) if way == "early" else send)


async def _say(send: Any, status: int, kind: str, body: bytes) -> None:
    headers = [(b"content-type", kind.encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _early(send: Any) -> Any:
    """`send`, which ends a stream after its second piece."""
    pieces = 0

    async def some(message: Any) -> None:
        nonlocal pieces
        if message["type"] != "http.response.body":
            await send(message)
            return
        pieces += 1
        if pieces <= 2:
            await send({**message, "more_body": message.get("more_body", False) and pieces < 2})

    return some


def main() -> None:
    """Serve until ended."""
    model: Any = Torn(weak(WeakModel(seed=1), delay=0.0), 1)
    if "harsh" in sys.argv[2:]:
        model = Harsh(model, 2)
    uvicorn.run(model, port=int(sys.argv[1]), log_level="critical", access_log=False)


if __name__ == "__main__":
    main()
