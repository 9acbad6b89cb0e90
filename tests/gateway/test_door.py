"""Who comes in, how much each may ask, how long a request may take, and settings that change while all this goes on."""

from __future__ import annotations

import ast
import asyncio
import inspect
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import ErrorKind, ProviderError
from dragoman.gateway import GatewayConfig, Limits, create_app
from dragoman.gateway.http import keys as door
from dragoman.gateway.http.keys import AccessControl, known, sent_key
from dragoman.gateway.reload import Watched, keep_current
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import ScriptedPeer
from tests.support.asgi import Client, Reply, call
from tests.support.clocks import LONG, run_virtually
from tests.support.gateways import (
    KEY,
    PATHS,
    PIECE,
    Slow,
    app,
    ask,
    asking,
    bearer,
    converse,
    every_front,
    held,
    message_of,
    row,
    slow_app,
)
from tests.support.upstreams import model, refusal, text_reply

ROUTE = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")


# ── keys ─────────────────────────────────────────────────────────────────────

SENT: list[tuple[dict[str, str], str]] = [
    ({"authorization": f"Bearer {KEY}"}, ""),
    ({"authorization": f"bearer   {KEY} "}, ""),
    ({"x-api-key": KEY}, ""),
    ({"x-goog-api-key": KEY}, ""),
    ({"api-key": KEY}, ""),
    ({}, f"alt=sse&key={KEY}"),
    ({"authorization": "Basic abc", "x-api-key": KEY}, ""),
]


@pytest.mark.parametrize(("headers", "query"), SENT, ids=[" ".join(h) or "query" for h, _ in SENT])
def test_a_key_is_found_wherever_an_api_sends_one(headers: dict[str, str], query: str) -> None:
    assert sent_key(headers, query) == KEY


def test_of_several_keys_the_right_one_is_known() -> None:
    rows = (row("first-key", "first"), row(), row("last-key", "last"))
    assert [known(rows, key).name for key in ("first-key", KEY, "last-key")] == ["first", "alice", "last"]


@pytest.mark.parametrize("key", ["", "wrong", KEY + "x", KEY[:-1], KEY.upper(), "\udcff", "é" * 1000])
def test_any_other_key_is_refused_and_stands_in_no_message(key: str) -> None:
    with pytest.raises(ProviderError) as refused:
        known((row(),), key)
    assert (refused.value.status, refused.value.kind) == (401, ErrorKind.AUTH)
    assert not key or key not in str(refused.value)


@pytest.mark.parametrize("path", [PATHS["openai_chat"], "/v1/models"])
@pytest.mark.parametrize("name", ["authorization", "x-api-key"])
@pytest.mark.parametrize("others", [["Bearer another"], [f"Bearer {KEY}"], ["", "Basic abc"]])
def test_a_header_with_a_key_comes_once_or_is_refused(path: str, name: str, others: list[str]) -> None:
    method = "GET" if path == "/v1/models" else "POST"
    client = Client(app(ScriptedPeer([]), config=held()), path, asking("openai_chat", stream=False)[1], method=method)
    values = [*others, f"Bearer {KEY}"]
    client._scope["headers"] = [(name.encode(), value.encode()) for value in values]
    reply = asyncio.run(client.run())
    assert reply.status == 400
    assert f"{name!r} came {len(values)} times" in reply.json["error"]["message"]
    assert KEY not in reply.body.decode()


def test_keys_are_compared_in_constant_time_and_every_row_is() -> None:
    tree = ast.parse(inspect.getsource(known))
    compared = [node for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.Match)]
    called = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    early = [node for node in ast.walk(tree) if isinstance(node, ast.Break | ast.For | ast.While)]
    assert compared == []
    assert early == []
    assert called.count("hmac.compare_digest") == 1


def test_no_key_and_no_digest_of_one_is_shown() -> None:
    assert row().sha256 not in repr(row())
    assert KEY not in repr(row())


@every_front
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("key", ["", "sk-wrong-key-of-mallory"])
def test_without_a_right_key_nobody_is_asked_in_any_shape(front: str, stream: bool, key: str) -> None:
    memory = model("openai_chat", text_reply("hi"))
    reply = ask(app(memory, config=held()), front, stream=stream, headers=bearer(key) if key else {})
    assert reply.status == 401
    assert "key" in message_of(front, reply)
    assert "mallory" not in str(reply)
    assert memory.sent == []


