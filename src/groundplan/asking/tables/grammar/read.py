"""Reads a question by the grammar: the best complete derivation, a question back, or the words left over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import Any

from groundplan.asking.tables.grammar.analyses import LOOKS, analyse, is_drawn_count, is_pair, look_of
from groundplan.asking.tables.grammar.assemble import assemble
from groundplan.asking.tables.grammar.chart import Chart, Cover, covers
from groundplan.asking.tables.grammar.meanings import LASTING, Meanings
from groundplan.asking.tables.grammar.named_metrics import measured_tables
from groundplan.asking.tables.grammar.near import columns_meant
from groundplan.asking.tables.grammar.phrases import Mark, Thing
from groundplan.asking.tables.grammar.rules import MONEY, Builders, rules_for
from groundplan.asking.tables.grammar.senses import Senses
from groundplan.asking.tables.grammar.state import (
    USABLE,
    DoesNotCompose,
    NamesElsewhere,
    NeedsClarification,
    State,
    Unsound,
)
from groundplan.asking.tables.grammar.vocabulary import Vocabulary
from groundplan.asking.tables.grammar.wide import Wide, over_tables
from groundplan.contracts.answer import Clarification, Refusal, refused
from groundplan.contracts.expression import Aggregate, Arithmetic, Column, Expression, Rows, columns_of
from groundplan.contracts.join_paths import foreign
from groundplan.contracts.meaning import Meaning, meaning_of, measure_of
from groundplan.contracts.reading import AnalysisAsked, GroupBy, Metric, OutputAsked, Rank, Reading, Value
from groundplan.contracts.schema import Column as Described
from groundplan.contracts.schema import NamedMetric, SourceSchema, Table
from groundplan.text.names import split_name
from groundplan.text.periods.find import find_periods
from groundplan.text.periods.pairs import set_apart
from groundplan.text.read_back import distinct_sentences
from groundplan.text.similar import Nearness
from groundplan.text.stems import lower, stem
from groundplan.text.words import Word, language_of, normalise, words_of

JOIN = 0.05  # for each table that a reading needs: of two that explain as much, the one with fewer
CONJUNCTIONS = frozenset({"and", "or", "и", "или"})
SOLD = frozenset(
    {"sold", "sell", "sells", "bought", "buy", "buys", "продано", "продали", "продают", "купили", "куплено"}
)
QUANTITIES = frozenset({"qty", "quantity", "units", "pieces", "pcs"})  # words of columns that count units
ELSEWHERE = 0.5  # for counting what has a table of its own in a table that points at it
CLOSE = 0.15  # derivations whose scores differ less are equally likely
MOST_DATES = 20  # by which rows may be dated that are held against each other: a hostile table has hundreds


@dataclass(frozen=True)
class Derived:
    """A complete reading and its score; or why there is none."""

    reading: Reading | None = None
    score: float = 0.0
    others: tuple[Reading, ...] = ()  # just as likely, with another meaning
    unread: tuple[str, ...] = ()
    unsaid: NeedsClarification | None = None
    unsound: Unsound | None = None
    corrected: tuple[tuple[str, str], ...] = ()
    names_elsewhere: bool = False  # what explains more needs the names that another table has

    @property
    def is_decided(self) -> bool:
        return self.reading is not None or self.unsound is not None


def derive(
    question: str,
    table: Table,
    values: Mapping[str, tuple[str, ...]],
    *,
    today: date,
    timezone: str = "UTC",
    nearness: Nearness | None = None,
    pointers: frozenset[str] = frozenset(),
    wide: Wide | None = None,
    metrics: Sequence[NamedMetric] = (),
    elsewhere: frozenset[str] = frozenset(),
    vocabulary: Vocabulary | None = None,
) -> Derived:
    """By one table. `nearness` is asked about words that nothing else explains; `elsewhere`: nouns of other tables."""
    known: Any = {"today": today, "timezone": timezone, "pointers": pointers, "wide": wide, "metrics": metrics}
    known |= {"elsewhere": elsewhere, "vocabulary": vocabulary or Vocabulary()}
    senses, builders = senses_of(question, table, values, **known)
    best = _derived(senses, builders, nearness, wide)
    if best.reading is None:
        return best
    own = meaning_of(best.reading)
    other_dates = _other_dates(senses.meanings)[:MOST_DATES]
    rivals: list[Mapping[str, Any]] = [{"dated_by": column.name} for column in other_dates]
    if own.things is not None and any(len(key) == 1 for key in table.keys):  # pay of an employee, or of a job code?
        rivals.append({"once": False})
    if any(map(_is_share_of_some, own.measures)) and own.groups:
        rivals.append({"shares_limit": True})
    if Rows() in own.measures and builders.money is not None and _names_money(senses):
        rivals.append({"rows_are_money": True})
    rivals += [{"dated_by": name} for name in islice(_later_dates(own, senses.meanings), MOST_DATES)]
    by_other = [
        _derived(*senses_of(question, table, values, **known, changes=changes), nearness, wide).reading
        for changes in rivals
    ]
    others = [reading for reading in by_other if reading is not None and meaning_of(reading) != own]
    others += [*_by_other_functions(best.reading, table), *_by_quantity(best.reading, senses)]
    return replace(best, others=(*best.others, *others))


def _other_dates(meanings: Meanings) -> Sequence[Described]:
    """Dates that may be meant as well as the main one; all of them where the model file lets nothing be assumed."""
    if "main_date" in meanings.table.assume:
        return meanings.main_dates[1:]
    return [column for column in meanings.dates if column != meanings.main_date]


def _by_other_functions(reading: Reading, table: Table) -> Iterator[Reading]:
    """The total and the average instead of the usual function: of hours, and where the model file lets nothing be
    assumed."""
    looked = any(isinstance(r.value, AnalysisAsked) and r.value.label in LOOKS for r in reading.requirements)
    metrics = [r.value for r in reading.requirements if isinstance(r.value, Metric) and r.value.usual]
    usual = {metric.usual for metric in metrics}
    spent = any(lower(metric.column or "") in LASTING for metric in metrics)  # of work, or of each job?
    if ("usual_function" in table.assume and not spent) or looked or not usual:
        return
    for function in {"sum", "mean"} - usual:
        parts = tuple(
            r.model_copy(update={"value": r.value.model_copy(update={"usual": None, "function": function})})
            if isinstance(r.value, Metric) and r.value.usual
            else r
            for r in reading.requirements
        )
        yield reading.model_copy(update={"requirements": parts})


def _by_quantity(reading: Reading, senses: Senses) -> Iterator[Reading]:
    """How many tickets were sold: as many as rows, or as their quantities come to?"""
    quantities = [column for column in senses.meanings.table.columns if QUANTITIES & {*split_name(column.name)}]
    if len(quantities) != 1 or not any(word.lower in SOLD for word in senses.words):
        return
    total = Aggregate(function="sum", of=Column(name=quantities[0].name))
    rows = [r for r in reading.requirements if isinstance(r.value, Metric) and measure_of(r.value) == Rows()]
    for counted in rows[:1]:
        value = Metric(expression=total, name=quantities[0].name)
        parts = (r.model_copy(update={"value": value}) if r is counted else r for r in reading.requirements)
        yield reading.model_copy(update={"requirements": tuple(parts)})


def _later_dates(own: Meaning, meanings: Meanings) -> Iterator[str]:
    """End dates that could date this measure; offered as alternatives."""
    measured = [meanings.table.find(name) for measure in own.measures for name in columns_of(measure)]
    fewest = min(((column.nulls or 0) if column else 0 for column in measured), default=0)
    for date_ in meanings.dates:
        if 0 < (date_.nulls or 0) <= fewest and date_ not in meanings.planned_dates:
            yield date_.name


def _names_money(senses: Senses) -> bool:
    """Whether a noun for the rows is also a word for money: charges, expenses, sales."""
    places = {i.first for i in senses.items if isinstance(i.value, Mark) and i.value.value in MONEY}
    return any(isinstance(i.value, Thing) and i.value.entity.is_rows and i.first in places for i in senses.items)


def _is_share_of_some(measure: Expression) -> bool:
    """The online part of the revenue; with groups it may as well be each group's part of the online revenue."""
    match measure:
        case Arithmetic(operator="/", left=Aggregate(function="sum", of=part, where=some), right=Aggregate(of=whole)):
            return some is not None and part == whole
    return False


