"""How long a DuckDB file with hundreds of tables takes to open, and a question over two of them to answer.

    python benchmarks/many_tables.py [TABLES ...]

Each group of five tables is a star of its own: a table of facts that points at four others, 23 columns in all.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import duckdb

from groundplan.contracts.answer import Answer
from groundplan.project import Project

NOUNS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heath",
    "islet",
    "jetty",
    "knoll",
    "ledge",
    "marsh",
    "north",
    "ocean",
    "pearl",
    "quartz",
    "ridge",
]
SIDES = ["depot", "vendor", "crew", "region"]


def main(sizes: list[int]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "many.duckdb")
            columns = _fill(path, size // 5)
            began = time.perf_counter()
            with Project(str(path)) as project:
                project.schemas  # noqa: B018 - described when first read
                opened = time.perf_counter() - began
                first = _seconds(project, "total amberamber weight by crew label")
                again = _seconds(project, "average amberamber weight by crew label")
                other = _seconds(project, "total amberbirch weight by depot label")
        print(
            f"{size} tables, {columns} columns: opened in {opened:.2f} s; first question {first:.2f} s, "
            f"another over the same tables {again:.2f} s, one over others {other:.2f} s"
        )


def _seconds(project: Project, question: str) -> float:
    began = time.perf_counter()
    outcome = project.ask(question).outcome
    assert isinstance(outcome, Answer), outcome.text
    return time.perf_counter() - began


def _fill(path: Path, groups: int) -> int:
    with duckdb.connect(str(path)) as connection:
        for place in range(groups):
            name = NOUNS[place // len(NOUNS)] + NOUNS[place % len(NOUNS)]
            for side in SIDES:
                connection.execute(
                    f"CREATE TABLE {name}_{side} ({side}_id INT PRIMARY KEY, {side}_label TEXT, opened DATE);"
                    f"INSERT INTO {name}_{side} "
                    f"SELECT i, '{side} ' || i, DATE '2024-01-01' + i::INT FROM range(20) s(i)"
                )
            pointers = ", ".join(f"{side}_id INT REFERENCES {name}_{side} ({side}_id)" for side in SIDES)
            values = ", ".join(f"(i * {number + 3}) % 20" for number in range(len(SIDES)))
            connection.execute(
                f"CREATE TABLE {name}_facts (fact_id INT PRIMARY KEY, {pointers}, {name}_weight DOUBLE, tallied DATE, "
                "remark TEXT, grade TEXT, pieces INT, batch INT);"
                f"INSERT INTO {name}_facts SELECT i, {values}, i % 17, DATE '2024-01-01' + (i % 300)::INT, 'r' || i, "
                "'g' || (i % 4), i % 9, i % 50 FROM range(500) s(i)"
            )
        found = connection.execute("SELECT count(*) FROM duckdb_columns() WHERE NOT internal").fetchone()
    return int(found[0]) if found else 0


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [200, 1_000])
