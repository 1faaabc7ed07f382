"""OpenTelemetry traces, sent to the endpoint that OpenTelemetry's own variables name.

The trace of a run has the run's id, followed by zeros: all attempts of a run are one trace.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from groundplan.telemetry.logs import RUN
from groundplan.telemetry.observing import Attributes

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
WAITS = "GraphInterrupt"  # how LangGraph stops a stage that waits for a reply: no error


class Traces:
    """Makes spans, and none of them holds rows or the text of an error."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("groundplan")

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[None]:
        """A span around the block; the attributes are read when it ends."""
        from opentelemetry.trace import Status, StatusCode

        starting = self._tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False)
        with starting as span:  # the text of an error is not recorded: it may quote data
            try:
                yield
            except BaseException as error:
                if type(error).__name__ != WAITS:
                    span.set_status(Status(StatusCode.ERROR))
                    span.set_attribute("error.type", type(error).__name__)
                raise
            finally:
                span.set_attributes({f"groundplan.{key}": value for key, value in attributes.items()})

    def close(self) -> None:
        """Send what was not sent yet."""
        self._provider.shutdown()


def open_traces(process: str) -> Traces | None:
    """Traces of this process, `serve` or `worker`; None if no endpoint is named."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    return traces_to(BatchSpanProcessor(OTLPSpanExporter()), process)


def traces_to(processor: SpanProcessor, process: str) -> Traces:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class OfRun(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            run = RUN.get()
            return int(run.ljust(32, "0"), 16) if run else super().generate_trace_id()

    named = {"service.name": f"groundplan-{process}", "service.version": version("groundplan")}
    provider = TracerProvider(id_generator=OfRun(), resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(processor)
    return Traces(provider)
