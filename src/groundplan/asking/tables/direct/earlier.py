"""The query of an earlier question, with the conditions of this one: no model has to build it again."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.asking.tables.direct.filters import Json
from groundplan.asking.tables.direct.offer import Offer, offer_for, splits
from groundplan.asking.tables.direct.settle import placed
from groundplan.contracts.contract import Contract, thaw
from groundplan.contracts.conversation import Turn
from groundplan.contracts.plan import Plan, Provenance
from groundplan.contracts.reading import Filter, Rank, Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.state.plans import told_by_words

WHY = "The query of an earlier question in this conversation, with the conditions of this one."


def with_new_conditions(turns: Sequence[Turn], reading: Reading, schema: SourceSchema, tool: str) -> Plan | None:
    """From the latest turn that differs only in its conditions, its periods, or in how many rows it keeps."""
    shape = _shape(reading)
    alike = (turn for turn in reversed(turns) if _shape(turn.reading) == shape)
    fields = next(filter(None, map(_fields, alike)), None)
    offer = offer_for(reading, schema, tool) if fields else None
    if not fields or not isinstance(offer, Offer) or _cuts(fields) != _cuts([*offer.groups.values()]):
        return None
    calculated = [field for field in fields if "tableCalculation" in field]
    measures = [field for field in fields if field not in calculated and not splits(field)]
    params = {**offer.params, "query": {**offer.params["query"], "fields": fields}}
    made = Provenance(attempts=1, reasoning=WHY, log=("reused the query of an earlier question",))
    return placed(offer, params, measures, calculated).model_copy(update={"provenance": made})


def _shape(reading: Reading) -> tuple[object, ...]:
    """What decides the fields of a query."""
    asked = sorted(_without_limit(r.value) for r in reading.requirements if not isinstance(r.value, Filter))
    return reading.tables, tuple(intent.name for intent in reading.intents), told_by_words(reading), asked


def _without_limit(value: Contract) -> str:
    limited = isinstance(value, Rank) and value.limit is not None
    return f"{value.model_dump_json(exclude={'limit'})} {limited}"


def _fields(turn: Turn) -> list[Json]:
    """Of a plan that is one query; empty for any other."""
    queries = [thaw(step.params["query"]) for step in turn.plan.steps if "query" in step.params]
    return queries[0]["fields"] if len(queries) == 1 and isinstance(queries[0], dict) else []


def _cuts(fields: list[Json]) -> dict[str, object]:
    """How time is cut, by column: without a named grain that depends on the period."""
    return {field["fieldCaption"]: field.get("function") for field in fields if splits(field)}
