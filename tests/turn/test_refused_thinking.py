"""Refusals of thinking, read as providers word them: the next asking goes without what was refused, and it is remembered."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.codecs.shared.spec import WireFields
from dragoman.effects import run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.providers.route import Route
from dragoman.providers.rows import COMPATIBLE
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.machine import turn
from dragoman.turn.rejections import refused_effort
from dragoman.types import Message, Reasoning, Request, Sampling, Text, Tool, ToolCall, ToolResult
from tests.support.upstreams import model, refusal, sent, text_reply

LOOK = Tool(name="look")
ASK = Message("user", "What is up?")
REFUSALS = [
    # what was asked, what the provider said, its body, what is learnt
    ({"effort": "minimal"}, "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: "
     "'none', 'low', 'medium', and 'high'.", '{"param": "reasoning_effort"}', "effort:none,low,medium,high"),
    ({"effort": "none"}, "This model does not support 'reasoning_effort' value 'none'", "", "effort:-none"),
    ({"effort": "high"}, "Model grok-4 does not support parameter reasoningEffort.", "", "effort"),
    ({"effort": "high"}, "This model does not support the effort parameter", "", "effort"),
    ({"effort": "high"}, "Thinking level is not supported for this model.", "", "effort"),
    ({"thinking_budget": 5000}, "adaptive thinking is not supported on this model", "", "effort"),
    ({"thinking_budget": -1}, '"gemma3" does not support thinking', "", "effort"),
    ({"effort": "high"}, "Function tools with reasoning_effort are not supported for gpt-5.6-terra in "
     "/v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.", "",
     "effort beside tools"),
    ({}, "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions.", "",
     "effort beside tools"),
    ({"effort": "xhigh"}, "Input should be 'low', 'medium' or 'high': output_config.effort", "", "effort:low,medium,high"),
    ({"effort": "high"}, "Invalid schema for function 'look'", "", ""),
    ({"effort": "high"}, "max_tokens must be greater than thinking.budget_tokens", "", ""),
    ({}, "This model does not support the effort parameter", "", ""),
    ({"effort": "high"}, "The model is thinking hard about your value", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "words", "body", "learnt"), REFUSALS, ids=[r[1][:60] for r in REFUSALS])
def test_a_refusal_of_thinking_says_what_is_taken(asked: dict[str, Any], words: str, body: str, learnt: str) -> None:
    error = ProviderError(words, kind=ErrorKind.BAD_REQUEST, status=400, body=body or words)
    request = Request(model="m", messages=(ASK,), tools=(LOOK,), sampling=Sampling(**asked))
    assert refused_effort(error, request) == learnt


STATES = [
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
    "The block is bound to a different conversation",
    "The encrypted content gAAA… could not be verified.",
    "Could not decrypt the provided encrypted_content",
    "Corrupted thought signature.",
    "Thought signature is not valid",
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    "Item with id 'rs_1' not found. Items are not persisted when store is set to false",
]


def conversation(signature: str) -> tuple[Message, ...]:
    thought = Reasoning("hm", metadata=WireFields("anthropic_messages", {"signature": signature}))
    call = ToolCall(id="c1", name="look")
    result = ToolResult(call_id="c1", name="look", content="blue")
    return ASK, Message("assistant", [thought, Text("I look."), call]), Message("tool", [result])


@pytest.mark.parametrize("words", STATES)
def test_state_that_is_refused_stays_at_home_and_is_not_tried_again(words: str) -> None:
    memory = model("anthropic_messages", refusal(400, {"error": {"message": words}}), *[text_reply("blue")] * 3)
    to, learned = Route(provider=COMPATIBLE["anthropic_messages"], base_url="http://model.test"), Capabilities()
    request = Request(model="m", messages=conversation("bad"), tools=(LOOK,))
    for times in (2, 3):
        response = run(turn(request, to, learned), memory.sync_performer())
        assert len(memory.sent) == times
        assert [block["type"] for block in sent(memory)["messages"][1]["content"]] == ["text", "tool_use"]
        assert "$.messages[1].reasoning" in {issue.path for issue in response.issues}
    run(turn(Request(model="m", messages=conversation("good"), tools=(LOOK,)), to, learned), memory.sync_performer())
    assert sent(memory)["messages"][1]["content"][0]["signature"] == "good"


def test_a_call_that_nobody_signed_is_taken_where_signatures_are_demanded() -> None:
    def parts(model_name: str) -> list[Any]:
        memory = model("gemini", refusal(403, {"error": {"message": "no"}}))
        to = Route(provider=COMPATIBLE["gemini"], base_url="http://model.test")
        request = Request(model=model_name, messages=conversation("foreign"), tools=(LOOK,))
        with pytest.raises(ProviderError):
            run(turn(request, to), memory.sync_performer())
        return [part for part in sent(memory)["contents"][1]["parts"] if "functionCall" in part]

    (call,) = parts("gemini-3-pro-preview")
    assert call["thoughtSignature"] == "skip_thought_signature_validator"
    (call,) = parts("gemini-2.5-pro")
    assert "thoughtSignature" not in call
