"""What clients drop comes back to the model it belongs to, and to no other conversation."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from dragoman.conversation import reasoning_store as sidecar
from dragoman.conversation.reasoning_store import Kept, SideCar
from dragoman.types import Message, Reasoning, Text, ToolCall, ToolResult

SIGNED = {"thought_signature": "AbC="}
ASK = Message("user", "What is up?")


def call(id_: str = "c1", at: str = "sky", **metadata: Any) -> ToolCall:
    return ToolCall(id=id_, name="look", arguments={"at": at}, metadata=metadata)


def answered(id_: str = "c1", said: str = "blue") -> Message:
    return Message("tool", [ToolResult(call_id=id_, name="look", content=said)])


def kept(*parts: Any, asked: tuple[Message, ...] = (ASK,)) -> SideCar:
    side = SideCar()
    side.remember(asked, Message("assistant", parts))
    return side


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
    side = SideCar()
    side.remember([ASK], first)
    side.remember([ASK, first, answered("look:0")], second)
    bare = Message("assistant", [call("look:0")])
    told = side.refill([ASK, bare, answered("look:0"), bare])
    assert [told[at].calls[0].metadata["thought_signature"] for at in (1, 3)] == ["1", "2"]


@pytest.mark.parametrize("parts", [[Text("hello")], [Reasoning("hm"), Text("hello")], [call()]], ids=repr)
def test_an_answer_with_nothing_to_keep_keeps_nothing(parts: list[Any]) -> None:
    assert len(kept(*parts)) == 0


def test_the_oldest_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidecar, "MOST_KEPT", 10)
    side = SideCar()
    for number in range(15):
        side.remember([Message("user", str(number))], Message("assistant", [call(**SIGNED)]))
    assert len(side) == 20
    told = [side.refill([Message("user", str(n)), Message("assistant", [call()])])[1].calls[0] for n in range(15)]
    assert [n for n, each in enumerate(told) if each.metadata == SIGNED] == list(range(5, 15))


def test_what_one_owner_is_told_comes_into_no_conversation_of_another() -> None:
    side = SideCar()
    side.remember([ASK], Message("assistant", [Reasoning("of Alice"), call(**SIGNED)]), "alice")
    bare = [ASK, Message("assistant", [call()])]
    assert side.refill(bare, "bob") == side.refill(bare) == tuple(bare)
    assert side.refill(bare, "alice")[1].reasoning == "of Alice"


def test_threads_may_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidecar, "MOST_KEPT", 4)
    side, failures = SideCar(), list[BaseException]()

    def work(name: str) -> None:
        try:
            for n in range(300):
                asked = Message("user", f"{name} {n % 3}")
                side.remember([asked], Message("assistant", [call(**SIGNED)]))
                assert side.refill([asked, Message("assistant", [call()])])[1].calls[0].metadata in ({}, SIGNED)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(side) <= 8


# ── several processes ────────────────────────────────────────────────────────


class Behind:
    """What processes keep together; counts how often it is asked."""

    def __init__(self) -> None:
        self.kept: dict[str, Kept] = {}
        self.asked: list[list[str]] = []

    def holds(self) -> bool:
        return bool(self.kept)

    def get(self, keys: Sequence[str]) -> Mapping[str, Kept]:
        self.asked.append(list(keys))
        return {key: self.kept[key] for key in keys if key in self.kept}

    def put(self, rows: Mapping[str, Kept]) -> None:
        self.kept.update(rows)


def test_what_another_process_kept_is_asked_for_once() -> None:
    behind = Behind()
    here, there = SideCar(behind), SideCar(behind)
    here.remember([ASK], Message("assistant", [Reasoning("hm"), call(**SIGNED)]))
    bare = [ASK, Message("assistant", [call()])]
    for _ in range(3):
        assert there.refill(bare)[1].parts == (Reasoning("hm"), call(**SIGNED))
    assert len(behind.asked) == 1
    here.refill(bare)
    assert len(behind.asked) == 1


def test_while_nobody_keeps_anything_nobody_is_asked() -> None:
    behind = Behind()
    side = SideCar(behind)
    side.remember([ASK], Message("assistant", [call()]))
    assert side.refill([ASK, Message("assistant", [call()])]) == (ASK, Message("assistant", [call()]))
    assert behind.asked == []
