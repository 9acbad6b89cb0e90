"""A whole answer that goes out as it came is what would be made of it, event by event, in every way of asking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dragoman.codecs.shared.spec import Ids, WireFields
from dragoman.events import assemble, replay
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.turn.answer import AnswerStream
from dragoman.turn.compiled import compiled
from dragoman.turn.plan import Plan
from dragoman.turn.response_reader import Replayed
from dragoman.types import (
    Issue,
    IssueKind,
    Message,
    Part,
    Reasoning,
    Request,
    Response,
    Stop,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    Usage,
)
from tests.support.drawn_texts import drawn

TOOLS = [Tool(name="read_file"), Tool(name="bash"), Tool(name="web.search")]
NOTICED = (Issue(kind=IssueKind.UNSUPPORTED, message="no seed"),)
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "native": ({}, {}),
    "in text": ({"tools": Tools.TEXT}, {}),
    "in another dialect": ({"tools": Tools.TEXT, "prompt_dialect": "hermes"}, {}),
    "in a protocol": ({"tools": Tools.TEXT, "prompt_dialect": "json_protocol"}, {}),
    "with a nonce": ({"tools": Tools.TEXT, "nonce": True}, {}),
    "strictly": ({"strict": True}, {}),
    "without doubt": ({"doubt": "text"}, {}),
    "behind a prefix": ({"prefix": "<think>\n"}, {}),
    "without tools": ({}, {"tools": []}),
    "nothing to be called": ({"tools": Tools.TEXT}, {"tool_choice": ToolChoice("none")}),
    "streamed": ({}, {"stream": True}),
    "several": ({}, {"extra": WireFields("openai_chat", {"n": 2})}),
}


def plan_of(way: str) -> Plan:
    of_route, of_request = WAYS[way]
    route = Route(provider=COMPATIBLE["openai_chat"], base_url="http://127.0.0.1:1/v1", **of_route)
    asked = Request(**{"model": "m", "messages": [Message("user", "Hello")], "tools": TOOLS, **of_request})
    text = route.mode is Tools.TEXT
    return compiled(asked, route, text=text, nonce="abcd1234" if route.nonce else "")


def mint(letter: str) -> Ids:
    return lambda index: f"call_{letter}{index}"


def both(plan: Plan, response: Response) -> tuple[tuple[Response, Response], tuple[Response, Response]]:
    """What goes out and what it is said to be, of the answer as a whole, and of its events."""
    made = []
    for events in (Replayed(response), list(replay(response))):
        answer = AnswerStream(NOTICED, plan, mint)
        out, error = answer.take_all(events)
        assert error is None
        made.append((assemble(out), answer.response()))
    return made[0], made[1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.costly
def test_whole_answer_is_what_its_events_come_to(way: str) -> None:
    plan = plan_of(way)
    for seed in range(1500):
        stop = (Stop.END, Stop.END, Stop.END, Stop.LENGTH, Stop.TOOL_CALLS, Stop.STOP_SEQUENCE, None)[seed % 7]
        response = Response(
            message=Message("assistant", [Text(drawn(seed))]), stop=stop, usage=Usage(input=3, output=2), model="m",
            id="x", extra={"service_tier": "default"},
        )  # fmt: skip
        whole, folded = both(plan, response)
        assert whole == folded, response.text
        assert whole[0] == whole[1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.costly
def test_calls_beside_a_text_are_what_their_events_come_to(way: str) -> None:
    plan = plan_of(way)
    for seed in range(600):
        names = ("read_file", "bash", "unheard_of", "readfile")
        calls = [ToolCall(id=f"c{n}", name=names[(seed + n) % 4], arguments={"path": "a"}) for n in range(seed % 3)]
        texts: list[Part] = [Text(drawn(seed))] if seed % 5 else []
        thoughts: list[Part] = [Reasoning("I think [so].")] if seed % 4 == 0 else []
        stop = (Stop.TOOL_CALLS, Stop.END, Stop.LENGTH, Stop.FILTERED, None)[seed % 5]
        message = Message("assistant", [*thoughts, *texts, *calls])
        whole, folded = both(plan, Response(message=message, stop=stop, usage=Usage(input=3, output=2)))
        assert whole == folded, message


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [Text("")],
        [Text("\u2060 joined \u2060\u2060 twice")],
        [Reasoning("I think."), Text("It can stay.")],
        [Text("It can stay.", metadata={"citations": [1]})],
        [Text("It can stay."), Text("It may go.")],
        [ToolCall(id="a", name="bash", arguments={})],
        [Text("It can stay."), ToolCall(id="a", name="bash", arguments={}), Text("It may go.")],
        [ToolCall(id="a", name="bash", arguments={}), Text("It may go.")],
        [Text("I will look."), ToolCall(id="a", name="bash", arguments={}), ToolCall(id="a", name="bash", arguments={})],
    ],
    ids=str,
)
@pytest.mark.parametrize("way", WAYS)
def test_other_answers_are_what_their_events_come_to(way: str, parts: list[Part]) -> None:
    response = Response(message=Message("assistant", parts), stop=Stop.END, usage=Usage(input=3, output=2))
    whole, folded = both(plan_of(way), response)
    assert whole == folded
    noticed = Issue(kind=IssueKind.WIRE_FAULT, message="odd")
    whole, folded = both(plan_of(way), replace(response, issues=(noticed,)))
    assert whole == folded


def test_plain_answer_makes_no_parser() -> None:
    response = Response(message=Message("assistant", "It can stay as it is."), stop=Stop.END)
    answer = AnswerStream((), plan_of("native"), mint)
    answer.take_all(Replayed(response))
    assert answer.response() is response
