"""A loop in a thread of its own: outcomes come out, interruptions go in, and it ends."""

from __future__ import annotations

import asyncio
import threading

import pytest

from dragoman.mcp.loop_thread import Portal


async def _value() -> str:
    await asyncio.sleep(0)
    return threading.current_thread().name


async def _broken() -> None:
    raise LookupError("it")


def test_what_is_run_comes_out_and_the_thread_ends() -> None:
    portal = Portal("portal-under-test")
    assert portal.run(_value()) == "portal-under-test"
    with pytest.raises(LookupError, match="it"):
        portal.run(_broken())
    portal.close()
    assert "portal-under-test" not in {thread.name for thread in threading.enumerate()}


def test_running_work_ends_before_the_thread() -> None:
    portal = Portal("portal-under-test")
    ended: list[str] = []

    async def work(begun: threading.Event) -> None:
        begun.set()
        await asyncio.sleep(0.01)
        ended.append("done")

    begun = threading.Event()
    asyncio.run_coroutine_threadsafe(work(begun), portal.loop)
    begun.wait()
    portal.close()
    assert ended == ["done"]
