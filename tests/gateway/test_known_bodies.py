"""What is known of a body and its conversation changes nothing: neither what is asked, nor what is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.conversation.grown import Grown, by_growth, changed, grown
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.fronts import FRONTS, Front
from dragoman.gateway.http.known_bodies import FEWEST, KnownBodies
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.types import Media, Message, Reasoning, Request, Text, Tool, ToolCall, ToolResult
from tests.support.asgi import Client

LIMIT = 10_000_000


def read(body: bytes, known: KnownBodies, history: str = "messages", scope: Any = "a") -> Any:
    match = known.match(body, scope, 250_000)
    return known.read(body, match, json.loads, scope, history)


def turns(count: int, start: int = 0) -> list[dict[str, Any]]:
    """So many messages of an agent, with what is hard on a reader of bytes."""
    made: list[dict[str, Any]] = []
    for n in range(start, start + count // 2):
        arguments = json.dumps({"path": f"é{n}", "text": 'a "messages": [ ] } , {', "n": 10**20 + n})
        call = {"id": f"call_{n}", "type": "function", "function": {"name": "write", "arguments": arguments}}
        made += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{n}", "content": f'{n} \\ "tools": [1], 世界 \u2028 {n * 1.5}'},
        ]
    return made


FIRST = {"role": "user", "content": "Begin: {\"messages\": [{}]}"}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": "d" * 300, "parameters": {"type": "object"}}}
    for name in ("write", "read", "stop")
]


def spellings(body: dict[str, Any]) -> Iterator[bytes]:
    """The same body, as clients spell it."""
    yield json.dumps(body).encode()
    yield json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    yield json.dumps(body, indent=1).encode()
    yield json.dumps(dict(reversed(body.items()))).encode()


def test_a_body_that_goes_on_is_what_parsing_all_of_it_gives() -> None:
    for spelling in range(4):
        known = KnownBodies(LIMIT)
        for count in (2, 8, 10, 12, 30, 31, 40):
            said = {"model": "m", "messages": [FIRST, *turns(count)], "tools": TOOLS, "temperature": count / 3}
            body = list(spellings(said))[spelling]
            assert json.dumps(read(body, known)) == json.dumps(json.loads(body))


def test_what_was_sent_before_is_not_read_again() -> None:
    known, fresh = KnownBodies(LIMIT), []
    for count in range(20, 60, 2):
        body = json.dumps({"tools": TOOLS, "messages": [FIRST, *turns(count)], "model": "m"}).encode()
        fresh.append(known.match(body, "a", 250_000).fresh)
        read(body, known)
    assert max(fresh[1:]) < 4000 < len(body)


def test_known_items_are_the_same_objects_and_know_their_beginning() -> None:
    known = KnownBodies(LIMIT)
    first, second = (
        read(json.dumps({"messages": [FIRST, *turns(count)]}).encode(), known)["messages"] for count in (20, 22)
    )
    assert type(second) is Grown
    assert second.base is not None
    assert all(one is other for one, other in zip(first[:10], second, strict=False))


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages": %b, "messages": [{"role": "user", "content": "other"}]}',  # the last one counts
        b'{"x": {"messages": %b}, "messages": [{"role": "user"}]}',
        b'{"x": "\\"messages\\": [", "messages": %b}',
        b'{"messages": {"messages": %b}}',
        b'[{"messages": %b}]',
        b'{"tools": [], "messages": %b, "tools": [{"name": "a"}]}',
        b'{"messages": %b',
        b'{"messages": %b, }',
    ],
)
def test_odd_bodies_are_read_as_without_memory(body: bytes) -> None:
    known = KnownBodies(LIMIT)
    read(json.dumps({"messages": [FIRST, *turns(20)]}).encode(), known)
    for count in (20, 22, 24):
        asked = body.replace(b"%b", json.dumps([FIRST, *turns(count)]).encode())
        try:
            wanted = json.loads(asked)
        except ValueError:
            with pytest.raises(ValueError):
                read(asked, known)
            continue
        if isinstance(wanted, dict):
            assert json.dumps(read(asked, known)) == json.dumps(wanted)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_edit_of_a_known_body_is_seen(data: st.DataObject) -> None:
    known = KnownBodies(LIMIT)
    body = json.dumps({"model": "m", "messages": [FIRST, *turns(24)], "tools": TOOLS}, ensure_ascii=False).encode()
    read(body, known)
    for _ in range(3):
        at = data.draw(st.integers(0, len(body) - 1))
        more = data.draw(st.sampled_from([b"", b" ", b",", b'"', b"]", b"{", b"1", b"\\", b'"messages":[],', b"null"]))
        edited = body[:at] + more + body[at + data.draw(st.integers(0, 3)) :]
        try:
            wanted = json.loads(edited)
        except ValueError:
            with pytest.raises(ValueError):
                read(edited, known)
            continue
        if isinstance(wanted, dict):
            assert json.dumps(read(edited, known)) == json.dumps(wanted)


def test_nothing_is_known_to_another_key() -> None:
    known = KnownBodies(LIMIT)
    body = json.dumps({"messages": [FIRST, *turns(24)], "tools": TOOLS}).encode()
    read(body, known, scope="a")
    assert known.match(body, "a", 250_000).fresh < len(body)
    assert known.match(body, "b", 250_000).fresh == len(body)


def test_memory_stays_below_its_limit_and_forgets_the_oldest() -> None:
    known = KnownBodies(400_000)
    bodies = [json.dumps({"messages": [FIRST, {"n": n}, *turns(24)], "tools": TOOLS}).encode() for n in range(12)]
    for body in bodies:
        read(body, known)
    assert known._size <= 400_000
    assert known.match(bodies[-1], "a", 250_000).said is not None
    assert known.match(bodies[0], "a", 250_000).said is None


def test_the_limit_on_values_holds_for_what_is_known_too() -> None:
    known = KnownBodies(LIMIT)
    body = json.dumps({"messages": [FIRST, *turns(24)]}).encode()
    read(body, known)
    assert known.match(body, "a", 10).said is None


# ── what stages make of it ───────────────────────────────────────────────────


@settings(deadline=None)
@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_a_stage_by_growth_gives_the_same(first: list[int], more: list[int], last: list[int]) -> None:
    @by_growth
    def doubled(items: Sequence[int], start: int, known: Sequence[int] | None, only: int) -> tuple[int, ...] | None:
        return changed(items, start, known, [2 * item if item == only else item for item in items[start:]])

    base = grown(grown(None, first), more)
    whole = grown(base, last)
    for only in (1, 2, 1):
        plain = doubled((*whole,), only)
        assert doubled(whole, only) == plain
        assert plain is not None or only not in whole


# ── through the gateway ──────────────────────────────────────────────────────

OFFERED = (Tool(name="read", description="Reads. " * 60, parameters={"type": "object", "properties": {"path": {}}}),)
ANSWERS = {
    "openai_chat": b'{"choices":[{"message":{"role":"assistant","content":"Well done."},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":90000,"completion_tokens":3}}',
    "openai_responses": b'{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text",'
    b'"text":"Well done."}]}],"status":"completed","usage":{"input_tokens":90000,"output_tokens":3}}',
    "anthropic_messages": b'{"type":"message","role":"assistant","content":[{"type":"text","text":"Well done."}],'
    b'"stop_reason":"end_turn","usage":{"input_tokens":90000,"output_tokens":3}}',
    "gemini": b'{"candidates":[{"content":{"role":"model","parts":[{"text":"Well done."}]},"finishReason":"STOP"}],'
    b'"usageMetadata":{"promptTokenCount":90000,"candidatesTokenCount":3}}',
    "ollama_chat": b'{"message":{"role":"assistant","content":"Well done."},"done":true,"done_reason":"stop",'
    b'"prompt_eval_count":90000,"eval_count":3}',
}
IMAGE = Media(mime="image/png", data="iVBORw0KGgo=")


def conversation(luck: Random, count: int) -> list[Message]:
    """An agent's messages, some of them odd; a longer one begins as a shorter one of the same seed does."""
    made = [Message("system", "Be brief. ümlaut"), Message("user", "Begin.")]
    for n in range(count):
        kind = luck.choice(["call", "call", "call", "two", "words", "image", "thought", "late", "lost", "again", "cache"])
        calls = [ToolCall(id=f"call_{n}", name="read", arguments={"path": f"/ö/{n}"}, raw=f'{{ "path": "/ö/{n}"}}')]
        if kind == "two":
            calls.append(ToolCall(id=f"other_{n}", name="read", arguments={"path": "<tool_call>"}))
        if kind == "again":
            calls = [ToolCall(id="call_0", name="read.file", arguments={})]
        if kind == "words":
            made += [Message("assistant", f"Words {n}."), Message("user", "Go on ~~~tool_call")]
            continue
        if kind == "late":
            made += [Message("assistant", "So."), Message("system", f"Now mind {n}."), Message("user", "Yes.")]
            continue
        thought = [Reasoning(f"Thinking {n}.")] if kind == "thought" else []
        made.append(Message("assistant", [*thought, *([Text("I look.")] if n % 3 else []), *calls]))
        results = [
            ToolResult(call_id=call.id, name=call.name, content=f'{n}: "done" \u2028', is_error=n % 5 == 0)
            for call in calls[: 0 if kind == "lost" else None]
        ]
        made += [Message("tool", results, cache=kind == "cache")] if results else []
        made += [Message("user", [Text("See:"), IMAGE])] if kind == "image" else []
    return made


