"""What goes wrong with an upstream, one row each: an ASGI application between the gateway and the model.

Knows requests by their number; nothing of models, of the gateway or of clients.
Contract: deterministic for one seed; a trouble of one request leaves the next one alone, so that whoever asks again is
served, but for those that a row calls lasting.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, TypeAlias

App: TypeAlias = Callable[[Any, Any, Any], Any]
EVERY = 4
"""One request in so many is troubled."""


def _refusing(status: int, kind: str, **headers: str) -> App:
    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        body = json.dumps({"error": {"message": f"upstream: {kind}", "type": kind}}).encode()
        sent = [(b"content-type", b"application/json"), *((k.encode(), v.encode()) for k, v in headers.items())]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": body})

    return refuse


async def _empty(scope: Any, receive: Any, send: Any) -> None:
    head = {"id": "chatcmpl-none", "object": "chat.completion.chunk", "created": 1, "model": "weak"}
    frames = [{"role": "assistant", "content": ""}, {}]
    ends = [None, "stop"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    for delta, end in zip(frames, ends, strict=True):
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        data = json.dumps({**head, "choices": [choice]}).encode()
        await send({"type": "http.response.body", "body": b"data: " + data + b"\n\n", "more_body": True})
    await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})


async def _reset(scope: Any, receive: Any, send: Any) -> None:
    """The connection is cut before a byte of the answer."""
    receive.__self__.transport.abort()


def _open_ended(app: App) -> App:
    """The body of an answer stays open behind the answer's end, but for one that says how long it is."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        sized = False

        async def held(message: Any) -> None:
            nonlocal sized
            sized = sized or any(name == b"content-length" for name, _ in message.get("headers", ()))
            last = message["type"] == "http.response.body" and not message.get("more_body") and not sized
            await send({**message, "more_body": True} if last else message)
            if last:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(_gone(receive), 900)
                await send({"type": "http.response.body", "body": b""})

        await app(scope, receive, held)

    return serve


async def _gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _late(app: App) -> App:
    """Each answer begins two seconds late."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(2)
        await app(scope, receive, send)

    return serve


FAILURES: Mapping[str, App] = {
    "answers empty": _empty,
    "429": _refusing(429, "rate_limit_error", **{"retry-after": "1"}),
    "500": _refusing(500, "server_error"),
    "503": _refusing(503, "overloaded_error"),
    "reset": _reset,
}
"""A request in four ends so."""
LASTING: Mapping[str, Callable[[App], App]] = {"never closes": _open_ended, "is slow": _late}
IGNORES = "ignores tools"
ERRS = "errs at random"
TROUBLES = ("", IGNORES, *FAILURES, *LASTING, ERRS)


class Troubled:
    """`app` with a trouble of `TROUBLES`; "" is none."""

    def __init__(self, app: App, trouble: str, seed: int = 1) -> None:
        self._trouble, self._luck, self.asked, self.troubled = trouble, Random(seed), 0, 0
        self._app = LASTING[trouble](app) if trouble in LASTING else app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request, or fail."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        self.asked += 1
        failure = self._failure()
        self.troubled += failure is not None
        await (failure or self._app)(scope, receive, send)

    def _failure(self) -> App | None:
        if self._trouble == ERRS:
            return self._luck.choice(list(FAILURES.values())) if self._luck.random() < 1 / EVERY else None
        return FAILURES.get(self._trouble) if self.asked % EVERY == 0 else None
