"""The plan's tables mean what the reading means: the two are compared in one normal form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from groundplan.checking.draft import Draft
from groundplan.checking.params import expressions
from groundplan.checking.relation import Relation
from groundplan.contracts.expression import (
    Aggregate,
    All,
    Among,
    Column,
    Condition,
    DateCut,
    Expression,
    Node,
    Ties,
    level,
    misplaced,
    parts,
    walk,
)
from groundplan.contracts.issue import Issue
from groundplan.contracts.meaning import Meaning, Sorting, meaning_of
from groundplan.contracts.normal_form import in_whole_days
from groundplan.contracts.reading import Each, GroupBy, Metric, Rank, Reading, Requirement, Time, Value
from groundplan.contracts.wording import in_words


def differs(draft: Draft) -> Iterator[Issue]:
    """What a plan shows is what was asked: the same rows, groups, measures, order and cut.

    Steps are followed in the language of readings, without running them; the result must equal the reading. A plan
    for a plain reading may use tools that cannot be followed; then each requirement is checked by itself.

    Fails: the share of refunded orders was asked for, and the plan divides by the rows that were not refunded.
    """
    if not draft.is_compared and not _says_more(draft):
        return
    asked = meaning_of(draft.rooted)
    for step in draft.shown:
        done = draft.relations.get(step.id)
        drawn = step.tool != "show_table" and asked.limit is None  # a chart of all groups has an order of its own
        for problem, lacking in _differences(*_alike(asked, draft, done), drawn) if done else [INCOMPARABLE]:
            yield Issue(
                code="meaning/differs",
                step=step.id,
                requirement=_asking(draft.rooted, lacking),
                path=f"steps.{draft.plan.steps.index(step)}",
                problem=f"step {step.id!r} does not show what was asked: {problem}",
                hint="change the steps before it, so that they do exactly what was asked",
            )


TIES: Mapping[Ties, str] = {"cut": "", "kept": ", ties kept", "as_one": ", ties kept and counted once"}
Difference = tuple[str, Node | None]
"""In words, and what is lacking, where that is one thing."""

INCOMPARABLE: Difference = ("what it shows cannot be compared with the question", None)


def _asking(reading: Reading, lacking: Node | None) -> str | None:
    """The requirement that asks for what is lacking."""
    for requirement in reading.requirements if lacking is not None else ():
        alone = meaning_of(reading.model_copy(update={"requirements": (requirement,)}))
        if lacking in (alone.where, alone.having, *alone.groups, *alone.measures):
            return requirement.id
    return None


def _says_more(draft: Draft) -> bool:
    """Whether the plan says what the rules for plain readings do not look at."""
    hides = any(step.tool == "show_table" and step.params.get("hide") for step in draft.plan.steps)
    return hides or any(True for _, step, tool in draft.tool_steps() for _ in expressions(step, tool))


def _alike(asked: Meaning, draft: Draft, done: Relation) -> tuple[Meaning, Relation]:
    """Both, written alike: open choices are made, and days are compared by their beginnings."""
    asked = _settled(asked, draft, done)
    times = {
        (owner, column.name)
        for schema in draft.schemas.values()
        for table in schema.tables
        for owner in ((None, table.name) if table.name == done.table else (table.name,))
        for column in table.columns
        if column.kind == "time"
    }
    if asked.where is None or done.where is None or asked.where == done.where:
        return asked, done
    return (
        replace(asked, where=in_whole_days(asked.where, times)),
        replace(done, where=in_whole_days(done.where, times)),
    )


def _settled(asked: Meaning, draft: Draft, done: Relation) -> Meaning:
    """What was asked, with the choices that the reading leaves open made as the plan makes them."""
    tables = draft.tables(done.table)
    keys = {key[0] for table in tables for key in table.keys if len(key) == 1}
    made = {value for value in done.columns.values() if isinstance(value, Aggregate) and value.where is None}
    values = [_chosen(requirement.value, done, made, keys) for requirement in draft.rooted.requirements]
    if all(value is r.value for value, r in zip(values, draft.rooted.requirements, strict=True)):
        return asked
    chosen = [r.model_copy(update={"value": value}) for value, r in zip(values, draft.rooted.requirements, strict=True)]
    return meaning_of(draft.rooted.model_copy(update={"requirements": tuple(chosen)}))


def _chosen(value: Value, done: Relation, made: Collection[Aggregate], keys: Collection[str]) -> Value:
    match value:
        case Metric(expression=None, column=None):  # a column that identifies rows is in each of them once
            counted = [one.of.name for one in made if one.function == "count" and isinstance(one.of, Column)]
            key = next((name for name in counted if name in keys), None)
            return value.model_copy(update={"column": key, "function": "count"}) if key else value
        case Metric(expression=None, column=column, function=None, usual=None):
            functions = sorted(one.function for one in made if one.of == Column(name=column or ""))
            return value.model_copy(update={"function": functions[0]}) if functions else value
        case Time(column=column, grain=None) if Column(name=column) in (done.groups or ()):
            return GroupBy(column=column)
        case Time(column=column, grain=None):
            cuts = [group for group in done.groups or () if isinstance(group, DateCut)]
            grains = [cut.grain for cut in cuts if cut.of == Column(name=column)]
            return value.model_copy(update={"grain": grains[0]}) if grains else value
        case _:
            return value


def _differences(asked: Meaning, done: Relation, drawn: bool) -> Iterator[Difference]:
    if asked.table and asked.table != done.table:
        yield f"it reads {done.table!r} and the question is about {asked.table!r}", None
    if asked.things != done.things:
        yield f"it groups {_things(done)} first, and {_things(asked)} was asked", None
    for name, wanted, kept in (("rows", asked.where, done.where), ("groups", asked.having, done.having)):
        if wanted != kept:
            lacking = next((part for part in _all_of(wanted) if part not in _all_of(kept)), None)
            yield f"it keeps {name} where {in_words(kept)}, and {in_words(wanted)} was asked", lacking
    if asked.measures or asked.groups:
        yield from _other_groups(asked, done)
        yield from _other_values(asked, done)
    else:
        yield from _other_columns(asked, done)
    if asked.sorting and not drawn:
        yield from _other_order(asked, done)
    told = not asked.measures and not asked.groups and asked.limit is None and not done.cut_by
    wanted_cut, made_cut = ((one.limit, one.within, one.ties) for one in (asked, done))
    if wanted_cut != made_cut and not told:  # the answer tells how many are shown
        cuts = [f"{one.limit or 'all'} {_within(one)}{TIES[one.ties]}" for one in (done, asked)]
        yield f"it keeps {cuts[0]}, and {cuts[1]} was asked", None


def _other_order(asked: Meaning, done: Relation) -> Iterator[Difference]:
    """Ties may be ordered by more than was asked, but not where rows are cut off."""
    orders = {done.order[: len(asked.sorting)], *([done.cut_by] if done.limit is not None else [])}
    for made in sorted(orders - {asked.sorting}, key=_sorting):
        yield f"it orders by {_sorting(made)}, and {_sorting(asked.sorting)} was asked", None


def _all_of(condition: Condition | None) -> tuple[Condition, ...]:
    if condition is None:
        return ()
    return condition.parts if isinstance(condition, All) else (condition,)


def _other_groups(asked: Meaning, done: Relation) -> Iterator[Difference]:
    if asked.groups != done.groups:
        made, wanted = (
            ", ".join(sorted(in_words(group) for group in one.groups or ())) or "nothing" for one in (done, asked)
        )
        lacking = min(asked.groups - (done.groups or frozenset()), key=in_words, default=None)
        yield f"it groups by {made}, and {wanted} was asked", lacking
    if asked.along != done.along:
        made, wanted = (in_words(one.along) if one.along else "nothing" for one in (done, asked))
        yield f"it follows a series along {made}, and {wanted} was asked", None


def _other_values(asked: Meaning, done: Relation) -> Iterator[Difference]:
    names = done.shown if done.shown is not None else tuple(done.columns)
    other = asked.groups ^ (done.groups or frozenset())  # told as groups
    shown = Counter(value for value in map(done.column, names) if value not in other)
    # counted, as a number of things by a number of theirs may look the same
    wanted = Counter(value for value in (*asked.groups, *asked.measures) if value not in other)
    for value in sorted(wanted - shown, key=in_words):
        yield f"it does not show {in_words(value)}", value
    known = {part for measure in _choosing(asked) for part in walk(measure)}
    for value, times in sorted((shown - wanted).items(), key=lambda item: in_words(item[0])):
        if level(value) == "row" or not {*_followed(value)} <= known:
            yield f"it shows {in_words(value)}, and nobody asked for that", None
        elif times > 1:
            yield f"it shows {in_words(value)} under two names", None


def _choosing(asked: Meaning) -> Iterator[Expression]:
    """What may be shown beside the measures: their parts, and what groups were chosen or ordered by."""
    yield from asked.measures
    if asked.having is not None:
        yield from (part for part in walk(asked.having) if level(part) != "row")  # type: ignore[misc]
    if asked.order is not None and asked.order_shown:
        yield asked.order[0]


def _followed(value: Expression) -> Iterator[Expression]:
    """The measures that a share, a change or a running total looks along; of another value, the value itself."""
    if level(value) != "series":
        yield value
    else:
        for part in parts(value):
            if level(part) != "row":
                yield from _followed(part)  # type: ignore[arg-type]  # a condition is of a row


def _other_columns(asked: Meaning, done: Relation) -> Iterator[Difference]:
    if done.groups is not None:
        yield "it groups the rows, and the rows themselves were asked for", None
        return
    if not asked.columns:
        return
    shown = [done.column(name) for name in done.shown or ()]
    allowed = {*asked.columns, *([asked.order[0]] if asked.order and asked.order_shown else [])}
    if not {*asked.columns} <= {*shown} or not {*shown} <= allowed or asked.distinct != done.distinct:
        made = ", ".join(map(in_words, shown)) or "all columns"
        yield f"it shows {made}, and {', '.join(map(in_words, asked.columns))} was asked", None


def _things(meaning: Meaning | Relation) -> str:
    if meaning.things is None:
        return "nothing"
    where = f" where {in_words(meaning.things.where)}" if meaning.things.where else ""
    return " and ".join(sorted(map(in_words, meaning.things.keys))) + where


def _sorting(order: tuple[Sorting, ...]) -> str:
    told = (f"{in_words(by)}, {'highest' if descending else 'lowest'} first" for by, descending in order)
    return ", then ".join(told) or "nothing"


def _within(meaning: Meaning | Relation) -> str:
    groups = " and ".join(sorted(map(in_words, meaning.within)))
    return f"rows of each {groups}" if groups else "rows"


def unfit_expression(draft: Draft) -> Iterator[Issue]:
    """An expression's parts fit each other: a sum is of rows, a share is of groups.

    Fails: the average of a sum is taken without saying of which things the sums are.
    """
    for requirement in draft.reading.requirements:
        for node in _expressions_of(requirement):
            why = misplaced(node) or _misplaced_ranking(requirement, node) or _misplaced_key(requirement, node)
            if why:
                yield Issue(
                    code="meaning/unfit-expression",
                    requirement=requirement.id,
                    problem=f"{requirement.named} has no meaning: {why}",
                    hint="say of which rows or groups the value is",
                )


def _expressions_of(requirement: Requirement) -> Iterator[Node]:
    value = requirement.value
    if isinstance(value, Each):
        yield from (made.expression for made in (*value.measures, *value.computed))
    if isinstance(value, Rank):
        yield from (one.by for one in value.then)
    for name in ("expression", "condition", "by"):
        node = getattr(value, name, None)
        if node is not None:
            yield node


def _misplaced_ranking(requirement: Requirement, node: Node) -> str | None:
    """The best rows are chosen for a measure; as a filter or a group it would depend on what is filtered first."""
    if isinstance(requirement.value, Metric) or not any(isinstance(part, Among) for part in walk(node)):
        return None
    return "what is among the highest stands in the condition of a measure"


def _misplaced_key(requirement: Requirement, node: Node) -> str | None:
    value = requirement.value
    keys = [one.expression for one in value.computed] if isinstance(value, Each) else []
    return "things are told apart by values of rows" if node in keys and level(node) != "row" else None


RULES = (unfit_expression, differs)