@every_front
def test_a_key_opens_only_the_models_it_is_for(front: str) -> None:
    memory = model("openai_chat", text_reply("hi"))
    assert ask(app(memory, config=held(models=("m*",))), front, stream=False, headers=bearer()).status == 200
    reply = ask(app(memory, config=held(models=("qwen*",))), front, stream=False, headers=bearer())
    assert reply.status == 403
    assert "may not ask for the model 'm'" in message_of(front, reply)
    assert len(memory.sent) == 1


BESIDE: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "/v1/models", None),
    ("GET", "/v1/models/m", None),
    ("GET", "/v1beta/models", None),
    ("GET", "/api/tags", None),
    ("GET", "/api/ps", None),
    ("POST", "/api/show", {"model": "m"}),
    ("POST", "/v1/messages/count_tokens", {"messages": []}),
    ("POST", "/v1beta/models/m:countTokens", {"contents": []}),
    ("POST", "/v1/parse", {"text": "hi"}),
    ("POST", "/v1/render", {"calls": [], "dialect": "hermes"}),
]


@pytest.mark.parametrize(("method", "path", "body"), BESIDE, ids=[row[1] for row in BESIDE])
def test_other_endpoints_ask_for_the_same_key(method: str, path: str, body: Any) -> None:
    gateway = create_app(GatewayConfig(models={"m": ROUTE}, **held()), ScriptedPeer([]))
    for wrong in ({}, bearer("sk-wrong-key-of-mallory")):
        refused = call(gateway, path, body, method=method, headers=wrong)
        assert refused.status == 401
        told = refused.json["error"]
        assert "key" in (told if path.startswith("/api/") else told["message"])
        assert "mallory" not in str(refused)
    served = call(gateway, path, body, method=method, headers={**bearer(), "x-request-id": "mine-1"})
    assert served.status == 200
    assert served.headers["x-request-id"] == "mine-1"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/api/version", "/", "/openapi.json"])
def test_what_probes_ask_needs_no_key(path: str) -> None:
    assert (
        call(create_app(GatewayConfig(models={"m": ROUTE}, **held()), ScriptedPeer([])), path, method="GET").status
        == 200
    )


def test_a_key_sees_the_models_it_may_ask_for() -> None:
    config = GatewayConfig(models={"qwen": ROUTE, "gpt": ROUTE}, **held(models=("q*",)))
    gateway = create_app(config, ScriptedPeer([]))
    listed = call(gateway, "/v1/models", method="GET", headers=bearer()).json["data"]
    assert [row["id"] for row in listed] == ["qwen"]
    assert call(gateway, "/v1/models/gpt", method="GET", headers=bearer()).status == 404


@pytest.mark.parametrize("path", ["/api/show", "/v1/api/show"])
def test_a_key_is_told_nothing_of_models_it_may_not_ask_for(path: str) -> None:
    gateway = create_app(GatewayConfig(models={"qwen": ROUTE, "gpt": ROUTE}, **held(models=("q*",))), ScriptedPeer([]))
    assert call(gateway, path, {"model": "qwen"}, headers=bearer()).status == 200
    assert call(gateway, path, {"model": "gpt"}, headers=bearer()).status == 403


def test_the_clients_key_never_reaches_the_provider() -> None:
    memory = model("openai_chat", text_reply("hi"))
    ask(app(memory, config=held(), key="sk-of-the-provider"), "openai_chat", stream=False, headers=bearer())
    (opened,) = memory.sent
    assert KEY not in str(dict(opened.headers))
    assert opened.headers["authorization"] == "Bearer sk-of-the-provider"


# ── how much ─────────────────────────────────────────────────────────────────


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def come(at: AccessControl, config: GatewayConfig) -> None:
    async def go() -> None:
        async with at.enter(config, bearer()):
            pass

    asyncio.run(go())


def test_requests_of_a_minute_are_counted_and_then_forgotten() -> None:
    clock = Clock()
    at, config = AccessControl(clock), GatewayConfig(access=(row(per_minute=2),))
    come(at, config)
    clock.now = 50
    come(at, config)
    with pytest.raises(ProviderError) as refused:
        come(at, config)
    assert (refused.value.status, refused.value.retry_after) == (429, 10)
    clock.now = 60
    come(at, config)
    with pytest.raises(ProviderError) as refused:
        come(at, config)
    assert refused.value.retry_after == 50


