"""The first steps of a plan as one step, for a source that answers queries and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, cast

from groundplan.asking.tables.steps.names import LONGEST_NAME, called
from groundplan.asking.tables.steps.nodes import by_name, metric_params
from groundplan.asking.tables.steps.step_list import first_free
from groundplan.contracts.columns import Grain
from groundplan.contracts.contract import thaw
from groundplan.contracts.expression import (
    Aggregate,
    Arithmetic,
    Column,
    Constant,
    Correlation,
    Expression,
    Rows,
    level,
    parts,
    read_expression,
)
from groundplan.contracts.normal_form import normal_expression
from groundplan.contracts.plan import Step
from groundplan.contracts.schema import Column as TableColumn
from groundplan.contracts.schema import Table
from groundplan.contracts.wording import in_words

Json = dict[str, Any]
READABLE_POINTS = 60
SPANS: tuple[tuple[int, Grain], ...] = ((90, "day"), (366, "week"), (8 * 366, "month"), (25 * 366, "quarter"))
"""Days that a time axis may span to be cut so finely, where nobody named a grain."""

SINGLE_ROWS: Mapping[str, str] = {
    "select_columns": "rows as they are",
    "show_table": "rows as they are",
    "correlate": "a correlation",
    "compute_summary_stats": "a summary",
    "distribution_stats": "a distribution",
    "detect_anomalies": "anomalies of single rows",
    "compare_periods": "two periods side by side",
    "plot_scatter": "a chart of single rows",
    "plot_histogram": "a distribution",
    "plot_box": "a distribution",
}
"""What a tool does with the rows of a table, in words."""


class Inexpressible(Exception):
    """A request that one query cannot express."""


def with_query(steps: Sequence[Step], table: Table, tool: str) -> tuple[Step, ...]:
    """Each aggregate, with the filters before it, becomes one step with `tool`; what follows stays as it is.

    Raises `Inexpressible` for a step that needs the rows themselves.
    """
    rows: dict[str, list[Step]] = {}  # steps that still have the table's rows: those up to them
    made: list[Step] = []
    for step in steps:
        if step.needs and not any(need in rows for need in step.needs):
            made.append(step)
        elif len(step.needs) > 1 or "left" in step.params:
            raise Inexpressible("several tables")
        else:
            before = [one for need in step.needs for one in rows[need]]
            if step.tool == "aggregate":
                made.extend(_query([*before, step], table, tool))
            else:
                _refuse_rows(step, table)
                rows[step.id] = [*before, step]
    return tuple(_with_cut(made))


def _refuse_rows(step: Step, table: Table) -> None:
    if step.tool == "filter_rows":
        return
    if step.tool == "parse_datetime" and _column(table, str(step.params["column"])).kind == "time":
        return
    if step.tool == "derive_column" and "expression" in step.params:
        raise Inexpressible(f"groups by {in_words(read_expression(step.params['expression']))}")
    raise Inexpressible(SINGLE_ROWS.get(step.tool or "", f"{(step.tool or '').replace('_', ' ')} of single rows"))


def _query(steps: Sequence[Step], table: Table, tool: str) -> Iterator[Step]:
    """The query, then the formulas of its measures."""
    params = [cast(Json, thaw(step.params)) for step in steps]
    conditions = [one for given in params for one in given.get("conditions", ())]
    where = [given["where"] for given in params if "where" in given]
    last = params[-1]
    metrics, formulas = _measured(last["metrics"], table)
    made: Json = {"table": table.name, "group_by": last.get("group_by", []), "metrics": metrics}
    if conditions:
        made["conditions"] = conditions
    if where:
        made["where"] = where[0] if len(where) == 1 else {"kind": "all", "parts": where}
    times = [name for name in made["group_by"] if _column(table, name).kind == "time"]
    if times and last.get("grain", "none") != "none":
        named = last["grain"] != "auto"
        made["grain"] = last["grain"] if named else _grain(_column(table, times[0]), conditions)
    cited = tuple(dict.fromkeys(id_ for step in steps for id_ in step.satisfies))
    id_ = steps[-1].id
    ids = [f"{id_}_{place}" for place in range(len(formulas) + 1)] if formulas else [id_]
    yield Step(id=ids[0], tool=tool, params=made, satisfies=cited)
    for before, after, formula in zip(ids, ids[1:], formulas, strict=False):
        yield Step(id=after, tool="derive_column", params=formula, needs=(before,), satisfies=steps[-1].satisfies)
    if formulas:
        shown = {"columns": [*made["group_by"], *(metric["as"] for metric in last["metrics"])]}
        yield Step(id=id_, tool="select_columns", params=shown, needs=(ids[-1],), satisfies=steps[-1].satisfies)


def _measured(metrics: Sequence[Json], table: Table) -> tuple[list[Json], list[Json]]:
    """What the source computes, functions of columns and arithmetic over them, and other formulas over their values."""
    plain = [one if _is_arithmetic(one) else _counted(one, table) for one in metrics if not _is_derived(one)]
    written = {one["as"]: read_expression(one["expression"]) for one in metrics if _is_derived(one)}
    names = {normal_expression(_measure(one)): one["as"] for one in plain}
    for leaf in dict.fromkeys(leaf for formula in written.values() for leaf in _leaves(formula)):
        if normal_expression(leaf) not in names:
            name = first_free(called(leaf)[:LONGEST_NAME], {*names.values(), *written}, " ")
            plain.append(_counted(metric_params(leaf, name), table))
            names[normal_expression(leaf)] = name
    made = [{"expression": by_name(one, names).model_dump(mode="json"), "as": name} for name, one in written.items()]
    return plain, made


def _is_derived(metric: Json) -> bool:
    return "expression" in metric and not _is_arithmetic(metric)


def _is_arithmetic(metric: Json) -> bool:
    """Sums, differences, products and quotients of functions of columns and numbers."""
    written = read_expression(metric["expression"]) if "expression" in metric else None
    return isinstance(written, Arithmetic) and _is_formula(written)


def _is_formula(node: Expression) -> bool:
    match node:
        case Arithmetic(left=left, right=right):
            return _is_formula(left) and _is_formula(right)
        case Aggregate(of=Column(table=None, via=None), where=None, percent=None):
            return True
        case Constant(value=value):
            return not isinstance(value, bool | str) and value >= 0
        case _:
            return False


def _leaves(formula: Expression) -> Iterator[Expression]:
    """The measures that it is made of."""
    if isinstance(formula, Rows | Aggregate | Correlation):
        yield formula
    elif level(formula) == "group":
        for part in parts(formula):
            yield from _leaves(part)  # type: ignore[arg-type]
    elif not isinstance(formula, Constant):
        raise Inexpressible(f"the formula {in_words(formula)!r}")


def _measure(metric: Json) -> Expression:
    if "expression" in metric:
        return read_expression(metric["expression"])
    return Aggregate(function=metric["function"], of=Column(name=metric["column"]))


def _counted(metric: Json, table: Table) -> Json:
    """Rows are counted by a column that each of them has once."""
    if "expression" in metric:
        raise Inexpressible(f"the formula {in_words(read_expression(metric['expression']))!r}")
    if "column" in metric:
        return metric
    key = next((key[0] for key in table.keys if len(key) == 1), None)
    if key is None:
        raise Inexpressible(f"the number of rows of {table.name!r}, which has no column that identifies a row")
    return {"column": key, **metric}


def _column(table: Table, name: str) -> TableColumn:
    found = table.find(name)
    if found is None:
        raise Inexpressible(f"{name!r} of another table")
    return found


def _grain(column: TableColumn, conditions: Sequence[Json]) -> Grain:
    """From the days that the axis spans once it is filtered."""
    periods = [one["values"] for one in conditions if (one["column"], one["operator"]) == (column.name, "between")]
    firsts = [day for value in (column.least, *(first for first, _ in periods)) if (day := _day(value))]
    lasts = [day for value in (column.greatest, *(last for _, last in periods)) if (day := _day(value))]
    if not firsts or not lasts:
        return "month"
    span = (min(lasts) - max(firsts)).days
    few = column.cardinality is not None and column.cardinality <= READABLE_POINTS
    return "day" if few else next((grain for most, grain in SPANS if span < most), "year")


def _day(value: object) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _with_cut(steps: Sequence[Step]) -> list[Step]:
    """Where only a ranking uses a query, its source sends no more groups than are kept.

    Of a first place the ranking keeps all that share it, so all groups are sent. So they are where groups without a
    value could come before those that are kept.
    """
    made = [*steps]
    for place, step in enumerate(steps):
        users = [other for other in steps if step.id in other.needs]
        if "metrics" not in step.params or len(users) != 1 or users[0].tool != "rank_rows":
            continue
        rank = cast(Json, thaw(users[0].params))
        first = cast(Sequence[Json], step.params["metrics"])[0]["as"]
        plain = rank["limit"] > 1 and not {"within", "then", "ties"} & {key for key, value in rank.items() if value}
        if rank["by"] == first and plain and _puts_missing_last(step, rank["direction"]):
            top = {"direction": rank["direction"], "limit": rank["limit"]}
            cited = tuple(dict.fromkeys((*step.satisfies, *users[0].satisfies)))
            params = {**cast(Json, thaw(step.params)), "top": top}
            made[place] = Step.model_validate({**step.model_dump(), "params": params, "satisfies": cited})
    return made


def _puts_missing_last(step: Step, direction: str) -> bool:
    """True from the highest value; from the lowest, of a count, which no group lacks, and of members of one field."""
    params = cast(Json, thaw(step.params))
    function, groups = params["metrics"][0].get("function", "defined"), params["group_by"]
    filtered = {one["column"] for one in params.get("conditions", ())}
    members = len(groups) == 1 and not {*groups} & filtered and not {"where", "grain"} & params.keys()
    return direction == "top" or function.startswith("count") or (members and function != "defined")
