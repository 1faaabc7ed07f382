"""What a model may say of a query: it chooses from what was asked, and nothing else is there to be said.

The plan of the rules is the stock. A model says which of its fields and filters make the query, with which functions,
how many rows are kept, and whether a word such as `growth` adds a calculation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import Field, JsonValue

from groundplan.asking.tables.direct import plan as direct
from groundplan.asking.tables.direct.filters import Json
from groundplan.asking.tables.direct.needs import Need
from groundplan.asking.tables.direct.words import APPLIES, CALCULATIONS
from groundplan.contracts.columns import ColumnKind, fits
from groundplan.contracts.contract import Contract, Name, thaw
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.query import DATE_CUTS, DateCut
from groundplan.contracts.query_meaning import FUNCTIONS
from groundplan.contracts.reading import Metric, Rank, Reading
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.llm.schema import Schema, closed
from groundplan.text.loose_words import Meaning, loose_runs

GROUP = "GROUP"
MOST = 64  # fields or filters of a query
OF_A_SUMMARY = (2, 4)  # numbers beside the first of each measure, at least and at most


class Chosen(Contract):
    """A column, and what is taken of it."""

    field: Name
    function: Name


class Kept(Contract):
    """A condition, by the words of the question that ask for it."""

    field: Name
    words: str


class First(Contract):
    direction: Literal["TOP", "BOTTOM"]
    limit: int


class Built(Contract):
    """A query as a model says it. What it needs comes first: the rest of such an answer is not used."""

    needs: Annotated[tuple[Need, ...], Field(max_length=len(get_args(Need)))] = ()
    fields: Annotated[tuple[Chosen, ...], Field(max_length=MOST)]
    filters: Annotated[tuple[Kept, ...], Field(max_length=MOST)] = ()
    top: First | None = None
    meanings: dict[str, Meaning] = {}


@dataclass(frozen=True)
class Unbuilt:
    """No query came of it; `problem` can go back to a model."""

    problem: str


@dataclass(frozen=True)
class Offer:
    """The plan of the rules, and all that a model may choose of its query."""

    reading: Reading
    table: Table
    stock: Plan
    summary: bool  # several functions of one measure, whichever tell most

    @cached_property
    def params(self) -> Json:
        return cast(Json, thaw(self._step.params))

    @property
    def _step(self) -> Step:
        return next(step for step in self.stock.steps if step.id == "query")

    @cached_property
    def groups(self) -> dict[str, Json]:
        """The stock's fields that split rows, by caption."""
        return {field["fieldCaption"]: field for field in self.params["query"]["fields"] if splits(field)}

    @cached_property
    def measures(self) -> dict[str, Json]:
        fields = [field for field in self.params["query"]["fields"] if "tableCalculation" not in field]
        return {field["fieldCaption"]: field for field in fields if not splits(field)}

    @cached_property
    def filters(self) -> dict[str, Json]:
        told = [one for one in self.params["query"].get("filters", ()) if one["filterType"] != "TOP"]
        return {one["field"]["fieldCaption"]: one for one in told}

    @cached_property
    def calculated(self) -> list[Json]:
        """What is asked for beside the measure, by requirements or by words that are known."""
        return [field for field in self.params["query"]["fields"] if "tableCalculation" in field]

    @cached_property
    def runs(self) -> dict[str, tuple[Meaning, ...]]:
        """Words that may add something more, with what each may mean."""
        asked = {requirement.kind for requirement in self.reading.requirements}
        there = {field["tableCalculation"]["tableCalcType"] for field in self.calculated}
        able = [meaning for meaning in get_args(Meaning) if APPLIES[meaning] <= asked and _type(meaning) not in there]
        offered = {run.words: tuple(m for m in run.means if m in able) for run in loose_runs(self.reading)}
        return {words: (*means, "NOTHING") for words, means in offered.items() if means}

    def metric(self, caption: str) -> Metric | None:
        values = [r.value for r in self.reading.requirements if isinstance(r.value, Metric)]
        return next((value for value in values if value.column == caption), None)

    def schema(self, needs: tuple[Need, ...]) -> Schema:
        """Each choice closed: what was not asked for is not there to be said, and as much as was asked for is due."""
        fields: Schema = {"needs": _list(_one_of(needs), 0, len(needs))} if needs else {}
        due = len(self.groups) + len(self.measures)
        more = OF_A_SUMMARY if self.summary else (0, 0)
        fields["fields"] = _list({"anyOf": [*self._fields()]}, due + more[0], due + more[1])
        if self.filters:
            fields["filters"] = _list({"anyOf": [*self._filters()]}, len(self.filters), len(self.filters))
        limits = [r.value.limit for r in self.reading.requirements if isinstance(r.value, Rank)]
        if limits:
            fields["top"] = closed({"direction": _one_of(("TOP", "BOTTOM")), "limit": _one_of(limits)})
        if self.runs:
            fields["meanings"] = closed({words: _one_of(means) for words, means in self.runs.items()})
        return closed(fields)

    def _fields(self) -> Iterator[Schema]:
        plain = [caption for caption, field in self.groups.items() if "function" not in field]
        cut = [caption for caption in self.groups if caption not in plain]
        for captions, functions in ((plain, (GROUP,)), (cut, get_args(DateCut))):
            if captions:
                yield closed({"field": _one_of(captions), "function": _one_of(functions)})
        for caption in self.measures:
            functions = tuple(theirs for ours, theirs in FUNCTIONS.items() if fits(ours, self.kind(caption)))
            yield closed({"field": _one_of((caption,)), "function": _one_of(functions)})

    def _filters(self) -> Iterator[Schema]:
        for caption in self.filters:
            told = [r.words for r in self.reading.requirements if _filters_by(r.value, caption)]
            yield closed({"field": _one_of((caption,)), "words": _one_of(tuple(dict.fromkeys(told)))})

    def kind(self, caption: str) -> ColumnKind:
        column = self.table.find(caption)
        return column.kind if column else "other"


