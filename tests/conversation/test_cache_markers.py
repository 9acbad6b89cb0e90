"""Cache markers stand where the next request finds the same text before them; four at most, on every wire that has them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.codecs import CODECS
from dragoman.codecs.shared.spec import Quirks
from dragoman.conversation.cache_markers import MOST_MARKERS, CacheMode, CachePlan, in_order, plan, planned
from dragoman.types import Message, Request, Role, Tool

TOOLS = (Tool(name="b"), Tool(name="a"))
SYSTEM, USER, SAID = Message("system", "s"), Message("user", "u"), Message("assistant", "a")


def asks(message: Message) -> Message:
    return Message(message.role, message.parts, cache=True)


def request(*messages: Message, tools: tuple[Tool, ...] = TOOLS) -> Request:
    return Request(model="m", messages=messages, tools=tools)


LONG = (SYSTEM, USER, SAID, USER, SAID, USER)
PLANS: list[tuple[str, Request, CacheMode, CachePlan]] = [
    ("nothing is asked", request(*LONG), "asked", CachePlan()),
    ("what is asked", request(asks(SYSTEM), USER, SAID, asks(USER)), "asked", CachePlan(False, (0, 3))),
    ("the earliest are dropped", request(*map(asks, LONG)), "asked", CachePlan(False, (2, 3, 4, 5))),
    ("never", request(*map(asks, LONG)), "never", CachePlan()),
    ("tools, instructions and two ends", request(*LONG), "always", CachePlan(True, (0, 3, 5))),
    ("no tools, no instructions", request(USER, tools=()), "always", CachePlan(False, (0,))),
    ("what is asked goes before the ends", request(SYSTEM, USER, asks(SAID), USER), "always", CachePlan(True, (0, 2, 3))),
    ("the latest of what is asked", request(*map(asks, LONG)), "always", CachePlan(True, (0, 4, 5))),
]  # fmt: skip


@pytest.mark.parametrize(("given_", "mode", "wanted"), [p[1:] for p in PLANS], ids=[p[0] for p in PLANS])
def test_markers_go_where_they_pay(given_: Request, mode: CacheMode, wanted: CachePlan) -> None:
    assert plan(given_, mode) == wanted


def test_the_last_marker_is_there_in_the_next_request() -> None:
    first, then = request(SYSTEM, USER), request(SYSTEM, USER, SAID, USER)
    assert set(plan(first, "always").messages) <= set(plan(then, "always").messages)


def test_tools_are_told_by_name() -> None:
    assert [tool.name for tool in in_order(TOOLS)] == ["a", "b"]
    assert in_order(TOOLS) == in_order(tuple(reversed(TOOLS)))


ROLES = st.sampled_from(["system", "user", "assistant", "tool"])
messages = st.lists(st.builds(lambda role, cache: Message(role, "x", cache=cache), ROLES, st.booleans()), max_size=8)
modes = st.sampled_from(["asked", "always", "never"])


@given(messages, st.booleans(), modes)
def test_four_markers_at_most_and_planning_is_idempotent(given_: list[Message], tools: bool, mode: CacheMode) -> None:
    conversation = request(*given_, tools=TOOLS if tools else ())
    markers = plan(conversation, mode)
    assert len(markers.messages) + markers.tools <= MOST_MARKERS
    once = planned(conversation, mode)
    assert planned(once, mode) == once
    assert plan(once, mode) == markers


def _markers(body: Any) -> int:
    written = json.dumps(body)
    return written.count('"cache_control"') + written.count('"cachePoint"')


CACHING = ("anthropic_messages", "bedrock_converse", "bedrock_invoke")


@pytest.mark.parametrize("api", CACHING)
@given(messages, st.booleans(), modes)
def test_no_wire_gets_more_than_four_of_a_planned_request(
    api: str, given_: list[Message], tools: bool, mode: CacheMode
) -> None:
    first: list[Role] = ["system"]
    head = [m for m in given_ if m.role in first]
    conversation = request(*head, *(m for m in given_ if m.role in ("user", "assistant")), tools=TOOLS if tools else ())
    assert _markers(CODECS[api].encode_request(planned(conversation, mode), Quirks(cache=mode))) <= MOST_MARKERS


@pytest.mark.parametrize("api", CACHING)
@pytest.mark.requirement("003-cache-control")
def test_tools_instructions_and_history_are_marked(api: str) -> None:
    body = CODECS[api].encode_request(planned(request(*LONG), "always"), Quirks(cache="always"))
    assert _markers(body) == 4
    assert _markers(body["system"]) == 1
    assert _markers(body["messages"]) == 2
    assert _markers(body["messages"][-1]) == 1


@pytest.mark.parametrize("api", CACHING)
def test_the_text_of_a_growing_conversation_keeps_its_beginning(api: str) -> None:
    """Markers move; the text before them must not."""

    def written(*messages: Message) -> list[Any]:
        body = CODECS[api].encode_request(planned(request(*messages), "never"), Quirks(cache="never"))
        return [json.dumps(body.get("system")), *map(json.dumps, body["messages"])]

    short, long = written(*LONG[:4]), written(*LONG)
    assert long[: len(short)] == short
