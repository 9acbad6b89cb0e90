"""Clients that mean no good, or were never tested: a right status, in the caller's shape, and the next one is served."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import uvicorn

from dragoman.cli.serving import QUIET
from dragoman.codecs import CODECS
from dragoman.dialects.writing.neutralise import JOINER, PIECE, neutralise, restore
from dragoman.effects import arun
from dragoman.errors import ProviderError
from dragoman.gateway import GatewayConfig, Limits, create_app
from dragoman.gateway.http.offload import LARGE, Steps
from dragoman.gateway.http.request_body import unpacked
from dragoman.gateway.process.connections import HEAD_SECONDS
from dragoman.io.sockets import listen
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.schema.patterns import BUDGET, affordable, cost
from dragoman.schema.validation import faults
from dragoman.sim.scripted import ScriptedPeer
from dragoman.turn.response_reader import MAX_WHOLE, Streamed
from tests.support.asgi import Reply, call
from tests.support.clocks import LONG, until
from tests.support.gateways import PATHS, SCHEMA, always, app, asking, every_front, message_of

LOOK = "look"
Named = dict[str, Any]


def request_of(front: str, *, tools: Named | None = None, text: str = "") -> tuple[str, dict[str, Any]]:
    """A request in that API with these tools (name → schema), or this text."""
    path, body = asking(front, stream=False)
    body = dict(body)
    if tools is not None:
        forms: dict[str, Callable[[str, Any], Any]] = {
            "openai_responses": lambda name, schema: {"type": "function", "name": name, "parameters": schema},
            "anthropic_messages": lambda name, schema: {"name": name, "input_schema": schema},
            "gemini": lambda name, schema: {"functionDeclarations": [{"name": name, "parametersJsonSchema": schema}]},
        }
        plain: Callable[[str, Any], Any] = lambda name, schema: {  # noqa: E731
            "type": "function",
            "function": {"name": name, "parameters": schema},
        }
        body["tools"] = [forms.get(front, plain)(name, schema) for name, schema in tools.items()]
    if text:
        messages = [{"role": "user", "content": text}]
        gemini = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
        fields: dict[str, dict[str, Any]] = {"gemini": gemini, "openai_responses": {"input": text}}
        body |= fields.get(front, {"messages": messages})
    return path, body


def serve(front: str, *, text_tools: bool = False, **what: Any) -> Reply:
    path, body = request_of(front, **what)
    return call(app(ScriptedPeer(always), tools=Tools.TEXT if text_tools else Tools.NATIVE), path, body)


def nested(depth: int, wrap: Callable[[Any], Any]) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(depth):
        schema = wrap(schema)
    return schema


def doubling(levels: int) -> dict[str, Any]:
    """A schema of 2**levels leaves in a few kilobytes."""
    both = {f"d{n}": {"properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "ab"}} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**both, f"d{levels}": {"type": "string"}}}


SCHEMAS: dict[str, Any] = {
    "deep objects": nested(400, lambda s: {"type": "object", "properties": {"a": s}}),
    "deep arrays": nested(400, lambda s: {"type": "array", "items": s}),
    "deep choices": nested(300, lambda s: {"anyOf": [s, {"type": "null"}]}),
    "many properties": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(5000)}},
    "many values": {"type": "object", "properties": {"at": {"enum": [f"v{n}" for n in range(20_000)]}}},
    "a reference to itself": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
    "a tree without end": {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"properties": {k: {"$ref": "#/$defs/a"} for k in "xy"}}},
    },
    "references that double": doubling(40),
    "an endless pattern": {"type": "object", "properties": {"at": {"type": "string", "pattern": "^(a+)+$"}}},
    "somebody else's file": {"$ref": "file:///etc/passwd"},
    "somebody else's address": {"$ref": "http://127.0.0.1:9/schema"},
}


@pytest.mark.parametrize("front", ["openai_chat"])
@pytest.mark.parametrize("text_tools", [True, False], ids=["text", "native"])
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
def test_a_schema_may_be_anything_and_is_served_or_refused(front: str, text_tools: bool, schema: Any) -> None:
    reply = serve(front, text_tools=text_tools, tools={LOOK: schema})
    assert reply.status in {200, 400}
    assert "root:" not in str(reply.body)
    assert reply.status == 200 or message_of(front, reply)


@every_front
@pytest.mark.parametrize("text_tools", [True, False], ids=["text", "native"])
def test_tools_may_be_many(front: str, text_tools: bool) -> None:
    assert serve(front, text_tools=text_tools, tools={f"tool{n}": SCHEMA for n in range(300)}).status == 200


@pytest.mark.slow
@every_front
@pytest.mark.parametrize("text_tools", [True, False], ids=["text", "native"])
def test_tools_may_be_ten_thousand(front: str, text_tools: bool) -> None:
    assert serve(front, text_tools=text_tools, tools={f"tool{n}": SCHEMA for n in range(10_000)}).status == 200


NAMES = {"odd": "ünï\u2028\x00", "a path": "../../etc", "markup": "<tool_call>", "an end": "look\r\n\r\nGET /"}


@every_front
@pytest.mark.parametrize("text_tools", [True, False], ids=["text", "native"])
@pytest.mark.parametrize("name", NAMES.values(), ids=list(NAMES))
def test_a_tools_name_may_be_odd(front: str, text_tools: bool, name: str) -> None:
    assert serve(front, text_tools=text_tools, tools={name: SCHEMA}).status in {200, 400}


@every_front
@pytest.mark.parametrize("text_tools", [True, False], ids=["text", "native"])
def test_an_endless_name_is_the_callers_mistake(front: str, text_tools: bool) -> None:
    reply = serve(front, text_tools=text_tools, tools={"x" * 1_000_000: SCHEMA})
    assert reply.status == 400
    assert "1000000 characters" in message_of(front, reply)
    assert len(reply.body) < 1000


REPEATED = [
    "<",
    "{",
    "[",
    '"',
    "`",
    "\\",
    "```\n",
    "<tool_call>",
    "~~~tool_call\n",
    "\u2028",
    "\x00",
    "\N{GRINNING FACE}",
]


@pytest.mark.parametrize("front", ["anthropic_messages"])
@pytest.mark.parametrize("text_tools", [True, False], ids=["text", "native"])
@pytest.mark.parametrize("piece", REPEATED, ids=[json.dumps(piece) for piece in REPEATED])
def test_a_text_may_be_one_piece_a_hundred_thousand_times(front: str, text_tools: bool, piece: str) -> None:
    assert serve(front, text_tools=text_tools, text=piece * 100_000).status == 200


@every_front
def test_a_long_model_name_is_not_repeated_at_length(front: str) -> None:
    gateway = create_app(
        GatewayConfig(models={"m": Route(provider=COMPATIBLE["openai_chat"], base_url="http://a.test")})
    )
    name = "m" * 500_000
    path, body = request_of(front)
    reply = call(gateway, path.replace("/m:", f"/{name}:"), {**body, "model": name})
    assert reply.status == 404
    assert len(reply.body) < 2000


VALUES: list[Any] = [None, True, 7, -1, 1e308, 10**400, "", "x", [], [[]], {}, {"a": {}}, [None, 7]]


@every_front
@pytest.mark.parametrize("value", VALUES, ids=[json.dumps(value)[:12] for value in VALUES])
def test_every_field_may_hold_anything(front: str, value: Any) -> None:
    path, body = request_of(front)
    for field in (
        *body,
        "temperature",
        "max_tokens",
        "stop",
        "tool_choice",
        "response_format",
        "metadata",
        "seed",
        "system",
        "think",
    ):
        reply = call(app(ScriptedPeer(always)), path, {**body, field: value})
        assert reply.status < 500 or reply.json.get("error", {}).get("code") == 422, (field, reply.body)


# ── on the wire ──────────────────────────────────────────────────────────────


@contextlib.contextmanager
def listening() -> Iterator[int]:
    """A real server of our own, as the command runs it."""
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    gateway = create_app(GatewayConfig(default=to, limits=Limits(body=100_000, body_timeout=0.2)), ScriptedPeer(always))
    server = uvicorn.Server(uvicorn.Config(gateway, **QUIET))
    with listen("127.0.0.1", 0) as place:
        thread = threading.Thread(target=server.run, args=([place],))
        thread.start()
        try:
            until(lambda: server.started)
            yield place.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(LONG)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with listening() as found:
        yield found


def say(port: int, data: bytes, *, leave: bool = False) -> bytes:
    """Send these bytes and read whatever comes until the other side is done; `leave` says that no more will come."""
    with socket.create_connection(("127.0.0.1", port), timeout=LONG) as wire:
        with contextlib.suppress(ConnectionError):
            wire.sendall(data)
        if leave:
            with contextlib.suppress(OSError):  # the other side may have left first
                wire.shutdown(socket.SHUT_WR)
        read = b""
        with contextlib.suppress(ConnectionError):
            while piece := wire.recv(65536):
                read += piece
        return read


BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
HEAD = f"POST {PATHS['openai_chat']} HTTP/1.1\r\nhost: a\r\n".encode()
SMUGGLED = b"GET /healthz HTTP/1.1\r\nhost: evil\r\n\r\n"
TRICKS: list[tuple[str, bytes]] = [
    ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20),
    ("a head without end", HEAD + b"x: " + b"y" * 500_000),
    ("a thousand headers", HEAD + b"x: y\r\n" * 20_000 + b"\r\n"),
    ("a length and chunks", HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED),
    ("two lengths", HEAD + b"content-length: 5\r\ncontent-length: 50\r\n\r\nhello" + SMUGGLED),
    ("a length below nothing", HEAD + b"content-length: -5\r\n\r\n"),
    ("a length that is a word", HEAD + b"content-length: many\r\n\r\n"),
    ("a chunk of endless size", HEAD + b"transfer-encoding: chunked\r\n\r\nffffffffffffffffffff\r\n"),
    ("a name with a space", HEAD + b"x y: z\r\ncontent-length: 0\r\n\r\n"),
    ("a bare line end in a value", HEAD + b"x: a\rb: c\r\ncontent-length: 0\r\n\r\n"),
    ("a null in a value", HEAD + b"x-request-id: a\x00b\r\ncontent-length: 0\r\n\r\n"),
    ("another version", HEAD.replace(b"1.1", b"9.9") + b"\r\n"),
    ("a body that announces too much", HEAD + b"content-length: 99999999999\r\n\r\n{"),
    ("a body that stops half way", HEAD + b"content-length: 500\r\n\r\n{"),
    ("a body that never begins", HEAD + b"content-length: 500\r\n\r\n"),
    ("a key that is no text", HEAD + b"authorization: Bearer \xff\xfe\xff\r\ncontent-length: 2\r\n\r\n{}"),
]


@pytest.mark.parametrize("data", [data for _, data in TRICKS], ids=[name for name, _ in TRICKS])
def test_a_trick_gets_an_error_and_harms_nobody_else(port: int, data: bytes) -> None:
    answer = say(port, data, leave=True)
    statuses = [line.split()[1] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    assert all(status.startswith(b"4") for status in statuses), answer
    assert len(statuses) <= 1, answer
    honest = HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY
    assert say(port, honest).startswith(b"HTTP/1.1 200")


def test_an_id_that_a_client_gives_cannot_become_a_header(port: int) -> None:
    head = HEAD + b"x-request-id: " + b"\xe4" * 300 + b"\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(BODY)
    answer = say(port, head + BODY)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"\r\nx-request-id: " + b"\xe4" * 128 + b"\r\n" in answer


# ── heavy requests ───────────────────────────────────────────────────────────


def limited(**limits: int) -> Any:
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    return create_app(GatewayConfig(default=to, limits=Limits(**limits)), ScriptedPeer(always))


@every_front
def test_too_many_json_values_are_refused_with_advice(front: str) -> None:
    path, body = request_of(front)
    reply = call(limited(max_json_values=1000), path, {**body, "x": [0] * 5000})
    assert reply.status == 413
    assert "limits.max_json_values" in message_of(front, reply)


@every_front
def test_what_stands_in_a_string_is_no_value(front: str) -> None:
    path, body = request_of(front, text='[{,"\\,[' * 2000)
    assert call(limited(max_json_values=1000), path, body).status == 200


@every_front
def test_too_many_tools_are_refused_with_advice(front: str) -> None:
    path, body = request_of(front, tools={f"tool{n}": SCHEMA for n in range(6)})
    carries = call(limited(tools=6), path, body)
    reply = call(limited(tools=5), path, body)
    assert carries.status == 200
    assert reply.status == (200 if front == "ollama_generate" else 400)
    assert reply.status == 200 or "limits.tools" in message_of(front, reply)


@every_front
def test_a_large_request_is_answered_like_a_small_one(front: str) -> None:
    path, body = request_of(front, text="hello, world. " * 50_000)
    reply = call(app(ScriptedPeer(always)), path, body)
    assert (reply.status, reply.ended) == (200, True)


def test_other_steps_are_taken_while_a_large_one_is() -> None:
    """The loop stays free: what runs aside waits here for something that only the loop can do."""

    async def go() -> str:
        begun, go_on = asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def machine() -> Any:
            loop.call_soon_threadsafe(begun.set)
            assert go_on.wait(LONG)
            yield b"told"
            return "done"

        effects: list[Any] = []

        async def hear(step: Any) -> None:
            effects.append(step)

        async def perform(effect: Any) -> None:
            effects.append(effect)

        running = asyncio.ensure_future(arun(machine(), perform, hear, Steps(LARGE + 1)))
        await asyncio.wait_for(begun.wait(), LONG)
        go_on.set()
        assert await running == "done"
        assert effects[0] == b"told"
        return "free"

    assert asyncio.run(go()) == "free"


def test_an_abandoned_machine_in_a_thread_closes_after_its_step() -> None:
    async def go() -> list[str]:
        begun, go_on, seen = asyncio.Event(), threading.Event(), list[str]()
        loop = asyncio.get_running_loop()

        def machine() -> Any:
            try:
                loop.call_soon_threadsafe(begun.set)
                assert go_on.wait(LONG)
                seen.append("step")
                yield b""
            finally:
                seen.append("closed")

        async def perform(effect: Any) -> None:
            seen.append(type(effect).__name__)

        running = asyncio.ensure_future(arun(machine(), perform, None, Steps(LARGE + 1)))
        await begun.wait()
        running.cancel()
        loop.call_soon(go_on.set)
        with contextlib.suppress(asyncio.CancelledError):
            await running
        return seen

    assert asyncio.run(go()) == ["step", "closed", "Close"]


# ── bodies in a coding ───────────────────────────────────────────────────────


@every_front
@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "GZIP", "identity"])
def test_a_packed_body_is_read(front: str, coding: str) -> None:
    path, body = request_of(front)
    data = json.dumps(body).encode()
    packed = {"identity": data, "deflate": zlib.compress(data)}.get(coding, gzip.compress(data))
    assert call(app(ScriptedPeer(always)), path, packed, headers={"content-encoding": coding}).status == 200


@every_front
def test_a_body_is_not_unpacked_beyond_the_limit(front: str) -> None:
    path, _ = request_of(front)
    bomb = gzip.compress(b"[" * 5_000_000)
    reply = call(limited(body=100_000), path, bomb, headers={"content-encoding": "gzip"})
    assert reply.status == 413
    assert len(unpacked(gzip.compress(b" " * 1000), "gzip", 1000)) == 1000


@pytest.mark.parametrize(
    ("coding", "status"), [("zstd", 415), ("br", 415), ("gzip, gzip", 415), ("gzip", 400), ("deflate", 400)]
)
def test_an_unknown_or_untrue_content_coding_is_refused(coding: str, status: int) -> None:
    reply = call(app(ScriptedPeer(always)), PATHS["openai_chat"], b"{}", headers={"content-encoding": coding})
    assert reply.status == status


def test_digits_without_end_are_the_callers_mistake() -> None:
    path, body = request_of("openai_chat")
    data = json.dumps(body).encode()[:-1]
    assert call(app(ScriptedPeer(always)), path, data + b', "seed": ' + b"7" * 5000 + b"}").status == 400
    assert call(app(ScriptedPeer(always)), path, data + b', "seed": ' + b"7" * 300 + b"}").status == 200


# ── work that grows with what is sent, and no faster ─────────────────────────


def test_a_pattern_that_would_take_long_to_compile_says_nothing() -> None:
    costly = {r"^\p{L}{1,255}$": 1, "a|" * 500_000: 1, r"^(\w{1,99}){1,99}$": 1}
    assert all(cost(pattern) > BUDGET for pattern in costly)
    schema = {"type": "object", "properties": {"at": {"type": "string", "pattern": next(iter(costly))}}}
    assert faults(schema, {"at": "1"}) == []
    assert faults(schema, {"at": 1})


def test_all_patterns_of_a_schema_share_what_it_may_cost() -> None:
    one = r"^.{1,200}$"
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string", "pattern": one} for n in range(50)}}
    fields = [field for field in affordable(schema)["properties"].values() if "pattern" in field]
    assert 0 < len(fields) * cost(one) <= BUDGET


def test_everyday_patterns_are_checked() -> None:
    for pattern in ("^[a-z0-9_-]{1,64}$", r"^\d{4}-\d{2}-\d{2}$", r"^\S+@\S+\.\S+$", "^(north|south)$", r"^\w{1,255}$"):
        assert cost(pattern) <= BUDGET / 4, pattern


def test_markup_is_broken_wherever_a_long_text_is_cut() -> None:
    for before in range(PIECE - 20, PIECE + 2):
        text = "x" * before + "<tool_call>" + "y" * 100
        assert neutralise(text) == "x" * before + f"<{JOINER}tool_call>" + "y" * 100
        assert restore(neutralise(text)) == text


def test_a_stream_without_events_ends_in_an_error() -> None:
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    source = Streamed(CODECS["openai_chat"], lambda n: f"c{n}", to)
    piece = b"x" * (8 * 1024 * 1024)
    assert list(source.feed(b"data: ")) == []
    with pytest.raises(ProviderError, match="without end"):
        assert not [event for _ in range(MAX_WHOLE // len(piece) + 1) for event in source.feed(piece)]


# ── connections ──────────────────────────────────────────────────────────────


class Wire(asyncio.Transport):
    """A client's side of a connection, in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.received = b""
        self.closed = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.received += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