def offer_for(reading: Reading, schema: SourceSchema, tool: str) -> Offer | Unbuilt:
    """What one query can say of the reading, however much that is; Unbuilt where it can say nothing."""
    table = schema.find(reading.tables[0]) if reading.tables else next(iter(schema.tables), None)
    summary = any(r.label == "analysis:summary" for r in reading.requirements)
    stock = direct.propose(_as_totals(reading) if summary else reading, schema, tool) if table else None
    if table is None or stock is None:
        return Unbuilt("one query cannot say this: it gives totals, groups, a time axis, a ranking, shares and filters")
    cited = tuple(r.id for r in reading.requirements if r.label == "analysis:summary")
    steps = tuple(with_told(s, satisfies=(*s.satisfies, *cited)) if s.id == "query" else s for s in stock.steps)
    return Offer(reading, table, stock.model_copy(update={"steps": steps}), summary)


def _as_totals(reading: Reading) -> Reading:
    """A summary is several numbers of the same rows: around them the plan of a total fits."""
    kept = tuple(r for r in reading.requirements if r.label != "analysis:summary")
    intents = tuple(i.model_copy(update={"name": "total"}) if i.name == "summary" else i for i in reading.intents)
    return reading.model_copy(update={"requirements": kept, "intents": intents})


def _type(meaning: Meaning) -> str | None:
    return CALCULATIONS[meaning].type if meaning in CALCULATIONS else None


def with_told(step: Step, **told: object) -> Step:
    return Step.model_validate({**step.model_dump(), **told})


def splits(field: Mapping[str, Any]) -> bool:
    """Whether a field of a query groups the rows."""
    return "tableCalculation" not in field and field.get("function", GROUP) in DATE_CUTS | {GROUP}


def _filters_by(value: object, caption: str) -> bool:
    return getattr(value, "kind", None) == "filter" and getattr(value, "column", None) == caption


def _one_of(values: tuple[Any, ...] | list[Any]) -> Schema:
    return {"enum": cast(list[JsonValue], [*values])}


def _list(items: Schema, least: int, most: int) -> Schema:
    return {"type": "array", "minItems": least, "maxItems": most, "items": items}
