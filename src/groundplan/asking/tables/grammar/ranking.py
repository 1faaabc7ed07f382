"""Rankings: of groups, of rows, or of all groups in order."""

from __future__ import annotations

from dataclasses import replace

from groundplan.asking.tables.grammar.listing import known_only, named_too, put_in_order, same_by, target_group
from groundplan.asking.tables.grammar.meanings import Entity
from groundplan.asking.tables.grammar.phrases import Field, Item, Measure, Rank, Target, Thing
from groundplan.asking.tables.grammar.state import ARTICLES, DoesNotCompose, NeedsClarification, State
from groundplan.asking.tables.grammar.together import asks_together
from groundplan.contracts.expression import Aggregate
from groundplan.contracts.reading import Rank as RankAsked
from groundplan.contracts.schema import Column as SchemaColumn
from groundplan.text.stems import stem

TOPS = frozenset({"top", "best", "bottom", "worst", "highest", "lowest", "топ", "лучшие", "худшие"})
EVER = frozenset({"ever", "record"})
WHEN = frozenset({"when", "когда"})
CHOOSING = frozenset({"for", "of", "in", "from", "at", "among", "within", "для", "у", "среди"})


def read_ranking(state: State) -> None:
    _take_measures(state)
    if state.rank is None:
        put_in_order(state)
        return
    rank, items = _limited(state, *state.rank)
    target, items = _ranked(state, rank, items)
    by = rank.by
    if by is None and state.measures and rank.limit is not None:
        by = state.measures[0][0]
    if _is_of_one_row(state, rank, target):
        _tell_beside(state, target)
        _extreme_rows(state, rank, by, items)
        return
    if target is not None and state.groups and _is_chosen_first(state, items[0]):
        raise DoesNotCompose("the best of them first, then split")
    if rank.limit is None:
        if rank.judged and by is None and not state.measures:
            raise NeedsClarification("by what", state.measure_names())
        if target is not None:
            state.groups.append((target_group(state, target), items))
        _sort(state, replace(rank, by=by), items)
        return
    if target is None:
        _extreme(state, rank, by, items)
        return
    if rank.limit > 1 and asks_together(state.words):
        raise DoesNotCompose("one number of the best together")
    if isinstance(target.value, Thing) and target.value.entity.is_rows:
        _extreme_rows(state, rank, by, items)
        return
    _rank_groups(state, rank, by, target, items)


def _take_measures(state: State) -> None:
    """By revenue, said apart from the ranking; regions by total sales are no ranking."""
    for item in state.all("by_measure"):
        things = [i for i in state.all("thing") if i not in state.used]
        if state.rank is None and len(things) == 1 and isinstance(item.value, Measure) and not state.groups:
            state.groups.append((target_group(state, Target(things[0].value)), state.take(*things)))  # type: ignore[arg-type]
        if state.rank is None and state.groups and not state.measures and isinstance(item.value, Measure):
            state.measures.append((item.value, state.take(item)))
            continue
        if state.rank is None or (state.rank[0].by is not None and not same_by(state, state.rank[0].by, item.value)):
            raise DoesNotCompose("by what no ranking goes")
        state.rank = (replace(state.rank[0], by=item.value, judged=False), (*state.rank[1], *state.take(item)))  # type: ignore[arg-type]


def _limited(state: State, rank: Rank, items: tuple[Item, ...]) -> tuple[Rank, tuple[Item, ...]]:
    """With the limit that a question for so many tells; without any for top stores: all of them, the best first."""
    if state.ask is not None and state.ask[0].limit is not None:
        if rank.limit not in (None, 1):
            raise DoesNotCompose("two limits")
        return replace(rank, limit=state.ask[0].limit), items
    several = rank.limit == 1 and rank.target is not None and _names_several(state, items[0])
    return (replace(rank, limit=None) if several else rank), items


