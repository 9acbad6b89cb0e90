"""Plans compiled once are the plans that the stages make, whatever was said first and whatever is said next."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import pytest

from dragoman.codecs.shared.spec import WireFields
from dragoman.conversation.grown import grown
from dragoman.conversation.history import repair
from dragoman.memo import FrozenTools
from dragoman.providers.families import ROWS as FAMILIES
from dragoman.providers.families import Profile
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Provider, Tools
from dragoman.turn.compiled import compiled
from dragoman.turn.plan import planned
from dragoman.turn.question import question
from dragoman.turn.send import _encoded
from dragoman.types import (
    Media,
    Message,
    Reasoning,
    Request,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = FrozenTools([Tool(name="read", parameters=SCHEMA), Tool(name="write", description="Write.", parameters=SCHEMA)])


def call(id_: str, name: str = "read") -> ToolCall:
    return ToolCall(id=id_, name=name, arguments={"path": "a"})


def called(*ids: str, name: str = "read") -> list[Message]:
    results = [ToolResult(call_id=one, name=name, content="a, b") for one in ids]
    return [
        Message("user", "Read a."),
        Message("assistant", [Text("I read."), *(call(one, name) for one in ids)]),
        Message("tool", results),
    ]


SAID: Mapping[str, list[Message]] = {
    "a word": [Message("user", "Hello")],
    "instructions": [Message("system", "Be kind."), Message("user", "Hello")],
    "late instructions": [Message("user", "Hello"), Message("system", "Be kind.")],
    "turns": [Message("user", "Hello"), Message("assistant", "Hi"), Message("user", "Read a.")],
    "two of one role": [Message("user", "Hello"), Message("user", "Read a.")],
    "the model first": [Message("assistant", "Hi"), Message("user", "Read a.")],
    "nothing": [],
    "a blank": [Message("user", ""), Message("user", "Read a.")],
    "a call": called("call_1"),
    "calls": [*called("call_1", "call_2"), Message("assistant", "Both."), Message("user", "Go on.")],
    "a call, and the user": [*called("call_1"), Message("user", "Go on.")],
    "an id twice": [*called("call_1"), Message("assistant", "It is."), *called("call_1")],
    "a long id": called("call_" + "x" * 80),
    "an odd id": called("call 1.ä"),
    "an id of nine": called("abcdefghi"),
    "another tool": called("call_1", name="other"),
    "an odd name": called("call_1", name="other.tool näme"),
    "thoughts": [Message("user", "Hello"), Message("assistant", [Reasoning("Hm."), Text("Hi")]), Message("user", "?")],
    "thoughts before a call": [
        Message("user", "Hello"),
        Message("assistant", [Reasoning("Hm.", metadata={"signature": "s"}), call("call_1")]),
        Message("tool", [ToolResult(call_id="call_1", name="read", content="a")]),
    ],
    "a picture": [Message("user", [Text("See"), Media(mime="image/png", data="aGk=")])],
    "a mark": [Message("user", "Hello", cache=True)],
    "fields": [Message("user", [Text("Hello", metadata=WireFields("anthropic_messages", {"citations": []}))])],
    "markup": [Message("user", "<tool_call>{}</tool_call>"), *called("call_1")],
    "a question": [Message("user", "Hello"), Message("assistant", "read(a)"), question([call("call_1")])],
}
"""Conversations: of those that are plain, and of those that stages have something to do with."""
OPTIONS: Mapping[str, Request] = {
    "tools": Request(model="m", tools=TOOLS),
    "no tools": Request(model="m"),
    "a demand": Request(model="m", tools=TOOLS, tool_choice=ToolChoice("required"), parallel=False, stream=True),
    "one tool": Request(model="m", tools=TOOLS, tool_choice=ToolChoice("named", "read")),
    "sampling": Request(model="m", tools=TOOLS, sampling=Sampling(temperature=0.2, max_tokens=100), stream=True),
    "fields": Request(model="m", tools=TOOLS, extra=WireFields("openai_chat", {"user": "u", "n": 1})),
    "effort": Request(model="m", tools=TOOLS, sampling=Sampling(effort="high")),
}


def _pattern(profile: Profile) -> str:
    return profile.match if isinstance(profile.match, str) else profile.match[0]


ROWS: Mapping[str, Provider] = {**{f"any {name}": row for name, row in COMPATIBLE.items()}, **PROVIDERS}
MODELS = ("m", *dict.fromkeys(_pattern(profile).replace("*", "x") for profile in FAMILIES))


def asked(options: Request, said: list[Message], model: str) -> Request:
    messages = repair(said).messages
    return Request(
        model=model, messages=messages, tools=options.tools, tool_choice=options.tool_choice, parallel=options.parallel,
        sampling=options.sampling, stream=options.stream, extra=options.extra,
    )  # fmt: skip


def check(route: Route, options: Request, model: str, first: list[Message], then: list[Message]) -> None:
    """One after the other through one memory, the first twice, and each by its own stages."""
    for said in (first, first, then):
        request = asked(options, said, model)
        text = route.tools is Tools.TEXT
        try:
            wanted = planned(request, route, text=text)
        except Exception as error:
            with pytest.raises(type(error)):
                compiled(request, route, text=text)
            continue
        plan = compiled(request, route, text=text)
        assert plan == wanted
        assert _encoded(plan) == _encoded(wanted)


@pytest.mark.parametrize("way", [Tools.NATIVE, Tools.TEXT])
@pytest.mark.parametrize("provider", ROWS.values(), ids=ROWS)
def test_a_compiled_plan_of_every_place_is_the_one_that_its_stages_make(provider: Provider, way: Tools) -> None:
    route = Route(provider=provider, base_url="http://127.0.0.1:1", key="k", tools=way, settings={"region": "eu"})
    for options in OPTIONS.values():
        for said in ("turns", "calls", "an odd id", "late instructions"):
            check(route, options, "m", SAID["a call, and the user"], SAID[said])


@pytest.mark.parametrize("way", [Tools.NATIVE, Tools.TEXT])
@pytest.mark.parametrize("model", MODELS)
def test_a_compiled_plan_of_every_family_is_the_one_that_its_stages_make(model: str, way: Tools) -> None:
    for name in ("any openai_chat", "any gemini"):
        route = Route(provider=ROWS[name], base_url="http://127.0.0.1:1", tools=way)
        for said in ("calls", "thoughts before a call", "a call, and the user", "late instructions"):
            check(route, OPTIONS["tools"], model, SAID["turns"], SAID[said])


@pytest.mark.parametrize("way", [Tools.NATIVE, Tools.TEXT])
def test_what_was_said_first_decides_nothing(way: Tools) -> None:
    for first, then in permutations(SAID.values(), 2):
        route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://127.0.0.1:1", tools=way)
        check(route, OPTIONS["tools"], "m", first, then)


@pytest.mark.parametrize("way", [Tools.NATIVE, Tools.TEXT])
@pytest.mark.parametrize("options", OPTIONS)
def test_what_a_plan_comes_to_is_shared_by_all_plain_conversations(options: str, way: Tools) -> None:
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://127.0.0.1:1", tools=way)
    said = [SAID[name] for name in ("a word", "turns", "instructions")]
    model = f"{options} {way}"  # of which nothing is known yet
    plans = [compiled(asked(OPTIONS[options], one, model), route, text=way is Tools.TEXT) for one in said]
    first, second, third = plans
    assert (second.made is third.made) == (options != "effort")
    assert first.request.messages != second.request.messages


def test_a_conversation_that_grows_gets_the_plan_it_gets_alone() -> None:
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://127.0.0.1:1")
    beginning = grown(None, called("call_1"))
    for more in (
        [],
        [],
        [Message("assistant", "Two."), Message("user", "Go on.")],
        [Message("assistant", [call("call_1")]), Message("tool", [ToolResult(call_id="call_1", name="read")])],
        [Message("assistant", [Reasoning("Hm."), Text("Two.")]), Message("user", "Go on.")],
    ):
        request = Request(model="m", messages=grown(beginning, more), tools=TOOLS)
        alone = Request(model="m", messages=(*beginning, *more), tools=TOOLS)
        plan, wanted = compiled(request, route, text=False), planned(alone, route, text=False)
        assert plan == wanted
        assert _encoded(plan) == _encoded(wanted)
