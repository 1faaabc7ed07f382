"""Writes a short text about the facts, with a citation for every value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from groundplan.answering.verifying.artefacts import without_artefacts
from groundplan.answering.writing.citing import Citing, placed
from groundplan.answering.writing.display import age, condition_of, joined_by, where
from groundplan.answering.writing.forms import Sentence
from groundplan.answering.writing.kept_groups import kept_groups
from groundplan.answering.writing.phrases import GRAINS
from groundplan.answering.writing.render import rendered
from groundplan.answering.writing.steps import step_sentences
from groundplan.answering.writing.subjects import Subject, find_filters, selects_groups, subjects
from groundplan.answering.writing.tables import described
from groundplan.answering.writing.text import text_of
from groundplan.answering.writing.tracing import flat
from groundplan.contracts.answer import Citation, ShownTable
from groundplan.contracts.asks import place_of
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts, Stale, Truncated
from groundplan.contracts.plan import CheckedPlan
from groundplan.contracts.reading import IntentAsked
from groundplan.text.safe import as_code

LOOKUP = "lookup"  # the strategy whose lists go on
SIGNS = frozenset(".,;:!?")  # that a sentence with several names would not show where one ends
SHORT = 60  # letters of a name that is said in a sentence


def write(
    plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], language: Language
) -> tuple[str, tuple[Citation, ...]]:
    return text_of(list(sentences(plan, facts, shown, language)), language)


def sentences(
    plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], language: Language
) -> Iterator[Sentence]:
    """Findings, scope and caveats; of a question that asks for several things, those of each in turn."""
    about = subjects(plan, facts, shown)
    asks = _by_ask(about)
    if not facts.found and not about and not facts.steps:
        yield Sentence("not_said" if _is_polar(plan) else "nothing", {})
    if nothing_left(plan, facts):
        yield Sentence("no_more", {})
    if is_affirmed(plan, facts):
        yield _yes(plan, facts)
    for own, after in pairwise(asks):
        yield from findings(plan, facts, own, language) or _charts(own, language)
        kept, later = ([*_kept(plan, facts, one, language)] for one in (own, after))
        if text_of(kept, language)[0] != text_of(later, language)[0]:
            yield from kept
    yield from findings(plan, facts, asks[-1], language) or _charts(asks[-1], language)
    yield from remarks(plan, facts, about, language)


def _by_ask(about: Sequence[Subject]) -> list[list[Subject]]:
    """The tables of each thing that is asked for."""
    places = sorted({place_of(subject.step) for subject in about}) or [0]
    return [[subject for subject in about if place_of(subject.step) == place] for place in places]


def nothing_left(plan: CheckedPlan, facts: Facts) -> bool:
    """Whether the question goes on with a list of which everything was shown before."""
    goes_on = any(isinstance(r.value, IntentAsked) and r.value.offset for r in plan.requirements)
    return goes_on and not facts.failures and not facts.items and not any(group.items for group in facts.groups)


def is_affirmed(plan: CheckedPlan, facts: Facts) -> bool:
    """True if the question asks for yes or no, and the graph itself has what it asks for."""
    skipped = {failure.step for failure in facts.failures if failure.status == "skipped"}
    by_graph = plan.fallback is None or skipped.issuperset(plan.fallback.steps)
    return _is_polar(plan) and by_graph and bool(facts.items or any(group.items for group in facts.groups))


def _is_polar(plan: CheckedPlan) -> bool:
    return any(isinstance(r.value, IntentAsked) and r.value.polar for r in plan.requirements)


def _yes(plan: CheckedPlan, facts: Facts) -> Sentence:
    """Yes, with the names if they are short and few: then no list follows."""
    if not _is_named_at_once(plan, facts):
        return Sentence("affirmed_alone", {})
    names = (placed(item.title, f"facts.items.{place}.title", item.title) for place, item in enumerate(facts.items))
    return Sentence("affirmed", {"names": tuple(cite for cites in names for cite in cites)})


def _is_named_at_once(plan: CheckedPlan, facts: Facts) -> bool:
    titles = [item.title for item in facts.items]
    short = all(without_artefacts(t) == t and len(t) <= SHORT and not SIGNS & {*t} for t in titles)
    return not facts.groups and len(titles) <= plan.limits.items and short and len({*titles}) == len(titles)


def findings(plan: CheckedPlan, facts: Facts, about: Sequence[Subject], language: Language) -> list[Sentence]:
    """The findings; a chart and a table of the same facts are described once."""
    told = {text_of([one], language)[0]: one for one in _described(plan, about, language)}
    said = is_affirmed(plan, facts) and _is_named_at_once(plan, facts)
    listed = () if said else [_on_request(plan, one) for one in rendered(facts, plan.render, plan.limits, language)]
    steps = step_sentences(facts, plan.limits, language)
    return [*steps, *told.values(), *(one for one in listed if text_of([one], language)[0] not in told)]


def _on_request(plan: CheckedPlan, sentence: Sentence) -> Sentence:
    """The rest of a look-up's list can be asked for."""
    goes_on = sentence.form == "more" and plan.strategy == LOOKUP
    return replace(sentence, form="more_on_request") if goes_on else sentence


def remarks(plan: CheckedPlan, facts: Facts, about: Sequence[Subject], language: Language) -> Iterator[Sentence]:
    """Scope and caveats, which the text must always state."""
    yield from _joins(plan)
    yield from _grain(facts, language)
    yield from _kept(plan, facts, _by_ask(about)[-1], language)
    yield from _shortcomings(facts, about, language)