def _ranked(state: State, rank: Rank, items: tuple[Item, ...]) -> tuple[Target | None, tuple[Item, ...]]:
    """What is ranked, and the words for it: of the ranking, of the question, or a thing that stands alone."""
    target = rank.target
    if state.ask is not None:
        asked, said = state.ask[0].target, state.ask[1]
        same = asked is None or state.ask[0].person or target is None or asked.value == target.value
        if same:
            target, items = target or asked, (*items, *said)
        elif asked is not None and isinstance(asked.value, Field):
            state.show.append((asked.value.name, said))
        else:
            raise DoesNotCompose("a ranking and another question")
        state.ask = None
    things = [i for i in state.all("thing") if i not in state.used and not state.all("count")]
    if target is None and things:
        return Target(things[0].value), (*items, *state.take(things[0]))  # type: ignore[arg-type]
    return target, items


def _rank_groups(state: State, rank: Rank, by: Measure | Field | None, target: Target, items: tuple[Item, ...]) -> None:
    group = target_group(state, target)
    within_groups = [g for g, _ in state.groups]
    if group in within_groups:
        within_groups.remove(group)
    else:
        state.groups.append((group, items))
        named_too(state, target, items)
        known_only(state, group.name)
    measure = _rank_measure(state, rank, by)
    if not any(m.expression == measure.expression for m, _ in state.measures):
        state.measures.insert(0, (measure, () if measure.default else items))
    rank_by = None if state.measures[0][0].expression == measure.expression else measure.expression
    state.order = RankAsked(
        direction=rank.direction, limit=rank.limit, by=rank_by, within=tuple(g.name for g in within_groups)
    )
    state.order_items = items


def _is_of_one_row(state: State, rank: Rank, target: Target | None) -> bool:
    """The highest single reading, the highest rate ever, or when it was: one row has it."""
    if rank.limit != 1 or not isinstance(rank.by, Field):
        return False
    values = {place for _, items in state.conditions for item in items for place in range(item.first, item.last)}
    said = {word.lower for place, word in enumerate(state.words) if place not in values}
    single = "single" in said or (said & EVER and target is not None and rank.by.meaning == "rate")
    when = rank.target is None and said & WHEN
    if when and not single and rank.by.meaning != "rate":
        raise DoesNotCompose("when the total of which days or months was the highest?")
    of_groups = target is not None and not (isinstance(target.value, Thing) and target.value.entity.is_rows)
    if state.groups and (when or (single and of_groups)):
        raise DoesNotCompose("one row of each group")
    return bool(single or when) and not state.groups


def _tell_beside(state: State, target: Target | None) -> None:
    """Further columns of the row: its date, if asked for, and those that are named."""
    if {word.lower for word in state.words} & WHEN:
        if state.meanings.main_date is None:
            raise DoesNotCompose("no dates")
        state.show.append((state.meanings.main_date.name, ()))
    match target.value if target else None:
        case Field(column=SchemaColumn(name=name)) | Thing(entity=Entity(column=SchemaColumn(name=name))):
            state.show.append((name, ()))
        case None:
            pass
        case _:
            raise DoesNotCompose("more than a row has")


def _is_chosen_first(state: State, item: Item) -> bool:
    """For the two best regions, with a split by something else."""
    before = [word.lower for word in state.words[: item.first] if word.lower not in ARTICLES]
    return bool(before) and before[-1] in CHOOSING


def _names_several(state: State, item: Item) -> bool:
    """The noun behind top or best is a plural."""
    skipped = TOPS | state.meanings.lexicon.structure
    nouns = [w.lower for w in state.words[item.first : item.last] if w.lower not in skipped and not w.is_number]
    rows = state.meanings.entities[0].nouns
    named = [noun for noun in nouns if stem(noun) not in rows] or nouns  # the best sales channel is one
    word = named[0] if len(nouns) < item.length and named else ""
    ending = word.endswith("s") and not word.endswith("ss")
    return ending or word.endswith(("ов", "ев", "ей", "ам", "ы", "и"))