@contextlib.asynccontextmanager
async def connected(served: Any = None) -> AsyncIterator[tuple[Any, Wire]]:
    config = uvicorn.Config(served or app(ScriptedPeer(always)), **QUIET)
    config.load()
    state = uvicorn.Server(config).server_state
    protocol: Any = config.http_protocol_class
    connection, wire = protocol(config=config, server_state=state, app_state={}), Wire()
    connection.connection_made(wire)
    yield connection, wire
    connection.connection_lost(None)
    await asyncio.gather(*state.tasks)


GET = b"GET /healthz HTTP/1.1\r\nhost: a\r\n"


def test_a_head_without_end_ends_its_connection() -> None:
    async def go() -> bytes:
        async with connected() as (connection, wire):
            connection.data_received(GET)
            while not wire.closed:
                connection.data_received(b"x: " + b"y" * 8000 + b"\r\n")
            return wire.received

    assert asyncio.run(go()).startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))


def test_a_head_that_never_comes_is_waited_for_briefly() -> None:
    async def go() -> None:
        async with connected() as (connection, wire):
            first = connection._late
            connection.data_received(GET)
            assert connection._late is first  # bytes that trickle give no more time
            assert first.when() - asyncio.get_running_loop().time() <= HEAD_SECONDS
            connection.data_received(b"\r\n")
            assert connection._late is None
            assert first.cancelled()
            assert not wire.closed

    asyncio.run(go())


