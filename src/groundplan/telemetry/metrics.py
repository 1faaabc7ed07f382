"""Prometheus metrics. Labels have few values, and none of them is chosen by a tenant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal
from groundplan.contracts.feedback import Thumb
from groundplan.contracts.rollout import Measured
from groundplan.contracts.run import ENDED, State
from groundplan.telemetry.observing import Attributes, Kind

CODE = re.compile(r"[a-z_]+/[a-z_-]+")
MOST_CODES = 300
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
METHODS = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")


class Metrics:
    """The metrics of one process, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._codes: set[str] = set()
        ProcessCollector(registry=registry)

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"groundplan_{name}", text, labels, registry=registry)

        def seconds(name: str, text: str, *labels: str) -> Histogram:
            return Histogram(f"groundplan_{name}_seconds", text, labels, buckets=SECONDS, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"groundplan_{name}", text, labels, registry=registry)

        self._ended = counter("runs_ended", "Runs that a worker ended", "state")
        self._failed = counter("runs_failed", "Failed runs by the code of their problem", "code")
        self._claimed = counter("runs_claimed", "Runs that a worker took up")
        self._reclaimed = counter("runs_reclaimed", "Runs taken up again because their worker had stopped")
        self._run = seconds("run", "From the request to the end of the run, waits for people included")
        self._waited = seconds("queue_wait", "From the queue to a worker")
        self._outcomes = counter("outcomes", "How questions ended", "kind", "strategy")
        self._refusals = counter("refusals", "Refusals by the code of their first issue", "code")
        self._clarifications = counter("clarifications", "Questions back")
        self._approvals = counter("approvals_required", "Plans that wait for an approval")
        self._feedback = counter("feedback", "Thumbs that people gave answers", "thumb")
        self._variant_questions = counter(
            "variant_questions", "Questions while a variant was on trial", "side", "status", "fell_back"
        )
        self._variant_tokens = counter("variant_tokens", "Tokens while a variant was on trial", "side")
        self._variant = seconds("variant", "A question while a variant was on trial", "side")
        self._agreements = counter(
            "shadow_agreements", "Whether the shadow agrees with the current variant", "what", "same"
        )
        self._stops = counter("rollout_stops", "Trials that were stopped by the sequential test")
        self._first = counter("answers", "Answers, by whether the first plan led to them", "first_try")
        self._plans = counter("plans", "Plans proposed, by planner", "planner")
        self._requirements = counter("requirements", "Requirements of answers", "covered")
        self._repairs = counter("repairs", "Repairs of plans by the gate")
        self._verdicts = counter("gate_verdicts", "Verdicts of the gate", "verdict")
        self._issues = counter("gate_issues", "Codes of refused plans", "code")
        self._stage = seconds("stage", "A stage", "stage")
        self._step = seconds("step", "A step of a plan", "source")
        self._steps = counter("steps", "Steps of plans", "source", "status")
        self._retries = counter("step_retries", "Calls of a source that were tried again", "source")
        self._call = seconds("model_call", "A call of a model", "model")
        self._calls = counter("model_calls", "Calls of models", "model", "result")
        self._tokens = counter("model_tokens", "Tokens of models", "model", "kind")
        self._opened = counter("projects_opened", "Times that sources were opened and described")
        self._requests = counter("http_requests", "Requests over HTTP", "route", "method", "status")
        self._request = seconds("http_request", "A request over HTTP, streams excepted", "route")
        self._runs = gauge("runs", "Runs that have not ended", "state")
        self._oldest = gauge("queue_oldest_seconds", "Age of the oldest queued run")
        self._streams = gauge("http_streams", "Open streams of events")

    def text(self) -> bytes:
        """All metrics, as Prometheus scrapes them."""
        return generate_latest(self._registry)

    @property
    def registry(self) -> CollectorRegistry:
        return self._registry

    def took(self, kind: Kind, seconds: float, told: Attributes) -> None:
        """A stage, a step or a model call ended."""
        match kind:
            case "stage":
                self._stage.labels(told["name"]).observe(seconds)
                if verdict := told.get("verdict"):
                    self._verdicts.labels(verdict).inc()
                for code in str(told.get("codes", "")).split():
                    self._issues.labels(self._code(code)).inc()
            case "step":
                self._step.labels(told["source"]).observe(seconds)
                self._steps.labels(told["source"], told.get("status", "interrupted")).inc()
            case "model":
                self._call.labels(told["model"]).observe(seconds)
                self._calls.labels(told["model"], told["result"]).inc()
                for name in ("prompt", "completion"):
                    self._tokens.labels(told["model"], name).inc(float(told.get(f"{name}_tokens", 0)))

    def count(self, what: str, labels: Mapping[str, str]) -> None:
        if what == "step_retries":
            self._retries.labels(labels["source"]).inc()

    def claimed(self, waited: float | None, again: bool) -> None:
        """A worker took up a run; `again` if another one had stopped in it."""
        self._claimed.inc()
        self._reclaimed.inc(again)
        if waited is not None:
            self._waited.observe(max(waited, 0.0))

    def ended(self, state: State, seconds: float, code: str | None) -> None:
        self._ended.labels(state).inc()
        self._run.observe(max(seconds, 0.0))
        if code:
            self._failed.labels(self._code(code)).inc()

    def waits(self, outcome: Outcome) -> None:
        """The run waits for a person."""
        (self._clarifications if isinstance(outcome, Clarification) else self._approvals).inc()

    def outcome(self, outcome: Answer | Refusal, strategies: Collection[str]) -> None:
        """A question was answered or refused. A plan that somebody posts may name any strategy: others are `other`."""
        strategy = outcome.plan.strategy if outcome.plan else "none"
        self._outcomes.labels(outcome.kind, strategy if strategy in (*strategies, "none") else "other").inc()
        for entry in outcome.trace:
            if entry.stage == "plan":
                self._plans.labels(entry.thought.partition(",")[0]).inc()
        if isinstance(outcome, Refusal):
            self._refusals.labels(self._code(outcome.issues[0].code if outcome.issues else "")).inc()
            return
        again = any(
            (entry.stage, entry.action) in (("check", "refused"), ("answer", "failed")) for entry in outcome.trace
        )
        self._first.labels(str(not again).lower()).inc()
        self._repairs.inc(len(outcome.repairs))
        for covered in outcome.coverage:
            self._requirements.labels(str(covered.ok).lower()).inc()

    def rated(self, thumb: Thumb) -> None:
        """Somebody said whether an answer is good."""
        self._feedback.labels(thumb).inc()

    def tried(self, told: Measured) -> None:
        """A question of one side of a rollout, or of its shadow."""
        self._variant_questions.labels(told.side, told.status, told.fell_back or "none").inc()
        self._variant.labels(told.side).observe(told.seconds)
        self._variant_tokens.labels(told.side).inc(told.tokens)
        for what, same in (("meaning", told.same_meaning), ("rows", told.same_rows)):
            if same is not None:
                self._agreements.labels(what, str(same).lower()).inc()

    def stopped(self) -> None:
        """A trial was stopped by the sequential test."""
        self._stops.inc()

    def opened(self) -> None:
        self._opened.inc()

    def request(self, route: str, method: str, status: int, seconds: float | None) -> None:
        """A request was answered; no seconds for a stream."""
        self._requests.labels(route, method if method in METHODS else "other", str(status)).inc()
        if seconds is not None:
            self._request.labels(route).observe(seconds)

    def streams(self, more: int) -> None:
        self._streams.inc(more)

    def queue(self, runs: Mapping[str, int], oldest: float) -> None:
        """The queue as the database has it now."""
        for state in get_args(State):
            if state not in ENDED:
                self._runs.labels(state).set(runs.get(state, 0))
        self._oldest.set(oldest)

    def _code(self, code: str) -> str:
        """Codes are constants of the program. A bound, in case one is not."""
        if code not in self._codes and (not CODE.fullmatch(code) or len(self._codes) >= MOST_CODES):
            return "other"
        self._codes.add(code)
        return code
