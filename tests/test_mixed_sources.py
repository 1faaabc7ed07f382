"""GitLab, Tableau, tables and an MCP server in one project: where a question goes is decided by its words alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import Any

import pandas as pd
import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.project import AsyncProject
from tests.sources.mcp.calling import shop_command
from tests.sources.tableau.calling import configured
from tests.sources.tableau.double.superstore import connect
from tests.sources.tableau.double.tableau import running
from tests.sources.trackers import data
from tests.sources.trackers.calling import gitlab_double
from tests.sources.trackers.serving import serving
from tests.trackers.shop import PROJECTS, TODAY

PLENTY = 10_000  # queries of an hour: every project reads the members of fields anew
STAFF = {"employee": ["Ann", "Bob", "Cem"], "office": ["Oslo", "Rome", "Rome"], "salary": [10, 20, 30]}
QUESTIONS = {  # the route, and the first tool of the plan
    "average salary by office": ("tables", "aggregate"),
    "how many employees in Rome?": ("tables", "filter_rows"),
    "total sales by region": ("tables", "tableau_query"),
    "profit by category and segment": ("tables", "tableau_query"),
    "commits in web per month this year": ("tables", "gitlab_commits"),
    "What happened in project web last week?": ("lists", "gitlab_commits"),
    'send an email to ada@example.org with the subject "Hello" and the body "Ready"': ("tasks", "shop.send_email"),
    "who wrote Hamlet?": ("tables", None),
}
Settings = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "token").write_text(f"{data.TOKEN}\n")
    with connect() as superstore, running(superstore) as tableau, serving(gitlab_double()) as gitlab:
        tracker = {"url": gitlab.url, "projects": PROJECTS["gitlab"], "token_file": str(folder / "token")}
        yield {
            "gitlab": tracker,
            "shop": {"mcp": shop_command(folder / "shop.sqlite")},
            "tableau": configured(tableau, folder, queries_per_hour=PLENTY),
        }


def in_order(project: AsyncProject, names: Iterable[str]) -> AsyncProject:
    """The same open sources, held and described in this order."""
    sources = {name: project.sources[name] for name in names}
    tools = [tool for name in names for tool in project.catalog.tools.values() if tool.source == name]
    return AsyncProject(sources, {name: project.schemas[name] for name in names}, Catalog.of(tools))


async def routed(project: AsyncProject) -> dict[str, tuple[str, str | None]]:
    plans = {question: await project.plan(question, today=TODAY) for question in QUESTIONS}
    return {
        question: (planned.trace[0].action, planned.plan.steps[0].tool if planned.plan else None)
        for question, planned in plans.items()
    }


def test_questions_go_where_their_words_say_in_every_order_of_the_sources(settings: Settings) -> None:
    async def every_order() -> list[dict[str, tuple[str, str | None]]]:
        servers, tables = await AsyncProject.open(settings), await AsyncProject.open({"staff": pd.DataFrame(STAFF)})
        try:
            sources, schemas = {**servers.sources, **tables.sources}, {**servers.schemas, **tables.schemas}
            mixed = AsyncProject(sources, schemas, servers.catalog)
            return [await routed(in_order(mixed, names)) for names in permutations(sources)]
        finally:
            await servers.close()
            await tables.close()

    found = asyncio.run(every_order())
    assert len(found) == 24
    assert all(routes == QUESTIONS for routes in found), next(routes for routes in found if routes != QUESTIONS)


def test_settings_in_another_order_open_the_same_project(settings: Settings) -> None:
    async def order(given: Settings) -> tuple[list[str], list[str]]:
        project = await AsyncProject.open(given)
        await project.close()
        return [*project.sources], [*project.catalog.tools]

    backwards = dict(reversed(settings.items()))
    assert [*backwards] != [*settings]
    assert asyncio.run(order(backwards)) == asyncio.run(order(settings))
