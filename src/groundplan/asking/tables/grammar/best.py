"""One number over the best things together: their share of the whole, or their total."""

from __future__ import annotations

from groundplan.asking.tables.grammar.listing import known_only, same_by, target_group
from groundplan.asking.tables.grammar.phrases import Item, Measure, Rank, Target
from groundplan.asking.tables.grammar.state import DoesNotCompose, Part, State
from groundplan.contracts.expression import Aggregate, Among, Arithmetic, Column, Rows
from groundplan.contracts.reading import Each, EachMeasure


def share_of_best(state: State, rank: Rank, items: tuple[Item, ...], of: Measure, share: Item) -> None:
    """The share that the ten biggest vendors have."""
    if rank.by is not None and not same_by(state, rank.by, of):
        raise DoesNotCompose("a share of the best")
    best = _total_of_best(state, of, rank, rank.target, items)
    ratio = Arithmetic(operator="/", left=best, right=Aggregate(function="sum", of=best.of))
    state.measures.insert(0, (Measure(ratio, f"share of {of.name}"), (share, *items)))


def best_together(state: State, of: Measure, rank: Rank, target: Target, items: tuple[Item, ...]) -> None:
    """The revenue of the top ten customers altogether: one number, which is the sum of theirs."""
    asked = [measure.expression for measure, _ in state.measures]
    match of.expression:
        case Rows() | Aggregate(function="sum" | "count") if asked and {*asked} == {of.expression}:
            said = [item for _, own in state.measures for item in own]
            total = _total_of_best(state, of, rank, target, items)
            state.measures = [(Measure(total, of.name), tuple(dict.fromkeys((*items, *said))))]
        case _:
            raise DoesNotCompose("a number of the best together that is not ranked by")


def _total_of_best(state: State, of: Measure, rank: Rank, target: Target | None, items: tuple[Item, ...]) -> Aggregate:
    """The sum of a number that each thing has, over the first of them."""
    key = target_group(state, target) if target else None
    if key is None or key.expression or key.time or rank.limit is None or state.groups or state.ask:
        raise DoesNotCompose("a number of the best together")
    column = Column(name="its number")
    each = Each(keys=(key.name,), measures=(EachMeasure(name=column.name, expression=of.expression),))
    state.each = Part("each:thing", each, items)
    known_only(state, key.name)
    state.rank = None
    best = Among(of=column, limit=rank.limit, direction="top" if rank.direction == "top" else "bottom")
    return Aggregate(function="sum", of=column, where=best)
