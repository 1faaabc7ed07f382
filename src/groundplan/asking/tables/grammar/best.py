"""The share that the best things have together of the whole."""

from __future__ import annotations

from groundplan.asking.tables.grammar.listing import known_only, same_by, target_group
from groundplan.asking.tables.grammar.phrases import Item, Measure, Rank
from groundplan.asking.tables.grammar.state import DoesNotCompose, Part, State
from groundplan.contracts.expression import Aggregate, Among, Arithmetic, Column
from groundplan.contracts.reading import Each, EachMeasure


def share_of_best(state: State, rank: Rank, items: tuple[Item, ...], of: Measure, share: Item) -> None:
    """The share that the ten biggest vendors have: the sum of their numbers over the sum of all."""
    key = target_group(state, rank.target) if rank.target else None
    other = rank.by is not None and not same_by(state, rank.by, of)
    if other or key is None or key.expression or key.time or rank.limit is None or state.groups or state.ask:
        raise DoesNotCompose("a share of the best")
    column = Column(name="its number")
    each = Each(keys=(key.name,), measures=(EachMeasure(name=column.name, expression=of.expression),))
    state.each = Part("each:thing", each, items)
    known_only(state, key.name)
    state.rank = None
    best = Among(of=column, limit=rank.limit, direction="top" if rank.direction == "top" else "bottom")
    ratio = Arithmetic(
        operator="/", left=Aggregate(function="sum", of=column, where=best), right=Aggregate(function="sum", of=column)
    )
    state.measures.insert(0, (Measure(ratio, f"share of {of.name}"), (share, *items)))
