"""Decoding held to the prompt: what goes out to which place, and what happens where it is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.dialects import DIALECTS
from dragoman.effects import run
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS
from dragoman.providers.spec import Tools
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.constrain import UNCONSTRAINED, decoding_constraint
from dragoman.turn.machine import turn
from dragoman.types import Message, OutputSchema, Request, Response, Tool, ToolChoice
from tests.support.gbnf import Gbnf
from tests.support.upstreams import ScriptedReply, answered, refusal, text_reply

LOOK = Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]})
STOP = Tool(name="stop")
ASKED = Request(model="m", messages=(Message("user", "hi"),), tools=(LOOK, STOP))
MUST = Request(model="m", messages=(Message("user", "hi"),), tools=(LOOK, STOP), tool_choice=ToolChoice("required"))
CALL = '{"name": "look", "arguments": {"at": "sky"}}'
HERMES = f"<tool_call>\n{CALL}\n</tool_call>"


def exchanged(provider: str, request: Request, *replies: ScriptedReply | Answer, **more: Any) -> tuple[Response, list[dict[str, Any]]]:
    script = iter(replies)
    row = PROVIDERS[provider]

    def answer(sent: Any) -> Answer:
        reply = next(script)
        return reply if isinstance(reply, Answer) else answered(row.codec, reply, json.loads(sent.body))

    memory = ScriptedPeer(answer)
    route = Route(provider=row, tools=Tools.TEXT, prompt_dialect="hermes")
    response = run(turn(request, route, **more), memory.sync_performer())
    return response, [json.loads(sent.body) for sent in memory.sent]


def test_llamacpp_gets_a_grammar_of_calls_and_words() -> None:
    response, (body,) = exchanged("llamacpp", ASKED, text_reply(HERMES))
    held_to = Gbnf(body["grammar"])
    assert held_to.allows(HERMES)
    assert held_to.allows("It is blue.")
    assert [call.name for call in response.calls] == ["look"]


def test_a_demanded_call_is_all_the_grammar_allows() -> None:
    _, (body,) = exchanged("llamacpp", MUST, text_reply(HERMES))
    assert Gbnf(body["grammar"]).allows(HERMES)
    assert not Gbnf(body["grammar"]).allows("It is blue.")


def test_vllm_gets_tags_and_for_a_demanded_call_a_schema() -> None:
    _, (body,) = exchanged("vllm", ASKED, text_reply(HERMES))
    assert body["response_format"]["type"] == "structural_tag"
    response, (body,) = exchanged("vllm", MUST, text_reply(CALL))
    assert body["response_format"]["type"] == "json_schema"
    assert [(call.name, dict(call.arguments)) for call in response.calls] == [("look", {"at": "sky"})]


def test_ollama_gets_a_format_for_a_demanded_call() -> None:
    named = Request(model="m", messages=(Message("user", "hi"),), tools=(LOOK, STOP), tool_choice=ToolChoice("named", "look"))
    response, (body,) = exchanged("ollama", named, text_reply(CALL))
    assert body["format"]["properties"]["name"] == {"const": "look"}
    assert [call.name for call in response.calls] == ["look"]
    _, (body,) = exchanged("ollama", ASKED, text_reply(HERMES))
    assert "format" not in body


@pytest.mark.parametrize(("provider", "request_"), [("llamacpp", ASKED), ("vllm", ASKED), ("ollama", MUST)])
def test_a_refused_constraint_is_left_out_and_remembered(
    provider: str, request_: Request
) -> None:
    no, learned = refusal(400, {"error": {"message": "failed to compile it"}}), Capabilities()
    response, bodies = exchanged(provider, request_, no, text_reply(HERMES), learned=learned)
    assert [call.name for call in response.calls] == ["look"]
    constrained = [{"grammar", "response_format", "format"} & set(body) for body in bodies]
    assert [bool(found) for found in constrained] == [True, False]
    _, (body,) = exchanged(provider, request_, text_reply(HERMES), learned=learned)
    assert not {"grammar", "response_format", "format"} & set(body)


NONE = [
    ("native tools", "openai", ASKED),
    ("no tools", "llamacpp", Request(model="m")),
    ("no call may be made", "llamacpp", Request(model="m", tools=(LOOK,), tool_choice=ToolChoice("none"))),
    ("a form is demanded", "llamacpp", Request(model="m", tools=(LOOK,), output_schema=OutputSchema())),
    ("too many tools", "llamacpp", Request(model="m", tools=tuple(Tool(name=f"t{n}") for n in range(65)))),
]


@pytest.mark.parametrize(("what", "provider", "request_"), NONE, ids=[row[0] for row in NONE])
def test_there_is_no_constraint_where_it_would_not_help(what: str, provider: str, request_: Request) -> None:
    assert decoding_constraint(request_, PROVIDERS[provider], DIALECTS["hermes"]) == UNCONSTRAINED
