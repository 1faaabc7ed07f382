"""A Russian question is refused in Russian, whatever the reason."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

import groundplan
from groundplan.answering.refusals import OTHERWISE, REASONS
from tests.asking.tables.described import SALES

SOURCE = Path(groundplan.__file__).parent
CODE = re.compile(r'(?:refused\(|code=)\s*"(reading/[a-z-]+)"')
LATIN = re.compile(r"[A-Za-z]{2,}")


def codes() -> set[str]:
    files = [*(SOURCE / "asking").rglob("*.py"), SOURCE / "pipeline.py"]
    return {code for file in files for code in CODE.findall(file.read_text(encoding="utf-8"))}


@pytest.mark.requirement("R71", part="refusals while reading")
def test_every_reason_to_refuse_while_reading_has_its_text() -> None:
    assert len(codes()) > 20
    assert codes() == {code for code in REASONS if code.startswith("reading/")}


@pytest.mark.requirement("R71", part="refusals while reading")
@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("удали строки", "reading/change"),
        ("круговая диаграмма выручки по регионам", "reading/chart"),
        ("второй наибольший регион по выручке", "reading/rank-nth"),
        ("сохрани выручку по регионам в файл", "reading/file"),
        ("выручка по марсианам", "reading/unread-word"),
        ("выручка за январь 2025, март 2025 и май 2025", "reading/periods"),
        ("выручка " * 300, "reading/too-long"),
        ("сколько строк в stock", "reading/unreadable-table"),
    ],
)
def test_a_russian_question_is_refused_in_russian(question: str, code: str, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(f"CREATE TABLE sales AS FROM read_csv('{SALES}')")
        connection.execute("CREATE VIEW stock AS SELECT error('no') AS x")
    with groundplan.open(tmp_path / "shop.duckdb") as project:
        refused = project.ask(question).outcome
        columns = {column.name for table in project.schemas["tables"].tables for column in table.columns}
    assert refused.kind == "refusal", refused.text
    assert refused.issues[0].code == code, refused.issues
    assert OTHERWISE not in refused.text
    named = {*columns, "sales", "stock", "output", "called", "columns", "COLUMN", "groundplan", "toml"}
    assert [word for word in LATIN.findall(re.sub(r"\w+_\w+", "", refused.text)) if word not in named] == []


@pytest.mark.requirement("R71", part="clarifications")
@pytest.mark.parametrize(
    ("question", "asked"), [("выручка по регену", "это"), ("анамалии выручки", "Что имеется в виду?")]
)
def test_a_russian_question_is_asked_back_in_russian(question: str, asked: str) -> None:
    with groundplan.open(SALES) as project:
        clarification = project.ask(question).outcome
        columns = {column.name for table in project.schemas["tables"].tables for column in table.columns}
    assert clarification.kind == "clarification", clarification.text
    assert asked in clarification.text
    assert [word for word in LATIN.findall(re.sub(r"\w+_\w+", "", clarification.text)) if word not in columns] == []


def test_a_known_word_is_not_called_missing(tmp_path: Path) -> None:
    for name, columns in (("orders", "customer,amount\nAnn,3\n"), ("people", "name,age\nBob,4\n")):
        (tmp_path / f"{name}.csv").write_text(columns)
    with groundplan.open(tmp_path) as project:
        refused = project.ask("сколько стоит people за кем age").outcome
    assert refused.kind == "refusal", refused.text
    assert "people has" not in refused.text