def test_a_refused_request_does_not_count_against_the_minute() -> None:
    clock = Clock()
    at, config = AccessControl(clock), GatewayConfig(access=(row(per_minute=1, max_concurrent=1),))

    async def go() -> None:
        async with at.enter(config, bearer()):
            with pytest.raises(ProviderError, match="wait until one of them"):
                async with at.enter(config, bearer()):
                    pass

    asyncio.run(go())
    clock.now = 60
    come(at, config)


def test_each_key_has_a_minute_of_its_own() -> None:
    at, config = AccessControl(Clock()), GatewayConfig(access=(row(per_minute=1), row("bobs", "bob", per_minute=1)))
    come(at, config)

    async def name() -> str:
        async with at.enter(config, bearer("bobs")) as access:
            return access.name if access is not None else ""

    assert asyncio.run(name()) == "bob"


@every_front
def test_one_request_too_many_is_refused_with_retry_after(front: str) -> None:
    gateway = app(model("openai_chat", text_reply("hi"), text_reply("hi")), config=held(per_minute=1))
    assert ask(gateway, front, stream=False, headers=bearer()).status == 200
    reply = ask(gateway, front, stream=False, headers=bearer())
    assert reply.status == 429
    assert "1 requests in a minute" in message_of(front, reply)
    assert 0 < int(reply.headers["retry-after"]) <= 60


@every_front
@pytest.mark.parametrize("which", ["the key", "the gateway"])
def test_whoever_is_inside_keeps_others_out_until_he_leaves(front: str, which: str) -> None:
    config = held(max_concurrent=1) if which == "the key" else {"limits": Limits(max_concurrent=1)}

    async def go() -> list[Reply]:
        slow = Slow()
        gateway = create_app(GatewayConfig(default=ROUTE, **config), slow)
        first = Client(gateway, *asking(front, stream=True), headers=bearer())
        running = asyncio.ensure_future(first.run())
        await slow.opened.wait()
        second = await Client(gateway, *asking(front, stream=True), headers=bearer()).run()
        first.hang_up()  # that he hung up must count as leaving
        await running
        slow.opened.clear()
        third = Client(gateway, *asking(front, stream=True), headers=bearer())
        running = asyncio.ensure_future(third.run())
        slow.pieces.put_nowait(PIECE)
        await third.until(b"Hello")
        third.hang_up()
        return [second, await running]

    refused, served = asyncio.run(go())
    assert refused.status == 429
    assert "at the same time" in message_of(front, refused)
    assert refused.headers["retry-after"] == "1"
    assert served.status == 200


FAILING: list[tuple[str, Callable[[], ScriptedPeer], Any]] = [
    ("the provider fails", lambda: ScriptedPeer([refusal(500, {})]), None),
    ("the body is none", lambda: ScriptedPeer([]), b"{"),
    ("nobody answers", lambda: ScriptedPeer([]), None),
]


@pytest.mark.parametrize(("made", "body"), [r[1:] for r in FAILING], ids=[r[0] for r in FAILING])
def test_whatever_goes_wrong_the_place_is_free_again(
    made: Callable[[], ScriptedPeer], body: Any, caplog: pytest.LogCaptureFixture
) -> None:
    gateway = app(made(), config={**held(max_concurrent=1), "limits": Limits(max_concurrent=1)})
    path, request_body = asking("openai_chat", stream=False)
    with caplog.at_level(logging.CRITICAL):
        statuses = [call(gateway, path, body or request_body, headers=bearer()).status for _ in range(3)]
    assert 429 not in statuses
    assert all(status >= 400 for status in statuses)


def test_a_door_counts_down_when_its_guest_fails() -> None:
    at = AccessControl(Clock())
    inside = []

    async def fail() -> None:
        async with at.enter(GatewayConfig(), {}):
            inside.append(at.inside)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(fail())
    assert [*inside, at.inside] == [1, 0]


# ── how long ─────────────────────────────────────────────────────────────────


@every_front
def test_a_late_answer_is_given_up_before_its_head(front: str) -> None:
    async def go() -> Reply:
        slow = Slow(head=False)

        async def script(_: Client) -> None:
            await slow.closed.wait()  # nobody hangs up: the gateway lets go of the provider by itself

        return await converse(front, slow, script, limits=Limits(timeout=10.0))

    reply = run_virtually(go())
    assert reply.status == 504
    assert "limits.timeout" in message_of(front, reply)


