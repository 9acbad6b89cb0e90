"""One odd tool never kills a request: a schema that is refused all the same is told barely, and that is remembered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.effects import run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.capabilities import Capabilities
from dragoman.turn.machine import turn
from dragoman.turn.rejections import refused_schemas
from dragoman.types import IssueKind, Message, Request, Response, Tool
from tests.support.upstreams import refusal
from tests.support.wires import WIRES

PLAIN = Tool(name="alpha", parameters={"type": "object", "properties": {"a": {"type": "string"}}})
ODD = Tool(
    name="odd",
    parameters={
        "type": "object",
        "properties": {"when": {"type": "string", "format": "date-time", "minLength": 3, "description": "a time"}},
        "required": ["when"],
    },
)
TOOLS = (PLAIN, ODD)


def openai(message: str) -> Any:
    return {"error": {"message": message, "type": "invalid_request_error", "code": "invalid_function_parameters"}}


def anthropic(message: str) -> Any:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def google(message: str) -> Any:
    return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


REFUSALS: list[tuple[str, Any, list[str]]] = [
    # place, what it says, the tools whose schemas it means
    ("openai", openai("Invalid schema for function 'odd': In context=('properties', 'when'), 'minLength' is not permitted."),
     ["odd"]),
    ("openai", openai("Invalid schema for function: something is wrong somewhere."), ["alpha", "odd"]),
    ("anthropic", anthropic("tools.1.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"),
     ["odd"]),
    ("gemini", google("* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[when].format: "
                      "only 'enum' and 'date-time' are supported for STRING type"), ["odd"]),
    ("bedrock", {"message": "The value at toolConfig.tools.1.toolSpec.inputSchema.json is invalid: schema not supported"},
     ["odd"]),
    ("moonshot", openai("Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, "
                        "details: <At path 'properties.when': unknown keyword>"), ["alpha", "odd"]),
]  # fmt: skip
each_refusal = pytest.mark.parametrize(
    ("place", "body", "meant"), REFUSALS, ids=[f"{r[0]} {'+'.join(r[2])}" for r in REFUSALS]
)


def route(place: str) -> Route:
    row = PROVIDERS[place]
    secrets = {part.name: "AKID" for part in row.auth.parts}
    return Route(provider=row, base_url="https://peer.test/v1", key="key", secrets=secrets)


def answers(place: str) -> Answer:
    return Answer((WIRES[row_codec(place)].whole("c1", "odd", {"when": "2026-01-01"}),),
                  headers={"content-type": "application/json"})  # fmt: skip


def row_codec(place: str) -> str:
    return PROVIDERS[place].codec


def ask(place: str, memory: ScriptedPeer, learned: Capabilities, tools: tuple[Tool, ...] = TOOLS) -> Response:
    request = Request(model="m", messages=(Message("user", "go"),), tools=tools)
    return run(turn(request, route(place), learned), memory.sync_performer())


def schemas(memory: ScriptedPeer) -> list[str]:
    """What each request says of the odd tool's argument, without its name."""
    return [opened.body.decode() for opened in memory.sent]


@each_refusal
def test_a_refused_schema_is_left_out_and_the_request_passes(place: str, body: Any, meant: list[str]) -> None:
    memory, learned = ScriptedPeer([refusal(400, body), answers(place), answers(place)]), Capabilities()
    response = ask(place, memory, learned)
    assert [(call.name, call.arguments) for call in response.calls] == [("odd", {"when": "2026-01-01"})]
    first, second = schemas(memory)
    assert "a time" in first
    assert "a time" in second
    assert '"minLength"' not in second
    lost = {issue.name for issue in response.issues if issue.kind is IssueKind.UNSUPPORTED}
    assert "odd" in lost
    ask(place, memory, learned)
    assert schemas(memory)[2] == second, "what was refused once is not sent again"


@each_refusal
def test_only_what_a_refusal_means_is_told_barely(place: str, body: Any, meant: list[str]) -> None:
    error = _error(place, body)
    assert [tool.name for tool in refused_schemas(error, TOOLS)] == meant


def _error(place: str, body: Any) -> ProviderError:
    memory = ScriptedPeer([refusal(400, body)] * 3)
    with pytest.raises(ProviderError) as caught:
        ask(place, memory, Capabilities())
    return caught.value


@each_refusal
def test_a_place_that_refuses_even_that_is_believed(place: str, body: Any, meant: list[str]) -> None:
    memory = ScriptedPeer([refusal(400, body)] * 3)
    with pytest.raises(ProviderError) as caught:
        ask(place, memory, Capabilities())
    assert caught.value.kind is ErrorKind.BAD_REQUEST
    assert len(memory.sent) == 2


def test_a_mended_tool_of_the_same_name_is_another() -> None:
    place, body = REFUSALS[0][:2]
    memory, learned = ScriptedPeer([refusal(400, body), answers(place), answers(place)]), Capabilities()
    ask(place, memory, learned)
    mended = Tool(name="odd", parameters={"type": "object", "properties": {"when": {"type": "string", "maxLength": 9}}})
    ask(place, memory, learned, (PLAIN, mended))
    assert json.loads(memory.sent[2].body)["tools"][1]["function"]["parameters"]["properties"]["when"]["maxLength"] == 9


OTHERS = [
    (openai("Invalid value for 'temperature': expected a number"), 400),
    (openai("Invalid schema for response_format 'answer'"), 400),
    (openai("Invalid schema for function 'odd'"), 500),
    (openai("tool call validation failed: parameters for tool odd did not match schema"), 400),
]  # fmt: skip


@pytest.mark.parametrize(("body", "status"), OTHERS, ids=range(len(OTHERS)))
def test_other_refusals_are_not_asked_again(body: Any, status: int) -> None:
    memory = ScriptedPeer([refusal(status, body)] * 3)
    with pytest.raises(ProviderError):
        ask("openai", memory, Capabilities())
    assert len(memory.sent) == 1


def test_schemas_refused_one_by_one_end_in_an_error() -> None:
    tools = tuple(Tool(name=f"t{n}", parameters=ODD.parameters) for n in range(12))
    memory = ScriptedPeer([refusal(400, openai(f"Invalid schema for function 't{n}': 'minLength' is not permitted.")) for n in range(12)])
    with pytest.raises(ProviderError, match="'t7'"):
        ask("openai", memory, Capabilities(), tools)
    assert len(memory.sent) == 8
