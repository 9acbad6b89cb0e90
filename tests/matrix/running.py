"""The cells of the tables, run: a front's request through a gateway in process to a scripted backend.

Knows how each backend answers in its plainest words; judges nothing (`test_requests.py`, `test_answers.py` do).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dragoman.effects import Open
from dragoman.gateway import GatewayConfig, create_app
from dragoman.gateway.telemetry.exchange_record import ExchangeRecord
from dragoman.providers.route import Route
from dragoman.providers.rows import PROVIDERS
from dragoman.sim.scripted import Answer, ScriptedPeer
from dragoman.types import IssueKind
from tests.support.asgi import Reply, call
from tests.support.cells import LOCK
from tests.support.gateways import PATHS
from tests.support.wires import WIRES

from .answered import AnswerRow
from .asked_talk import tools
from .backends import STREAMS
from .clients import READ
from .table import BACKENDS, MODELS, A, B, C, G, H, L, R, Row, laid_over

PLAIN: Mapping[str, Any] = {
    C: {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    R: {"model": "m", "input": "hi"},
    A: {"model": "m", "max_tokens": 1000, "messages": [{"role": "user", "content": "hi"}]},
    G: {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    L: {"model": "m", "stream": False, "messages": [{"role": "user", "content": "hi"}]},
}
"""The plainest request of each front."""
TOLD, TOLD_FIELDS = "x-dragoman-unsupported-params", "x-dragoman-unsupported-fields"
TOOLS = tools(names=("weather", "time"))
REPLIES = {"text": "ok", "json": '{"city": "Oslo"}', "enum": "blue"}


@dataclass(frozen=True)
class Outcome:
    """What a cell came to: the client's reply, the last body the backend got (None: none), and what was told."""

    reply: Reply
    sent: Any
    told: str


def said(codec: str, text: str) -> bytes:
    """A backend's plainest whole answer."""
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    bodies: dict[str, dict[str, Any]] = {
        C: {"id": "c", "object": "chat.completion", "created": 1, "model": "up", "usage": usage,
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]},
        R: {"id": "resp_1", "object": "response", "created_at": 1, "model": "up", "status": "completed",
            "output": [{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                        "content": [{"type": "output_text", "text": text, "annotations": []}]}],
            "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}},
        A: {"id": "msg_1", "type": "message", "role": "assistant", "model": "up", "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 2}},
        G: {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}, "modelVersion": "up"},
        L: {"model": "up", "created_at": "2026-11-22T00:00:00Z", "message": {"role": "assistant", "content": text}, "done": True,
            "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 2},
        B: {"output": {"message": {"role": "assistant", "content": [{"text": text}]}}, "stopReason": "end_turn",
            "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}, "metrics": {"latencyMs": 1}},
        H: {"id": "c", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
            "usage": {"tokens": {"input_tokens": 3, "output_tokens": 2}}},
    }  # fmt: skip
    return json.dumps(bodies[codec]).encode()


def _replied(codec: str, reply: str, opened: Open) -> bytes:
    kind, _, name = reply.partition(" ")
    if kind == "call":
        return WIRES[codec].whole("call_9", name or "weather", {"city": "Oslo"})
    if kind == "enum":
        return said(codec, chosen(opened.body.decode()))
    return said(codec, REPLIES[kind])


def chosen(body: str) -> str:
    """What a model held to the schema in the request answers for an enum."""
    if "text/x.enum" in body:
        return "blue"
    wrapped = next((name for name in ("value", "answer", "result", "choice", "enum", "output") if f'"{name}":{{' in body.replace(" ", "").replace("\\", "")), "")
    return json.dumps({wrapped: "blue"} if wrapped and '"properties"' in body.replace("\\", "") else "blue")


class Lost:
    """An observer: the paths that the records of a gateway say were lost."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def exchange_ended(self, record: ExchangeRecord) -> None:
        issues = record.response.issues if record.response is not None else ()
        self.paths += [issue.path for issue in issues if issue.kind is IssueKind.UNSUPPORTED]

    def _unheard(self, *_: object) -> None:
        return None

    take = exchange_began = attempt_began = attempt_ended = _unheard


def gateway(
    backend: str, model: str, answer: Callable[[Open], Answer], observers: Sequence[Any] = ()
) -> tuple[Any, ScriptedPeer]:
    """A gateway that remembers nothing yet before one backend, and the peer behind it."""
    row = PROVIDERS[BACKENDS[backend]]
    row = replace(row, auth=LOCK, or_auth=(), settings=(), url_env=(), base_url="http://model.test/v1")
    peer = ScriptedPeer(answer)
    to = Route(provider=row, model=model, base_url="http://model.test/v1", key="k")
    return create_app(GatewayConfig(default=to, reasks=0), peer, observers=observers), peer


def run(row: Row, front: str, backend: str) -> Outcome:
    """One cell of requests."""
    codec = PROVIDERS[BACKENDS[backend]].codec
    kind = {"content-type": "application/json"}
    model = row.models.get(backend, MODELS[backend])
    app, peer = gateway(backend, model, lambda opened: Answer((_replied(codec, row.reply, opened),), headers=kind))
    body = laid_over(PLAIN[front], row.said[front])
    reply = call(app, PATHS[front], body)
    sent = json.loads(peer.sent[0].body) if peer.sent else None
    return Outcome(reply=reply, sent=sent, told=reply.headers.get(TOLD, ""))


def run_answer(row: AnswerRow, back: str, front: str, *, stream: bool) -> tuple[Reply, Any, str]:
    """One cell of answers: the reply, what the client holds when it has read it, and what was told of it."""
    data, kind = (b"".join(STREAMS[back][0](row.given[back])), STREAMS[back][1]) if stream else (json.dumps(row.given[back]).encode(), "application/json")
    lost = Lost()
    app, _ = gateway(back, MODELS[back], lambda _: Answer((data,), headers={"content-type": kind}), [lost])
    path, body = PATHS[front], laid_over(PLAIN[front], TOOLS[front])
    if front == G:
        path = path.replace(":g", ":streamG") + "?alt=sse" if stream else path
    else:
        body = {**body, "stream": stream, **({"stream_options": {"include_usage": True}} if stream and front == C else {})}
    reply = call(app, path, body)
    if reply.status != 200:
        return reply, None, ""
    held = READ[front](reply.body) if stream else reply.json
    told = _told(reply, held)
    return reply, held, told or (" ".join(lost.paths) if stream and front == G else "")  # its streams hold no comments


def _told(reply: Reply, held: Any) -> str:
    comments = [line for line in reply.body.decode().split("\n") if line.startswith(":") and TOLD_FIELDS in line]
    in_body = json.dumps(held.get("unsupported_fields", "")) if isinstance(held, Mapping) else ""
    return " ".join([reply.headers.get(TOLD_FIELDS, ""), *comments, in_body.strip('"')]).strip()