def write_remarks(plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], language: Language) -> str:
    about = subjects(plan, facts, shown)
    kept = [one for own in _by_ask(about)[:-1] for one in _kept(plan, facts, own, language)]
    return text_of([*kept, *remarks(plan, facts, about, language)], language)[0]


def _described(plan: CheckedPlan, about: Sequence[Subject], language: Language) -> Iterator[Sentence]:
    for subject in about:
        if not (subject.is_chart and (subject.kind == "listing" or not subject.complete)):
            yield from described(Citing(subject, language), plan.limits.items)


def _charts(about: Sequence[Subject], language: Language) -> Iterator[Sentence]:
    """Charts are described by their columns, because a title is the planner's text and not a fact."""
    for subject in about:
        yield Sentence("chart", {"columns": Citing(subject, language).labels(subject.table.columns)})


def _grain(facts: Facts, language: Language) -> Iterator[Sentence]:
    """How the time axis is cut, where the run chose it."""
    for place, item in enumerate(facts.items):
        if item.kind == "grain" and isinstance(item.value, str):
            grain = placed(GRAINS[language][item.value], f"facts.items.{place}.value", item.value)
            yield Sentence("grain", {"grain": grain})
            break


def _kept(plan: CheckedPlan, facts: Facts, about: Sequence[Subject], language: Language) -> Iterator[Sentence]:
    """Which rows and groups were counted."""
    filters = {path: told for subject in about for path, told in subject.filters.items()}
    if facts.groups and not about:
        ran = [end for end in plan.ends if end not in {failure.step for failure in facts.failures}]
        filters = {path: told for end in ran for path, told in find_filters(plan, end)}
    for form, of_groups in (("filters", False), ("filters_of_groups", True)):
        kept = {path: told for path, told in filters.items() if selects_groups(plan, path) == of_groups}
        once = {_condition(plan, path, told, language): (path, told) for path, told in reversed(kept.items())}
        cites = [cite for words, (path, told) in reversed(once.items()) for cite in placed(words, path, flat(told))]
        if cites:
            yield Sentence(form, {"conditions": tuple(cites)})


def _condition(plan: CheckedPlan, path: str, told: Mapping[str, Any], language: Language) -> str:
    if selects_groups(plan, path):
        return kept_groups(plan, path, told, language)
    return where(condition_of(path, told), language)


def _joins(plan: CheckedPlan) -> Iterator[Sentence]:
    """Which tables were joined to which rows, and by what."""
    places = {step.id: place for place, step in enumerate(plan.steps)}
    for place, step in enumerate(plan.steps):
        if step.tool != "join_tables" or "columns" not in step.params:
            continue
        path, name = f"plan.steps.{place}.params.right", step.params.get("right")
        if name is None:  # measures of the rows of another table
            path, name = _aggregated(plan, places, plan.inputs[step.id]["right"].steps[0])
        on: Any = step.params["on"]
        by = placed(joined_by(on), f"plan.steps.{place}.params.on", flat(on))
        yield Sentence("joined", {"table": placed(as_code(str(name)), path, str(name)), "columns": by})


def _aggregated(plan: CheckedPlan, places: Mapping[str, int], step: str) -> tuple[str, Any]:
    """The param that names the table whose rows a step goes back to."""
    while True:
        params = plan.steps[places[step]].params
        port = next((port for port in ("table", "left") if port in params), None)
        if port is not None:
            return f"plan.steps.{places[step]}.params.{port}", params[port]
        step = next(iter(plan.inputs[step].values())).steps[0]


def _partial(cite: Citing) -> Iterator[Sentence]:
    """The periods that the data covers only in part."""
    subject = cite.subject
    for place, partial in enumerate(subject.partial):
        rows = [row for row, told in enumerate(subject.rows) if told[subject.time or ""] == partial.period]
        if rows:
            period = cite.name(rows[0], subject.time or "")
            yield Sentence(f"partial_{partial.edge}", {"period": period, "at": cite.partial(place)})


def _shortcomings(facts: Facts, about: Sequence[Subject], language: Language) -> Iterator[Sentence]:
    partial = {text_of([one], language)[0]: one for subject in about for one in _partial(Citing(subject, language))}
    yield from partial.values()
    cut = [subject for subject in about if not subject.complete]
    for subject in cut:
        cite = Citing(subject, language)
        form = "drawn" if subject.is_chart else "cut"
        yield Sentence(form, {"shown": cite.shown(), "rows": cite.rows()})
    match facts.state:
        case Truncated(reason=reason) if not cut:
            yield Sentence("truncated", {"reason": placed(reason, "facts.state.reason", reason)})
        case Stale(age_seconds=seconds):
            yield Sentence("stale", {"age": placed(age(seconds, language), "facts.state.age_seconds", seconds)})
    for place, failure in enumerate(facts.failures):
        if failure.issue and not facts.steps:
            path, problem = f"facts.failures.{place}.issue.problem", failure.issue.problem
            yield Sentence("failed", {"problem": placed(problem.rstrip("."), path, problem)})
    if facts.files:
        saved = [(PurePath(file).name, f"facts.files.{place}", file) for place, file in enumerate(facts.files)]
        yield Sentence("saved", {"files": tuple(cite for file in saved for cite in placed(*file))})
