"""Reading a step's params by its tool's schema: which strings are columns, which name new ones, what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast, get_args

from groundplan.contracts.columns import Function
from groundplan.contracts.contract import Scalar
from groundplan.contracts.plan import Step
from groundplan.contracts.tool import Tool

FUNCTIONS = frozenset(get_args(Function))


@dataclass(frozen=True)
class Node:
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
    port: str | None  # the input it is looked up in; the first one unless the schema says
    keep: bool
    role: str | None


@dataclass(frozen=True)
class MetricUse:
    """A param that computes a number; what is ill-typed in it is None, and `types/unfit-param` says so."""

    path: str
    column: str | None
    function: Function | None


@dataclass(frozen=True)
class FilterUse:
    """A param that leaves rows out."""

    path: str
    column: str | None
    operator: str | None
    values: tuple[Scalar, ...]


def walk(step: Step, tool: Tool) -> Iterator[Node]:
    """Every value of the params that the schema describes, outer ones first. Ill-typed values are passed over."""
    yield from _walk(tool.params, step.params, "params")


def column_uses(step: Step, tool: Tool) -> Iterator[ColumnUse]:
    for node in walk(step, tool):
        if "x-column" in node.schema and isinstance(node.value, str):
            yield ColumnUse(
                path=node.path,
                name=node.value,
                kind=str(node.schema["x-column"]),
                port=_text(node.schema.get("x-input")),
                keep=bool(node.schema.get("x-keep")),
                role=node.role,
            )


def metric_uses(step: Step, tool: Tool) -> Iterator[MetricUse]:
    for node in with_role(step, tool, "metric"):
        if isinstance(node.value, Mapping):
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


def with_role(step: Step, tool: Tool, role: str) -> Iterator[Node]:
    return (node for node in walk(step, tool) if node.role == role)


def _walk(schema: Mapping[str, object], value: object, path: str) -> Iterator[Node]:
    yield Node(path, value, schema)
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and isinstance(value, Mapping):
        for name, inner in properties.items():
            if name in value and isinstance(inner, Mapping):
                yield from _walk(inner, value[name], f"{path}.{name}")
    items = schema.get("items")
    if isinstance(items, Mapping) and isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _walk(items, item, f"{path}.{index}")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
