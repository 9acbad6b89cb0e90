"""Bad input, failing providers and clients that leave: each told in the caller's own shape, or ended cleanly."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import readers
from dragoman.effects import run
from dragoman.errors import ErrorKind, ProviderError, UnknownName
from dragoman.events import Event, assemble
from dragoman.fallback import Rules
from dragoman.gateway import GatewayConfig, Limits, create_app
from dragoman.gateway.exchange import Exchange as Served
from dragoman.gateway.exchange import ExchangeServices, RequestOptions
from dragoman.gateway.fronts import FRONTS
from dragoman.io.aio import AsyncPool
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.asgi import Client, Reply, call
from tests.support.clocks import LONG, run_virtually
from tests.support.gateways import (
    ASKS,
    FUNCTION,
    PATHS,
    PIECE,
    Slow,
    app,
    ask,
    asking,
    converse,
    every_front,
    message_of,
    read,
)
from tests.support.peer import Exchange, peer, refusing_port
from tests.support.upstreams import model, refusal, sent, text_reply

KEY = "a-very-secret-key"


# ── bodies that are not the API's ────────────────────────────────────────────

DEEP = b'{"model": "m", "messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
BODIES: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "not JSON"),
    ("no JSON", b"{model: m", "not JSON"),
    ("a constant that is none", b'{"model": "m", "temperature": NaN}', "not JSON"),
    ("not UTF-8", b'{"model": "\xff"}', "not JSON"),
    ("endless nesting", DEEP, "send what this API describes"),
    ("a list", b"[]", "not a JSON object"),
    ("a number", b"42", "not a JSON object"),
    ("no model", b'{"messages": [{"role": "user", "content": "hi"}]}', "model"),
    ("messages of another kind", b'{"model": "m", "max_tokens": 5, "messages": "hi"}', "messages"),
    ("a message of another kind", b'{"model": "m", "max_tokens": 5, "messages": [7]}', "$.messages[0]"),
    ("a role of another kind", b'{"model": "m", "max_tokens": 5, "messages": [{"role": 7}]}', "$.messages[0].role"),
]


FIELDS = {"openai_responses": "input", "gemini": "contents"}
FINE = {("messages of another kind", "openai_responses"), ("messages of another kind", "gemini"), ("no model", "gemini")}
"""What is no mistake there: the conversation may be one text, and the address names the model."""


@every_front
@pytest.mark.parametrize(("name", "body", "words"), BODIES, ids=[b[0] for b in BODIES])
def test_a_body_of_another_shape_is_refused(front: str, name: str, body: bytes, words: str) -> None:
    if (name, front) in FINE:
        return
    field = FIELDS.get(front, "messages")
    body, words = body.replace(b"messages", field.encode()), words.replace("messages", field)
    reply = call(app(ScriptedPeer([])), PATHS[front], body)
    assert reply.status == 400
    assert words in message_of(front, reply)


def schema(parameters: Any) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": "look", "parameters": parameters}}]


TOOLS: list[tuple[str, list[dict[str, Any]], str]] = [
    ("two tools of one name", [FUNCTION, *schema({"type": "object"})], "look"),
    ("a tool without a name", [{"type": "function", "function": {"description": "?"}}], "name"),
]


@pytest.mark.parametrize("front", ["openai_chat", "ollama_chat"])
@pytest.mark.parametrize(("tools", "words"), [t[1:] for t in TOOLS], ids=[t[0] for t in TOOLS])
def test_broken_tools_are_the_callers_mistake(front: str, tools: list[dict[str, Any]], words: str) -> None:
    reply = ask(app(model("openai_chat", text_reply("hi"))), front, stream=False, tools=tools)
    assert reply.status == 400
    assert words in message_of(front, reply)


def test_a_broken_schema_is_mended_beside_the_other_tools() -> None:
    memory = model("openai_chat", text_reply("hi"))
    odd = schema({"type": "object", "properties": {"at": {"type": "strange", "description": "where"}}})
    assert ask(app(memory), "openai_chat", stream=False, tools=odd).status == 200
    assert sent(memory)["tools"][0]["function"]["parameters"]["properties"] == {"at": {"description": "where"}}


def test_an_unknown_dialect_is_told_with_advice_before_anything_is_served() -> None:
    with pytest.raises(UnknownName, match="did you mean 'hermes'"):
        app(ScriptedPeer([]), dialects="hermes2")


@every_front
def test_a_body_that_is_too_large_is_refused(front: str) -> None:
    gateway = app(ScriptedPeer([]), config={"limits": Limits(body=1000)})
    body = {**ASKS[front], "padding": "x" * 2000}
    for headers in ({}, {"content-length": "999999"}):
        reply = call(gateway, PATHS[front], body, headers=headers)
        assert reply.status == 413
        assert "larger than 1000 bytes" in message_of(front, reply)


@every_front
def test_a_compressed_body_is_refused_clearly(front: str) -> None:
    reply = call(app(ScriptedPeer([])), PATHS[front], b"\x28\xb5\x2f\xfd", headers={"content-encoding": "zstd"})
    assert reply.status == 415
    assert "zstd" in message_of(front, reply)


def test_an_unknown_address_says_what_is_served() -> None:
    reply = call(app(ScriptedPeer([])), "/v2/nothing", {})
    assert reply.status == 404
    assert "/v1/chat/completions" in reply.json["error"]["message"]


def test_half_a_surrogate_pair_is_taken_as_clients_mean_it() -> None:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "cut \\ud83d"}]}'
    memory = model("openai_chat", text_reply("hi"))
    assert call(app(memory), "/v1/chat/completions", body).status == 200
    assert b"cut \\ud83d" in memory.sent[0].body


# ── providers that fail before anything was said ─────────────────────────────

DOWN = Answer(status=ProviderError("cannot reach http://model.test; is the server running?", kind=ErrorKind.NETWORK))
REFUSED: list[tuple[str, Answer, int, str]] = [
    ("unreachable", DOWN, 502, "is the server running?"),
    ("slow down", refusal(429, {"error": {"message": "slow down"}}, **{"retry-after": "7"}), 429, "slow down"),
    ("wrong key", refusal(401, {"error": {"message": f"Incorrect API key {KEY}"}}), 401, "[redacted]"),
    ("overloaded", refusal(529, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}), 529, ""),
    ("a crash", refusal(500, b"<h1>Internal Server Error</h1>"), 500, ""),
    ("another API", Answer((b"<html>nginx</html>",), headers={"content-type": "text/html"}), 502, "base URL"),
]


@every_front
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(("answer", "status", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_a_failure_before_the_first_byte_has_its_status(
    front: str, answer: Answer, status: int, words: str, stream: bool
) -> None:
    reply = ask(app(ScriptedPeer(lambda _: answer), key=KEY), front, stream=stream)
    assert reply.status == (503 if (front, status) == ("gemini", 529) else status)  # 529 is Anthropic's own
    assert reply.headers["content-type"] == "application/json"
    assert words in message_of(front, reply)
    assert KEY not in str(reply)
    assert ("retry-after" in reply.headers) is (status == 429)


SLOW_DOWN = {"error": {"message": "slow down"}}
PASSING: dict[str, Answer] = {
    "unreachable": DOWN,
    "rate limit": refusal(429, SLOW_DOWN, **{"retry-after": "7"}),
    "server error": refusal(500, {"error": {"message": "oops"}}),
    "overloaded": refusal(503, {"error": {"message": "busy"}}),
    "silent": Answer(status=ProviderError("it said nothing for too long; wait", kind=ErrorKind.TIMEOUT)),
    "reset before the first word": Answer(
        (ProviderError("the peer broke off; try again", kind=ErrorKind.NETWORK),),
        headers={"content-type": "text/event-stream"},
    ),
    "error with status 200": Answer((json.dumps({"error": {"message": "busy", "code": 503}}).encode(),)),
}


@every_front
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("failure", PASSING)
def test_one_route_that_fails_before_its_first_word_is_asked_again(front: str, stream: bool, failure: str) -> None:
    memory = model("openai_chat", PASSING[failure], text_reply("Up."))
    reply = ask(app(memory), front, stream=stream)
    assert reply.status == 200
    assert read(front, reply, stream=stream).text == "Up."
    assert len(memory.sent) == 2
    assert (memory.slept[0] >= 7) is (failure == "rate limit")


def test_a_whole_answer_that_broke_off_is_asked_for_again() -> None:
    half = Answer(
        (b'{"choices":[', ProviderError("the peer broke off; try again", kind=ErrorKind.NETWORK)),
        headers={"content-type": "application/json"},
    )
    memory = model("openai_chat", half, text_reply("Up."))
    assert ask(app(memory), "openai_chat", stream=False).status == 200


LASTING: dict[str, tuple[Answer, int]] = {
    "retries are counted": (refusal(500, {"error": {"message": "oops"}}), 3),
    "a wait beyond the longest is the client's": (refusal(429, SLOW_DOWN, **{"retry-after": "3600"}), 1),
    "a spent quota stays spent": (refusal(429, {"error": {"message": "no", "code": "insufficient_quota"}}), 1),
    "a bad request stays bad": (refusal(400, {"error": {"message": "no"}}), 1),
    "a wrong key stays wrong": (refusal(401, {"error": {"message": "no"}}), 1),
}


@pytest.mark.parametrize("failure", LASTING)
def test_one_route_is_asked_again_within_limits(failure: str) -> None:
    answer, times = LASTING[failure]
    memory = ScriptedPeer(lambda _: answer)
    reply = ask(app(memory), "openai_chat", stream=True)
    assert reply.status == answer.status
    assert len(memory.sent) == times


def test_how_often_one_route_is_asked_again_is_a_setting() -> None:
    memory = ScriptedPeer(lambda _: DOWN)
    assert ask(app(memory, config={"rules": Rules(retries=0)}), "openai_chat", stream=False).status == 502
    assert len(memory.sent) == 1


# ── providers that fail in the middle ────────────────────────────────────────

RESET = ProviderError("the peer broke off; try again", kind=ErrorKind.NETWORK)


@every_front
def test_a_failure_after_the_first_byte_stands_inside_the_stream(front: str) -> None:
    memory = ScriptedPeer([Answer((PIECE, RESET), headers={"content-type": "text/event-stream"})])
    reply = ask(app(memory), front, stream=True)
    assert reply.status == 200
    assert reply.ended
    codec = CODECS[front]
    decoder, reader, events = codec.decode_stream(), readers[codec.frames](), list[Event]()
    *frames, last = [*reader.feed(reply.body), *reader.close()]
    for frame in frames:
        events += decoder.feed(frame)
    assert assemble(events).text == "Hello"
    with pytest.raises(ProviderError, match="broke off"):
        decoder.feed(last)


@pytest.mark.parametrize("failure", [RESET, b'data: {"error":{"message":"boom"}}\n\n'], ids=["broken off", "told"])
def test_a_failure_inside_a_numbered_stream_goes_on_with_its_numbers(failure: Any) -> None:
    memory = ScriptedPeer([Answer((PIECE, PIECE, failure), headers={"content-type": "text/event-stream"})])
    reply = ask(app(memory), "openai_responses", stream=True)
    events = [json.loads(frame.data) for frame in readers[CODECS["openai_responses"].frames]().feed(reply.body)]
    assert events[-1]["type"] == "error"
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


@every_front
def test_a_whole_answer_that_broke_off_is_a_failure(front: str) -> None:
    broken = Answer((b'{"choices":[', RESET), headers={"content-type": "application/json"})
    reply = ask(app(ScriptedPeer(lambda _: broken)), front, stream=False)
    assert reply.status == 502
    assert "broke off" in message_of(front, reply)


@every_front
def test_a_bug_of_ours_is_logged_and_its_inside_withheld(front: str, caplog: pytest.LogCaptureFixture) -> None:
    memory = ScriptedPeer([Answer((RuntimeError("the inside story"),), headers={"content-type": "application/json"})])
    with caplog.at_level(logging.ERROR, logger="dragoman.gateway"):
        reply = ask(app(memory), front, stream=False)
    assert reply.status == 500
    assert "inside story" not in message_of(front, reply)
    assert "inside story" in caplog.text


# ── silence, and clients that leave ──────────────────────────────────────────


DONE = (b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":900}}\n\n', b"")


@pytest.mark.parametrize("front", ["openai_chat", "anthropic_messages"])
def test_a_silent_provider_leaves_room_for_comments_to_the_client(front: str) -> None:
    async def go() -> Reply:
        slow = Slow()

        async def script(client: Client) -> None:
            await client.until(b": keep-alive\n\n")  # before the first byte
            slow.pieces.put_nowait(PIECE)
            await client.until(b"Hello")
            await client.until(b": keep-alive\n\n", client.reply.body.count(b": keep-alive") + 1)  # and between two
            for piece in DONE:
                slow.pieces.put_nowait(piece)

        return await converse(front, slow, script, keep_alive=15.0)

    reply = run_virtually(go())
    codec = CODECS[front]
    decoder, reader = codec.decode_stream(), readers[codec.frames]()
    frames = [*reader.feed(reply.body), *reader.close()]
    assert assemble([e for f in frames for e in decoder.feed(f)]).text == "Hello"
    assert reply.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("stream", [True, False])
@every_front
def test_only_event_streams_whose_clients_skip_comments_may_hold_them(front: str, stream: bool) -> None:
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    served = next(row for row in FRONTS if row.codec is CODECS[front])
    _, body = asking(front, stream=stream)
    said_by_path = {"model": "m", "stream": stream} if front == "gemini" else {}
    services = ExchangeServices(config=GatewayConfig(default=to))
    exchange = Served(served, body, services, RequestOptions(said_by_path))
    run(exchange.steps(), model("openai_chat", text_reply("hi")).sync_performer())
    assert exchange.pings is (stream and front not in {"ollama_chat", "gemini"})


def test_a_failure_after_a_comment_is_told_inside_the_stream() -> None:
    async def go() -> Reply:
        slow = Slow()

        async def script(client: Client) -> None:
            await client.until(b": keep-alive")
            slow.pieces.put_nowait(b'data: {"error":{"message":"out of memory"}}\n\n')

        return await converse("openai_chat", slow, script, keep_alive=15.0)

    reply = run_virtually(go())
    assert reply.status == 200
    assert b"out of memory" in reply.body


@every_front
@pytest.mark.parametrize("when", ["before the head", "in the middle"])
def test_a_client_that_hangs_up_cancels_the_provider(front: str, when: str) -> None:
    async def go() -> None:
        slow = Slow(head=when != "before the head")

        async def script(client: Client) -> None:
            await slow.opened.wait()
            if when == "in the middle":
                slow.pieces.put_nowait(PIECE)
                await client.until(b"Hello")
            client.hang_up()

        await converse(front, slow, script)
        assert slow.closed.is_set()

    asyncio.run(go())


def test_a_client_that_leaves_while_it_sends_is_let_go() -> None:
    async def go() -> Reply:
        client = Client(app(ScriptedPeer([])), "/v1/chat/completions", b"")
        client._messages.clear()
        client.hang_up()
        return await client.run()

    assert asyncio.run(go()).status == 0


# ── over real sockets ────────────────────────────────────────────────────────


def real(url: str, script: Callable[[Any], Any]) -> Any:
    """Run `script(gateway)` against a gateway with real connections to `url`."""

    async def go() -> Any:
        async with AsyncPool(use_proxies=False) as pool:
            to = Route(provider=COMPATIBLE["openai_chat"], base_url=url)
            return await script(create_app(GatewayConfig(default=to), pool))

    return asyncio.run(go())


@every_front
@pytest.mark.costly
def test_an_unreachable_upstream_is_reported_in_every_shape(front: str) -> None:
    url = f"http://127.0.0.1:{refusing_port()}"
    reply = real(url, lambda gateway: Client(gateway, *asking(front, stream=True)).run())
    assert reply.status == 502
    assert message_of(front, reply).endswith("is the server running, and is the base URL right?")


@every_front
def test_hanging_up_really_closes_the_socket_to_the_provider(front: str) -> None:
    def talk(it: Exchange) -> None:
        it.head()
        it.say(PIECE)
        it.until_gone()

    async def script(gateway: Any) -> None:
        client = Client(gateway, *asking(front, stream=True))
        running = asyncio.ensure_future(client.run())
        await client.until(b"Hello")
        client.hang_up()
        await running

    with peer(talk) as served:
        real(served.url, script)
        assert served.exchanges[0].gone.wait(LONG)


@every_front
def test_a_reset_in_the_middle_is_told_inside_the_stream(front: str) -> None:
    def talk(it: Exchange) -> None:
        it.say(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        it.say(f"{len(PIECE):x}\r\n".encode() + PIECE + b"\r\n")
        it.reset()

    with peer(talk) as served:
        reply = real(served.url, lambda gateway: Client(gateway, *asking(front, stream=True)).run())
    assert reply.status == 200
    assert reply.ended
    assert b"Hello" in reply.body
    assert b"broke off" in reply.body
