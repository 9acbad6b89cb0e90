"""Spans of exchanges, by OpenTelemetry's conventions for generative AI.

One span per exchange, of kind SERVER and a child of the client's own (`traceparent`); below it one of kind CLIENT,
`chat {model}`, for each asking of a provider, which the provider is told as its parent, and one `execute_tool {name}`
for each tool that runs here (calls that run side by side end together).
Knows accounts and opentelemetry-api, imported with the first `Tracing`; nothing of the SDK: whoever runs the gateway
configures that (`opentelemetry-instrument dragoman serve`).
Contract: what was said is in no span unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says so.
Attribute names are written out: the conventions moved, and the constants of the Python package are deprecated.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from ...jsontext import dumps
from ...types import Media, Message, Opaque, Part, Reasoning, Request, Response, Text, ToolCall, ToolResult
from ...version import __version__
from ..config.model import GatewayConfig
from .exchange_record import Account, Asking

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CAPTURING = frozenset({"true", "1", "span_only", "span_and_event"})
NAME = "dragoman"

PROVIDERS: Mapping[str, str] = {
    "openai": "openai", "openai-responses": "openai", "anthropic": "anthropic", "gemini": "gcp.gemini",
    "gemini-interactions": "gcp.gemini", "vertex": "gcp.vertex_ai", "bedrock": "aws.bedrock",
    "bedrock-invoke": "aws.bedrock", "azure": "azure.ai.openai", "azure-deployments": "azure.ai.openai",
    "xai": "x_ai", "xai-responses": "x_ai", "mistral": "mistral_ai", "watsonx": "ibm.watsonx.ai",
}  # fmt: skip
"""Our rows by the conventions' names (gen_ai.provider.name); the others go by their own."""

SAMPLED = {
    "max_tokens": "max_tokens", "temperature": "temperature", "top_p": "top_p", "top_k": "top_k", "seed": "seed",
    "presence_penalty": "presence_penalty", "frequency_penalty": "frequency_penalty", "stop": "stop_sequences",
}  # fmt: skip
USED = {
    "input": "input_tokens", "output": "output_tokens", "cached": "cache_read.input_tokens",
    "cache_written": "cache_creation.input_tokens", "reasoning": "reasoning.output_tokens",
}  # fmt: skip
FINISHES = {"end": "stop", "tool_calls": "tool_call", "filtered": "content_filter", "refused": "content_filter"}
BUCKETS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)


def configured() -> bool:
    """Does anybody listen?  Not unless an SDK was set up before us; then its API is loaded already."""
    api = sys.modules.get("opentelemetry.trace")
    return api is not None and not isinstance(api.get_tracer_provider(), api.ProxyTracerProvider)


def installed() -> bool:
    """Is opentelemetry-api there?"""
    return find_spec("opentelemetry") is not None


class Tracing:
    """Tells spans, and the two client metrics of the conventions; providers default to OpenTelemetry's global ones."""

    def __init__(self, tracers: Any = None, meters: Any = None, *, content: bool | None = None) -> None:
        self._trace: Any = importlib.import_module("opentelemetry.trace")
        metrics: Any = importlib.import_module("opentelemetry.metrics")
        carrying: Any = importlib.import_module("opentelemetry.trace.propagation.tracecontext")
        self._carrier = carrying.TraceContextTextMapPropagator()
        self._tracer = self._trace.get_tracer(NAME, __version__, tracers)
        meter = metrics.get_meter(NAME, __version__, meters)
        self._took = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "Duration of an asking",
            explicit_bucket_boundaries_advisory=BUCKETS,
        )
        self._used = meter.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens used")
        self._content = os.environ.get(CAPTURE, "").strip().lower() in CAPTURING if content is None else content
        self._spans: dict[Account | Asking, Any] = {}
        self._tools: dict[tuple[Account, str], Any] = {}

    def take(self, config: GatewayConfig) -> None:
        """Nothing of a span depends on it."""

    # ── the exchange ─────────────────────────────────────────────────────────

    def began(self, account: Account) -> None:
        """The span of an exchange begins, below the client's."""
        parent = self._carrier.extract(dict(account.headers))
        told = {"dragoman.front": account.front, "dragoman.request_id": account.request_id}
        kind = self._trace.SpanKind.SERVER
        self._spans[account] = self._tracer.start_span(f"exchange {account.front}", parent, kind, told)

    def ended(self, account: Account) -> None:
        """It ends."""
        for known in [known for known in self._tools if known[0] is account]:
            self._end_tool(known, "canceled")  # it was let go of with the exchange
        span = self._spans.pop(account, None)
        if span is None:
            return
        if span.is_recording():
            span.set_attributes(_exchange(account))
            if account.error is not None:
                self._fail(span, account.outcome)
        span.end()

    # ── one asking ───────────────────────────────────────────────────────────

    def asked(self, account: Account, asking: Asking) -> None:
        """The span of an asking begins; the provider is told."""
        told = {**_named(asking), **_asking(asking)}
        span = self._tracer.start_span(
            f"chat {asking.place.model}", self._within(account), self._trace.SpanKind.CLIENT, told
        )
        self._spans[asking] = span
        account.carried.clear()
        self._carrier.inject(account.carried, self._trace.set_span_in_context(span))

    def answered(self, account: Account, asking: Asking) -> None:
        """It ends."""
        span, response = self._spans.pop(asking, None), asking.response
        kind = str(asking.failure.kind) if asking.failure is not None else ""
        named = _named(asking) | ({"error.type": kind} if kind else {})
        self._took.record(asking.ended - asking.begun, named)
        if response is not None and response.usage is not None:
            self._used.record(response.usage.input, {**named, "gen_ai.token.type": "input"})
            self._used.record(response.usage.output, {**named, "gen_ai.token.type": "output"})
        if span is None:
            return
        if span.is_recording():
            if response is not None:
                span.set_attributes({**_answer(response), **_judged(response)})
            if self._content:
                span.set_attributes(_content(asking.request, response))
            if kind:
                self._fail(span, kind)
        span.end()

    # ── one tool ─────────────────────────────────────────────────────────────

    def running(self, account: Account, call: ToolCall) -> None:
        """The span of a tool that runs here begins."""
        told = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "extension",
        }
        if self._content:
            told["gen_ai.tool.call.arguments"] = dumps(call.arguments)
        self._tools[account, call.id] = self._tracer.start_span(
            f"execute_tool {call.name}", self._within(account), self._trace.SpanKind.INTERNAL, told
        )

    def ran(self, account: Account, call: ToolCall, result: ToolResult) -> None:
        """It ends."""
        known = account, call.id
        if self._content and known in self._tools:
            self._tools[known].set_attribute("gen_ai.tool.call.result", result.text)
        self._end_tool(known, str(result.error_code or "tool_error") if result.is_error else "")

    def _end_tool(self, known: tuple[Account, str], failure: str) -> None:
        span = self._tools.pop(known, None)  # a call that did not run ends without having begun
        if span is not None:
            if failure:
                self._fail(span, failure)
            span.end()

    def _within(self, account: Account) -> Any:
        return self._trace.set_span_in_context(self._spans.get(account, self._trace.INVALID_SPAN))

    def _fail(self, span: Any, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._trace.StatusCode.ERROR, kind)


