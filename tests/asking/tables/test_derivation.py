"""`explain --derivation`: how the grammar came to a reading, or why it came to none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import groundplan
from groundplan.interfaces.cli.main import app
from groundplan.project import Project


@pytest.fixture(scope="module")
def kilns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    path = tmp_path_factory.mktemp("kilns") / "firings.csv"
    lines = [f"F{n},{('clay', 'glaze')[n % 2]},{900 + n}" for n in range(60)]
    path.write_text("\n".join(["firing_id,ware,heat", *lines]) + "\n")
    with groundplan.open(path) as project:
        yield project


def test_senses_phrases_and_builders_are_shown(kilns: Project) -> None:
    told = kilns.derivation("average heat by ware")
    assert told.splitlines()[:3] == ["Senses in firings", "  average: function mean 0.90", "  heat: field heat 1.00"]
    read = told.index("Read, score ")
    assert told.index("'average heat' measure heat 2.20 by function_of_field") > read
    assert told.index("'by ware' group ware 2.20 by by_field") > read


def test_words_that_nothing_explains_are_left_over(kilns: Project) -> None:
    assert "\nWords left over: soot, score " in kilns.derivation("average soot by ware")


def test_what_does_not_compose_is_said(kilns: Project) -> None:
    assert "\nDoesNotCompose: two rankings, score " in kilns.derivation("top ware by heat and bottom ware by heat")


def test_the_command_shows_it(tmp_path: Path) -> None:
    path = tmp_path / "firings.csv"
    path.write_text("ware,weight\nclay,9.5\nglaze,1.25\n")
    shown = CliRunner().invoke(app, ["explain", str(path), "total weight by ware", "--derivation"])
    assert shown.exit_code == 0
    assert "Read, score " in shown.stdout
