"""A provider that could not read its model's call gives what was written as an error: it is read all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.effects import run
from dragoman.errors import ErrorKind, ProviderError
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.turn.machine import turn
from dragoman.turn.rejections import refused_generation
from dragoman.types import IssueKind, Message, Request, Response, Stop, Tool
from tests.support import places
from tests.support.upstreams import refusal

ERRORS = places.RECORDINGS / "wire" / "errors.jsonl"
ADD = Tool(
    name="add",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
)


def failed(written: Any, **more: Any) -> dict[str, Any]:
    message = "Failed to call a function. Please adjust your prompt."
    return {"error": {"message": message, "type": "invalid_request_error", "code": "tool_use_failed",
                      "failed_generation": written, **more}}  # fmt: skip


def ask(answer: Answer, *, tools: tuple[Tool, ...] = (ADD,), stream: bool = False) -> Response:
    route = Route(provider=PROVIDERS["groq"], key="key")
    request = Request(model="llama-3.3-70b", messages=(Message("user", "2+3?"),), tools=tools, stream=stream)
    memory = ScriptedPeer([answer])
    response = run(turn(request, route), memory.sync_performer())
    assert len(memory.sent) == 1
    return response


WRITTEN = [
    (
        '[\n  {\n    "name": "add",\n    "parameters": {\n      "a": "2",\n      "b": "3"\n    }\n  }\n]',
        {"a": 2, "b": 3},
    ),
    ('{"name": "add", "arguments": {"a": 2, "b": 3}}', {"a": 2, "b": 3}),
    ('<function=add>{"a": 2, "b": 3}</function>', {"a": 2, "b": 3}),
    ('<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 3,}}\n</tool_call>', {"a": 2, "b": 3}),
]


@pytest.mark.parametrize(("written", "wanted"), WRITTEN, ids=range(len(WRITTEN)))
def test_the_call_is_recovered(written: str, wanted: dict[str, Any]) -> None:
    response = ask(refusal(400, failed(written)))
    assert [(call.name, call.arguments) for call in response.calls] == [("add", wanted)]
    assert response.stop is Stop.TOOL_CALLS
    (issue,) = [issue for issue in response.issues if issue.kind is IssueKind.WIRE_FAULT]
    assert issue.raw == written


def test_prose_is_the_answer() -> None:
    response = ask(refusal(400, failed("It is five, no tool is needed.")))
    assert (response.text, response.calls, response.stop) == ("It is five, no tool is needed.", (), Stop.END)


WRONG = [
    ('{"name": "add", "arguments": {"foo": "bar"}}', IssueKind.INVALID_ARGUMENTS),
    ('[{"name": "subtract", "parameters": {"a": 1, "b": 2}}]', IssueKind.UNKNOWN_TOOL),
    ("{'name': 'add', 'arguments': {'a': 'two', 'b': 3}}", IssueKind.INVALID_ARGUMENTS),
]


@pytest.mark.parametrize(("written", "kind"), WRONG, ids=range(len(WRONG)))
def test_a_call_that_cannot_run_is_refused_with_its_correction(written: str, kind: IssueKind) -> None:
    response = ask(refusal(400, failed(written)))
    assert (response.calls, response.text) == ((), "")
    (issue,) = [issue for issue in response.issues if issue.correction]
    assert issue.kind is kind


ROLE = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
SAID = b'data: {"choices":[{"index":0,"delta":{"content":"Let me"}}]}\n\n'


def streamed(*pieces: bytes) -> Answer:
    error = f"event: error\ndata: {json.dumps(failed(WRITTEN[0][0], status_code=400))}\n\n".encode()
    return Answer((*pieces, error), headers={"content-type": "text/event-stream"})


def test_a_call_is_recovered_from_a_stream_not_begun() -> None:
    response = ask(streamed(ROLE), stream=True)
    assert [call.arguments for call in response.calls] == [{"a": 2, "b": 3}]


def test_what_was_said_already_is_not_said_twice() -> None:
    with pytest.raises(ProviderError, match="Failed to call"):
        ask(streamed(ROLE, SAID), stream=True)


@pytest.mark.parametrize(
    "body",
    [{"error": {"message": "bad"}}, failed(None), failed(3), failed(""), [], "failed_generation", b"failed_generation {"],
    ids=repr,
)  # fmt: skip
def test_other_errors_are_errors(body: Any) -> None:
    with pytest.raises(ProviderError):
        ask(refusal(400, body))


def test_without_tools_there_is_nothing_to_read() -> None:
    with pytest.raises(ProviderError):
        ask(refusal(400, failed("hm")), tools=())


def test_a_body_that_is_deep_or_cut_is_no_generation() -> None:
    for body in ('{"failed_generation": ' + "[" * 100_000, '{"error": {"failed_generation": "abc'):
        assert refused_generation(ProviderError("x", status=400, kind=ErrorKind.BAD_REQUEST, body=body)) == ""


@pytest.mark.skipif(not ERRORS.exists(), reason="the recorded errors are not here")
def test_what_was_recorded_is_recovered_or_refused_with_its_reason() -> None:
    rows = [json.loads(line) for line in ERRORS.read_text(encoding="utf-8").splitlines()]
    refusals = [row for row in rows if "failed_generation" in json.dumps(row["response"])]
    assert refusals
    for row in refusals:
        tools = tuple(Tool(name=t["function"]["name"], parameters=t["function"]["parameters"])
                      for t in row["request"]["tools"])  # fmt: skip
        response = ask(refusal(row["status"], row["response"]), tools=tools)
        refused = [issue for issue in response.issues if issue.correction]
        assert response.calls or refused, row["id"]
