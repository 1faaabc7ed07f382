"""Columns that only order the rows are in no table that people see, and nothing that was asked for can be hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundplan.contracts.answer import Answer
from groundplan.contracts.verdict import Refused
from groundplan.interfaces.cli.main import app
from groundplan.project import Project
from tests.asking.tables.described import SALES

ENGLISH = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
RUSSIAN = ["понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье"]


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with Project(SALES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "days"), [("total revenue by weekday", ENGLISH), ("выручка по дню недели", RUSSIAN)]
)
def test_days_of_the_week_are_in_their_order_without_its_number(
    project: Project, question: str, days: list[str]
) -> None:
    answer = project.ask(question).outcome
    assert isinstance(answer, Answer)
    assert len(answer.tables[0].columns) == 2
    assert [str(row[0]).lower() for row in answer.tables[0].rows] == [day.lower() for day in days]
    assert len(answer.facts.tables["table"].columns) == 2
    assert answer.issues == (), "every number of the text is verified"


def test_the_number_is_neither_printed_nor_saved(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["ask", str(SALES), "total revenue by weekday", "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "lowest weekday" not in done.output
    [table] = tmp_path.rglob("table.csv")
    assert table.read_text(encoding="utf-8").splitlines()[0] == "weekday,revenue"
    assert "| lowest weekday" not in next(tmp_path.rglob("report.md")).read_text(encoding="utf-8")


@pytest.mark.requirement("R32")
@pytest.mark.parametrize("hidden", ["revenue", "weekday"])
def test_what_was_asked_for_cannot_be_hidden(project: Project, hidden: str) -> None:
    planned = project.plan("total revenue by weekday")
    assert planned.plan is not None
    assert planned.reading is not None
    written = json.loads(planned.plan.model_dump_json())
    [table] = [step for step in written["steps"] if step["tool"] == "show_table"]
    table["params"]["hide"] = [hidden]
    reading = json.loads(planned.reading.model_dump_json())
    verdict = project.check(json.dumps({"reading": reading, "plan": written}))
    assert isinstance(verdict, Refused)
    assert "meaning/differs" in {issue.code for issue in verdict.issues}
