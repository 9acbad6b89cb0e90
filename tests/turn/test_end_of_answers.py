"""An answer ends where its wire says so, though its connection stays open: over real sockets, on every wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.effects import Machine, Timeouts, run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.providers.route import Route
from dragoman.providers.spec import Provider
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.machine import turn
from dragoman.types import Message, Request, Response, Stop, Tool, Usage
from tests.support.clocks import LONG
from tests.support.executing import Runner, both, run_async
from tests.support.peer import Exchange, peer
from tests.support.upstreams import chat_stream, messages_stream, text_reply
from tests.support.wires import AWS, SSE, WIRES

LOOK = Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}})
NDJSON = "application/x-ndjson"
HASTY = Timeouts(idle=LONG, grace=0.05)


def asked(codec: str, url: str = "http://peer.test", timeouts: Timeouts = HASTY) -> Machine[Response]:
    route = Route(provider=Provider(name="held", codec=codec), base_url=url, timeouts=timeouts)
    request = Request(model="up", messages=(Message("user", "Look."),), tools=(LOOK,), stream=True)
    return turn(request, route)


def chunks(pieces: Sequence[bytes], kind: str) -> Iterator[bytes]:
    yield f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    for piece in pieces:
        yield f"{len(piece):x}\r\n".encode() + piece + b"\r\n"


def held_open(pieces: Sequence[bytes], kind: str) -> Callable[[Exchange], None]:
    """Sends these pieces, and then nothing, until the other side lets go."""

    def talk(exchange: Exchange) -> None:
        for data in chunks(pieces, kind):
            exchange.say(data)
        exchange.until_gone()

    return talk


def lines(*bodies: dict[str, Any]) -> list[bytes]:
    return [json.dumps(body).encode() + b"\n" for body in bodies]


def events(*bodies: dict[str, Any]) -> list[bytes]:
    return [b"data: " + line + b"\n" for line in lines(*bodies)]


SPOKEN = {
    "ollama_generate": (
        lines({"response": "Up.", "done": False}, {"response": "", "done": True, "done_reason": "stop"}), NDJSON,
    ),
    "stackspot": (events({"message": "Up."}, {"message": "", "stop_reason": "stop", "tokens": {"input": 7}}), SSE),
}  # fmt: skip
"""The wires that have no calls."""
STREAMS = {api: (wire.stream("c1", "look", {"at": "sky"}), wire.kind) for api, wire in WIRES.items()} | SPOKEN


@both
@pytest.mark.parametrize("codec", CODECS)
def test_an_answer_is_whole_and_its_connection_let_go_though_the_peer_never_closes(
    execute: Runner, codec: str
) -> None:
    with peer(held_open(*STREAMS[codec])) as served:
        response = execute(asked(codec, served.url))
        assert served.exchanges[0].gone.wait(LONG)
    if codec in SPOKEN:
        assert (response.text, response.stop) == ("Up.", Stop.END)
    else:
        assert [(call.name, dict(call.arguments)) for call in response.calls] == [("look", {"at": "sky"})]
        assert response.stop is Stop.TOOL_CALLS
    assert not [issue for issue in response.issues if issue.kind == "wire_fault"]


CUT = {
    "openai_chat": chat_stream(text_reply("Up."))[:-1],
    "anthropic_messages": messages_stream(text_reply("Up."))[:-1],
    "bedrock_converse": WIRES["bedrock_converse"].stream("c1", "look", {"at": "sky"})[:-1],
}


@both
@pytest.mark.parametrize("codec", CUT)
def test_without_the_last_word_of_its_wire_an_answer_that_stopped_is_whole_after_a_grace(
    execute: Runner, codec: str
) -> None:
    with peer(held_open(CUT[codec], AWS if codec == "bedrock_converse" else SSE)) as served:
        response = execute(asked(codec, served.url))
    assert (response.text, bool(response.calls)) == (("", True) if codec == "bedrock_converse" else ("Up.", False))
    assert response.stop in (Stop.END, Stop.TOOL_CALLS)


@both
def test_what_an_answer_cost_is_read_though_it_comes_after_its_end(execute: Runner) -> None:
    with peer(held_open(CUT["openai_chat"], SSE)) as served:
        usage = execute(asked("openai_chat", served.url)).usage
    assert (usage.input, usage.output) == (7, 5)


def test_what_comes_after_the_end_of_an_answer_may_come_byte_by_byte() -> None:
    data = b"".join(chat_stream(text_reply("Up.")))
    assert scripted(*(data[at : at + 1] for at in range(len(data)))).usage == Usage(input=7, output=5)


@both
def test_a_connection_that_breaks_after_the_end_of_an_answer_breaks_nothing(execute: Runner) -> None:
    def talk(exchange: Exchange) -> None:
        for data in chunks(chat_stream(text_reply("Up.")), SSE):
            exchange.say(data)
        exchange.reset()

    with peer(talk) as served:
        assert execute(asked("openai_chat", served.url)).text == "Up."


@both
def test_an_answer_that_did_not_say_that_it_stops_is_waited_for(execute: Runner) -> None:
    with (
        peer(held_open(chat_stream(text_reply("Up."))[:2], SSE)) as served,
        pytest.raises(ProviderError) as caught,
    ):
        execute(asked("openai_chat", served.url, Timeouts(idle=0.05)))
    assert caught.value.kind is ErrorKind.TIMEOUT


def scripted(*pieces: bytes | Exception) -> Response:
    memory = ScriptedPeer([Answer(pieces, headers={"content-type": SSE})])
    return run(asked("openai_chat"), memory.sync_performer())


def chunk(text: str, finish: str | None = "stop") -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return events({"choices": [choice]})[0]


# ── whole answers and refusals, whose end the peer never says ────────────────


JSON = "application/json"
SPOKEN_WHOLE = {
    "ollama_generate": lines({"response": "Up.", "done": True, "done_reason": "stop"})[0],
    "stackspot": lines({"message": "Up.", "stop_reason": "stop", "tokens": {"input": 7}})[0],
}
WHOLES = {api: wire.whole("c1", "look", {"at": "sky"}) for api, wire in WIRES.items()} | SPOKEN_WHOLE


def whole(codec: str, url: str, timeouts: Timeouts = HASTY) -> Machine[Response]:
    route = Route(provider=Provider(name="held", codec=codec), base_url=url, timeouts=timeouts)
    return turn(Request(model="up", messages=(Message("user", "Look."),), tools=(LOOK,)), route)


def halves(body: bytes, *at: int) -> list[bytes]:
    places = [0, *at, len(body)]
    return [body[a:b] for a, b in pairwise(places)]


@both
@pytest.mark.parametrize("codec", CODECS)
def test_a_whole_answer_ends_with_its_last_bracket_though_the_peer_never_closes(execute: Runner, codec: str) -> None:
    with peer(held_open([WHOLES[codec]], JSON)) as served:
        response = execute(whole(codec, served.url))
        assert served.exchanges[0].gone.wait(LONG)
    if codec in SPOKEN:
        assert (response.text, response.stop) == ("Up.", Stop.END)
    else:
        assert [(call.name, dict(call.arguments)) for call in response.calls] == [("look", {"at": "sky"})]


CHAT_WHOLE = WHOLES["openai_chat"]
INSIDE = [n + 1 for n, sign in enumerate(CHAT_WHOLE[:-1]) if sign == ord("}")]


@pytest.mark.parametrize("at", [[*INSIDE], [5], [len(CHAT_WHOLE) - 1], range(1, len(CHAT_WHOLE))],
                         ids=["behind each bracket", "early", "before the last", "byte by byte"])  # fmt: skip
def test_no_bracket_but_the_last_ends_a_whole_answer(at: Sequence[int]) -> None:
    with peer(held_open([*halves(CHAT_WHOLE, *at), b"\n"], JSON)) as served:
        assert run_async(whole("openai_chat", served.url)).calls[0].name == "look"


def test_a_whole_answer_that_is_not_there_yet_is_waited_for() -> None:
    with peer(held_open([CHAT_WHOLE[:-1]], JSON)) as served, pytest.raises(ProviderError) as caught:
        run_async(whole("openai_chat", served.url, Timeouts(idle=0.05, grace=0.01)))
    assert caught.value.kind is ErrorKind.TIMEOUT


def refusing(status: str, body: bytes, kind: str) -> Callable[[Exchange], None]:
    """Refuses, and never says that this was all."""

    def talk(exchange: Exchange) -> None:
        for data in chunks([body] if body else [], kind):
            exchange.say(data.replace(b"200 OK", status.encode()))
        exchange.until_gone()

    return talk


REFUSALS = [
    (("401 Unauthorized", b'{"error": {"message": "no such key", "type": "auth"}}', JSON), ErrorKind.AUTH, "no such key"),
    (("429 Slow", b'{"error": {"message": "too many"}}\n', JSON), ErrorKind.RATE_LIMIT, "too many"),
    (("503 Busy", b"<html>the house is full", "text/html"), ErrorKind.OVERLOADED, "the house is full"),
    (("500 Oh", b"", JSON), ErrorKind.SERVER, ""),
]


@both
@pytest.mark.parametrize(("answer", "error", "says"), REFUSALS, ids=[row[0][0] for row in REFUSALS])
def test_a_refusal_is_one_though_the_peer_never_closes(
    execute: Runner, answer: tuple[str, bytes, str], error: ErrorKind, says: str
) -> None:
    with peer(refusing(*answer)) as served, pytest.raises(ProviderError) as caught:
        execute(asked("openai_chat", served.url))
    assert (caught.value.kind, says in str(caught.value)) == (error, True)


BROKEN = ProviderError("the line went dead", kind=ErrorKind.NETWORK)


def test_a_peer_that_says_with_every_piece_that_it_stops_is_waited_for() -> None:
    with pytest.raises(ProviderError, match="went dead"):
        scripted(chunk("U"), chunk("p"), BROKEN)


def test_what_only_costs_after_the_end_is_no_more_of_the_answer() -> None:
    usage = events({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 5}})[0]
    assert scripted(chunk("Up."), usage, BROKEN).text == "Up."


@pytest.mark.parametrize("last", [b"", b"data: [DONE]\n\n"], ids=["stopped", "over"])
def test_signs_of_life_after_the_end_of_an_answer_do_not_keep_it(last: bytes) -> None:
    def pings() -> Iterator[bytes]:
        yield chunk("Up.") + last
        for _ in range(1000):
            sent.append(1)
            yield b": ping\n\n"

    sent: list[int] = []
    memory = ScriptedPeer([Answer(pings(), headers={"content-type": SSE})])  # type: ignore[arg-type]
    assert run(asked("openai_chat"), memory.sync_performer()).text == "Up."
    assert len(sent) < 100
