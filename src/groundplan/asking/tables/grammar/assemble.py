"""From phrases to a reading: what is measured, by what, of which rows, in what order. Each slot must be used."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations

from groundplan.asking.tables.grammar.counting import (
    count_once_each,
    count_things_said,
    counts_by_sex,
    is_unsaid,
    nest_conditions,
    people_meant,
)
from groundplan.asking.tables.grammar.dating import (
    drawn_over_time,
    is_current,
    lasts_until_unknown,
    named_days,
    present_people,
    read_periods,
)
from groundplan.asking.tables.grammar.gathering import collect, keep_empty
from groundplan.asking.tables.grammar.implied import intent_of, with_implied
from groundplan.asking.tables.grammar.listing import named_things, names_alone, read_asked
from groundplan.asking.tables.grammar.measuring import (
    apply_functions,
    averages_periods,
    read_bare,
    read_shares,
    share_of_groups,
)
from groundplan.asking.tables.grammar.phrases import Cond, Group, Item, Measure, ShareOf
from groundplan.asking.tables.grammar.ranking import read_ranking
from groundplan.asking.tables.grammar.requirements import (
    as_filters,
    as_group,
    as_metric,
    filter_id,
    free_id,
    metric_id,
    rank_id,
)
from groundplan.asking.tables.grammar.series import compared_values, read_series
from groundplan.asking.tables.grammar.state import LOOSE, DoesNotCompose, NeedsClarification, Part, State
from groundplan.asking.tables.grammar.together import asks_together
from groundplan.contracts.expression import (
    Aggregate,
    All,
    Arithmetic,
    Bins,
    Column,
    Compare,
    Condition,
    Constant,
    Elapsed,
    Rows,
)
from groundplan.contracts.reading import (
    AnalysisAsked,
    ColumnsAsked,
    Evidence,
    Intent,
    OutputAsked,
    Reading,
    Requirement,
)
from groundplan.text.words import language_of


def write_parts(state: State) -> None:
    share_of_groups(state)
    taken: dict[str, int] = {}
    for measure, items in state.measures:
        state.parts.append(_metric(state, measure, items, taken))
    for group, items in state.groups:
        state.parts.append(_grouped(state, group, items))
    state.parts += [state.each] if state.each else []
    for condition, items in (*state.conditions, *state.having):
        for value in as_filters(condition):
            state.parts.append(Part(_free(state, filter_id(value)), value, items, (condition.default,)))
    state.parts += state.asked
    if state.whole_rows and _is_plain_list(state):
        state.parts.append(Part("analysis:detail", AnalysisAsked(label="detail"), state.columns_items))
    elif state.columns:
        shown = ColumnsAsked(columns=state.columns, distinct=state.distinct)
        state.parts.append(Part("columns:shown", shown, state.columns_items))
    if state.order is not None:
        state.parts.append(Part(rank_id(state.order), state.order, state.order_items))


def _is_plain_list(state: State) -> bool:
    """Whole rows that comparisons of columns with values choose."""
    short = all(value.condition is None for c, _ in state.conditions for value in as_filters(c))
    return short and state.order is None and not state.distinct


def _metric(state: State, measure: Measure, items: tuple[Item, ...], taken: dict[str, int]) -> Part:
    name = measure.name
    taken[name] = taken.get(name, 0) + 1
    if taken[name] > 1:
        measure = replace(measure, name=f"{name} {taken[name]}")
    value = as_metric(measure, state.meanings, alone=len(state.measures) == 1 and not state.each)
    return Part(_free(state, metric_id(value)), value, items, (measure.default,))


def _free(state: State, id_: str) -> str:
    taken = {part.id for part in state.parts}
    return free_id(id_, taken)


def _grouped(state: State, group: Group, items: tuple[Item, ...]) -> Part:
    value = as_group(group, state.meanings)
    return Part(f"{value.kind}:{group.name}", value, items)


def write_outputs(state: State) -> None:
    charts, tables = state.all("chart"), state.all("table")
    kinds = [item.value.value for item in charts if item.value.value != "any"]  # type: ignore[attr-defined]
    least = 2 if "heatmap" in kinds else 1
    if charts and state.measures and len(state.groups) < least:
        raise NeedsClarification("an axis", state.names_of("category"), said=state.said(*charts))
    if charts and not (state.groups and state.measures and len(state.groups) <= 2):
        raise DoesNotCompose("a chart of nothing")
    if set(kinds) & {"scatter", "box"} and not state.rank:
        raise DoesNotCompose("a chart of single values")
    kinds = ["bar" if kind == "histogram" else kind for kind in kinds]
    if charts and not tables:
        drawn = OutputAsked(label="chart", chart=kinds[0] if kinds else None)
        state.parts.append(Part("output:chart", drawn, tuple(charts)))
    if tables:
        state.parts.append(Part("output:table", OutputAsked(label="table"), (*tables, *charts)))


def reading_of(state: State) -> Reading:
    covered = {item for part in state.parts for item in part.items}
    loose = tuple(item for item in state.cover.items if item not in covered and _means(state, item))
    if any(item.category not in LOOSE for item in loose):
        raise DoesNotCompose("words without a place in what was read")
    said = next((part for part in state.parts if part.items), None)
    if loose and said:
        said.items = (*said.items, *loose)
    requirements = tuple(_requirement(state, part) for part in state.parts)
    return Reading(
        question=state.text,
        language=language_of(state.text),
        tables=(state.meanings.table.name,),
        requirements=with_implied(requirements, state.meanings.table.assume),
        intents=(Intent(name=intent_of(requirements), confidence=1.0),),
    )


def _means(state: State, item: Item) -> bool:
    """Whether it has words that are more than the structure of a sentence."""
    structure = state.meanings.lexicon.structure
    return any(word.lower not in structure for word in state.words[item.first : item.last])


def _requirement(state: State, part: Part) -> Requirement:
    items = sorted(part.items, key=lambda item: item.first)
    evidence = [_evidence(state, *span) for span in _merged([(item.first, item.last) for item in items])]
    return Requirement.model_validate(
        {
            "id": part.id[:256],
            "value": part.value,
            "evidence": evidence[0] if evidence else None,
            "also": tuple(evidence[1:]),
            "implied": not evidence,
            "assumed": tuple(filter(None, part.assumed)),
        }
    )


def _evidence(state: State, first: int, last: int) -> Evidence:
    start, end = state.words[first].start, state.words[last - 1].end
    return Evidence(text=state.text[start:end][:500], start=start)


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for first, last in sorted(set(spans)):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


CONJUNCTIONS = frozenset({"when", "whenever", "if", "unless", "когда", "если"})
STOP = re.compile(r"[.,;:?!]")
DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _check(state: State) -> None:
    _refuse(_what_words_forbid(state))
    if not state.measures and not state.columns and not (state.having and state.groups):
        _count_rows(state)
    for name in (*(g.name for g, _ in state.groups if not g.expression), *(state.columns if state.distinct else ())):
        state.refuse_lists(name)
    for group, _ in state.groups:
        if isinstance(group.expression, Bins):
            state.leave_out_missing(group.expression.of)
    if len(state.measures) == 1:
        _grouped_once(state)
    _refuse(_what_slots_forbid(state))
    single = {c.column for c, _ in state.conditions if len(c.values) == 1 and not c.negated}
    state.penalty += 0.5 * sum(group.name in single for group, _ in state.groups)


def _refuse(reasons: Mapping[str, object]) -> None:
    """Raises for the first reason that holds."""
    for reason, holds in reasons.items():
        if holds:
            raise DoesNotCompose(reason)


def _what_words_forbid(state: State) -> Mapping[str, object]:
    """Words that would be passed over, or mean something else, in what was read."""
    said = [word.lower for word in state.words]
    counts = said[0] in ("number", "count", "how", "сколько", "число", "количество")
    times = [group for group, _ in state.groups if group.time]
    spans = [c.condition for c, _ in state.conditions] if state.meanings.joined else []
    things = [m for m, _ in state.measures if m.counts is not None and not m.counts.is_rows]
    people = people_meant(state) if counts_by_sex(state) else None
    single = {c.column for c, _ in state.conditions if len(c.values) == 1 and not c.negated}
    expressions = [m.expression for m, _ in state.measures]
    counted = [one.of for one in expressions if isinstance(one, Aggregate) and one.function == "count_distinct"]
    distinct = {of.name for of in counted if isinstance(of, Column)}
    return {
        "how many periods, of which a list was read": (
            state.having and counts and times and len(times) == len(state.groups) and state.each is None
        ),
        "a breakdown by nothing": state.all("split", "distribution") and not state.groups,
        "what is so now, in each of several periods": (
            times and any(is_current(state, i) for _, more in state.conditions for i in more)
        ),
        "in one period and in another": any(_are_apart(*pair) for pair in combinations(spans, 2)),
        "where, of which column?": said[-1] in ("where", "где"),
        "those without rows in a period": state.distinct and any(c.negated and c.date for c, _ in state.conditions),
        "whether it lasts so long, of which a number was read": (
            said[0] in ("do", "does", "did") and any(map(_is_how_long, state.conditions))
        ),
        "never, of things with several rows each": (
            (things or state.distinct or state.groups) and {"never", "always", "никогда"} & {*said}
        ),
        "who, of nobody": state.all("who") and not (state.groups or state.columns),
        "each of the best, and all of them together": (
            state.order is not None and (state.order.limit or 1) > 1 and asks_together(state.words)
        ),
        "rows, of women or men": people and not people.entity.is_rows and Rows() in expressions,
        "how many different ones of one": distinct & single,
        "new since when?": state.all("fresh") and not any(c.date for c, _ in state.conditions),
        "a condition of which nothing is known": _has_empty_clause(state),
        "a comparison of nothing": (
            state.all("compared") and not (state.groups or state.sides or len(state.measures) > 1)
        ),
        "a phrase has no place": any(item not in state.used for item in state.cover.items),
    }


def _has_empty_clause(state: State) -> bool:
    """Spent on average, when they buy something: each word is common, and together they choose rows."""
    read = {place for item in state.cover.items for place in range(item.first, item.last)}
    for first, word in enumerate(state.words[:-1]):
        polite = state.words[first + 1].lower in ("you", "possible")
        if first and word.lower in CONJUNCTIONS and first not in read and not polite:
            clause = [first + 1]
            while clause[-1] + 1 < len(state.words) and not STOP.search(state.between(clause[-1])):
                clause.append(clause[-1] + 1)
            if not read & {*clause}:
                return True
    return False


def _is_how_long(condition: tuple[Cond, tuple[Item, ...]]) -> bool:
    match condition[0].condition:
        case Compare(left=Elapsed()):
            return True
    return False


def _count_rows(state: State) -> None:
    """Nothing is measured: rows are counted in groups, or it is asked what is meant."""
    compared = any(c.versus for c, _ in state.conditions)  # women vs men: their number, or what of them?
    if is_unsaid(state) or ((compared or not state.groups) and state.conditions and not state.all("thing")):
        table = state.meanings.table
        known = f"{table.name} has {', '.join(column.name for column in table.columns[:20])}"
        raise NeedsClarification(known, state.measure_names(), said=state.text, link="what")
    if not (state.groups and state.assumes("count_rows")):
        raise DoesNotCompose("nothing is asked for")
    state.measures.append((state.rows_counted(), ()))
    state.penalty += 0.5


def _what_slots_forbid(state: State) -> Mapping[str, object]:
    expressions, names = [m.expression for m, _ in state.measures], [g.name for g, _ in state.groups]
    parts = [e.left for e in expressions if isinstance(e, Arithmetic) and e.operator == "/"]
    shared = [part.where for part in parts if isinstance(part, Rows | Aggregate) and part.where]
    return {
        "rows and measures": state.columns and (state.measures or state.having),
        "a condition on groups without groups": state.having and not state.groups and not state.each,
        "a share of those with at least one, of which each group has one": (
            state.having and not state.each and any(isinstance(i.value, ShareOf) for i in state.used)
        ),
        "a share of rows that are all so": any(map({c.condition for c, _ in state.conditions}.__contains__, shared)),
        "a measure twice": len({*expressions}) < len(expressions),
        "a group twice": len({*names}) < len(names),
        "an average of periods or of rows": averages_periods(state),
        "how long what has not ended lasts": lasts_until_unknown(state),
        "the value of somebody, not an average": _is_of_somebody(state),
    }


def _grouped_once(state: State) -> None:
    """By region, colored by region: one group."""
    once: dict[Group, tuple[Item, ...]] = {}
    for group, items in state.groups:
        once[group] = (*once.get(group, ()), *items)
    state.groups = [*once.items()]


def _is_of_somebody(state: State) -> bool:
    """Anna's salary: rows are people, and nothing says how to put several of that name together."""
    named = any(c.column and state.meanings.of.get(c.column) == "name" for c, _ in state.conditions)
    alone = len(state.measures) == 1 and not (state.groups or state.having or state.order or state.each)
    usual = alone and state.measures[0][0].usual
    return bool(named and usual and state.meanings.person and state.meanings.person.is_rows)


def _are_apart(left: Condition, right: Condition) -> bool:
    """Two spans of one date without a day in common."""
    match left, right:
        case (
            All(parts=(Compare(left=date_, right=Constant(value=start)), Compare(right=Constant(value=end)))),
            All(parts=(Compare(left=other, right=Constant(value=begin)), Compare(right=Constant(value=stop)))),
        ):
            dated = isinstance(start, str) and DAY.match(start) is not None
            return dated and date_ == other and (str(end) <= str(begin) or str(stop) <= str(start))
    return False


STEPS: tuple[Callable[[State], None], ...] = (
    collect,
    read_periods,
    compared_values,
    read_shares,
    read_bare,
    apply_functions,
    read_ranking,
    read_asked,
    count_things_said,
    nest_conditions,
    read_series,
    named_days,
    named_things,
    present_people,
    count_once_each,
    names_alone,
    drawn_over_time,
    _check,
    keep_empty,
    write_parts,
    write_outputs,
)


def assemble(state: State) -> Reading:
    """The reading of groups or rows; the state has the penalty afterwards."""
    for step in STEPS:
        step(state)
    return reading_of(state)
