"""A word that was asked about once is remembered as another name of a column, if the reply says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import groundplan
from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.interfaces.cli.main import app
from groundplan.result import Result

CSV = "depot,qty_t,fare\n" + "".join(f"{'NSW'[i % 3]},{i}.5,{i * 2}.25\n" for i in range(30))
QUESTION = "total mileage by depot"
TONNES = [("W", 160.0), ("S", 150.0), ("N", 140.0)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "runs.csv").write_text(CSV, encoding="utf-8")
    return tmp_path / "runs.csv"


def choice_of(result: Result, name: str) -> int:
    assert isinstance(result.outcome, Clarification), result
    assert result.outcome.missing == "mileage"
    return result.candidates.index(name) + 1


def rows(result: Result) -> list[tuple[object, ...]]:
    assert isinstance(result.outcome, Answer), result
    return [tuple(row) for row in result.outcome.tables[0].rows]


def test_a_name_is_remembered_after_a_yes_and_known_when_the_data_is_opened_again(data: Path) -> None:
    with groundplan.open(data) as project:
        asked = project.ask(QUESTION)
        answer = asked.choose(choice_of(asked, "qty_t"), remember=True)
        assert rows(answer) == TONNES
        assert "'mileage' is remembered as qty_t" in answer.outcome.notes
        assert rows(project.ask(QUESTION)) == TONNES
        assert project.describe()["tables"].tables[0].columns[1].synonyms == ("mileage",)
    with groundplan.open(data) as project:
        assert rows(project.ask(QUESTION)) == TONNES
        assert rows(project.ask("average mileage where depot is N")) == [(14.0,)]
        assert project.forget_name("mileage")
        assert not project.forget_name("mileage")
    with groundplan.open(data) as project:
        assert isinstance(project.ask(QUESTION).outcome, Clarification)


def test_nothing_is_remembered_without_a_yes(data: Path) -> None:
    with groundplan.open(data) as project:
        asked = project.ask(QUESTION)
        assert rows(asked.choose(choice_of(asked, "qty_t"))) == TONNES
        assert isinstance(project.ask(QUESTION).outcome, Clarification)
        assert isinstance(asked.choose("no").outcome, Refusal)
        assert isinstance(project.ask(QUESTION).outcome, Clarification)


def test_other_data_with_a_column_of_that_name_is_not_touched(data: Path) -> None:
    other = data.parent / "other" / "runs.csv"
    other.parent.mkdir()
    other.write_text(CSV, encoding="utf-8")
    with groundplan.open(data) as project:
        asked = project.ask(QUESTION)
        asked.choose(choice_of(asked, "qty_t"), remember=True)
    with groundplan.open(other) as project:
        assert isinstance(project.ask(QUESTION).outcome, Clarification)


def test_a_name_is_remembered_in_a_conversation(data: Path) -> None:
    with groundplan.open(data) as project:
        number = choice_of(project.ask(QUESTION, thread="talk"), "qty_t")
        assert rows(project.ask(f"{number}, remember it", thread="talk")) == TONNES
        assert rows(project.ask(QUESTION)) == TONNES


def test_a_name_is_remembered_in_the_terminal(data: Path) -> None:
    with groundplan.open(data) as project:
        number = choice_of(project.ask(QUESTION), "qty_t")
    talk = CliRunner().invoke(app, ["chat", str(data)], input=f"{QUESTION}\n{number} remember\n/new\n{QUESTION}\n")
    assert talk.exit_code == 0, talk.output
    assert "'mileage' is remembered as qty_t" in talk.output
    assert isinstance(groundplan.open(data).ask(QUESTION).outcome, Answer)
    talk = CliRunner().invoke(app, ["chat", str(data)], input=f"/forget mileage\n/forget mileage\n{QUESTION}\n")
    assert "'mileage' is forgotten" in talk.output
    assert "no column is remembered as 'mileage'" in talk.output
    assert "What do you mean by it?" in talk.output


def test_the_columns_that_are_called_alike_are_asked_about_wherever_the_word_stands(data: Path) -> None:
    with groundplan.open(data) as project:
        asked = project.ask("total fare by subdepot")
        assert isinstance(asked.outcome, Clarification), asked
        assert asked.text == "By 'subdepot' do you mean 'depot'?"
        assert asked.candidates == ("depot",)
        assert len(rows(asked.choose("yes, remember"))) == 3
        assert len(rows(project.ask("total fare by subdepot"))) == 3
