"""Tools that run at the same time: those that wait, those that run and until when, and their results.

The state of one `RunTools`, and nothing that waits: `threads` and `tasks` start jobs and wait for what they post.
Knows jobs, results and deadlines; nothing of threads or event loops.
Contract: every job gets exactly one result, the first that is known; what a job posts after it was given up is
forgotten.  A `ToolObserver` is told of each start before it happens and of each result when it is known.
"""

from __future__ import annotations

import inspect
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeAlias

from ..effects import Close, Effect, Invoke, Job, RunTools, ToolProgress
from ..errors import ErrorCode, ToolError
from ..tools import Context, failure_of, result_of
from ..tools.decorator import Call
from ..types import ToolResult

LATE = "the tool did not end within {seconds:g} s and was given up; what it began may still take effect"
STOPPED = "cancelled while the tool was running; what it began may still take effect"
NOT_BEGUN = "cancelled before the tool began; it did not run"
NO_TIME = "the time of the run was over before the tool began; it did not run"


@dataclass(frozen=True, slots=True)
class Begin(Effect):
    """Start the jobs of `work`, then `Attend` to them.  Reply: None."""

    work: RunTools


@dataclass(frozen=True, slots=True)
class Attend(Effect):
    """Wait for the jobs begun last.  Reply: a `ToolProgress`, or the tuple of their results once all have ended."""


@dataclass(frozen=True, slots=True)
class Notify(Invoke):
    """`Invoke` of a listener: performed also when the caller has cancelled."""


OwnCode: TypeAlias = Invoke | Begin | Attend | RunTools
"""Effects that run the caller's own code."""
UNCANCELLABLE = (RunTools, Begin, Attend, Notify, Close)
"""Effects that are performed although the caller has cancelled."""


class ToolObserver(Protocol):
    """Keeps a record of what tools do."""

    def started(self, job: Job) -> None:
        """The job is about to start."""

    def ended(self, job: Job, result: ToolResult) -> None:
        """The job has its result."""


OURS = f"{__name__.partition('.')[0]}."

Abandon: TypeAlias = Callable[[], None]
"""Stops a job as far as it can be stopped, and never waits."""
Post: TypeAlias = "Callable[[ToolProgress | ToolResult], None]"
Start: TypeAlias = Callable[[Job, Post], Abandon]


@dataclass(frozen=True, slots=True)
class Posted:
    """Progress or the result of job `index`."""

    index: int
    value: ToolProgress | ToolResult


@dataclass(frozen=True, slots=True)
class _Running:
    job: Job
    abandon: Abandon
    begun: float
    deadline: float | None


class Execution:
    """The jobs of one `RunTools`.  `start` starts a job; what it posts comes back through `handle`."""

    def __init__(
        self,
        work: RunTools,
        start: Start,
        post: Callable[[Posted], None],
        *,
        observer: ToolObserver | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._jobs = work.jobs
        self._at_once = max(1, work.at_once)
        self._start, self._post, self._observer, self._clock = start, post, observer, clock
        self._until = None if work.patience is None else clock() + work.patience
        self._waiting = deque(range(len(work.jobs)))
        self._running: dict[int, _Running] = {}
        self._results: dict[int, ToolResult] = {}
        self._launch()

    @property
    def results(self) -> tuple[ToolResult, ...] | None:
        """The results in the order of the jobs; None while some are missing."""
        if len(self._results) < len(self._jobs):
            return None
        return tuple(self._results[index] for index in range(len(self._jobs)))

    def time_left(self) -> float | None:
        """Seconds until the next job is late; None for never."""
        deadlines = [each.deadline for each in self._running.values() if each.deadline is not None]
        return max(0.0, min(deadlines) - self._clock()) if deadlines else None

    def handle(self, posted: Posted) -> ToolProgress | None:
        """Take in what a job posted; progress is for the caller."""
        if posted.index not in self._running:
            return None
        if isinstance(posted.value, ToolProgress):
            return posted.value
        self._settle(posted.index, posted.value)
        self._launch()
        return None

    def expire(self) -> None:
        """Give up the jobs that are late."""
        now = self._clock()
        for index, each in list(self._running.items()):
            if each.deadline is not None and each.deadline <= now:
                each.abandon()
                seconds = round(each.deadline - each.begun, 3)
                self._settle(index, _failed(each.job, ErrorCode.TIMEOUT, LATE.format(seconds=seconds)))
        if self._until is not None and self._until <= now:
            self._leave(ErrorCode.NOT_EXECUTED, NO_TIME)
        self._launch()

    def cancel(self) -> None:
        """Give up every job that has not ended."""
        self._leave(ErrorCode.CANCELED, NOT_BEGUN)
        for index, each in list(self._running.items()):
            each.abandon()
            self._settle(index, _failed(each.job, ErrorCode.CANCELED, STOPPED))

    def abandon(self) -> None:
        """Let go of everything: nobody waits for results any more."""
        self._waiting.clear()
        for each in self._running.values():
            each.abandon()
        self._running.clear()

    def _leave(self, code: ErrorCode, why: str) -> None:
        """What has not begun does not run."""
        while self._waiting:
            index = self._waiting.popleft()
            self._results[index] = _failed(self._jobs[index], code, why)

    def _launch(self) -> None:
        while self._waiting and len(self._running) < self._at_once:
            index = self._waiting.popleft()
            job = self._jobs[index]
            if self._observer is not None:
                self._observer.started(job)
            now = self._clock()
            own = None if job.timeout is None else now + job.timeout
            bounds = [until for until in (own, self._until) if until is not None]
            try:
                abandon = self._start(job, partial(self._post_from, index))
            except RuntimeError as error:  # no more threads
                self._settle(index, failure_of(job.call, error))
            else:
                self._running[index] = _Running(job, abandon, now, min(bounds, default=None))

    def _post_from(self, index: int, value: ToolProgress | ToolResult) -> None:
        self._post(Posted(index, value))

    def _settle(self, index: int, result: ToolResult) -> None:
        self._running.pop(index, None)
        self._results[index] = result
        if self._observer is not None:
            self._observer.ended(self._jobs[index], result)


def call(job: Job, post: Post) -> Any:
    """The return value of the job's function: a value, or something to await."""

    def report(text: str) -> None:
        post(ToolProgress(job.call.id, str(text)))

    return job.runnable.function(job.call.arguments, Context(call=job.call, key=job.key, report=report))


def concluded(job: Job, value: Any) -> ToolResult:
    """The result that `value` is; files are read here."""
    return result_of(job.call, value, lambda path: Path(path).read_bytes())


def failed(job: Job, error: BaseException) -> ToolResult:
    """The result of a job that raised `error`; its traceback begins in the tool."""
    return failure_of(job.call, error.with_traceback(_within(error.__traceback__)))


def _within(trace: TracebackType | None) -> TracebackType | None:
    """`trace` without the frames that led to the tool."""
    inner = trace
    while inner is not None and inner.tb_frame.f_globals.get("__name__", "").startswith(OURS):
        inner = inner.tb_next
    return inner or trace


def _failed(job: Job, code: ErrorCode, message: str) -> ToolResult:
    return failure_of(job.call, ToolError(code, message))


LATE_KINDS = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)


def is_async(function: Any) -> bool:
    """Is it certain that this function only makes a coroutine, and does nothing else, when it is called?"""
    inner = inspect.unwrap(function)
    while isinstance(inner, partial | Call):
        inner = inspect.unwrap(inner.func if isinstance(inner, partial) else inner.function)
    method = getattr(inner, "__call__", None)  # noqa: B004  an object that can be called
    return any(kind(each) for kind in LATE_KINDS for each in (inner, method))
