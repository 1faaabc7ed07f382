"""Interprets a step's params by its tool's schema: columns, new columns, metrics, filters and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, cast, get_args

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError as SchemaError
from pydantic import ValidationError

from groundplan.contracts.columns import Function
from groundplan.contracts.contract import PLAIN, Scalar, thaw
from groundplan.contracts.expression import Node as Expressed
from groundplan.contracts.expression import columns_of, read_node
from groundplan.contracts.plan import Step
from groundplan.contracts.references import references
from groundplan.contracts.tool import Tool

FUNCTIONS = frozenset(get_args(Function))


class Node(NamedTuple):
    """A value inside the params, its path, and the part of the schema that describes it."""

    path: str
    value: object
    schema: Mapping[str, object]

    @property
    def role(self) -> str | None:
        role = self.schema.get("x-role")
        return role if isinstance(role, str) else None


@dataclass(frozen=True)
class ColumnUse:
    """A param that names a column of an input."""

    path: str
    name: str
    kind: str  # any, number, time or text
    port: str | None  # the input that has the column; None means the first
    keep: bool
    role: str | None


@dataclass(frozen=True)
class MetricUse:
    """A param that computes a number. Ill-typed values are None; `types/unfit-param` reports them."""

    path: str
    column: str | None
    function: Function | None


@dataclass(frozen=True)
class FilterUse:
    """A param that filters rows."""

    path: str
    column: str | None
    operator: str | None
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class RankUse:
    """A param that keeps the top or bottom rows."""

    path: str
    direction: object
    limit: object


def walk(step: Step, tool: Tool) -> tuple[Node, ...]:
    """Every value of the params that the schema describes, outer values first. Ill-typed values are skipped."""
    return _walked(_Frozen(tool.params), _Frozen(step.params))


def schema_errors(step: Step, tool: Tool) -> tuple[SchemaError, ...]:
    """What in the params does not fit the tool's JSON schema; inputs are no params."""
    return _schema_errors(_Frozen(tool.params), _Frozen(step.params), frozenset(port.name for port in tool.inputs))


def fits_schema(step: Step, tool: Tool) -> bool:
    return not schema_errors(step, tool)


@lru_cache(maxsize=256)
def _schema_errors(schema: _Frozen, params: _Frozen, ports: frozenset[str]) -> tuple[SchemaError, ...]:
    given = {name: thaw(value) for name, value in params.value.items() if name not in ports}
    validator = Draft202012Validator(cast(dict[str, object], thaw(schema.value)), format_checker=FormatChecker())
    return tuple(validator.iter_errors(given))


class _Frozen:
    """A read-only value, known by its identity: it never changes, and comparing it would be as long as walking it."""

    def __init__(self, value: Mapping[str, object]) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and self.value is other.value


@lru_cache(maxsize=256)  # every rule walks every step
def _walked(schema: _Frozen, params: _Frozen) -> tuple[Node, ...]:
    found: list[Node] = []
    _walk(schema.value, params.value, "params", found)
    return tuple(found)


def referred_steps(step: Step) -> frozenset[str]:
    """The steps whose results the params take values from."""
    return _referred(_Frozen(step.params))


@lru_cache(maxsize=256)
def _referred(params: _Frozen) -> frozenset[str]:
    return frozenset(reference.step for _, reference in references(params.value))


def column_uses(step: Step, tool: Tool) -> tuple[ColumnUse, ...]:
    """The params that name columns, and the columns of the expressions in them."""
    return _column_uses(_Frozen(tool.params), _Frozen(step.params))


@lru_cache(maxsize=256)  # every rule looks at every step
def _column_uses(schema: _Frozen, params: _Frozen) -> tuple[ColumnUse, ...]:
    return (*_named_columns(schema, params), *_expressed_columns(schema, params))


def _named_columns(schema: _Frozen, params: _Frozen) -> Iterator[ColumnUse]:
    for node in _walked(schema, params):
        if "x-column" in node.schema and isinstance(node.value, str):
            yield ColumnUse(
                path=node.path,
                name=node.value,
                kind=str(node.schema["x-column"]),
                port=_text(node.schema.get("x-input")),
                keep=bool(node.schema.get("x-keep")),
                role=node.role,
            )


def _expressed_columns(schema: _Frozen, params: _Frozen) -> Iterator[ColumnUse]:
    for path, expressed in _expressed(schema, params):
        for name in sorted(columns_of(expressed)) if expressed is not None else ():
            yield ColumnUse(path, name, "any", None, keep=False, role="expression")


