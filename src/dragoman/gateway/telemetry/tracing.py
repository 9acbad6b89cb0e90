"""Spans of exchanges, by OpenTelemetry's conventions for generative AI.

One span per exchange, of kind SERVER and a child of the client's own (`traceparent`); below it one of kind CLIENT,
`chat {model}`, for each upstream request, which the provider gets as its parent, and one `execute_tool {name}`
for each tool that runs here (calls that run side by side end together).  What the judge said of a call is an event
`gen_ai.evaluation.result` below its chat span, by the Logs API.
Knows exchange records and opentelemetry-api, imported with the first `Tracing`; nothing of the SDK: whoever runs the
gateway configures that (`opentelemetry-instrument dragoman serve`).
Contract: what was said is in no span unless OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT says so.
Attribute names are written out: the conventions moved, and the constants of the Python package are deprecated.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from ...jsontext import dumps
from ...types import Media, Message, Opaque, Part, Reasoning, Request, Response, Text, Tool, ToolCall, ToolResult
from ...version import __version__
from ..config.model import GatewayConfig
from .evaluations import NAME as EVALUATED
from .evaluations import Evaluation, evaluations
from .exchange_record import ExchangeRecord, UpstreamAttempt, reports

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CAPTURING = frozenset({"true", "1", "span_only", "span_and_event"})
NAME = "dragoman"
SCHEMA = "https://opentelemetry.io/schemas/gen-ai/1.42.0"
"""The conventions that the names are from (open-telemetry/semantic-conventions-genai); all of them *Development*."""

PROVIDERS: Mapping[str, str] = {
    "openai": "openai", "openai-responses": "openai", "anthropic": "anthropic", "gemini": "gcp.gemini",
    "gemini-interactions": "gcp.gemini", "vertex": "gcp.vertex_ai", "bedrock": "aws.bedrock",
    "bedrock-invoke": "aws.bedrock", "azure": "azure.ai.openai", "azure-deployments": "azure.ai.openai",
    "xai": "x_ai", "xai-responses": "x_ai", "mistral": "mistral_ai", "moonshot": "moonshot_ai",
    "moonshot-anthropic": "moonshot_ai", "watsonx": "ibm.watsonx.ai",
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
TOKEN_BUCKETS = tuple(4**power for power in range(14))
DURATIONS: Mapping[str, str] = {
    "gen_ai.client.operation.duration": "Duration of an upstream request",
    "gen_ai.client.operation.time_to_first_chunk": "Seconds until the first chunk of a streamed answer",
    "gen_ai.client.operation.time_per_output_chunk": "Seconds between two chunks of a streamed answer",
    "gen_ai.execute_tool.duration": "Duration of a tool that runs here",
}
"""Metric of the conventions → what it measures, in seconds."""


def configured() -> bool:
    """Does anybody listen?  Not unless an SDK was set up before us; then its API is loaded already."""
    api = sys.modules.get("opentelemetry.trace")
    return api is not None and not isinstance(api.get_tracer_provider(), api.ProxyTracerProvider)


def installed() -> bool:
    """Is opentelemetry-api there?"""
    return find_spec("opentelemetry") is not None


class Tracing:
    """Emits spans, metrics and events of the conventions; providers default to OpenTelemetry's global ones."""

    times_chunks = True

    def __init__(
        self, tracers: Any = None, meters: Any = None, loggers: Any = None, *, content: bool | None = None
    ) -> None:
        self._trace: Any = importlib.import_module("opentelemetry.trace")
        metrics: Any = importlib.import_module("opentelemetry.metrics")
        tracecontext: Any = importlib.import_module("opentelemetry.trace.propagation.tracecontext")
        self._carrier = tracecontext.TraceContextTextMapPropagator()
        self._logs: Any = importlib.import_module("opentelemetry._logs")
        self._tracer = self._trace.get_tracer(NAME, __version__, tracers, SCHEMA)
        self._logger = self._logs.get_logger(NAME, __version__, loggers, SCHEMA)
        meter = metrics.get_meter(NAME, __version__, meters, SCHEMA)
        self._took, self._first, self._chunk, self._tool_took = (
            meter.create_histogram(name, "s", what, explicit_bucket_boundaries_advisory=BUCKETS)
            for name, what in DURATIONS.items()
        )
        self._used = meter.create_histogram(
            "gen_ai.client.token.usage", "{token}", "Tokens used", explicit_bucket_boundaries_advisory=TOKEN_BUCKETS
        )
        self._content = os.environ.get(CAPTURE, "").strip().lower() in CAPTURING if content is None else content
        self._spans: dict[ExchangeRecord | UpstreamAttempt, Any] = {}
        self._tools: dict[tuple[ExchangeRecord, str], tuple[Any, float, str]] = {}

    def take(self, config: GatewayConfig) -> None:
        """Nothing of a span depends on it."""

    # ── the exchange ─────────────────────────────────────────────────────────

    def exchange_began(self, record: ExchangeRecord) -> None:
        """The span of an exchange begins, below the client's."""
        parent = self._carrier.extract(dict(record.headers))
        attributes = {"dragoman.front": record.front, "dragoman.request_id": record.request_id}
        kind = self._trace.SpanKind.SERVER
        self._spans[record] = self._tracer.start_span(f"exchange {record.front}", parent, kind, attributes)

    def exchange_ended(self, record: ExchangeRecord) -> None:
        """It ends."""
        for known in [known for known in self._tools if known[0] is record]:
            self._end_tool(known, "canceled")  # it was let go of with the exchange
        span = self._spans.pop(record, None)
        if span is None:
            return
        if span.is_recording():
            span.set_attributes({**_whose(record), **_exchange(record)})
            if self._content and record.asked is not None:  # what lists traces by their first span shows it there alone
                span.set_attributes(_content(record.asked, record.response))
            if record.error is not None:
                self._fail(span, record.outcome)
        span.end()

    # ── one attempt ──────────────────────────────────────────────────────────

    def attempt_began(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """The span of an upstream request begins; the provider gets its headers."""
        attributes = {**_named(attempt), **_whose(record), **_request(attempt)}
        span = self._tracer.start_span(
            f"{attempt.operation} {attempt.place.model}", self._within(record), self._trace.SpanKind.CLIENT, attributes
        )
        self._spans[attempt] = span
        record.trace_headers.clear()
        self._carrier.inject(record.trace_headers, self._trace.set_span_in_context(span))

    def attempt_ended(self, record: ExchangeRecord, attempt: UpstreamAttempt) -> None:
        """It ends."""
        span, response = self._spans.pop(attempt, None), attempt.response
        kind = str(attempt.failure.kind) if attempt.failure is not None else ""
        named = _named(attempt) | ({"error.type": kind} if kind else {})
        self._took.record(attempt.ended - attempt.begun, named)
        if response is not None and response.usage is not None:
            self._used.record(response.usage.input, {**named, "gen_ai.token.type": "input"})
            self._used.record(response.usage.output, {**named, "gen_ai.token.type": "output"})
        self._measure_chunks(attempt, named)
        if span is None:
            return
        if response is not None and not attempt.besides:
            within = self._trace.set_span_in_context(span)
            for evaluation in evaluations(attempt.request, response):
                self._evaluate(evaluation, {**_named(attempt), **_whose(record)}, response, within)
        if span.is_recording():
            if response is not None:
                span.set_attributes({**_answer(response), **_judged(response)})
            if self._content:
                span.set_attributes(_content(attempt.request, response))
            if kind:
                self._fail(span, kind)
        span.end()

    def _measure_chunks(self, attempt: UpstreamAttempt, named: Mapping[str, Any]) -> None:
        if attempt.request.stream and attempt.arrivals:
            self._first.record(attempt.arrivals[0] - attempt.sent, named)
            for before, after in pairwise(attempt.arrivals):
                self._chunk.record(after - before, named)

    def _evaluate(self, evaluation: Evaluation, named: Mapping[str, Any], response: Response, within: Any) -> None:
        """Emit the event of one result, below the span of the answer."""
        attributes = {**named, **_evaluation(evaluation), **_answered_as(response)}
        record = self._logs.LogRecord(
            event_name="gen_ai.evaluation.result",
            context=within,
            severity_number=self._logs.SeverityNumber.INFO,
            attributes=attributes,
        )
        self._logger.emit(record)

    # ── one tool ─────────────────────────────────────────────────────────────

    def tool_began(self, record: ExchangeRecord, call: ToolCall) -> None:
        """The span of a tool that runs here begins."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.call.id": call.id,
            "gen_ai.tool.type": "extension",
            **_whose(record),
        }
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = dumps(call.arguments)
        span = self._tracer.start_span(
            f"execute_tool {call.name}", self._within(record), self._trace.SpanKind.INTERNAL, attributes
        )
        self._tools[record, call.id] = span, record.clock(), call.name

    def tool_ended(self, record: ExchangeRecord, call: ToolCall, result: ToolResult) -> None:
        """It ends."""
        known = record, call.id
        if self._content and known in self._tools:
            self._tools[known][0].set_attribute("gen_ai.tool.call.result", result.text)
        self._end_tool(known, str(result.error_code or "tool_error") if result.is_error else "")

    def _end_tool(self, known: tuple[ExchangeRecord, str], failure: str) -> None:
        began = self._tools.pop(known, None)  # a call that did not run ends without having begun
        if began is None:
            return
        span, at, name = began
        named = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "extension"}
        self._tool_took.record(known[0].clock() - at, {**named, "error.type": failure} if failure else named)
        if failure:
            self._fail(span, failure)
        span.end()

    def _within(self, record: ExchangeRecord) -> Any:
        return self._trace.set_span_in_context(self._spans.get(record, self._trace.INVALID_SPAN))

    def _fail(self, span: Any, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._trace.StatusCode.ERROR, kind)


# ── attributes ───────────────────────────────────────────────────────────────


def _named(attempt: UpstreamAttempt) -> dict[str, Any]:
    where = attempt.place
    return {
        "gen_ai.operation.name": attempt.operation,
        "gen_ai.provider.name": PROVIDERS.get(where.provider, where.provider),
        "gen_ai.request.model": where.model,
    }


def _whose(record: ExchangeRecord) -> dict[str, Any]:
    """Whose conversation it is; one that its client does not name has a session all the same, and no conversation's id.

    The conventions want the id that is at hand, not one that is made up of what was said.
    """
    session = record.session
    attributes = {
        "gen_ai.conversation.id": session.name if session is not None else "",
        "session.id": (session.name or session.key) if session is not None else "",
        "user.id": record.key,
    }
    return {key: value for key, value in attributes.items() if value}


def _evaluation(evaluation: Evaluation) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "gen_ai.evaluation.name": EVALUATED,
        "gen_ai.evaluation.score.value": evaluation.score,
        "gen_ai.evaluation.score.label": evaluation.label,
    }
    if evaluation.codes:
        attributes["gen_ai.evaluation.explanation"] = ",".join(evaluation.codes)
    if evaluation.call is not None:
        attributes |= {"gen_ai.tool.name": evaluation.call.name, "gen_ai.tool.call.id": evaluation.call.id}
    return attributes


def _answered_as(response: Response) -> dict[str, Any]:
    return {f"gen_ai.response.{key}": value for key in ("id", "model") if (value := getattr(response, key))}


def _request(attempt: UpstreamAttempt) -> dict[str, Any]:
    request, address = attempt.request, urlsplit(attempt.place.address)
    attributes: dict[str, Any] = {"dragoman.attempt": attempt.number, "dragoman.reask": attempt.reask}
    attributes["gen_ai.request.stream"] = request.stream
    if attempt.besides:
        attributes["dragoman.besides"] = attempt.besides
    if address.hostname:
        attributes["server.address"] = address.hostname
    if address.hostname and address.port:
        attributes["server.port"] = address.port
    if request.output_schema is not None:
        attributes["gen_ai.output.type"] = "json"
    for ours, theirs in SAMPLED.items():
        if (value := getattr(request.sampling, ours)) not in (None, ()):
            attributes[f"gen_ai.request.{theirs}"] = value
    return attributes


def _answer(response: Response) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if response.stop is not None:
        attributes["gen_ai.response.finish_reasons"] = [FINISHES.get(response.stop, str(response.stop))]
    attributes |= _answered_as(response)
    for ours, theirs in USED.items() if response.usage is not None else ():
        if (count := getattr(response.usage, ours)) or ours in {"input", "output"}:
            attributes[f"gen_ai.usage.{theirs}"] = count
    return attributes


def _judged(response: Response) -> dict[str, Any]:
    """What was made of the answer's calls, without what is empty."""
    known = reports(response)
    attributes: dict[str, Any] = {
        "dragoman.calls": len(response.calls),
        "dragoman.call.dialects": sorted({report.dialect for report in known} - {""}),
        "dragoman.call.tiers": sorted({str(report.tier) for report in known}),
        "dragoman.call.verdicts": sorted({str(report.verdict) for report in known}),
        "dragoman.edits": [edit.kind for report in known for edit in report.edits],
        "dragoman.issues": [str(issue.kind) for issue in response.issues],
    }
    return {key: value for key, value in attributes.items() if value}


def _exchange(record: ExchangeRecord) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "http.response.status_code": record.status,
        "gen_ai.request.model": record.model,
        "gen_ai.request.stream": record.stream,
        "dragoman.route": record.route,
        "dragoman.reasks": record.reasks,
        "dragoman.attempts": len(record.attempts),
    }
    if record.stream and record.first is not None:
        attributes["gen_ai.response.time_to_first_chunk"] = record.first - record.begun
    return attributes | (_judged(record.response) if record.response is not None else {})


# ── content, where it is asked for ───────────────────────────────────────────


def _content(request: Request, response: Response | None) -> dict[str, Any]:
    system, dialogue = _parted(request)
    attributes: dict[str, Any] = {
        "gen_ai.system_instructions": [_part(part) for message in system for part in message.parts],
        "gen_ai.tool.definitions": list(map(_definition, request.tools)),
        "gen_ai.output.messages": [_output(response)] if response is not None else [],
    }
    shown = {name: value for name, value in attributes.items() if value}
    shown["gen_ai.input.messages"] = list(map(_message, dialogue))
    return {name: dumps(value) for name, value in shown.items()}


def _parted(request: Request) -> tuple[list[Message], list[Message]]:
    """The system's messages, and the others."""
    parted: tuple[list[Message], list[Message]] = [], []
    for message in request.messages:
        parted[message.role != "system"].append(message)
    return parted


def _definition(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _output(response: Response) -> dict[str, Any]:
    reason = FINISHES.get(response.stop, str(response.stop)) if response.stop else "stop"
    return {**_message(response.message), "finish_reason": reason}


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
