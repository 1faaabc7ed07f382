"""What an engine lacks is declared, and refused before a plan runs. Compiling a sample needs no server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import ibis
import ibis.expr.types as ir
import pytest
from ibis.common.exceptions import IbisError
from tests.questions.notation import condition, value
from tests.sources.tables.tooling import tools

from groundplan.contracts import expression
from groundplan.contracts.columns import Function, Grain
from groundplan.contracts.needs import needs
from groundplan.errors import QueryRefused
from groundplan.sources.tables.engine.by_place import with_places
from groundplan.sources.tables.engine.handle import arranged, handle_on
from groundplan.sources.tables.engine.lacks import LACKS
from groundplan.sources.tables.engine.sql_gate import approve
from groundplan.sources.tables.source import _made, with_defaults
from groundplan.sources.tables.tools.charts import prepare

OURS = ("duckdb", "postgres", "sqlite", "mysql", "pyspark")
OTHERS = ("bigquery", "clickhouse", "databricks", "mssql", "snowflake", "trino")
SALES = handle_on(
    ibis.table(
        {
            "day": "date",
            "moment": "timestamp",
            "region": "string",
            "product": "string",
            "units": "int64",
            "revenue": "float64",
            "paid": "boolean",
        },
        name="sales",
    )
)
COUNT = {"function": "count", "as": "n"}
CONDITIONS = {
    "all": "units > 1 and units < 5",
    "any": "units > 1 or units < 5",
    "not": "not units > 1",
    "compare": "units > 3",
    "one_of": "one_of(region, 'North', 'South')",
    "contains": "contains(product, 'off')",
    "among": "among_top(units, 3)",
    "missing": "missing(region)",
}
VALUES = {
    "column": "units",
    "constant": "units + 1",
    "arithmetic": "units / revenue",
    "elapsed": "days(day, moment)",
    "date_part": "part(day, 'year')",
    "date_cut": "cut(day, 'month')",
    "bins": "bins(units, 3, 6)",
    "cases": "cases(units > 3, 'many', 'few')",
    "filled": "filled(region, 'none')",
    "rounded": "rounded(revenue, 'nearest', 1)",
    "absolute": "absolute(revenue)",
    "concatenated": "joined(region, ' ', product)",
    "length": "length(product)",
    "alike": "alike(mean(revenue), region)",
    "holds": "holds(units > 3)",
    "share": "share(units)",
    "change": "change(units)",
    "running": "running(units)",
    "moving": "moving(units, 3)",
}
GROUPS = {"rows": "rows()", "aggregate": "sum(revenue)", "correlation": "correlation(units, revenue)"}
JOINED = ("named", "related", "overall", "found", "found_group")  # written out as joins before a plan runs
TOOLS: dict[str, dict[str, Any]] = {
    "aggregate": {"group_by": ["region"], "metrics": [COUNT]},
    "compare_periods": {
        "time": "day",
        "metric": {"function": "sum", "column": "revenue"},
        "by": ["region"],
        "current": ["2024-07-01", "2025-01-01"],
        "previous": ["2024-01-01", "2024-07-01"],
    },
    "compute_summary_stats": {"columns": ["revenue"]},
    "correlate": {"columns": ["units", "revenue"]},
    "derive_column": {"operation": "add", "columns": ["units"], "number": 1, "as": "new"},
    "detect_anomalies": {"column": "revenue"},
    "distribution_stats": {"column": "revenue"},
    "filter_rows": {"conditions": [{"column": "units", "operator": "=", "values": [1]}]},
    "parse_datetime": {"column": "product", "format": "YYYY-MM-DD"},
    "pivot": {"rows": ["product"], "columns": "region", "values": "revenue"},
    "plot_box": {"y": "revenue", "x": "region"},
    "plot_histogram": {"x": "revenue"},
    "rank_rows": {"by": "units", "limit": 3, "within": ["region"]},
    "segment_metric": {"by": ["region"], "metric": {"function": "mean", "column": "revenue", "as": "typical"}},
    "select_columns": {"columns": ["region"], "distinct": True},
    "share_of_total": {"column": "units"},
    "time_series_features": {"time": "day", "column": "units", "by": ["region"]},
}
NOT_COMPILED = {"forecast", "cluster", "show_table", "save_table"}  # functions of ours, and rows as they are
JOINING = {"join_tables", "add_overall", "mark_found"}  # of two tables; a reading without them has none


def enum(tool: str, param: str) -> list[str]:
    return [str(item) for item in tools()[tool].params["properties"][param]["enum"]]


def samples() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each need with a call that needs it and little else."""
    for tool, params in TOOLS.items():
        yield f"tool {tool}", tool, params
    for function in (*get_args(Function), "percentile"):
        if function == "percentile":
            measure: dict[str, Any] = {
                "expression": value("percentile(revenue, 90)").model_dump(mode="json"),
                "as": "v",
            }
        else:
            measure = {"function": function, "column": "revenue", "as": "v"}
        if function != "defined":
            yield f"function {function}", "aggregate", {"group_by": ["region"], "metrics": [measure]}
    for grain in get_args(Grain):
        time = "moment" if grain in ("minute", "hour") else "day"
        yield f"grain {grain}", "aggregate", {"group_by": [time], "grain": grain, "metrics": [COUNT]}
    for part in get_args(expression.Part):
        yield f"part {part}", "derive_column", {"expression": _value(f"part(moment, '{part}')"), "as": "new"}
    for operation in enum("derive_column", "operation"):
        yield f"operation {operation}", "derive_column", {"operation": operation, "as": "new", **_operands(operation)}
    for operator in ("=", "!=", "<", "<=", ">", ">=", "in", "not in", "between", "contains", "is null", "not null"):
        yield f"operator {operator}", "filter_rows", {"conditions": [_condition(operator)]}
    for place in get_args(expression.Place):
        yield f"place {place}", "filter_rows", {"where": _where(f"contains(product, 'off', '{place}')")}
    for kind, written in CONDITIONS.items():
        yield f"kind {kind}", "filter_rows", {"where": _where(written)}
    for kind, written in VALUES.items():
        yield f"kind {kind}", "derive_column", {"expression": _value(written), "along": "day", "as": "new"}
    for kind, written in GROUPS.items():
        yield f"kind {kind}", "aggregate", {"metrics": [{"expression": _value(written), "as": "new"}]}
    for form in enum("parse_datetime", "format"):
        if form != "auto":  # the values choose
            column = "units" if form.startswith("unix") else "product"
            yield f"format {form}", "parse_datetime", {"column": column, "format": form}
    for season in enum("detect_anomalies", "season"):
        params = {"column": "units", "method": "seasonal", "time": "moment", "season": season}
        yield f"season {season}", "detect_anomalies", params


