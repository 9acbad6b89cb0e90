"""Call ids there and back: a client answers a call by the id it was given, or by one of its own, and the model knows it.

On every front, before every wire of whose answers and requests bytes are written by hand here, streamed and whole; the
id may be one that the wire would refuse, several calls may share one, and it may have been respelt on the way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from dragoman.sim.scripted import ScriptedPeer
from dragoman.types import Response
from tests.support.asgi import call
from tests.support.gateways import HERMES, app, ask, asking, every_back, every_front, read, streamed_and_whole
from tests.support.upstreams import ScriptedReply, model, sent, text_reply

PLACES = ("sky", "sea")
GIVEN: dict[str, tuple[str, str]] = {
    "OpenAI's": ("call_abcdefghijklmnop1", "call_abcdefghijklmnop2"),
    "Anthropic's": ("toolu_01A09q90qw90lq917835lq9", "toolu_01A09q90qw90lq917835lq8"),
    "Kimi's": ("functions.look:0", "functions.look:1"),
    "vLLM's": ("chatcmpl-tool-0123456789abcdef0123456789abcdef", "chatcmpl-tool-0123456789abcdef0123456789abcdee"),
    "odd": ("é ü/1", "é ü/2"),
    "one for both": ("c", "c"),
    "long": ("x" * 90 + "1", "x" * 90 + "2"),
}
ECHOED: dict[str, Callable[[Sequence[str]], tuple[Sequence[str], Sequence[str]]]] = {
    "as they came": lambda ids: (ids, ids),
    "of its own": lambda ids: (["own-1 ü:0", "own-1 ü:1"],) * 2,
    "one for both": lambda ids: (["one"] * 2,) * 2,
    "respelt in the results": lambda ids: (ids, [re.sub(r"[^a-zA-Z0-9_-]", "_", one) for one in ids]),
}
"""What the ids of the calls and those of the results are that come back."""


def conversation(front: str, calls: Sequence[str], results: Sequence[str]) -> dict[str, Any]:
    """The turns of a client that ran both calls, under these ids."""
    made, answered = [*zip(calls, PLACES, strict=True)], [*zip(results, PLACES, strict=True)]
    user, args = {"role": "user", "content": "What is up?"}, [{"at": at} for at in PLACES]
    if front == "openai_responses":
        items = [{"type": "function_call", "call_id": i, "name": "look", "arguments": json.dumps({"at": at})} for i, at in made]
        outputs = [{"type": "function_call_output", "call_id": i, "output": f"the {at}"} for i, at in answered]
        return {"input": [user, *items, *outputs]}
    if front == "anthropic_messages":
        uses = [{"type": "tool_use", "id": i, "name": "look", "input": {"at": at}} for i, at in made]
        given = [{"type": "tool_result", "tool_use_id": i, "content": f"the {at}"} for i, at in answered]
        return {"messages": [user, {"role": "assistant", "content": uses}, {"role": "user", "content": given}]}
    if front == "gemini":
        parts = [{"functionCall": {"id": i, "name": "look", "args": {"at": at}}} for i, at in made]
        said = [{"functionResponse": {"id": i, "name": "look", "response": {"output": f"the {at}"}}} for i, at in answered]
        turns = [("user", [{"text": "What is up?"}]), ("model", parts), ("user", said)]
        return {"contents": [{"role": role, "parts": inner} for role, inner in turns]}
    key = "arguments"
    values: list[Any] = args if front == "ollama_chat" else [json.dumps(one) for one in args]
    tools = [{"id": i, "type": "function", "function": {"name": "look", key: one}} for (i, _), one in zip(made, values, strict=True)]
    told = [{"role": "tool", "tool_call_id": i, "content": f"the {at}"} for i, at in answered]
    return {"messages": [user, {"role": "assistant", "content": "", "tool_calls": tools}, *told]}


def paired(back: str, body: dict[str, Any]) -> list[tuple[str, str]]:
    """Where each call looked, and what its result says, by the rules of the wire; fails where it would refuse an id."""
    messages = body["messages"]
    if back == "anthropic_messages":
        blocks = [block for one in messages for block in one["content"] if isinstance(block, dict)]
        calls = [(b["id"], b["input"]["at"]) for b in blocks if b["type"] == "tool_use"]
        results = [(b["tool_use_id"], said(b["content"])) for b in blocks if b["type"] == "tool_result"]
        assert all(re.fullmatch("[a-zA-Z0-9_-]+", id_) for id_, _ in calls)
    else:
        made = [c for one in messages for c in one.get("tool_calls") or ()]
        calls = [(c.get("id", ""), where(c["function"]["arguments"])) for c in made]
        results = [(one.get("tool_call_id", ""), said(one["content"])) for one in messages if one["role"] == "tool"]
    if back == "ollama_chat":  # which answers by the order
        return [(at, text) for (_, at), (_, text) in zip(calls, results, strict=True)]
    assert len({id_ for id_, _ in calls}) == len(calls) == len(results)
    by_id = dict(results)
    return [(at, by_id[id_]) for id_, at in calls]


def said(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def where(arguments: Any) -> str:
    place: str = (json.loads(arguments) if isinstance(arguments, str) else arguments)["at"]
    return place


def both(front: str, memory: ScriptedPeer, back: str, echo: str, *, stream: bool) -> Response:
    """Ask, run both calls, and answer."""
    gateway = app(memory, back)
    first = read(front, ask(gateway, front, stream=stream), stream=stream)
    assert [one.arguments["at"] for one in first.calls] == [*PLACES]
    ids = [one.id for one in first.calls]
    assert len({*ids}) == 2
    path, body = asking(front, stream=stream)
    reply = call(gateway, path, {**body, **conversation(front, *ECHOED[echo](ids))})
    return read(front, reply, stream=stream)


@every_front
@every_back
@streamed_and_whole
@pytest.mark.parametrize("echo", ECHOED)
@pytest.mark.parametrize("given", GIVEN)
def test_each_result_reaches_its_call(front: str, back: str, stream: bool, echo: str, given: str) -> None:
    calls = tuple((id_, "look", {"at": at}) for id_, at in zip(GIVEN[given], PLACES, strict=True))
    memory = model(back, ScriptedReply(calls=calls), text_reply("Done."))
    assert both(front, memory, back, echo, stream=stream).text == "Done."
    assert paired(back, sent(memory)) == [(at, f"the {at}") for at in PLACES]


@every_front
@every_back
@streamed_and_whole
@pytest.mark.parametrize("echo", ECHOED)
def test_a_call_in_text_has_an_id_that_comes_back(front: str, back: str, stream: bool, echo: str) -> None:
    memory = model(back, text_reply(f"{HERMES}\n{HERMES.replace('sky', 'sea')}"), text_reply("Done."))
    assert both(front, memory, back, echo, stream=stream).text == "Done."
    told = json.dumps(sent(memory))
    assert told.index("the sky") < told.index("the sea")
