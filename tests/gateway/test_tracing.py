"""Spans: one for the exchange, one for each asking, by the conventions' names, and nothing that was said."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.telemetry.evaluations import evaluations
from dragoman.gateway.telemetry.trace_context import trace_headers
from dragoman.gateway.telemetry.tracing import CAPTURE, configured
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, Tools
from dragoman.types import Request, Response, Stop, Tool, ToolChoice
from tests.support.asgi import Client
from tests.support.gateways import DOWN, FENCE, PIECE, Slow, ask, asking, bearer, every_front, row
from tests.support.spans import TracingRecorder, attributes
from tests.support.upstreams import ScriptedReply, model, text_reply

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def traced(memory: Any, recorder: TracingRecorder, **route: Any) -> Any:
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test:8000", **route)
    return create_app(GatewayConfig(default=to), memory, observers=[recorder.tracing])


@every_front
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_an_exchange_is_a_span_and_its_asking_one_below(front: str, stream: bool) -> None:
    recorder = TracingRecorder()
    ask(traced(model("openai_chat", text_reply("It is blue.")), recorder), front, stream=stream)
    exchange, asking = recorder.spans
    assert (exchange.name, exchange.kind) == (f"exchange {front}", SpanKind.SERVER)
    assert (asking.name, asking.kind) == ("chat m", SpanKind.CLIENT)
    assert asking.parent is not None
    assert asking.parent.span_id == exchange.context.span_id
    known = attributes(asking)
    assert {key: known[key] for key in known if key.startswith(("gen_ai", "server"))} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "compatible",
        "gen_ai.request.model": "m",
        "gen_ai.request.stream": stream,
        "server.address": "model.test",
        "server.port": 8000,
        **({"gen_ai.request.max_tokens": 100} if front == "anthropic_messages" else {}),
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.response.id": "u1",
        "gen_ai.response.model": "up",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 5,
    }
    assert attributes(exchange)["http.response.status_code"] == 200
    assert attributes(exchange)["dragoman.route"] == "compatible/m"


def test_the_trace_of_a_client_continues_at_the_provider() -> None:
    recorder, memory = TracingRecorder(), model("openai_chat", text_reply("hi"))
    headers = {"traceparent": PARENT, "tracestate": "vendor=1"}
    ask(traced(memory, recorder), "openai_chat", stream=False, headers=headers)
    exchange, asking = recorder.spans
    assert exchange.parent is not None
    assert f"{exchange.context.trace_id:032x}-{exchange.parent.span_id:016x}" in PARENT
    (sent,) = memory.sent
    assert sent.headers["traceparent"] == f"00-{asking.context.trace_id:032x}-{asking.context.span_id:016x}-01"
    assert sent.headers["tracestate"] == "vendor=1"


def test_without_tracing_a_trace_is_passed_on_unchanged() -> None:
    memory = model("openai_chat", text_reply("hi"))
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test", key="sk-0123456789")
    gateway = create_app(GatewayConfig(default=to), memory)
    ask(gateway, "openai_chat", stream=False, headers={"traceparent": PARENT, "tracestate": "vendor=1"})
    (sent,) = memory.sent
    assert (sent.headers["traceparent"], sent.headers["tracestate"]) == (PARENT, "vendor=1")
    assert sent.headers["authorization"] == "Bearer sk-0123456789"


@pytest.mark.parametrize("parent", ["", "x", PARENT.upper(), PARENT + "\r\nx-evil: 1", PARENT[:-1], "٠" * 55])
def test_what_is_no_trace_is_not_passed_on(parent: str) -> None:
    assert trace_headers({"traceparent": parent, "tracestate": "vendor=1"}) == {}


def test_each_reask_is_a_span_with_its_verdicts() -> None:
    broken = FENCE.replace('"look"', '"lok_at_it"')
    slanted = FENCE.replace('"sky"}}', '"sky",}}')
    recorder, memory = TracingRecorder(), model("openai_chat", text_reply(broken), text_reply(slanted))
    ask(traced(memory, recorder, tools=Tools.TEXT), "openai_chat", stream=False)
    exchange, first, again = recorder.spans
    assert [attributes(span)["dragoman.reask"] for span in (first, again)] == [0, 1]
    assert attributes(first)["dragoman.issues"] == ("unknown_tool",)
    judged = attributes(again)
    assert judged["dragoman.call.dialects"] == ("tool_call_fence",)
    assert judged["dragoman.call.verdicts"] == ("mended",)
    assert judged["dragoman.edits"] == ("trailing_comma",)
    assert attributes(exchange)["dragoman.reasks"] == 1
    parents = [sent.headers["traceparent"].split("-")[2] for sent in memory.sent]
    assert parents == [f"{span.context.span_id:016x}" for span in (first, again)]


def test_a_failure_is_told_by_its_kind_alone() -> None:
    recorder = TracingRecorder()
    ask(traced(model("openai_chat", DOWN, DOWN, DOWN), recorder), "openai_chat", stream=False)
    for span in recorder.spans:
        assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "network")
        assert attributes(span)["error.type"] == "network"
        assert not span.events


def test_a_client_that_hangs_up_leaves_no_span_open() -> None:
    recorder = TracingRecorder()

    async def go() -> None:
        slow = Slow()
        client = Client(traced(slow, recorder), *asking("openai_chat", stream=True))
        running = asyncio.ensure_future(client.run())
        slow.pieces.put_nowait(PIECE)
        await client.until(b"Hello")
        client.hang_up()
        await running

    asyncio.run(go())
    assert [attributes(span).get("http.response.status_code") for span in recorder.spans] == [499, None]
    assert recorder.tracing._spans == {}


SAID = ("What is up?", "I look.", "sky", "Look.")


def test_nothing_that_was_said_is_in_a_span() -> None:
    recorder = TracingRecorder()
    scripted = ScriptedReply(("I look.",), (("a1", "look", {"at": "sky"}),))
    ask(traced(model("openai_chat", scripted), recorder), "openai_chat", stream=False)
    shown = " ".join(span.to_json() for span in recorder.spans)
    assert [word for word in SAID if word in shown] == []


@pytest.mark.parametrize("value", ["true", "SPAN_ONLY", "span_and_event"])
def test_unless_the_environment_asks_for_it(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CAPTURE, value)
    recorder = TracingRecorder()
    scripted = ScriptedReply(("I look.",), (("a1", "look", {"at": "sky"}),))
    ask(traced(model("openai_chat", scripted), recorder), "openai_chat", stream=False)
    known = attributes(recorder.spans[1])
    assert json.loads(known["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "What is up?"}]}
    ]
    (answer,) = json.loads(known["gen_ai.output.messages"])
    text, call = answer["parts"]
    assert text == {"type": "text", "content": "I look."}
    assert (call["type"], call["name"], call["arguments"]) == ("tool_call", "look", {"at": "sky"})
    assert answer["finish_reason"] == "tool_call"
    assert json.loads(known["gen_ai.tool.definitions"])[0]["name"] == "look"
    first = attributes(recorder.spans[0])  # what shows a trace by its first span has it there
    assert {name: first[name] for name in ("gen_ai.input.messages", "gen_ai.output.messages")} == {
        name: known[name] for name in ("gen_ai.input.messages", "gen_ai.output.messages")
    }


@pytest.mark.parametrize("value", ["", "false", "no_content", "event_only"])
def test_and_only_then(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CAPTURE, value)
    recorder = TracingRecorder()
    ask(traced(model("openai_chat", text_reply("hi")), recorder), "openai_chat", stream=False)
    assert "gen_ai.input.messages" not in attributes(recorder.spans[1])


def test_time_and_tokens_are_measured_by_the_conventions_names() -> None:
    recorder = TracingRecorder()
    ask(traced(model("openai_chat", text_reply("hi")), recorder), "openai_chat", stream=False)
    points = recorder.points
    (took,) = points["gen_ai.client.operation.duration"]
    assert took.count == 1
    used = {point.attributes["gen_ai.token.type"]: point.sum for point in points["gen_ai.client.token.usage"]}
    assert used == {"input": 7, "output": 5}


def test_tokens_are_counted_in_the_conventions_buckets() -> None:
    recorder = TracingRecorder()
    ask(traced(model("openai_chat", text_reply("hi")), recorder), "openai_chat", stream=False)
    assert recorder.points["gen_ai.client.token.usage"][0].explicit_bounds[:4] == (1, 4, 16, 64)


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_chunks_are_timed_where_the_answer_is_streamed(stream: bool) -> None:
    recorder = TracingRecorder()
    ask(traced(model("openai_chat", text_reply("It is blue.")), recorder), "openai_chat", stream=stream)
    points = recorder.points
    found = {name: points[f"gen_ai.client.operation.{name}"][0] for name in (
        "time_to_first_chunk", "time_per_output_chunk") if f"gen_ai.client.operation.{name}" in points}  # fmt: skip
    assert bool(found) is stream
    if stream:
        assert found["time_to_first_chunk"].count == 1
        assert found["time_per_output_chunk"].count >= 3
        assert found["time_to_first_chunk"].attributes["gen_ai.request.model"] == "m"


# ── whose it is ──────────────────────────────────────────────────────────────


def test_a_named_conversation_is_on_every_span() -> None:
    recorder = TracingRecorder()
    ask(traced(model("openai_chat", text_reply("hi")), recorder), "openai_chat", stream=False,
        headers={"x-session-id": "s-1"})  # fmt: skip
    for span in recorder.spans:
        assert attributes(span)["gen_ai.conversation.id"] == attributes(span)["session.id"] == "s-1"
        assert "user.id" not in attributes(span)


def test_a_nameless_conversation_has_a_session_and_no_conversations_id() -> None:
    recorder, memory = TracingRecorder(), model("openai_chat", text_reply("hi"))
    for stream in (True, False):
        ask(traced(memory, recorder), "openai_chat", stream=stream)
    assert len({attributes(span)["session.id"] for span in recorder.spans}) == 1
    assert not any("gen_ai.conversation.id" in attributes(span) for span in recorder.spans)


def test_the_user_is_the_name_of_the_key() -> None:
    recorder = TracingRecorder()
    to = Route(provider=COMPATIBLE["openai_chat"], base_url="http://model.test")
    config = GatewayConfig(default=to, access=(row(),))
    gateway = create_app(config, model("openai_chat", text_reply("hi")), observers=[recorder.tracing])
    ask(gateway, "openai_chat", stream=False, headers=bearer())
    assert [attributes(span)["user.id"] for span in recorder.spans] == ["alice", "alice"]


# ── verdicts ─────────────────────────────────────────────────────────────────

CUT = FENCE[: FENCE.index("sky") + 2]
QUOTED = f"Write it so:\n\n````\n{FENCE}\n````\n\nThat is all."
JUDGED: list[tuple[str, list[str], list[tuple[str, float]]]] = [
    ("as it should be", [FENCE], [("ran", 1.0)]),
    ("two", [f"{FENCE}\n{FENCE.replace('sky', 'sea')}"], [("ran", 1.0), ("ran", 1.0)]),
    ("mended", [FENCE.replace('"sky"}}', '"sky",}}')], [("mended", 0.5)]),
    ("refused, then good", [FENCE.replace('"look"', '"lok_at_it"'), FENCE], [("refused", 0.0), ("ran", 1.0)]),
    ("quoted", [QUOTED], [("quoted", 0.5)]),
    ("nothing", ["It is blue."], []),
]


@pytest.mark.parametrize(("texts", "found"), [each[1:] for each in JUDGED], ids=[each[0] for each in JUDGED])
def test_what_the_judge_said_is_an_event(texts: list[str], found: list[tuple[str, float]]) -> None:
    recorder = TracingRecorder()
    memory = model("openai_chat", *map(text_reply, texts))
    ask(traced(memory, recorder, tools=Tools.TEXT), "openai_chat", stream=True)
    events = [dict(event.attributes or {}) for event in recorder.events]
    assert [(one["gen_ai.evaluation.score.label"], one["gen_ai.evaluation.score.value"]) for one in events] == found
    assert {event.event_name for event in recorder.events} <= {"gen_ai.evaluation.result"}
    assert {one["gen_ai.evaluation.name"] for one in events} <= {"dragoman.tool_call"}


def test_an_event_stands_below_the_span_of_its_answer_and_says_why() -> None:
    recorder = TracingRecorder()
    slanted = FENCE.replace('"sky"}}', '"sky",}}')
    ask(traced(model("openai_chat", text_reply(slanted)), recorder, tools=Tools.TEXT), "openai_chat", stream=False)
    (event,), (_, asking) = recorder.events, recorder.spans
    assert (event.trace_id, event.span_id) == (asking.context.trace_id, asking.context.span_id)
    assert "trailing_comma" in event.attributes["gen_ai.evaluation.explanation"].split(",")
    assert event.attributes["gen_ai.tool.name"] == "look"
    assert event.attributes["gen_ai.response.id"] == "u1"
    assert "sky" not in repr(event)
    assert "blue" not in repr(event)


LOOK = Tool(name="look")
DEMANDS = [("required", True), ("named", True), ("auto", False), ("none", False)]


@pytest.mark.parametrize(("mode", "due"), DEMANDS)
def test_a_call_that_was_due_and_never_came_is_missing(mode: Any, due: bool) -> None:
    request = Request(model="m", tools=(LOOK,), tool_choice=ToolChoice(mode, "look" if mode == "named" else ""))
    for stop, counts in ((Stop.END, True), (Stop.LENGTH, False), (Stop.FILTERED, False)):
        labels = [each.label for each in evaluations(request, Response(stop=stop))]
        assert labels == (["missing"] if due and counts else [])


def test_where_no_sdk_was_set_up_nobody_listens() -> None:
    assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    assert not configured()
