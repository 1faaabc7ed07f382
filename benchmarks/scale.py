"""What grows with rows, tables and columns: our time and memory beside those of the bare engine, in one run.

    python benchmarks/scale.py [--rows 10000000 ...] [--tables 1000] [--postgres URL] [--spark ADDRESS]

Rows are partitioned Parquet files on DuckDB. Each size is measured in a process of its own, whose greatest memory is
reported. The bare engine runs SQL that was written by hand, on the same files in the same process, with the same
limits; its results must be ours. `--postgres` adds a table of the first size beside an empty one, in a database that is
made and dropped again. With `--spark`, a server of Spark Connect on this machine reads the files instead of DuckDB:
`sail spark server --port 15002`, then `--spark sc://127.0.0.1:15002`. It is another process, so only the clock says
what its queries take.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from groundplan.contracts.answer import Answer
from groundplan.project import Project
from groundplan.sources.tables.engine.duckdb_limits import connect
from groundplan.sources.tables.source import Tables

TIMES = 5
Bare = Callable[[str], list[tuple[Any, ...]]]
QUESTIONS = {
    "total amount by channel": "SELECT channel, sum(amount) FROM {} GROUP BY 1",
    "average amount by market in 2024": "SELECT market, avg(amount) FROM {} WHERE year(sold_on) = 2024 GROUP BY 1",
    "total amount by market where year is 2023 and month is 5": (
        "SELECT market, sum(amount) FROM {} WHERE year = 2023 AND month = 5 GROUP BY 1"
    ),
    "top 5 product codes by total amount": (
        "SELECT product_code, sum(amount) FROM {} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5"
    ),
    "number of different product codes": "SELECT count(DISTINCT product_code) FROM {}",
    "total units for market Andorra": "SELECT sum(units) FROM {} WHERE market = 'Andorra'",
}
MADE = """
    COPY (
        SELECT i AS sale_id, DATE '2022-01-01' + (i * 1096 // {rows})::INT AS sold_on,
            ['web', 'shop', 'phone'][1 + i % 3] AS channel, 'P' || (hash(i) % 5000) AS product_code,
            CASE WHEN i = {rows} - 7 THEN 'Andorra' ELSE 'market ' || (hash(i, 1) % 40) END AS market,
            1 + (hash(i, 2) % 9)::INT AS units, (hash(i, 3) % 100000)::INT AS amount,
            year(DATE '2022-01-01' + (i * 1096 // {rows})::INT) AS year,
            month(DATE '2022-01-01' + (i * 1096 // {rows})::INT) AS month
        FROM range({rows}) t(i)
    ) TO '{folder}' (FORMAT parquet, PARTITION_BY (year, month))
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000_000])
    parser.add_argument("--tables", type=int, default=1_000)
    parser.add_argument("--postgres")
    parser.add_argument("--spark", help="sc://host:port")
    parser.add_argument("--measure", type=Path, help="a folder, in a process of its own")
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure_lake(given.measure, given.spark)))
        return
    for rows in given.rows:
        with tempfile.TemporaryDirectory(prefix="groundplan-scale-") as place:
            folder = Path(place) / "sales"
            duckdb.sql(MADE.format(rows=rows, folder=folder))
            command = [sys.executable, __file__, "--measure", str(folder)]
            command += ["--spark", given.spark] if given.spark else []
            told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        report_lake(rows, json.loads(told.splitlines()[-1]))
    if given.tables:
        report_tables(given.tables)
    if given.postgres:
        report_postgres(given.postgres, given.rows[0])


def measure_lake(folder: Path, spark: str | None) -> dict[str, Any]:
    with _spark_lake(spark, folder) if spark else _duckdb_lake(folder) as (source, bare):
        began = time.perf_counter()
        with Project(source) as project:
            opened = time.perf_counter() - began
            spent = _engine_spent(project)
            found = {question: {"first": _seconds(partial(project.ask, question))} for question in QUESTIONS}
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # before the bare engine runs beside it
            for question, sql in QUESTIONS.items():
                found[question] |= _side_by_side(project, question, spent, partial(bare, sql))
    return {"opened": opened, "memory": most, "questions": found}


@contextmanager
def _duckdb_lake(folder: Path) -> Iterator[tuple[Any, Bare]]:
    """The folder, and what asks the bare engine for the rows of a query."""
    files = f"read_parquet('{folder}/*/*/*.parquet', hive_partitioning = true)"
    with connect(":memory:", {}) as bare:
        yield str(folder), lambda sql: bare.execute(sql.format(files)).fetchall()


@contextmanager
def _spark_lake(address: str, folder: Path) -> Iterator[tuple[Any, Bare]]:
    import ibis
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(address).create()
    session.read.parquet(str(folder)).createOrReplaceTempView("sales")
    try:
        yield (
            ibis.pyspark.connect(session),
            lambda sql: [tuple(row.values()) for row in session.sql(sql.format("sales")).toArrow().to_pylist()],
        )
    finally:
        session.stop()


@dataclass(frozen=True)
class Spent:
    """On the clock, and of the processors: what other programs do lengthens only the first."""

    clock: float
    processor: float

    @classmethod
    def on(cls, work: Callable[[], object]) -> Spent:
        clock, processor = time.perf_counter(), time.process_time()
        work()
        return cls(time.perf_counter() - clock, time.process_time() - processor)


def _engine_spent(project: Project) -> list[Spent]:
    """What each query takes that our engine runs, from now on."""
    tables = project.aio.sources["tables"]
    assert isinstance(tables, Tables)
    engine, spent = tables._executor.engine, list[Spent]()
    plain = engine.run

    def run(*given: Any) -> Any:
        made: list[Any] = []
        spent.append(Spent.on(lambda: made.append(plain(*given))))
        return made[0]

    engine.run = run  # type: ignore[assignment, method-assign]
    return spent


def _side_by_side(
    project: Project, question: str, spent: list[Spent], bare: Callable[[], list[tuple[Any, ...]]]
) -> dict[str, Any]:
    """Medians, each time one after the other. The values of columns, which questions share, are read before."""
    whole, engine, theirs = list[Spent](), list[Spent](), list[Spent]()
    outcomes: list[Any] = []
    for _ in range(TIMES):
        spent.clear()
        whole.append(Spent.on(lambda: outcomes.append(project.ask(question).outcome)))
        engine.append(Spent(sum(one.clock for one in spent), sum(one.processor for one in spent)))
        theirs.append(Spent.on(bare))
    outcome, expected = outcomes[-1], bare()
    ours = [row[: len(expected[0])] for row in outcome.tables[0].rows] if isinstance(outcome, Answer) else []
    return {
        **{f"whole_{name}": value for name, value in _middle(whole).items()},
        **{f"engine_{name}": value for name, value in _middle(engine).items()},
        **{f"bare_{name}": value for name, value in _middle(theirs).items()},
        "same": sorted(map(_rounded, ours)) == sorted(map(_rounded, expected)),
        "refused": "" if isinstance(outcome, Answer) else outcome.text,
    }


def _middle(spent: Sequence[Spent]) -> dict[str, float]:
    clock, processor = [one.clock for one in spent], [one.processor for one in spent]
    return {"clock": statistics.median(clock), "processor": statistics.median(processor)}


def _rounded(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(cell if isinstance(cell, str) else round(float(cell), 2) for cell in row)


def _median(work: Callable[[], object]) -> float:
    return statistics.median(_seconds(work) for _ in range(TIMES))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def report_lake(rows: int, found: dict[str, Any]) -> None:
    print(f"{rows:,} rows: opened in {found['opened']:.2f} s, greatest memory {found['memory']:.0f} MB")
    for kind in ("clock", "processor"):
        print(f"| seconds ({kind}) | bare engine | our queries | ratio | our part | whole question | same rows |")
        print("|---|--:|--:|--:|--:|--:|---|")
        for question, told in found["questions"].items():
            bare, engine, whole = (told[f"{of}_{kind}"] for of in ("bare", "engine", "whole"))
            seconds = f"{bare:.3f} | {engine:.3f} | {engine / bare:.2f} | {whole - engine:.3f} | {whole:.3f}"
            same = "yes" if told["same"] else f"refused: {told['refused']}" if told["refused"] else "NO"
            print(f"| {question} | {seconds} | {same} |")


def report_tables(number: int) -> None:
    """Tables of four to forty columns, with twenty rows, a key and a reference to an earlier one."""
    with tempfile.TemporaryDirectory() as place:
        path, columns = Path(place) / "many.duckdb", 0
        with duckdb.connect(str(path)) as connection:
            for one in range(number):
                width = 4 + one * 7 % 37
                kinds = ("INT", "DATE", "TEXT", "DOUBLE")
                others = ", ".join(f"field_{one}_{field} {kinds[field % 4]}" for field in range(width - 2))
                to = f" REFERENCES entity_{one // 2} (entity_{one // 2}_id)" if one else ""
                connection.execute(
                    f"CREATE TABLE entity_{one} (entity_{one}_id INT PRIMARY KEY, parent_{one} INT{to}, {others}); "
                    f"INSERT INTO entity_{one} (entity_{one}_id, parent_{one}, field_{one}_0) "
                    "SELECT i, i, i FROM range(20) t(i)"
                )
                columns += width
        began, worked = time.perf_counter(), time.process_time()
        with Project(str(path)) as project:
            opened, worked = time.perf_counter() - began, time.process_time() - worked
            first = _seconds(lambda: project.ask("how many entity 17"))
            other = _seconds(lambda: project.ask("how many entity 900"))
    print(
        f"{number:,} tables, {columns:,} columns on DuckDB: "
        f"opened in {opened:.2f} s ({worked:.2f} s of a processor); first question {first:.2f} s, "
        f"one over others {other:.2f} s"
    )


def report_postgres(server: str, rows: int) -> None:
    question = "total units for market Andorra"
    with _database(server, rows) as large, _database(server, 0) as empty:
        opened, nothing = _median(lambda: _open(large)), _median(lambda: _open(empty))
        with Project(large) as project:
            outcome = project.ask(question).outcome
            asked = _seconds(lambda: project.ask(question))
    assert isinstance(outcome, Answer), outcome.text
    print(f"Postgres, a table of {rows:,} rows: opened in {opened:.2f} s, an empty one in {nothing:.2f} s; ", end="")
    print(f"a question that names a value outside of the sample, in a column with an index: {asked:.2f} s")


def _open(address: str) -> None:
    with Project(address):
        pass


@contextmanager
def _database(server: str, rows: int) -> Iterator[str]:
    import psycopg

    name = f"scale_{uuid.uuid4().hex[:10]}"
    address = f"{server.rpartition('/')[0]}/{name}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            with psycopg.connect(address, autocommit=True) as owner:
                owner.execute(
                    "CREATE UNLOGGED TABLE sales AS SELECT i AS sale_id, DATE '2022-01-01' + (i % 1096)::int AS day, "
                    f"CASE WHEN i = {rows} - 7 THEN 'Andorra' ELSE 'market ' || (i % 40) END AS market, "
                    f"(i % 9)::int AS units FROM generate_series(1, {rows}) t(i); CREATE INDEX ON sales (market)"
                )
            yield address
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


if __name__ == "__main__":
    main()