@every_front
def test_a_late_answer_is_given_up_in_its_middle(front: str) -> None:
    async def go() -> Reply:
        slow = Slow()
        slow.pieces.put_nowait(PIECE)

        async def script(_: Client) -> None:
            await slow.closed.wait()

        return await converse(front, slow, script, limits=Limits(timeout=10.0))

    reply = run_virtually(go())
    assert reply.status == 200
    assert b"limits.timeout" in reply.body
    assert reply.ended


SIGN_OF_LIFE = {
    "comments": b": still here\n\n",
    "empty deltas": b'data: {"choices":[{"index":0,"delta":{"content":""}}]}\n\n',
    "more and more text": PIECE,
}


@pytest.mark.parametrize("sign", SIGN_OF_LIFE.values(), ids=SIGN_OF_LIFE)
def test_a_stream_of_signs_of_life_ends_after_half_an_hour_by_itself(sign: bytes) -> None:
    """Without a word in the settings; each sign comes long before the provider has been silent for too long."""

    async def go() -> tuple[Reply, float]:
        slow, clock = Slow(), asyncio.get_running_loop().time
        slow.pieces.put_nowait(PIECE)

        async def script(_: Client) -> None:
            while not slow.closed.is_set():
                slow.pieces.put_nowait(sign)
                await asyncio.sleep(20.0)

        begun = clock()
        client = Client(slow_app(slow), *asking("openai_chat", stream=True))
        reply, _ = await asyncio.gather(client.run(), script(client))
        return reply, clock() - begun

    reply, took = run_virtually(go())
    assert Limits().timeout <= took <= Limits().timeout + 30
    assert b"raise limits.timeout" in reply.body


@every_front
def test_a_client_that_sends_too_slowly_is_told(front: str) -> None:
    async def go() -> Reply:
        gateway = create_app(GatewayConfig(default=ROUTE, limits=Limits(body_timeout=30.0)), ScriptedPeer([]))
        client = Client(gateway, *asking(front, stream=False))
        client._messages = [{"type": "http.request", "body": b"{", "more_body": True}]
        return await asyncio.wait_for(client.run(), LONG)

    reply = run_virtually(go())
    assert reply.status == 408
    assert "send it faster" in message_of(front, reply)


# ── settings that change ─────────────────────────────────────────────────────

SETTINGS = '[models.{name}]\nroute = "ollama/qwen3"\n'


def replaced(file: Path, text: str) -> None:
    """The file, replaced as editors do it: another file takes its name."""
    fresh = file.with_suffix(".new")
    fresh.write_text(text)
    os.replace(fresh, file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "dragoman.toml"
    made.write_text(SETTINGS.format(name="first"))
    return made


def test_a_file_that_was_replaced_is_taken_once(file: Path) -> None:
    watched = Watched(file)
    assert watched.look() is None
    replaced(file, SETTINGS.format(name="second"))
    config = watched.look()
    assert config is not None
    assert list(config.models) == ["second"]
    assert watched.look() is None


@pytest.mark.parametrize("text", ["[models", '[models.x]\nroute = "nobody/none"\n', "[sever]\n", "\x00"])
def test_a_wrong_file_changes_nothing_and_is_logged_once(
    file: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched(file)
    replaced(file, text)
    with caplog.at_level(logging.WARNING, "dragoman.gateway"):
        assert [watched.look(), watched.look()] == [None, None]
    assert len(caplog.records) == 1
    assert "not taken" in caplog.text
    replaced(file, SETTINGS.format(name="mended"))
    assert watched.look() is not None


def test_a_file_that_is_away_for_a_moment_changes_nothing(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched(file)
    file.unlink()
    assert watched.look() is None
    assert caplog.records == []


def test_new_settings_hold_from_the_next_request_on(file: Path) -> None:
    taken: list[GatewayConfig] = []

    async def go() -> None:
        got = asyncio.Event()

        def take(config: GatewayConfig) -> None:
            taken.append(config)
            got.set()

        watching = asyncio.ensure_future(keep_current(Watched(file), take, every=0.001))
        await asyncio.sleep(0)
        replaced(file, SETTINGS.format(name="second"))
        await asyncio.wait_for(got.wait(), LONG)
        watching.cancel()

    asyncio.run(go())
    assert [list(config.models) for config in taken] == [["second"]]


def test_the_doors_words_all_say_what_to_do() -> None:
    messages = [value for name, value in vars(door).items() if name.isupper() and isinstance(value, str) and value.strip()]
    assert messages
    assert all(";" in text for text in messages)
