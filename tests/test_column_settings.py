"""People say what columns mean and what else they are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import groundplan
from groundplan.column_settings import ColumnSettings
from groundplan.contracts.answer import Answer
from groundplan.errors import UsageError
from groundplan.interfaces.cli.main import app

CSV = "prt,dpt_h,zone,code\n" + "".join(f"P{i % 4},{i}.5,{'NS'[i % 2]},{100 + i % 3}\n" for i in range(24))
TOML = """source = "jobs.csv"
[columns.prt]
called = ["machine", "агрегат"]
[columns."jobs.dpt_h"]
called = ["running time"]
meaning = "amount"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "jobs.csv").write_text(CSV, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(outcome: object) -> list[tuple[object, ...]]:
    assert isinstance(outcome, Answer), outcome
    return [tuple(row) for row in outcome.tables[0].rows]


@pytest.mark.requirement("R67", part="corrected")
@pytest.mark.requirement("R67", part="functions")
def test_a_name_and_a_meaning_given_by_a_person_are_used(folder: Path) -> None:
    told = {
        "prt": ColumnSettings(called=("machine", "агрегат")),
        "jobs.dpt_h": ColumnSettings(called=("running time",), meaning="amount"),
    }
    with groundplan.open(folder / "jobs.csv") as plain:
        assert not isinstance(plain.ask("how many machines are there?").outcome, Answer)
        assert plain.describe()["tables"].tables[0].columns[1].meaning == "rate"
    with groundplan.open(folder / "jobs.csv", columns=told) as project:
        assert rows(project.ask("how many machines are there?").outcome) == [(4,)]
        assert rows(project.ask("сколько агрегатов?").outcome) == [(4,)]
        assert rows(project.ask("running time by zone").outcome) == [("S", 150.0), ("N", 138.0)]  # an amount is summed
        assert project.describe()["tables"].tables[0].columns[1].meaning == "amount"


@pytest.mark.requirement("R67", part="identifiers")
def test_a_number_can_be_said_to_identify(folder: Path) -> None:
    told = {"code": ColumnSettings(meaning="identifier")}
    with groundplan.open(folder / "jobs.csv", columns=told) as project:
        refusal = project.ask("average code").outcome
    assert not isinstance(refusal, Answer)


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"prtt": ColumnSettings(called=("machine",))}, "no such column; did you mean 'prt'"),
        ({"other.prt": ColumnSettings(called=("machine",))}, "no such column"),
        ({"zone": ColumnSettings(meaning="amount")}, "choose identifier, category, name, text"),
    ],
)
def test_what_does_not_fit_is_named(folder: Path, told: dict[str, ColumnSettings], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        groundplan.open(folder / "jobs.csv", columns=told)


def test_the_settings_of_a_folder_apply_to_its_own_data_only(folder: Path) -> None:
    (folder / "groundplan.toml").write_text(TOML, encoding="utf-8")
    (folder / "other.csv").write_text("a,b\n1,x\n2,y\n", encoding="utf-8")
    run = CliRunner().invoke
    asked = run(app, ["ask", "how many machines are there?", "--json"])
    assert asked.exit_code == 0, asked.output
    assert run(app, ["ask", "jobs.csv", "how many machines are there?", "--json"]).exit_code == 0
    assert run(app, ["ask", "other.csv", "how many rows are there?", "--json"]).exit_code == 0


@pytest.mark.requirement("R67", part="contracts")
@pytest.mark.requirement("R67", part="found")
def test_the_catalog_shows_what_columns_mean(folder: Path) -> None:
    (folder / "groundplan.toml").write_text(TOML, encoding="utf-8")
    shown = CliRunner().invoke(app, ["catalog", "tables"])
    assert shown.exit_code == 0, shown.output
    lines = {line.split()[0]: line for line in shown.output.splitlines() if line.split()}
    assert lines["prt"].split() == ["prt", "category", "4", "different", "machine,", "агрегат"]
    assert lines["dpt_h"].split()[:5] == ["dpt_h", "amount", "0.5", "to", "23.5"]
    document = json.loads(CliRunner().invoke(app, ["catalog", "tables", "--json"]).output)
    assert document[0]["tables"][0]["columns"][0]["synonyms"] == ["machine", "агрегат"]
    assert CliRunner().invoke(app, ["catalog", "tables", "other.csv"]).exit_code != 0
