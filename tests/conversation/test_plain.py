"""What is known of a plain conversation at one look is what each stage would have found in it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.codecs.anthropic import messages_blocks as anthropic
from dragoman.codecs.gemini import generate_contents as gemini
from dragoman.codecs.ollama import chat_requests as ollama
from dragoman.codecs.openai import chat_messages as chat
from dragoman.codecs.openai import responses_requests as responses
from dragoman.codecs.openai.responses_items import Names
from dragoman.codecs.shared.spec import PLAIN, Quirks
from dragoman.codecs.shared.written import wires_of
from dragoman.conversation import history, turn_order
from dragoman.conversation.grown import grown
from dragoman.conversation.plain import Plain, as_plain
from dragoman.conversation.requirements import REQUIREMENTS, Turns
from dragoman.types import Message, Text, ToolCall, ToolResult

TEXTS = st.sampled_from(["Look.", "Well?", "", " ", "\u2028", "é", " x"])
ARGUMENTS: st.SearchStrategy[dict[str, Any]] = st.sampled_from([{}, {"at": "é"}, {"n": [1.5, None, 2**70]}])


@st.composite
def turns(draw: st.DrawFn, number: int) -> list[Message]:
    """What a user says, the model answers and tools give, mostly in order."""
    made = [Message(draw(st.sampled_from(["user", "user", "system"])), draw(TEXTS)) for _ in range(draw(st.integers(0, 2)))]
    names = [draw(st.sampled_from(["look", "look", "do.it", ""])) for _ in range(draw(st.integers(0, 2)))]
    odd = draw(st.integers(0, 12))
    calls = [
        ToolCall(id="" if odd == 1 else "again" if odd == 2 else f"c{number}{n}", name=name, arguments=draw(ARGUMENTS),
                 raw=draw(st.sampled_from([None, '{"at":"é"}', "{}"])))
        for n, name in enumerate(names)
    ]  # fmt: skip
    said = [Text(draw(TEXTS), metadata={"a": 1} if odd == 3 else {}) for _ in range(draw(st.integers(not calls, 1)))]
    made.append(Message("assistant", [*calls, *said] if odd == 4 else [*said, *calls], cache=odd == 5))
    answers = [
        ToolResult(call_id=call.id, name="" if odd == 6 else call.name, is_error=odd == 7,
                   content=[Text("a"), Text("b")] if odd == 8 else draw(TEXTS))
        for call in calls
    ]  # fmt: skip
    if answers and odd != 9:
        made += [Message("tool", answers)] if odd != 10 else [Message("tool", [one]) for one in answers]
    return made


CONVERSATIONS = st.tuples(*[turns(number) for number in range(3)])
WIRES = sorted({(one.ids, one.names): one for one in REQUIREMENTS.values()}.values(), key=repr)


def shown(found: Plain | None, wire: Any) -> Any:
    return found and (found.size, found.ids, found.names, found.unique, found.single, found.filled, found.fits(wire))


@settings(max_examples=300, deadline=None)
@given(CONVERSATIONS, st.sampled_from(WIRES))
def test_a_conversation_that_grew_is_as_plain_as_at_once(parts: tuple[list[Message], ...], wire: Any) -> None:
    known, told = None, tuple[Message, ...]()
    for part in parts:
        known, told = grown(known, part), (*told, *part)
        at_once, by_growth = as_plain(told), as_plain(known)
        if by_growth is not None:
            assert shown(by_growth, wire) == shown(at_once, wire)


@settings(max_examples=500, deadline=None)
@given(CONVERSATIONS, st.sampled_from(WIRES))
def test_stages_have_nothing_to_do_with_a_plain_conversation(parts: tuple[list[Message], ...], wire: Any) -> None:
    told = tuple(message for part in parts for message in part)
    found = as_plain(told)
    if found is None:
        return
    assert all(message.bare for message in told)
    assert history._repaired(told) == (None, ())
    if found.filled and found.opened:
        assert turn_order._in_turns(told, Turns.FILLED) == (None, ())
    if found.unique and not wire.counted:
        assert found.fits(wire) == (
            history._ids_are_fine(told, wire) is not None and all(map(wire.names.allows, found.names))
        )


QUIRKS = st.sampled_from([PLAIN, Quirks(empty_content="absent"), Quirks(empty_content="empty", system_role="developer")])


@settings(max_examples=300, deadline=None)
@given(CONVERSATIONS, QUIRKS)
def test_what_is_plain_is_written_as_each_message_alone_is(parts: tuple[list[Message], ...], quirks: Quirks) -> None:
    told = tuple(message for part in parts for message in part)
    if as_plain(told) is None:
        return
    names = Names(())
    in_chat = [wire for message in told for wire in chat.write_message(message, quirks)]
    in_ollama = [wire for message in told for wire in ollama._write_message(message)]
    items = [wire for message in told for wire in responses._write_message(message, names, quirks)]
    wires = wires_of(told, chat.PlainForms(quirks))
    assert repr(wires) == repr(in_chat)
    assert repr(wires_of(told, ollama.PlainForms())) == repr(in_ollama)
    wires = wires_of(told, responses.PlainForms(names, quirks))
    assert repr(wires) == repr(items)
    for message in told:
        blocks = [*map(anthropic.PlainBlocks().form, anthropic.plain_parts(message))]
        assert repr(blocks) == repr(anthropic.write_message(message, quirks))
        listed = [*map(gemini.PlainParts(quirks).form, message.parts)]
        assert repr(listed) == repr(gemini._parts_of(message, quirks))


def test_what_was_asked_about_last_is_no_answer_for_another() -> None:
    one, two = (Message("user", "a"),), (Message("user", "a"), Message("tool", "b"))
    for _ in range(2):
        assert as_plain(one) is as_plain(one) is not None
        assert as_plain(two) is None
        assert as_plain(()) is not None
    listed = [*one]
    assert as_plain(listed) is not None
    listed += two
    assert as_plain(listed) is None
