"""A word that the data does not know is never passed over: refused or asked about, for every kind of source."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import duckdb
import ibis
import pandas as pd
import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.answer import Answer
from groundplan.project import AsyncProject
from tests.sources.tableau.calling import configured
from tests.sources.tableau.double.superstore import connect
from tests.sources.tableau.double.tableau import running
from tests.sources.trackers import data
from tests.sources.trackers.calling import gitlab_double, youtrack_double
from tests.sources.trackers.serving import serving
from tests.trackers.shop import PROJECTS, TODAY

PLENTY = 10_000  # queries of an hour
POSTGRES = os.environ.get("GROUNDPLAN_TEST_POSTGRES")
ORDERS = {
    "order_id": [*range(1, 9)],
    "region": ["North", "South", "East", "West"] * 2,
    "sales": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0],
    "ordered_on": pd.to_datetime([f"2024-0{month}-11" for month in range(1, 9)]),
}
ABOUT_ORDERS = (
    "how many frobbled orders",
    "how many flying orders",
    "total sales of quuxish by region",
    "total sales of wholesale by region",
    "total sales in Atlantis",
    "sales by region without the glorped ones",
    "average sales of refunded orders by region",
    "top 3 regions by blinking sales",
)
ABOUT_ISSUES = (
    "how many frobbled issues",
    "how many flying issues",
    "commits of quuxish per week",
    "how many commits in Atlantis",
    "open issues by assignee without the glorped ones",
    "how many merge requests of wholesale last week",
    "how many snoozed merge requests last week",
)
UNDERSTOOD = {"orders": ("total sales", "how many orders"), "issues": ("how many issues", "commits per week")}
ASKED = {"orders": ABOUT_ORDERS, "issues": ABOUT_ISSUES}
Where = object
"""What a project is opened with: a file, a database, or servers by name."""


class Sources:
    """What can be asked about, opened when it is first named."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self._stack = folder, stack
        folder.joinpath("token").write_text(f"{data.TOKEN}\n")

    def csv(self) -> Where:
        pd.DataFrame(ORDERS).to_csv(self.folder / "orders.csv", index=False)
        return self.folder / "orders.csv"

    def duckdb(self) -> Where:
        file = self.folder / "orders.duckdb"
        frame = pd.DataFrame(ORDERS)
        with duckdb.connect(file) as database:
            database.register("frame", frame)
            database.execute("CREATE OR REPLACE TABLE orders AS FROM frame")
        return file

    def postgres(self) -> Where:
        if not POSTGRES:
            pytest.skip("set GROUNDPLAN_TEST_POSTGRES to a PostgreSQL server")
        psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
        name = f"qualifiers_{os.getpid()}"
        connection = self._stack.enter_context(psycopg.connect(POSTGRES, autocommit=True))
        connection.execute(f"CREATE SCHEMA {name}; SET search_path = {name}")
        self._stack.callback(lambda: connection.execute(f"DROP SCHEMA {name} CASCADE"))
        connection.execute("CREATE TABLE orders (order_id int, region text, sales float, ordered_on date)")
        for row in pd.DataFrame(ORDERS).itertuples(index=False):
            connection.execute("INSERT INTO orders VALUES (%s, %s, %s, %s)", [*row])
        return f"{POSTGRES}/{name}"

    def sqlite(self) -> Where:
        held = sqlite3.connect(":memory:", check_same_thread=False)
        pd.DataFrame(ORDERS)[["order_id", "sales"]].to_sql("orders", held, index=False)  # it has no texts and dates
        return ibis.sqlite.from_connection(held)

    def tableau(self) -> Where:
        double = self._stack.enter_context(running(self._stack.enter_context(connect())))
        return {"tableau": configured(double, self.folder, queries_per_hour=PLENTY)}

    def trackers(self) -> Where:
        gitlab = self._stack.enter_context(serving(gitlab_double()))
        youtrack = self._stack.enter_context(serving(youtrack_double()))
        servers = {"gitlab": gitlab, "youtrack": youtrack}
        token = str(self.folder / "token")
        return {
            name: {"url": server.url, "projects": PROJECTS[name], "token_file": token}
            for name, server in servers.items()
        }


ALONE = {
    "csv": "orders",
    "duckdb": "orders",
    "postgres": "orders",
    "sqlite": "orders",
    "tableau": "orders",
    "trackers": "issues",
}
MIXED = [("csv", "tableau"), ("duckdb", "trackers"), ("tableau", "trackers"), ("csv", "tableau", "trackers")]


@pytest.fixture
def sources(tmp_path: Path) -> Iterator[Sources]:
    with ExitStack() as stack:
        yield Sources(tmp_path, stack)


def answered(sources: Sources, kinds: Iterable[str], questions: Iterable[str]) -> set[str]:
    """The questions that have an answer."""

    async def asked() -> set[str]:
        opened = [await AsyncProject.open(getattr(sources, kind)()) for kind in kinds]
        held = {name: source for one in opened for name, source in one.sources.items()}
        schemas = {name: schema for one in opened for name, schema in one.schemas.items()}
        tools = {tool.name: tool for one in opened for tool in one.catalog.tools.values()}
        project = AsyncProject(held, schemas, Catalog.of([*tools.values()]))
        try:
            found = {question: await project.ask(question, today=TODAY) for question in questions}
        finally:
            for one in opened:
                await one.close()
        return {question for question, outcome in found.items() if isinstance(outcome, Answer)}

    return asyncio.run(asked())


@pytest.mark.requirement("R85", part="every source")
@pytest.mark.requirement("R65", part="tables of servers")
@pytest.mark.requirement("R46")
@pytest.mark.parametrize("kind", ALONE)
def test_one_source_answers_what_it_knows_and_nothing_with_an_unknown_word(sources: Sources, kind: str) -> None:
    about = ALONE[kind]
    assert answered(sources, [kind], (*UNDERSTOOD[about], *ASKED[about])) == {*UNDERSTOOD[about]}


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("kinds", MIXED, ids="-".join)
def test_beside_others_a_source_answers_no_more_than_alone(sources: Sources, kinds: tuple[str, ...]) -> None:
    topics = sorted({ALONE[kind] for kind in kinds})
    assert answered(sources, kinds, [question for about in topics for question in ASKED[about]]) == set()
