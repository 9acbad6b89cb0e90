"""`dragoman convert`: every API to every other, requests, answers and streams, with a report of what was lost."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli import main
from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import readers, writers
from dragoman.events import Event, assemble, replay
from dragoman.types import Message, Request, Response, Sampling, Stop, Text, Tool, ToolCall, ToolResult, Usage

from .conftest import Run

PAIRS = [*itertools.product(CODECS, CODECS)]
TRANSCRIPTS = ("ollama_generate", "stackspot")
"""APIs without calls."""
CALL = ToolCall(id="call_1", name="read_file", arguments={"path": "a.txt"})
ANSWER = Response(
    message=Message("assistant", [Text("Let me see."), CALL]), stop=Stop.TOOL_CALLS, usage=Usage(input=9, output=4)
)
REQUEST = Request(
    model="m",
    messages=(
        Message("user", "read it"),
        Message("assistant", [CALL]),
        Message("tool", [ToolResult(call_id="call_1", name="read_file", content="alpha", is_error=True)]),
    ),
    tools=(Tool(name="read_file", parameters={"type": "object", "properties": {"path": {"type": "string"}}}),),
    sampling=Sampling(max_tokens=50, top_k=7),
)


def stream_of(api: str) -> bytes:
    encoder = CODECS[api].encode_stream()
    frames = [*(frame for event in replay(ANSWER) for frame in encoder.feed(event)), *encoder.close()]
    return b"".join(map(writers[CODECS[api].frames], frames))


def read_stream(api: str, data: bytes) -> Response:
    reader, decoder = readers[CODECS[api].frames](), CODECS[api].decode_stream()
    events: list[Event] = [
        event for frame in (*reader.feed(data), *reader.close()) for event in decoder.feed(frame)
    ] + decoder.close()
    return assemble(events)


@pytest.fixture
def stream(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Callable[..., bytes]:
    """The bytes of the stream a conversion writes."""

    def ran(source: str, target: str, kind: str, data: bytes) -> bytes:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        assert main(["convert", "--from", source, "--to", target, "--kind", kind, "--into", "stream"]) == 0
        return capsysbinary.readouterr().out

    return ran


def convert(run: Run, source: str, target: str, data: Any, *options: str) -> Any:
    stdin = data if isinstance(data, bytes) else json.dumps(data)
    ran = run("convert", "--from", source, "--to", target, *options, "--json", stdin=stdin)
    assert ran.code == 0, ran.err
    assert ran.err == ""
    return json.loads(ran.out)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_request_goes_from_every_api_to_every_other(run: Run, source: str, target: str) -> None:
    body = CODECS[source].encode_request(REQUEST)
    made = convert(run, source, target, body, "--model", "m")
    request = CODECS[target].decode_request(made["request"])
    assert "alpha" in json.dumps(made["request"])
    assert made["path"] == CODECS[target].path.replace("{model}", "m")
    if source in TRANSCRIPTS or target in TRANSCRIPTS:
        return
    assert [call for message in request.messages for call in message.calls] == [CALL]
    assert request.tools == REQUEST.tools
    assert [result.is_error for message in request.messages for result in message.results] == [True]
    known = CODECS[source].decode_request(body).sampling.top_k
    lost = [issue["path"] for issue in made["issues"] if issue["path"] == "$.sampling.top_k"]
    assert (request.sampling.top_k is None) == (bool(lost) or known is None)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_answers_convert_from_every_api_to_every_other(
    run: Run, stream: Callable[..., bytes], source: str, target: str
) -> None:
    whole = CODECS[source].encode_response(ANSWER)
    decoded = CODECS[source].decode_response(whole)
    made = [
        CODECS[target].decode_response(convert(run, source, target, whole, "--kind", "response")["response"]),
        CODECS[target].decode_response(
            convert(run, source, target, stream_of(source), "--kind", "stream", "--into", "response")["response"]
        ),
    ]
    for kind, given in (("response", json.dumps(whole).encode()), ("stream", stream_of(source))):
        made.append(read_stream(target, stream(source, target, kind, given)))
    for response in made:
        assert response.text == decoded.text
        assert [call.arguments for call in response.calls] == (
            [] if target in TRANSCRIPTS else [call.arguments for call in decoded.calls]
        )
        assert response.usage is not None
        assert (response.usage.input, response.usage.output) == (9, 4)


def test_the_report_goes_to_stderr_and_the_body_to_stdout(run: Run) -> None:
    body = {"model": "m", "store": True, "messages": [{"role": "user", "content": "hi"}]}
    ran = run("convert", "--from", "openai_chat", "--to", "gemini", stdin=json.dumps(body))
    assert json.loads(ran.out) == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert ran.err.splitlines() == [
        "POST /models/m:generateContent",
        "unsupported  $.extra.store  gemini has no field `store` of openai_chat",
    ]


def test_a_model_that_stands_in_the_path_must_be_named(run: Run) -> None:
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    ran = run("convert", "--from", "gemini", "--to", "openai_chat", stdin=json.dumps(body))
    assert "--model" in ran.err
    named = run("convert", "--from", "gemini", "--to", "openai_chat", "--model", "m", stdin=json.dumps(body))
    assert json.loads(named.out)["model"] == "m"
    assert "--model" not in named.err


def test_a_streams_frames_are_objects_in_json(run: Run) -> None:
    made = convert(run, "openai_chat", "anthropic_messages", stream_of("openai_chat"), "--kind", "stream")
    assert made["stream"][0]["event"] == "message_start"
    assert json.loads(made["stream"][0]["data"])["type"] == "message_start"


def test_an_error_in_a_stream_is_converted_too(run: Run) -> None:
    stream = b'{"model":"m","message":{"content":"a"},"done":false}\n{"error":"no memory"}\n'
    ran = run("convert", "--from", "ollama_chat", "--to", "anthropic_messages", "--kind", "stream", stdin=stream)
    assert ran.code == 1
    assert ran.out.split("event: ")[-1].startswith("error\n")
    assert "no memory" in ran.out
    assert "no memory" in ran.err


def test_a_converted_error_has_the_number_that_is_next(run: Run) -> None:
    stream = b'{"model":"m","message":{"content":"a"},"done":false}\n{"error":"no memory"}\n'
    ran = run("convert", "--from", "ollama_chat", "--to", "openai_responses", "--kind", "stream", stdin=stream)
    told = [json.loads(line.removeprefix("data: ")) for line in ran.out.splitlines() if line.startswith("data: ")]
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    assert told[-1]["type"] == "error"


def test_a_request_is_not_made_into_an_answer(run: Run) -> None:
    ran = run("convert", "--from", "openai_chat", "--to", "gemini", "--into", "stream", stdin="{}")
    assert ran.code == 2


def test_a_file_is_read_as_standard_input_is(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text('{"model": "m", "messages": [{"role": "user", "content": "hi"}]}', encoding="utf-8")
    ran = run("convert", path, "--from", "openai", "--to", "ollama")
    assert json.loads(ran.out)["messages"] == [{"role": "user", "content": "hi"}]
