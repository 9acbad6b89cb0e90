"""Tools and hooks performed: in threads and as tasks, side by side, late, cancelled, crashing; every job one result."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dragoman.effects import (
    Cancelled,
    Invoke,
    Job,
    Machine,
    Now,
    Open,
    Outcome,
    Read,
    RunTools,
    Sleep,
    ToolProgress,
    adrive,
    drive,
)
from dragoman.errors import ErrorCode, ToolError
from dragoman.io import aio, sync
from dragoman.io.cancel import Cancel
from dragoman.io.execution import Attend, Begin, is_async
from dragoman.tools import Context, FileResult, runnable
from dragoman.types import ToolCall, ToolResult
from tests.support.clocks import LONG
from tests.support.peer import Exchange, peer

Runner = Callable[..., tuple[Any, list[Any]]]


class Ledger:
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    def started(self, job: Job) -> None:
        self.rows.append(("started", job.key))

    def ended(self, job: Job, result: ToolResult) -> None:
        self.rows.append((str(result.error_code or "ended"), job.key))


def in_threads(machine: Machine[Any], cancel: Cancel | None = None, observer: Any = None) -> tuple[Any, list[Any]]:
    outcome: Outcome[Any] = Outcome()
    with sync.Pool(use_proxies=False) as pool:
        steps = list(drive(machine, pool.performer(cancel, observer), outcome))
    return outcome.value, steps


def as_tasks(machine: Machine[Any], cancel: Cancel | None = None, observer: Any = None) -> tuple[Any, list[Any]]:
    async def go() -> tuple[Any, list[Any]]:
        outcome: Outcome[Any] = Outcome()
        async with aio.AsyncPool(use_proxies=False) as pool:
            steps = [step async for step in adrive(machine, pool.performer(cancel, observer), outcome)]
        return outcome.value, steps

    return asyncio.run(go())


both = pytest.mark.parametrize("execute", [in_threads, as_tasks], ids=["threads", "tasks"])


BRIEF = 0.05
"""Seconds for a tool that hangs; all others have as long as they need."""


def job(at: int, function: Callable[..., Any], timeout: float) -> Job:
    call = ToolCall(id=f"c{at}", name=function.__name__)
    return Job(runnable=runnable(function), call=call, key=f"k{at}", timeout=timeout)


def jobs(*functions: Callable[..., Any], hanging: Collection[Callable[..., Any]] = ()) -> tuple[Job, ...]:
    return tuple(job(at, each, BRIEF if each in hanging else LONG) for at, each in enumerate(functions))


def running(
    *functions: Callable[..., Any], at_once: int = 8, hanging: Collection[Callable[..., Any]] = ()
) -> Machine[Any]:
    return (yield RunTools(jobs(*functions, hanging=hanging), at_once))


def listening(*functions: Callable[..., Any]) -> Machine[Any]:
    """The same, with progress while it happens."""
    yield Begin(RunTools(jobs(*functions), 8))
    while isinstance(found := (yield Attend()), ToolProgress):
        yield found
    return found


def codes(results: tuple[ToolResult, ...]) -> list[str | None]:
    return [result.error_code for result in results]


# ── results ──────────────────────────────────────────────────────────────────


def plain() -> str:
    return "plain"


async def awaited() -> str:
    await asyncio.sleep(0)
    return "awaited"


class Callables:
    async def method(self) -> str:
        return "method"


@both
def test_results_come_in_the_order_of_the_jobs(execute: Runner) -> None:
    results, _ = execute(running(awaited, plain, Callables().method, plain))
    assert [result.text for result in results] == ["awaited", "plain", "method", "plain"]
    assert [result.call_id for result in results] == ["c0", "c1", "c2", "c3"]


@both
def test_nothing_to_run_is_no_results(execute: Runner) -> None:
    assert execute(running())[0] == ()


@both
def test_jobs_run_side_by_side_but_no_more_than_allowed(execute: Runner) -> None:
    now, most, lock = [0], [0], threading.Lock()
    barrier = threading.Barrier(3)

    def one() -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        barrier.wait(LONG)
        with lock:
            now[0] -= 1
        return "done"

    results, _ = execute(running(*[one] * 9, at_once=3))
    assert codes(results) == [None] * 9
    assert most == [3]


def raises() -> str:
    raise FileNotFoundError(2, "no such file", "x")


def says_how() -> str:
    raise ToolError("OutOfStock", "none left")


def exits() -> str:
    raise SystemExit(3)


def interrupts() -> str:
    raise KeyboardInterrupt


def stops() -> str:
    raise StopIteration


async def is_cancelled() -> str:
    raise asyncio.CancelledError


def makes_nothing_json() -> Any:
    return object()


@both
@pytest.mark.parametrize("crash", [raises, says_how, exits, interrupts, stops, is_cancelled])
def test_an_exception_of_a_tool_is_its_result(execute: Runner, crash: Callable[..., Any]) -> None:
    results, _ = execute(running(plain, crash, awaited, at_once=1))
    assert [result.is_error for result in results] == [False, True, False]
    assert results[1].error_code


@both
def test_a_tools_own_code_is_kept(execute: Runner) -> None:
    [result], _ = execute(running(says_how))
    assert result.error_code == "OutOfStock"


@both
def test_a_file_is_read_where_the_tool_ran(execute: Runner, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("from the file", encoding="utf-8")

    def give() -> FileResult:
        return FileResult(str(tmp_path / "note.txt"))

    def missing() -> FileResult:
        return FileResult(str(tmp_path / "nothing.txt"))

    [there, not_there], _ = execute(running(give, missing))
    assert "from the file" in there.text
    assert not_there.error_code == ErrorCode.ENOENT


caller: contextvars.ContextVar[str] = contextvars.ContextVar("caller", default="nobody")


def who() -> str:
    return caller.get()


async def who_awaited() -> str:
    return caller.get()


@both
def test_context_variables_of_the_caller_are_seen(execute: Runner) -> None:
    token = caller.set("me")
    try:
        results, _ = execute(running(who, who_awaited))
    finally:
        caller.reset(token)
    assert [result.text for result in results] == ["me", "me"]


def test_functions_that_only_make_a_coroutine_are_known() -> None:
    kinds = {plain: False, awaited: True, Callables().method: True, is_cancelled: True, stops: False}
    assert {each: is_async(runnable(each).function) for each in kinds} == kinds


# ── progress ─────────────────────────────────────────────────────────────────


@both
def test_progress_is_told_while_the_tool_runs(execute: Runner) -> None:
    def slow(context: Context) -> str:
        context.report("halfway")
        return context.key

    [result], steps = execute(listening(slow))
    assert steps == [ToolProgress("c0", "halfway")]
    assert result.text == "k0"


@both
def test_a_listener_who_leaves_while_tools_run_leaves_nothing_behind(execute: Runner) -> None:
    ended = threading.Event()

    async def forever(context: Context) -> str:
        context.report("begun")
        try:
            await asyncio.sleep(1000)
        finally:
            ended.set()
        return ""

    if execute is in_threads:
        with sync.Pool() as pool, closing(drive(listening(forever), pool.performer())) as steps:
            next(steps)
    else:

        async def go() -> None:
            async with aio.AsyncPool() as pool:
                steps = adrive(listening(forever), pool.performer())
                await anext(steps)
                await steps.aclose()
                await asyncio.sleep(0)

        asyncio.run(go())
    assert ended.wait(LONG)


# ── late and cancelled ───────────────────────────────────────────────────────


@both
def test_a_hanging_tool_is_given_up_alone(execute: Runner) -> None:
    let_go = threading.Event()

    def hangs() -> str:
        let_go.wait(LONG)
        return "too late"

    async def hangs_awaiting() -> str:
        await asyncio.sleep(LONG)
        return "too late"

    try:
        results, _ = execute(running(hangs, plain, hangs_awaiting, hanging=(hangs, hangs_awaiting), at_once=3))
    finally:
        let_go.set()
    assert codes(results) == [ErrorCode.TIMEOUT, None, ErrorCode.TIMEOUT]
    assert "0.05 s" in results[0].text


@both
def test_a_hanging_tool_keeps_no_later_one_from_running(execute: Runner) -> None:
    let_go = threading.Event()

    def hangs() -> None:
        let_go.wait(LONG)

    try:
        results, _ = execute(running(hangs, hangs, plain, hanging=(hangs,), at_once=1))
    finally:
        let_go.set()
    assert codes(results) == [ErrorCode.TIMEOUT, ErrorCode.TIMEOUT, None]


def test_a_blocking_coroutine_does_not_stop_later_ones() -> None:
    let_go = threading.Event()

    async def blocks() -> None:
        let_go.wait(LONG)

    try:
        results, _ = in_threads(running(blocks, awaited, hanging=(blocks,), at_once=1))
    finally:
        let_go.set()
    assert codes(results) == [ErrorCode.TIMEOUT, None]


@both
def test_cancelling_gives_each_job_its_result(execute: Runner) -> None:
    cancel, let_go, ledger = Cancel(), threading.Event(), Ledger()

    def cancels() -> str:
        cancel.cancel()
        let_go.wait(LONG)
        return "too late"

    try:
        results, _ = execute(running(plain, cancels, plain, at_once=1), cancel, ledger)
    finally:
        let_go.set()
    assert codes(results) == [None, ErrorCode.CANCELED, ErrorCode.CANCELED]
    assert "may still take effect" in results[1].text
    assert "did not run" in results[2].text
    assert ledger.rows == [("started", "k0"), ("ended", "k0"), ("started", "k1"), ("Canceled", "k1")]


def patient(begin: Callable[[], Any]) -> Machine[str]:
    """Notices that it was cancelled, and where."""
    for effect in (Now(), Invoke(begin), Sleep(1000)):
        try:
            yield effect
        except Cancelled:
            return f"cancelled at {type(effect).__name__}"
    return "never"


@both
def test_a_cancelled_machine_is_told_so_at_its_next_effect(execute: Runner) -> None:
    cancel = Cancel()
    cancel.cancel()
    assert execute(patient(plain), cancel)[0] == "cancelled at Now"


@both
def test_cancelling_ends_a_wait(execute: Runner) -> None:
    cancel = Cancel()
    soon = threading.Timer(0.02, cancel.cancel)
    assert execute(patient(soon.start), cancel)[0] == "cancelled at Sleep"


def reading(url: str) -> Machine[str]:
    try:
        yield Open(url=url)
        while (yield Read()):
            pass
    except Cancelled:
        return "cancelled"
    return "read to the end"


@both
@pytest.mark.parametrize("head_first", [False, True], ids=["before the head", "in the body"])
def test_cancelling_breaks_off_an_exchange_that_hangs(execute: Runner, head_first: bool) -> None:
    cancel = Cancel()

    def talk(it: Exchange) -> None:
        if head_first:
            it.head()
            it.say(b"data: one\n\n")
        cancel.cancel()
        if not head_first:
            it.head()
        it.until_gone()

    with peer(talk) as served:
        assert execute(reading(served.url), cancel)[0] == "cancelled"
        assert served.exchanges[0].gone.wait(LONG)


@both
def test_an_exchange_that_is_not_cancelled_is_read_as_ever(execute: Runner) -> None:
    with peer(lambda it: it.whole(b"all of it")) as served:
        assert execute(reading(served.url), Cancel())[0] == "read to the end"


def test_ctrl_c_cancels_or_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> str:
        raise KeyboardInterrupt

    def hook() -> Machine[str]:
        try:
            yield Invoke(interrupted)
        except Cancelled:
            return "cancelled"
        return "went on"

    cancel = Cancel()
    assert in_threads(hook(), cancel)[0] == "cancelled"
    assert cancel.cancelled
    with pytest.raises(KeyboardInterrupt):
        in_threads(hook())


@both
def test_every_job_is_answered_without_more_threads(execute: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("dragoman.io.threads.in_thread", no_more)
    monkeypatch.setattr("dragoman.io.tasks.in_thread", no_more)
    results, _ = execute(running(plain, plain))
    assert [result.is_error for result in results] == [True, True]


# ── hooks ────────────────────────────────────────────────────────────────────


def invoking(function: Callable[..., Any], *arguments: Any) -> Machine[Any]:
    try:
        return (yield Invoke(function, arguments))
    except ValueError as error:
        return f"caught {error}"


async def adds(a: int, b: int) -> int:
    await asyncio.sleep(0)
    return a + b


def refuses() -> None:
    raise ValueError("no")


@both
def test_a_hook_is_awaited_and_its_exception_reaches_the_machine(execute: Runner) -> None:
    assert execute(invoking(adds, 1, 2))[0] == 3
    assert execute(invoking(max, 1, 2))[0] == 2
    assert execute(invoking(refuses))[0] == "caught no"


@both
def test_an_observer_is_told_of_starts_and_ends(execute: Runner) -> None:
    ledger = Ledger()

    def looks() -> str:
        return ", ".join(f"{what} {key}" for what, key in ledger.rows)

    results, _ = execute(running(looks, raises, at_once=1), None, ledger)
    assert results[0].text == "started k0"
    assert ledger.rows == [("started", "k0"), ("ended", "k0"), ("started", "k1"), ("ENOENT", "k1")]
