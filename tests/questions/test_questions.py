"""Every folder here is one question: what must be planned, the same numbers by other SQL, and what the text says.

`question.md` has the question, and may fix `today:` or say `ordered`; `plan.yaml` has the tools in order and the params
that matter; `check.sql` computes the table by another route; `answer.md` has phrases of the text. A folder with
`ends.yaml` instead must not be answered: it says how it ends and what must be named; `data.csv` replaces the example.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

import groundplan
from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal
from groundplan.contracts.contract import thaw
from groundplan.interfaces.cli.demo_sales import PLANTED
from groundplan.project import Project

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ANSWERED = sorted(file.parent.name for file in HERE.glob("*/plan.yaml"))
ENDED = sorted(file.parent.name for file in HERE.glob("*/ends.yaml"))


@dataclass(frozen=True)
class Asked:
    question: str
    ordered: bool
    clock: dict[str, date]


def load(slug: str) -> Asked:
    first, *notes = (HERE / slug / "question.md").read_text(encoding="utf-8").splitlines()
    fixed = [date.fromisoformat(note.removeprefix("today: ")) for note in notes if note.startswith("today: ")]
    return Asked(first, "ordered" in notes, {"today": fixed[0]} if fixed else {})


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with groundplan.open(ROOT / "examples/sales.csv") as opened:
        yield opened


def ask(project: Project, slug: str) -> Outcome:
    asked = load(slug)
    return project.ask(asked.question, **asked.clock).outcome


@pytest.fixture(scope="module", params=ANSWERED)
def golden(request: pytest.FixtureRequest, project: Project) -> tuple[str, Answer]:
    outcome = ask(project, request.param)
    assert isinstance(outcome, Answer), outcome.text
    return request.param, outcome


@pytest.mark.requirement("R4", "R8", "R23", "R60")
def test_the_plan_has_these_tools_and_params(golden: tuple[str, Answer]) -> None:
    slug, answer = golden
    wanted = yaml.safe_load((HERE / slug / "plan.yaml").read_text(encoding="utf-8"))
    steps = {step.tool: thaw(step.params) for step in answer.plan.steps}
    assert [step.tool for step in answer.plan.steps] == wanted["tools"]
    for tool, params in wanted.get("params", {}).items():
        assert holds(steps[tool], params), steps[tool]


@pytest.mark.requirement("R32", "R60")
def test_every_requirement_is_covered(golden: tuple[str, Answer]) -> None:
    _, answer = golden
    assert answer.coverage
    assert [item.requirement for item in answer.coverage if not item.ok] == []
    assert answer.usage.calls == 0


@pytest.mark.requirement("R60")
@pytest.mark.requirement("R45", part="tools")
def test_the_table_equals_independent_sql(golden: tuple[str, Answer]) -> None:
    slug, answer = golden
    columns, wanted = independent((HERE / slug / "check.sql").read_text(encoding="utf-8"))
    table = answer.tables[0]
    assert table.columns == columns
    assert wanted
    got = [tuple(row) for row in table.rows]
    assert table.row_count == len(got) == len(wanted)
    if not load(slug).ordered:
        got, wanted = sorted(got, key=sortable), sorted(wanted, key=sortable)
    assert [row for row, other in zip(got, wanted, strict=True) if not alike(row, other)] == []


@pytest.mark.requirement("R52", "R60")
def test_the_text_says_it_and_verifies(golden: tuple[str, Answer]) -> None:
    slug, answer = golden
    phrases = (HERE / slug / "answer.md").read_text(encoding="utf-8").splitlines()
    assert phrases
    assert [phrase for phrase in phrases if phrase not in plain(answer.text)] == []
    assert answer.issues == ()
    assert answer.citations


@pytest.mark.requirement("R10", "R60")
@pytest.mark.parametrize("slug", ENDED)
def test_what_cannot_be_answered_ends_and_names_what_is_missing(slug: str, project: Project) -> None:
    wanted = yaml.safe_load((HERE / slug / "ends.yaml").read_text(encoding="utf-8"))
    own = HERE / slug / "data.csv"
    if own.exists():
        with groundplan.open(own) as opened:
            outcome = ask(opened, slug)
    else:
        outcome = ask(project, slug)
    assert isinstance(outcome, Clarification | Refusal), outcome.text
    assert outcome.kind == wanted["kind"]
    told = f"{outcome.text} {getattr(outcome, 'candidates', ())}"
    assert [name for name in wanted["names"] if name not in told] == []


@pytest.mark.requirement("R45", part="tools")
def test_the_planted_anomalies_are_found(project: Project) -> None:
    outcome = ask(project, "anomalies")
    assert isinstance(outcome, Answer)
    found = {tuple(row[:3]) for row in outcome.tables[0].rows}
    planted = {(item.day.isoformat(), item.region, item.product_category) for item in PLANTED}
    assert planted <= found


def holds(params: object, wanted: object) -> bool:
    """Whether all that is wanted is there; more may be."""
    if isinstance(wanted, Mapping):
        return isinstance(params, Mapping) and all(key in params and holds(params[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return (
            isinstance(params, list)
            and len(params) == len(wanted)
            and all(holds(one, other) for one, other in zip(params, wanted, strict=True))
        )
    return params == wanted


def independent(sql: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    with duckdb.connect() as engine:
        engine.execute(f"SET file_search_path = '{ROOT}'")
        found = engine.execute(sql)
        assert found.description is not None
        return tuple(column[0] for column in found.description), found.fetchall()


def sortable(row: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row)


def alike(row: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(row) == len(other) and all(_same(one, two) for one, two in zip(row, other, strict=True))


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, str) or isinstance(two, str) or one is None or two is None:
        return bool(one == two)
    return math.isclose(float(one), float(two), rel_tol=1e-9)


def plain(text: str) -> str:
    """Narrow and non-breaking spaces as plain ones, so that phrases can be typed."""
    return text.replace("\u202f", " ").replace("\u00a0", " ")
