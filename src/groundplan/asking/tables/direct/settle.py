"""From what a model chose to a plan. Names, sorting, the cut of time and the function that nobody named, and what shows
the rows, are those of the rules. Whether all that was asked is there is for the gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from groundplan.asking.tables.direct.filters import Json
from groundplan.asking.tables.direct.offer import GROUP, Built, First, Offer, Unbuilt, with_told
from groundplan.asking.tables.direct.plan import CALLED
from groundplan.asking.tables.direct.words import CALCULATIONS
from groundplan.contracts.columns import Function
from groundplan.contracts.plan import Plan
from groundplan.contracts.query import DATE_CUTS, Query
from groundplan.contracts.query_meaning import OURS
from groundplan.contracts.reading import Time
from groundplan.text.loose_words import Meaning


def settle(built: Built, offer: Offer) -> Plan | Unbuilt:
    """The plan with the query that was chosen, or why it is none."""
    groups, measures = _chosen_groups(built, offer), [*_chosen_measures(built, offer)]
    if not measures:
        return Unbuilt("the query has no number: add a field with a function such as SUM")
    filters = [offer.filters[caption] for caption in dict.fromkeys(kept.field for kept in built.filters)]
    calculated = [*_kept_calculations(offer, groups, measures[0]), *_calculated(built, offer, groups, measures[0])]
    top, limit = _top(built, offer, measures[0])
    if built.top:
        measures[0] = _turned(measures[0], built.top)
    ordered = _ordered(built, [*groups, *measures])
    query = {"fields": [*ordered, *calculated], **({"filters": [*filters, *top]} if filters or top else {})}
    try:
        said = Query.model_validate(query).wire()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return Unbuilt(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    return placed(offer, {"query": said, **limit}, measures, calculated)


def _chosen_groups(built: Built, offer: Offer) -> list[Json]:
    """In the order of the rules; time that nobody cut is cut as the data's span has it."""
    cuts: dict[str, str] = {}
    for one in built.fields:
        if one.field in offer.groups and one.function in DATE_CUTS | {GROUP}:
            cuts.setdefault(one.field, one.function)
    named = {r.value.column for r in offer.reading.requirements if isinstance(r.value, Time) and r.value.grain}
    return [
        {**field, "function": cuts[caption]} if caption in named else field
        for caption, field in offer.groups.items()
        if caption in cuts
    ]


def _chosen_measures(built: Built, offer: Offer) -> Iterator[Json]:
    """By the function that was chosen, where the question named one; else by the usual one."""
    for one in dict.fromkeys(built.fields):
        stock, metric = offer.measures.get(one.field), offer.metric(one.field)
        if stock is None or one.function not in OURS:
            continue
        unsaid = metric is None or (metric.function is None and not offer.summary)
        yield stock if unsaid or one.function == stock["function"] else _measured(stock, one.function, offer)


def _measured(stock: Json, function: str, offer: Offer) -> Json:
    """The same measure by another function, with a name that says so."""
    ours: Function = OURS[function]
    name = CALLED.get(ours, f"{ours} of {{}}").format(stock["fieldCaption"])
    return {**stock, "function": function, "fieldAlias": f"{ours} of {name}" if name in offer.groups else name}


def _kept_calculations(offer: Offer, groups: list[Json], measure: Json) -> Iterator[Json]:
    """Those of the rules, of the measure and along the groups that were chosen."""
    chosen = {field["fieldCaption"]: _reference(field) for field in groups}
    for field in offer.calculated:
        told = field["tableCalculation"]
        along = [chosen[one["fieldCaption"]] for one in told["dimensions"] if one["fieldCaption"] in chosen]
        yield {**field, **_reference(measure), "tableCalculation": {**told, "dimensions": along}}


def _calculated(built: Built, offer: Offer, groups: list[Json], measure: Json) -> Iterator[Json]:
    """What the words add beside the measure."""
    for meaning in dict.fromkeys(built.meanings[words] for words in offer.runs if words in built.meanings):
        told, along = CALCULATIONS.get(meaning), [*_along(meaning, groups)]
        if told and along and (measure["function"] in told.functions or not told.functions):
            calculation = {"tableCalcType": told.type, "dimensions": along, **told.settings}
            alias = told.called.format(measure["fieldAlias"])
            yield {**_reference(measure), "fieldAlias": alias, "tableCalculation": calculation}


def _along(meaning: Meaning, groups: list[Json]) -> Iterator[Json]:
    """Time, so that each of the other groups begins anew; or all of them."""
    over_time = meaning in CALCULATIONS and CALCULATIONS[meaning].over_time
    return (_reference(field) for field in groups if not over_time or field.get("function") in DATE_CUTS)


def _top(built: Built, offer: Offer, measure: Json) -> tuple[list[Json], dict[str, Any]]:
    """As a filter on the members of the one group, or as the first rows where there is no such group."""
    if built.top is None:
        return [], {}
    filters = [one for one in offer.params["query"].get("filters", ()) if one["filterType"] == "TOP"]
    said = {"howMany": built.top.limit, "direction": built.top.direction, "fieldToMeasure": _reference(measure)}
    return [{**one, **said} for one in filters], {} if filters else {"rowLimit": built.top.limit}


def _turned(measure: Json, top: First) -> Json:
    return (
        {**measure, "sortDirection": "DESC" if top.direction == "TOP" else "ASC"}
        if "sortPriority" in measure
        else measure
    )


def _ordered(built: Built, fields: list[Json]) -> list[Json]:
    """Words may turn the order of what sorts first; a ranking has its own."""
    said = [meaning for meaning in built.meanings.values() if meaning in ("ASCENDING", "DESCENDING")]
    if not said or built.top:
        return fields
    direction = "ASC" if said[0] == "ASCENDING" else "DESC"
    return [{**field, "sortDirection": direction} if field.get("sortPriority") == 1 else field for field in fields]


def placed(offer: Offer, params: Json, measures: list[Json], calculated: list[Json]) -> Plan:
    """In the plan of the rules, whose chart draws what was computed last."""
    inputs = {key: value for key, value in offer.params.items() if key not in ("query", "rowLimit")}
    drawn = {offer.measures[one["fieldCaption"]]["fieldAlias"]: one["fieldAlias"] for one in measures}
    shown = [field["fieldAlias"] for field in calculated if field["tableCalculation"]["tableCalcType"] != "RANK"]
    drawn |= {name: shown[0] for name in [*drawn][:1] if shown}
    steps = []
    for step in offer.stock.steps:
        if step.id == "query":
            steps.append(with_told(step, params={**inputs, **params}))
        elif step.id == "chart":
            steps.append(with_told(step, params={key: drawn.get(str(name), name) for key, name in step.params.items()}))
        else:
            steps.append(step)
    return offer.stock.model_copy(update={"steps": tuple(steps)})


def _reference(field: Mapping[str, Any]) -> Json:
    return {key: field[key] for key in ("fieldCaption", "function") if key in field}
