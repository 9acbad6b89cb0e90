"""Arguments nested without end cost a client one short line, and the model one more question."""

from __future__ import annotations

import json

import pytest

from dragoman.sim.scripted import Answer, ScriptedPeer
from tests.support.gateways import app, ask, streamed_and_whole

NESTED = {
    "arrays": "[" * 100_000 + "]" * 100_000,
    "arrays in an object": '{"q": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "objects": '{"q":' * 50_000 + "1" + "}" * 50_000,
    "never closed": "[" * 100_000,
}


@streamed_and_whole
@pytest.mark.parametrize("arguments", NESTED.values(), ids=NESTED)
@pytest.mark.costly
def test_nesting_without_end_is_one_line_and_one_correction(arguments: str, stream: bool) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    peer = ScriptedPeer(lambda _: Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"}))
    reply = ask(app(peer), "openai_chat", stream=stream)
    assert reply.status == 200
    assert len(peer.sent) == 2
    assert len(peer.sent[1].body) < 2_000
    assert "was not run" in reply.body.decode()
    assert len(reply.body) < 2_000


def test_a_nesting_model_that_is_told_so_and_mends_it_is_heard() -> None:
    def answer(arguments: str) -> Answer:
        call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        body = {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
        return Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"})

    gateway = app(ScriptedPeer([answer(NESTED["arrays"]), answer('{"at": "sky"}')]))
    [call] = ask(gateway, "openai_chat", stream=False).json["choices"][0]["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"at": "sky"}
