"""What is said of one row, as it is said of the rows that point at it."""

from __future__ import annotations

from typing import TypeVar

from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.contracts.expression import Alike, Column, Node, Related
from groundplan.contracts.join_paths import SEPARATOR
from groundplan.contracts.normal_form import mapped_here

N = TypeVar("N", bound=Node)


def lifted(node: N, table: str, via: str) -> N:
    """Over the columns of the row of `table` at the end of the path; raises Untranslatable."""
    if isinstance(node, Related | Alike):
        raise Untranslatable("a subquery in a subquery that is joined")
    if isinstance(node, Column):
        path = via if node.via is None else f"{via}{SEPARATOR}{node.via}"
        return Column(table=node.table or table, name=node.name, via=path)  # type: ignore[return-value]
    return mapped_here(node, lambda part: lifted(part, table, via))
