"""The caller's own code performed synchronously: tools in threads, coroutines on a loop of their own.

Knows jobs and hooks; nothing of HTTP.  Contract: a thread that cannot be stopped is given up, never waited for, and
never keeps the interpreter from ending; context variables of the caller are seen by what is run.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from ..effects import Cancelled, Invoke, Job, Late, RunTools, ToolProgress
from ..types import ToolResult
from .cancel import Cancel
from .execution import Abandon, Attend, Begin, Execution, OwnCode, Post, Posted, ToolObserver, call, concluded, failed

NAME = "dragoman-tool"
BLOCKED = 0.1
"""Seconds after which a loop that does not react is taken for blocked."""


class LoopThread:
    """An event loop in a thread, for coroutines of synchronous callers; started when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def submit(self, awaitable: Awaitable[Any]) -> Future[Any]:
        """Await `awaitable` on the loop."""
        # A coroutine goes as it is: one that is given up before it begins is then ended, not left never awaited.
        work = awaitable if inspect.iscoroutine(awaitable) else _awaited(awaitable)
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def doubt(self) -> None:
        """A coroutine was given up: where it blocks the loop, those that come later get another loop."""
        with self._lock:
            loop = self._loop
        if loop is None:
            return
        alive = threading.Event()
        loop.call_soon_threadsafe(alive.set)
        if not alive.wait(BLOCKED):
            self._leave(loop)

    def close(self) -> None:
        """Stop the loop."""
        with self._lock:
            loop = self._loop
        if loop is not None:
            self._leave(loop)

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let go of `loop`, which ends as soon as it can."""
        with self._lock:
            if self._loop is loop:
                self._loop = None
        loop.call_soon_threadsafe(loop.stop)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                in_thread(partial(_run_until_stopped, self._loop), "dragoman-loop")
            return self._loop


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def in_thread(body: Callable[[], None], name: str = NAME) -> None:
    """Run `body` in a thread of its own, in the caller's context."""
    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(body,), name=name, daemon=True).start()


class ThreadToolRunner:
    """Performs `Invoke`, `RunTools`, `Begin` and `Attend` for one machine."""

    def __init__(
        self, loop: LoopThread | None = None, cancel: Cancel | None = None, observer: ToolObserver | None = None
    ) -> None:
        self._loop = loop or LoopThread()
        self._cancel, self._observer = cancel, observer
        self._inbox: SimpleQueue[Posted | None] = SimpleQueue()
        self._execution: Execution | None = None

    def perform(self, effect: OwnCode) -> Any:
        """The reply to `effect`."""
        match effect:
            case Invoke():
                return self.invoke(effect)
            case Begin(work):
                return self.begin(work)
            case Attend():
                return self.attend()
            case RunTools():
                return self.run(effect)

    def invoke(self, effect: Invoke) -> Any:
        """The value of the user's function."""
        if effect.patience is None:
            value = effect.function(*effect.arguments)
            return self._loop.submit(value).result() if inspect.isawaitable(value) else value
        called = _Called(effect, self._loop)
        helper = Helper(self._cancel)
        try:
            return helper.call(called.value, called.stop, effect.patience)
        finally:
            helper.close()

    def begin(self, work: RunTools) -> None:
        """Start the jobs."""
        self._inbox = SimpleQueue()
        self._execution = Execution(work, self._start, self._inbox.put, observer=self._observer)

    def attend(self) -> ToolProgress | tuple[ToolResult, ...]:
        """The next progress of the jobs, or all their results."""
        execution, inbox = self._execution, self._inbox
        if execution is None:
            return ()
        forget = self._cancel.listen(lambda: inbox.put(None)) if self._cancel is not None else _nothing
        try:
            while execution.results is None:
                progress = self._next(execution)
                if progress is not None:
                    return progress
        finally:
            forget()
        return execution.results

    def run(self, work: RunTools) -> tuple[ToolResult, ...]:
        """All results, progress unheard."""
        self.begin(work)
        while isinstance(found := self.attend(), ToolProgress):
            pass
        return found

    def close(self) -> None:
        """Let go of what still runs."""
        if self._execution is not None:
            self._execution.abandon()
            self._execution = None

    def _next(self, execution: Execution) -> ToolProgress | None:
        try:
            posted = self._inbox.get(timeout=execution.time_left())
        except Empty:
            execution.expire()
            return None
        except KeyboardInterrupt:
            if self._cancel is None:
                raise
            self._cancel.cancel()
            return None
        if posted is None:
            self._stop(execution)
            return None
        return execution.handle(posted)

    def _stop(self, execution: Execution) -> None:
        """Cancelled: what has ended by now has ended, the rest is given up."""
        with contextlib.suppress(Empty):
            while True:
                posted = self._inbox.get_nowait()
                if posted is not None and not isinstance(posted.value, ToolProgress):
                    execution.handle(posted)
        execution.cancel()

    def _start(self, job: Job, post: Post) -> Abandon:
        running = _Thread(job, post, self._loop)
        in_thread(running.work)
        return running.abandon


