"""A conversation that grows is sent as one that is new, wherever its cache markers come to stand with each turn."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from dragoman.conversation.cache_markers import Marked
from dragoman.conversation.grown import grown
from dragoman.conversation.history import repair
from dragoman.memo import FrozenTools
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Tools
from dragoman.turn.compiled import compiled
from dragoman.turn.plan import planned
from dragoman.turn.send import _encoded
from dragoman.types import Media, Message, Reasoning, Request, Text, Tool, ToolCall, ToolResult

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = FrozenTools([Tool(name="read", parameters=SCHEMA), Tool(name="write", description="Write.", parameters=SCHEMA)])
PLACES = [
    *[Route(provider=PROVIDERS[name], model=model, tools=way) for name, model in (
        ("anthropic", "claude-sonnet-4-5"), ("bedrock", "anthropic.claude-sonnet-4-5"), ("openrouter", "anthropic/claude-opus-4"),
    ) for way in (Tools.NATIVE, Tools.TEXT)],
    Route(provider=COMPATIBLE["anthropic_messages"], base_url="http://model.test", model="m"),
]  # fmt: skip
HEADS = [[], [Message("system", "Be kind.")], [Message("system", "Be kind.")], [Message("system", "Be."), Message("system", "B.")]]
STEPS = ("user", "user", "calls", "calls", "system", "odd")


def turn_of(kind: str, number: int, draw: random.Random) -> list[Message]:
    """A turn and what it leads to; now and then the client asks for a marker itself, or says what only some wires say."""
    cache = draw.random() < 0.05
    if kind == "system":
        return [Message("system", f"Note {number}."), Message("user", f"Well {number}?", cache=cache)]
    if kind == "user":
        return [Message("user", f"And {number}?", cache=cache), Message("assistant", f"Answer {number}.")]
    if kind == "odd" and draw.random() < 0.3:
        image = Media(mime="image/png", data="AAAA")
        return [Message("user", [Text("See."), image]), Message("assistant", [Reasoning("Hm."), Text("I see.")])]
    ids = [f"c{number}_{at}" for at in range(draw.randint(1, 2))]
    calls = [ToolCall(id=one, name="read", arguments={"path": one}) for one in ids]
    results = [ToolResult(call_id=one, name="read", content=draw.choice(["", "a, b"])) for one in ids]
    more = [Message("user", "Go on.")] if draw.random() < 0.4 else []
    return [Message("assistant", [Text("I read."), *calls]), Message("tool", results, cache=cache), *more]


def sent(request: Request, route: Route, *, compile_it: bool) -> Any:
    made = repair(request.messages)
    asked = replace(request, messages=made.messages)
    plan = (compiled if compile_it else planned)(asked, route, text=route.mode is Tools.TEXT)
    return json.loads(_encoded(plan))


@pytest.mark.parametrize("route", PLACES, ids=lambda route: f"{route.provider.name}-{route.tools}")
@pytest.mark.parametrize("seed", range(12))
def test_every_turn_of_it_is_sent_as_if_it_were_new(route: Route, seed: int) -> None:
    draw = random.Random(seed)
    said = [Message("system", "Be kind.")] if seed % 3 else []
    known = None
    for number in range(14):
        said += turn_of(draw.choice(STEPS), number, draw)
        known = grown(known, said[len(known or ()) :])
        request = Request(model="m", messages=known, tools=TOOLS, stream=bool(seed % 2))
        new = sent(replace(request, messages=(*said,)), route, compile_it=False)
        assert sent(request, route, compile_it=True) == new


@pytest.mark.parametrize("extra", [{}, {"cache_control": {"type": "ephemeral"}}], ids=["", "one more"])
@pytest.mark.parametrize("route", PLACES, ids=lambda route: f"{route.provider.name}-{route.tools}")
def test_conversations_that_begin_alike_are_sent_as_if_alone(route: Route, extra: dict[str, Any]) -> None:
    draw = random.Random(7)
    known: list[Any] = [None] * 12
    for number in range(5):
        for at in range(len(known)):
            said = [Message("user", f"{number}?"), *turn_of(draw.choice(("user", "calls")), 100 * number + at, draw)]
            said = [replace(message, cache=False) for message in said]
            known[at] = grown(known[at], said if known[at] else [*HEADS[at % len(HEADS)], *said])
            request = Request(model="m", messages=known[at], tools=TOOLS, extra=extra)
            new = sent(replace(request, messages=(*known[at],)), route, compile_it=False)
            assert sent(request, route, compile_it=True) == new


def test_markers_leave_the_conversation_to_grow() -> None:
    route = PLACES[0]
    known = None
    for number in range(4):
        known = grown(known, [Message("user", f"And {number}?"), Message("assistant", f"Answer {number}.")])
        whole = grown(known, [Message("user", "Well?")])
        plan = compiled(Request(model="m", messages=whole, tools=TOOLS), route, text=False)
        assert type(plan.request.messages) is Marked
        assert plan.request.messages.plain == whole
        assert [at for at, message in enumerate(plan.request.messages) if message.cache] == sorted(
            plan.request.messages.places
        )
