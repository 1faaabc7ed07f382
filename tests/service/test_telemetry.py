"""Metrics, traces and logs of a server and a worker, as Prometheus and an OpenTelemetry collector get them."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from groundplan.contracts.answer import Answer
from groundplan.contracts.rollout import Measured
from groundplan.contracts.run import RunRequest
from groundplan.service.data import Data
from groundplan.service.monitoring import expose
from groundplan.service.projects import Projects
from groundplan.service.worker import Worker
from groundplan.state.database import SQLite
from groundplan.state.runs import Runs
from groundplan.telemetry.logs import MORE, Calm
from groundplan.telemetry.metrics import Metrics
from groundplan.telemetry.observing import counted, observed, observing
from groundplan.telemetry.telemetry import Telemetry
from groundplan.telemetry.traces import traces_to
from tests.asking.tables.described import SALES
from tests.extras import missing
from tests.patience import HANGS
from tests.service.processes import ask, free_port, make_key, process, served, until
from tests.service.test_kills import ended

OPS = Path(__file__).parents[2] / "ops"
ANSWERED, REFUSED = "total revenue by region", "revenue by salesperson"
UNCLEAR = "total revenue on 03/04/2025"
SECRET = "a very secret talk"
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Collector(ThreadingHTTPServer):
    """Takes spans as OpenTelemetry's exporter sends them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.spans: list[Any] = []
        self.bodies = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Taking(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, Collector)
        self.server.bodies += body
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.server.spans += [span for scope in resource.scope_spans for span in scope.spans]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@contextmanager
def collecting() -> Iterator[Collector]:
    with Collector() as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