async def ask(app: Any, front: Front, body: bytes, path: str) -> tuple[int, Any]:
    reply = await Client(app, path, body).run()
    return reply.status, reply.json


def said_by(front: Front, provider: str, bodies: Sequence[bytes], known: int, *, text: bool) -> list[Any]:
    """What was asked of the backend and answered to the client."""
    answer = Answer((ANSWERS[provider],), headers={"content-type": "application/json"})
    peer = ScriptedPeer(lambda _: answer)
    route = Route(
        provider=COMPATIBLE[provider], base_url="http://u/v1", model="m", tools=Tools.TEXT if text else None
    )
    app = create_app(GatewayConfig(default=route, known_bytes=known), peer)
    path = front.shown.replace("{model}", "m")

    async def all_of_them() -> list[Any]:
        return [await ask(app, front, body, path) for body in bodies]

    replies = asyncio.run(all_of_them())
    return [*replies, *((one.url, json.loads(one.body), {**one.headers}) for one in peer.sent)]


BACKENDS = [*((name, False) for name in COMPATIBLE), ("openai_chat", True), ("ollama_chat", True)]


@pytest.mark.parametrize("front", [front for front in FRONTS if front.history in ("messages", "input", "contents")],
                         ids=lambda front: front.codec.name)  # fmt: skip
