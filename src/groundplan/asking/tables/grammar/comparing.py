"""Two values on both sides of `than`, and what lies between two values."""

from __future__ import annotations

from groundplan.asking.tables.grammar.meanings import NUMBERS
from groundplan.asking.tables.grammar.phrases import Item, Measure
from groundplan.asking.tables.grammar.rules import under
from groundplan.asking.tables.grammar.senses import one_of
from groundplan.asking.tables.grammar.state import DoesNotCompose, State
from groundplan.contracts.expression import Arithmetic


def read_than(state: State) -> None:
    """Do women stay longer than men: two values, on both sides of `than`."""
    for item in state.all("than"):
        plain = [(c, i) for c, i in state.conditions if c.is_plain]
        before = [pair for pair in plain if pair[1][0].first < item.first]
        after = [pair for pair in plain if pair[1][0].first >= item.first]
        pairs = [(left, right) for left in before for right in after if left[0].column == right[0].column]
        made = state.builders.versus(pairs[0][0][0], pairs[0][1][0]) if len(pairs) == 1 else None
        if made is None:
            raise DoesNotCompose("than what?")
        (left, left_items), (right, right_items) = pairs[0]
        state.conditions = [(c, i) for c, i in state.conditions if c is not left and c is not right]
        state.conditions.append((made, (*left_items, *state.take(item), *right_items)))
    for item in state.all("comparative"):
        _read_comparative(state, str(item.value.value), item)  # type: ignore[attr-defined]


def _read_comparative(state: State, kind: str, item: Item) -> None:
    """Longer, more often: by how long, by how many of them."""
    if not any(c.versus for c, _ in state.conditions):
        raise DoesNotCompose("more than what?")
    if kind == "often":
        happened = [(c, i) for c, i in state.conditions if not c.versus and not c.date]
        made = state.builders.condition_rate(happened[0][0]) if len(happened) == 1 else None
        if made is None or state.measures:
            raise DoesNotCompose("what happens more often?")
        state.conditions.remove(happened[0])
        state.measures.append((made, (*happened[0][1], *state.take(item))))
    elif state.measures or any(i.value.meaning in NUMBERS for i in state.all("field")):  # type: ignore[attr-defined]
        state.take(item)
    else:
        raise DoesNotCompose("more of what?")


def read_differences(state: State) -> None:
    """The gap between two sides: both values and what lies between them."""
    for item in state.all("difference"):
        if item in state.used:
            continue
        compared = [(c, i) for c, i in state.conditions if c.versus and c.column and len(c.values) == 2]
        if state.sides:
            state.take(item)
            continue
        if len(compared) != 1 or len(state.measures) != 1:
            raise DoesNotCompose("a difference of nothing")
        (condition, items), (measure, more) = compared[0], state.measures[0]
        column, said = condition.column or "", (*more, *items)
        sides = [under(measure.expression, one_of(column, (value,)).condition) for value in condition.values]
        gap = Measure(Arithmetic(operator="-", left=sides[0], right=sides[1]), f"{measure.name} difference")
        state.measures = [(gap, (*said, *state.take(item)))]
        for side, value in zip(sides, condition.values, strict=True):
            state.measures.append((Measure(side, f"{measure.name} {value}"), said))
        state.groups = [(g, i) for g, i in state.groups if g.name != column]
