"""What of an answer its client's API has no place for is told: in a header, or in a comment before a stream's end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from dragoman.codecs import CODECS
from dragoman.codecs.shared.frames import writers
from dragoman.events import replay
from dragoman.gateway.telemetry.exchange_record import ExchangeRecord
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.types import Issue, IssueKind
from tests.support.gateways import PATHS as FRONTS
from tests.support.gateways import app, ask

TOLD = "x-dragoman-unsupported-fields"
MARK = "MARK-7"


def _chat(message: Mapping[str, Any] = {}, **more: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "Done.", **message}
    choice = {"index": 0, "message": said, "finish_reason": "stop", **more.pop("choice", {})}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "up", "choices": [choice], **more}


def _messages(*blocks: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    content = [*blocks, {"type": "text", "text": "Done."}]
    usage = {"input_tokens": 3, "output_tokens": 2}
    body = {"id": "m1", "type": "message", "role": "assistant", "model": "up", "content": content}
    return {**body, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage, **more}


def _gemini(*parts: Mapping[str, Any], candidate: Mapping[str, Any] = {}, **more: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [*parts, {"text": "Done."}]}
    first = {"content": content, "finishReason": "STOP", "index": 0, **candidate}
    return {"candidates": [first], "modelVersion": "up", "responseId": "g1", **more}


def _responses(*items: Mapping[str, Any], part: Mapping[str, Any] = {}, **more: Any) -> dict[str, Any]:
    text = {"type": "output_text", "text": "Done.", "annotations": [], "logprobs": [], **part}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
    return {
        "id": "resp_1",
        "object": "response",
        "model": "up",
        "status": "completed",
        "output": [*items, message],
        **more,
    }


SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": MARK}}
CITED = {"type": "char_location", "cited_text": MARK, "document_index": 0, "start_char_index": 0, "end_char_index": 4}
CITATION = {"type": "url_citation", "start_index": 0, "end_index": 4, "url": f"https://a.test/{MARK}", "title": "t"}
RECORDED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "a fingerprint": ("openai_chat", _chat(system_fingerprint=MARK)),
    "a service tier": ("openai_chat", _chat(service_tier=MARK)),
    "log probabilities": ("openai_chat", _chat(choice={"logprobs": {"content": [{"token": MARK, "logprob": -1.5}]}})),
    "an annotation": (
        "openai_chat",
        _chat({"annotations": [{"type": "url_citation", "url_citation": {"title": MARK}}]}),
    ),
    "sound": ("openai_chat", _chat({"audio": {"id": "a1", "data": "AAAA", "transcript": MARK}})),
    "a field nobody knows": ("openai_chat", _chat({"novelty": MARK})),
    "a server's call": ("anthropic_messages", _messages(SEARCH)),
    "a citation of a document": (
        "anthropic_messages",
        {**_messages(), "content": [{"type": "text", "text": "Done.", "citations": [CITED]}]},
    ),
    "the sequence it stopped at": ("anthropic_messages", _messages(stop_reason="stop_sequence", stop_sequence=MARK)),
    "a container": ("anthropic_messages", _messages(container={"id": MARK, "expires_at": "x"})),
    "details of a refusal": ("anthropic_messages", _messages(stop_reason="refusal", stop_details={"category": MARK})),
    "an image": ("gemini", _gemini({"inlineData": {"mimeType": "image/png", "data": "TUFSSy03"}})),
    "code that was run": ("gemini", _gemini({"executableCode": {"language": "PYTHON", "code": MARK}})),
    "grounding": ("gemini", _gemini(candidate={"groundingMetadata": {"webSearchQueries": [MARK]}})),
    "ratings": ("gemini", _gemini(candidate={"safetyRatings": [{"category": MARK, "probability": "LOW"}]})),
    "a search": (
        "openai_responses",
        _responses({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"query": MARK}}),
    ),
    "a call of an MCP server": (
        "openai_responses",
        _responses({"id": "mcp_1", "type": "mcp_call", "name": "look", "server_label": MARK, "arguments": "{}"}),
    ),
    "a citation of a page": ("openai_responses", _responses(part={"annotations": [CITATION]})),
    "what the request said": ("openai_responses", _responses(metadata={"run": MARK})),
}
"""What stands in an answer → whose it is, and the answer."""
MARKS = {"an image": "TUFSSy03"}


def _answer(back: str, body: dict[str, Any], *, stream: bool) -> Answer:
    if not stream:
        return Answer((json.dumps(body).encode(),))
    codec = CODECS[back]
    encoder = codec.encode_stream()
    frames = [frame for event in replay(codec.decode_response(body)) for frame in encoder.feed(event)]
    return Answer((b"".join(map(writers[codec.frames], [*frames, *encoder.close()])),))


UNCOMMENTED = {"ollama_chat", "gemini"}
"""Lines of JSON have no comments, and google-genai takes one for the beginning of an error: the record tells it."""
WAYS = [(what, stream) for what in RECORDED for stream in (False, True)]


class Issues:
    """An observer: what the records of a gateway say that `front` has no place for."""

    def __init__(self, front: str) -> None:
        self.lost: list[Issue] = []
        self._front = front

    def exchange_ended(self, record: ExchangeRecord) -> None:
        assert record.response is not None
        found = [issue for issue in record.response.issues if issue.kind is IssueKind.UNSUPPORTED]
        self.lost += [issue for issue in found if issue.message.startswith(f"{self._front} ")]  # not of the request

    def _unheard(self, *_: object) -> None:
        return None

    take = exchange_began = attempt_began = attempt_ended = _unheard


@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(("what", "stream"), WAYS, ids=[f"{w}-{'streamed' if s else 'whole'}" for w, s in WAYS])
def test_what_an_answer_holds_is_given_or_told(what: str, front: str, stream: bool) -> None:
    back, body = RECORDED[what]
    issues = Issues(front)
    peer = ScriptedPeer([_answer(back, body, stream=stream)])
    reply = ask(app(peer, back, observers=[issues]), front, stream=stream)
    assert reply.status == 200
    given = MARKS.get(what, MARK).encode() in reply.body
    told = TOLD in reply.headers or TOLD.encode() in reply.body
    if stream and front in UNCOMMENTED:
        assert not told
        told = bool(issues.lost)
    assert given or told
    assert bool(issues.lost) is told
    assert not (told and front == back)


@pytest.mark.parametrize("front", FRONTS)
def test_a_plain_answer_loses_nothing(front: str) -> None:
    for back, body in (("openai_chat", _chat()), ("anthropic_messages", _messages()), ("gemini", _gemini())):
        reply = ask(app(ScriptedPeer([_answer(back, body, stream=False)]), back), front, stream=False)
        assert TOLD not in reply.headers


@pytest.mark.parametrize("name", ["", "notes.pdf"])
def test_a_file_that_is_left_out_is_told_whatever_it_is_called(name: str) -> None:
    file = {"file_data": "data:application/pdf;base64,AAAA", **({"filename": name} if name else {})}
    messages = [{"role": "user", "content": [{"type": "text", "text": "read"}, {"type": "file", "file": file}]}]
    answer = Answer(
        (json.dumps({"model": "m", "message": {"role": "assistant", "content": "ok"}, "done": True}).encode(),)
    )
    reply = ask(app(ScriptedPeer([answer]), "ollama_chat"), "openai_chat", stream=False, messages=messages)
    assert "messages[0].parts[" in reply.headers["x-dragoman-unsupported-params"]
