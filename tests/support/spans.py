"""A tracing of its own, and what was told to it."""

from __future__ import annotations

from typing import Any

from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dragoman.gateway.telemetry.tracing import Tracing


class TracingRecorder:
    """What was told to a tracing of its own."""

    def __init__(self, **more: Any) -> None:
        self._spans, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self._logs, loggers = InMemoryLogRecordExporter(), LoggerProvider()  # type: ignore[no-untyped-call]
        loggers.add_log_record_processor(SimpleLogRecordProcessor(self._logs))
        self.tracing = Tracing(provider, MeterProvider([self._reader]), loggers, **more)

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self._spans.get_finished_spans(), key=lambda span: span.start_time or 0)

    @property
    def events(self) -> list[Any]:
        return [each.log_record for each in self._logs.get_finished_logs()]

    @property
    def points(self) -> dict[str, list[Any]]:
        found: Any = self._reader.get_metrics_data()
        metrics = found.resource_metrics[0].scope_metrics[0].metrics
        return {metric.name: list(metric.data.data_points) for metric in metrics}


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})
