"""Over Tableau a model plans nothing that rules cannot check, and what the server says does not steer it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Outcome
from groundplan.contracts.roles import Roles
from groundplan.project import AsyncProject
from tests.llm.scripted import PROBED, Scripted, says, scripted
from tests.sources.tableau.calling import configured
from tests.sources.tableau.double.serving import Fault
from tests.sources.tableau.double.tableau import Tableau
from tests.tableau.asking import TODAY, answered, refused, sent, shown, truth

QUESTION = "total sales by region"
SQL = 'SELECT "Region", sum("Sales") FROM superstore GROUP BY 1 ORDER BY 2 DESC'


@pytest.fixture(autouse=True)
def _plans_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))


def asked(
    tableau: Tableau, folder: Path, *questions: str, fault: Fault | None = None, thread: str | None = None
) -> tuple[list[Outcome], Scripted]:
    """The model edits plans, and leaves each as it is; the fault comes after the fields and their members are known."""

    async def through() -> tuple[list[Outcome], Scripted]:
        async with scripted(says(PROBED), *[says(json.dumps({"changes": []}))] * 3) as server:
            roles = Roles(reader="words")
            sources = {"tableau": configured(tableau, folder)}
            project = await AsyncProject.open(sources, models=[server.endpoint()], roles=roles)
            try:
                await project.ask("total profit", today=TODAY, strategy="rules")
                tableau.requests.clear()
                if fault:
                    tableau.fault(fault)
                return [await project.ask(one, today=TODAY, thread=thread) for one in questions], server
            finally:
                await project.close()

    return asyncio.run(through())


@pytest.mark.requirement("R21", "R46")
@pytest.mark.parametrize("fault", ["400803", "400804"])
def test_a_query_that_the_server_refuses_is_not_sent_again(tableau: Tableau, tmp_path: Path, fault: Fault) -> None:
    [outcome], server = asked(tableau, tmp_path, QUESTION, fault=fault)
    assert f"error {fault}" in refused(outcome).text
    assert len(sent(tableau)) == 1
    assert "CANARY" not in json.dumps(server.requests), "the server's own text may contain anything"


@pytest.mark.requirement("R21", "R41")
def test_a_server_that_is_down_is_no_fault_of_the_plan(tableau: Tableau, tmp_path: Path) -> None:
    [outcome], server = asked(tableau, tmp_path, QUESTION, fault="503800")
    assert "query engine down" in refused(outcome).text
    assert len(server.requests) <= 1, "no model can mend it"


@pytest.mark.requirement("R25", "R29")
def test_the_same_in_other_words_and_with_other_values_costs_no_call(tableau: Tableau, tmp_path: Path) -> None:
    first = "top 2 regions by sales in 2023 by order date"
    same = "in 2023 by order date, top 2 regions by sales"
    other = "top 3 regions by sales in 2024 by order date"
    outcomes, _ = asked(tableau, tmp_path, first, same, other, thread="one")
    assert [answered(one).usage.calls for one in outcomes] == [0, 0, 0]
    for outcome, year, limit in zip(outcomes, (2023, 2023, 2024), (2, 2, 3), strict=True):
        assert shown(answered(outcome)) == truth(
            tableau,
            f"""SELECT "Region", sum("Sales") FROM superstore WHERE year("Order Date") = {year}
            GROUP BY 1 ORDER BY 2 DESC LIMIT {limit}""",
        )
    assert len(sent(tableau)) == 3, "rows are read anew"
