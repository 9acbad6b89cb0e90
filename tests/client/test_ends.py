"""What a caller learns of a run that did not end in an answer: it is raised, unless they ask for the run itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dragoman import AsyncClient, Cancel, Client, Policy, ProviderError, RunUnfinished, TextDelta
from dragoman.loop import Answered, Bound, Failed, Interrupted, Limit, Refused
from dragoman.sim.scripted import ScriptedPeer
from tests.support.both_clients import Face, both
from tests.support.scenes import ScriptedReply, calling, text_reply
from tests.support.upstreams import model, refusal


def look(at: str) -> str:
    """Look."""
    return f"{at} is blue"


DOWN = refusal(401, {"error": {"message": "no such key"}})
LOOKS = calling(("look", {"at": "sky"}))
ENDS: list[tuple[str, list[Any], type[Exception], Any]] = [
    ("failure at once", [DOWN], ProviderError, Failed),
    ("failure after a call", [LOOKS, DOWN], ProviderError, Failed),
    ("limit", [LOOKS, LOOKS], RunUnfinished, Limit),
    ("length", [ScriptedReply(("I think",), stop="length")], RunUnfinished, Limit),
    ("refusal", [ScriptedReply(("No.",), stop="content_filter")], RunUnfinished, Refused),
]
ends = pytest.mark.parametrize(("script", "error", "end"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS])
TWO = Policy(max_turns=2, max_stalled_turns=5)


def asked(face: Face, script: list[Any], *, raises: bool | None = None, **more: Any) -> Any:
    made = {"raise_on_failure": True, "policy": TWO}
    return face.run(model("openai_chat", *script), "Look.", tools=[look], client=made, raise_on_failure=raises, **more)


@both
@ends
def test_a_run_without_an_answer_is_raised_with_the_run_so_far(
    face: Face, script: list[Any], error: type[Exception], end: type
) -> None:
    with pytest.raises(error) as caught:
        asked(face, script)
    run = caught.value.run  # type: ignore[attr-defined]
    assert isinstance(run.end, end)
    assert run.messages[0].text == "Look."
    assert str(caught.value)


@both
@ends
def test_the_run_is_returned_where_it_is_asked_for(
    face: Face, script: list[Any], error: type[Exception], end: type
) -> None:
    run = asked(face, script, raises=False)
    assert isinstance(run.end, end)
    assert run.why
    with pytest.raises(error) as caught:
        run.raise_for_end()
    assert caught.value.run is run  # type: ignore[attr-defined]


@both
def test_a_streamed_run_raises_after_its_last_event(face: Face) -> None:
    with pytest.raises(ProviderError, match="no such key"):
        face.listen(model("openai_chat", LOOKS, DOWN), "Look.", tools=[look], client={"raise_on_failure": True})


def test_a_limit_says_what_to_do() -> None:
    memory = model("openai_chat", LOOKS, LOOKS)
    with (
        Client("m", base_url="http://model.test", performer=memory.sync_performer) as client,
        pytest.raises(RunUnfinished, match=r"limit of turns \(2\); raise the limit in Policy"),
    ):
        client.run("Look.", tools=[look], policy=TWO)


def test_an_answer_and_an_interruption_raise_nothing() -> None:
    cancel = Cancel()
    cancel.cancel()
    memory = model("openai_chat", text_reply("Blue."))
    with Client("m", base_url="http://model.test", performer=memory.sync_performer) as client:
        assert client.run("Look.").end == Answered()
        assert client.run("Look.", cancel=cancel).end == Interrupted()


def test_what_a_hook_raises_is_raised_as_it_is() -> None:
    class Broken(Exception):
        """The hook's own."""

    def before(call: Any) -> None:
        raise Broken("the hook is broken")

    memory = model("openai_chat", LOOKS)
    with Client("m", base_url="http://model.test", performer=memory.sync_performer) as client, pytest.raises(Broken):
        client.run("Look.", tools=[look], policy=Policy(before=(before,)))


def test_a_limit_leaves_a_conversation_to_go_on_with() -> None:
    memory = model("openai_chat", LOOKS, LOOKS, text_reply("Blue."))
    with Client("m", base_url="http://model.test", performer=memory.sync_performer, tools=[look]) as client:
        with pytest.raises(RunUnfinished) as caught:
            client.run("Look.", policy=TWO)
        assert caught.value.run.end == Limit(Bound.TURNS, 2)
        assert client.run(messages=caught.value.run.messages).text == "Blue."


# ── text alone ───────────────────────────────────────────────────────────────


def script() -> ScriptedPeer:
    return model("openai_chat", calling(("look", {"at": "sky"}), text="I look. "), text_reply("It is blue.", size=3))


def test_the_text_of_a_stream_comes_alone_where_that_is_wanted() -> None:
    with Client("m", base_url="http://model.test", performer=script().sync_performer, tools=[look]) as client:
        steps = client.stream("Look.")
        pieces = list(steps.text_stream)
        assert "".join(pieces) == "I look. It is blue."
        assert len(pieces) > 2
        assert steps.run.text == "It is blue."


def test_so_it_does_awaited() -> None:
    async def go() -> tuple[list[str], int]:
        async with AsyncClient("m", base_url="http://model.test", performer=script().performer, tools=[look]) as client:
            pieces = [piece async for piece in client.stream("Look.").text_stream]
        async with AsyncClient("m", base_url="http://model.test", performer=script().performer, tools=[look]) as client:
            return pieces, len([step async for step in client.stream("Look.") if isinstance(step, TextDelta)])

    pieces, deltas = asyncio.run(go())
    assert ("".join(pieces), len(pieces)) == ("I look. It is blue.", deltas)
