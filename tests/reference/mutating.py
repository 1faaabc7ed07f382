"""Plans with one change: a value, an entry of a list, a key or a step less, a filter more."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import ValidationError

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.columns import Function, Grain
from groundplan.contracts.contract import thaw
from groundplan.contracts.expression import ArithmeticOperator, ComparisonOperator, Part, Place, Rounding, Ties, Unit
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.schema import Table
from groundplan.sources.tables.source import with_defaults

CHOICES = [
    get_args(ComparisonOperator),
    get_args(ArithmeticOperator),
    get_args(Function),
    ("auto", "none", *get_args(Grain)),
    get_args(Part),
    get_args(Unit),
    get_args(Place),
    get_args(Rounding),
    get_args(Ties),
    ("top", "bottom"),
    ("all", "any"),
    ("running", "change"),
    ("previous", "year"),
]
NAMING = ("as", "title", "table")
"""What a column is called is no meaning, and there is one table."""


def mutations(plan: Plan, table: Table, catalog: Catalog) -> Iterator[tuple[str, Plan]]:
    """Each says other params than the plan, also when defaults are filled in."""
    for place, step in enumerate(plan.steps):
        tool = catalog.tools[step.tool or ""]
        params = thaw(step.params)
        for what, changed in _changed(params, table):
            if with_defaults(tool, changed) != with_defaults(tool, params):
                try:
                    made = Step.model_validate({**step.model_dump(), "params": changed})
                except ValidationError:
                    continue
                yield f"{step.id}: {what}", _with_steps(plan, [*plan.steps[:place], made, *plan.steps[place + 1 :]])
        yield f"{step.id}: no such step", _without(plan, step)
        yield f"{step.id}: a filter before it", _filtered(plan, place, table)


def _changed(params: Any, table: Table) -> Iterator[tuple[str, Any]]:
    for path, value in _places(params):
        where = ".".join(map(str, path))
        if isinstance(value, list):
            for index, entry in enumerate(value):
                yield f"{where} without {entry!r}", _put(params, path, [*value[:index], *value[index + 1 :]])
        elif isinstance(value, Mapping):
            pass
        elif path[-1] not in NAMING:
            for other in _others(path[-1], value, table):
                yield f"{where}: {other!r} for {value!r}", _put(params, path, other)
        if isinstance(path[-1], str) and path[-1] not in NAMING:
            yield f"no {where}", _without_key(params, path)


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if path:
        yield path, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(inner, (*path, key))


def _others(key: str | int, value: Any, table: Table) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case str() if value in (columns := {column.name: column.kind for column in table.columns}):
            yield from [name for name, kind in columns.items() if kind == columns[value] and name != value][:2]
        case str() if key in ("value", "values") or isinstance(key, int):
            yield f"{int(value[:4]) + 1}{value[4:]}" if value[:4].isdigit() else f"{value}x"
        case str():
            for choices in CHOICES:
                if value in choices:
                    yield from [choice for choice in choices if choice != value][:3]


def _filtered(plan: Plan, place: int, table: Table) -> Plan:
    """Rows are dropped before a step, by a column of the table or by one that the step names."""
    step = plan.steps[place]
    if not step.needs:
        column = next(column.name for column in table.columns if column.kind == "number")
    else:
        named = [thaw(step.params).get(key) for key in ("group_by", "columns", "order_by", "by")]
        columns = [name for names in named if names for name in ([names] if isinstance(names, str) else names)]
        column = columns[0] if columns else table.columns[0].name
    condition = {"column": column, "operator": "not null", "values": []}
    source = {"table": table.name} if not step.needs else {}
    more = Step(
        id="more",
        tool="filter_rows",
        params={**source, "conditions": [condition]},
        needs=step.needs,
        satisfies=step.satisfies,
    )
    params = {key: value for key, value in thaw(step.params).items() if key != "table"}
    then = Step.model_validate({**step.model_dump(), "params": params, "needs": ["more"]})
    return _with_steps(plan, [*plan.steps[:place], more, then, *plan.steps[place + 1 :]])


def _without(plan: Plan, gone: Step) -> Plan:
    """The steps after it take what it took."""
    kept = []
    for step in plan.steps:
        if step.id == gone.id:
            continue
        if gone.id in step.needs:
            given = {key: value for key, value in thaw(gone.params).items() if key == "table"}
            params = {**given, **thaw(step.params)}
            step = Step.model_validate({**step.model_dump(), "params": params, "needs": gone.needs})
        kept.append(step)
    return _with_steps(plan, kept)


def _with_steps(plan: Plan, steps: Sequence[Step]) -> Plan:
    """Each step cites what any did: a plan is refused for what it does, and not for what it says it serves."""
    cited = [id_ for step in plan.steps for id_ in step.satisfies]
    return reciting(plan.model_copy(update={"steps": tuple(steps)}), cited)


def reciting(plan: Plan, cited: Iterable[str]) -> Plan:
    every = tuple(dict.fromkeys(cited))
    return plan.model_copy(update={"steps": tuple(s.model_copy(update={"satisfies": every}) for s in plan.steps)})


def _put(params: Any, path: tuple[str | int, ...], value: Any) -> Any:
    made = copy.deepcopy(params)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return made


def _without_key(params: Any, path: tuple[str | int, ...]) -> Any:
    made = copy.deepcopy(params)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return made
