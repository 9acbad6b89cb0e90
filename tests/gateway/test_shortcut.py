"""Pieces that go around decoding and encoding: the client gets the bytes it would get without that."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import ErrorKind, ProviderError
from dragoman.gateway import shortcut
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.gateways import FENCE, PATHS, app, ask, every_back, every_front, read
from tests.support.upstreams import UPSTREAMS, ScriptedReply, text_reply
from tests.turn.test_alike_frames import STREAMS, needs_recordings
from tests.turn.test_alike_frames import _written as written_stream

PROSE = "It is so: one, two {three}, \"four\" and f(x) < 5.\nHere's my view — naïve, 東京, \U0001f600, a\\b\t`c`.\n\n" * 3
MENTION = "Write <tool_call> for a call, or <function=look> so.\n" + PROSE
TEXTS = {"prose": PROSE, "a call": f"{PROSE}\n{FENCE}\n", "a mention": MENTION, "thought": f"<think>\n{PROSE}</think>\n{PROSE}"}


def _answers(gateway_of: Any, front: str, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The same stream with the shortcut and without."""
    bodies = []
    for most in (shortcut.MOST, 0):
        monkeypatch.setattr(shortcut, "MOST", most)
        bodies.append(ask(gateway_of(), front, stream=True).body)
    return bodies


@every_front
@every_back
@pytest.mark.parametrize("tools", [Tools.NATIVE, Tools.TEXT])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_bytes_are_those_of_the_long_way(
    front: str, back: str, tools: Tools, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire, reply = UPSTREAMS[back], text_reply(text, size=5)
    pieces = tuple(wire.stream(reply))

    def gateway() -> Any:
        return app(ScriptedPeer(lambda _: Answer(pieces, headers={"content-type": wire.kind})), back, tools=tools)

    short, long = _answers(gateway, front, monkeypatch)
    assert short == long


@settings(max_examples=60)
@given(text=st.text(min_size=1, max_size=300), data=st.data())
def test_any_text_cut_anywhere_gives_the_same_bytes(text: str, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 9))
    front, back = data.draw(st.sampled_from(sorted(PATHS))), data.draw(st.sampled_from(sorted(UPSTREAMS)))
    wire = UPSTREAMS[back]
    stream = b"".join(wire.stream(text_reply("so it is: " + text.encode("utf-8", "replace").decode(), size=size)))
    cut = data.draw(st.integers(1, 400))
    pieces = tuple(stream[at : at + cut] for at in range(0, len(stream), cut))

    def gateway() -> Any:
        return app(ScriptedPeer(lambda _: Answer(pieces, headers={"content-type": wire.kind})), back)

    with pytest.MonkeyPatch.context() as monkeypatch:
        short, long = _answers(gateway, front, monkeypatch)
    assert short == long


@every_front
def test_what_fails_in_the_middle_is_told_after_all_that_came(front: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ProviderError("the connection was reset", kind=ErrorKind.NETWORK)
    pieces: tuple[bytes | Exception, ...] = (*UPSTREAMS["openai_chat"].stream(text_reply(PROSE, size=5)),)[:40]
    pieces = (*pieces, broken)

    def gateway() -> Any:
        return app(ScriptedPeer(lambda _: Answer(pieces, headers={"content-type": "text/event-stream"})))

    short, long = _answers(gateway, front, monkeypatch)
    assert short == long


def test_several_pieces_in_one_read_take_the_shortcut_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = list(UPSTREAMS["openai_chat"].stream(text_reply(PROSE, size=5)))
    joined = (*pieces[:6], *(b"".join(pieces[at : at + 4]) for at in range(6, len(pieces), 4)))

    def gateway() -> Any:
        return app(ScriptedPeer(lambda _: Answer(joined, headers={"content-type": "text/event-stream"})))

    short, long = _answers(gateway, "openai_chat", monkeypatch)
    assert short == long


def test_most_of_a_plain_stream_is_never_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    replies: list[Any] = []
    given = shortcut.Shortcut._next

    def counted(self: Any) -> Any:
        replies.append(self)
        return given(self)

    monkeypatch.setattr(shortcut.Shortcut, "_next", counted)
    words = ScriptedReply(tuple(f"word{n} " for n in range(300)))
    wire = UPSTREAMS["openai_chat"]
    peer = ScriptedPeer(lambda _: Answer(tuple(wire.stream(words)), headers={"content-type": wire.kind}))
    reply = ask(app(peer), "openai_chat", stream=True)
    assert read("openai_chat", reply, stream=True).text == "".join(words.text)
    assert len(replies) < 30
    assert len(reply.pieces) > 300


ARGUMENTS = {"at": "a long way up, \u00e9 \"so\" {and} <so> on " * 5, "n": [1, 2.5, None, True, {"b": "c"}]}


def _call_pieces(size: int) -> tuple[bytes, ...]:
    """Native calls whose arguments come in pieces, text before them."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        body = {"id": "1", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        return f"data: {json.dumps(body)}\n\n".encode()

    out = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": piece}) for piece in ("Let", " me", " look", "."))]
    for index in range(2):
        begun = {"index": index, "id": f"c{index}", "type": "function", "function": {"name": "look", "arguments": ""}}
        out.append(chunk({"tool_calls": [begun]}))
        text = json.dumps(ARGUMENTS)
        for at in range(0, len(text), size):
            piece = {"index": index, "function": {"arguments": text[at : at + size]}}
            out.append(chunk({"tool_calls": [piece]}))
    return (*out, chunk({}, "tool_calls"), b"data: [DONE]\n\n")


@every_front
@pytest.mark.parametrize("early", [False, True], ids=["whole calls", "fragments"])
@pytest.mark.parametrize("joined", [1, 3, 1000])
@pytest.mark.parametrize("size", [1, 4])
def test_arguments_of_native_calls_say_the_same(
    front: str, early: bool, joined: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_pieces = _call_pieces(size)
    pieces = tuple(b"".join(all_pieces[at : at + joined]) for at in range(0, len(all_pieces), joined))

    def gateway() -> Any:
        peer = ScriptedPeer(lambda _: Answer(pieces, headers={"content-type": "text/event-stream"}))
        return app(peer, config={"stream_arguments": early})

    short, long = _answers(gateway, front, monkeypatch)
    assert short == long


@needs_recordings
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_recorded_streams_say_the_same_on_every_front(data: st.DataObject) -> None:
    _, back, bodies = data.draw(st.sampled_from([row for row in STREAMS if row[1] in COMPATIBLE]))
    stream = written_stream(back, bodies)
    cut = data.draw(st.sampled_from([50, 400, 3000, 10**9]))
    pieces = tuple(stream[at : at + cut] for at in range(0, len(stream), cut))
    front, early = data.draw(st.sampled_from(sorted(PATHS))), data.draw(st.booleans())
    kind = "application/x-ndjson" if back == "ollama_chat" else "text/event-stream"

    def gateway() -> Any:
        peer = ScriptedPeer(lambda _: Answer(pieces, headers={"content-type": kind}))
        return app(peer, back, config={"stream_arguments": early})

    with pytest.MonkeyPatch.context() as monkeypatch:
        short, long = _answers(gateway, front, monkeypatch)
    assert short == long
