"""What clients drop comes back to the model it belongs to, and to no other conversation."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from dragoman.conversation.grown import grown
from dragoman.effects import Effect, Recall, run
from dragoman.gateway.state.keeper import unreachable
from dragoman.turn import reasoning_store
from dragoman.turn.reasoning_store import ReasoningStore, ReplayState
from dragoman.turn.shared_cache import Shared
from dragoman.types import Message, Reasoning, Text, ToolCall, ToolResult
from tests.support.kept import Behind, alone

SIGNED = {"thought_signature": "AbC="}
ASK = Message("user", "What is up?")


def call(id_: str = "c1", at: str = "sky", **metadata: Any) -> ToolCall:
    return ToolCall(id=id_, name="look", arguments={"at": at}, metadata=metadata)


def answered(id_: str = "c1", text: str = "blue") -> Message:
    return Message("tool", [ToolResult(call_id=id_, name="look", content=text)])


def remembered(*parts: Any, given: tuple[Message, ...] = (ASK,)) -> ReasoningStore:
    store = ReasoningStore()
    alone(store.remember(given, Message("assistant", parts)))
    return store


def test_a_signature_comes_back_to_its_call() -> None:
    (_, message, _) = alone(remembered(call(**SIGNED)).refill([ASK, Message("assistant", [call()]), answered()]))
    assert message.calls[0].metadata == SIGNED


def test_reasoning_comes_back_before_the_calls_it_led_to() -> None:
    thought = Reasoning("Look up.", metadata={"signature": "s"})
    store = remembered(thought, Text("I look."), call("c1"), call("c2", "sea"))
    filled = alone(store.refill([ASK, Message("assistant", [Text("I look."), call("c1"), call("c2", "sea")])]))
    assert filled[1].parts == (thought, Text("I look."), call("c1"), call("c2", "sea"))


def test_what_the_client_sent_is_not_replaced() -> None:
    own = Message("assistant", [Reasoning("mine"), call(thought_signature="mine")])
    assert alone(remembered(Reasoning("ours"), call(**SIGNED)).refill([ASK, own])) == (ASK, own)


def test_the_models_own_id_replaces_a_clients() -> None:
    """Kimi knows its calls as `functions.look:0`; clients send `functions_look_0` back."""
    store = remembered(call("functions.look:0", **SIGNED))
    filled = alone(store.refill([ASK, Message("assistant", [call("functions_look_0")]), answered("functions_look_0")]))
    assert filled[1].calls[0].id == "functions.look:0"
    assert filled[2].results[0].call_id == "functions.look:0"


def test_of_calls_under_one_id_each_result_goes_to_the_first_of_its_name() -> None:
    other = ToolCall(id="c2", name="add", arguments={"a": 1})
    store = remembered(call("c1", **SIGNED), other)
    results = Message("tool", [ToolResult(call_id="", name=name, content=name) for name in ("add", "look", "look")])
    asked = [ASK, Message("assistant", [call(""), replace(other, id="")]), results]
    filled = alone(store.refill(asked))
    assert [one.id for one in filled[1].calls] == ["c1", "c2"]
    assert [one.call_id for one in filled[2].results] == ["c2", "c1", ""]


def test_a_client_that_drops_ids_is_served_by_place() -> None:
    filled = alone(remembered(call("c1", **SIGNED)).refill([ASK, Message("assistant", [call("")])]))
    assert filled[1].calls[0] == call("c1", **SIGNED)


def test_an_id_that_the_client_made_up_stays() -> None:
    store = remembered(Reasoning("hm"), call("c1"))
    filled = alone(store.refill([ASK, Message("assistant", [call("mine_0")]), answered("mine_0")]))
    assert filled[1].parts == (Reasoning("hm"), call("mine_0"))
    assert filled[2] == answered("mine_0")


ELSEWHERE = {
    "another question": [Message("user", "What is down?"), Message("assistant", [call()])],
    "other arguments": [ASK, Message("assistant", [call(at="sea")])],
    "other instructions": [Message("system", "You serve Bob."), ASK, Message("assistant", [call()])],
    "another turn": [ASK, Message("assistant", "hm"), Message("user", "And?"), Message("assistant", [call()])],
}


def test_nothing_comes_into_another_conversation() -> None:
    store = remembered(Reasoning("secret"), call(**SIGNED))
    for name, messages in ELSEWHERE.items():
        assert alone(store.refill(messages)) == tuple(messages), name


def test_nothing_comes_into_a_conversation_that_ends_alike() -> None:
    """Two agents, both asked `Shall I?` and told `yes`, make the same call: they are still two."""
    shall, yes = Message("assistant", "Shall I?"), Message("user", "yes")
    alices = [Message("system", "You serve Alice."), Message("user", "Look at my salary."), shall, yes]
    bobs = [Message("system", "You serve Bob."), Message("user", "List the directory."), shall, yes]
    store = remembered(Reasoning("Alice earns 90,000"), call("c1"), given=tuple(alices))
    for id_ in ("own_id_1", "c1", ""):
        asked = (*bobs, Message("assistant", [call(id_)]), answered(id_))
        assert alone(store.refill(asked)) == asked, id_
    assert alone(store.refill([*alices, Message("assistant", [call("c1")])]))[4].reasoning == "Alice earns 90,000"


def test_a_conversation_that_grows_is_known_as_one_that_comes_whole() -> None:
    store, asked = ReasoningStore(), grown(None, [ASK])
    for number in range(4):
        made = call(f"c{number}", thought_signature=str(number))
        alone(store.remember(asked, Message("assistant", [made])))
        asked = grown(asked, [Message("assistant", [call(made.id)]), answered(made.id, str(number))])
        for messages in (asked, tuple(asked), [*asked]):
            signed = [each.metadata for message in alone(store.refill(messages)) for each in message.calls]
            assert signed == [{"thought_signature": str(n)} for n in range(number + 1)]


def test_a_conversation_of_which_nothing_is_known_stays_the_same_object() -> None:
    asked = grown(None, [ASK, Message("assistant", [call("c9", "sea")]), answered("c9")])
    assert alone(remembered(Reasoning("hm"), call()).refill(asked)) is asked


def test_the_same_id_in_a_later_turn_has_its_own() -> None:
    first = Message("assistant", [call("look:0", thought_signature="1")])
    second = Message("assistant", [call("look:0", thought_signature="2")])
    store = ReasoningStore()
    alone(store.remember([ASK], first))
    alone(store.remember([ASK, first, answered("look:0")], second))
    plain = Message("assistant", [call("look:0")])
    filled = alone(store.refill([ASK, plain, answered("look:0"), plain]))
    assert [filled[at].calls[0].metadata["thought_signature"] for at in (1, 3)] == ["1", "2"]


@pytest.mark.parametrize("parts", [[Text("hello")], [Reasoning("hm"), Text("hello")], [call()]], ids=repr)
def test_an_answer_with_nothing_to_keep_keeps_nothing(parts: list[Any]) -> None:
    assert len(remembered(*parts)) == 0


def test_the_oldest_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasoning_store, "MOST_CALLS", 10)
    store = ReasoningStore()
    for number in range(15):
        alone(store.remember([Message("user", str(number))], Message("assistant", [call(**SIGNED)])))
    assert len(store) == 20
    filled = [alone(store.refill([Message("user", str(n)), Message("assistant", [call()])]))[1].calls[0] for n in range(15)]
    assert [n for n, each in enumerate(filled) if each.metadata == SIGNED] == list(range(5, 15))


def test_nothing_of_one_owner_comes_to_another() -> None:
    store = ReasoningStore()
    alone(store.remember([ASK], Message("assistant", [Reasoning("of Alice"), call(**SIGNED)]), "alice"))
    plain = [ASK, Message("assistant", [call()])]
    assert alone(store.refill(plain, "bob")) == alone(store.refill(plain)) == tuple(plain)
    assert alone(store.refill(plain, "alice"))[1].reasoning == "of Alice"


def test_threads_may_share_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasoning_store, "MOST_CALLS", 4)
    store, failures = ReasoningStore(), list[BaseException]()

    def work(name: str) -> None:
        try:
            for n in range(300):
                question = Message("user", f"{name} {n % 3}")
                alone(store.remember([question], Message("assistant", [call(**SIGNED)])))
                assert alone(store.refill([question, Message("assistant", [call()])]))[1].calls[0].metadata in ({}, SIGNED)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store) <= 8


# ── several processes ────────────────────────────────────────────────────────


def test_another_process_is_asked_once() -> None:
    behind = Behind()
    here, there = (ReasoningStore(Shared("call", _written, READ.__getitem__)) for _ in range(2))
    behind.told(here.remember([ASK], Message("assistant", [Reasoning("hm"), call(**SIGNED)])))
    plain = [ASK, Message("assistant", [call()])]
    for _ in range(3):
        assert behind.told(there.refill(plain))[1].parts == (Reasoning("hm"), call(**SIGNED))
    assert len(behind.queries) == 1
    behind.told(here.refill(plain))
    assert len(behind.queries) == 1


def test_a_store_that_is_away_is_done_without() -> None:
    store = ReasoningStore(Shared("call", _written, READ.__getitem__))

    def away(effect: Effect) -> None:
        if type(effect) is Recall:
            raise unreachable()

    plain = [ASK, Message("assistant", [call()])]
    assert run(store.refill(plain), away) == tuple(plain)


READ: dict[str, ReplayState] = {}


def _written(state: ReplayState) -> str:
    READ[str(len(READ))] = state
    return str(len(READ) - 1)
