"""What is measured of requests, and where Prometheus reads it: /metrics, and a port of each worker."""

from __future__ import annotations

import time
from collections.abc import MutableMapping
from typing import Any

from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, start_http_server

from groundplan.errors import UsageError
from groundplan.service.access import App, Receive, Scope, Send
from groundplan.state.runs import Runs
from groundplan.telemetry.observing import Attributes, observing
from groundplan.telemetry.telemetry import Telemetry

STREAMS = ("/v1/runs/{id}/events", "/mcp")  # open for as long as somebody listens or is asked
NO_ROUTE = "none"


class Monitored:
    """ASGI middleware: counts and times requests, and observes the stages that run in them."""

    def __init__(self, app: App, telemetry: Telemetry) -> None:
        self._app, self._telemetry = app, telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told: Attributes = {"route": NO_ROUTE, "method": scope["method"], "status": 499}  # 499: the client has gone
        began, metrics = time.perf_counter(), self._telemetry.metrics

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                told["route"] = getattr(scope.get("route"), "path", NO_ROUTE)
                told["status"] = message["status"]
                if told["route"] in STREAMS:
                    metrics.streams(1)
            await send(message)

        try:
            with observing(self._telemetry), self._telemetry.traced("request", told):
                await self._app(scope, receive, sending)
        finally:
            is_stream = told["route"] in STREAMS
            if is_stream:
                metrics.streams(-1)
            seconds = None if is_stream else time.perf_counter() - began
            metrics.request(str(told["route"]), scope["method"], int(told["status"]), seconds)


def add_metrics(app: FastAPI, telemetry: Telemetry) -> None:
    app.add_middleware(Monitored, telemetry=telemetry)

    @app.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics(request: Request) -> Response:
        """For Prometheus: the metrics of this process, and the queue of all."""
        runs, oldest = await Runs(request.app.state.projects.database).queue()
        telemetry.metrics.queue(runs, oldest)
        return Response(telemetry.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def expose(telemetry: Telemetry, host: str, port: int) -> None:
    """Let Prometheus read the metrics of a process that serves nothing else."""
    try:
        start_http_server(port, host, telemetry.metrics.registry)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {host}:{port} for metrics; choose another --metrics-port") from error