@pytest.mark.parametrize(("provider", "text"), BACKENDS, ids=str)
@pytest.mark.costly
def test_what_is_known_changes_nothing(front: Front, provider: str, text: bool) -> None:
    if front.codec.name == "ollama_generate":
        pytest.skip("it has no conversation")
    for seed in (1, 2, 3):
        bodies: list[bytes] = []
        for count in (5, 6, 8, 9, 9, 14, 10, 30, 31, 33):
            messages = conversation(Random(seed), count)
            request = Request(model="m", messages=tuple(messages), tools=OFFERED)
            bodies.append(json.dumps(front.codec.encode_request(request), default=dict).encode())
            if count == 14:
                edited = [*messages[:9], replace(messages[9], parts=(Text("edited"),)), *messages[10:]]
                request = replace(request, messages=tuple(edited))
                bodies.append(json.dumps(front.codec.encode_request(request), default=dict).encode())
        with_it, without = (said_by(front, provider, bodies, known, text=text) for known in (LIMIT, 0))
        for one, other in zip(with_it, without, strict=True):
            assert one == other
    assert len(bodies) > FEWEST


def test_references_behind_a_known_beginning_are_resolved() -> None:
    front = next(front for front in FRONTS if front.refers)
    bodies: list[bytes] = []
    for count in (20, 22, 24):
        messages = tuple(conversation(Random(4), count))
        body = front.codec.encode_request(Request(model="m", messages=messages, tools=OFFERED))
        if bodies:
            body["input"].append({"type": "item_reference", "id": "msg_nobody_knows"})
        bodies.append(json.dumps(body, default=dict).encode())
    with_it, without = (said_by(front, "openai_chat", bodies, known, text=False) for known in (LIMIT, 0))
    assert with_it == without
    assert "msg_nobody_knows" in json.dumps(with_it[1][1])
