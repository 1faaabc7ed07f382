"""Models of dbt, Cube and Lightdash become the model file of the data; what does not fit is listed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import yaml
from tests.interfaces.test_cli import groundplan
from tests.sources.tables.importing.boats import write_boats

from groundplan.contracts.answer import Answer
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import SourceError, UsageError
from groundplan.project import Project
from groundplan.sources.tables.importing.read import import_models
from groundplan.sources.tables.schema.model_file import MOST_BYTES
from groundplan.sources.tables.source import Tables

DBT = """\
semantic_models:
  - name: hires
    model: ref('hires')
    entities:
      - {name: hire, type: primary, expr: hire_no}
      - {name: boat, type: foreign, expr: boat_ref}
      - {name: skippr, type: foreign, expr: skipper_ref}
    dimensions:
      - {name: taken, type: time, type_params: {time_granularity: day}}
      - {name: weather, type: categorical, expr: "{{ var('sky') }}"}
    measures:
      - {name: charged, agg: sum, expr: price}
      - {name: hires, agg: sum, expr: "1", create_metric: true}
      - {name: nights, agg: average, expr: "DATEDIFF('day', taken, brought)", create_metric: true}
      - {name: closing, agg: sum, expr: price, create_metric: true, non_additive_dimension: {name: taken}}
  - name: boats
    model: ref('fleet', 'boats')
    entities:
      - {name: boat, type: primary, expr: boat_no}
    dimensions:
      - {name: berth, type: categorical, expr: harbour}
  - name: insured
    model: ref('insured')
    entities:
      - {name: hire, type: primary, expr: hire_no}
    dimensions:
      - {name: is_insured, type: categorical, expr: "1"}
  - name: skippers
    model: ref('skippers')
    entities:
      - {name: skipper, type: primary, expr: nr}
metrics:
  - {name: takings, label: Gross takings, type: simple, type_params: {measure: charged}}
  - name: insured_takings
    type: simple
    type_params: {measure: charged}
    filter: "{{ Dimension('hire__is_insured') }} = 1"
  - name: split_takings
    type: simple
    type_params: {measure: {name: charged, filter: "{{ Dimension('boat__berth') }} = 'Split'"}}
  - {name: insured_share, type: ratio, type_params: {numerator: insured_takings, denominator: takings}}
  - name: uncovered_takings
    type: derived
    type_params: {expr: gross - safe, metrics: [{name: takings, alias: gross}, {name: insured_takings, alias: safe}]}
  - {name: so_far, type: cumulative, type_params: {measure: charged}}
"""
SCHEMA_YML = """\
models:
  - name: hires
    description: A boat that is let.
    columns:
      - {name: hire_no, data_tests: [unique, not_null]}
      - name: boat_ref
        tests:
          - relationships: {to: ref('boats'), field: boat_no}
"""
LIGHTDASH = """\
models:
  - name: hires
    meta:
      primary_key: hire_no
      joins:
        - {join: boats, sql_on: "${hires.boat_ref} = ${boats.boat_no}"}
        - {join: insured, sql_on: "${hires.hire_no} > ${insured.hire_no}"}
      metrics:
        per_boat: {type: number, sql: "${takings} / ${boats_out}"}
    columns:
      - name: price
        meta:
          metrics:
            takings: {type: sum, label: Gross takings}
            cheap: {type: sum, filters: [{price: "< 5"}]}
            odd: {type: percentile}
      - name: boat_ref
        meta:
          metrics:
            boats_out: {type: count_distinct}
  - name: boats
    columns:
      - name: boat_no
        tests: [unique]
      - name: harbour
        meta: {dimension: {label: Berth}}
"""
CUBE = """\
cubes:
  - name: hire
    sql_table: main.hires
    joins:
      - {name: boat, sql: "{CUBE}.boat_ref = {boat.number}", relationship: many_to_one}
      - {name: skipper, sql: "{CUBE}.skipper_ref = {skipper}.nr", relationship: many_to_one}
    dimensions:
      - {name: id, sql: hire_no, type: number, primary_key: true}
      - {name: taken, sql: "{CUBE}.taken", type: time}
    measures:
      - {name: number_of_hires, type: count}
      - {name: takings, sql: price, type: sum, title: Gross takings}
      - {name: dear, sql: price, type: sum, filters: [{sql: "{CUBE}.price > 10"}]}
      - {name: dear_share, sql: "{dear} / NULLIF({CUBE.takings}, 0)", type: number}
      - {name: rolling, sql: price, type: sum, rolling_window: {trailing: unbounded}}
      - {name: rough, sql: price, type: count_distinct_approx}
    segments:
      - {name: summer, sql: "month > 5"}
  - name: boat
    sql: SELECT * FROM boats
    dimensions:
      - {name: number, sql: boat_no, type: number, primary_key: true}
      - {name: berth, sql: harbour, type: string}
  - name: skipper
    sql: SELECT nr FROM skippers WHERE nr > 0
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_boats(tmp_path / "data")