@dataclass
class Monitored:
    folder: Path
    client: httpx.Client
    key: str  # of the role `metrics`
    worker_port: int
    collector: Collector
    runs: dict[str, Any]

    def worker(self) -> str:
        return httpx.get(f"http://127.0.0.1:{self.worker_port}/metrics", timeout=HANGS).text

    def server(self) -> str:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.get(f"{self.client.base_url}/metrics", headers=headers, timeout=HANGS).text

    @property
    def logs(self) -> list[str]:
        return [line for file in self.folder.glob("*.log") for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def monitored(own_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitored]:
    folder, port = tmp_path_factory.mktemp("monitored"), free_port()
    key, metrics_key = make_key(own_postgres, "watched"), make_key(own_postgres, "prometheus", "metrics")
    with ExitStack() as stack:
        collector = stack.enter_context(collecting())
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
        on = ("--database", own_postgres)
        stack.enter_context(process(folder, "worker", str(SALES), *on, "--metrics-port", str(port)))
        client = stack.enter_context(served(folder, str(SALES), *on, key=key))
        runs = {question: ask(client, question) for question in (ANSWERED, REFUSED, UNCLEAR)}
        runs["failed"] = ask(client, ANSWERED, timezone="Mars/Olympus")
        ask(client, ANSWERED, thread=SECRET)
        yield Monitored(folder, client, metrics_key, port, collector, runs)


def samples(text: str) -> Samples:
    found = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {(sample.name, frozenset(sample.labels.items())): sample.value for sample in found}


def value(found: Samples, name: str, **labels: str) -> float:
    return found[f"groundplan_{name}", frozenset(labels.items())]


@pytest.mark.requirement("R64", part="metrics")
def test_a_worker_counts_what_happened(monitored: Monitored) -> None:
    found = samples(monitored.worker())
    assert value(found, "outcomes_total", kind="answer", strategy="rules") == 2
    assert value(found, "outcomes_total", kind="refusal", strategy="none") == 1
    [code] = {issue["code"] for issue in monitored.runs[REFUSED]["outcome"]["issues"][:1]}
    assert value(found, "refusals_total", code=code) == 1
    assert value(found, "clarifications_total") == 1
    assert value(found, "gate_verdicts_total", verdict="passed") == 2
    assert value(found, "answers_total", first_try="true") == 2
    assert value(found, "runs_ended_total", state="succeeded") == 2
    assert value(found, "runs_failed_total", code="service/usage") == 1
    assert value(found, "runs_claimed_total") == 5
    assert value(found, "runs_reclaimed_total") == 0
    assert value(found, "stage_seconds_count", stage="run") == 2
    steps = len(monitored.runs[ANSWERED]["outcome"]["plan"]["steps"])
    assert value(found, "steps_total", source="tables", status="finished") == 2 * steps
    assert value(found, "requirements_total", covered="true") >= 2
    assert value(found, "plans_total", planner="rules") == 2
    assert value(found, "projects_opened_total") == 1


@pytest.mark.requirement("R64", part="metrics")
def test_a_server_counts_its_requests_and_what_is_queued(monitored: Monitored) -> None:
    found = samples(monitored.server())
    assert value(found, "http_requests_total", route="/v1/runs", method="POST", status="200") == 5
    assert value(found, "http_request_seconds_count", route="/v1/runs") == 5
    assert value(found, "runs", state="waiting_answer") >= 1
    assert value(found, "queue_oldest_seconds") >= 0
    before = value(found, "gate_verdicts_total", verdict="passed") if "gate_verdicts" in str(found) else 0
    monitored.client.post("/v1/plans", json={"question": ANSWERED})
    monitored.client.get("/no/such/path")
    found = samples(monitored.server())
    assert value(found, "gate_verdicts_total", verdict="passed") == before + 1
    assert value(found, "http_requests_total", route="none", method="GET", status="404") == 1


def test_no_metric_tells_of_questions_or_tenants_and_there_are_few(monitored: Monitored) -> None:
    for text in (monitored.worker(), monitored.server()):
        assert not re.search("revenue|region|salesperson|watched|secret|Mars", text)
        assert len([line for line in text.splitlines() if not line.startswith("#") and "_bucket" not in line]) < 250


def test_labels_are_not_chosen_by_who_posts_a_plan(monitored: Monitored) -> None:
    metrics, answer = Metrics(), Answer.model_validate(monitored.runs[ANSWERED]["outcome"])
    for n in range(400):
        plan = answer.plan.model_copy(update={"strategy": f"my-name-{n}"})
        metrics.outcome(answer.model_copy(update={"plan": plan}), {"rules"})
        metrics.ended("failed", 1.0, f"made/up-{chr(97 + n % 26)}{chr(97 + n // 26)}")
    text = metrics.text().decode()
    assert value(samples(text), "outcomes_total", kind="answer", strategy="other") == 400
    assert "my-name" not in text
    assert value(samples(text), "runs_failed_total", code="other") == 100


@pytest.mark.requirement("R64", part="traces")
def test_a_run_is_one_trace_of_stages_and_steps(monitored: Monitored) -> None:
    run = monitored.runs[ANSWERED]

    def spans() -> list[Any]:
        return [span for span in monitored.collector.spans if span.trace_id.hex() == f"{run['id']}00000000"]

    until(lambda: any(span.name == "run" for span in spans()))
    names = {span.span_id: span.name for span in spans()}
    stages = ["route", "read", "plan", "check", "approve", "run", "answer"]
    assert [span.name for span in spans() if span.name.startswith("stage")] == [f"stage {stage}" for stage in stages]
    under = {(span.name, names.get(span.parent_span_id)) for span in spans()}
    assert {("run", None), ("stage check", "run")} <= under
    tools = [step["tool"] for step in run["outcome"]["plan"]["steps"]]
    assert {(f"step {tool}", "stage run") for tool in tools} <= under
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano > 0 for span in spans())


