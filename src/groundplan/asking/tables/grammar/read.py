"""Reads a question by the grammar: the best complete derivation, a question back, or the words left over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from groundplan.asking.tables.grammar.assemble import USABLE, Assembly, Unfit, Unsaid
from groundplan.asking.tables.grammar.chart import Chart, Cover, covers
from groundplan.asking.tables.grammar.meanings import meanings_of
from groundplan.asking.tables.grammar.names import Names
from groundplan.asking.tables.grammar.rules import Builders, rules_for
from groundplan.asking.tables.grammar.senses import Senses
from groundplan.asking.tables.grammar.wide import Wide, over_tables, widened
from groundplan.contracts.answer import Clarification
from groundplan.contracts.expression import Share, walk
from groundplan.contracts.join_paths import foreign
from groundplan.contracts.meaning import meaning_of
from groundplan.contracts.reading import ColumnsAsked, OutputAsked, Reading
from groundplan.contracts.schema import NamedMetric, SourceSchema, Table
from groundplan.text.periods.find import find_periods
from groundplan.text.periods.pairs import set_apart
from groundplan.text.read_back import told_apart
from groundplan.text.words import normalise, words_of

JOIN = 0.05  # for each table that a reading needs: of two that explain as much, the one with fewer
CLOSE = 0.15  # derivations whose scores differ less are equally likely


@dataclass(frozen=True)
class Derived:
    """A complete reading and its score; or why there is none."""

    reading: Reading | None = None
    score: float = 0.0
    others: tuple[Reading, ...] = ()  # just as likely, with another meaning
    unread: tuple[str, ...] = ()
    unsaid: Unsaid | None = None
    why: tuple[str, ...] = ()  # for whoever develops the grammar
    corrected: tuple[tuple[str, str], ...] = ()


def derive(
    question: str,
    table: Table,
    values: Mapping[str, tuple[str, ...]],
    *,
    today: date,
    timezone: str = "UTC",
    pointers: frozenset[str] = frozenset(),
    wide: Wide | None = None,
    metrics: Sequence[NamedMetric] = (),
) -> Derived:
    text = normalise(question)
    words = words_of(text)
    meanings = meanings_of(table, values, pointers, wide.joined if wide else None, metrics)
    periods = set_apart(text, words, find_periods(text, today, timezone), today, timezone)
    names = Names(meanings)
    senses = Senses(text, words, meanings, names, periods)
    items = senses.find()
    words = senses.words
    skippable = senses.skippable()
    builders = Builders(meanings, senses.amount("revenue"))
    chart = Chart(rules_for(builders), skippable)
    found = covers(chart.parse(items), skippable, USABLE)
    return _best(found, senses, builders, wide)


def _best(found: list[Cover], senses: Senses, builders: Builders, wide: Wide | None) -> Derived:
    made: list[tuple[float, Reading]] = []
    why: list[str] = []
    unsaid: Unsaid | None = None
    complete = [cover for cover in found if not cover.unread]
    for cover in complete:
        assembly = Assembly(cover, senses.words, senses.text, builders)
        try:
            reading = over_tables(assembly.read(), wide) if wide else assembly.read()
        except Unfit as unfit:
            why.append(f"{unfit} :: {' '.join(item.category for item in cover.items)}")
            continue
        except Unsaid as missing:
            if unsaid is None and not made:
                unsaid = missing
                why.append(f"unsaid :: {' '.join(item.category for item in cover.items)}")
            continue
        made.append((cover.score - assembly.penalty, reading))
    corrected = tuple((senses.words[place].text, meant) for place, meant in senses.corrected.items())
    if not made:
        best = found[0] if found else Cover((), (), 0.0)
        unread = tuple(senses.words[place].text for place in best.unread) if not complete else ()
        return Derived(unread=unread, unsaid=unsaid, why=tuple(why), corrected=corrected)
    made.sort(key=lambda pair: -pair[0])
    score, reading = made[0]
    own = meaning_of(reading)
    others = tuple(r for s, r in made[1:] if score - s < CLOSE and meaning_of(r) != own)
    return Derived(reading, score, others, unsaid=unsaid, why=tuple(why), corrected=corrected)


def derive_best(
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Mapping[str, tuple[str, ...]]],
    *,
    today: date,
    timezone: str = "UTC",
) -> Derived:
    """By the table whose derivation explains the question best; with what its rows point at where none does alone."""
    found = [
        derive(
            question,
            table,
            values.get(table.name, {}),
            today=today,
            timezone=timezone,
            pointers=frozenset(link.columns[0] for link in schema.relationships if link.table == table.name),
            metrics=[m for m in schema.metrics if m.table == table.name and not [*foreign(m.expression, m.table)]],
        )
        for table in schema.tables
        if table.columns
    ]
    best = max(found, key=lambda one: (one.reading is not None, one.score, -len(one.unread)), default=Derived())
    if best.reading is not None or not schema.relationships:
        return best
    for pointed_at in (False, True):  # whether rows are chosen by what points at them
        wide = [made for table in schema.tables if (made := widened(table, schema, values, pointed_at=pointed_at))]
        joined = [
            derive(
                question,
                one.table,
                one.values,
                today=today,
                timezone=timezone,
                wide=one,
                metrics=[metric for metric in schema.metrics if metric.table == one.table.name],
            )
            for one in wide
        ]
        found = [one for one in joined if one.reading is not None]
        if found:
            return max(found, key=_joined_score)
    return best


def _joined_score(derived: Derived) -> float:
    return derived.score - JOIN * len(derived.reading.tables if derived.reading else ())


def decided(derived: Derived, question: str) -> Reading | Clarification | None:
    """The reading; a question back where several are as likely or something has to be said; None without either."""
    if derived.reading is not None and not derived.others:
        return derived.reading
    if derived.reading is not None:
        readings = (derived.reading, *derived.others[:3])
        return Clarification(
            text="This can be understood in several ways. Which one do you mean?",
            missing=normalise(question),
            candidates=told_apart(readings),
        )
    if derived.unsaid is not None:
        names = derived.unsaid.choices[:8]
        listed = f" It could be {', '.join(names)}." if names else ""
        text = normalise(question)
        return Clarification(
            text=f"{text!r}: by which measure?{listed}", missing=text, candidates=names, put="{missing} by {choice}"
        )
    return None


TEMPLATES = frozenset({"periods", "anomaly", "correlation", "summary", "distribution"})


def says_the_same(plain: Reading, derived: Derived) -> bool:
    """Whether the reading by cues means what was derived, or asks for an analysis that has a template of its own."""
    if derived.unsaid is not None and derived.reading is None:
        return False
    intents = {intent.name for intent in plain.intents}
    if intents & TEMPLATES:
        return True
    if derived.reading is None:  # where every word is known and they make no question, none is guessed
        drawn = [r for r in plain.requirements if isinstance(r.value, OutputAsked) and r.value.label == "chart"]
        return bool(derived.unread) or any(not requirement.implied for requirement in drawn)
    if derived.others:
        return False
    shares = any(isinstance(node, Share) for measure in meaning_of(derived.reading).measures for node in walk(measure))
    rows = any(isinstance(r.value, ColumnsAsked) for r in derived.reading.requirements)
    if ("share" in intents and shares) or ("detail" in intents and rows):
        return True
    return meaning_of(plain) == meaning_of(derived.reading)
