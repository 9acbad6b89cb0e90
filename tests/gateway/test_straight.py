"""Answers that go past the machines: client, model and records get what they get where these serve."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.effects import Machine
from dragoman.errors import ErrorKind, ProviderError
from dragoman.fallback import Rules
from dragoman.gateway import GatewayConfig, create_app, exchange
from dragoman.gateway.telemetry.exchange_record import ExchangeRecord, Observer, UpstreamAttempt
from dragoman.gateway.telemetry.metrics import Metrics
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn import reask as machines
from tests.support.asgi import call
from tests.support.gateways import FENCE, HERMES, asking, every_front
from tests.support.upstreams import UPSTREAMS, ScriptedReply, refusal, text_reply

Script = Sequence[ScriptedReply | Answer | bytes]

GOOD = ("a1", "look", {"at": "sky"})
PLAIN = text_reply("It is so, as far as anybody knows.")
CALLS = ScriptedReply((), (GOOD,))
DOWN = refusal(503, {"error": {"message": "come again", "type": "overloaded"}})
BROKEN = ProviderError("the connection was reset", kind=ErrorKind.NETWORK)


def chat(message: Mapping[str, Any], finish: str = "stop", prompt: int = 7, **more: Any) -> bytes:
    """A whole answer of OpenAI's chat API."""
    usage = {"prompt_tokens": prompt, "completion_tokens": 5, "total_tokens": prompt + 5}
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"id": "u", "object": "chat.completion", "created": 1, "model": "up", "choices": [choice],
                       "usage": usage, **more}).encode()  # fmt: skip


def native(*calls: tuple[str, str, str], **message: Any) -> bytes:
    """An answer of calls, their arguments as they are written."""
    made = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
    return chat({"content": None, "tool_calls": made, **message}, "tool_calls")


RIGHT = '{"at": "sky"}'
SCRIPTS: dict[str, Script] = {
    "plain": [PLAIN, PLAIN, PLAIN],
    "a call": [CALLS, PLAIN, CALLS],
    "words and a call": [ScriptedReply(("I look.",), (GOOD,)), CALLS],
    "several calls": [ScriptedReply((), (GOOD, ("a2", "look", {"at": "sea"}))), PLAIN],
    "calls of one id": [ScriptedReply((), (GOOD, GOOD)), PLAIN],
    "wrong arguments": [ScriptedReply((), (("a1", "look", {"at": 3}),)), CALLS, PLAIN, CALLS],
    "no arguments": [native(("a1", "look", "{")), CALLS, PLAIN],
    "mended arguments": [native(("a1", "look", '{"at": "sky",}')), PLAIN, PLAIN],
    "an unknown tool": [ScriptedReply((), (("a1", "nothing", {}),)), PLAIN, PLAIN],
    "wrong for ever": [ScriptedReply((), (("a1", "nothing", {}),))] * 9,
    "a fence": [text_reply(f"So:\n{FENCE}\n"), text_reply(FENCE), PLAIN],
    "a call in text": [text_reply(HERMES), text_reply(f"So: {HERMES}"), PLAIN],
    "a mention": [text_reply("Write <tool_call> for a call."), PLAIN, PLAIN],
    "in doubt": [text_reply('look({"at": "sky"})'), CALLS, text_reply('{"name": "look", "arguments": {"at": "x"}}'), PLAIN],
    "in doubt for ever": [text_reply('I would call look(at="sky") now')] * 9,
    "protocol": [text_reply('{"tool": "look", "arguments": {"at": "sky"}}')] * 9,
    "nothing": [text_reply(""), PLAIN, text_reply("  \n"), text_reply(""), text_reply(""), PLAIN, PLAIN],
    "cut": [text_reply("It is", stop="length"), text_reply(f"{HERMES[:40]}", stop="length"), PLAIN, PLAIN],
    "filtered": [text_reply("It is", stop="content_filter"), PLAIN, PLAIN],
    "reasoning": [chat({"content": "so", "reasoning_content": "hm"}), native(("a1", "look", RIGHT), reasoning_content="h"),
                  PLAIN, PLAIN],
    "thinking aloud": [text_reply("<think>hm</think>It is so."), PLAIN, PLAIN],
    "enough counted": [chat({"content": "It is so."}, prompt=500)] * 3,
    "too little counted": [chat({"content": "It is so."}, prompt=3)] * 9,
    "uncounted": [chat({"content": "It is so."}, usage=None)] * 3,
    "names its tool": [chat({"content": "I may use look."}, prompt=9)] * 3,
    "fields of its own": [chat({"content": "so", "odd": 1}, odd={"a": 1})] * 3,
    "two choices": [json.dumps({**json.loads(chat({"content": "so"})), "choices": [
        {"index": n, "message": {"role": "assistant", "content": "so"}, "finish_reason": "stop"} for n in range(2)
    ]}).encode()] * 3,
    "no choices": [chat({}, choices=[])] * 3,
    "down": [DOWN, PLAIN, DOWN, DOWN, DOWN, PLAIN],
    "down for ever": [DOWN] * 20,
    "refuses tools": [refusal(400, {"error": {"message": "tools are not supported by this model"}}), PLAIN, PLAIN, PLAIN],
    "refuses": [refusal(400, {"error": {"message": "no"}})] * 4,
    "unauthorised": [refusal(401, {"error": {"message": "who are you: sk-secret"}}), PLAIN, PLAIN],
    "moved": [refusal(302, b"", location="http://elsewhere")] * 4,
    "too long": [refusal(400, {"error": {"message": "x", "code": "context_length_exceeded"}})] * 4,
    "unreadable": [refusal(500, {"error": {"message": f"Failed to parse tool call: {HERMES}"}}), PLAIN, PLAIN, PLAIN],
    "garbage": [Answer((b"<html>",), headers={"content-type": "text/html"}), PLAIN, PLAIN, PLAIN],
    "half": [Answer((b'{"choices"',), headers={"content-type": "application/json"})] * 9,
    "unmeasured": [Answer((PLAIN_BYTES[:50], PLAIN_BYTES[50:]), headers={}) for PLAIN_BYTES in [chat({"content": "so"})] * 3],
    "breaks": [Answer((b'{"choices"', BROKEN), headers={"content-type": "application/json"}), PLAIN, PLAIN],
    "unreached": [Answer(status=BROKEN), PLAIN, Answer(status=BROKEN), Answer(status=BROKEN), Answer(status=BROKEN), PLAIN],
    "a stream": [Answer(tuple(UPSTREAMS["openai_chat"].stream(PLAIN)), headers={"content-type": "text/event-stream"})] * 3,
    "a bug": [Answer(status=RuntimeError("a bug of the performer")), PLAIN, PLAIN],
}  # fmt: skip


