"""Columns, functions and shares that say what they are only together with the rest."""

from __future__ import annotations

import re
from dataclasses import replace

from groundplan.asking.tables.grammar.best import share_of_best
from groundplan.asking.tables.grammar.dating import lines_drawn
from groundplan.asking.tables.grammar.meanings import NUMBERS
from groundplan.asking.tables.grammar.names import SAID
from groundplan.asking.tables.grammar.phrases import (
    Cond,
    Field,
    Group,
    Item,
    Mark,
    Measure,
    Rank,
    ShareOf,
    Target,
    Thing,
)
from groundplan.asking.tables.grammar.rules import under
from groundplan.asking.tables.grammar.state import ARTICLES, DoesNotCompose, NeedsClarification, Part, State
from groundplan.contracts.expression import (
    Aggregate,
    All,
    Arithmetic,
    Column,
    Condition,
    Rows,
    Share,
    columns_of,
)
from groundplan.contracts.reading import AnalysisAsked
from groundplan.text.stems import is_russian

EACH_PERIOD = re.compile(r"\bper\b|^(?:hourly|daily|weekly|monthly|quarterly|yearly|annual)$")
AUXILIARIES = frozenset({"do", "does", "did"})


def _described_by(state: State, item: Item, value: Field) -> int | None:
    """The place of the condition in a closed account, where columns are called account status and account type."""
    own = state.meanings.names.get(value.name, ())
    for place, (condition, items) in enumerate(state.conditions):
        other = state.meanings.names.get(condition.column or "", ())
        if items[-1].last == item.first and {*own} & {*other} and condition.column != value.name:
            return place
    return None


def read_bare(state: State) -> None:
    """Numbers first: whether another column is a group depends on what is measured."""
    for item in state.all("field"):
        if item.value.meaning in NUMBERS:  # type: ignore[attr-defined]
            _read_number(state, item, item.value)  # type: ignore[arg-type]
    _rank_rows_of_list(state)
    for item in state.all("field"):
        if item not in state.used:
            _refuse_other_roles(state, item)
            _read_column(state, item, item.value)  # type: ignore[arg-type]


def _read_number(state: State, item: Item, value: Field) -> None:
    joined = any(are_joined(state, items[-1], item) for _, items in state.measures)
    if _groups_numbers(state, value) and not joined:
        state.groups.append((Group(value.name), state.take(item)))
        state.penalty += 0.3
        return
    if _lists_rows(state) and value.column is not None:
        state.show.append((value.name, state.take(item)))
        return
    before = state.meanings.lexicon.find(state.words, item.first - 1, item.first) if item.first else ()
    if any(kind == "per" for kind, _ in before):
        raise DoesNotCompose("one number for each of another, which is no number beside it")
    measure = _also_measured(state, value, item) or state.builders.usual(value)
    if measure is None:
        raise DoesNotCompose("not a measure")
    if state.rank is not None and state.rank[0].by is None and not state.measures:
        state.rank = (replace(state.rank[0], by=value, judged=False), (*state.rank[1], *state.take(item)))
        return
    if any(kind == "superlative" for kind, _ in before):
        raise DoesNotCompose("the highest of this number, and ranked by another")
    state.measures.append((measure, state.take(item)))


def _rank_rows_of_list(state: State) -> None:
    """The longest stay: its id and place. The row that has it, with these columns."""
    ids = [item for item in state.all("field") if item.value.meaning in ("identifier", "name")]  # type: ignore[attr-defined]
    match state.rank:
        case Rank(target=None, by=Field()) as rank, items if ids and not state.ask:
            state.rank = (replace(rank, target=Target(Thing(state.meanings.entities[0]))), items)


def _refuse_other_roles(state: State, item: Item) -> None:
    """Raises for a column that is neither measured nor split by."""
    if _is_subject(state, item):
        raise DoesNotCompose("what it does, not what it is split by")
    if is_russian(state.words[item.first].lower) and any(i[-1].last == item.first for _, i in state.measures):
        raise DoesNotCompose("whose it is, not what it is split by")
    if item.score < SAID and any(thing.first == item.last for thing in state.all("thing")):
        raise DoesNotCompose("a word that may be short for a column, before a thing: repeat guests")