def imported(data: Path, *texts: str, name: str = "models.yml") -> tuple[SourceSchema, list[str]]:
    """The schema with the imported model, and the lint without the folder."""
    models = data.parent / "models"
    models.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (models / f"{number or ''}{name}").write_text(text)
    found, beside = asyncio.run(Tables.open(data).describe()), data / "semantic_model.yaml"
    content, lint = import_models(models, found, beside)
    beside.write_text(content)
    return asyncio.run(Tables.open(data).describe()), [line.removeprefix(f"{models}/") for line in lint]


def answer(data: Path, question: str, width: int = 1) -> set[tuple[object, ...]]:
    with Project(str(data)) as project:
        outcome = project.ask(question).outcome
        assert isinstance(outcome, Answer), outcome.text
        return {row[:width] for row in outcome.tables[0].rows}


@pytest.mark.requirement("R73", part="dbt")
def test_dbt_models_become_metrics_and_relationships(data: Path) -> None:
    schema, _ = imported(data, DBT)
    assert {metric.name for metric in schema.metrics} == {
        "takings", "insured_takings", "split_takings", "insured_share", "uncovered_takings", "hires", "nights",
    }  # fmt: skip
    declared = {link.text for link in schema.relationships if link.known == "declared"}
    assert declared == {
        "hires → boats by boat_ref", "hires → insured by hire_no", "insured → hires by hire_no",
    }  # fmt: skip
    assert answer(data, "insured takings") == {(25.0,)}
    assert answer(data, "uncovered takings") == {(10.0,)}
    assert answer(data, "nights") == {(2.0,)}
    assert answer(data, "gross takings by berth", 2) == {("Split", 30), ("Zadar", 5)}


@pytest.mark.requirement("R73", part="dbt")
def test_what_dbt_says_and_we_cannot_is_listed_with_file_and_line(data: Path) -> None:
    _, lint = imported(data, DBT)
    assert lint == [
        "models.yml:10: 'weather': templates (Jinja) are not read",
        "models.yml:7: entity 'skippr' points at nothing; did you mean 'skipper'?",
        "models.yml:45: metric 'so_far': metrics of the type 'cumulative' are not supported",
        "models.yml:15: measure 'closing': 'non_additive_dimension' of the measure 'closing' is not supported",
    ]


@pytest.mark.requirement("R73", part="dbt")
def test_tests_and_descriptions_of_dbt_models_are_read(data: Path) -> None:
    schema, lint = imported(data, SCHEMA_YML)
    assert lint == []
    assert schema.find("hires").description == "A boat that is let."  # type: ignore[union-attr]
    assert [link.text for link in schema.relationships if link.known == "declared"] == ["hires → boats by boat_ref"]


@pytest.mark.requirement("R73", part="dbt")
def test_a_semantic_manifest_is_read_like_its_yaml(data: Path) -> None:
    read = yaml.safe_load(DBT)
    for model in read["semantic_models"]:
        model["node_relation"] = {"alias": model["model"].split("'")[-2], "schema_name": "main"}
    text = "{{ Dimension('hire__is_insured') }} = 1"
    read["metrics"][1]["filter"] = {"where_filters": [{"where_sql_template": text}]}
    from_yaml, _ = imported(data, DBT)
    (data / "semantic_model.yaml").unlink()
    (data.parent / "models/models.yml").unlink()
    from_json, _ = imported(data, json.dumps(read), name="semantic_manifest.json")
    assert from_json.metrics == from_yaml.metrics
    assert from_json.relationships == from_yaml.relationships


@pytest.mark.requirement("R73", part="dbt")
def test_a_key_that_the_data_contradicts_is_not_taken(data: Path) -> None:
    schema, lint = imported(
        data, DBT.replace("{name: boat, type: primary, expr: boat_no}", "{name: boat, type: primary, expr: harbour}")
    )
    assert "hires → boats by boat_ref" in {link.text for link in schema.relationships}
    (data / "boats.csv").write_text("boat_no,harbour\n7,Split\n8,Split\n")
    (data / "semantic_model.yaml").unlink()
    _, lint = imported(data)
    assert "models.yml:19: harbour is no key of 'boats': several rows have the same value" in lint