class _Thread:
    """One job in its thread."""

    def __init__(self, job: Job, post: Post, loop: LoopThread) -> None:
        self._job, self._post, self._loop = job, post, loop
        self._future: Future[Any] | None = None
        self._abandoned = False

    def work(self) -> None:
        """Run the job and post its result."""
        try:
            value = call(self._job, self._post)
            if inspect.isawaitable(value):
                self._future = self._loop.submit(value)
                if self._abandoned:
                    self._future.cancel()
                value = self._future.result()
            result = concluded(self._job, value)
        except BaseException as error:  # whatever a tool raises is its result, SystemExit too
            result = failed(self._job, error)
        self._post(result)

    def abandon(self) -> None:
        """Stop a coroutine; a plain function cannot be stopped."""
        self._abandoned = True
        if self._future is not None:
            self._future.cancel()
            self._loop.doubt()


class _Called:
    """A user's function that may take too long; what it awaits can be stopped."""

    def __init__(self, effect: Invoke, loop: LoopThread) -> None:
        self._effect, self._loop = effect, loop
        self._awaited: Future[Any] | None = None

    def value(self) -> Any:
        """What it returns."""
        value = self._effect.function(*self._effect.arguments)
        if not inspect.isawaitable(value):
            return value
        self._awaited = self._loop.submit(value)
        return self._awaited.result()

    def stop(self) -> None:
        """Nobody waits for it any more."""
        if self._awaited is not None:
            self._awaited.cancel()


class Helper:
    """A thread that waits in the caller's place, so that the caller can be cancelled; left behind where it is."""

    def __init__(self, cancel: Cancel | None) -> None:
        self._cancel = cancel
        self._work: SimpleQueue[Callable[[], Any] | None] | None = None
        self._answers: SimpleQueue[tuple[Any, BaseException | None] | None] = SimpleQueue()

    def call(self, function: Callable[[], Any], stop: Callable[[], None], patience: float | None = None) -> Any:
        """Call `function`: its value or exception; `Cancelled` as soon as somebody cancels, after `stop` was called.

        `Late` after so many seconds.  `stop` is what makes the function end, which nobody waits for.
        """
        if self._work is None:
            self._begin()
        assert self._work is not None
        answers = self._answers
        forget = self._cancel.listen(lambda: answers.put(None)) if self._cancel is not None else _nothing
        over: BaseException = Cancelled()
        try:
            self._work.put(function)
            found = answers.get(timeout=patience)
        except (Empty, KeyboardInterrupt) as why:
            found, over = None, self._over(why)
        finally:
            forget()
        if found is None:
            self.close()
            stop()
            raise over
        value, error = found
        if error is not None:
            raise error
        return value

    def _over(self, why: Empty | KeyboardInterrupt) -> BaseException:
        """What is raised instead of an answer.  Ctrl-C is a way to cancel where there is something to cancel by."""
        if isinstance(why, Empty):
            return Late()
        if self._cancel is None:
            return why
        self._cancel.cancel()
        return Cancelled()

    def close(self) -> None:
        """Let the thread end once it has done what it does."""
        if self._work is not None:
            self._work.put(None)
            self._work = None

    def _begin(self) -> None:
        work = self._work = SimpleQueue()
        answers = self._answers = SimpleQueue()

        def wait() -> None:
            while (function := work.get()) is not None:
                try:
                    answers.put((function(), None))
                except BaseException as error:
                    answers.put((None, error))

        in_thread(wait, "dragoman-exchange")


def pause(seconds: float, cancel: Cancel) -> None:
    """Wait; `Cancelled` as soon as somebody cancels."""
    box: SimpleQueue[None] = SimpleQueue()
    forget = cancel.listen(lambda: box.put(None))
    try:
        box.get(timeout=max(0.0, seconds))
    except Empty:
        return
    except KeyboardInterrupt:
        cancel.cancel()
    finally:
        forget()
    raise Cancelled


def _nothing() -> None:
    pass