def _derived(senses: Senses, builders: Builders, nearness: Nearness | None, wide: Wide | None) -> Derived:
    senses.items += [*senses.compounds()]
    found = covers_of(senses, builders)
    unread = found[0].unread if found and nearness else ()
    meant = [*columns_meant(senses, unread, nearness)] if nearness else []
    if meant:
        senses.items += meant
        senses.items += [*senses.compounds()]
        found = covers_of(senses, builders)
    return _best(found, senses, builders, wide)


def covers_of(senses: Senses, builders: Builders) -> list[Cover]:
    skippable = senses.skippable()
    joining = [word.lower in CONJUNCTIONS for word in senses.words]  # sales and profit are two
    within = [may and not joins for may, joins in zip(skippable, joining, strict=True)]
    chart = Chart(rules_for(builders), within, senses.parts_begin())
    return covers(chart.parse(senses.items), skippable, USABLE)


def senses_of(
    question: str,
    table: Table,
    values: Mapping[str, tuple[str, ...]],
    *,
    today: date,
    timezone: str,
    pointers: frozenset[str] = frozenset(),
    wide: Wide | None = None,
    metrics: Sequence[NamedMetric] = (),
    elsewhere: frozenset[str] = frozenset(),
    changes: Mapping[str, Any] | None = None,
    vocabulary: Vocabulary | None = None,
) -> tuple[Senses, Builders]:
    """Possible meanings of the words in the table, and their composition. `changes`: to how it is understood."""
    text = normalise(question)
    words = words_of(text)
    changes = {"elsewhere": elsewhere, **(changes or {})}
    meanings, names = (vocabulary or Vocabulary()).of(table, values, pointers, wide, metrics, changes)
    periods = set_apart(text, words, find_periods(text, today, timezone), today, timezone)
    senses = Senses(text, words, meanings, names, periods)
    senses.find()
    return senses, Builders(meanings, senses.amount("revenue"), today)


