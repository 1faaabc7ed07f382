"""Derives the columns of each step's table from the source's schema, without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast, get_args

from pydantic import ValidationError

from groundplan.checking.params import (
    FUNCTIONS,
    Node,
    column_uses,
    filter_uses,
    grains,
    kept_by,
    walk,
    with_role,
)
from groundplan.checking.wiring import Wiring
from groundplan.contracts.columns import ColumnKind, Function, kind_after
from groundplan.contracts.contract import Scalar
from groundplan.contracts.expression import columns_of, kind_of, read_node
from groundplan.contracts.plan import Step
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.contracts.tool import Tool

OUT = ""
"""The key of a step's output shape, beside the keys of its input ports."""

Origin = tuple[str, str]
"""A source's table and column."""


@dataclass(frozen=True)
class Column:
    """A column of a step's table, and where it comes from."""

    kind: ColumnKind
    origins: frozenset[Origin] = frozenset()
    repeated: bool = False  # a join has repeated its values, so a sum would count them twice
    function: Function | None = None  # the aggregate that computed it
    aggregated: bool = False  # of a source: it has values for groups, and none for rows


@dataclass(frozen=True)
class Condition:
    """A filter that has been applied to a table."""

    origins: frozenset[Origin]
    operator: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class Shape:
    """The columns, keys and applied filters of a table; `columns` is None if they depend on the data."""

    columns: Mapping[str, Column] | None
    keys: frozenset[frozenset[str]] = frozenset()
    passed: tuple[Condition, ...] = ()
    grain: str | None = None

    def is_unique_on(self, columns: frozenset[str]) -> bool:
        return any(key <= columns for key in self.keys)


def follow(
    wiring: Wiring, tools: Mapping[str, Tool | None], schemas: Mapping[str, SourceSchema]
) -> dict[str, dict[str, Shape]]:
    """For each step, the shapes of its inputs by port, and its output under `OUT`; unknown shapes are absent."""
    found: dict[str, dict[str, Shape]] = {}
    for step in wiring.steps:
        tool = tools[step.id]
        found[step.id] = follow_step(step, tool, wiring, found, schemas) if tool else {}
    return found


def follow_step(
    step: Step,
    tool: Tool,
    wiring: Wiring,
    found: Mapping[str, Mapping[str, Shape]],
    schemas: Mapping[str, SourceSchema],
) -> dict[str, Shape]:
    """The shapes of one step, given those of the steps before it."""
    inputs = dict(_inputs(step, tool, wiring, found, schemas))
    schema = schemas.get(tool.source)
    table = schema.find(tool.output.table) if schema and tool.output.table else None
    if table:
        return {**inputs, OUT: _read(step, tool, table)}
    return {**inputs, **dict(_output(step, tool, inputs))}


def _inputs(
    step: Step,
    tool: Tool,
    wiring: Wiring,
    found: Mapping[str, Mapping[str, Shape]],
    schemas: Mapping[str, SourceSchema],
) -> Iterator[tuple[str, Shape]]:
    schema = schemas.get(tool.source)
    for port, origin in wiring.inputs(step, tool).items():
        if isinstance(origin, str):
            table = schema.find(origin) if schema else None
            if schema and table:
                pointed_at = frozenset(frozenset(r.to_columns) for r in schema.relationships if r.to_table == origin)
                shape = _of_table(table)
                yield port, replace(shape, keys=shape.keys | pointed_at)
        else:
            shapes = [found[need][OUT] for need in origin if OUT in found.get(need, {})]
            if shapes and len(shapes) == len(origin):
                yield port, _common(shapes)


def _of_table(table: Table) -> Shape:
    return Shape(
        columns={
            c.name: Column(c.kind, frozenset({(table.name, c.name)}), aggregated=c.aggregated) for c in table.columns
        },
        keys=frozenset(frozenset(key) for key in table.keys),
    )


def _read(step: Step, tool: Tool, table: Table) -> Shape:
    """The shape of a table that a tool reads and filters at the source."""
    passed = (
        Condition(frozenset({(table.name, use.column or "")}), use.operator or "", use.values)
        for use in kept_by(step, tool)
    )
    return replace(_of_table(table), passed=tuple(passed))


def _common(shapes: list[Shape]) -> Shape:
    """What the shapes have in common, whichever branch a router takes."""
    first, *others = shapes
    if not others:
        return first
    if any(shape.columns is None for shape in shapes):
        return Shape(columns=None)
    columns = {
        name: column
        for name, column in (first.columns or {}).items()
        if all((other.columns or {}).get(name) == column for other in others)
    }
    return Shape(
        columns=columns,
        keys=frozenset.intersection(*(shape.keys for shape in shapes)),
        passed=tuple(c for c in first.passed if all(c in other.passed for other in others)),
    )


def _output(step: Step, tool: Tool, inputs: Mapping[str, Shape]) -> Iterator[tuple[str, Shape]]:
    if tool.output.kind != "table" or len(inputs) != len(tool.inputs):
        return
    if tool.output.columns == "dynamic" or any(shape.columns is None for shape in inputs.values()):
        yield OUT, Shape(columns=None, passed=_passed(step, tool, inputs))
        return
    if tool.output.columns == "joined":
        yield OUT, _joined(step, tool, inputs)
        return
    first = next(iter(inputs.values()), Shape(columns={}))
    source = first.columns or {}
    uses = [use for use in column_uses(step, tool) if use.name in source]
    columns = dict(source) if tool.output.columns == "input" else {u.name: source[u.name] for u in uses if u.keep}
    for param, kind in tool.output.retypes.items():
        for use in uses:
            if use.path == f"params.{param}" and use.name in columns:
                columns[use.name] = replace(columns[use.name], kind=kind)
    columns |= dict(_new_columns(step, tool, source))
    columns |= {name: Column(kind) for name, kind in tool.output.adds.items()}
    yield (
        OUT,
        Shape(
            columns=columns,
            keys=_keys(step, tool, first, columns),
            passed=_passed(step, tool, inputs),
            grain=_grain(step, tool) or first.grain,
        ),
    )


