"""A nonce that was asked for: it holds whichever way calls come, or the combination is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dragoman.dialects import DIALECTS
from dragoman.effects import Open, run
from dragoman.errors import UsageError
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE, PROVIDERS
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.machine import turn
from dragoman.types import IssueKind, Message, Request, Response, Tool
from tests.support.upstreams import ScriptedReply, answered, model, refusal, sent, text_reply

LOOK = Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]})
FENCE = '~~~tool_call\n{"name": "look", "arguments": {"at": "sky"}}\n~~~'
WAYS = {
    "in our fence": FENCE,
    "in a dialect's marks": '<tool_call>{"name": "look", "arguments": {"at": "sky"}}</tool_call>',
    "in single quotes": "<tool_call>{'name': 'look', 'arguments': {'at': 'sky'}}</tool_call>",
    "bare": '{"name": "look", "arguments": {"at": "sky"}}',
    "amid words": 'Now {"name": "look", "arguments": {"at": "sky"}}',
    "behind a thought": f"<think>Well.</think>{FENCE}",
}
MODES = {"as by default": {}, "tried both ways": {"tools": Tools.BOTH}, "in text": {"tools": Tools.TEXT}}
streamed_and_whole = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


def _route(api: str = "openai_chat", **more: Any) -> Route:
    return Route(provider=COMPATIBLE[api], base_url="http://model.test", nonce=True, **more)


def _ask(peer: ScriptedPeer, to: Route, *, stream: bool = True) -> Response:
    wanted = Request(model="m", messages=(Message("user", "What is up?"),), tools=(LOOK,), stream=stream)
    return run(turn(wanted, to), peer.sync_performer())


@streamed_and_whole
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS)
def test_a_call_without_the_code_does_not_run(way: str, mode: str, stream: bool) -> None:
    for doubt in ("ask", "run"):
        got = _ask(model("openai_chat", text_reply(WAYS[way])), _route(**MODES[mode], doubt=doubt), stream=stream)
        assert (got.calls, got.doubtful) == ((), ())


@streamed_and_whole
@pytest.mark.parametrize("mode", MODES)
def test_a_call_with_the_code_runs(mode: str, stream: bool) -> None:
    def answer(opened: Open) -> Answer:
        body = json.loads(opened.body)
        assert "tools" not in body
        prompt = body["messages"][0]["content"]
        fence = prompt[prompt.index("~~~tool_call:") :].split("\n")[0]
        return answered("openai_chat", text_reply(FENCE.replace("~~~tool_call", fence)), body)

    got = _ask(ScriptedPeer(answer), _route(**MODES[mode]), stream=stream)
    assert [(call.name, dict(call.arguments)) for call in got.calls] == [("look", {"at": "sky"})]


@streamed_and_whole
@pytest.mark.parametrize("name", ["look", "delete_all"])
def test_a_call_by_the_wire_carries_no_code_and_is_refused(name: str, stream: bool) -> None:
    to = _route(fields={"tools": [{"type": "bash"}]})  # whose calls may have any name
    got = _ask(model("openai_chat", ScriptedReply(("Well.",), (("a", name, {"at": "sky"}),))), to, stream=stream)
    assert got.calls == ()
    assert {issue.kind for issue in got.issues} == {IssueKind.NOT_ALLOWED if name == "look" else IssueKind.UNKNOWN_TOOL}
    assert all(issue.correction for issue in got.issues)
    assert got.text == "Well."


def test_a_call_that_came_as_its_servers_error_carries_no_code() -> None:
    body = {"error": {"message": "Failed to call a function.", "failed_generation": WAYS["bare"]}}
    for holds in (False, True):
        to = replace(_route(), nonce=holds)
        assert bool(_ask(ScriptedPeer(lambda _: refusal(400, body)), to).calls) is not holds


def test_tools_go_in_text_where_a_row_has_only_native_ones() -> None:
    provider = next(row for row in map(PROVIDERS.__getitem__, PROVIDERS) if row.tools is Tools.NATIVE)
    assert Route(provider=provider, nonce=True).mode is Tools.TEXT


def test_tools_that_are_to_go_natively_are_refused_beside_it() -> None:
    with pytest.raises(UsageError, match="leave out one of the two"):
        _route(tools=Tools.NATIVE)


@pytest.mark.parametrize("option", ["dialects", "prompt_dialect"])
@pytest.mark.parametrize("named", ["hermes", DIALECTS["json_protocol"]], ids=["a name", "a row"])
def test_a_dialect_that_cannot_carry_it_is_refused_beside_it(option: str, named: Any) -> None:
    with pytest.raises(UsageError, match="take 'tool_call_fence', or leave out one of the two"):
        _route(**{option: named})


def test_a_fence_may_be_named_beside_it() -> None:
    memory = model("openai_chat", text_reply("Hello."))
    _ask(memory, _route(dialects="tool_call_fence", prompt_dialect="tool_call_fence"))
    assert "~~~tool_call:" in str(sent(memory)["messages"][0])
