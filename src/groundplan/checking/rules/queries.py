"""Queries are unambiguous: their parts fit the columns and each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from groundplan.checking.draft import Draft
from groundplan.checking.params import read_query, walk
from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.contract import thaw
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Step
from groundplan.contracts.query import (
    AGGREGATES,
    DATE_CUTS,
    DATE_PARTS,
    BinField,
    ConditionFilter,
    MatchFilter,
    MeasuredFilterField,
    MeasureField,
    Query,
    RelativeDateFilter,
    SetFilter,
    TableCalcField,
    TopFilter,
    output_name,
)
from groundplan.contracts.query_meaning import OURS, aggregates, groups
from groundplan.contracts.tool import Tool

MOST_ISSUES_A_QUERY = 20


def malformed(draft: Draft) -> Iterator[Issue]:
    """A query is valid for Tableau's VizQL Data Service.

    Fails: a field has the function `SUMM`; a filter of the type `SET` has no values.
    """
    for index, step, tool in draft.tool_steps():
        if tool.output.columns != "query":
            continue
        try:
            Query.model_validate(thaw(step.params.get("query")))
        except ValidationError as error:
            for fault in error.errors(include_url=False, include_input=False)[:MOST_ISSUES_A_QUERY]:
                place = ".".join(["params.query", *(str(part) for part in fault["loc"])])
                yield Issue(
                    code="query/malformed",
                    step=step.id,
                    path=f"steps.{index}.{place}",
                    problem=f"{place} of step {step.id!r}: {fault['msg'].removeprefix('Value error, ')}",
                    hint=f"see `groundplan catalog show {tool.name}`",
                )


def misused_function(draft: Draft) -> Iterator[Issue]:
    """A function applies to the kind of its column: date parts to dates, bins and sums to numbers, counts to anything.

    A TOP filter ranks by an aggregate.

    Fails: `TRUNC_MONTH` of `region`, which is text; bins of a date; the TOP 3 by `revenue` without a function.
    """
    for index, step, tool, query in _queries(draft):
        for path, name, function in _functions(query):
            column = draft.input_column(step, tool, name)
            if function is None:
                problem = f"{name!r} has no aggregate function, and a TOP filter ranks by one"
            elif column and not _fits(function, column.kind):
                problem = f"{function} does not apply to {name!r}, which is {column.kind}"
            else:
                continue
            yield _issue("query/misused-function", step, index, path, problem, "COUNT and COUNTD work on any column")


def _functions(query: Query) -> Iterator[tuple[str, str, str | None]]:
    """The path, column and name of each function; types/unfit-function checks plain measures."""
    for place, field in enumerate(query.fields):
        path, function = f"fields.{place}", getattr(field, "function", None)
        if isinstance(field, BinField):
            yield path, field.field_caption, "binSize"
        elif function and not (isinstance(field, MeasureField) and function in OURS):
            yield path, field.field_caption, function
    for place, one in enumerate(query.filters):
        if isinstance(one.field, MeasuredFilterField):
            yield f"filters.{place}.field", one.field.field_caption, one.field.function
        if isinstance(one, ConditionFilter) and one.condition:
            yield f"filters.{place}.condition", one.condition.field_caption, one.condition.function
        if isinstance(one, TopFilter):
            function = getattr(one.field_to_measure, "function", None)
            name = getattr(one.field_to_measure, "field_caption", "a formula")
            yield f"filters.{place}.fieldToMeasure", name, function if function in AGGREGATES else None


def _fits(function: str, kind: ColumnKind) -> bool:
    """True for columns of kind `other`, which cannot be checked."""
    match kind:
        case "number":
            return function in AGGREGATES or function == "binSize"
        case "text" | "boolean":
            return function in ("MIN", "MAX", "COUNT", "COUNTD")
        case "time":
            return function in ("MIN", "MAX", "COUNT", "COUNTD") or function in DATE_PARTS | DATE_CUTS
        case "other":
            return True


def repeated_filter(draft: Draft) -> Iterator[Issue]:
    """There is at most one filter for each field and function.

    Fails: one filter keeps the regions West and East, another one excludes the East.
    """
    for index, step, _, query in _queries(draft):
        for place, name in _repeated(_said(one.field.wire()) for one in query.filters):
            problem = f"{name} is filtered twice"
            yield _issue(
                "query/repeated-filter", step, index, f"filters.{place}", problem, "combine them into one filter"
            )


def function_in_filter(draft: Draft) -> Iterator[Issue]:
    """Filters of the types SET, MATCH and DATE apply to a plain field, without a function or a formula.

    Fails: a SET filter on `YEAR(date)` with the value 2024.
    """
    for index, step, _, query in _queries(draft):
        for place, one in enumerate(query.filters):
            if isinstance(one, SetFilter | MatchFilter | RelativeDateFilter) and len(one.field.wire()) > 1:
                problem = f"a {one.filter_type} filter is on {_said(one.field.wire())}"
                hint = "filter the field itself, or use a QUANTITATIVE filter"
                yield _issue("query/function-in-filter", step, index, f"filters.{place}.field", problem, hint)


def top_before_filter(draft: Draft) -> Iterator[Issue]:
    """If a query has a TOP filter, its other filters are context filters, because only those apply before TOP.

    The gate marks them as context filters where it can. It cannot for filters on aggregates and for a second TOP
    filter.

    Fails: the top 3 products of the West, where the filter on `region` is not a context filter; the top 3 products of
    those with more than 1,000 in sales.
    """
    for index, step, _, query in _queries(draft):
        if not any(isinstance(one, TopFilter) for one in query.filters):
            continue
        first = next(place for place, one in enumerate(query.filters) if isinstance(one, TopFilter))
        for place, one in enumerate(query.filters):
            if place == first or (one.context and not aggregates(one.field) and not isinstance(one, TopFilter)):
                continue
            problem = f"the TOP filter ranks before the filter on {_said(one.field.wire())} applies"
            hint = "give that filter `context: true`, or rank by sorting with a rowLimit"
            yield _issue("query/top-before-filter", step, index, f"filters.{place}", problem, hint)


def undated(draft: Draft) -> Iterator[Issue]:
    """A filter on relative dates has an anchor date, so that the plan means the same tomorrow.

    Fails: the last 3 months, without `anchorDate`.
    """
    for index, step, _, query in _queries(draft):
        for place, one in enumerate(query.filters):
            if isinstance(one, RelativeDateFilter) and one.anchor_date is None:
                problem = "the DATE filter has no anchor date"
                yield _issue("query/undated", step, index, f"filters.{place}", problem, "add anchorDate: 2025-01-31")


def repeated_priority(draft: Draft) -> Iterator[Issue]:
    """Sort priorities are unique.

    Fails: two fields have `sortPriority: 1`.
    """
    for index, step, _, query in _queries(draft):
        for place, priority in _repeated(field.sort_priority for field in query.fields):
            problem = f"two fields have the sort priority {priority}"
            yield _issue("query/repeated-priority", step, index, f"fields.{place}", problem, "number them 1, 2, 3")


def repeated_name(draft: Draft) -> Iterator[Issue]:
    """The column names of the result are unique.

    Fails: `SUM(revenue)` and its running total, neither with a `fieldAlias`.
    """
    for index, step, _, query in _queries(draft):
        for place, name in _repeated(output_name(field) for field in query.fields):
            problem = f"two columns of the result are called {name!r}"
            yield _issue(
                "query/repeated-name", step, index, f"fields.{place}", problem, "give one of them a fieldAlias"
            )


def regrouped(draft: Draft) -> Iterator[Issue]:
    """A query groups by a column only once; a second grouping would make the groups smaller than asked.

    Fails: sales by `TRUNC_MONTH(date)` and by `date`.
    """
    for index, step, _, query in _queries(draft):
        named = (field.field_caption if groups(field) else None for field in query.fields)
        for place, name in _repeated(named):
            problem = f"the query groups by {name!r} twice"
            yield _issue("query/regrouped", step, index, f"fields.{place}", problem, "keep the one that was asked for")


def unknown_dimension(draft: Draft) -> Iterator[Issue]:
    """A table calculation runs along fields that the query groups by.

    Fails: a running total along `TRUNC_MONTH(date)` in a query by `region` alone.
    """
    for index, step, _, query in _queries(draft):
        known = {_said(_plain(field.wire())) for field in query.fields if groups(field)}
        for place, field in enumerate(query.fields):
            along = field.table_calculation.dimensions if isinstance(field, TableCalcField) else ()
            for strange in sorted({_said(one.wire()) for one in along} - known):
                problem = f"a table calculation runs along {strange}, but the query does not group by it"
                hint = f"the query groups by: {', '.join(sorted(known)) or 'nothing'}"
                yield _issue("query/unknown-dimension", step, index, f"fields.{place}", problem, hint)


def lone_calculation(draft: Draft) -> Iterator[Issue]:
    """The measure of a table calculation is also a field of the query, so that the gate checks it.

    Fails: the share of `SUM(revenue)` by region, without `SUM(revenue)` itself.
    """
    for index, step, _, query in _queries(draft):
        measures = {(f.field_caption, f.function) for f in query.fields if isinstance(f, MeasureField)}
        for place, field in enumerate(query.fields):
            if isinstance(field, TableCalcField) and (field.field_caption, field.function) not in measures:
                problem = f"nothing else in the query measures {_said(_plain(field.wire()))}"
                hint = "add it as a field of its own, with a fieldAlias"
                yield _issue("query/lone-calculation", step, index, f"fields.{place}", problem, hint)


def free_calculation(draft: Draft) -> Iterator[Issue]:
    """A plan uses only formulas that the tool's description lists.

    Fails: a field with `calculation: SUM([Sales]) / SUM([Profit])`.
    """
    for index, step, tool, query in _queries(draft):
        listed = {value for node in walk(step, tool) for value in _formulas(node.schema)}
        for path, formula in _written(query.wire(), ""):
            if formula not in listed:
                problem = f"the formula {formula[:60]!r} is not in the catalog"
                hint = "use the fields of the source, with functions"
                yield _issue("query/free-calculation", step, index, path, problem, hint)


def _formulas(schema: Mapping[str, object]) -> Iterator[object]:
    properties = schema.get("properties")
    described = properties.get("calculation") if isinstance(properties, Mapping) else None
    values = described.get("enum") if isinstance(described, Mapping) else None
    yield from values if isinstance(values, list | tuple) else ()


def _written(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Every formula in a query."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "calculation" and isinstance(inner, str):
                yield f"{path}.calculation".lstrip("."), inner
            yield from _written(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _written(inner, f"{path}.{place}")


def _queries(draft: Draft) -> Iterator[tuple[int, Step, Tool, Query]]:
    for index, step, tool in draft.tool_steps():
        query = read_query(step, tool)
        if query:
            yield index, step, tool, query


def _repeated(items: Iterable[object]) -> Iterator[tuple[int, object]]:
    """Items that occur again, with their index."""
    seen = set()
    for place, item in enumerate(items):
        if item is not None and item in seen:
            yield place, item
        seen.add(item)


def _plain(field: Mapping[str, Any]) -> dict[str, Any]:
    return {key: field[key] for key in ("fieldCaption", "function") if key in field}


def _said(field: Mapping[str, Any]) -> str:
    """`SUM(Sales)`, or the caption, or the formula."""
    caption, function = field.get("fieldCaption"), field.get("function")
    return f"{function}({caption})" if function else repr(caption or field.get("calculation"))


def _issue(code: str, step: Step, index: int, path: str, problem: str, hint: str) -> Issue:
    return Issue(
        code=code,
        step=step.id,
        path=f"steps.{index}.params.query.{path}",
        problem=f"step {step.id!r}: {problem}",
        hint=hint,
    )


RULES = (
    malformed,
    misused_function,
    repeated_filter,
    function_in_filter,
    top_before_filter,
    undated,
    repeated_priority,
    repeated_name,
    regrouped,
    unknown_dimension,
    lone_calculation,
    free_calculation,
)
