"""What is true of a thing counts once, however many rows it has; numbers, dates and codes are what they are."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb
import pytest

import groundplan
from groundplan.contracts.answer import Answer, Clarification, Outcome

TODAY = date(2026, 1, 15)
LINES = "Ord Ref,Sold,Customer Town,Weight kg,Item,Qty\n" + "".join(
    f"O-{order:04},2025-{order % 12 + 1:02}-{order % 27 + 1:02},{['Ulm', 'Bonn', 'Kiel'][order % 3]},{order % 7 + 1},"
    f"{'abc'[line]},{line + 1}\n"
    for order in range(150)
    for line in range(order % 3 + 1)
)


def ask(file: Path, question: str) -> Outcome:
    with groundplan.open(file) as project:
        return project.ask(question, today=TODAY).outcome


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / f"{name}.csv"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("question", "truth"),
    [
        ("total weight", "SELECT sum(w) FROM o"),
        ("average weight by customer town", "SELECT t, avg(w) FROM o GROUP BY 1"),
        ("total weight by month", "SELECT date_trunc('month', d)::date::varchar, sum(w) FROM o GROUP BY 1"),
        ("how many orders", "SELECT count(*) FROM o"),
        ("total qty by customer town", 'SELECT "Customer Town", sum("Qty") FROM lines GROUP BY 1'),
    ],
)
@pytest.mark.requirement("R68")
def test_a_property_of_a_thing_counts_once(tmp_path: Path, question: str, truth: str) -> None:
    file = written(tmp_path, "order_lines", LINES)
    engine = duckdb.connect()
    engine.read_csv(str(file)).create("lines")
    engine.execute(
        'CREATE VIEW o AS SELECT DISTINCT "Ord Ref", "Sold" AS d, "Customer Town" AS t, "Weight kg" AS w FROM lines'
    )
    answer = ask(file, question)
    assert isinstance(answer, Answer), answer
    shown = sorted(tuple(row) for row in answer.tables[0].rows)
    expected = sorted(engine.execute(truth).fetchall())
    assert [row[:-1] for row in shown] == [row[:-1] for row in expected]
    assert [row[-1] for row in shown] == pytest.approx([row[-1] for row in expected])


def test_it_is_said_what_counts_once(tmp_path: Path) -> None:
    answer = ask(written(tmp_path, "order_lines", LINES), "total weight by customer town")
    assert isinstance(answer, Answer)
    assert (
        answer.read_as == "Read as: total weight kg over ord refs by customer town. Assumed: each ord ref counts once."
    )


def test_where_rows_have_a_key_of_their_own_it_is_asked_what_counts(tmp_path: Path) -> None:
    """The pay of each job code, once; or that of each employee, who has one of the codes."""
    rows = "".join(f"{n},J-{n % 30:03},{n % 30 * 100 + 1000}.5,{'NS'[n % 2]}\n" for n in range(1, 241))
    file = written(tmp_path, "employees", f"employee_id,job_code,monthly cost,site\n{rows}")
    asked = ask(file, "total monthly cost")
    assert isinstance(asked, Clarification), asked
    assert asked.candidates == ("total monthly cost over job codes", "total monthly cost")


TWO_DATES = "Code,Loss Dt,Report Dt,Amount\n" + "".join(
    f"{n},2025-{n % 12 + 1:02}-{n % 25 + 1:02},2025-{n % 12 + 1:02}-{n % 25 + 3:02},{n}.5\n" for n in range(200)
)


def test_of_two_dates_the_one_called_like_the_table_is_meant(tmp_path: Path) -> None:
    answer = ask(written(tmp_path, "loss", TWO_DATES), "total amount in march 2025")
    assert isinstance(answer, Answer)
    assert "loss dt is in March 2025" in (answer.read_as or "")


def test_of_two_equal_dates_none_is_guessed(tmp_path: Path) -> None:
    file = written(tmp_path, "register", TWO_DATES)
    asked = ask(file, "total amount in march 2025")
    assert isinstance(asked, Clarification)
    assert len(asked.candidates) == 2
    by_event = ask(file, "total amount with report dt in march 2025")
    assert isinstance(by_event, Answer), by_event


@pytest.mark.parametrize("heading", ["№ заказа", "Job#", "serial"])
@pytest.mark.requirement("R67", part="identifiers")
def test_what_numbers_rows_is_never_measured(tmp_path: Path, heading: str) -> None:
    rows = "".join(f"{5000 + n},{'NS'[n % 2]},{n}.5\n" for n in range(200))
    file = written(tmp_path, "sheet", f"{heading},zone,score\n{rows}")
    with groundplan.open(file) as project:
        assert project.describe()["tables"].tables[0].columns[0].meaning == "identifier"
        assert not isinstance(project.ask(f"average {heading} by zone", today=TODAY).outcome, Answer)


def test_units_in_names_stay_whole(tmp_path: Path) -> None:
    rows = "".join(f"T{n % 5},{n}.25\n" for n in range(40))
    answer = ask(written(tmp_path, "tanks", f"Tank,Vol hL\n{rows}"), "total hl by tank")
    assert isinstance(answer, Answer), answer
    assert answer.read_as == "Read as: total vol hL by tank."