@pytest.mark.requirement("R73", part="lightdash")
def test_lightdash_meta_becomes_metrics_and_joins(data: Path) -> None:
    schema, lint = imported(data, LIGHTDASH)
    assert {metric.name for metric in schema.metrics} == {"takings", "boats_out", "per_boat"}
    assert [link.text for link in schema.relationships if link.known == "declared"] == ["hires → boats by boat_ref"]
    assert answer(data, "gross takings by berth", 2) == {("Split", 30), ("Zadar", 5)}
    assert answer(data, "per boat") == {(17.5,)}
    assert lint == [
        "models.yml:7: join 'insured': 'hires.hire_no > insured.hire_no' is no equality of a column of each side",
        "models.yml:15: measure 'cheap': the filter price: < 5 is not supported",
        "models.yml:16: measure 'odd': the aggregation 'percentile' is not supported",
    ]


@pytest.mark.requirement("R73", part="cube")
def test_cubes_become_data_sets_metrics_and_joins(data: Path) -> None:
    schema, lint = imported(data, CUBE)
    assert {metric.name for metric in schema.metrics} == {"number_of_hires", "takings", "dear", "dear_share"}
    assert [link.text for link in schema.relationships if link.known == "declared"] == ["hires → boats by boat_ref"]
    assert answer(data, "gross takings by berth", 2) == {("Split", 30), ("Zadar", 5)}
    assert answer(data, "number of hires") == {(3,)}
    assert lint == [
        "models.yml:24: cube 'skipper' is left out: its `sql` is a query, and a data set is a table",
        "models.yml:17: cube 'hire': `segments` is not read",
        "models.yml:6: join 'skipper': one of the cubes is not imported",
        "models.yml:15: measure 'rolling': `rolling_window` is not supported",
        "models.yml:16: measure 'rough': the aggregation 'count_distinct_approx' is not supported",
    ]


def test_an_import_keeps_what_the_model_file_says(data: Path) -> None:
    model = {
        "name": "boats",
        "datasets": [{"name": "rentals", "source": "hires", "ai_context": {"synonyms": ["lets"]}}],
        "metrics": [{"name": "takings", "expression": "MAX(rentals.price)"}],
    }
    (data / "semantic_model.yaml").write_text(yaml.safe_dump({"version": "0.2.0.dev0", "semantic_model": [model]}))
    schema, lint = imported(data, DBT)
    assert "models.yml:33: metric 'takings' is defined twice; the first definition is kept" in lint
    assert answer(data, "takings") == {(20,)}
    assert "lets" in schema.find("hires").synonyms  # type: ignore[union-attr]
    assert "hires → boats by boat_ref" in {link.text for link in schema.relationships if link.known == "declared"}
    once = (data / "semantic_model.yaml").read_text()
    imported(data)
    assert (data / "semantic_model.yaml").read_text() == once


@pytest.mark.parametrize(
    "text",
    [
        "models: {a: 1}",
        "cubes: 7",
        "semantic_models: [1, [2], {name: [3]}]",
        "metrics: [{name: a, type: derived}]",
        "a: [",
    ],
)
def test_strange_files_are_listed_or_ignored(data: Path, text: str) -> None:
    (data / "semantic_model.yaml").unlink(missing_ok=True)
    imported(data, text)


def test_large_and_foreign_files_are_refused(data: Path) -> None:
    _, lint = imported(data, "cubes: []\n" + "# " * MOST_BYTES)
    assert [line.partition(": is not read: ")[0] for line in lint] == ["models.yml:1"]
    assert f"takes more than {MOST_BYTES:,} bytes" in lint[0]
    (data / "semantic_model.yaml").write_text("a: 1\n" + "# " * MOST_BYTES)
    with pytest.raises(SourceError, match="takes more than 5,000,000 bytes"):
        asyncio.run(Tables.open(data).describe())
    (data / "semantic_model.yaml").unlink()
    with pytest.raises(UsageError, match="no models of dbt, Cube or Lightdash"):
        imported(data, "name: a project\nversion: 2\n")


def test_the_command_writes_the_file_and_lists_the_lint(data: Path) -> None:
    (data.parent / "models.yml").write_text(CUBE)
    done = groundplan("import", data, data.parent / "models.yml")
    assert done.returncode == 0, done.stderr
    assert "models.yml:17: cube 'hire': `segments` is not read" in done.stdout
    assert f"{data / 'semantic_model.yaml'}: written; 5 parts do not fit" in done.stdout.replace("\n", " ")
    assert (data / "semantic_model.yaml").is_file()
