"""The caller's own code performed asynchronously: coroutines as tasks, plain functions in threads.

Knows jobs and hooks; nothing of HTTP.  Contract: as `threads`; what is given up is cancelled where it can be, and never
waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ..effects import Cancelled, Invoke, Job, Late, RunTools, ToolProgress
from ..types import ToolResult
from .cancel import Cancel
from .execution import (
    Abandon,
    Attend,
    Begin,
    Execution,
    OwnCode,
    Post,
    Posted,
    ToolObserver,
    call,
    concluded,
    failed,
    is_async,
)
from .threads import in_thread

T = TypeVar("T")


class TaskToolRunner:
    """Performs `Invoke`, `RunTools`, `Begin` and `Attend` for one machine."""

    def __init__(self, cancel: Cancel | None = None, observer: ToolObserver | None = None) -> None:
        self._cancel, self._observer = cancel, observer
        self._inbox: asyncio.Queue[Posted | None] = asyncio.Queue()
        self._execution: Execution | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def perform(self, effect: OwnCode) -> Any:
        """The reply to `effect`."""
        match effect:
            case Invoke():
                return await self.invoke(effect)
            case Begin(work):
                return await self.begin(work)
            case Attend():
                return await self.attend()
            case RunTools():
                return await self.run(effect)

    async def invoke(self, effect: Invoke) -> Any:
        """The value of the user's function, called on the loop."""
        value = effect.function(*effect.arguments)
        return await in_time(value, effect.patience) if inspect.isawaitable(value) else value

    async def begin(self, work: RunTools) -> None:
        """Start the jobs."""
        inbox = self._inbox = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def post(posted: Posted) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has closed: nobody listens any more
                loop.call_soon_threadsafe(inbox.put_nowait, posted)

        self._execution = Execution(work, self._start, post, observer=self._observer)

    async def attend(self) -> ToolProgress | tuple[ToolResult, ...]:
        """The next progress of the jobs, or all their results."""
        execution = self._execution
        if execution is None:
            return ()
        forget = listen(self._cancel, self._inbox.put_nowait, None)
        try:
            while execution.results is None:
                progress = await self._next(execution)
                if progress is not None:
                    return progress
        finally:
            forget()
        return execution.results

    async def run(self, work: RunTools) -> tuple[ToolResult, ...]:
        """All results, progress unheard."""
        await self.begin(work)
        while isinstance(found := await self.attend(), ToolProgress):
            pass
        return found

    def close(self) -> None:
        """Let go of what still runs."""
        if self._execution is not None:
            self._execution.abandon()
            self._execution = None

    async def _next(self, execution: Execution) -> ToolProgress | None:
        try:
            async with asyncio.timeout(execution.time_left()):
                posted = await self._inbox.get()
        except TimeoutError:
            execution.expire()
            return None
        if posted is None:
            self._stop(execution)
            return None
        return execution.handle(posted)

    def _stop(self, execution: Execution) -> None:
        """Cancelled: what has ended by now has ended, the rest is given up."""
        while not self._inbox.empty():
            posted = self._inbox.get_nowait()
            if posted is not None and not isinstance(posted.value, ToolProgress):
                execution.handle(posted)
        execution.cancel()

    def _start(self, job: Job, post: Post) -> Abandon:
        task = asyncio.get_running_loop().create_task(_work(job, post))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return lambda: _cancel(task)


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()


async def _work(job: Job, post: Post) -> None:
    try:
        value = call(job, post) if is_async(job.runnable.function) else await threaded(lambda: call(job, post))
        if inspect.isawaitable(value):
            value = await value
        result = await threaded(lambda: concluded(job, value)) if _reads(value) else concluded(job, value)
    except BaseException as error:  # whatever a tool raises is its result, SystemExit too
        result = failed(job, error)
    post(result)


def _reads(value: Any) -> bool:
    """May making a result of this read files?"""
    return not isinstance(value, str | bytes | int | float | dict | ToolResult | None)


async def threaded(function: Callable[[], T]) -> T:
    """The value of `function`, called in a thread that is not waited for when the caller is cancelled."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)  # type: ignore[arg-type]
        else:
            future.set_exception(RuntimeError("StopIteration") if isinstance(error, StopIteration) else error)

    def work() -> None:
        value, error = None, None
        try:
            value = function()
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    in_thread(work)
    return await future


def listen(cancel: Cancel | None, handle: Callable[[Any], None], value: Any) -> Callable[[], None]:
    """Call `handle(value)` on the running loop when somebody cancels; what is returned ends it."""
    if cancel is None:
        return lambda: None
    loop = asyncio.get_running_loop()

    def on_cancel() -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(handle, value)

    return cancel.listen(on_cancel)


async def in_time(awaitable: Awaitable[T], patience: float | None) -> T:
    """The value of `awaitable`; `Late` after so many seconds, and then it is cancelled."""
    if patience is None:
        return await awaitable
    try:
        async with asyncio.timeout(patience) as bound:
            return await awaitable
    except TimeoutError:
        if bound.expired():
            raise Late from None
        raise


async def interruptible(awaitable: Awaitable[T], cancel: Cancel | None) -> T:
    """The value of `awaitable`; `Cancelled` as soon as somebody cancels, and then it is cancelled too."""
    if cancel is None:
        return await awaitable
    work = asyncio.ensure_future(awaitable)
    stopped: asyncio.Event = asyncio.Event()
    stop = asyncio.ensure_future(stopped.wait())
    forget = listen(cancel, lambda _: stopped.set(), None)
    try:
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise Cancelled
        return work.result()
    finally:
        forget()
        for task in (work, stop):
            task.cancel()
        await asyncio.wait({work, stop})
        if not work.cancelled():
            work.exception()  # retrieved, or asyncio logs that it never was
