"""The semantic model file: what it adds, and where its faults are."""

from __future__ import annotations

import asyncio
import os
import uuid
from pathlib import Path

import pytest
from typer.testing import CliRunner

from groundplan.contracts.answer import Answer
from groundplan.contracts.expression import Aggregate, Arithmetic, Column, Rows
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import SourceError, UsageError
from groundplan.interfaces.cli.main import app
from groundplan.project import Project
from groundplan.sources.tables.schema.model_file import found_model
from groundplan.sources.tables.schema.sql_expression import Unsupported, read_sql
from groundplan.sources.tables.source import Tables

pytestmark = pytest.mark.requirement("R73", part="ossie")
MODEL = """\
version: 0.2.0.dev0
semantic_model:
  - name: reef
    datasets:
      - name: dives
        source: main.dives
        fields:
          - {name: depth, expression: depth, ai_context: {synonyms: [plunge]}}
      - name: crew
        source: divers
        primary_key: [nr]
        ai_context: {synonyms: [frogman]}
        fields:
          - name: home
            expression: {dialects: [{dialect: ANSI_SQL, expression: harbour}]}
    relationships:
      - {name: dived_by, from: dives, to: crew, from_columns: [who], to_columns: [nr]}
    metrics:
      - {name: toll, expression: SUM(dives.fee), ai_context: {synonyms: [proceeds]}}
      - {name: toll_per_diver, expression: "toll / NULLIF(COUNT(DISTINCT dives.who), 0)"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dives.csv").write_text("dive,who,depth,fee\n1,7,10,2.5\n2,7,12,3\n3,8,30,4\n4,,5,1\n")
    (tmp_path / "divers.csv").write_text("nr,harbour\n7,Split\n8,Zadar\n")
    return tmp_path


def described(folder: Path) -> SourceSchema:
    return asyncio.run(Tables.open(folder).describe())


def test_a_model_file_adds_synonyms_relationships_and_metrics(folder: Path) -> None:
    assert described(folder).relationships == ()
    (folder / "semantic_model.yaml").write_text(MODEL)
    schema = described(folder)
    (link,) = schema.relationships
    assert (link.text, link.known, link.name) == ("dives → divers by who", "declared", "dived_by")
    assert schema.find("divers").synonyms == ("frogman", "crew")  # type: ignore[union-attr]
    fee = Aggregate(function="sum", of=Column(name="fee"))
    assert schema.metrics[0].expression == fee
    assert isinstance(schema.metrics[1].expression, Arithmetic)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("proceeds by home", {("Split", 5.5), ("Zadar", 4.0), (None, 1.0)}),
        ("toll per diver", {(5.25,)}),
        ("how many frogmen", {(2,)}),
    ],
)
def test_questions_use_the_words_of_the_model(folder: Path, question: str, rows: set[tuple[object, ...]]) -> None:
    (folder / "semantic_model.yaml").write_text(MODEL.replace("[frogman]", "[frogman, frogmen]"))
    with Project(str(folder)) as project:
        answer = project.ask(question).outcome
        assert isinstance(answer, Answer), answer
        assert {row[: len(next(iter(rows)))] for row in answer.tables[0].rows} == rows


@pytest.mark.parametrize(
    ("wrong", "right", "fault"),
    [
        ("main.dives", "main.dive", "semantic_model.yaml:5: there is no table 'dive'"),
        (
            "expression: harbour",
            "expression: harbor",
            "semantic_model.yaml:14: field 'home': there is no column divers.harbor",
        ),
        ("from_columns: [who]", "from_columns: [whom]", "semantic_model.yaml:17: relationship 'dived_by': there is no"),
        ("SUM(dives.fee)", "SUM(dives.fees)", "semantic_model.yaml:19: metric 'toll': there is no column dives.fees"),
        ("SUM(dives.fee)", "dives.fee", "semantic_model.yaml:19: metric 'toll': it is no measure"),
        (
            "SUM(dives.fee)",
            "SUM(dives.fee) / SUM(crew.nr)",
            "metric 'toll': several rows of 'dives' share a row of 'divers'",
        ),
        ("SUM(dives.fee)", "RANDOM()", "semantic_model.yaml:19: metric 'toll': 'RAND()' is not supported"),
    ],
)
def test_a_fault_names_its_file_and_line(folder: Path, wrong: str, right: str, fault: str) -> None:
    (folder / "semantic_model.yaml").write_text(MODEL.replace(wrong, right))
    with pytest.raises(SourceError) as raised:
        described(folder)
    assert fault in str(raised.value)


def test_what_was_found_is_written_and_read_again(folder: Path) -> None:
    (folder / "divers.csv").write_text("who,harbour\n7,Split\n8,Zadar\n")
    found = described(folder)
    (folder / "semantic_model.yaml").write_text(found_model(found))
    again = described(folder)
    assert [table.keys for table in again.tables] == [table.keys for table in found.tables]
    assert [link.text for link in again.relationships] == [link.text for link in found.relationships]


def test_sql_is_read_into_the_closed_language() -> None:
    assert read_sql("COUNT(*)", {}) == Rows()
    under = read_sql("SUM(CASE WHEN t.a > 1 AND t.b IS NULL THEN t.c END)", {})
    assert isinstance(under, Aggregate)
    assert under.where is not None
    assert read_sql("COUNT(*) FILTER (WHERE t.a IN ('x'))", {}) != Rows()
    with pytest.raises(Unsupported):
        read_sql("SUM(x) OVER ()", {})
    with pytest.raises(Unsupported):
        read_sql("SELECT 1", {})


def test_a_model_file_beside_the_settings_is_that_of_the_data_they_name(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path_factory.mktemp("settings")
    monkeypatch.chdir(settings)
    (settings / "semantic_model.yaml").write_text(MODEL)
    assert described(folder).relationships == ()
    (settings / "groundplan.toml").write_text(f'source = "{os.path.relpath(folder, settings)}"\n')
    assert [link.name for link in described(folder).relationships] == ["dived_by"]
    (folder / "semantic_model.yaml").write_text(MODEL.replace("dived_by", "nearer"))
    assert [link.name for link in described(folder).relationships] == ["nearer"]


def test_a_server_has_a_model_file_beside_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = os.environ.get("GROUNDPLAN_TEST_POSTGRES")
    if server is None:
        pytest.skip("set GROUNDPLAN_TEST_POSTGRES to a PostgreSQL server")
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    monkeypatch.chdir(tmp_path)
    name = f"reef_{uuid.uuid4().hex[:8]}"
    url, run = f"{server}/{name}", CliRunner()
    models = tmp_path / "metrics.yml"
    models.write_text(
        "semantic_models: [{name: dives, model: ref('dives'), measures: [{name: toll, agg: sum, expr: fee}]}]\n"
        "metrics: [{name: toll, type: simple, type_params: {measure: toll}}]\n"
    )
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create schema {name}; set search_path = {name}")
        try:
            connection.execute("create table dives (dive int primary key, diver int, fee numeric)")
            connection.execute("create table divers (nr int primary key, harbour text)")
            connection.execute(
                "insert into dives values (1, 7, 2.5), (2, 7, 3); insert into divers values (7, 'Split')"
            )
            refused = run.invoke(app, ["import", url, str(models)])
            assert isinstance(refused.exception, UsageError)
            assert "groundplan init" in str(refused.exception)
            assert run.invoke(app, ["init", url]).exit_code == 0
            assert "dataset" in (tmp_path / "semantic_model.yaml").read_text()
            assert run.invoke(app, ["import", url, str(models)]).exit_code == 0
            with Project(url) as project:
                assert [metric.name for metric in project.schemas["tables"].metrics] == ["toll"], project.schemas
        finally:
            connection.execute(f"drop schema {name} cascade")
