"""A source and a planner from other packages work like the built-in ones, and touch nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugins.conftest import PACKAGES, Command

SALES = Path(__file__).parents[2] / "examples/sales.csv"
WEATHER = {"weather": "[groundplan.sources]\nweather = groundplan_weather:Weather\n"}
PREVIEW = {"previewing": "[groundplan.planners]\ntables.preview = groundplan_preview:Preview\n"}
READINGS = [
    {"station": "Bergen", "day": "2026-01-01", "rainfall": 12.5},
    {"station": "Bergen", "day": "2026-01-02", "rainfall": 7.5},
    {"station": "Oslo", "day": "2026-01-01", "rainfall": 1.0},
    {"station": "Oslo", "day": "2026-01-02", "rainfall": 2.0},
]


@pytest.fixture
def readings(tmp_path: Path) -> Path:
    file = tmp_path / "readings.jsonl"
    file.write_text("\n".join(map(json.dumps, READINGS)))
    (tmp_path / "work").mkdir(exist_ok=True)
    return file


@pytest.mark.parametrize("file", [*PACKAGES.glob("*/*.py")], ids=lambda file: file.name)
def test_a_plug_in_is_small(file: Path) -> None:
    assert len(file.read_text().splitlines()) < 150


@pytest.mark.requirement("R18")
def test_a_source_of_another_package_is_asked_by_settings(command: Command, readings: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir(exist_ok=True)
    (tmp_path / "work" / "groundplan.toml").write_text(f'[sources.weather]\nfile = "{readings}"\n')
    command("trust", "--yes", packages=WEATHER)
    done = command("ask", "total rainfall by station", "--json", packages=WEATHER)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert {tuple(row[:2]) for row in answer["tables"][0]["rows"]} == {("Bergen", 20.0), ("Oslo", 3.0)}
    assert answer["plan"]["steps"][0]["tool"] == "weather_readings"


def test_its_faults_are_told_like_those_of_a_built_in_source(command: Command, tmp_path: Path) -> None:
    (tmp_path / "work" / "groundplan.toml").write_text('[sources.weather]\nfile = "gone.jsonl"\n')
    command("trust", "--yes", packages=WEATHER)
    done = command("ask", "total rainfall by station", packages=WEATHER)
    assert done.returncode == 2
    assert (
        done.stderr.strip()
        == "groundplan: [sources.weather]: there is no file gone.jsonl; name the file with the readings"
    )


def test_its_tools_are_in_the_catalog(command: Command) -> None:
    listed = command("catalog", "list", packages=WEATHER)
    assert "weather_readings" in listed.stdout


@pytest.mark.requirement("R18")
def test_a_planner_of_another_package_is_chosen_by_its_name(command: Command) -> None:
    done = command("ask", str(SALES), "show all rows", "--strategy", "preview", "--json", packages=PREVIEW)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["plan"]["strategy"] == "preview"
    assert len(answer["tables"][0]["rows"]) == 5


def test_what_it_does_not_plan_is_planned_as_without_it(command: Command) -> None:
    asked = ("ask", str(SALES), "total revenue by region", "--json")
    with_it, without = command(*asked, "--strategy", "preview", packages=PREVIEW), command(*asked, packages={})
    plans = [json.loads(done.stdout)["plan"] for done in (with_it, without)]
    assert plans[0] == plans[1]
    assert plans[0]["strategy"] == "rules"


def test_a_strategy_that_nobody_has_is_refused_with_those_there_are(command: Command) -> None:
    done = command("ask", str(SALES), "total revenue", "--strategy", "preview", packages={})
    assert done.returncode == 2
    assert "adapt, compose, rules" in done.stderr
