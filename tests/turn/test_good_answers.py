"""An answer that nobody hears comes as it is where nothing is wrong with it, and that is what would be composed of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.effects import Machine, run
from dragoman.errors import ProviderError
from dragoman.events import replay
from dragoman.turn.reask import GoodAnswer, reask
from dragoman.types import (
    Message,
    Opaque,
    OutputSchema,
    Reasoning,
    Request,
    Response,
    Stop,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    Usage,
)
from tests.support.recordings import VECTORS, codec, read, rows

ROWS = [pytest.param(api, row, id=f"{api}-{row['id']}") for api in CODECS for row in rows(VECTORS / f"{api}.jsonl")]
TOOLS = (
    Tool(name="look", parameters={"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}),
    Tool(name="wait"),
)
ASKED = Request(model="m", messages=(Message("user", "Look."),), tools=TOOLS)
LOOK = ToolCall(id="c1", name="look", arguments={"at": "sky"}, raw='{"at": "sky"}')
WAIT = ToolCall(id="c2", name="wait", arguments={}, raw="{}")
PARTS: list[list[Any]] = [
    [Text("Hello.")], [], [Text(" ")], [Reasoning("Hm.")], [Reasoning("Hm.", metadata={"signature": "s"}), Text("a")],
    [Text("I look."), LOOK], [LOOK], [LOOK, WAIT], [LOOK, LOOK], [LOOK, Text("looked")], [Text("a"), LOOK, Text("b"), WAIT],
    [Text("a"), Text("b")], [Text("a", metadata={"n": 1}), Text("b")], [Opaque(api="gemini", block={"x": 1}), LOOK],
    [LOOK, Opaque(api="gemini", block={"x": 1})], [replace(LOOK, arguments={"at": 1}, raw='{"at": 1}')],
    [replace(LOOK, raw=None)], [replace(LOOK, raw='{"at":')], [replace(LOOK, name="other")], [Reasoning("Hm."), LOOK],
]  # fmt: skip
REQUESTS = [
    ASKED,
    replace(ASKED, parallel=False),
    replace(ASKED, tools=()),
    *(replace(ASKED, tool_choice=ToolChoice(mode)) for mode in ("none", "required", "auto")),
    replace(ASKED, tool_choice=ToolChoice("auto", allowed=("wait",))),
    replace(ASKED, output_schema=OutputSchema(schema=None)),
]


def outcome(request: Request, answer: Response) -> str:
    def ask(_: Request) -> Machine[Response]:
        yield [*replay(answer)]
        return answer

    try:
        return repr(run(reask(request, ask, 1, quiet=True), lambda effect: None))
    except ProviderError as error:
        return repr(error)


def composed(monkeypatch: pytest.MonkeyPatch, request: Request, answer: Response) -> str:
    with monkeypatch.context() as patched:
        patched.setattr(GoodAnswer, "is_good", lambda self, response: None)
        return outcome(request, answer)


@pytest.mark.parametrize("asked", REQUESTS)
@pytest.mark.parametrize("stop", [Stop.END, Stop.TOOL_CALLS, Stop.LENGTH, Stop.FILTERED, None])
def test_it_is_what_would_be_composed(monkeypatch: pytest.MonkeyPatch, asked: Request, stop: Stop | None) -> None:
    for parts in PARTS:
        answer = Response(
            message=Message("assistant", parts), stop=stop, usage=Usage(input=1, output=2), model="m", id="a", extra={"x": 1}
        )
        assert outcome(asked, answer) == composed(monkeypatch, asked, answer)


@pytest.mark.parametrize(("api", "row"), ROWS)
def test_a_recorded_answer_is_what_would_be_composed(
    monkeypatch: pytest.MonkeyPatch, api: str, row: dict[str, Any]
) -> None:
    answer, _ = read(codec(api), row)
    if answer is None:
        return
    tools = tuple(Tool(name=name) for name in dict.fromkeys(call.name for call in answer.calls))
    asked = replace(ASKED, tools=tools)
    assert outcome(asked, answer) == composed(monkeypatch, asked, answer)


def test_most_answers_are_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GoodAnswer, "catch_up", pytest.fail)
    answers: list[list[Any]] = [[Text("Hello.")], [Text("I look."), LOOK], [Reasoning("Hm."), LOOK, WAIT]]
    for parts in answers:
        answer = Response(message=Message("assistant", parts), stop=Stop.END, model="m")
        assert "look" in outcome(ASKED, answer) or "Hello" in outcome(ASKED, answer)