def _read_column(state: State, item: Item, value: Field) -> None:
    split = state.all("split")
    if (place := _described_by(state, item, value)) is not None:
        _say_more(state, place, item)
        return
    if value.meaning == "flag" and not split:
        state.penalty += 0.4  # the dumped batches, rather than whether batches were dumped
    if _ranks_rows(state) or _lists_rows(state):
        state.show.append((value.name, state.take(item)))
    elif value.meaning in ("category", "flag", "year") and _may_be_split(state):
        if state.all("count") and not split:
            raise DoesNotCompose("how many of which?")
        if value.name in state.meanings.joined and not split:
            raise DoesNotCompose("of another table, and nothing says by")
        state.groups.append((Group(value.name), state.take(item)))
        state.penalty += 0.2 if split else 0.6
    elif value.meaning == "date" and (state.all("over_time", "grain") or lines_drawn(state)):
        state.groups.append((Group(value.name, time=True), state.take(item)))
    elif state.groups and state.all("distribution", "split", "chart") and state.builders.names_rows(value):
        state.measures.append((state.builders.rows_counted(), state.take(item)))  # a chart of models by country
    elif state.ask is not None or state.all("list"):
        state.show.append((value.name, state.take(item)))
    elif _is_measured(state) and (place := _whose_rows(state, item, value)) is not None:
        _say_more(state, place, item)
    else:
        raise DoesNotCompose(f"what of {value.name}?")


def _say_more(state: State, place: int, item: Item) -> None:
    """The words say once more what a condition does."""
    condition, items = state.conditions[place]
    state.conditions[place] = (condition, (*items, *state.take(item)))


def _whose_rows(state: State, item: Item, value: Field) -> int | None:
    """The place of the condition in profit for corporate customers, where customers have names."""
    noun = state.words[item.first]
    plural = item.length == 1 and noun.lower != noun.stem and value.whole
    if value.meaning != "name" or not plural or state.all("count"):
        return None
    return next((place for place, (_, i) in enumerate(state.conditions) if i[-1].last == item.first), None)


def _is_measured(state: State) -> bool:
    by = state.rank[0].by is not None if state.rank else bool(state.all("by_measure"))
    return bool(state.measures) or by


def _may_be_split(state: State) -> bool:
    named = state.all("count", "split", "thing", "distribution", "chart")
    return bool(named or state.having) or _is_measured(state)


def _is_subject(state: State, item: Item) -> bool:
    """True if a thing is the subject of a verb: `what did the goods cost`."""
    before = [word.lower for word in state.words[: item.first]]
    while before and before[-1] in ARTICLES:
        before.pop()
    return bool(before) and before[-1] in AUXILIARIES


def _also_measured(state: State, value: Field, item: Item) -> Measure | None:
    """Average price and rating: the function goes for both."""
    for measure, items in state.measures:
        made = measure.expression
        if measure.usual or not isinstance(made, Aggregate) or made.where or made.percent or measure.counts:
            continue
        if are_joined(state, items[-1], item):
            return state.builders.function_of_field(Mark("function", made.function), value)
    return None


def are_joined(state: State, left: Item, right: Item) -> bool:
    return left.last <= right.first and state.gap(left, right).strip(" ,&") in ("", "and", "и")


def _groups_numbers(state: State, value: Field) -> bool:
    """A whole number with few values, beside a measure: rooms beside the rent."""
    column = value.column
    whole = column is not None and "int" in column.type.lower() and (column.cardinality or 99) <= 12
    spread = bool(state.all("distribution")) or any(m.base != value for m, _ in state.measures)
    spread = spread or any(isinstance(item.value, Measure) for item in state.all("by_measure"))
    return whole and value.meaning == "rate" and spread


def _lists_rows(state: State) -> bool:
    target = state.ask[0].target if state.ask and not state.rank else None
    return target is not None and isinstance(target.value, Thing) and target.value.entity.is_rows


def _ranks_rows(state: State) -> bool:
    target = state.rank[0].target if state.rank else None
    if target is None and state.rank and state.ask:
        target = state.ask[0].target
    return target is not None and isinstance(target.value, Thing) and target.value.entity.is_rows