def test_no_span_and_no_log_holds_a_question_or_a_row(monitored: Monitored) -> None:
    until(lambda: any(span.name == "run" for span in monitored.collector.spans))
    rows = monitored.runs[ANSWERED]["outcome"]["tables"][0]["rows"]
    told = [ANSWERED, REFUSED, "salesperson", "03/04", SECRET, *(str(cell) for row in rows for cell in row)]
    logged = "\n".join(monitored.logs)
    for text in told:
        assert text.encode() not in monitored.collector.bodies
        assert text not in logged


def test_logs_are_json_lines_with_the_run(monitored: Monitored) -> None:
    lines = [json.loads(line) for line in monitored.logs if not line.startswith("groundplan listens")]
    ended = {line["run"]: line for line in lines if line["message"] == "run ended"}
    failed = ended[monitored.runs["failed"]["id"]]
    assert (failed["state"], failed["code"], failed["level"]) == ("failed", "service/usage", "info")
    assert ended[monitored.runs[ANSWERED]["id"]]["state"] == "succeeded"


@pytest.mark.parametrize("allowed", [False, True])
def test_a_question_is_traced_only_if_the_settings_allow_it(allowed: bool, tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    telemetry = Telemetry(traces=traces_to(SimpleSpanProcessor(exporter), "worker"), questions=allowed)

    async def run() -> None:
        database = SQLite(tmp_path, "local")
        projects = Projects(database, Data(str(SALES)).open)
        worker, runs = Worker(projects, telemetry=telemetry), Runs(database)
        added, _ = await runs.add(RunRequest(question=ANSWERED))
        working = asyncio.create_task(worker.work())
        await ended(runs, added.id, "succeeded")
        worker.stop()
        await working
        await projects.close()

    asyncio.run(run())
    [span] = [span for span in exporter.get_finished_spans() if span.name == "run"]
    assert (span.attributes or {}).get("groundplan.question") == (ANSWERED if allowed else None)


@pytest.mark.requirement("R64", part="traces")
@pytest.mark.skipif(bool(missing("llm")), reason=missing("llm") or "")
def test_a_call_of_a_model_is_a_span_and_its_tokens_are_counted() -> None:
    from groundplan.llm.calls import Calls
    from groundplan.llm.cascade import Cascade
    from groundplan.llm.client import Model
    from tests.llm.scripted import PROBED, RIPE, Fruit, says, scripted

    exporter = InMemorySpanExporter()
    telemetry = Telemetry(traces=traces_to(SimpleSpanProcessor(exporter), "worker"))

    async def run() -> Calls:
        async with scripted(says(PROBED), says(RIPE), says("no")) as server, Model.open(server.endpoint()) as model:
            calls = Calls(Cascade((model,)), seconds=20)
            with observing(telemetry):
                await calls.ask("Which fruit is it, my dear secret?", Fruit)
                await calls.ask("Which?", Fruit)
            return calls

    calls = asyncio.run(run())
    spans = exporter.get_finished_spans()
    assert [(span.attributes or {})["groundplan.result"] for span in spans] == ["usable", "unusable"]
    assert "secret" not in str([dict(span.attributes or {}) for span in spans])
    found, model = samples(telemetry.metrics.text().decode()), calls.model
    assert value(found, "model_calls_total", model=model, result="usable") == 1
    assert value(found, "model_tokens_total", model=model, kind="prompt") == calls.usage.prompt_tokens > 0


def queries() -> Iterator[tuple[str, str]]:
    """Every query of the dashboard and of the alerts, with what it is for."""
    for panel in json.loads((OPS / "grafana" / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$__rate_interval", "1m")
    for rule in yaml.safe_load((OPS / "prometheus" / "alerts.yaml").read_text())["groups"][0]["rules"]:
        # a comparison has no result while nothing is wrong
        yield rule["alert"], re.sub(r" (> [\d.]+|== 0)(?= and|$)", "", rule["expr"])


def exercised() -> Telemetry:
    """Things that did not happen in this test, so that every query has something to find."""
    telemetry = Telemetry()
    telemetry.metrics.request("/v1/runs", "POST", 503, 0.1)
    telemetry.metrics.rated("bad")
    telemetry.metrics.stopped()
    for side in ("trial", "shadow"):
        told = {"run": "r", "side": side, "share": 0, "status": "answered", "fell_back": "error", "same_meaning": True}
        telemetry.metrics.tried(Measured.model_validate(told))
    with observing(telemetry):
        counted("step_retries", source="tables")
        with observed("stage", name="check", verdict="refused", codes="coverage/missing"):
            pass
        with observed("model", model="m", result="failed"):
            pass
    return telemetry


@pytest.mark.requirement("R64", part="dashboard")
@pytest.mark.skipif(not shutil.which("prometheus"), reason="needs prometheus")
def test_every_query_of_the_dashboard_and_the_alerts_finds_something(monitored: Monitored, tmp_path: Path) -> None:
    port, other = free_port(), free_port()
    expose(exercised(), "127.0.0.1", other)
    shared = {"job_name": "groundplan", "authorization": {"credentials": monitored.key}}
    targets = [f"127.0.0.1:{one}" for one in (monitored.client.base_url.port, monitored.worker_port, other)]
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(OPS / "prometheus" / "alerts.yaml")],
        "scrape_configs": [{**shared, "static_configs": [{"targets": targets}]}],
    }
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(config))
    command = [
        "prometheus",
        f"--config.file={tmp_path / 'prometheus.yaml'}",
        f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (tmp_path / "log").open("wb") as log, ExitStack() as stack:
        prometheus = subprocess.Popen(command, stdout=log, stderr=log)
        stack.callback(prometheus.wait)
        stack.callback(prometheus.kill)
        client = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=HANGS))

        def result(query: str) -> list[Any]:
            reply = client.get("/query", params={"query": query})
            assert reply.json()["status"] == "success", (query, reply.json())
            found: list[Any] = reply.json()["data"]["result"]
            return found

        def scraped_twice() -> bool:
            return len(result("count_over_time(up[1m]) > 2 and up == 1")) == len(targets)

        until(lambda: _is_ready(port))
        until(scraped_twice)
        empty = [(name, query) for name, query in queries() if not result(query)]
        assert not empty
        rules = client.get("/rules").json()["data"]["groups"][0]["rules"]
        assert len(rules) == len([*queries()]) - sum(1 for _ in panels())
        assert {rule["health"] for rule in rules} <= {"ok", "unknown"}