def _best(found: list[Cover], senses: Senses, builders: Builders, wide: Wide | None) -> Derived:
    made: list[tuple[float, Reading]] = []
    unsaid: NeedsClarification | None = None
    names_elsewhere = False
    complete = [cover for cover in found if cover.found and not cover.unread]
    for cover in complete:
        for compose in ways_to_compose(cover, senses.words):
            state = State(cover, senses.words, senses.text, builders)
            try:
                reading = over_tables(compose(state), wide) if wide else compose(state)
            except DoesNotCompose as reason:
                names_elsewhere |= isinstance(reason, NamesElsewhere) and not made
            except Unsound as unsound:
                if not made:
                    return Derived(score=cover.score, unsound=unsound)
            except NeedsClarification as missing:
                if unsaid is None and not made:
                    unsaid = missing
            else:
                made.append((cover.score - state.penalty, reading))
                break
    corrected = tuple((senses.words[place].text, meant) for place, meant in senses.corrected.items())
    if not made:
        best = found[0] if found else Cover((), (), 0.0)
        unread = tuple(senses.words[place].text for place in _unknown(best, senses)) if not complete else ()
        return Derived(unread=unread, unsaid=unsaid, corrected=corrected, names_elsewhere=names_elsewhere)
    made.sort(key=lambda pair: -pair[0])
    score, reading = made[0]
    own = meaning_of(reading)
    others = tuple(r for s, r in made[1:] if score - s < CLOSE and meaning_of(r) != own)
    return Derived(reading, score, others, unsaid=unsaid, corrected=corrected, names_elsewhere=names_elsewhere)


def _unknown(cover: Cover, senses: Senses) -> tuple[int, ...]:
    """The places of words that nothing knows, with those behind them: churn rate. Else of all that have no place."""
    known = {place for item in senses.items for place in range(item.first, item.last)}
    found: list[int] = []
    for place in cover.unread:
        if place not in known or (found and found[-1] == place - 1):
            found.append(place)
    return tuple(found) or cover.unread


def ways_to_compose(cover: Cover, words: Sequence[Word]) -> tuple[Callable[[State], Reading], ...]:
    """A distribution over groups is a breakdown by them; a histogram of groups is drawn with bars; a ranking is one."""
    look = look_of(cover)
    if look is None:
        return (assemble, analyse) if is_pair(cover) or is_drawn_count(cover, words) else (assemble,)
    ranked = any(item.category == "rank" for item in cover.items)
    return (analyse, assemble) if look == "distribution" or ranked else (analyse,)


