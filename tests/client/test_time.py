"""The time of a run: whatever it waits for, the run ends when its time is over."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dragoman.client import AsyncClient, Client
from dragoman.errors import ProviderError
from dragoman.fallback import Rules
from dragoman.io.cancel import Cancel
from dragoman.loop import Bound, Failed, Limit, Policy, Run
from dragoman.tools import Approval, tool
from tests.support.both_clients import URL, Face, both
from tests.support.upstreams import ScriptedReply, model, text_reply

SECONDS = 0.4
IN_TIME = Policy(timeout=SECONDS)
SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
PIECE = b'data: {"id":"x","choices":[{"index":0,"delta":{"content":"more "}}]}\n\n'
BUSY = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 20\r\ncontent-length: 2\r\n\r\n{}"


@contextlib.contextmanager
def speaking(speak: Callable[[socket.socket], Any]) -> Iterator[str]:
    """The address of a server that says to every connection what `speak` says."""
    over = threading.Event()

    def answer(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            connection.recv(65536)
            speak(connection)
            over.wait(20)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        over.set()


def silent(_: socket.socket) -> None:
    """Says nothing."""


def stalled(connection: socket.socket) -> None:
    connection.sendall(SSE + PIECE)


def dripping(connection: socket.socket) -> None:
    connection.sendall(SSE)
    for _ in range(200):
        connection.sendall(PIECE)
        time.sleep(0.05)


def busy(connection: socket.socket) -> None:
    connection.sendall(BUSY)


def run_now(url: str, cancel: Cancel | None, policy: Policy) -> Run:
    with Client("m", base_url=url, raise_on_failure=False) as client:
        return client.run("Hi.", policy=policy, on_event=lambda _: None, cancel=cancel)


def run_later(url: str, cancel: Cancel | None, policy: Policy) -> Run:
    async def run() -> Run:
        async with AsyncClient("m", base_url=url, raise_on_failure=False) as client:
            return await client.run("Hi.", policy=policy, on_event=lambda _: None, cancel=cancel)

    return asyncio.run(run())


@pytest.mark.parametrize("speak", [silent, stalled, dripping, busy])
@pytest.mark.parametrize("run", [run_now, run_later])
@pytest.mark.parametrize("cancel", [None, Cancel()])
def test_a_run_ends_when_its_time_is_over_whatever_the_server_does(
    speak: Callable[[socket.socket], Any], run: Callable[..., Run], cancel: Cancel | None
) -> None:
    with speaking(speak) as url:
        begun = time.monotonic()
        ended = run(url, cancel, IN_TIME)
        took = time.monotonic() - begun
    assert ended.end == Limit(Bound.SECONDS, SECONDS)
    assert SECONDS * 0.9 < took < SECONDS + 1
    assert ("more" in ended.text) == (speak in (stalled, dripping))


@pytest.mark.parametrize("run", [run_now, run_later])
def test_a_failure_within_the_time_is_that_failure(run: Callable[..., Run]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    end = run(url, None, Policy(timeout=30)).end
    assert isinstance(end, Failed)
    assert isinstance(end.error, ProviderError)


@tool(approval=Approval.ALWAYS, read_only=True)
def look(at: str) -> str:
    """Look at something."""
    return at


LOOKS = ScriptedReply((), (("a", "look", {"at": "sky"}),))


async def slow(*_: Any) -> bool:
    await asyncio.sleep(20)
    return True


@both
def test_a_slow_permission_ends_the_run_when_its_time_is_over(face: Face) -> None:
    begun = time.monotonic()
    run = face.run(
        model("openai_chat", LOOKS, text_reply("Done.")), "Look.", tools=[look], raise_on_failure=False,
        policy=Policy(timeout=SECONDS, approve=slow),
    )  # fmt: skip
    assert (run.end, time.monotonic() - begun < 5) == (Limit(Bound.SECONDS, SECONDS), True)
    assert [result.call_id for message in run.messages for result in message.results] == ["a"]


def test_a_permission_that_blocks_is_given_up_too() -> None:
    memory, go = model("openai_chat", LOOKS, text_reply("Done.")), threading.Event()
    policy = Policy(timeout=SECONDS, approve=lambda _: go.wait(20))
    with Client("m", base_url=URL, performer=memory.sync_performer, raise_on_failure=False) as client:
        begun = time.monotonic()
        run = client.run("Look.", tools=[look], policy=policy)
        go.set()
    assert (run.end, time.monotonic() - begun < 5) == (Limit(Bound.SECONDS, SECONDS), True)


def test_tools_that_wait_for_each_other_have_the_time_of_the_run_together() -> None:
    @tool(read_only=True)
    def sleep(n: int) -> str:
        """Sleep."""
        time.sleep(3)
        return "x"

    calls = [{"id": f"c{n}", "function": {"name": "sleep", "arguments": f'{{"n": {n}}}'}} for n in range(6)]
    body = json.dumps({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}).encode()
    whole = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    with speaking(lambda peer: peer.sendall(whole)) as url:
        begun = time.monotonic()
        with Client("m", base_url=url, raise_on_failure=False) as client:
            run = client.run("Sleep.", tools=[sleep], policy=Policy(timeout=SECONDS, max_parallel=2))
    assert (run.end, time.monotonic() - begun < SECONDS + 1) == (Limit(Bound.SECONDS, SECONDS), True)
    codes = [result.error_code for message in run.messages for result in message.results]
    assert codes == ["Timeout"] * 2 + ["NotExecuted"] * 4


def test_a_retry_waits_no_longer_than_the_run_may() -> None:
    with speaking(busy) as url, Client("m", base_url=url, rules=Rules(longest=60)) as client:
        begun = time.monotonic()
        run = client.run("Hi.", policy=IN_TIME, raise_on_failure=False)
    assert (run.end, time.monotonic() - begun < 5) == (Limit(Bound.SECONDS, SECONDS), True)
