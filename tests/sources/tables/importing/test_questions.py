"""Questions over an imported model: the name of a metric decides which rows are measured."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from groundplan.contracts.answer import Answer
from groundplan.contracts.join_paths import paths_between
from groundplan.project import Project
from groundplan.sources.tables.importing.read import import_models
from groundplan.sources.tables.source import Tables

MODEL = """\
semantic_models:
  - name: fee
    model: ref('fees')
    entities:
      - {name: fee, type: primary, expr: fee_identifier}
      - {name: dive, type: foreign, expr: dive_identifier}
    measures: [{name: charged, agg: sum, expr: sum_due}]
  - name: harbour_tax
    model: ref('harbour_tax')
    entities: [{name: fee, type: primary, expr: fee_identifier}]
    dimensions: [{name: is_tax, type: categorical, expr: "1"}]
  - name: dive
    model: ref('dives')
    entities: [{name: dive, type: primary, expr: dive_identifier}]
    dimensions: [{name: club_dive_number, type: categorical}]
metrics:
  - name: harbour_tax_due
    type: simple
    type_params: {measure: charged}
    filter: "{{ Dimension('fee__is_tax') }} = 1"
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "fees.csv").write_text("fee_identifier,dive_identifier,sum_due\n1,1,5\n2,1,7\n3,2,9\n")
    (folder / "harbour_tax.csv").write_text("fee_identifier\n2\n3\n")
    (folder / "dives.csv").write_text("dive_identifier,club_dive_number,dive_state_code\n1,7001,\n2,7002,\n")
    (tmp_path / "models.yml").write_text(MODEL)
    schema = asyncio.run(Tables.open(folder).describe())
    content, lint = import_models(tmp_path / "models.yml", schema, folder / "semantic_model.yaml")
    assert lint == []
    (folder / "semantic_model.yaml").write_text(content)
    return folder


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("harbour tax due", {(16,)}),
        ("what is the harbour tax due of all dives by dive number?", {(7001, 7), (7002, 9)}),
        ("how many dives do we have?", {(2,)}),
    ],
)
def test_a_metric_is_measured_over_its_own_rows(data: Path, question: str, rows: set[tuple[object, ...]]) -> None:
    with Project(str(data)) as project:
        outcome = project.ask(question).outcome
        assert isinstance(outcome, Answer), outcome.text
        assert set(outcome.tables[0].rows) == rows


def test_a_row_is_not_reached_from_itself(data: Path) -> None:
    links = asyncio.run(Tables.open(data).describe()).relationships
    assert paths_between(links, "fees", "harbour_tax")
    assert paths_between(links, "fees", "fees") == ()