def _new_columns(step: Step, tool: Tool, source: Mapping[str, Column]) -> Iterator[tuple[str, Column]]:
    for node in walk(step, tool):
        properties = node.schema.get("properties")
        if not isinstance(node.value, Mapping) or not isinstance(properties, Mapping):
            continue
        for name, inner in properties.items():
            value = node.value.get(name)
            if isinstance(inner, Mapping) and "x-new" in inner and isinstance(value, str):
                yield value, _made(str(inner["x-new"]), node, source)


def _made(how: str, node: Node, source: Mapping[str, Column]) -> Column:
    """The new column that the object at `node` describes."""
    params = cast(Mapping[str, object], node.value)
    named = [name for name in _strings(params.get("column"), params.get("columns")) if name in source]
    origins = frozenset[Origin]().union(*(source[name].origins for name in named))
    repeated = any(source[name].repeated for name in named)
    if "expression" in params:
        made = _expressed(params["expression"], source)
        return replace(made, repeated=False) if how == "aggregate" else made
    if how == "aggregate":
        function = params.get("function")
        if isinstance(function, str) and function in FUNCTIONS:
            known = cast(Function, function)
            kind = kind_after(known, source[named[0]].kind) if named else "number"
            return Column(kind, origins, function=known)
    if how == "derive":
        texts = params.get("operation") in ("lower", "upper")
        return Column("text" if texts else "number", origins, repeated)
    return Column(cast(ColumnKind, how) if how in get_args(ColumnKind) else "number", origins, repeated)


def _expressed(given: object, source: Mapping[str, Column]) -> Column:
    try:
        node = read_node("value", given)
    except ValidationError:
        return Column("other")  # types/unfit-param says so
    named = [source[name] for name in columns_of(node) if name in source]
    kind = kind_of(node, {name: column.kind for name, column in source.items()})
    origins = frozenset[Origin]().union(*(column.origins for column in named))
    return Column(kind, origins, any(column.repeated for column in named))


def _strings(*values: object) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from (item for item in value if isinstance(item, str))


def _keys(step: Step, tool: Tool, first: Shape, columns: Mapping[str, Column]) -> frozenset[frozenset[str]]:
    if tool.output.key is None:
        return frozenset(key for key in first.keys if key <= columns.keys())
    named = frozenset(_strings(*(step.params.get(param) for param in tool.output.key)))
    return frozenset({named}) if named <= columns.keys() else frozenset()


def _joined(step: Step, tool: Tool, inputs: Mapping[str, Shape]) -> Shape:
    (left, right) = inputs.values()
    if "among" in step.params:
        return replace(left, columns={**(left.columns or {}), str(step.params.get("as")): Column("boolean")})
    pairs = [node.value for node in with_role(step, tool, "join") if isinstance(node.value, Mapping)]
    on_left = frozenset(name for pair in pairs for name in _strings(pair.get("left")))
    on_right = frozenset(name for pair in pairs for name in _strings(pair.get("right")))
    one_right, one_left = right.is_unique_on(on_right), left.is_unique_on(on_left)
    columns, others = _repeated(left, not one_right), _repeated(right, not one_left)
    if "columns" in step.params:
        columns |= _chosen(step.params["columns"], others)
    else:
        for name in (name for name in others if name not in on_right & on_left):
            columns[f"{name}_right" if name in columns else name] = others[name]
    return Shape(
        columns=columns,
        keys=left.keys if one_right else frozenset(),
        passed=(*left.passed, *(right.passed if pairs else ())),
        grain=left.grain,
    )


def _repeated(shape: Shape, repeats: bool) -> dict[str, Column]:
    """The columns of one side, whose rows the join may repeat."""
    return {n: replace(c, repeated=c.repeated or repeats) for n, c in (shape.columns or {}).items()}


def _chosen(given: object, others: Mapping[str, Column]) -> dict[str, Column]:
    """The columns that a join takes from the right side, under their new names; unknown ones are left out."""
    chosen = [one for one in given if isinstance(one, Mapping)] if isinstance(given, list | tuple) else []
    taken = {str(one.get("as")): others.get(str(one.get("column"))) for one in chosen}
    return {name: column for name, column in taken.items() if column is not None}


def _passed(step: Step, tool: Tool, inputs: Mapping[str, Shape]) -> tuple[Condition, ...]:
    before = tuple(condition for shape in inputs.values() for condition in shape.passed)
    columns = next((shape.columns for shape in inputs.values()), None) or {}
    return before + tuple(conditions(step, tool, columns))


def conditions(step: Step, tool: Tool, columns: Mapping[str, Column]) -> Iterator[Condition]:
    """The filters that a step applies, in terms of source columns."""
    for use in filter_uses(step, tool):
        if use.column is not None and use.column in columns:
            yield Condition(columns[use.column].origins, use.operator or "", use.values)
    yield from _periods(step, tool, columns)


def _periods(step: Step, tool: Tool, columns: Mapping[str, Column]) -> Iterator[Condition]:
    """A comparison of periods filters by each period, on its time column."""
    times = [use.name for use in column_uses(step, tool) if use.role == "time" and use.name in columns]
    for node in with_role(step, tool, "period"):
        if times and isinstance(node.value, list | tuple):
            yield Condition(columns[times[0]].origins, "between", tuple(v for v in node.value if isinstance(v, Scalar)))


def _grain(step: Step, tool: Tool) -> str | None:
    return next(grains(step, tool), None)
