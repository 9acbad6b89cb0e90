"""`dragoman doctor --state redis://…`, with real servers: what stands there, what does not, and never a secret."""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli import main
from dragoman.effects import Enter, Retain
from dragoman.gateway.config.load import Server
from dragoman.gateway.state.stores import stores_for
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from tests.support.places import ROOT
from tests.support.redis_servers import SECRET, RedisServer, redis_cluster, redis_server, skip_without

pytestmark = skip_without
ROUTE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://127.0.0.1:9/v1")
ASKED = ("doctor", "http://127.0.0.1:9/v1", "--api", "openai_chat", "--model", "m")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with redis_server(tmp_path) as found:
        yield found


def taught(server: RedisServer, namespace: str = "house", secret: str = SECRET) -> None:
    """A gateway was there."""

    async def work() -> None:
        stores = stores_for(Server(state=server.url, namespace=namespace, state_key=secret, state_timeout=20.0))
        assert stores.keeper is not None
        stores.learned.of("alice").confirm(ROUTE, "m", ["bracket"])
        await stores.exchange()
        await stores.keeper.perform(Retain({("item", "a"): "1", ("response", "b"): "2"}))
        await stores.keeper.perform(Enter(key="alice", lease="l", per_minute=5, concurrent=5))
        await stores.aclose()

    asyncio.run(work())


def found(capsys: pytest.CaptureFixture[str], *more: str) -> list[dict[str, Any]]:
    main([*ASKED, "--json", *more])
    printed = capsys.readouterr()
    assert "hidden" not in printed.out + printed.err
    findings: list[dict[str, Any]] = json.loads(printed.out)["findings"]
    return [each for each in findings if each["probe"] in {"shared state", "remembered habits"}]


def test_what_stands_in_a_store_is_told(server: RedisServer, capsys: pytest.CaptureFixture[str]) -> None:
    taught(server)
    state, habits = found(capsys, "--state", server.url, "--namespace", "house")
    assert (state["grade"], habits["facts"]) == ("good", {"habits": ["bracket"]})
    facts = state["facts"]
    assert [facts[what] for what in ("texts", "limits", "notes", "processes")] == [2, 1, 1, 1]
    assert facts["version"].partition(" ")[0] in {"Redis", "Valkey"}
    assert "2 texts, limits of 1 keys, 1 notes of models; 1 processes live" in state["message"]


def test_what_the_page_says_is_run(server: RedisServer, capsys: pytest.CaptureFixture[str]) -> None:
    taught(server)
    page = (ROOT / "docs" / "several-machines.md").read_text()
    [line] = [line for line in page.splitlines() if line.startswith("dragoman doctor")]
    given = line.replace("redis://cache.internal:6379/0", server.url).replace("127.0.0.1:8080", "127.0.0.1:9")
    main([*shlex.split(given)[1:], "--model", "m"])
    assert "2 texts" in capsys.readouterr().out


def test_where_it_is_and_of_whom_may_come_from_the_environment(
    server: RedisServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    taught(server)
    for name, value in {"STATE": server.url, "NAMESPACE": "house", "STATE_KEY": SECRET}.items():
        monkeypatch.setenv(f"DRAGOMAN_{name}", value)
    assert found(capsys)[0]["facts"]["same_secret"] is True
    assert main([*ASKED, "--forget"]) == 0
    assert "forgot 1 things" in capsys.readouterr().err
    assert found(capsys)[1]["facts"] == {"habits": []}


def test_another_namespace_and_another_secret_are_told(
    server: RedisServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    taught(server)
    [state, _] = found(capsys, "--state", server.url, "--namespace", "hause")
    assert (state["grade"], "nothing of 'hause', but of 'house'" in state["message"]) == ("poor", True)
    monkeypatch.setenv("DRAGOMAN_STATE_KEY", "hidden, and not the same one")
    [state, _] = found(capsys, "--state", server.url, "--namespace", "house")
    assert (state["grade"], "another secret" in state["message"]) == ("poor", True)
    assert "DRAGOMAN_STATE_KEY" in state["remedy"]
    assert main([*ASKED, "--state", server.url, "--namespace", "house", "--forget"]) == 2
    assert "nothing was forgotten" in capsys.readouterr().err


@pytest.mark.slow
def test_a_cluster_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with redis_cluster(tmp_path) as servers:
        taught(servers[0])
        state, habits = found(capsys, "--state", servers[1].url, "--namespace", "house")
    assert (state["facts"]["cluster"], state["facts"]["texts"], state["facts"]["notes"]) == (True, 2, 1)
    assert habits["facts"] == {"habits": ["bracket"]}


AWAY: dict[str, tuple[str, str]] = {
    "nobody listens": ("redis://u:hidden@127.0.0.1:1/0", "nobody answers there"),
    "no such socket": ("unix:///nowhere", "nobody answers there"),
    "no such name": ("rediss://u:hidden@nowhere.invalid/0", "nobody answers there"),
}


@pytest.mark.parametrize(("place", "why"), AWAY.values(), ids=AWAY)
def test_a_store_that_cannot_be_asked_is_a_finding(place: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    [state] = found(capsys, "--state", place, "--namespace", "house")
    assert (state["grade"], why in state["message"]) == ("bad", True)


def test_a_password_that_is_wanted_or_wrong_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server = RedisServer(tmp_path, "--requirepass", "hidden, and right")
    server.start_closed()
    try:
        for place in (server.url, server.url.replace("unix://", "unix://:hidden@")):
            [state] = found(capsys, "--state", place, "--namespace", "house")
            assert (state["grade"], "user or password" in state["message"]) == ("bad", True)
    finally:
        server.stop()


def test_one_that_stands_still_is_given_up(
    server: RedisServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.cli.doctor_state.PATIENCE", 0.05)
    monkeypatch.setattr("dragoman.gateway.state.redis_link.BESIDE", 0.05)
    with server.standing_still():
        [state] = found(capsys, "--state", server.url, "--namespace", "house")
    assert (state["grade"], "no answer within" in state["message"]) == ("bad", True)


WRONG: dict[str, tuple[list[str], str]] = {
    "no namespace": (["--state", "redis://127.0.0.1:1"], "--namespace"),
    "no directory": (["--state", "/nowhere/at/all"], "no directory that exists"),
    "another scheme": (["--state", "postgres://u:hidden@x/y"], "no address of a store"),
    "no port": (["--state", "redis://u:hidden@x:y/0", "--namespace", "house"], "is no address"),
    "no secret": (["--state", "redis://127.0.0.1:1", "--namespace", "house", "--forget"], "DRAGOMAN_STATE_KEY"),
}


@pytest.mark.parametrize(("given", "why"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_meant_is_said(given: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, *given]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert "hidden" not in said


def test_looking_leaves_nothing_behind(server: RedisServer, capsys: pytest.CaptureFixture[str]) -> None:
    taught(server)
    before = server.names()
    found(capsys, "--state", server.url, "--namespace", "house")
    assert server.names() == before