class Recorder(Observer):
    """Writes down all that observers are told."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def take(self, config: GatewayConfig) -> None:
        return

    def exchange_began(self, record: ExchangeRecord) -> None:
        self._note("began", record)

    def attempt_began(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        self._note("asked", record)

    def attempt_ended(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        self._note("answered", record)

    def exchange_ended(self, record: ExchangeRecord) -> None:
        self._note("ended", record)
        fields = (record.response, str(record.error), record.status, record.outcome, record.asked, record.tokens)
        self.seen += [fields, record.first is not None, record.conversation, record.issues(), record.reasks]

    def _note(self, what: str, record: ExchangeRecord) -> None:
        self.seen.append(what)
        for each in record.attempts:
            how = (str(each.place), each.number, each.reask, each.operation, each.besides, str(each.failure))
            self.seen.append((how, each.request, each.response, bool(each.begun), bool(each.ended)))


def _counted(gateway: Any) -> list[str]:
    """The metrics, but for what depends on the clock."""
    lines = call(gateway, "/metrics", method="GET").body.decode().splitlines()
    return [line for line in lines if not any(clock in line for clock in ("_bucket", "_created", "_sum"))]


def _machines_alone(*_: Any) -> Machine[None]:
    yield from ()


def _served(script: Script, asks: Sequence[tuple[str, Any]], back: str, config: Mapping[str, Any], **route: Any) -> Any:
    """All that can be seen of these requests to one gateway, whose model says `script` and then always plain words."""
    left = iter(script)
    wire = UPSTREAMS[back]

    def answer(_: Any) -> Answer:
        said = next(left, PLAIN)
        if isinstance(said, Answer):
            return said
        body = said if isinstance(said, bytes) else wire.whole(said)
        return Answer((body,), headers={"content-type": "application/json", "content-length": str(len(body))})

    peer, recorder = ScriptedPeer(answer), Recorder()
    to = Route(provider=COMPATIBLE[back], base_url="http://model.test", key="sk-secret", **route)
    gateway = create_app(GatewayConfig(default=to, **config), peer, observers=[recorder, Metrics()])
    replies = [call(gateway, path, body, headers={"x-request-id": "r"}) for path, body in asks]
    told = [(reply.status, reply.headers, reply.pieces) for reply in replies]
    asked = [(each.url, dict(each.headers), each.body, each.timeouts) for each in peer.sent]
    return told, asked, recorder.seen, _counted(gateway), peer.slept, peer.closed, peer.mint("")


def _same(
    script: Script, asks: Sequence[tuple[str, Any]], back: str = "openai_chat", config: Mapping[str, Any] | None = None,
    **route: Any,
) -> None:  # fmt: skip
    short = _served(script, asks, back, config or {}, **route)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "straight", _machines_alone)
        long = _served(script, asks, back, config or {}, **route)
    for one, other in zip(short, long, strict=True):
        assert one == other


def _asks(front: str, times: int = 3, **more: Any) -> list[tuple[str, Any]]:
    path, body = asking(front, stream=False)
    return [(path, {**body, **more})] * times


ROUTES: dict[str, Callable[[], dict[str, Any]]] = {
    "as it comes": dict,
    "native": lambda: {"tools": Tools.NATIVE},
    "in text": lambda: {"tools": Tools.TEXT},
    "with a nonce": lambda: {"tools": Tools.TEXT, "nonce": True},
    "strict": lambda: {"strict": True},
    "under another name": lambda: {"model": "other"},
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_whatever_a_model_says_all_is_as_the_machines_would_have_it(
    script: Script, route: Callable[[], dict[str, Any]]
) -> None:
    _same(script, _asks("openai_chat"), **route())


@every_front
@pytest.mark.parametrize("back", UPSTREAMS)
@pytest.mark.parametrize("script", [[PLAIN] * 3, [CALLS, PLAIN, CALLS], SCRIPTS["wrong arguments"], [DOWN, PLAIN]])
def test_across_wires_all_is_as_the_machines_would_have_it(front: str, back: str, script: Script) -> None:
    _same(script, _asks(front), back)


DEMANDS: dict[str, dict[str, Any]] = {
    "a call": {"tool_choice": "required"},
    "this call": {"tool_choice": {"type": "function", "function": {"name": "look"}}},
    "no call": {"tool_choice": "none"},
    "one call": {"parallel_tool_calls": False},
    "no tools": {"tools": []},
    "a form": {"response_format": {"type": "json_object"}},
    "a schema": {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}}}},
    "few tokens": {"max_tokens": 5},
    "a stop": {"stop": ["so"]},
    "a field nobody knows": {"foo": {"bar": 1}},
    "a limit of another wire": {"top_k": 3},
    "several answers": {"n": 2},
    "no model": {"model": ""},
    "a history": {"messages": [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "a1", "type": "function", "function": {"name": "look", "arguments": RIGHT}}]},
        {"role": "tool", "tool_call_id": "a1", "content": "blue"}]},
    "an odd history": {"messages": [
        {"role": "user", "content": "Look."}, {"role": "tool", "tool_call_id": "a7", "content": "blue"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "a1", "type": "function", "function": {"name": "look", "arguments": "{"}}]}]},
    "a tool's endless name": {"tools": [{"type": "function", "function": {"name": "x" * 300}}]},
    "an odd schema": {"tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "odd"}}}]},
}  # fmt: skip


@pytest.mark.parametrize("demand", DEMANDS.values(), ids=DEMANDS)
@pytest.mark.parametrize("script", [SCRIPTS[name] for name in ("plain", "a call", "reasoning", "wrong for ever", "nothing")])
def test_whatever_is_asked_all_is_as_the_machines_would_have_it(demand: dict[str, Any], script: Script) -> None:
    _same(script, _asks("openai_chat", **demand))


@pytest.mark.parametrize("config", [{"rules": Rules(text_tools=False)}, {"reasks": 0}, {"reasks": 5}])
@pytest.mark.parametrize("script", [SCRIPTS[name] for name in ("a call", "wrong for ever", "refuses tools", "down")])
def test_whatever_is_configured_all_is_as_the_machines_would_have_it(config: dict[str, Any], script: Script) -> None:
    _same(script, _asks("openai_chat"), config=config)


@settings(max_examples=60)
@given(names=st.lists(st.sampled_from(sorted(SCRIPTS)), min_size=1, max_size=4))
def test_whatever_comes_after_whatever_all_is_as_the_machines_would_have_it(names: list[str]) -> None:
    _same([said for name in names for said in SCRIPTS[name][:2]], _asks("openai_chat", 6))


@pytest.mark.parametrize("model", ["deepseek-v3.2", "m"])
def test_reasoning_that_a_client_drops_comes_back_as_the_machines_would_have_it(model: str) -> None:
    called = native(("a1", "look", RIGHT), reasoning_content="The sky, I think.")
    first, after = _asks("openai_chat", 1, model=model), _asks("openai_chat", 1, model=model, **DEMANDS["a history"])
    first[0][1]["messages"] = DEMANDS["a history"]["messages"][:1]
    _same([CALLS, called, PLAIN], [*first, *first, *after])


def test_most_answers_go_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    reask, made = machines.reask, []

    def counted(*given: Any, **named: Any) -> Any:
        made.append(given)
        return reask(*given, **named)

    monkeypatch.setattr(exchange, "reask", counted)
    script = [CALLS, PLAIN, CALLS, ScriptedReply(("So:",), (GOOD,)), text_reply("No <tool_call> here.")]
    _served(script, _asks("openai_chat", 5), "openai_chat", {})
    assert len(made) == 1, "only the first call says something new: that tools are read"