def derive_best(
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Mapping[str, tuple[str, ...]]],
    *,
    today: date,
    timezone: str = "UTC",
    nearness: Nearness | None = None,
    vocabulary: Vocabulary | None = None,
) -> Derived:
    """By one table, with what its rows point at."""
    known = vocabulary or Vocabulary()
    best = _by_one_table(question, schema, values, known, today=today, timezone=timezone, nearness=nearness)
    if best.reading is not None and _measures_two_tables(best.reading, schema):
        return replace(best, reading=None, others=())
    return best


def _measures_two_tables(reading: Reading, schema: SourceSchema) -> bool:
    """Orders and what their items come to: counted where the items are, orders without any would be lost."""
    several = sum(isinstance(requirement.value, Metric) for requirement in reading.requirements) > 1
    return several and _counts_pointers(reading, schema)


def _by_one_table(
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Mapping[str, tuple[str, ...]]],
    vocabulary: Vocabulary,
    *,
    today: date,
    timezone: str,
    nearness: Nearness | None,
) -> Derived:
    """By the table whose derivation explains the question best; with what its rows point at where none does alone.

    A question that names a metric of the model file is about the rows that the metric measures.
    """
    measured = measured_tables(question, schema)
    tables = [table for table in schema.tables if not measured or table.name in measured]

    def joined(wide: Wide) -> Derived:
        return derive(
            question,
            wide.table,
            wide.values,
            today=today,
            timezone=timezone,
            wide=wide,
            metrics=[metric for metric in schema.metrics if metric.table == wide.table.name],
            elsewhere=_nouns_elsewhere(wide.table, schema),
            vocabulary=vocabulary,
        )

    found = [
        derive(
            question,
            table,
            values.get(table.name, {}),
            today=today,
            timezone=timezone,
            nearness=nearness,
            pointers=frozenset(link.columns[0] for link in schema.relationships if link.table == table.name),
            metrics=[m for m in schema.metrics if m.table == table.name and not [*foreign(m.expression, m.table)]],
            elsewhere=_nouns_elsewhere(table, schema),
            vocabulary=vocabulary,
        )
        for table in tables
        if table.columns
    ]
    found = [_counted_at_home(one, schema) for one in found]
    best = max(found, key=lambda one: (one.is_decided, one.score, -len(one.unread)), default=Derived())
    if best.reading is not None and _groups_by_pointer(best.reading, schema):
        own = next(table for table in tables if table.name == best.reading.tables[0])
        named = vocabulary.wide(own, schema, values)
        return _with_names(best, joined(named)) if named else best
    if (best.is_decided and not best.names_elsewhere) or not schema.relationships:
        return best
    wide = [made for table in tables if (made := vocabulary.wide(table, schema, values))]
    found = [_counted_at_home(one, schema) for one in map(joined, wide) if one.is_decided]
    return max([best, *found] if best.is_decided else found, key=_joined_score) if found else best


def _groups_by_pointer(reading: Reading, schema: SourceSchema) -> bool:
    pointers = {(link.table, link.columns) for link in schema.relationships}
    groups = [r.value for r in reading.requirements if isinstance(r.value, GroupBy)]
    return any((reading.tables[0], (group.column,)) in pointers for group in groups)


def _with_names(own: Derived, joined: Derived) -> Derived:
    """The same reading with what things are called in the tables that the ids point at, beside the ids or, where each
    id has its own name, instead of them; itself where more changes."""
    if own.reading is None or joined.reading is None:
        return own
    shown = (OutputAsked, AnalysisAsked)  # a chart of one group more may not be implied
    known, found = (
        {r.id: r.value for r in one.requirements if not (r.implied and isinstance(r.value, shown))}
        for one in (own.reading, joined.reading)
    )
    added = [value for id_, value in found.items() if id_ not in known]
    ids = {id_ for id_, value in known.items() if isinstance(value, GroupBy) and id_ not in found and added}
    same = all(_is_same(value, found.get(id_), bool(ids)) for id_, value in known.items() if id_ not in ids)
    return replace(own, reading=joined.reading) if same and all(isinstance(v, GroupBy) for v in added) else own


