"""An ASGI application behind a real socket on loopback, in a thread, for as long as a block lasts.

Knows nothing of what it serves.  Contract: when the block is entered the application answers; when it is left the
thread has ended and the port is free.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from ..io.sockets import listen

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LOOPBACK = "127.0.0.1"
GRACE = 2
"""Seconds that open connections get to end when the block is left."""


class _LoopbackServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self.failure: BaseException | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    def work(self, listening: socket.socket) -> None:
        try:
            self.run([listening])
        except BaseException as failure:  # it is raised again where the block was entered
            self.failure = failure
        finally:
            self.ready.set()


@contextmanager
def serving(app: ASGIApp, *, port: int = 0) -> Iterator[str]:
    """Serve `app` on `port` (0: a free one); gives the base URL, without a slash at its end."""
    listening = listen(LOOPBACK, port)
    config = uvicorn.Config(app, log_level="error", access_log=False, ws="none", timeout_graceful_shutdown=GRACE)
    server = _LoopbackServer(config)
    thread = threading.Thread(target=server.work, args=(listening,), name="dragoman-loopback", daemon=True)
    thread.start()
    try:
        server.ready.wait()
        if server.failure is not None or not server.started:
            raise RuntimeError("the server did not start; see the log above for the reason") from server.failure
        yield f"http://{LOOPBACK}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
