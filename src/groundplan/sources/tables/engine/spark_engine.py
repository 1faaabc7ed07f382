"""Spark through Spark Connect: Databricks, EMR, a cluster of one's own, or Sail."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import ibis.expr.schema as sch
import pyarrow as pa
from ibis.backends.sql import SQLBackend

from groundplan.errors import SourceError, ToolError, TransientError, UsageError
from groundplan.sources.tables.engine.arrow import as_declared
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.credentials import cannot_open
from groundplan.sources.tables.engine.interface import Query, first_line
from groundplan.sources.tables.engine.other_engine import Other

PORT = 15002  # of Spark Connect
CONNECT_SECONDS = 10
QUERIES = 4
RETRIES: dict[str, Any] = {
    "max_retries": 5,
    "initial_backoff": 50,
    "max_backoff": 1_000,
    "backoff_multiplier": 2.0,
}  # milliseconds
GONE = (
    *("RETRIES_EXCEEDED", "SESSION_CLOSED", "SESSION_NOT_FOUND", "SESSION_CHANGED", "StatusCode.UNAVAILABLE"),
    *("is not running", "operation not found"),  # Sail's words for what it has forgotten
)
NO_SPARK = "Spark needs a driver: pip install 'groundplan[spark]'"


def open_spark(url: str) -> Spark:
    """From `spark://host:port/database?use_ssl=true`. A token may also be in the variable SPARK_CONNECT_TOKEN."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession
    except ImportError as error:
        raise UsageError(NO_SPARK) from error

    import grpc

    try:
        parts = urlsplit(url)
        given = {**dict(parse_qsl(parts.query)), **_token(parts.query)}
        address = f"sc://{parts.hostname}:{parts.port or PORT}/"
    except ValueError as error:
        raise cannot_open(url, error) from None

    def connect() -> Any:
        # Spark's own client would try for minutes
        socket.create_connection((parts.hostname or "", parts.port or PORT), CONNECT_SECONDS).close()
        session = SparkSession.builder.remote(";".join([address, *(f"{k}={v}" for k, v in given.items())])).create()
        session.client.set_retry_policies([DefaultPolicy(**RETRIES)])
        # the client's own `close` also ends a pool of threads that all sessions share, and waits for it:
        # for as long as a dead server is asked, and without end if one of these threads is what closes
        session.client.close = session.client._channel.close  # type: ignore[method-assign]
        if database := parts.path.strip("/"):
            session.catalog.setCurrentDatabase(database)
        return session

    try:
        return Spark(connect(), connect)
    except (PySparkException, grpc.RpcError, OSError) as error:
        raise cannot_open(url, error, given.get("token", "")) from None


def open_spark_backend(backend: SQLBackend) -> Spark:
    return Spark(backend._session)


class Spark(Other):
    """One session with a few queries at a time. Each has a tag, by which it is stopped.

    A session that its server has forgotten is opened anew by `connect`; one that the caller passed is not.
    """

    def __init__(self, session: Any, connect: Callable[[], Any] | None = None) -> None:
        from groundplan.sources.tables.engine.spark_dialect import SparkBackend

        super().__init__(SparkBackend.on(session), connect is not None, SparkBackend.compiler, QUERIES)
        self._session, self._connect = session, connect
        self._lost: Any = None
        self._opening = threading.Lock()

    def _fetch(self, query: Query, mark: str) -> pa.Table:
        def fetch(session: Any) -> pa.Table:
            session.addTag(mark)  # tags belong to a thread, and each query has its own
            return as_declared(query.table.schema(), session.sql(query.sql).toArrow())

        return self._asked(fetch)

    def _asked(self, ask: Callable[[Any], Any]) -> Any:
        """Ask the session; if its server forgot it, ask a new one.

        A server that is back may take the id of a session it knows nothing of: what was lost once is not asked again.
        """
        session = self._session
        if session is not self._lost:
            try:
                return ask(session)
            except Exception as error:
                if self._connect is None or not _is_gone(error):
                    raise
                self._lost = session
        assert self._connect is not None
        return ask(self._instead_of(session, self._connect))

    def _instead_of(self, lost: Any, connect: Callable[[], Any]) -> Any:
        with self._opening:
            if self._session is lost:  # of queries that lost it together, one opens another
                session = connect()
                self.backend.do_connect(session)  # before anybody sees the session
                self._session = session
            return self._session

    def _stop(self, mark: str) -> None:
        with suppress(Exception):  # the request is repeated
            self._session.interruptTag(mark)

    def schema(self, sql: str, scope: CancelScope) -> sch.Schema:
        with scope.holding(self._turns):
            found: sch.Schema = self._asked(lambda _: self.backend._get_schema_using_query(sql))
            return found

    def _failure(self, error: Exception) -> Exception:
        if isinstance(error, OSError) or _is_gone(error):
            return TransientError(f"Spark: its server does not answer: {first_line(error)}")
        if isinstance(error, SourceError | ToolError):
            return error
        return ToolError(f"Spark: {first_line(error)}")


def _is_gone(error: Exception) -> bool:
    """The server does not answer, or is another one that does not know the session."""
    import grpc

    return isinstance(error, grpc.RpcError) or any(mark in str(error) for mark in GONE)


def _token(query: str) -> dict[str, str]:
    token = os.environ.get("SPARK_CONNECT_TOKEN", "")
    return {"token": token} if token and "token=" not in query else {}
