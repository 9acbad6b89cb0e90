"""The gateway inside the process: streams, leaving, limits of time, threads, loops, forks, ends and settings."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest

import dragoman
from dragoman.effects import arun
from dragoman.errors import ErrorKind, ProviderError, UsageError
from dragoman.gateway import GatewayConfig, app
from dragoman.gateway.config.load import read
from dragoman.gateway.inprocess import answer as answers
from dragoman.gateway.inprocess import plan as plans
from dragoman.gateway.inprocess.signals import TaskSignal
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.clocks import LONG, auntil, until
from tests.support.gateways import ASKS, HERMES, asking, message_of, row
from tests.support.inside import CHAT, asker, every_kind, texts
from tests.support.peer import Exchange, peer, refusing_port
from tests.support.places import ROOT
from tests.support.upstreams import model, refusal, text_reply

PIECES = [f'data: {{"choices":[{{"index":0,"delta":{{"content":"word {n} "}}}}]}}\n\n'.encode() for n in range(3)]
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
API = "openai_chat"


def to(memory: Any, api: str = API, **config: Any) -> Any:
    """A transport in front of a scripted model."""
    route = Route(provider=COMPATIBLE[api], base_url="http://model.test")
    return dragoman.transport(GatewayConfig(default=route, **config), environ={}, peer=memory)


def saying(*texts: str) -> Any:
    return to(model(API, *map(text_reply, texts)))


def in_front_of(url: str, **more: Any) -> Any:
    return dragoman.transport(upstream=url, upstream_api=API, environ={}, **more)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "dragoman-gateway"]


# ── answers ──────────────────────────────────────────────────────────────────


@every_kind
def test_a_call_in_text_reaches_the_client_as_a_call(kind: str) -> None:
    with asker(kind, saying(HERMES)) as client:
        answer = client.post(stream=False)
        [call] = answer.json()["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"at": "sky"}
    assert answer.headers["x-dragoman-dialect"] == "hermes"
    assert type(answer) is client.library.Response


@every_kind
def test_each_piece_is_read_before_the_next_is_produced(kind: str) -> None:
    told = [threading.Event() for _ in PIECES]

    def talk(exchange: Exchange) -> None:
        exchange.head()
        for piece, event in zip(PIECES, told, strict=True):
            exchange.say(piece)
            assert event.wait(LONG)
        exchange.say(END)

    with peer(talk) as upstream, asker(kind, in_front_of(upstream.url)) as client:
        answer, seen = client.begin(), b""
        pieces = client.pieces(answer)
        for number, event in enumerate(told):
            while f"word {number}" not in texts(seen):
                seen += next(pieces)
            assert f"word {number + 1}" not in texts(seen)
            event.set()
        seen += b"".join(pieces)
    assert texts(seen) == "word 0 word 1 word 2 "
    assert seen.endswith(b"data: [DONE]\n\n")


@every_kind
def test_a_client_that_stops_reading_cancels_the_upstream(kind: str) -> None:
    def talk(exchange: Exchange) -> None:
        exchange.head()
        exchange.say(PIECES[0])
        exchange.until_gone()

    with peer(talk) as upstream, asker(kind, in_front_of(upstream.url)) as client:
        answer = client.begin()
        pieces = client.pieces(answer)
        assert "word 0" in texts(next(pieces))
        assert not upstream.exchanges[0].gone.is_set()
        client.end(answer)
        assert upstream.exchanges[0].gone.wait(LONG)


@every_kind
@pytest.mark.costly
def test_a_slow_reader_holds_the_upstream_back(kind: str) -> None:
    said = [0]
    piece = PIECES[0].replace(b"word 0", b"x" * 1000)

    def talk(exchange: Exchange) -> None:
        exchange.head()
        exchange.wire.settimeout(0.5)
        try:
            while said[0] < 100_000:
                exchange.say(piece)
                said[0] += 1
        except TimeoutError:
            said.append(0)
            exchange.wire.settimeout(LONG)
            exchange.until_gone()

    with peer(talk) as upstream, asker(kind, in_front_of(upstream.url)) as client:
        answer = client.begin()
        pieces = client.pieces(answer)
        next(pieces)
        until(lambda: len(said) == 2)  # it could not write any more
        client.end(answer)
        assert upstream.exchanges[0].gone.wait(LONG)
    assert said[0] < 100_000


@every_kind
def test_failures_are_the_answers_of_the_gateway(kind: str) -> None:
    script = ScriptedPeer([refusal(400, {"error": {"message": "too hot", "type": "invalid_request_error"}})])
    with asker(kind, to(script)) as client:
        answer = client.post(stream=False)
    assert answer.status_code == 400
    assert "too hot" in answer.json()["error"]["message"]


@every_kind
def test_an_upstream_that_is_not_there_is_an_answer_too(kind: str) -> None:
    settings = {"fallback": {"retries": 0}, "providers": {"up": {"base_url": f"http://127.0.0.1:{refusing_port()}"}},
                "default": {"route": "up"}}  # fmt: skip
    with asker(kind, dragoman.transport(settings, environ={})) as client:
        answer = client.post(stream=False)
    assert answer.status_code in {502, 503}
    assert "cannot reach" in answer.json()["error"]["message"]


@every_kind
def test_an_address_that_is_not_served_says_so(kind: str) -> None:
    with asker(kind, saying()) as client:
        assert client.post("https://api.openai.com/v1/nothing").status_code == 404


@every_kind
def test_a_body_in_pieces_arrives_whole_and_one_too_large_is_refused(kind: str) -> None:
    def pieces(size: int) -> Any:
        whole = json.dumps({**ASKS[API], "more": "x" * size}).encode()
        cut = [whole[:10], whole[10:]]

        async def coming() -> Any:
            for piece in cut:
                yield piece

        return coming() if kind.endswith("async") else iter(cut)

    limits = read({"limits": {"body": 2000}}, {}).config.limits
    with asker(kind, to(model(API, text_reply("Hello")), limits=limits)) as client:
        assert client.do(client.client.post(CHAT, content=pieces(1))).status_code == 200
        assert client.do(client.client.post(CHAT, content=pieces(5000))).status_code == 413
        assert client.do(client.client.post(CHAT, content=b"x" * 5000)).status_code == 413


# ── time ─────────────────────────────────────────────────────────────────────


@every_kind
@pytest.mark.parametrize("head", [True, False], ids=["within a stream", "before the head"])
@pytest.mark.costly
def test_the_clients_read_timeout_counts_and_lets_the_upstream_go(kind: str, head: bool) -> None:
    def talk(exchange: Exchange) -> None:
        if head:
            exchange.head()
            exchange.say(PIECES[0])
        exchange.until_gone()

    with peer(talk) as upstream, asker(kind, in_front_of(upstream.url), timeout=0.3) as client:
        with pytest.raises(client.library.ReadTimeout) as raised:
            list(client.pieces(client.begin()))
        assert str(raised.value.request.url) == CHAT
        assert all(one.gone.wait(LONG) for one in upstream.exchanges)  # none, where time was up before it was asked


@every_kind
def test_the_connect_timeout_counts_until_the_gateway_has_begun(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(plans, "look", never)
    waiting = dragoman.transport(upstream="http://model.test", environ={})
    timeout = httpx.Timeout(None, connect=0.1).as_dict()
    with asker(kind, waiting) as client, pytest.raises(client.library.ConnectTimeout):
        client.do(client.client.post(CHAT, json={}, timeout=client.library.Timeout(**timeout)))


# ── who asks ─────────────────────────────────────────────────────────────────


def test_many_threads_and_loops_of_both_libraries_share_one_gateway() -> None:
    memory = ScriptedPeer(lambda _: Answer((b'{"choices":[{"index":0,"message":{"content":"Hi"}}]}',), headers={"content-type": "application/json"}))
    transport = to(memory)
    body = json.dumps({**ASKS[API], "stream": False}).encode()

    def plainly(library: Any) -> set[int]:
        client = library.Client(transport=transport)
        return {client.post(CHAT, content=body).status_code for _ in range(5)}

    async def awaited(library: Any) -> set[int]:
        client = library.AsyncClient(transport=transport)
        found = await asyncio.gather(*(client.post(CHAT, content=body) for _ in range(5)))
        return {answer.status_code for answer in found}

    jobs: list[Any] = [lambda lib=lib: plainly(lib) for lib in (httpx, httpx2)]
    jobs += [lambda lib=lib: asyncio.run(awaited(lib)) for lib in (httpx, httpx2)]
    with ThreadPoolExecutor(8) as pool:
        assert [each.result() for each in [pool.submit(job) for job in jobs * 2]] == [{200}] * 8
    assert len(threads()) == 1
    assert len(transport.reports) == 40
    transport.close()
    assert threads() == []


def test_a_synchronous_client_may_ask_inside_a_running_loop() -> None:
    async def within() -> int:
        with httpx2.Client(transport=saying("Hello")) as client:
            return client.post(CHAT, json={**ASKS[API], "stream": False}).status_code

    assert asyncio.run(within()) == 200


def test_a_task_that_is_cancelled_lets_go_of_the_upstream() -> None:
    with peer(lambda exchange: exchange.until_gone()) as upstream:

        async def ask() -> None:
            async with httpx2.AsyncClient(transport=in_front_of(upstream.url)) as client:
                asking = asyncio.ensure_future(client.post(CHAT, json=ASKS[API], timeout=None))
                await auntil(lambda: upstream.exchanges)
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
                await auntil(upstream.exchanges[0].gone.is_set)

        asyncio.run(ask())


def test_trio_asks_as_well() -> None:
    trio = pytest.importorskip("trio")

    async def ask() -> str:
        async with httpx2.AsyncClient(transport=saying("Hello there")) as client:
            answer = await client.post(CHAT, json={**ASKS[API], "stream": True})
            return texts(answer.content)

    assert trio.run(ask) == "Hello there"


def test_trios_limits_of_time_count() -> None:
    trio = pytest.importorskip("trio")

    async def ask(url: str) -> None:
        async with httpx2.AsyncClient(transport=in_front_of(url), timeout=0.2) as client:
            with pytest.raises(httpx2.ReadTimeout):
                await client.post(CHAT, json=ASKS[API])

    with peer(lambda exchange: exchange.until_gone()) as upstream:
        trio.run(ask, upstream.url)
        assert upstream.exchanges[0].gone.wait(LONG)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes fork on POSIX")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_of_the_process_gets_a_gateway_of_its_own() -> None:
    def whole(exchange: Exchange) -> None:
        exchange.whole(b'{"choices":[{"index":0,"message":{"content":"Hi"}}]}', headers="content-type: application/json\r\n")

    with peer(whole) as upstream, httpx2.Client(transport=in_front_of(upstream.url)) as client:
        assert client.post(CHAT, json=ASKS[API]).status_code == 200
        context = multiprocessing.get_context("fork")
        said = context.Queue()
        child = context.Process(target=lambda: said.put(client.post(CHAT, json=ASKS[API]).status_code))
        child.start()
        assert said.get(timeout=LONG) == 200
        child.join(LONG)
        assert child.exitcode == 0
        assert client.post(CHAT, json=ASKS[API]).status_code == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes fork on POSIX")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_an_answer_that_was_on_its_way_ends_in_the_child() -> None:
    def talk(exchange: Exchange) -> None:
        exchange.head()
        exchange.say(PIECES[0])
        exchange.until_gone()

    def read(answer: Any, said: Any) -> None:
        try:
            said.put(b"".join(answer.iter_raw()))
        except httpx2.RemoteProtocolError as error:
            said.put(str(error))

    with peer(talk) as upstream, httpx2.Client(transport=in_front_of(upstream.url)) as client:
        request = client.build_request("POST", CHAT, json={**ASKS[API], "stream": True})
        answer = client.send(request, stream=True)
        context = multiprocessing.get_context("fork")
        said = context.Queue()
        child = context.Process(target=read, args=(answer, said))
        child.start()
        assert "was forked" in said.get(timeout=LONG)
        child.join(LONG)
        answer.close()


# ── beginning and ending ─────────────────────────────────────────────────────


@every_kind
def test_nothing_runs_before_the_first_request_nor_after_the_client_is_closed(kind: str) -> None:
    transport = saying("Hello")
    with asker(kind, transport) as client:
        assert threads() == []
        client.post(stream=False)
        assert len(threads()) == 1
    assert threads() == []


@every_kind
def test_closing_ends_what_still_runs(kind: str) -> None:
    def talk(exchange: Exchange) -> None:
        exchange.head()
        exchange.say(PIECES[0])
        exchange.until_gone()

    with peer(talk) as upstream:
        with asker(kind, in_front_of(upstream.url)) as client:
            next(client.pieces(client.begin()))
        assert upstream.exchanges[0].gone.wait(LONG)
        assert threads() == []


def test_a_transport_that_was_closed_begins_anew() -> None:
    transport = saying("One", "Two")
    for text in ("One", "Two"):
        with httpx2.Client(transport=transport) as client:
            answer = client.post(CHAT, json={**ASKS[API], "stream": False})
            assert answer.json()["choices"][0]["message"]["content"] == text


def test_a_shared_gateway_ends_with_the_last_that_uses_it() -> None:
    first = saying("One", "Two")
    second = first.share()
    for transport, left in ((first, 1), (second, 0)):
        with httpx2.Client(transport=transport) as client:
            client.post(CHAT, json={**ASKS[API], "stream": False})
        assert len(threads()) == left


def test_a_transport_that_is_forgotten_ends_by_itself() -> None:
    client = httpx.Client(transport=saying("Hello"))
    assert client.post(CHAT, json={**ASKS[API], "stream": False}).status_code == 200
    del client
    gc.collect()
    until(lambda: threads() == [])


def test_an_answer_that_is_forgotten_is_let_go() -> None:
    def talk(exchange: Exchange) -> None:
        exchange.head()
        exchange.say(PIECES[0])
        exchange.until_gone()

    with peer(talk) as upstream, httpx2.Client(transport=in_front_of(upstream.url)) as client:
        request = client.build_request("POST", CHAT, json=asking(API, stream=True)[1])
        assert client.send(request, stream=True).status_code == 200  # and nobody holds the answer
        gc.collect()
        assert upstream.exchanges[0].gone.wait(LONG)


@pytest.mark.parametrize("ending", ["", "raise SystemExit(0)", "answer.close()", "client.close()", "del client, answer"])
@pytest.mark.parametrize("kind", ["Client", "AsyncClient"])
@pytest.mark.costly
def test_a_program_ends_without_a_word_whatever_it_left_open(kind: str, ending: str) -> None:
    asked = "send(client.build_request('POST', 'http://x/v1/chat/completions', json=body), stream=True)"
    plain = f"client = httpx2.Client(transport=transport)\nanswer = client.{asked}\n{ending}\n"
    lines = f"client = httpx2.AsyncClient(transport=transport); answer = await client.{asked}"
    awaited = f"import asyncio\nasync def main():\n    global client, answer\n    {lines}\nasyncio.run(main())\n"
    late = ending if ending == "raise SystemExit(0)" or ending.startswith("del") else ""

    def talk(exchange: Exchange) -> None:
        exchange.head()
        exchange.say(PIECES[0])
        exchange.until_gone()

    with peer(talk) as upstream:
        code = (
            "import httpx2, dragoman\n"
            f"transport = dragoman.transport(upstream={upstream.url!r}, upstream_api='openai_chat')\n"
            "body = {'model': 'm', 'stream': True, 'messages': [{'role': 'user', 'content': 'Hello'}]}\n"
            + (plain if kind == "Client" else awaited + late)
        )
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, env=environ, timeout=LONG)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert upstream.exchanges[0].gone.wait(LONG)


def test_the_lifespan_is_begun_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    make = app.create_app

    def counted(*given: Any, **more: Any) -> Any:
        begun.append(1)
        return make(*given, **more)

    monkeypatch.setattr(plans, "create_app", counted)
    transport = saying(*["Hello"] * 8)
    with httpx2.Client(transport=transport) as client, ThreadPoolExecutor(8) as pool:
        body = {**ASKS[API], "stream": False}
        found = [pool.submit(client.post, CHAT, json=body) for _ in range(8)]
        assert {each.result().status_code for each in found} == {200}
    assert begun == [1]


# ── what is served ───────────────────────────────────────────────────────────

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an upstream that is nothing": ({"upstream": "olama"}, "did you mean 'ollama'"),
    "an address without a scheme": ({"upstream": "localhost:11434"}, "write one like http://"),
    "an API there is not": ({"upstream": "http://model.test", "upstream_api": "openai"}, "give one of"),
    "a dialect there is not": ({"upstream": "http://model.test", "dialect": "hermes2"}, "did you mean 'hermes'"),
    "a row that is not there": ({"upstream": "http://model.test", "dialect": "no/such.json"}, "cannot read"),
    "a way for tools there is not": ({"upstream": "http://model.test", "tools": "sometimes"}, "give one of native, text, both"),
    "an upstream beside settings": ({"config": {"default": {"route": "ollama/m"}}, "upstream": "ollama"}, "write it into them"),
    "settings that serve nothing": ({"config": {"server": {"inspect": True}}}, "no model is served"),
    "a word there is not": ({"config": {"defaults": {"route": "ollama/m"}}}, "config is not right: .*write 'default'"),
    "a file that is not there": ({"config": "no/such.toml"}, "cannot read no/such.toml"),
    "a provider without its key": ({"upstream": "openai"}, "set OPENAI_API_KEY"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "message"), WRONG.values(), ids=list(WRONG))
def test_wrong_settings_are_said_when_they_are_given(given: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match=message):
        dragoman.transport(**given, environ={})


def test_a_file_is_served_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dragoman.toml").write_text('[server]\ninspect = true\n[models.small]\nroute = "openai/gpt-x"\n')
    both: list[dict[str, Any]] = [{"config": "dragoman.toml"}, {}]
    for given in both:
        transport = dragoman.transport(**given, environ={"OPENAI_API_KEY": "sk-never-shown"}, peer=model(API, text_reply("Hello")))
        with httpx2.Client(transport=transport, base_url="http://127.0.0.1") as client:
            assert client.post("/v1/chat/completions", json={**ASKS[API], "model": "small", "stream": False}).status_code == 200
            assert client.get("/v1/models").json()["data"][0]["id"] == "small"
            [shown] = client.get("/inspect/api/exchanges").json()["rows"]
            assert shown["status"] == 200
        assert "sk-never-shown" not in repr(transport) + repr(transport.__dict__)


def test_no_key_is_asked_for_in_process() -> None:
    with httpx2.Client(transport=to(model(API, text_reply("Hello")), access=(row(),))) as client:
        assert client.post(CHAT, json={**ASKS[API], "stream": False}).status_code == 200


def test_the_environment_counts_as_for_a_server(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[models.small]\nroute = "ollama/m"\n')
    transport = dragoman.transport(environ={"DRAGOMAN_CONFIG": str(tmp_path / "mine.toml"), "DRAGOMAN_INSPECT": "true"})
    with httpx2.Client(transport=transport, base_url="http://127.0.0.1") as client:
        assert client.get("/inspect/api/about").status_code == 200
    assert "mine.toml" in repr(transport)


def test_an_address_is_asked_for_its_api_when_the_first_request_comes() -> None:
    listed = b'{"models": [{"name": "m"}]}'
    said = b'{"message": {"role": "assistant", "content": "Hello"}, "done": true}'

    def talk(exchange: Exchange) -> None:
        ours = exchange.request.startswith((b"GET /api/tags", b"POST /api/chat"))
        body = listed if exchange.request.startswith(b"GET") else said
        exchange.whole(body if ours else b"{}", "200 OK" if ours else "404 Not Found", "content-type: application/json\r\n")

    with peer(talk) as upstream:
        transport = dragoman.transport(upstream=upstream.url, environ={})
        assert upstream.exchanges == []
        with httpx2.Client(transport=transport) as client:
            answer = client.post(CHAT, json={**ASKS[API], "tools": [], "stream": False})
        assert answer.json()["choices"][0]["message"]["content"] == "Hello"


def test_a_gateway_that_cannot_begin_says_why_and_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = [dragoman.DragomanError("nothing is there; start it"), OSError("a bug")]
    route = Route(provider=COMPATIBLE[API], base_url="http://model.test")

    async def look(*_: Any) -> Any:
        if found:
            raise found.pop(0)
        return GatewayConfig(default=route)

    monkeypatch.setattr(plans, "look", look)
    transport = dragoman.transport(upstream="http://model.test", environ={}, peer=model(API, text_reply("Hello")))
    body = {**ASKS[API], "stream": False}
    with httpx2.Client(transport=transport) as client:
        first, _, third = (client.post(CHAT, json=body) for _ in range(3))
    assert first.status_code == 503
    assert "nothing is there; start it" in message_of(API, _reply(first))
    assert third.status_code == 200


def _reply(answer: Any) -> Any:
    class Told:
        json = answer.json()

    return Told


def test_an_application_that_fails_is_a_500(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        async def serve(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                for step in ("startup", "shutdown"):
                    await receive()
                    await send({"type": f"lifespan.{step}.complete"})
                return
            raise RuntimeError("a bug")

        return serve

    monkeypatch.setattr(plans, "create_app", broken)
    with httpx2.Client(transport=saying()) as client:
        answer = client.post(CHAT, json={})
    assert answer.status_code == 500
    assert "mistake of ours" in answer.json()["error"]["message"]


def test_reports_say_what_was_judged() -> None:
    transport = saying(HERMES, "Hello")
    with httpx2.Client(transport=transport) as client:
        for _ in range(2):
            answer = client.post(CHAT, json={**ASKS[API], "stream": False})
            served = transport.reports[-1]
            assert (served.request_id, served.status) == (answer.headers["x-request-id"], 200)
    first, second = transport.reports
    assert [report.dialect for report in first.reports] == ["hermes"]
    assert second.reports == ()
    assert first.api == API


def test_secrets_are_in_no_log_line(caplog: pytest.LogCaptureFixture) -> None:
    secret = "upstream-key-0123456789"
    down = ProviderError(f"refused {secret}", kind=ErrorKind.NETWORK)
    route = Route(provider=COMPATIBLE[API], base_url="http://model.test", key=secret)
    peer_ = ScriptedPeer(lambda _: Answer(status=down))
    config = GatewayConfig(default=route, rules=read({"fallback": {"retries": 0}}, {}).config.rules)
    transport = dragoman.transport(config, environ={}, peer=peer_)
    with caplog.at_level(logging.DEBUG), httpx2.Client(transport=transport) as client:
        client.post(CHAT, json=ASKS[API])
        logging.getLogger("dragoman.gateway").error("it was %s", secret)
        try:
            raise RuntimeError(secret)
        except RuntimeError:
            logging.getLogger("dragoman.gateway").exception("failed")
    assert "it was" in caplog.text
    assert secret not in caplog.text
    assert secret not in repr(transport)


def test_what_is_no_client_of_httpx_is_told_what_to_use() -> None:
    with pytest.raises(UsageError, match="a client of one of them"):
        saying().handle_request(type("Request", (), {"headers": {}, "stream": [], "extensions": {}})())


def test_pieces_wait_for_a_reader_only_beyond_the_room() -> None:
    async def write() -> tuple[bool, bytes]:
        answer = answers.Answer(TaskSignal(), asyncio.get_running_loop())
        answer.start(answers.AnswerHead(200, ()))
        await answer.write(b"x" * answers.ROOM, last=False)
        writing = asyncio.ensure_future(answer.write(b"y", last=False))
        await asyncio.sleep(0)
        waited = not writing.done()
        taken: bytes = await arun(answer.piece(None), TaskSignal())
        await writing
        return waited, taken

    waited, taken = asyncio.run(write())
    assert waited
    assert len(taken) == answers.ROOM + 1


def test_importing_the_package_loads_nothing_of_this() -> None:
    code = "import dragoman, sys; assert 'transport' in dir(dragoman); print([m for m in sys.modules if 'inprocess' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_stream_that_fails_midway_says_so_in_the_stream() -> None:
    broken = ProviderError("it broke off", kind=ErrorKind.NETWORK)
    script = model(API, Answer((PIECES[0], broken), headers={"content-type": "text/event-stream"}))
    with httpx2.Client(transport=to(script)) as client:
        said = client.post(CHAT, json={**ASKS[API], "stream": True}).text
    assert "word 0" in texts(said.encode())
    assert "it broke off" in said
