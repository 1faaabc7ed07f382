"""The plan's tables mean what the reading means: the two are compared in one normal form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from groundplan.checking.draft import Draft
from groundplan.checking.params import expressions
from groundplan.checking.relations import Relation, relations
from groundplan.contracts.expression import Among, Expression, Node, level, misplaced, walk
from groundplan.contracts.issue import Issue
from groundplan.contracts.meaning import Meaning, is_extended, meaning_of
from groundplan.contracts.reading import Each, Metric, Requirement
from groundplan.contracts.words import in_words

SINKS = frozenset({"show_table", "save_table"})


def differs(draft: Draft) -> Iterator[Issue]:
    """What a plan shows is what was asked: the same rows, groups, measures, order and cut.

    Steps are followed in the language of readings, without running them; the result must equal the reading.

    Fails: the share of refunded orders was asked for, and the plan divides by the rows that were not refunded.
    """
    if not is_extended(draft.reading) and not _uses_expressions(draft):
        return
    asked, found = meaning_of(draft.reading), relations(draft)
    for index, step, tool in draft.tool_steps():
        if tool.name not in SINKS and not tool.name.startswith("plot_"):
            continue
        done = found.get(step.id) or next((found[need] for need in step.needs if need in found), None)
        for problem in _differences(asked, done) if done else ["what it shows cannot be compared with the question"]:
            yield Issue(
                code="meaning/differs",
                step=step.id,
                path=f"steps.{index}",
                problem=f"step {step.id!r} does not show what was asked: {problem}",
                hint="change the steps before it, so that they do exactly what was asked",
            )


def _uses_expressions(draft: Draft) -> bool:
    """Whether the plan says what the rules for plain readings do not look at."""
    return any(True for _, step, tool in draft.tool_steps() for _ in expressions(step, tool))


def _differences(asked: Meaning, done: Relation) -> Iterator[str]:
    if asked.table and asked.table != done.table:
        yield f"it reads {done.table!r} and the question is about {asked.table!r}"
    if asked.things != done.things:
        yield f"it groups {_things(done)} first, and {_things(asked)} was asked"
    for name, wanted, made in (("rows", asked.where, done.where), ("groups", asked.having, done.having)):
        if wanted != made:
            yield f"it keeps {name} where {in_words(made)}, and {in_words(wanted)} was asked"
    if asked.measures or asked.groups:
        yield from _other_groups(asked, done)
        yield from _other_values(asked, done)
    else:
        yield from _other_columns(asked, done)
    if asked.order is not None and asked.order != done.order:
        yield f"it orders by {_sorting(done)}, and {_sorting(asked)} was asked"
    if (asked.limit, asked.within) != (done.limit, done.within):
        yield f"it keeps {done.limit or 'all'} {_within(done)}, and {asked.limit or 'all'} {_within(asked)} was asked"


def _other_groups(asked: Meaning, done: Relation) -> Iterator[str]:
    if asked.groups != done.groups:
        made = ", ".join(sorted(in_words(group) for group in done.groups or ())) or "nothing"
        wanted = ", ".join(sorted(in_words(group) for group in asked.groups)) or "nothing"
        yield f"it groups by {made}, and {wanted} was asked"
    if asked.along != done.along:
        made, wanted = (in_words(one.along) if one.along else "nothing" for one in (done, asked))
        yield f"it follows a series along {made}, and {wanted} was asked"


def _other_values(asked: Meaning, done: Relation) -> Iterator[str]:
    names = done.shown if done.shown is not None else tuple(done.columns)
    shown = Counter(done.column(name) for name in names)
    wanted = Counter([*asked.groups, *asked.measures])  # a number of things by a number of theirs may look the same
    for value in sorted(wanted - shown, key=in_words):
        yield f"it does not show {in_words(value)}"
    known = {part for measure in _choosing(asked) for part in walk(measure)}
    for value in sorted(shown - wanted, key=in_words):
        if level(value) == "row" or not {*_measures(value)} <= known:
            yield f"it shows {in_words(value)}, and nobody asked for that"


def _choosing(asked: Meaning) -> Iterator[Expression]:
    """What may be shown beside the measures: their parts, and what groups were chosen or ordered by."""
    yield from asked.measures
    if asked.having is not None:
        yield from (part for part in walk(asked.having) if level(part) != "row")  # type: ignore[misc]
    if asked.order is not None:
        yield asked.order[0]


def _measures(value: Expression) -> Iterator[Expression]:
    return (part for part in walk(value) if part.kind in ("rows", "aggregate", "named"))


def _other_columns(asked: Meaning, done: Relation) -> Iterator[str]:
    if done.groups is not None:
        yield "it groups the rows, and the rows themselves were asked for"
        return
    shown = [done.column(name) for name in done.shown or ()]
    allowed = {*asked.columns, *([asked.order[0]] if asked.order else [])}
    if not {*asked.columns} <= {*shown} or not {*shown} <= allowed or asked.distinct != done.distinct:
        made = ", ".join(map(in_words, shown)) or "all columns"
        yield f"it shows {made}, and {', '.join(map(in_words, asked.columns))} was asked"


def _things(meaning: Meaning | Relation) -> str:
    if meaning.things is None:
        return "nothing"
    where = f" where {in_words(meaning.things.where)}" if meaning.things.where else ""
    return " and ".join(sorted(map(in_words, meaning.things.keys))) + where


def _sorting(meaning: Meaning | Relation) -> str:
    if meaning.order is None:
        return "nothing"
    return f"{in_words(meaning.order[0])}, {'highest' if meaning.order[1] else 'lowest'} first"


def _within(meaning: Meaning | Relation) -> str:
    groups = " and ".join(sorted(map(in_words, meaning.within)))
    return f"rows of each {groups}" if groups else "rows"


def unfit_expression(draft: Draft) -> Iterator[Issue]:
    """An expression's parts fit each other: a sum is of rows, a share is of groups.

    Fails: the average of a sum is taken without saying of which things the sums are.
    """
    for requirement in draft.reading.requirements:
        for node in _expressions_of(requirement):
            why = misplaced(node) or _misplaced_ranking(requirement, node)
            if why:
                yield Issue(
                    code="meaning/unfit-expression",
                    requirement=requirement.id,
                    problem=f"{requirement.id!r} ({requirement.evidence.text!r}) has no meaning: {why}",
                    hint="say of which rows or groups the value is",
                )


def _expressions_of(requirement: Requirement) -> Iterator[Node]:
    value = requirement.value
    if isinstance(value, Each):
        yield from (measure.expression for measure in value.measures)
    for name in ("expression", "condition", "by"):
        node = getattr(value, name, None)
        if node is not None:
            yield node


def _misplaced_ranking(requirement: Requirement, node: Node) -> str | None:
    """The best rows are chosen for a measure; as a filter or a group it would depend on what is filtered first."""
    if isinstance(requirement.value, Metric) or not any(isinstance(part, Among) for part in walk(node)):
        return None
    return "what is among the highest stands in the condition of a measure"


RULES = (unfit_expression, differs)