def test_the_next_head_on_a_connection_is_waited_for_briefly() -> None:
    async def go() -> None:
        async with connected() as (connection, wire):
            connection.data_received(GET + b"\r\n")
            await asyncio.gather(*connection.tasks)
            assert wire.received.startswith(b"HTTP/1.1 200 ")
            assert connection._late is None
            connection.data_received(GET)
            assert connection._late is not None
            connection.data_received(b"\r\n")
            assert connection._late is None

    asyncio.run(go())


def test_requests_sent_at_once_are_answered_in_their_order() -> None:
    async def go() -> bytes:
        async with connected() as (connection, wire):
            paths = [b"/healthz", b"/nowhere", b"/api/version", b"/healthz"]
            connection.data_received(b"".join(GET.replace(b"/healthz", path) + b"\r\n" for path in paths))
            for _ in range(50):
                await asyncio.sleep(0)
            assert not connection.tasks
            return wire.received

    answers = asyncio.run(go()).split(b"HTTP/1.1 ")[1:]
    assert [answer[:3] for answer in answers] == [b"200", b"404", b"200", b"200"]
    assert b"version" in answers[2]


def test_a_body_may_be_longer_than_a_head() -> None:
    async def go() -> bytes:
        _, body = request_of("openai_chat", text="x" * 300_000)
        data = json.dumps(body).encode()
        async with connected() as (connection, wire):
            connection.data_received(HEAD + b"content-length: %d\r\n\r\n" % len(data))
            for at in range(0, len(data), 10_000):
                connection.data_received(data[at : at + 10_000])
            await asyncio.gather(*connection.tasks)
            assert not wire.closed
            return wire.received

    assert asyncio.run(go()).startswith(b"HTTP/1.1 200 ")


