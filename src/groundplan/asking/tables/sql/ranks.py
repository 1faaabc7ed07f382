"""Places of a ranking that only order: `ORDER BY ROW_NUMBER() OVER (ORDER BY x DESC)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from groundplan.asking.tables.sql.query import same
from groundplan.asking.tables.sql.scope import Scope, peeled
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.asking.tables.sql.windows import PLACES, order_key
from groundplan.contracts.expression import Expression

Keys = Sequence[tuple[Expression, bool]]


def order_of_place(node: Any, descends: bool, before: Keys, scope: Scope) -> Keys | None:
    """The keys that a place orders by; within groups only after these. None if it is no place."""
    window, within = peeled(node, scope)
    if not isinstance(window, exp.Window) or not isinstance(window.this, PLACES):
        return None
    groups = [within.value(one) for one in window.args.get("partition_by") or ()]
    if not all(any(same(group, key) for key, _ in before) for group in groups):
        raise Untranslatable("an order by places within groups", f"{shown(window)}; order by the groups first")
    if not window.args.get("order"):
        raise Untranslatable("a ranking without an order", shown(window))
    keys = [order_key(one, within) for one in window.args["order"].expressions]
    if descends and any(within.nullable(value) for value, _ in keys):
        raise Untranslatable("an order by places, the last first, where values may be missing", shown(window))
    return [(value, down != descends) for value, down in keys]
