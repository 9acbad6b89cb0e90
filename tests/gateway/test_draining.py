"""Going quietly: not ready, nothing new, what runs is finished; and who rests is not ready either."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dragoman.codecs import CODECS
from dragoman.errors import ErrorKind, ProviderError
from dragoman.fallback import Rules, place
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.fronts import FRONTS
from dragoman.gateway.gateway import Gateway
from dragoman.gateway.http.endpoints import Ready
from dragoman.gateway.process.shutdown import on_sigterm
from dragoman.gateway.serving import Serve
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import ScriptedPeer
from tests.support.asgi import call
from tests.support.clocks import LONG
from tests.support.gateways import ASKS, PATHS, asking, every_front, message_of
from tests.support.peer import Exchange, peer
from tests.support.upstreams import model, text_reply

ONE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://one.test", model="one")
TWO = Route(provider=COMPATIBLE["openai_chat"], base_url="http://two.test", model="two")


@pytest.fixture
def handled() -> Iterator[list[int]]:
    """The signals that reached the server's own handler."""
    before, received = signal.getsignal(signal.SIGTERM), list[int]()
    signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    yield received
    signal.signal(signal.SIGTERM, before)


def terminated(seconds: float, times: int, handled: list[int]) -> list[str]:
    """What happened, in order, after SIGTERM came so often; ends once the server's handler has it."""
    happened: list[str] = []

    async def go() -> None:
        with on_sigterm(lambda: happened.append("drain"), seconds):
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGTERM)
                await asyncio.sleep(0)
            while not handled:
                await asyncio.sleep(0.001)
            happened.append("end")

    asyncio.run(go())
    return happened


def test_sigterm_first_drains_and_later_ends(handled: list[int]) -> None:
    assert terminated(0.01, 1, handled) == ["drain", "end"]
    assert handled == [signal.SIGTERM]


def test_without_a_time_to_drain_it_ends_at_once(handled: list[int]) -> None:
    assert terminated(0, 1, handled) == ["drain", "end"]


def test_who_says_it_twice_means_now(handled: list[int]) -> None:
    assert terminated(3600, 2, handled)[-1] == "end"


def test_afterwards_the_signal_is_the_servers_again(handled: list[int]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    terminated(0, 1, handled)
    assert signal.getsignal(signal.SIGTERM) is before


def test_in_a_thread_nothing_is_touched(handled: list[int]) -> None:
    before, seen = signal.getsignal(signal.SIGTERM), []

    def elsewhere() -> None:
        with on_sigterm(lambda: None, 1):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [before]


def resting(*routes: Route) -> Gateway:
    """A gateway of two routes, these of them resting for a long time."""
    gateway = Gateway(GatewayConfig(models={"m": (ONE, TWO)}), ScriptedPeer([]))
    error, now = ProviderError("down; try later", kind=ErrorKind.NETWORK), time.time()
    for route in routes:
        gateway.health.failed(place(route), error, Rules(cooldown=120), began=now, now=now)
    return gateway


@pytest.mark.parametrize("routes", [(), (ONE,), (TWO,)])
def test_one_usable_route_makes_a_gateway_ready(routes: tuple[Route, ...]) -> None:
    reply = call(Ready(resting(*routes).why_not_ready), "/readyz", method="GET")
    assert (reply.status, reply.json) == (200, {"status": "ok"})


def test_a_gateway_whose_routes_all_rest_is_not_ready() -> None:
    reply = call(Ready(resting(ONE, TWO).why_not_ready), "/readyz", method="GET")
    assert (reply.status, reply.json) == (503, {"status": "resting"})
    assert int(reply.headers["retry-after"]) >= 60


@pytest.mark.parametrize("path", ["/readyz", "/health/readiness", "/healthz", "/health", "/health/liveliness"])
def test_probes_of_a_sound_gateway_answer_200(path: str) -> None:
    gateway = create_app(GatewayConfig(models={"m": (ONE, TWO)}), ScriptedPeer([]))
    assert call(gateway, path, method="GET").json == {"status": "ok"}


@every_front
def test_a_draining_gateway_refuses_new_requests_in_every_shape(front: str) -> None:
    memory = model("openai_chat", text_reply("hi"))
    gateway = Gateway(GatewayConfig(default=ONE), memory)
    row = next(row for row in FRONTS if row.codec is CODECS[front])
    gateway.drain()
    assert gateway.why_not_ready() == ("ending", 1)
    reply = call(Serve(gateway, row, row.endpoints[0]), *asking(front, stream=True))
    assert (reply.status, reply.headers["retry-after"]) == (503, "1")
    assert "another will take it" in message_of(front, reply)
    assert memory.sent == []


# ── a process that is told to end ────────────────────────────────────────────

SETTINGS = """
[server]
drain_seconds = 30
[default]
route = "box/m"
[providers.box]
base_url = "{url}"
"""
FIRST, LAST = b'data: {"choices":[{"index":0,"delta":{"content":"Once "}}]}\n\n', b"data: [DONE]\n\n"


@contextmanager
def opened(url: str, path: str, body: Any = None) -> Iterator[http.client.HTTPResponse]:
    where = urlsplit(url)
    with closing(http.client.HTTPConnection(where.hostname or "", where.port or 0, timeout=LONG)) as connection:
        connection.request("GET" if body is None else "POST", path, json.dumps(body) if body is not None else None)
        with connection.getresponse() as response:
            yield response


def fetched(url: str, path: str, body: Any = None) -> tuple[int, str]:
    """The status of an answer, and when to come again."""
    with opened(url, path, body) as response:
        return response.status, response.headers.get("retry-after", "")


def until(response: http.client.HTTPResponse, word: bytes) -> None:
    while word not in response.readline():
        pass


@contextmanager
def serving(file: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "dragoman", "serve", "--config", str(file), "--port", "0", "--log-format", "json"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"listening on (\S+)", process.stderr.readline())
            assert found is not None
            yield process, found[1]
        finally:
            process.kill()


def test_a_terminated_process_finishes_the_answers_it_began(tmp_path: Path) -> None:
    go_on, file = threading.Event(), tmp_path / "dragoman.toml"
    body = {**ASKS["openai_chat"], "stream": True, "tools": []}

    def talk(exchange: Exchange) -> None:
        exchange.head()
        exchange.say(FIRST)
        go_on.wait(LONG)
        exchange.say(FIRST.replace(b"Once ", b"upon") + LAST)

    with peer(talk) as upstream:
        file.write_text(SETTINGS.format(url=upstream.url))
        with serving(file) as (process, url), opened(url, PATHS["openai_chat"], body) as running:
            until(running, b"Once")
            process.send_signal(signal.SIGTERM)
            while (ready := fetched(url, "/readyz")) == (200, ""):
                pass
            refused = fetched(url, PATHS["openai_chat"], body)
            go_on.set()
            rest = running.read()
            process.send_signal(signal.SIGTERM)  # it has half a minute still; twice means now
            lines = [json.loads(line) for line in process.stderr or ()]
            ended = process.wait(LONG)
    assert ready == refused == (503, "1")
    assert b"upon" in rest
    assert rest.rstrip().endswith(LAST.strip())
    assert ended in {0, -signal.SIGTERM, 128 + signal.SIGTERM}
    assert sorted(line["status"] for line in lines if line["logger"] == "dragoman.access") == [200, 503]
