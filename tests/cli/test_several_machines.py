"""Two gateways of two workers each over one Redis, as two machines would run them: what one says the others know."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import pytest

from dragoman.sim import running
from tests.support.clocks import LONG
from tests.support.processes import serving_process
from tests.support.redis_servers import SECRET, RedisServer, redis_server, skip_without

pytestmark = skip_without
T = TypeVar("T")

SETTINGS = """
[server]
workers = 2
state = "{state}"
namespace = "{namespace}"
state_timeout = {patience}
[[keys]]
name = "alice"
key = "${{ALICE}}"
[[keys]]
name = "bob"
key = "${{BOB}}"
per_minute = 20
[[keys]]
name = "carol"
key = "${{CAROL}}"
max_concurrent = 1
state_away = "local"
[providers.lab]
base_url = "{upstream}/v1"
[default]
route = "lab/weak"
"""
KEYS = {name.upper(): f"key-of-{name}" for name in ("alice", "bob", "carol")}
USER = {"role": "user", "content": "What is the weather in Oslo?"}
PATIENT = 10.0


@contextlib.contextmanager
def gateways(
    folder: Path, server: RedisServer, *namespaces: str, patience: float = PATIENT, delay: float = 0.0
) -> Iterator[list[str]]:
    """The addresses of gateways, one in each of these namespaces."""
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(running(delay=delay))
        found = []
        for n, namespace in enumerate(namespaces):
            file = folder / f"{n}.toml"
            file.write_text(
                SETTINGS.format(state=server.url, namespace=namespace, upstream=upstream, patience=patience)
            )
            serving = serving_process("--config", str(file), DRAGOMAN_STATE_KEY=SECRET, **KEYS)
            process, url, _ = stack.enter_context(serving)
            stack.callback(process.send_signal, signal.SIGTERM)
            found.append(url)
        yield found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path) as found:
        yield found


@contextlib.asynccontextmanager
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=True)) as made:
        yield made


def go(work: Callable[[aiohttp.ClientSession], Awaitable[T]]) -> T:
    async def within() -> T:
        async with session() as made:
            return await asyncio.wait_for(work(made), 2 * LONG)

    return asyncio.run(within())


async def ask(one: aiohttp.ClientSession, url: str, key: str = "alice", **body: Any) -> tuple[int, Any]:
    """The status and the answer."""
    headers = {"authorization": f"Bearer key-of-{key}"}
    asked = {"model": "weak", "input": [USER], **body}
    async with one.post(f"{url}/v1/responses", json=asked, headers=headers) as answer:
        return answer.status, await answer.json()


async def last_event(one: aiohttp.ClientSession, url: str, key: str = "alice") -> dict[str, Any]:
    """The response of a stream, as soon as its last event is here."""
    headers = {"authorization": f"Bearer key-of-{key}"}
    asked = {"model": "weak", "input": [USER], "stream": True}
    async with one.post(f"{url}/v1/responses", json=asked, headers=headers) as answer:
        async for line in answer.content:
            if line.startswith(b"data: ") and (event := json.loads(line[6:]))["type"] == "response.completed":
                return dict(event["response"])
    raise AssertionError("the stream had no last event")


@pytest.mark.slow
def test_200_follow_ups_sent_at_once_to_the_other_gateway_are_all_known(server: RedisServer, tmp_path: Path) -> None:
    with gateways(tmp_path, server, "house", "house") as (here, there):

        async def work(one: aiohttp.ClientSession) -> list[int]:
            gate = asyncio.Semaphore(16)

            async def talk(n: int) -> int:
                async with gate:
                    first, other = (here, there) if n % 2 else (there, here)
                    said = await last_event(one, first)
                    status, answer = await ask(one, other, previous_response_id=said["id"])
                    assert status == 200, answer
                    items = [USER, {"type": "item_reference", "id": said["output"][0]["id"]}, USER]
                    return (await ask(one, other, input=items))[0]

            return await asyncio.gather(*map(talk, range(200)))

        assert go(work) == [200] * 200


@pytest.mark.slow
def test_limits_hold_over_all_workers_of_both(server: RedisServer, tmp_path: Path) -> None:
    with gateways(tmp_path, server, "house", "house") as both:

        async def work(one: aiohttp.ClientSession) -> list[int]:
            asked = [ask(one, both[n % 2], key="bob") for n in range(80)]
            return [status for status, _ in await asyncio.gather(*asked)]

        statuses = go(work)
    assert (statuses.count(200), statuses.count(429)) == (20, 60)


@pytest.mark.slow
def test_equal_key_names_in_two_namespaces_are_two(server: RedisServer, tmp_path: Path) -> None:
    with gateways(tmp_path, server, "house", "neighbours") as (here, there):

        async def work(one: aiohttp.ClientSession) -> None:
            said = await last_event(one, here)
            status, answer = await ask(one, there, previous_response_id=said["id"])
            assert (status, answer["error"]["code"]) == (400, "previous_response_not_found")
            for url in (here, there):
                assert (await ask(one, url, key="bob"))[0] == 200

        go(work)


@pytest.mark.slow
def test_a_store_that_is_away_is_503_for_what_refers_and_nothing_for_the_rest(
    server: RedisServer, tmp_path: Path
) -> None:
    with gateways(tmp_path, server, "house", patience=0.2) as (url,):

        async def work(one: aiohttp.ClientSession) -> None:
            said = await last_event(one, url)
            with server.standing_still():
                headers = {"authorization": "Bearer key-of-alice"}
                for path in (f"/v1/responses/{said['id']}", "/v1/conversations/conv_nope"):
                    async with one.get(url + path, headers=headers) as answer:
                        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
                status, answer_ = await ask(one, url, previous_response_id=said["id"])
                assert (status, answer_["error"]["code"]) == (503, "state_unavailable")
                assert (await ask(one, url))[0] == 200
                assert (await ask(one, url, key="bob"))[0] == 200
                assert (await ask(one, url, key="carol"))[0] == 200
                async with one.get(f"{url}/readyz") as ready:
                    assert ready.status == 200
            async with asyncio.timeout(LONG):
                while (await ask(one, url, previous_response_id=said["id"]))[0] != 200:
                    await asyncio.sleep(0.1)

        go(work)


@pytest.mark.slow
def test_a_killed_worker_takes_no_answer_with_it(server: RedisServer, tmp_path: Path) -> None:
    with gateways(tmp_path, server, "house", "house") as (here, there):

        async def work(one: aiohttp.ClientSession) -> None:
            said = [await last_event(one, here) for _ in range(6)]
            for child in _children_of(here):
                os.kill(child, signal.SIGKILL)
            for each in said:
                assert (await ask(one, there, previous_response_id=each["id"]))[0] == 200

        go(work)


def _children_of(url: str) -> list[int]:
    """The processes that listen where a gateway does, by its port."""
    port = f":{int(url.rpartition(':')[2]):04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    inodes = {f"socket:[{line.split()[9]}]" for line in lines if line.split()[1].endswith(port)}
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.name != str(os.getpid()) and any(os.readlink(each) in inodes for each in (process / "fd").iterdir()):
                found.append(int(process.name))
    return sorted(found)[1:]