def _value(written: str) -> Any:
    return value(written).model_dump(mode="json")


def _where(written: str) -> Any:
    return condition(written).model_dump(mode="json")


def _operands(operation: str) -> dict[str, Any]:
    if operation in get_args(expression.Part):
        return {"columns": ["moment"]}
    if operation in ("lower", "upper", "length"):
        return {"columns": ["product"]}
    if operation == "days_between":
        return {"columns": ["day", "moment"]}
    return {"columns": ["revenue"], "number": 1}


def _condition(operator: str) -> dict[str, Any]:
    if operator == "contains":
        return {"column": "product", "operator": operator, "values": ["off"]}
    values = {"between": [1, 3], "is null": [], "not null": []}.get(operator, [1])
    return {"column": "units", "operator": operator, "values": values}


def compiler_of(dialect: str) -> Any:
    match dialect:
        case "sqlite" | "mysql":
            return import_module(f"groundplan.sources.tables.engine.{dialect}_dialect").Compiler()
        case "pyspark":
            pytest.importorskip("pyspark", reason="needs the extra `spark`")
            spark = import_module("groundplan.sources.tables.engine.spark_dialect").SparkBackend
            spark().register_options()
            return spark.compiler
        case _:
            compiler = import_module(f"ibis.backends.sql.compilers.{dialect}").compiler
            return compiler if dialect in OURS else with_places(compiler)


def lacking(dialect: str) -> tuple[str, ...]:
    compiler = compiler_of(dialect)

    def compiles(table: ir.Table) -> None:
        approve(compiler.to_sqlglot(table.limit(100)).sql(dialect), dialect, ["sales"])

    def ask(table: ir.Table) -> list[dict[str, Any]]:
        compiles(table)
        return [{name: _one(table[name].type(), place) for place, name in enumerate(table.columns)}]

    def is_lacking(tool: str, params: dict[str, Any]) -> bool:
        try:
            if tool.startswith("plot_"):
                compiles(prepare(tool, SALES.table, params))
            else:
                made, _ = _made(tool, [SALES], with_defaults(tools()[tool], params), ask)
                compiles(arranged(made.table, made.order))
        except (IbisError, QueryRefused):
            return True
        return False

    return tuple(sorted(need for need, tool, params in samples() if is_lacking(tool, params)))


def _one(dtype: Any, place: int) -> Any:
    if dtype.is_floating():
        return float(place)
    if dtype.is_string():
        return "x"
    if dtype.is_date():
        return date(2024, 1, 1)
    return datetime(2024, 1, 1) if dtype.is_timestamp() else place + 1


@pytest.mark.requirement("R86", part="lacks")
@pytest.mark.parametrize("dialect", [*OURS, *OTHERS])
def test_what_an_engine_lacks_is_declared(dialect: str) -> None:
    assert lacking(dialect) == LACKS.get(dialect, ())


def test_each_engine_of_ours_lacks_nothing() -> None:
    assert not LACKS.keys() & {*OURS}
    assert LACKS.keys() <= {*OTHERS}


def test_the_manual_says_which_engines_lack_nothing() -> None:
    manual = (Path(__file__).parents[3] / "docs/how-to/open-your-data.md").read_text(encoding="utf-8")
    lines = [line.split(" | ") for line in manual.splitlines() if line.count(" | ") == 4]
    nothing = {name for cells in lines if cells[1] == "nothing" for name in cells[0].strip("| ").lower().split(", ")}
    called = {"pyspark": "spark"}
    assert {called.get(name, name) for name in {*OURS, *OTHERS} - LACKS.keys()} <= nothing
    assert not nothing & {*LACKS}


def test_a_sample_needs_what_it_is_a_sample_of() -> None:
    for need, tool, params in samples():
        assert need in [*needs(tool, params)], need


def test_there_is_a_sample_of_everything() -> None:
    known = {need for need, _, _ in samples()}
    kinds = {get_args(one.model_fields["kind"].annotation)[0] for one in _nodes()}
    assert {need.removeprefix("kind ") for need in known if need.startswith("kind ")} == kinds - {*JOINED}
    drawn = {tool for tool in tools() if tool.startswith("plot_")} - {"plot_box", "plot_histogram"}
    assert {need.removeprefix("tool ") for need in known if need.startswith("tool ")} == (
        tools().keys() - NOT_COMPILED - JOINING - drawn
    )


def _nodes() -> list[Any]:
    found = (getattr(expression, name) for name in vars(expression))
    return [one for one in found if isinstance(one, type) and "kind" in getattr(one, "model_fields", {})]