def _rank_measure(state: State, rank: Rank, by: Measure | Field | None) -> Measure:
    if by is None:
        if rank.judged:
            raise NeedsClarification("by what", state.measure_names())
        unclear = state.builders.amount is not None or _says_other_deed(state)
        if not state.assumes("count_rows") or (unclear and not _counts_said(state)):
            raise NeedsClarification("by what", state.measure_names())
        return state.rows_counted()
    if isinstance(by, Measure):
        return by
    adjective = any(item.category == "rank" for item in state.rank[1]) if state.rank else False
    if (
        by.meaning == "rate"
        and adjective
        and rank.target is not None
        and by.column is not None
        and "price" in state.meanings.names[by.column.name]
    ):
        function = "max" if rank.direction == "top" else "min"
        return Measure(Aggregate(function=function, of=by.expression), by.name, base=by)
    measure = state.builders.usual(by)
    if measure is None:
        raise DoesNotCompose("ranked by no number")
    return measure


def _says_other_deed(state: State) -> bool:
    """Who sells most, where the rows are no sales."""
    known = frozenset[str]().union(*state.meanings.lexicon.row_verbs.values())
    return any(word.stem in known and not state.meanings.is_row_verb(word) for word in state.words)


def _counts_said(state: State) -> bool:
    return bool(state.all("count"))


def _extreme(state: State, rank: Rank, by: Measure | Field | None, items: tuple[Item, ...]) -> None:
    """The highest score itself, or of the groups the one that has it; of several, the rows that have them."""
    if rank.limit != 1:
        if state.groups or state.measures:
            raise DoesNotCompose("so many of which?")
        _extreme_rows(state, rank, by, items)
        return
    if isinstance(by, Field) and not state.measures:
        function = "max" if rank.direction == "top" else "min"
        state.measures.append((Measure(Aggregate(function=function, of=by.expression), by.name, base=by), items))
        state.rank = None
        return
    raise DoesNotCompose("the most of nothing")


def _extreme_rows(state: State, rank: Rank, by: Measure | Field | None, items: tuple[Item, ...]) -> None:
    """The rows themselves, by the number that was said."""
    base = by if isinstance(by, Field) else by.base if isinstance(by, Measure) else None
    if base is None:
        if by is None:
            raise NeedsClarification("by what", state.measure_names())
        raise DoesNotCompose("rows have no such number")
    if (
        isinstance(by, Measure)
        and isinstance(by.expression, Aggregate)
        and not by.usual
        and by.expression.function not in ("max", "min")
    ):
        raise DoesNotCompose("rows have no averages")
    for measure, more in state.measures:  # what is said beside it is shown
        if measure.base is not None and measure.base.column is not None and measure.usual:
            state.show.append((measure.base.name, more))
        elif not isinstance(by, Measure) or measure.expression != by.expression:
            raise DoesNotCompose("rows have no such number")
    names = [c.name for c in state.meanings.name_columns(state.meanings.entities[0])]
    keys = [key[0] for key in state.meanings.table.keys if len(key) == 1]
    shown = [*names[:3]] or keys[:1]
    shown += [name for name, _ in state.show if name not in shown]
    if base.column is not None and base.name not in shown:
        shown.append(base.name)
    if not shown:
        shown = [c.name for c in state.meanings.table.columns[:12]]
    within_groups = [g.name for g, _ in state.groups]
    state.columns = tuple(dict.fromkeys([*within_groups, *shown]))
    state.columns_items = (
        *items,
        *(i for _, more in state.show for i in more),
        *(i for _, more in state.groups for i in more),
    )
    state.groups = []
    state.measures = []
    state.order = RankAsked(direction=rank.direction, limit=rank.limit, by=base.expression, within=tuple(within_groups))
    state.order_items = items


def _sort(state: State, rank: Rank, items: tuple[Item, ...]) -> None:
    measure = rank.by if isinstance(rank.by, Measure) else state.builders.usual(rank.by) if rank.by else None
    if measure is not None and not state.measures:
        state.measures.append((measure, items))
    same = measure is None or any(m.expression == measure.expression for m, _ in state.measures)
    state.order = RankAsked(
        direction=rank.direction,
        by=None if same or measure is None else measure.expression,
    )
    state.order_items = items
    state.rank = None
