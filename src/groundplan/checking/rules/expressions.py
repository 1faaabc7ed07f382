"""Expressions in params are well formed, and their parts are of the kinds they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from groundplan.checking.draft import Draft
from groundplan.checking.params import Node as ParamNode
from groundplan.checking.params import expressions
from groundplan.checking.params import walk as walk_params
from groundplan.checking.rules.types import is_of
from groundplan.contracts.columns import ColumnKind, fits
from groundplan.contracts.contract import Scalar
from groundplan.contracts.expression import (
    Absolute,
    Aggregate,
    Arithmetic,
    Bins,
    Change,
    Compare,
    Concatenated,
    Constant,
    Contains,
    Correlation,
    DateCut,
    DatePart,
    Elapsed,
    Expression,
    Filled,
    Length,
    Moving,
    Node,
    OneOf,
    Rounded,
    Running,
    Share,
    kind_of,
    walk,
)
from groundplan.contracts.issue import Issue
from groundplan.contracts.wording import in_words

Kinds = Mapping[str, ColumnKind]


def ill_formed_expression(draft: Draft) -> Iterator[Issue]:
    """An expression is one of the requirement language.

    Fails: a metric has the expression `{"kind": "total", "of": "revenue"}`; the language has no `total`.
    """
    for index, step, tool in draft.tool_steps():
        for path, node in expressions(step, tool):
            if node is None:
                yield Issue(
                    code="types/ill-formed-expression",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"step {step.id!r}: {path} is not an expression of the requirement language",
                    hint="use the kinds of docs/reference/contracts.md",
                )


def missing_operand(draft: Draft) -> Iterator[Issue]:
    """A param that an expression can stand for is given, or the expression is.

    Fails: `filter_rows` has neither `conditions` nor `where`.
    """
    for index, step, tool in draft.tool_steps():
        for node in walk_params(step, tool):
            for expression, others in _alternatives(node):
                missing = [name for name in others if name not in cast(Mapping[str, object], node.value)]
                if missing and expression not in cast(Mapping[str, object], node.value):
                    yield Issue(
                        code="types/missing-operand",
                        step=step.id,
                        path=f"steps.{index}.{node.path}",
                        problem=f"step {step.id!r}: {node.path} has neither {expression!r} nor {missing[0]!r}",
                        hint=f"give one of them; see `groundplan catalog show {tool.name}`",
                    )


def _alternatives(node: ParamNode) -> Iterator[tuple[str, Sequence[str]]]:
    """The expressions among the node's params, each with the params that it can stand for."""
    properties = node.schema.get("properties")
    if not isinstance(node.value, Mapping) or not isinstance(properties, Mapping):
        return
    for name, schema in properties.items():
        if "x-instead-of" in schema:
            yield name, schema["x-instead-of"]


def unfit_operand(draft: Draft) -> Iterator[Issue]:
    """The parts of an expression are of the kinds it needs: numbers are added up, dates have months.

    Fails: `sum(price * region)`, where `region` is text; `opened > 5`, where `opened` is a date.
    """
    for index, step, tool in draft.tool_steps():
        shape = draft.input_shape(step, tool)
        if shape is None or shape.columns is None:
            continue
        kinds = {name: column.kind for name, column in shape.columns.items()}
        for path, node in expressions(step, tool):
            for problem in _misfits(node, kinds) if node is not None else ():
                yield Issue(
                    code="types/unfit-operand",
                    step=step.id,
                    path=f"steps.{index}.{path}",
                    problem=f"step {step.id!r}: {problem}",
                    hint="choose another column, or write the value as the column has it: dates as 2025-01-31",
                )


def _misfits(node: Node, kinds: Kinds) -> Iterator[str]:
    for part in walk(node):
        for operand, wanted in _needs(part):
            found = kind_of(operand, kinds)
            if found not in (wanted, "other"):
                yield f"{in_words(operand)!r} is {found}, and {in_words(part)!r} needs a {wanted}"
        match part:
            case Aggregate(function=function, of=of) if function != "percentile":
                found = kind_of(of, kinds)
                if found != "other" and not fits(function, found):
                    yield f"{function!r} does not apply to {in_words(of)!r}, which is {found}"
            case OneOf(of=of, values=values):
                yield from _other_values(of, [value for value in values if value is not None], kinds)
            case Compare(left=of, right=Constant(value=value)) | Filled(of=of, otherwise=Constant(value=value)):
                yield from _other_values(of, [value], kinds)
            case Compare(left=Constant(value=value), right=right):
                yield from _other_values(right, [value], kinds)
            case Compare(left=left, right=right) | Filled(of=left, otherwise=right):
                pair = [kind_of(side, kinds) for side in (left, right)]
                if "other" not in pair and pair[0] != pair[1]:
                    yield f"{in_words(left)!r} is {pair[0]} and {in_words(right)!r} is {pair[1]}"


def _needs(node: Node) -> Iterator[tuple[Expression, ColumnKind]]:
    """The operands whose kind is given, with that kind."""
    match node:
        case Arithmetic(left=left, right=right) | Correlation(left=left, right=right):
            yield from ((left, "number"), (right, "number"))
        case Elapsed(start=start, end=end):
            yield from ((side, "time") for side in (start, end) if not isinstance(side, Constant))
        case DatePart(of=of) | DateCut(of=of):
            yield of, "time"
        case Bins(of=of) | Share(of=of) | Change(of=of) | Running(of=of) | Moving(of=of):
            yield of, "number"
        case Rounded(of=of) | Absolute(of=of):
            yield of, "number"
        case Aggregate(function="percentile", of=of):
            yield of, "number"
        case Contains(of=of) | Length(of=of):
            yield of, "text"
        case Concatenated(parts=parts):
            yield from ((part, "text") for part in parts if not isinstance(part, DatePart))


def _other_values(of: Expression, values: list[Scalar], kinds: Kinds) -> Iterator[str]:
    kind = kind_of(of, kinds)
    wrong = [value for value in values if not is_of(value, kind)]
    if wrong:
        yield f"{in_words(of)!r} is {kind}, and {wrong[0]!r} is not"


RULES = (ill_formed_expression, missing_operand, unfit_operand)