def apply_functions(state: State) -> None:
    """On average, said apart from what is averaged."""
    if len(state.all("function")) > 1:
        raise DoesNotCompose("one function too many")
    for item in state.all("function"):
        value: Mark = item.value  # type: ignore[assignment]
        if (
            state.measures
            and value.value == "mean"
            and all(isinstance(m.expression, Arithmetic) for m, _ in state.measures)
        ):
            state.measures = [(measure, (*items, item)) for measure, items in state.measures]
            state.take(item)
            continue
        places = [
            place
            for place, (m, _) in enumerate(state.measures)
            if m.base is not None and (m.usual or getattr(m.expression, "function", "") == "sum")
        ]
        made = [state.builders.function_of_field(value, state.measures[p][0].base) for p in places]  # type: ignore[arg-type]
        if not places or any(measure is None for measure in made):
            raise DoesNotCompose("the average of nothing")
        for place, measure in zip(places, made, strict=True):
            state.measures[place] = (measure, (*state.measures[place][1], item))  # type: ignore[assignment]
        state.take(item)


def averages_periods(state: State) -> bool:
    """The average charge per day may be one of days or of rows; `by day` asks for one of each day."""
    cuts = [items for group, items in state.groups if group.time and group.grain and items]
    each = [items for items in cuts if EACH_PERIOD.search(state.said(*items).lower())]
    match state.measures:
        case [(Measure(expression=Aggregate(function="mean", of=Column(name=name), where=None), usual=False), _)]:
            return len(each) == 1 and state.meanings.of.get(name) in ("amount", "count")
    return False


VERBS = frozenset({"is", "are", "was", "were", "have", "has", "had", "that", "who", "which", "get", "got", "do", "did"})


def read_shares(state: State) -> None:
    shares = state.all("share")
    if not shares:
        return
    if len(shares) > 1:
        raise DoesNotCompose("two shares")
    item = shares[0]
    if not isinstance(item.value, ShareOf):
        raise DoesNotCompose("a share of nothing")
    of, by = item.value.of, item.value.by
    state.take(item)
    state.groups += [(by, (item,))] if by else []
    if state.rank is not None and state.rank[0].limit is not None:
        share_of_best(state, *state.rank, of, item)
        return
    after = [(c, i) for c, i in state.conditions if _is_numerator(state, c, i, item)]
    if after:
        where = _all([c.condition for c, _ in after])
        if any(group.name in columns_of(where) for group, _ in state.groups):
            raise DoesNotCompose("all or nothing of each group")  # paid orders by whether they are paid
        state.conditions = [(c, i) for c, i in state.conditions if (c, i) not in after]
        known = [c.known for c, _ in after if c.known is not None]
        whole = under(of.expression, _all(known)) if known else of.expression
        ratio = Arithmetic(operator="/", left=under(of.expression, where), right=whole)
        items = (item, *(x for _, i in after for x in i))
        state.measures.insert(0, (Measure(ratio, f"share of {of.name}"), items))
    elif state.groups or state.ask:
        state.measures.insert(0, (Measure(Share(of=of.expression), f"share of {of.name}"), (item,)))
    else:
        raise NeedsClarification("a whole", state.names_of("category"), said=state.said(item).split()[0])


def _is_numerator(state: State, condition: Cond, items: tuple[Item, ...], share: Item) -> bool:
    """Conditions behind the whole; a period and conditions right behind the things limit both."""
    if condition.versus or condition.date:
        return False
    if any(item.first < share.first for item in items):
        return True
    if state.meanings.shares_limit and state.groups and items[-1].last <= share.last:
        return False
    helping = state.words[share.last].lower in ("do", "does", "did") if share.last < len(state.words) else False
    if helping and any(i[0].first == share.last + 1 for _, i in state.groups):
        return False  # the share that each region has, of those rows
    between = state.words[share.last : items[0].first]
    others = [c for c, i in state.conditions if c is not condition and i[0].first > share.first and not c.date]
    describes = not any(word.lower in VERBS for word in between)
    return not (others and describes and any(word.lower in VERBS for word in state.words[items[-1].last :]))


def share_of_groups(state: State) -> None:
    """The share that each region has of the revenue, beside the revenue."""
    alone = len(state.measures) == len(state.groups) == 1 and not (state.order or state.having or state.each)
    if not alone or state.groups[0][0].expression or state.groups[0][0].time:
        return
    measure, items = state.measures[0]
    match measure.expression:
        case Share(of=Rows(where=None) | Aggregate(of=Column(), where=None, percent=None) as of, within=()):
            state.measures = [(Measure(of, measure.name, usual=True), items)]
            state.asked.append(Part("analysis:share", AnalysisAsked(label="share"), items))


def _all(conditions: list[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else All(parts=tuple(conditions))
