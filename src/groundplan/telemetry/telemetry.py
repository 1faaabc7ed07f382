"""What a process of the service measures and traces."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from groundplan.telemetry.metrics import Metrics
from groundplan.telemetry.observing import Attributes, Kind
from groundplan.telemetry.traces import Traces

NAMED_BY: dict[Kind, str] = {"stage": "name", "step": "tool", "model": "model"}


@dataclass(frozen=True)
class Telemetry:
    """An `Observer`: each span is timed for the metrics, and traced if there are traces."""

    metrics: Metrics = field(default_factory=Metrics)
    traces: Traces | None = None
    questions: bool = False  # whether spans of runs hold the text of the question

    @contextmanager
    def span(self, kind: Kind, attributes: Attributes) -> Iterator[None]:
        began = time.perf_counter()
        try:
            with self.traced(f"{kind} {attributes[NAMED_BY[kind]]}", attributes):
                yield
        finally:
            self.metrics.took(kind, time.perf_counter() - began, attributes)

    def count(self, what: str, labels: Mapping[str, str]) -> None:
        self.metrics.count(what, labels)

    @contextmanager
    def traced(self, name: str, attributes: Attributes) -> Iterator[None]:
        with self.traces.span(name, attributes) if self.traces else nullcontext():
            yield

    def close(self) -> None:
        if self.traces:
            self.traces.close()
