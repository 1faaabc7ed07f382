"""Numbers, charts and reports are written in the language of the question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundplan.contracts.facts import TableColumn
from groundplan.interfaces import report, table_cells
from groundplan.interfaces.cli import show
from groundplan.project import Project

SALES = Path(__file__).parents[2] / "examples" / "sales.csv"
BY_REGION = {"en": "revenue by region in 2025", "ru": "выручка по регионам за 2025 год"}


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with Project(str(SALES)) as opened:
        yield opened


@pytest.mark.requirement("R71", part="answers")
@pytest.mark.parametrize(
    ("language", "number", "bar"),
    [("en", "10,253,500.53", " 10.3M"), ("ru", "10\u00a0253\u00a0500,53", " 10,3 млн")],
)
def test_the_terminal_writes_numbers_in_one_way(
    project: Project, capsys: pytest.CaptureFixture[str], language: str, number: str, bar: str
) -> None:
    show.shown(project.ask(BY_REGION[language]).outcome)
    printed = capsys.readouterr().out
    assert number in printed
    assert bar in printed


@pytest.mark.requirement("R71", part="reports")
def test_a_report_is_in_the_language_of_the_question(project: Project, tmp_path: Path) -> None:
    for language, question in BY_REGION.items():
        (tmp_path / language).mkdir()
        report.write(project.ask(question).outcome, tmp_path / language, question)
    russian = (tmp_path / "ru" / "report.md").read_text("utf-8")
    assert "## Как получен ответ" in russian
    assert "## Чего это стоило" in russian
    assert "Файлом: [" in russian
    assert "| 10 253 500,53 |" in russian
    english = (tmp_path / "en" / "report.md").read_text("utf-8")
    assert "## How it was answered" in english
    assert "10,253,500.53" in english


@pytest.mark.parametrize(
    ("values", "column", "written"),
    [
        ([1.0, 2500.0, None], None, ["1", "2,500", ""]),
        ([1.5, 2500.0], None, ["1.50", "2,500.00"]),
        ([0.4961, 0.0518, 0.0000456], None, ["0.496", "0.052", "0.0000456"]),
        ([0.4961, 1.0, None], TableColumn(name="share", kind="number", ratio=True), ["49.6%", "100.0%", ""]),
        ([9, 17], TableColumn(name="hour", kind="number", grain="hour"), ["09:00", "17:00"]),
        (["2025-03-01"], TableColumn(name="date", kind="time", grain="month"), ["2025-03"]),
        ([float("inf"), 2.5], None, ["inf", "2.50"]),
        ([True, False], None, ["yes", "no"]),
    ],
)
def test_cells_of_a_column_have_the_same_decimals(
    values: list[object], column: TableColumn | None, written: list[str]
) -> None:
    assert table_cells.cells(values, column, "en") == written  # type: ignore[arg-type]


def test_a_unit_stands_in_the_heading() -> None:
    assert table_cells.heading("fee", TableColumn(name="fee", kind="number", unit="£")) == "fee (£)"
