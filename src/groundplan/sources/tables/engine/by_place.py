"""Percentiles, correlations and covariances of groups by window functions, for engines without such aggregates."""

from __future__ import annotations

from functools import reduce
from typing import Any

import ibis
import ibis.expr.operations as ops
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.common.patterns import replace
from ibis.expr.rewrites import p

QUANTILES = (ops.Median, ops.Quantile)
LACKING = (*QUANTILES, ops.Correlation, ops.Covariance)


@replace(p.Aggregate)  # type: ignore[untyped-decorator]
def by_place(_: Any, **__: Any) -> Any:
    """Each value gets its place in its group first; a percentile is then what stands at a place."""
    found = [node for metric in _.metrics.values() for node in metric.find(LACKING)]
    if not found:
        return _
    used = [node for value in (*_.groups.values(), *_.metrics.values()) for node in value.find(ops.Field)]
    kept = {node.name: node.to_expr() for node in used if node.rel == _.parent}
    groups = [group.to_expr() for group in _.groups.values()]
    added: dict[str, Any] = {}
    for number, node in enumerate(dict.fromkeys(found)):
        if isinstance(node, QUANTILES):
            added |= _placed(node, groups, f"__place_{number}")
        else:
            added |= _centred(node, groups, f"__apart_{number}")
    parent = _.parent.to_expr().select(**kept, **added)
    moved: dict[Any, Any] = {_.parent: parent.op()}
    for number, node in enumerate(dict.fromkeys(found)):
        made = (
            _at_share(parent, f"__place_{number}", _share(node))
            if isinstance(node, QUANTILES)
            else _together(parent, f"__apart_{number}", node)
        )
        moved[node] = made.op()
    groups_moved = {name: group.replace({_.parent: parent.op()}) for name, group in _.groups.items()}
    metrics = {name: _moved(metric, moved) for name, metric in _.metrics.items()}
    return ops.Aggregate(parent.op(), groups_moved, metrics)


def with_places(compiler: SQLGlotCompiler) -> SQLGlotCompiler:
    """The compiler of a dialect, with `by_place` first: other engines have none of these, or only estimates."""

    class Placing(type(compiler)):  # type: ignore[misc]
        __slots__ = ()

        def translate(self, op: Any, *, params: Any) -> Any:
            return super().translate(op.replace(by_place), params=params)

    return Placing()


def _moved(metric: Any, moved: dict[Any, Any]) -> Any:
    """The metric over the new rows. What is made over them already is not looked into again."""
    parent = {old: new for old, new in moved.items() if isinstance(old, ops.Relation)}
    if metric in moved:
        return moved[metric]
    if isinstance(metric, ops.Relation):
        return parent.get(metric, metric)
    if not metric.find(LACKING):
        return metric.replace(parent)
    arguments = [_moved(one, moved) if isinstance(one, ops.Node) else _each(one, moved) for one in metric.args]
    return type(metric)(*arguments)


def _each(value: Any, moved: dict[Any, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_moved(one, moved) if isinstance(one, ops.Node) else _each(one, moved) for one in value)
    return value


def _share(node: Any) -> float:
    return 0.5 if isinstance(node, ops.Median) else float(node.quantile.value)


def _where(value: Any, *conditions: Any) -> Any:
    given = [condition for condition in conditions if condition is not None]
    return reduce(lambda kept, condition: condition.ifelse(kept, ibis.null(kept.type())), given, value)


def _placed(node: Any, groups: list[Any], name: str) -> dict[str, Any]:
    value = _where(node.arg.to_expr(), node.where.to_expr() if node.where is not None else None).cast("float64")
    order = [ibis.asc(value, nulls_first=False)]
    place = ibis.row_number().over(group_by=groups, order_by=order)
    return {f"{name}_value": value, f"{name}_at": place, f"{name}_of": value.count().over(group_by=groups)}


def _at_share(parent: Any, name: str, share: float) -> Any:
    """Between the two values beside the place, as far as the place is."""
    value, at, of = (parent[f"{name}_{part}"] for part in ("value", "at", "of"))
    wanted = (of - 1).cast("float64") * ibis.literal(str(share)).cast("float64")
    below, above = (_where(value, at == near.cast("int64")).max() for near in (wanted.floor(), wanted.ceil()))
    return below + (above - below) * (wanted - wanted.floor()).max()


def _centred(node: Any, groups: list[Any], name: str) -> dict[str, Any]:
    sides = [side.to_expr().cast("float64") for side in (node.left, node.right)]
    both = [side.notnull() for side in sides]
    where = node.where.to_expr() if node.where is not None else None
    known = [_where(side, *both, where) for side in sides]
    return {
        f"{name}_{place}": side - side.mean().over(group_by=groups)
        for place, side in zip(("left", "right"), known, strict=True)
    }


def _together(parent: Any, name: str, node: Any) -> Any:
    left, right = parent[f"{name}_left"], parent[f"{name}_right"]
    if isinstance(node, ops.Covariance):
        both = (left * right).count()
        return (left * right).sum() / (both - 1 if node.how == "sample" else both).nullif(0)
    spread = ((left * left).sum() * (right * right).sum()).sqrt()
    return (left * right).sum() / spread.nullif(0)
