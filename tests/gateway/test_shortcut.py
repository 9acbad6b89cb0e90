"""Pieces that go around decoding and encoding: the client gets the bytes it would get without that."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import ErrorKind, ProviderError
from dragoman.gateway import shortcut
from dragoman.io.scripted import Answer, ScriptedPeer
from dragoman.providers.spec import Tools
from tests.support.gateways import FENCE, PATHS, app, ask, every_back, every_front, read
from tests.support.upstreams import UPSTREAMS, ScriptedReply, text_reply

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
    replies: list[int] = []
    whole = shortcut.Shortcut.observe

    def observe(self: Any, pieces: list[bytes]) -> None:
        replies.append(len(pieces))
        whole(self, pieces)

    monkeypatch.setattr(shortcut.Shortcut, "observe", observe)
    words = ScriptedReply(tuple(f"word{n} " for n in range(300)))
    wire = UPSTREAMS["openai_chat"]
    peer = ScriptedPeer(lambda _: Answer(tuple(wire.stream(words)), headers={"content-type": wire.kind}))
    reply = ask(app(peer), "openai_chat", stream=True)
    assert read("openai_chat", reply, stream=True).text == "".join(words.text)
    assert len(replies) < 30
    assert len(reply.pieces) > 300


def test_strings_that_are_none_are_left_to_the_decoder() -> None:
    for inside in (b'a"b', b"a\\x", b"\\ud800", b"a\nb", b"", b"\xff"):
        assert shortcut._text(inside) == "", inside
    assert shortcut._text(json.dumps("é\n\U0001f600").encode()[1:-1]) == "é\n\U0001f600"
