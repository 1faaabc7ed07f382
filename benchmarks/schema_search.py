"""How often search finds all tables that a question needs, among the tables of many databases put together.

    python benchmarks/schema_search.py FOLDER

The folder has `tables.json` and `dev.json` in the format of Spider (github.com/taoyds/spider, CC BY-SA 4.0): 876 tables
of 166 databases, with names, keys and foreign keys but without rows. A table is needed if the known SQL reads it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import sqlglot
from sqlglot import exp

from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column, Table
from groundplan.sources.tables.schema.search import TableIndex

FIRST = 10


def main(folder: Path) -> None:
    databases = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    questions = json.loads((folder / "dev.json").read_text(encoding="utf-8"))
    tables = [table for place, one in enumerate(databases) for table in _tables(one, place)]
    links = [link for place, one in enumerate(databases) for link in _links(one, place)]
    places = {one["db_id"]: place for place, one in enumerate(databases)}
    began = time.perf_counter()
    index = TableIndex(tables, links)
    built = time.perf_counter() - began
    index.find("warm up")
    whole, seconds, misses = 0, [], []
    for asked in questions:
        began = time.perf_counter()
        found = index.ranked(asked["question"])[:FIRST]
        seconds.append(time.perf_counter() - began)
        needed = {_named(name, places[asked["db_id"]]) for name in _read(asked["query"])}
        whole += needed <= {*found}
        if not needed <= {*found}:
            misses.append((asked["question"], sorted(needed), found))
    print(f"{len(tables)} tables, {sum(len(t.columns) for t in tables)} columns, index built in {built:.2f} s")
    print(f"{len(questions)} questions: all tables among the first {FIRST}: {whole / len(questions):.3f}")
    print(f"a question takes {1000 * median(seconds):.1f} ms (median), {1000 * max(seconds):.1f} ms (most)")
    if "--misses" in sys.argv:
        for question, lacked, given in misses:
            print(question, lacked, given, sep="\n    ")


def _named(name: str, place: int) -> str:
    return f"{name.lower()}_{place}"


def _tables(database: Any, place: int) -> Iterator[Table]:
    for number, name in enumerate(database["table_names_original"]):
        columns = [
            Column(name=column, type=type_, kind="text", role="dimension")
            for (owner, column), type_ in zip(database["column_names_original"], database["column_types"], strict=True)
            if owner == number
        ]
        yield Table(name=_named(name, place), columns=tuple(columns))


def _links(database: Any, place: int) -> Iterator[Relationship]:
    names, columns = database["table_names_original"], database["column_names_original"]
    for own, other in database["foreign_keys"]:
        (table, column), (to_table, to_column) = columns[own], columns[other]
        yield Relationship(
            table=_named(names[table], place),
            columns=(column,),
            to_table=_named(names[to_table], place),
            to_columns=(to_column,),
        )


def _read(sql: str) -> set[str]:
    return {table.name.lower() for table in sqlglot.parse_one(sql, read="sqlite").find_all(exp.Table)}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
