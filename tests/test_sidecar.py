"""What clients drop comes back to the model it belongs to, and to no other conversation."""

from __future__ import annotations

from typing import Any

from dragoman.sidecar import EMPTY, MOST_KEPT, SideCar
from dragoman.types import Message, Reasoning, Text, ToolCall, ToolResult

SIGNED = {"thought_signature": "AbC="}
ASK = Message("user", "What is up?")


def call(id_: str = "c1", at: str = "sky", **metadata: Any) -> ToolCall:
    return ToolCall(id=id_, name="look", arguments={"at": at}, metadata=metadata)


def answered(id_: str = "c1", said: str = "blue") -> Message:
    return Message("tool", [ToolResult(call_id=id_, name="look", content=said)])


def kept(*parts: Any, asked: tuple[Message, ...] = (ASK,)) -> SideCar:
    return EMPTY.remember(asked, Message("assistant", parts))


def test_a_signature_comes_back_to_its_call() -> None:
    (_, message, _) = kept(call(**SIGNED)).refill([ASK, Message("assistant", [call()]), answered()])
    assert message.calls[0].metadata == SIGNED


def test_reasoning_comes_back_before_the_calls_it_led_to() -> None:
    thought = Reasoning("Look up.", metadata={"signature": "s"})
    side = kept(thought, Text("I look."), call("c1"), call("c2", "sea"))
    told = side.refill([ASK, Message("assistant", [Text("I look."), call("c1"), call("c2", "sea")])])
    assert told[1].parts == (thought, Text("I look."), call("c1"), call("c2", "sea"))


def test_what_the_client_sent_is_not_replaced() -> None:
    own = Message("assistant", [Reasoning("mine"), call(thought_signature="mine")])
    assert kept(Reasoning("ours"), call(**SIGNED)).refill([ASK, own]) == (ASK, own)


def test_the_models_own_id_is_found_behind_the_one_a_client_made_of_it() -> None:
    """Kimi knows its calls as `functions.look:0`; clients send `functions_look_0` back."""
    side = kept(call("functions.look:0", **SIGNED))
    told = side.refill([ASK, Message("assistant", [call("functions_look_0")]), answered("functions_look_0")])
    assert told[1].calls[0].id == "functions.look:0"
    assert told[2].results[0].call_id == "functions.look:0"


def test_a_client_that_drops_ids_is_served_by_place() -> None:
    told = kept(call("c1", **SIGNED)).refill([ASK, Message("assistant", [call("")])])
    assert told[1].calls[0] == call("c1", **SIGNED)


ELSEWHERE = {
    "another question": [Message("user", "What is down?"), Message("assistant", [call()])],
    "other arguments": [ASK, Message("assistant", [call(at="sea")])],
    "another turn": [ASK, Message("assistant", "hm"), Message("user", "And?"), Message("assistant", [call()])],
}


def test_nothing_comes_into_a_conversation_it_was_not_made_in() -> None:
    side = kept(Reasoning("secret"), call(**SIGNED))
    for name, messages in ELSEWHERE.items():
        assert side.refill(messages) == tuple(messages), name


def test_the_same_id_in_a_later_turn_has_its_own() -> None:
    first = Message("assistant", [call("look:0", thought_signature="1")])
    second = Message("assistant", [call("look:0", thought_signature="2")])
    side = EMPTY.remember([ASK], first).remember([ASK, first, answered("look:0")], second)
    bare = Message("assistant", [call("look:0")])
    told = side.refill([ASK, bare, answered("look:0"), bare])
    assert [told[at].calls[0].metadata["thought_signature"] for at in (1, 3)] == ["1", "2"]


def test_an_answer_with_nothing_to_keep_keeps_nothing() -> None:
    assert kept(Text("hello")) is EMPTY
    assert kept(Reasoning("hm"), Text("hello")) is EMPTY
    assert kept(call()) is EMPTY


def test_the_oldest_are_forgotten_first() -> None:
    side = EMPTY
    for number in range(MOST_KEPT + 5):
        side = SideCar({**side.kept, str(number): None, f"{number}p": None})  # type: ignore[dict-item]
    side = side.remember([ASK], Message("assistant", [call(**SIGNED)]))
    assert len(side.kept) == 2 * MOST_KEPT
    assert "0" not in side.kept
    assert side.refill([ASK, Message("assistant", [call()])])[1].calls[0].metadata == SIGNED


def test_a_side_car_shows_nothing_of_itself_changing() -> None:
    before = kept(call(**SIGNED))
    before.remember([ASK, answered()], Message("assistant", [call("c9", **SIGNED)]))
    assert len(before.kept) == 2
