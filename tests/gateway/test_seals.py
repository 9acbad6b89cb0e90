"""State of one wire in the hands of another's clients: it comes back as it was, to its owner and its model, or not at all."""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs.shared.spec import SEAL, WireFields
from dragoman.events import CallStarted, PartEnded, ReasoningDelta, Reclassified, TextDelta, assemble, replay
from dragoman.gateway import seals
from dragoman.gateway.seals import MOST_IN_ID, Sealer, State, Thought, opened, packed, unpacked
from dragoman.turn.model_state import of_another
from dragoman.types import NOTHING, Message, Reasoning, Request, Response, Text, ToolCall, ToolResult

CLAUDE = "anthropic_messages"
SIGNED = WireFields(CLAUDE, {"signature": "s=="}, "claude")
CALLED = WireFields(CLAUDE, {}, "claude")
THOUGHT = Reasoning("I look.", metadata=SIGNED)
CALL = ToolCall(id="toolu_1", name="look", arguments={"at": "sky"}, metadata=CALLED)
ASK = Message("user", "What is up?")


def answer(*parts: Any) -> Response:
    return Response(message=Message("assistant", parts))


def sealed(*parts: Any, native: frozenset[str] = frozenset({"openai_chat"}), owner: str = "") -> Message:
    """What a client of another API gets."""
    return Sealer(native, owner).response(answer(*parts)).message


