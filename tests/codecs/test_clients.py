"""The official clients, whole and unmodified, over a transport in memory: what they make of our streams is what they
make of our whole answers, for every ordered pair of the APIs we serve."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.codecs.shared.spec import Stamp
from dragoman.events import assemble, replay
from dragoman.types import Response
from tests.support.recordings import codec, decoded, streamed, written
from tests.support.values import responses

httpx = pytest.importorskip("httpx")
httpx2 = pytest.importorskip("httpx2")
openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")
ollama = pytest.importorskip("ollama")
genai = pytest.importorskip("google.genai", reason="google-genai is not installed")

SERVED = ("openai_chat", "openai_responses", "anthropic_messages", "ollama_chat", "gemini")
PAIRS = [*itertools.product(SERVED, SERVED)]
HELLO: Any = [{"role": "user", "content": "hi"}]
STAMP = Stamp(id="resp_1", created=1, model="m")
laws = settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=12)


class Wire:
    """A server in memory: the next answer, whole or streamed, for any client's transport."""

    def __init__(self) -> None:
        self.data = b""
        self.kind = ""

    def __call__(self, request: Any) -> Any:
        made = httpx if isinstance(request, httpx.Request) else httpx2
        return made.Response(200, content=self.data, headers={"content-type": self.kind})


WIRE = Wire()


def plain(value: Any) -> Any:
    """A client's own object as data, without what is absent."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {
            key: plain(one) for key, one in value.items() if one not in (None, [], {}) and key != "parsed_arguments"
        }
    return [plain(one) for one in value] if isinstance(value, list) else value


# ── each client, asked whole and streamed ────────────────────────────────────


OPENAI = openai.OpenAI(
    api_key="k", base_url="http://peer/v1", http_client=httpx2.Client(transport=httpx2.MockTransport(WIRE))
)
ANTHROPIC = anthropic.Anthropic(
    api_key="k", base_url="http://peer", http_client=httpx2.Client(transport=httpx2.MockTransport(WIRE))
)
OLLAMA = ollama.Client(host="http://peer", transport=httpx.MockTransport(WIRE))
GEMINI = genai.Client(
    api_key="k",
    http_options=genai.types.HttpOptions(
        base_url="http://peer", httpx_client=httpx.Client(transport=httpx.MockTransport(WIRE))
    ),
)


def chat(*, stream: bool) -> Any:
    if not stream:
        return _chat(plain(OPENAI.chat.completions.create(model="m", messages=HELLO)))
    with OPENAI.chat.completions.stream(model="m", messages=HELLO, stream_options={"include_usage": True}) as answer:
        for _ in answer:
            pass
        return _chat(plain(answer.current_completion_snapshot))


def _chat(answer: Any) -> Any:
    """The answer as a whole body has it: positions belong to streams, and a stream begins with an empty text."""
    for choice in answer["choices"]:
        if choice["message"].get("content") == "":
            del choice["message"]["content"]
        for call in choice["message"].get("tool_calls", []):
            call.pop("index", None)
    return {**answer, "object": "chat.completion"}


def items(*, stream: bool) -> Any:
    if not stream:
        return plain(OPENAI.responses.create(model="m", input="hi"))
    with OPENAI.responses.stream(model="m", input="hi") as answer:
        return plain(answer.get_final_response())


def messages(*, stream: bool) -> Any:
    if not stream:
        return plain(ANTHROPIC.messages.create(model="m", max_tokens=9, messages=HELLO))
    with ANTHROPIC.messages.stream(model="m", max_tokens=9, messages=HELLO) as answer:
        return plain(answer.get_final_message())


def lines(*, stream: bool) -> Any:
    """Ollama's client has no fold of its own: texts add up, calls follow each other, the last line ends it."""
    if not stream:
        return plain(OLLAMA.chat("m", HELLO))
    lines = list(OLLAMA.chat("m", HELLO, stream=True))
    message: dict[str, Any] = {"role": "assistant"}
    for line in map(plain, lines):
        for key in ("content", "thinking"):
            message[key] = message.get(key, "") + line["message"].get(key, "")
        message["tool_calls"] = [*message.get("tool_calls", []), *line["message"].get("tool_calls", [])]
    filled = {key: value for key, value in message.items() if value not in ("", []) or key == "content"}
    return {**plain(lines[-1]), "message": filled}


def contents(*, stream: bool) -> Any:
    """Gemini's client hands chunks on: parts follow each other, texts of one kind add up."""
    if not stream:
        return _contents([GEMINI.models.generate_content(model="m", contents="hi")])
    return _contents(GEMINI.models.generate_content_stream(model="m", contents="hi"))


def _contents(chunks: Iterable[Any]) -> Any:
    bodies = [plain(chunk) for chunk in chunks]
    parts: list[dict[str, Any]] = []
    for part in (part for body in bodies for one in body["candidates"] for part in one["content"].get("parts", [])):
        if parts and set(part) == set(parts[-1]) <= {"text", "thought"}:
            parts[-1]["text"] += part["text"]
        elif part != {"text": ""}:
            parts.append(part)
    last = {key: value for key, value in bodies[-1]["candidates"][0].items() if key != "content"}
    return {**bodies[-1], "candidates": [last], "parts": parts, "sdk_http_response": None}


CLIENTS: Mapping[str, Callable[..., Any]] = {
    "openai_chat": chat,
    "openai_responses": items,
    "anthropic_messages": messages,
    "ollama_chat": lines,
    "gemini": contents,
}


def answer_of(api: str, data: bytes, *, stream: bool) -> Any:
    """What the official client of `api` makes of `data`."""
    WIRE.data = data
    WIRE.kind = "text/event-stream" if stream and api != "ollama_chat" else "application/json"
    return CLIENTS[api](stream=stream)


@pytest.mark.parametrize(("source", "target"), PAIRS)
@laws
@given(data=st.data())
def test_an_official_client_folds_our_stream_to_our_whole_answer(source: str, target: str, data: st.DataObject) -> None:
    response: Response = data.draw(responses(source))
    events, error = decoded(codec(source), [written(codec(source), streamed(codec(source), replay(response)))])
    assert error is None
    body = codec(target).encode_response(assemble(events), STAMP)
    if body.get("status", "completed") != "completed":
        return  # this client raises on an answer that is not complete
    encoder = codec(target).encode_stream(STAMP, whole_calls=data.draw(st.booleans()))
    frames = [*(frame for event in events for frame in encoder.feed(event)), *encoder.close()]
    whole = answer_of(target, json.dumps(body).encode(), stream=False)
    assert answer_of(target, written(codec(target), frames), stream=True) == whole