def expressions(step: Step, tool: Tool) -> tuple[tuple[str, Expressed | None], ...]:
    """The expressions and conditions in the params, by path; None where one is ill-formed."""
    return _expressed(_Frozen(tool.params), _Frozen(step.params))


@lru_cache(maxsize=256)
def _expressed(schema: _Frozen, params: _Frozen) -> tuple[tuple[str, Expressed | None], ...]:
    written = (node for node in _walked(schema, params) if "x-expression" in node.schema)
    return tuple((node.path, _read(str(node.schema["x-expression"]), node.value)) for node in written)


def _read(kind: str, value: object) -> Expressed | None:
    try:
        return read_node(kind, value)
    except ValidationError:
        return None


def metric_uses(step: Step, tool: Tool) -> Iterator[MetricUse]:
    for node in with_role(step, tool, "metric"):
        if isinstance(node.value, Mapping) and "expression" not in node.value:
            function = node.value.get("function")
            known = cast(Function, function) if isinstance(function, str) and function in FUNCTIONS else None
            yield MetricUse(node.path, _text(node.value.get("column")), known)


def filter_uses(step: Step, tool: Tool) -> Iterator[FilterUse]:
    for node in with_role(step, tool, "filter"):
        if isinstance(node.value, Mapping):
            values = node.value.get("values", ())
            scalars = tuple(v for v in values if isinstance(v, Scalar)) if isinstance(values, list | tuple) else ()
            operator = _text(node.value.get("operator"))
            yield FilterUse(node.path, _text(node.value.get("column")), operator, scalars)


def kept_by(step: Step, tool: Tool) -> Iterator[FilterUse]:
    """The filters that a tool applies at the source."""
    properties = cast(Mapping[str, Mapping[str, object]], tool.params.get("properties", {}))
    said = {name: step.params.get(name, schema.get("default")) for name, schema in properties.items()}
    for keep in tool.keeps:
        if any(said.get(name) != value for name, value in keep.when.items()):
            continue
        for operator, values in _kept(keep.operator, [said.get(name) for name in keep.params]):
            if values != (keep.unless,):
                yield FilterUse(f"params.{keep.params[0]}", keep.column, operator, values)


def _kept(operator: str, said: list[object]) -> Iterator[tuple[str, tuple[Scalar, ...]]]:
    """The operator and its values; a period with one bound is open on the other side."""
    if operator == "between" and None in said:
        bounds = zip((">=", "<"), said, strict=True)
        yield from ((bound, (value,)) for bound, value in bounds if isinstance(value, str))
        return
    flat = [one for value in said for one in (value if isinstance(value, list | tuple) else [value])]
    values = tuple(value for value in flat if value is not None and isinstance(value, Scalar))
    if values:
        yield operator, values


def rank_uses(step: Step, tool: Tool) -> Iterator[RankUse]:
    for node in with_role(step, tool, "rank"):
        if isinstance(node.value, Mapping):
            yield RankUse(node.path, node.value.get("direction", "top"), node.value.get("limit"))


def grains(step: Step, tool: Tool) -> Iterator[str]:
    """The grains to which dates are truncated."""
    for node in with_role(step, tool, "grain"):
        if isinstance(node.value, str) and node.value != "none":
            yield node.value


def as_used(step: Step, tool: Tool) -> Tool:
    """A tool that may also keep only the first rows ranks them in a step that does."""
    if "rank" in tool.capabilities or not any(True for _ in rank_uses(step, tool)):
        return tool
    return tool.model_copy(update={"capabilities": (*tool.capabilities, "rank")})


def with_role(step: Step, tool: Tool, role: str) -> Iterator[Node]:
    return (node for node in walk(step, tool) if node.role == role)


def _walk(schema: Mapping[str, object], value: object, path: str, found: list[Node]) -> None:
    found.append(Node(path, value, schema))
    if isinstance(value, list | tuple):
        items = schema.get("items")
        if isinstance(items, Mapping):
            for index, item in enumerate(value):
                _walk(items, item, f"{path}.{index}", found)
    elif not isinstance(value, PLAIN) and isinstance(value, Mapping):
        properties = schema.get("properties")
        for name, inner in properties.items() if isinstance(properties, Mapping) else ():
            if name in value:
                _walk(inner, value[name], f"{path}.{name}", found)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
