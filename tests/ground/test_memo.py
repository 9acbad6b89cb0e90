"""Results remembered by their arguments, values by their keys: made once, and no different from those made anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.spec import PLAIN
from dragoman.codecs.shared.tools import read_once
from dragoman.conversation.cache_markers import CacheMode
from dragoman.effects import Open, Opened, Read, run
from dragoman.memo import (
    CONSTANTS,
    JSON_MESSAGES,
    LARGE,
    LARGE_SETS,
    LARGEST,
    MESSAGES,
    OBJECTS,
    SMALL,
    TOOLS,
    FrozenTools,
    if_small,
    memoize,
    per_object,
)
from dragoman.memo import frozen as freeze
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.schema.definitions import tools as read_definitions
from dragoman.turn.machine import turn
from dragoman.types import EMPTY_OBJECT_SCHEMA, Message, Request, Tool

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
PAIR = (
    Tool(name="write", description="Writes.", parameters=SCHEMA),
    Tool(name="read", description="Reads.", parameters=SCHEMA),
)
ASKED = Request(model="m", messages=(Message("user", "hi"),), tools=PAIR)
CARRYING = [name for name, codec in CODECS.items() if codec.decode_request(codec.encode_request(ASKED)).tools]


def reading(log: list[Any]) -> Any:
    @read_once("tools")
    def read(body: Mapping[str, Any]) -> tuple[tuple[Tool, ...], list[Any] | None]:
        log.append(body)
        return tuple(Tool(name=one["name"], parameters=one.get("parameters", {})) for one in body["tools"]), None

    return read


@pytest.mark.parametrize("name", CARRYING)
def test_equal_tools_of_two_bodies_are_one_object(name: str) -> None:
    codec = CODECS[name]
    first, second = (codec.decode_request(json.loads(json.dumps(codec.encode_request(ASKED)))) for _ in range(2))
    assert first.tools is second.tools
    assert [tool.name for tool in first.tools] == ["write", "read"]


@pytest.mark.parametrize("name", CARRYING)
def test_changing_a_writtendoes_not_reach_the_tools(name: str) -> None:
    codec = CODECS[name]
    body = json.loads(json.dumps(codec.encode_request(replace(ASKED, messages=(Message("user", name),)))))
    before = codec.decode_request(deepcopy(body)).tools
    codec.decode_request(body)
    body.clear()
    again = codec.decode_request(json.loads(json.dumps(codec.encode_request(ASKED))))
    assert again.tools == before
    assert {tool.name: dict(tool.parameters) for tool in again.tools} == {tool.name: SCHEMA for tool in PAIR}


def test_content_that_differs_in_kind_alone_is_read_apart() -> None:
    log: list[Any] = []
    read = reading(log)
    values: list[Any] = [1, 1.0, True, "1"]
    for value in values:
        tools, _ = read({"tools": [{"name": "a", "parameters": {"const": value}}], "model": "m"})
        assert type(tools[0].parameters["const"]) is type(value)
    assert len(log) == len(values)


def test_other_fields_do_not_count() -> None:
    log: list[Any] = []
    read = reading(log)
    assert read({"tools": [{"name": "a"}], "model": "m"})[0] is read({"tools": [{"name": "a"}], "stream": True})[0]
    assert log == [{"tools": [{"name": "a"}]}]


def test_tools_of_one_name_are_not_frozen() -> None:
    tools, _ = reading([])({"tools": [{"name": "a"}, {"name": "a"}]})
    assert type(tools) is tuple


@pytest.mark.parametrize("odd", [{"x": object}, {"x": "y" * LARGEST}])
def test_odd_or_very_large_tools_are_read_each_time(odd: dict[str, Any]) -> None:
    log: list[Any] = []
    read = reading(log)
    for _ in range(2):
        read({"tools": [{"name": "a", "parameters": odd}]})
    assert len(log) == 2


def test_a_fault_is_raised_each_time() -> None:
    for _ in range(2):
        with pytest.raises(KeyError):
            reading([])({"tools": [{"nameless": True}]})


def test_identity_counts_for_frozen_tools_only() -> None:
    made: list[Any] = []

    @memoize(TOOLS)
    def make(tools: Any, other: str) -> int:
        made.append((tools, other))
        return len(made)

    frozen, other = FrozenTools(PAIR), "other"
    assert (make(frozen, other), make(frozen, other), make(FrozenTools(PAIR), other)) == (1, 1, 2)
    assert (make(PAIR, other), make(PAIR, other)) == (3, 4)


def test_constants_differ_by_identity() -> None:
    @memoize(CONSTANTS)
    def make(one: list[int], two: list[int]) -> int:
        return len(one) + len(two)

    one, two = [1], [1, 2]
    assert (make(one, two), make(one, one), make(two, one)) == (3, 2, 3)


def test_frozen_tools_are_definitions_already() -> None:
    frozen = FrozenTools(PAIR)
    assert read_definitions(frozen) is frozen


def sent(request: Request, provider: str) -> dict[str, Any]:
    """The body that asks `request`."""
    bodies: list[bytes] = []

    def perform(effect: Any) -> Any:
        match effect:
            case Open():
                bodies.append(effect.body)
                return Opened(400, {})
            case Read():
                return b""
        return "x" * 24

    with pytest.raises(Exception, match="400"):
        run(turn(request, Route(provider=COMPATIBLE[provider], base_url="http://x/v1")), perform)
    body: dict[str, Any] = json.loads(bodies[0])
    return body


@pytest.mark.parametrize("name", sorted(set(COMPATIBLE) & set(CARRYING)))
def test_frozen_tools_are_sent_as_others_are(name: str) -> None:
    frozen = replace(ASKED, tools=FrozenTools(PAIR))
    assert sent(frozen, name) == sent(frozen, name) == sent(ASKED, name)
    assert "write" in json.dumps(sent(frozen, name))


def test_markers_on_the_tools_of_a_request_do_not_stay() -> None:
    claude = CODECS["anthropic_messages"]
    server = {"type": "web_search_20250305", "name": "web_search"}
    request_body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    for tools in ([server], [{"name": "f", "input_schema": SCHEMA}], [{"name": "f", "input_schema": SCHEMA}, server]):
        body = {**request_body, "tools": tools}
        modes: list[tuple[CacheMode, int]] = [("asked", 0), ("always", 1), ("asked", 0), ("never", 0), ("always", 1)]
        for mode, marks in modes:
            request = claude.decode_request(deepcopy(body))
            written = claude.encode_request(request, replace(PLAIN, cache=mode))
            assert json.dumps(written["tools"]).count("cache_control") == marks


def test_few_large_sets_are_remembered() -> None:
    log: list[Any] = []
    read = reading(log)
    sets = [{"tools": [{"name": f"{n}", "parameters": {"x": "y" * LARGE}}]} for n in range(LARGE_SETS + 1)]
    for fields in (sets[0], sets[0], sets[1], sets[0]):
        read(fields)
    assert len(log) == 2
    for fields in (*sets, sets[0]):
        read(fields)
    assert len(log) == 4  # the last one, and the first again, which had to go for it


# ── messages ─────────────────────────────────────────────────────────────────


def counting(body: Any, *words: Any, log: list[Any]) -> int:
    """How often something was read."""
    log.append((body, words))
    return len(log)


def test_equal_messages_are_read_once_and_kinds_apart() -> None:
    reading = memoize(JSON_MESSAGES)(partial(counting, log=[]))
    assert reading({"content": "a", "n": 1}, True) == reading({"content": "a", "n": 1}, True) == 1
    others = [({"content": "a", "n": 1.0}, True), ({"content": "a", "n": True}, True), ({"content": "a", "n": 1}, "x")]
    assert [reading(*other) for other in others] == [2, 3, 4]


def test_long_and_odd_messages_are_read_each_time() -> None:
    reading = memoize(JSON_MESSAGES)(partial(counting, log=[]))
    for odd in ({"content": "a" * SMALL}, {"content": object}):
        assert reading(odd) < reading(odd)


def test_changing_a_message_does_not_reach_what_was_read() -> None:
    reading: Any = memoize(JSON_MESSAGES)(lambda body: body)
    mine = {"content": ["a"]}
    first = reading(mine)
    mine["content"].append("b")
    assert (first, reading({"content": ["a"]})) == ({"content": ["a"]}, {"content": ["a"]})


def test_a_message_is_rendered_once_unless_it_is_long() -> None:
    made: list[Message] = []

    @memoize(MESSAGES, if_small(len))
    def make(message: Message, other: int) -> str:
        made.append(message)
        return message.text * other

    short, long = Message("user", "a"), Message("user", "a" * (SMALL + 1))
    assert [make(short, 2), make(short, 2), make(short, 3), make(Message("user", "a"), 2)] == ["aa", "aa", "aaa", "aa"]
    assert len(made) == 3
    assert [len(make(long, 1)), len(make(long, 1)), len(made)] == [SMALL + 1, SMALL + 1, 5]


def test_an_object_is_remembered_by_its_identity() -> None:
    made: list[list[int]] = []

    @per_object
    def make(thing: list[int]) -> int:
        made.append(thing)
        return len(made)

    one = [1]
    assert (make(one), make([1]), make(one)) == (1, 2, 1)
    objects = [[n] for n in range(OBJECTS)]
    assert [make(thing) for thing in objects][-1] == make(objects[-1]) == len(made)


def given(schema: Mapping[str, Any]) -> tuple[Tool, ...]:
    return (Tool(name="a", description="do", parameters=schema),)


def test_given_tools_are_known_by_what_they_say() -> None:
    schema = {"type": "object", "properties": {"x": {"default": None, "enum": [1, None]}}}
    first = freeze(given(schema))
    assert freeze(given(deepcopy(schema))) is first
    assert first == given(schema)
    schema["properties"] = {}
    assert first != given(schema)


@pytest.mark.parametrize("values", [(1, 1.0, True, "1"), ({}, EMPTY_OBJECT_SCHEMA), (2**70, 2**70 + 1)])
def test_given_tools_that_differ_are_apart(values: tuple[Any, ...]) -> None:
    made = [freeze(given({"const": value} if not isinstance(value, Mapping) else value)) for value in values]
    assert len({id(one) for one in made}) == len(values)
    assert [one[0].parameters for one in made] == [
        {"const": value} if not isinstance(value, Mapping) else value for value in values
    ]


@pytest.mark.parametrize("odd", [float("nan"), 2**70, object()])
def test_schemas_that_json_does_not_say_stay_as_they_are(odd: Any) -> None:
    tools = given({"const": odd})
    assert freeze(tools) is tools
