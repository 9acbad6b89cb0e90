"""A gateway that runs: its loop in a thread of its own, its application, and the calls it serves.

Knows threads, loops and ASGI's lifespan; nothing of clients or of settings.
Contract: the application is made and begun in the loop, once, before the first call, and ended there after the last;
one that could not begin is tried again with the next call; `stop` blocks nobody and may come from any thread or
finalizer; the thread keeps no interpreter from ending, and at its end what runs here is ended in order.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import importlib.util
import logging
import os
import threading
import weakref
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from starlette.types import ASGIApp

from ...effects import Machine
from ...errors import DragomanError
from .answer import Answer
from .call import CUT, Call
from .signals import Signal, Wait

log: logging.Logger = logging.getLogger("dragoman.gateway")

GRACE = 5.0
"""Seconds that calls get which still run when the gateway is ended: their clients are gone, so they take none."""
NOT_BEGUN = "the gateway could not begin: {error}"
FORKED = "this process was forked while the answer was on its way; ask again"
Make = Callable[[], Awaitable[ASGIApp]]
"""Makes the application, in its loop."""


class Running:
    """One life of a gateway."""

    is_over: bool
    is_open: bool
    loop: asyncio.AbstractEventLoop

    def __init__(self, make: Make) -> None:
        self._make = make
        self._calls: dict[asyncio.Task[None], Call] = {}
        self._opening: asyncio.Task[ASGIApp] | None = None
        self._life: _Life | None = None
        self._watching: list[Signal] = []
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self.is_open = self.is_over = self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="dragoman-gateway", daemon=True)
        _ALIVE.add(self)
        self._thread.start()
        self._ready.wait()

    @property
    def is_here(self) -> bool:
        """Is this thread the gateway's own?"""
        return threading.current_thread() is self._thread

    def ask(self, scope: dict[str, Any], body: bytes, signal: Signal) -> Answer:
        """Serve a request; `signal` is set when there is something of the answer."""
        answer = Answer(signal, self.loop)
        self.loop.call_soon_threadsafe(self._begin, Call(scope, body, answer), contextvars.copy_context())
        return answer

    def stop(self) -> None:
        """Take nothing more, and end."""
        self.is_over = True
        with contextlib.suppress(RuntimeError):  # it has ended
            self.loop.call_soon_threadsafe(self._stop.set)

    def join(self, seconds: float | None = None) -> None:
        """Wait until it has ended; its own thread does not."""
        if not self.is_here:
            self._thread.join(seconds)

    def ended(self, signal: Signal) -> Machine[None]:
        """Wait until it has ended, in a task."""
        self._watching.append(signal)
        while not (self._is_closed or self.is_here):
            yield Wait()

    def settle(self) -> None:
        """Wait until what was answered to its end has been written down."""
        done = threading.Event()

        def look() -> None:
            tasks = [task for task, call in self._calls.items() if call.answer.is_ended]
            settled = asyncio.gather(*tasks, return_exceptions=True)
            settled.add_done_callback(lambda _: done.set())

        if not self.is_over and not self.is_here:
            self.loop.call_soon_threadsafe(look)
            done.wait(GRACE)

    def orphan(self) -> None:
        """This is a child of the process it runs in: nobody answers here any more."""
        self.is_over = True
        for call in self._calls.values():
            call.answer.orphan(FORKED)

    # ── in its thread ────────────────────────────────────────────────────────

    def _run(self) -> None:
        # No `asyncio.run`: it waits for an executor in one more thread, and an interpreter that ends starts none.
        self.loop = loop = _new_loop()
        try:
            loop.run_until_complete(self._live())
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
            self._is_closed = True  # before they are set: whoever comes to wait now sees it
            for signal in self._watching:
                signal.set()

    async def _live(self) -> None:
        self._ready.set()
        await self._stop.wait()
        self.is_over = True
        for call in self._calls.values():
            call.answer.gone.set()
        if self._opening is not None and not self._opening.done():
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self._calls:
            await asyncio.wait(self._calls, timeout=GRACE)
        if self._life is not None:
            await self._life.end()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _begin(self, call: Call, context: contextvars.Context) -> None:
        if self._stop.is_set():
            call.answer.end(NOT_BEGUN.format(error="it is about to end"))
            return
        task = self.loop.create_task(self._serve(call), context=context)
        self._calls[task] = call
        task.add_done_callback(self._calls.pop)

    async def _serve(self, call: Call) -> None:
        try:
            app = await self._app()
            call.answer.begin()
            await call.run(app)
        except Exception as error:
            if not isinstance(error, DragomanError):
                log.exception("a gateway inside this process could not begin for a reason of our own")
            await call.refuse(503, NOT_BEGUN.format(error=error), "api_error")
        finally:
            call.answer.end(CUT)

    async def _app(self) -> ASGIApp:
        if self._opening is None or (self._opening.done() and not self.is_open):
            self._opening = self.loop.create_task(self._open(), context=contextvars.Context())
        return await asyncio.shield(self._opening)

    async def _open(self) -> ASGIApp:
        app = await self._make()
        self._life = life = _Life(app)
        await life.begin()
        self.is_open = True
        return app


class _Life:
    """An application's life, by ASGI's lifespan protocol."""

    def __init__(self, app: ASGIApp) -> None:
        self._told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard: asyncio.Queue[Any] = asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}}
        self._task = asyncio.ensure_future(app(scope, self._told.get, self._heard.put))

    async def begin(self) -> None:
        """Raises RuntimeError where it cannot begin."""
        await self._step("startup")

    async def end(self) -> None:
        """It ends, whatever happens."""
        try:
            await self._step("shutdown")
        except RuntimeError:
            log.exception("a gateway inside this process could not end for a reason of our own")

    async def _step(self, name: str) -> None:
        self._told.put_nowait({"type": f"lifespan.{name}"})
        hearing = asyncio.ensure_future(self._heard.get())
        await asyncio.wait({hearing, self._task}, return_when=asyncio.FIRST_COMPLETED)
        message = hearing.result() if hearing.done() else {"type": "lifespan.broken", "message": "it ended"}
        hearing.cancel()
        if message["type"] != f"lifespan.{name}.complete":
            await asyncio.wait([self._task])
            raise RuntimeError(str(message.get("message", "")).strip().rpartition("\n")[2]) from self._task.exception()
        if name == "shutdown":
            await asyncio.wait([self._task])


def _new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed, as a server would take it."""
    fast = importlib.util.find_spec("uvloop") is not None
    loop: asyncio.AbstractEventLoop = import_module("uvloop").new_event_loop() if fast else asyncio.new_event_loop()
    return loop


_ALIVE: weakref.WeakSet[Running] = weakref.WeakSet()
_ORPHANS: list[Running] = []
"""Those of a parent process: kept, for what they hold is closed there and not here."""


def _end_all() -> None:
    for running in list(_ALIVE):
        running.stop()
    for running in list(_ALIVE):
        running.join(2 * GRACE)


def _forked() -> None:
    for running in list(_ALIVE):
        running.orphan()
        _ORPHANS.append(running)
    _ALIVE.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