def back(message: Message, owner: str = "") -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The parts as they come back, and what was left out."""
    request, issues = opened(Request(model="m", messages=(ASK, message)), owner)
    return request.messages[1].parts, issues


def fields(part: Any) -> tuple[dict[str, Any], str, str]:
    return dict(part.metadata), part.metadata.api, part.metadata.origin


def echoed(message: Message, *kept: type) -> Message:
    return message.with_parts(part for part in message.parts if isinstance(part, kept))


def test_a_thought_and_its_call_come_back_whole() -> None:
    (thought, call), issues = back(sealed(THOUGHT, CALL))
    assert (thought, call, issues) == (THOUGHT, CALL, ())
    assert fields(thought) == ({"signature": "s=="}, CLAUDE, "claude")


@pytest.mark.parametrize("kept", [ToolCall, Reasoning], ids=["ids alone", "reasoning alone"])
def test_either_brings_the_signature_back(kept: type) -> None:
    message = sealed(THOUGHT, CALL)
    parts, issues = back(echoed(message, kept))
    assert THOUGHT in parts
    assert not issues


def test_reasoning_that_came_back_bare_is_completed_by_its_call() -> None:
    message = sealed(THOUGHT, CALL)
    bare = message.with_parts([Reasoning(" I look.\n"), *echoed(message, ToolCall).parts])
    assert back(bare) == ((THOUGHT, CALL), ())


def test_several_thoughts_that_were_joined_come_apart_again() -> None:
    second = Reasoning(" Again.", metadata=WireFields(CLAUDE, {"signature": "t=="}, "claude"))
    message = sealed(THOUGHT, second, CALL)
    joined = " ".join(str(part.metadata[SEAL]) for part in message.parts if isinstance(part, Reasoning))
    one = Reasoning("I look. Again.", metadata={SEAL: joined})
    assert back(Message("assistant", [one]))[0] == (THOUGHT, second)


def test_altered_reasoning_is_left_out_and_told() -> None:
    thought = sealed(THOUGHT, CALL).parts[0]
    assert isinstance(thought, Reasoning)
    parts, issues = back(Message("assistant", [replace(thought, text="I do as I am told."), Text("ok")]))
    assert parts == (Text("ok"),)
    assert [issue.path for issue in issues] == ["$.messages[1].reasoning"]


def test_nobody_opens_anothers_seal() -> None:
    message = sealed(THOUGHT, CALL, owner="alice")
    parts, issues = back(message, "bob")
    assert parts == (replace(CALL, metadata=NOTHING),)
    assert issues
    assert back(message, "alice")[0] == (THOUGHT, CALL)


@given(st.integers(0, 400), st.sampled_from("Aa0_-"))
def test_a_damaged_seal_is_none_and_its_id_is_found(at: int, letter: str) -> None:
    (call,) = echoed(sealed(THOUGHT, CALL), ToolCall).parts
    assert isinstance(call, ToolCall)
    place = call.id.index("-dg1-") + 5 + at % (len(call.id) - call.id.index("-dg1-") - 5)
    damaged = replace(call, id=call.id[:place] + letter + call.id[place + 1 :], metadata=NOTHING)
    (parts, _) = back(Message("assistant", [damaged]))
    assert [part.id for part in parts if isinstance(part, ToolCall)] == ["toolu_1"]
    assert damaged.id == call.id or THOUGHT not in parts


@pytest.mark.parametrize("length", [12, 13, 40, 64])
def test_an_id_that_was_cut_is_its_call_and_its_results(length: int) -> None:
    (call,) = echoed(sealed(THOUGHT, CALL), ToolCall).parts
    assert isinstance(call, ToolCall)
    cut = call.id[:length]
    result = Message("tool", [ToolResult(call_id=cut, name="look", content="blue")])
    request, _ = opened(Request(model="m", messages=(ASK, Message("assistant", [replace(call, id=cut)]), result)), "")
    assert request.messages[1].calls[0].id == request.messages[2].results[0].call_id == "toolu_1"


def test_ids_hold_what_every_api_takes_in_them_and_stay_apart() -> None:
    calls = [replace(CALL, id=f"toolu_{n}") for n in range(3)]
    ids = [call.id for call in sealed(THOUGHT, *calls).calls]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", one) for one in ids)
    assert len({*ids}) == 3
    assert ids == [call.id for call in sealed(THOUGHT, *calls).calls]
    assert ids[1:] == ["toolu_1", "toolu_2"]


def _noise(size: int) -> str:
    return "".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(size // 64 + 1))[:size]


def test_what_is_too_long_for_an_id_travels_without_its_text_or_not_at_all() -> None:
    long = Reasoning(_noise(3 * MOST_IN_ID), metadata=SIGNED)
    message = sealed(long, CALL)
    assert max(len(call.id) for call in message.calls) < MOST_IN_ID + 64
    assert back(message)[0] == (long, CALL)
    bare = message.with_parts([Reasoning(long.text), *message.calls])
    assert back(bare)[0] == (long, CALL)
    vast = Reasoning("hm", metadata=WireFields(CLAUDE, {"signature": _noise(3 * MOST_IN_ID)}, "claude"))
    message = sealed(vast, CALL)
    assert message.calls[0].id == "toolu_1"
    assert back(message)[0] == (vast, CALL)


def test_a_client_of_the_models_own_api_gets_it_as_it_is() -> None:
    assert sealed(THOUGHT, CALL, native=frozenset({CLAUDE})).parts == (THOUGHT, CALL)


def test_what_bears_nothing_is_not_sealed() -> None:
    plain = (Reasoning("hm"), Text("hi"), ToolCall(id="c", name="look"))
    assert sealed(*plain).parts == plain


def test_streamed_and_whole_say_the_same() -> None:
    response = answer(THOUGHT, Text("Look:"), CALL, Reasoning("More.", metadata=SIGNED), replace(CALL, id="toolu_2"))
    sealer = Sealer({"openai_chat"}, "o")
    streamed = assemble([sealer.event(event) for event in replay(response)])
    whole = Sealer({"openai_chat"}, "o").response(response)
    assert [(type(p), getattr(p, "id", ""), dict(p.metadata)) for p in streamed.message.parts] == [  # type: ignore[union-attr]
        (type(p), getattr(p, "id", ""), dict(p.metadata)) for p in whole.message.parts  # type: ignore[union-attr]
    ]


def test_text_that_proved_no_reasoning_is_not_sealed_as_reasoning() -> None:
    sealer = Sealer({"openai_chat"}, "")
    for event in (ReasoningDelta("answer"), Reclassified(answer=True), TextDelta("answer"), PartEnded()):
        sealer.event(event)
    called = sealer.event(CallStarted(0, "c", "look", CALLED))
    assert called == CallStarted(0, "c", "look", CALLED)


def test_one_models_state_never_goes_to_another() -> None:
    turn = Message("assistant", [THOUGHT, CALL])
    assert of_another([turn], "claude", {CLAUDE})[0] == (turn,)
    (other,), issues = of_another([turn], f"{CLAUDE}:minimax-anthropic:", {CLAUDE})
    assert [dict(part.metadata) for part in other.parts] == [{}, {}]  # type: ignore[union-attr]
    assert issues


def test_a_bomb_is_no_state() -> None:
    data = zlib.compress(b"[" + b" " * (4 * seals.MOST_UNPACKED) + b"]")
    assert unpacked(seals._mark(data, "") + seals._letters(data), "") is None


STATES = st.builds(
    State,
    api=st.sampled_from(["gemini", CLAUDE]),
    origin=st.text(max_size=5),
    thoughts=st.lists(
        st.builds(Thought, size=st.integers(0, 9), digest=st.text(max_size=5), text=st.none() | st.text(max_size=9)), max_size=3
    ).map(tuple),
    call=st.dictionaries(st.text(max_size=3), st.text(max_size=9), max_size=2),
)


@given(STATES, st.text(max_size=5))
def test_what_was_packed_is_unpacked(state: State, owner: str) -> None:
    assert unpacked(packed(state, owner), owner) == state
    assert unpacked(packed(state, owner), owner + "x") is None


@given(st.text(max_size=200))
def test_anything_else_is_no_state(text: str) -> None:
    assert unpacked(text, "") is None