# ── attributes ───────────────────────────────────────────────────────────────


def _named(asking: Asking) -> dict[str, Any]:
    where = asking.place
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDERS.get(where.provider, where.provider),
        "gen_ai.request.model": where.model,
    }


def _asking(asking: Asking) -> dict[str, Any]:
    request, address = asking.request, urlsplit(asking.place.address)
    told: dict[str, Any] = {"dragoman.attempt": asking.attempt, "dragoman.reask": asking.reask}
    told["gen_ai.request.stream"] = request.stream
    if address.hostname:
        told["server.address"] = address.hostname
    if address.hostname and address.port:
        told["server.port"] = address.port
    if request.output_schema is not None:
        told["gen_ai.output.type"] = "json"
    for ours, theirs in SAMPLED.items():
        if (value := getattr(request.sampling, ours)) not in (None, ()):
            told[f"gen_ai.request.{theirs}"] = value
    return told


def _answer(response: Response) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if response.stop is not None:
        told["gen_ai.response.finish_reasons"] = [FINISHES.get(response.stop, str(response.stop))]
    told |= {f"gen_ai.response.{key}": value for key in ("id", "model") if (value := getattr(response, key))}
    for ours, theirs in USED.items() if response.usage is not None else ():
        if (count := getattr(response.usage, ours)) or ours in {"input", "output"}:
            told[f"gen_ai.usage.{theirs}"] = count
    return told


def _judged(response: Response) -> dict[str, Any]:
    """What was made of the answer's calls: only what there is to tell."""
    reports = [call.report for call in response.calls if call.report is not None]
    told: dict[str, Any] = {
        "dragoman.calls": len(response.calls),
        "dragoman.call.dialects": sorted({report.dialect for report in reports if report.dialect}),
        "dragoman.call.tiers": sorted({str(report.tier) for report in reports}),
        "dragoman.call.verdicts": sorted({str(report.verdict) for report in reports}),
        "dragoman.edits": [edit.kind for report in reports for edit in report.edits],
        "dragoman.issues": [str(issue.kind) for issue in response.issues],
    }
    return {key: value for key, value in told.items() if value}


def _exchange(account: Account) -> dict[str, Any]:
    told: dict[str, Any] = {
        "http.response.status_code": account.status,
        "gen_ai.request.model": account.model,
        "gen_ai.request.stream": account.stream,
        "dragoman.route": account.route,
        "dragoman.reasks": account.reasks,
        "dragoman.attempts": len(account.askings),
    }
    if account.stream and account.first is not None:
        told["gen_ai.response.time_to_first_chunk"] = account.first - account.begun
    return told | (_judged(account.response) if account.response is not None else {})


# ── content, where it is asked for ───────────────────────────────────────────


def _content(request: Request, response: Response | None) -> dict[str, Any]:
    spoken = [message for message in request.messages if message.role != "system"]
    told = {"gen_ai.input.messages": [_message(message) for message in spoken]}
    system = [_part(part) for message in request.messages if message.role == "system" for part in message.parts]
    if system:
        told["gen_ai.system_instructions"] = system
    if request.tools:
        told["gen_ai.tool.definitions"] = [
            {"type": "function", "name": t.name, "description": t.description, "parameters": t.parameters}
            for t in request.tools
        ]
    if response is not None:
        reason = FINISHES.get(response.stop, str(response.stop)) if response.stop else "stop"
        told["gen_ai.output.messages"] = [{**_message(response.message), "finish_reason": reason}]
    return {name: dumps(value) for name, value in told.items()}


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "parts": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "content": text}
        case Reasoning(text):
            return {"type": "reasoning", "content": text}
        case ToolCall():
            return {"type": "tool_call", "id": part.id, "name": part.name, "arguments": part.arguments}
        case Media():
            return (
                {"type": "uri", "uri": part.url, "mime_type": part.mime}
                if part.url
                else {"type": "blob", "mime_type": part.mime}
            )
        case Opaque():
            return {"type": part.block.get("type", "unknown")}
        case result:
            return {"type": "tool_call_response", "id": result.call_id, "response": result.text}