def _is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/-/ready").status_code == 200
    except httpx.TransportError:
        return False


def panels() -> Iterator[str]:
    for panel in json.loads((OPS / "grafana" / "dashboard.json").read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.mark.requirement("R64", part="dashboard")
@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool, of prometheus")
def test_each_alert_fires_when_it_should_and_not_else() -> None:
    folder = OPS / "prometheus"
    done = subprocess.run(["promtool", "test", "rules", "alerts.test.yaml"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    alerts = yaml.safe_load((folder / "alerts.yaml").read_text())["groups"][0]["rules"]
    firing = yaml.safe_load((folder / "alerts.test.yaml").read_text())["tests"][0]["promql_expr_test"][0]
    assert firing["exp_samples"] == [{"labels": "{}", "value": len(alerts)}]


def test_a_line_that_repeats_itself_is_left_out_and_counted() -> None:
    now = [0.0]
    calm = Calm(3, lambda: now[0])

    def record() -> logging.LogRecord:
        return logging.LogRecord("asyncio", logging.ERROR, "selector_events.py", 170, "no descriptor left", None, None)

    assert [calm.filter(record()) for _ in range(5)] == [True, True, True, False, False]
    other = logging.LogRecord("asyncio", logging.ERROR, "selector_events.py", 171, "another line", None, None)
    assert calm.filter(other)
    now[0] = 60.0
    later = record()
    assert calm.filter(later)
    assert getattr(later, MORE) == {"left_out": 2}