# ── what clients name, in our own headers ────────────────────────────────────

BLANKS = [" ", "x ", " x", "\u00d5 ", "\u008c\t", "\r\nx-own: 1", "é", "x" * 127 + " y", "\ud83d "]


@every_front
@pytest.mark.parametrize("name", BLANKS)
def test_whatever_a_field_is_called_the_answer_has_a_head(front: str, name: str) -> None:
    path, body = asking(front, stream=False)
    reply = call(app(ScriptedPeer(always)), path, {**body, name: False})
    assert reply.status in (200, 400)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/embeddings", "/v1/completions"])
@pytest.mark.parametrize("name", BLANKS)
def test_whatever_a_model_is_called_the_answer_has_a_head(path: str, name: str) -> None:
    body = {"model": name, "messages": [{"role": "user", "content": "Hi"}], "input": "x", "prompt": "x"}
    assert call(app(ScriptedPeer(always)), path, body).status in (200, 400)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/v1/embeddings"])
def test_whatever_an_id_is_cut_to_the_answer_has_a_head(path: str) -> None:
    method = "GET" if path == "/v1/models" else "POST"
    body = None if method == "GET" else {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "input": "x"}
    for given in ("x" * 127 + " y", " ", "x" * 500):
        reply = call(app(ScriptedPeer(always)), path, body, method=method, headers={"x-request-id": given})
        assert reply.status == 200