def _is_same(own: Value, joined: Value | None, renamed: bool) -> bool:
    """Whether both are the same; a ranking may be within groups that go by another name."""
    if renamed and isinstance(own, Rank) and isinstance(joined, Rank):
        own = own.model_copy(update={"within": joined.within})
    return own == joined


def _counted_at_home(derived: Derived, schema: SourceSchema) -> Derived:
    """With a lower score if it counts orders in a table that points at them: some orders have no row there."""
    away = derived.reading is not None and _counts_pointers(derived.reading, schema)
    return replace(derived, score=derived.score - ELSEWHERE) if away else derived


def _counts_pointers(reading: Reading, schema: SourceSchema) -> bool:
    pointers = {(link.table, link.columns) for link in schema.relationships}
    for requirement in reading.requirements:
        match measure_of(requirement.value) if isinstance(requirement.value, Metric) else None:
            case Aggregate(function="count_distinct", of=Column(name=name, table=table)):
                if (table or reading.tables[0], (name,)) in pointers:
                    return True
    return False


def _nouns_elsewhere(table: Table, schema: SourceSchema) -> frozenset[str]:
    """The rows of `order_items` are not called orders where `orders` is a table, nor products units where sales have a
    quantity."""
    others = [other for other in schema.tables if other.name != table.name]
    names = {split_name(other.name) for other in others}
    numbers = {split_name(column.name) for other in others for column in other.columns if column.kind == "number"}
    own = {stem(word) for word in split_name(table.name)}
    counted = frozenset({stem("unit")} if any(QUANTITIES & {*name} for name in numbers) else ())
    return (counted | {stem(name[0]) for name in names | numbers if len(name) == 1}) - own


def _joined_score(derived: Derived) -> float:
    return derived.score - JOIN * len(derived.reading.tables if derived.reading else ())


TEXTS = {
    "en": {
        "several": "This can be understood in several ways. Which one do you mean?",
        "rows": "What do you want to know of these rows? {}.",
        "lacking": "'{}' {} what?",
        "measure": "'{}': by which measure?",
        "could be": " It could be {}.",
        "count": "number of rows",
        "by": "by",
        "of": "of",
    },
    "ru": {
        "several": "Это можно понять по-разному. Что имеется в виду?",
        "rows": "Что нужно узнать об этих строках? {}.",
        "lacking": "«{}»: {} чему?",
        "measure": "«{}»: по какому показателю?",
        "could be": " Это может быть: {}.",
        "count": "количество строк",
        "by": "по",
        "of": "по",
    },
}
"""Questions back, and the words that complete a question."""


def decided(derived: Derived, question: str) -> Reading | Clarification | Refusal | None:
    """The reading; a question back where several are as likely or something has to be said; a refusal of what must
    not be computed; None without any."""
    if derived.unsound is not None:
        return refused("reading/unsound", derived.unsound.problem, derived.unsound.hint)
    if derived.reading is not None and not derived.others:
        return derived.reading
    texts = TEXTS["ru" if language_of(question) == "ru" else "en"]
    if derived.reading is not None:
        readings = (derived.reading, *derived.others[:3])
        told = distinct_sentences(readings)
        return Clarification(text=texts["several"], missing=normalise(question), candidates=told, readings=readings)
    return _lacking(derived.unsaid, normalise(question), texts) if derived.unsaid else None


def _lacking(unsaid: NeedsClarification, question: str, texts: Mapping[str, str]) -> Clarification:
    """`share` by what? `anomalies` of what? `the best` by which measure?"""
    names = unsaid.choices[:8]
    if unsaid.link == "what":
        text, names = texts["rows"].format(unsaid.what), (texts["count"], *names)
        return Clarification(text=text, missing=unsaid.said, candidates=names, put="{choice} {missing}")
    listed = texts["could be"].format(", ".join(names)) if len(names) > 1 else ""
    said, link = unsaid.said or question, texts[unsaid.link]
    text = texts["lacking" if unsaid.said else "measure"].format(said, link)
    return Clarification(text=text + listed, missing=said, candidates=names, put=f"{{missing}} {link} {{choice}}")
