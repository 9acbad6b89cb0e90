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
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dragoman.errors import ErrorKind, ProviderError
from dragoman.fallback import Rules, place
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.app import Gateway
from dragoman.gateway.draining import on_sigterm
from dragoman.io.memory import Memory
from dragoman.providers import COMPATIBLE
from dragoman.route import Route

from ..peer import Exchange, peer
from ..upstreams import model, said
from .asgi import call
from .test_exchange import ASKS, PATHS, ask, every_front
from .test_metrics import DOWN

ONE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://one.test", model="one")
TWO = Route(provider=COMPATIBLE["openai_chat"], base_url="http://two.test", model="two")


@pytest.fixture
def handled() -> Iterator[list[int]]:
    """The signals that reached the server's own handler."""
    before, told = signal.getsignal(signal.SIGTERM), list[int]()
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    yield told
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


@pytest.mark.parametrize("path", ["/readyz", "/health/readiness"])
def test_it_is_ready_as_long_as_one_route_may_be_asked(path: str) -> None:
    gateway = Gateway(GatewayConfig(models={"m": (ONE, TWO)}), Memory([]))
    error, rules = ProviderError("down; try later", kind=ErrorKind.NETWORK), Rules(cooldown=60)
    now = 1e12  # long after any clock of ours: what rests until then rests
    assert gateway.why_not_ready() == ("", 0)
    gateway.health.failed(place(ONE), error, rules, began=now, now=now)
    assert gateway.why_not_ready() == ("", 0)
    gateway.health.failed(place(TWO), error, rules, began=now, now=now)
    why, seconds = gateway.why_not_ready()
    assert why == "resting"
    assert seconds > 0


def test_a_gateway_whose_routes_all_rest_says_so_to_probes_and_lives() -> None:
    gateway = create_app(GatewayConfig(models={"m": (ONE, TWO)}, rules=Rules(retries=0)), model("openai_chat", DOWN, DOWN))
    assert call(gateway, "/readyz", method="GET").status == 200
    ask(gateway, "openai_chat", stream=False)  # the scripted clock stands at 1970: what failed then rests no more
    assert call(gateway, "/readyz", method="GET").status == 200
    assert call(gateway, "/healthz", method="GET").status == 200


# ── a process that is told to end ────────────────────────────────────────────

SETTINGS = """
[server]
drain = 30
[default]
route = "box/m"
[providers.box]
base_url = "{url}"
"""
FIRST, LAST = b'data: {"choices":[{"index":0,"delta":{"content":"Once "}}]}\n\n', b"data: [DONE]\n\n"


def fetched(url: str, path: str, body: Any = None) -> http.client.HTTPResponse:
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "", where.port or 0, timeout=20)
    method = "GET" if body is None else "POST"
    connection.request(method, path, json.dumps(body) if body is not None else None)
    return connection.getresponse()


def test_a_process_that_is_told_to_end_finishes_what_it_began(tmp_path: Path) -> None:
    go_on = threading.Event()

    def talk(exchange: Exchange) -> None:
        exchange.head()
        exchange.say(FIRST)
        go_on.wait(20)
        exchange.say(FIRST.replace(b"Once ", b"upon") + LAST)

    with peer(talk) as upstream:
        file = tmp_path / "dragoman.toml"
        file.write_text(SETTINGS.format(url=upstream.url))
        command = [sys.executable, "-m", "dragoman", "serve", "--config", str(file), "--port", "0", "--log-format", "json"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                found = re.search(r"listening on (\S+)", process.stderr.readline())
                assert found is not None
                url, asked = found[1], {**ASKS["openai_chat"], "stream": True, "tools": []}
                running = fetched(url, PATHS["openai_chat"], asked)
                assert b"Once" in running.readline()
                process.send_signal(signal.SIGTERM)
                ready = fetched(url, "/readyz")
                while ready.status == 200:
                    ready = fetched(url, "/readyz")
                refused = fetched(url, PATHS["openai_chat"], asked)
                go_on.set()
                told = running.read()
                process.send_signal(signal.SIGTERM)  # enough is enough
                lines = [json.loads(line) for line in process.stderr]
                ended = process.wait(20)
            finally:
                process.kill()
    assert (ready.status, refused.status) == (503, 503)
    assert refused.headers["retry-after"] == "1"
    assert b"upon" in told
    assert told.endswith(LAST)
    assert ended in {0, -signal.SIGTERM}
    assert sorted(line["status"] for line in lines if line["logger"] == "dragoman.access") == [200, 503]


@every_front
def test_a_gateway_that_is_about_to_end_refuses_what_is_new_in_every_shape(front: str) -> None:
    memory = model("openai_chat", said("hi"))
    gateway = Gateway(GatewayConfig(default=ONE), memory)
    gateway.drain()
    assert gateway.why_not_ready() == ("ending", 1)
