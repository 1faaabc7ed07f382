"""A query answered for real: from the request to one statement on DuckDB, in Tableau's order of operations."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

import duckdb
from tests.sources.tableau.double import rules
from tests.sources.tableau.double.catalogue import Catalogue
from tests.sources.tableau.double.errors import refused
from tests.sources.tableau.double.expressions import AGGREGATES, Expression, Expressions
from tests.sources.tableau.double.filters import Conditions, conditions
from tests.sources.tableau.double.superstore import TABLE
from tests.sources.tableau.double.tablecalcs import Shelf, windowed

Asked = dict[str, Any]
NUMBERS = ("INTEGER", "REAL")


@dataclass(frozen=True)
class Answer:
    names: list[str]
    rows: list[list[Any]]


@dataclass
class Plan:
    """The columns of the grouped rows, and the layers of table calculations over them."""

    expressions: Expressions
    grouped: dict[str, Expression] = field(default_factory=dict)  # column of the statement: what it holds
    shelf: dict[tuple[str, str | None], str] = field(default_factory=dict)
    layers: list[tuple[str, str]] = field(default_factory=list)  # new column, SQL over the layer below
    output: list[str] = field(default_factory=list)


def answer(
    connection: duckdb.DuckDBPyConnection, query: Asked, options: Asked, duplicated: str | None = None
) -> Answer:
    by_name = options.get("interpretFieldCaptionsAsFieldNames", False)
    catalogue = Catalogue(by_name, duplicated, rules.bin_size(query))
    expressions = Expressions(catalogue, connection)
    plan = _planned(query["fields"], expressions)
    rules.hold(query, catalogue)
    names = [_name(asked) for asked in query["fields"]]
    if len(set(names)) < len(names):
        raise refused("400803", "Two fields have the same name in the output; give one of them a fieldAlias.")
    kept = conditions(query.get("filters", []), expressions)
    statement = _statement(query["fields"], plan, kept, options)
    found = connection.execute(statement, expressions.values).fetchall()
    return Answer(names, [[_plain(value) for value in row] for row in found])


def _planned(fields: list[Asked], expressions: Expressions) -> Plan:
    plan = Plan(expressions)
    for number, asked in enumerate(fields):
        held = expressions.of(asked if "tableCalculation" not in asked else _measured(asked, expressions))
        plan.grouped[f"f{number}"] = held
        plan.output.append(f"f{number}")
        if not held.aggregates:
            plan.shelf[asked["fieldCaption"], asked.get("function")] = f"f{number}"
    for number, asked in enumerate(fields):
        if "tableCalculation" in asked:
            plan.output[number] = _calculated(plan, f"f{number}", asked)
    return plan


def _measured(asked: Asked, expressions: Expressions) -> Asked:
    """What a table calculation is made over: the function named, else the one that the field comes with."""
    wanted: Asked
    if "calculation" in asked or "function" in asked:
        wanted = {key: asked[key] for key in ("fieldCaption", "function", "calculation") if key in asked}
    else:
        known = expressions.catalogue.get(asked["fieldCaption"])
        wanted = {"fieldCaption": asked["fieldCaption"], "function": known.aggregation}
    held = expressions.of(wanted)
    if not held.aggregates or held.type not in NUMBERS:
        raise refused("400803", f"A table calculation needs an aggregate in numbers; {asked['fieldCaption']} is none.")
    return wanted


def _calculated(plan: Plan, value: str, asked: Asked) -> str:
    """A secondary calculation goes over what the first one gave."""
    told: Asked | None = asked["tableCalculation"]
    additive = asked.get("function", "SUM") in ("SUM", "COUNT")
    while told is not None:
        shelf = Shelf(plan.shelf, _custom_sort(plan, told))
        plan.layers.append((f"t{len(plan.layers)}", windowed(told, value, shelf, additive)))
        value, told, additive = plan.layers[-1][0], told.get("secondaryTableCalculation"), True
    return value


def _custom_sort(plan: Plan, told: Asked) -> str | None:
    if "customSort" not in told:
        return None
    sort = {key: told["customSort"][key] for key in ("fieldCaption", "function")}
    column = f"s{len(plan.grouped)}"
    plan.grouped[column] = plan.expressions.of(sort)
    if not plan.grouped[column].aggregates:
        raise refused("400803", f"A custom sort goes by an aggregate: {', '.join(AGGREGATES)}.")
    return column


def _statement(fields: list[Asked], plan: Plan, kept: Conditions, options: Asked) -> str:
    steps = [
        ("in_context", f"SELECT * FROM {TABLE} {_where(kept.context)}"),
        ("context", f"SELECT * FROM in_context {_where(kept.context_members)}"),
        ("kept", f"SELECT * FROM context {_where(kept.members + kept.rows)}"),
        ("layer", _grouped(plan, kept.groups, options.get("disaggregate", False))),
    ]
    for number, (column, window) in enumerate(plan.layers):
        below = "layer" if number == 0 else f"layer{number - 1}"
        steps.append((f"layer{number}", f"SELECT *, {window} AS {column} FROM {below}"))
    shown = [_rounded(asked, column, plan.grouped) for asked, column in zip(fields, plan.output, strict=True)]
    limit = f" LIMIT {min(options['rowLimit'], 2**31 - 1)}" if "rowLimit" in options else ""
    with_steps = ", ".join(f"{name} AS ({sql})" for name, sql in steps)
    return f"WITH {with_steps} SELECT {', '.join(shown)} FROM {steps[-1][0]}{_ordered(fields, plan.output)}{limit}"


def _grouped(plan: Plan, groups: list[str], disaggregate: bool) -> str:
    """Nothing at all is left of no rows: an aggregate over nothing is no row either."""
    columns = ", ".join(f"{held.sql} AS {name}" for name, held in plan.grouped.items())
    if disaggregate:
        if groups or any(held.aggregates for held in plan.grouped.values()):
            raise refused("400803", "Disaggregated rows have no aggregates.")
        return f"SELECT {columns} FROM kept"
    dimensions = [name for name, held in plan.grouped.items() if not held.aggregates]
    by = f"GROUP BY {', '.join(dimensions)}" if dimensions else ""
    return f"SELECT {columns} FROM kept {by} HAVING {' AND '.join(['count(*) > 0', *groups])}"


def _ordered(fields: list[Asked], output: list[str]) -> str:
    """Sorted as asked; what is not asked for comes in an order that looks like none, as from a server."""
    sorts = sorted(
        (asked["sortPriority"], column, asked.get("sortDirection", "ASC"))
        for asked, column in zip(fields, output, strict=True)
        if "sortPriority" in asked
    )
    nulls = {"ASC": "NULLS FIRST", "DESC": "NULLS LAST"}
    by = [f"{column} {direction} {nulls[direction]}" for _, column, direction in sorts]
    scattered = f"hash({', '.join(output)})"
    return f" ORDER BY {', '.join([*by, scattered])}"


def _rounded(asked: Asked, column: str, grouped: dict[str, Expression]) -> str:
    """Alone of the values, numbers have decimal places; a table calculation always gives a number."""
    if "maxDecimalPlaces" not in asked or (column in grouped and grouped[column].type not in NUMBERS):
        return column
    return f"round({column}, {min(asked['maxDecimalPlaces'], 15)})"


def _name(asked: Asked) -> str:
    if "fieldAlias" in asked:
        return str(asked["fieldAlias"])
    if "binSize" in asked:
        return f"{asked['fieldCaption']} (bin)"
    return f"{asked['function']}({asked['fieldCaption']})" if "function" in asked else str(asked["fieldCaption"])


def _where(parts: list[str]) -> str:
    return f"WHERE {' AND '.join(parts)}" if parts else ""


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
