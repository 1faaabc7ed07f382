"""A 10-million-row Parquet aggregate: through a checked plan, and as bare SQL on the same DuckDB, in one run.

    python benchmarks/large_aggregate.py [--rows 10000000] [--rounds 20] [--json]

Both sides read the same loaded table and hand over the same rows. The plan's side counts everything from the
proposal to the rows a person sees: checking, building, compiling, the second gate, running, fetching, writing and
verifying the answer. The sides take turns at going first, so that both meet the same machine; the medians are
compared, and the exit code is 1 above 1.10.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from groundplan.contracts.answer import Answer
from groundplan.contracts.plan import Proposal
from groundplan.project import AsyncProject

AT_MOST = 1.10
SQL = "SELECT region, product, sum(amount) AS amount, count(*) AS orders FROM sales GROUP BY region, product"


def requirement(kind: str, name: str, **value: Any) -> dict[str, Any]:
    return {"id": f"{kind}:{name}", "value": {"kind": kind, **value}, "evidence": {"text": name}}


PROPOSAL = Proposal.model_validate(
    {
        "reading": {
            "question": "total amount and number of orders by region and product",
            "requirements": [
                requirement("metric", "amount", column="amount", function="sum"),
                requirement("metric", "orders", function="count"),
                requirement("group_by", "region", column="region"),
                requirement("group_by", "product", column="product"),
                requirement("output", "table", label="table"),
            ],
        },
        "plan": {
            "strategy": "hand",
            "steps": [
                {
                    "id": "totals",
                    "tool": "aggregate",
                    "params": {
                        "table": "sales",
                        "group_by": ["region", "product"],
                        "metrics": [
                            {"column": "amount", "function": "sum", "as": "amount"},
                            {"function": "count", "as": "orders"},
                        ],
                    },
                    "satisfies": ["metric:amount", "metric:orders", "group_by:region", "group_by:product"],
                },
                {"id": "table", "tool": "show_table", "needs": ["totals"], "satisfies": ["output:table"]},
            ],
        },
    }
)


def make(path: Path, rows: int) -> None:
    duckdb.sql(
        f"""COPY (SELECT 'region ' || (i * 7919 % 12) AS region, 'product ' || (i * 104729 % 400) AS product,
                  (i * 31 % 100000) / 100.0 AS amount, DATE '2020-01-01' + (i % 1500)::INTEGER AS day
             FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"""
    )


async def measure(path: Path, rounds: int) -> dict[str, Any]:
    project = await AsyncProject.open(path)
    tables: Any = project.sources["tables"]
    bare = tables._executor.engine.backend.con.cursor()  # the very same database, without our code around it
    ours: list[float] = []
    theirs: list[float] = []

    async def plan_side() -> Answer:
        began = time.perf_counter()
        answer = await project.run(PROPOSAL)
        ours.append(time.perf_counter() - began)
        assert isinstance(answer, Answer), answer
        return answer

    def bare_side() -> int:
        began = time.perf_counter()
        rows = int(bare.execute(SQL).to_arrow_table().num_rows)
        theirs.append(time.perf_counter() - began)
        return rows

    for place in range(rounds + 1):  # the first round warms both up; then each goes first as often as the other
        if place % 2:
            expected, answer = bare_side(), await plan_side()
        else:
            answer = await plan_side()
            expected = bare_side()
        assert answer.tables[0].row_count == expected
    trace = {entry.stage: entry.ms for entry in answer.trace}
    await project.close()
    plan, sql = statistics.median(ours[1:]), statistics.median(theirs[1:])
    return {"plan_ms": plan * 1000, "sql_ms": sql * 1000, "ratio": plan / sql, "last_trace_ms": trace}


def main() -> None:
    parser = argparse.ArgumentParser(description="A large aggregate through a plan against bare SQL.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sales.parquet"
        make(path, arguments.rows)
        result = {"rows": arguments.rows, **asyncio.run(measure(path, arguments.rounds))}
    if arguments.json:
        print(json.dumps(result))
    else:
        print(f"{arguments.rows:,} rows: plan {result['plan_ms']:.1f} ms, bare SQL {result['sql_ms']:.1f} ms,")
        print(f"ratio {result['ratio']:.3f} (at most {AT_MOST:.2f}); the plan's stages: {result['last_trace_ms']}")
    sys.exit(result["ratio"] > AT_MOST)


if __name__ == "__main__":
    main()
