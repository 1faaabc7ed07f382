"""The SQL of other models' expressions, put together as trees; nothing of it is run."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from groundplan.budget import spend
from groundplan.sources.tables.schema.sql_expression import DIALECT, Unsupported
from groundplan.sources.tables.schema.sql_expression import parsed as parsed_sql

AGGREGATES: dict[str, type[Any]] = {
    "sum": exp.Sum,
    "average": exp.Avg,
    "avg": exp.Avg,
    "min": exp.Min,
    "max": exp.Max,
    "median": exp.Median,
    "count": exp.Count,
}


def parsed(text: str, own: str) -> Any:
    """Columns without a data set belong to `own`; raises Unsupported."""
    if "{{" in text or "{%" in text:
        raise Unsupported("templates (Jinja) are not read")
    try:
        node = parsed_sql(text)
    except Unsupported as error:
        raise Unsupported(f"{text[:80]!r} is not an SQL expression: {error}") from error
    for column in node.find_all(exp.Column):
        if not column.table and not isinstance(column.this, exp.Star):
            column.set("table", exp.to_identifier(own))
    return node


def aggregate(kind: str, of: Any) -> Any:
    if kind == "count_distinct":
        return exp.Count(this=exp.Distinct(expressions=[of]))
    if kind not in AGGREGATES:
        raise Unsupported(f"the aggregation {kind!r} is not supported")
    return AGGREGATES[kind](this=of)


def under(node: Any, condition: Any) -> Any:
    """With the condition on each aggregate."""
    held = exp.Paren(this=node.copy())
    for found in [*held.find_all(exp.AggFunc)]:
        if isinstance(found.parent, exp.Filter):
            where = found.parent.expression
            where.set("this", exp.and_(where.this, condition.copy()))
        else:
            found.replace(exp.Filter(this=found.copy(), expression=exp.Where(this=condition.copy())))
    return held.this


def written_out(node: Any) -> Any:
    """A copy of what another expression names, counted: `m1 = m0 + m0` doubles each time."""
    spend(sum(1 for _ in node.walk()), "nodes")
    return node.copy()


def text_of(node: Any) -> str:
    text: str = node.sql(DIALECT)
    return text


def is_constant(node: Any) -> bool:
    return isinstance(node, exp.Literal | exp.Boolean)


def column(dataset: str, name: str) -> Any:
    return exp.column(name, table=dataset)


def column_name(node: Any) -> str | None:
    """The name, where the expression is nothing but a column."""
    return node.name if isinstance(node, exp.Column) else None
