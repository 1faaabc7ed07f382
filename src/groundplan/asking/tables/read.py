"""Reading without a model: the words of the question, held against the schema, decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TypeVar, cast

from groundplan.asking.tables.clarify import find_doubt, find_missing
from groundplan.asking.tables.columns import is_additive, is_ordinal_time
from groundplan.asking.tables.conditions import (
    contained_filters,
    find_contained,
    is_period,
    number_filters,
    period_filters,
    value_filters,
)
from groundplan.asking.tables.facets import Facets, find_facets, time_columns
from groundplan.asking.tables.near_meaning import find_meant
from groundplan.asking.tables.refusals import unaskable
from groundplan.asking.tables.roles import assign
from groundplan.asking.tables.scan import Scan
from groundplan.asking.tables.values import Values
from groundplan.contracts.answer import Clarification, Refusal, refused
from groundplan.contracts.columns import Function
from groundplan.contracts.reading import (
    Analysis,
    AnalysisAsked,
    Evidence,
    GroupBy,
    Intent,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
)
from groundplan.contracts.schema import SourceSchema
from groundplan.text.lexicon import load_lexicon
from groundplan.text.periods.find import Found, find_periods
from groundplan.text.periods.pairs import set_apart
from groundplan.text.similar import Nearness
from groundplan.text.words import Word, language_of, normalise, words_of

Placed = TypeVar("Placed", Word, Found)
Read = Reading | Clarification | Refusal


def read(
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    timezone: str = "UTC",
    meaning: Nearness | None = None,
) -> Read:
    """A question to requirements, each with the words that ask for it; or what is missing or unclear.

    `values` are the distinct values of each table's columns, by table; they end up in filters only. `meaning` is
    asked about words that nothing else explains; without it they stay unexplained.
    """
    scan = scan_for(question, schema, values, today=today, timezone=timezone, meaning=meaning)
    return scan if isinstance(scan, Refusal) else read_scan(scan)


def scan_for(
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    timezone: str,
    meaning: Nearness | None,
) -> Scan | Refusal:
    """The words of the question held against the table that explains most of them."""
    text = normalise(question)
    words = words_of(text)
    refusal = unaskable(text, words)
    if refusal:
        return refusal
    periods = set_apart(text, words, find_periods(text, today, timezone), today, timezone)
    looked_for = [(found.start, found.end) for found in find_contained(text, words, load_lexicon())]
    words, periods = _outside(words, looked_for), _outside(periods, looked_for)
    scans = [Scan(text, words, table, load_lexicon(), values.get(table.name, {}), periods) for table in schema.tables]
    scan = max(scans, key=_fit)
    return replace(scan, meant=tuple(find_meant(scan, meaning))) if meaning else scan


def _outside(items: tuple[Placed, ...], spans: list[tuple[int, int]]) -> tuple[Placed, ...]:
    return tuple(item for item in items if not any(start < item.end and item.start < end for start, end in spans))


def read_scan(scan: Scan) -> Read:
    return _Asked(scan).read()


def _fit(scan: Scan) -> tuple[float, float]:
    """How much of the question a table explains."""
    named = {word.stem for word in scan.words} & scan.row_nouns
    return (sum(m.score for m in scan.mentions) + len(scan.value_mentions) + 0.5 * bool(named), -len(scan.unexplained))


@dataclass
class _Asked:
    """The requirements of one question, as they are found."""

    scan: Scan
    found: dict[str, Requirement] = field(default_factory=dict)

    def read(self) -> Read:
        scan = self.scan
        facets = find_facets(scan, assign(scan))
        doubt = find_doubt(facets)
        if doubt:
            return doubt
        self._filters(facets)
        self._groups(facets)
        self._time(facets)
        intent = self._intent(facets)
        self._metrics(facets, intent)
        missing = find_missing(facets, intent, frozenset(r.kind for r in self.found.values()))
        if missing:
            return missing
        if intent != "periods" and len([r for r in self.found.values() if is_period(r)]) > 1:
            return refused(
                "reading/periods", "several periods that do not touch cannot be kept together", "ask for one at a time"
            )
        self._analyses(facets, intent)
        self._outputs(facets, intent)
        return Reading(
            question=scan.text,
            language=language_of(scan.text),
            tables=(scan.table.name,),
            requirements=tuple(self.found.values()),
            intents=tuple(Intent(name=name, confidence=1.0) for name in (intent, *self._beside(intent))),
            period=next((p.period for p in scan.periods if p.period), None),
            unresolved=tuple(scan.words[i].text for i in scan.unexplained),
        )

    def _add(self, id_: str, value: object, first: int, last: int) -> None:
        text, start = self.scan.spoken(first, last)
        self._put(
            Requirement.model_validate({"id": id_, "value": value, "evidence": Evidence(text=text[:500], start=start)})
        )

    def _put(self, requirement: Requirement) -> None:
        self.found.setdefault(requirement.id, requirement)

    def _filters(self, facets: Facets) -> None:
        column = facets.time_column or next(iter(time_columns(self.scan.table)), None)
        for requirement in (
            *value_filters(self.scan, facets.whole),
            *number_filters(self.scan),
            *contained_filters(self.scan),
            *(period_filters(self.scan, column) if column else ()),
        ):
            self._put(requirement)

    def _groups(self, facets: Facets) -> None:
        for column, first, last in facets.groups:
            self._add(f"group_by:{column}", GroupBy(column=column), first, last)

    def _time(self, facets: Facets) -> None:
        if facets.time_column and facets.time_said:
            if is_ordinal_time(facets.time_column):
                value: object = GroupBy(column=facets.time_column.name, ordered=True)
                self._add(f"group_by:{facets.time_column.name}", value, *facets.time_said)
            else:
                value = Time(column=facets.time_column.name, grain=facets.grain)
                self._add(f"time:{facets.time_column.name}", value, *facets.time_said)

    def _intent(self, facets: Facets) -> str:
        labels, charts = facets.analyses, facets.charts
        pairs = len(facets.plain) >= 2 and not facets.time_said
        if "anomaly" in labels:
            return "anomaly"
        against = "scatter" in charts or "correlation" in labels
        beside = not facets.counted and "summary" not in labels and (not facets.groups or facets.roles.related)
        if pairs and (against or beside):
            return "correlation"
        if "scatter" in charts and len(facets.roles.measures) >= 2:
            return "correlation"
        if "share" in labels and (facets.groups or facets.roles.measures):
            return "share"
        if facets.rank:
            return "ranking"
        if facets.time_said:
            return "time_series"
        if len([r for r in self.found.values() if is_period(r)]) == 2 and (facets.roles.measures or facets.counted):
            return "periods"
        if facets.is_distribution:
            return "distribution"
        if "summary" in labels and not facets.groups:
            return "summary"
        if "detail" in labels and not facets.roles.measures and not facets.counted and not facets.groups:
            return "detail"
        return "comparison" if facets.groups else "total"

    def _metrics(self, facets: Facets, intent: str) -> None:
        counted, measures = facets.counted, facets.roles.measures
        for measure in measures:
            column = measure.mention.column
            function = None if intent in ("correlation", "distribution", "anomaly", "summary") else measure.function
            usual: Function = "sum" if is_additive(column, self.scan.lexicon) else "mean"
            value = Metric(column=column.name, function=function, usual=usual)
            self._add(f"metric:{column.name}", value, *measure.said)
        if measures or intent in ("summary", "detail"):
            return
        if counted:
            self._add("metric:rows", Metric(function="count"), counted.first, counted.last)
        elif facets.groups or facets.time_said:
            self._imply("metric:rows", Metric(function="count"))

    def _analyses(self, facets: Facets, intent: str) -> None:
        sums = [r for r in self.found.values() if isinstance(r.value, Metric) and r.value.function == "sum"]
        if sums:
            self._imply("analysis:total", AnalysisAsked(label="total"))
        groups = [r for r in self.found.values() if isinstance(r.value, GroupBy)]
        if groups and intent in ("comparison", "time_series", "share", "ranking"):
            self._imply("analysis:compare", AnalysisAsked(label="compare"))
        own = ("correlation", "distribution", "anomaly", "share", "ranking", "summary", "detail")
        implied = {"time_series": "trend", "periods": "compare", **{label: label for label in own}}
        shows_trend = _draws(facets, intent) and facets.chart_kind(intent) in (None, "line", "area")
        if intent in implied and (intent != "time_series" or shows_trend):
            label = implied[intent]
            cue = facets.analyses.get(label) or (facets.rank_cue if label == "ranking" else None)
            said = (cue.first, cue.last) if cue else None
            self._because(f"analysis:{label}", AnalysisAsked(label=cast(Analysis, label)), said)
        self._also(facets, intent)
        if facets.rank and intent in ("ranking", "share") and facets.rank_cue:
            direction, limit = facets.rank
            if limit:
                value = Rank(direction="top" if direction == "top" else "bottom", limit=limit)
                self._add(f"rank:{direction}{limit}", value, facets.rank_cue.first, facets.rank_cue.last)

    def _also(self, facets: Facets, intent: str) -> None:
        """Analyses that were asked for beside the one that gives the intent."""
        over_time = facets.time_said and intent in ("share", "anomaly")
        wanted = {"share": bool(facets.groups) and intent != "share", "trend": bool(over_time)}
        for label in (label for label, fits in wanted.items() if fits and label in facets.analyses):
            cue = facets.analyses[label]
            self._add(f"analysis:{label}", AnalysisAsked(label=cast(Analysis, label)), cue.first, cue.last)

    def _beside(self, intent: str) -> tuple[str, ...]:
        """Further intents: each has a template of its own."""
        return ("share",) if "analysis:share" in self.found and intent != "share" else ()

    def _outputs(self, facets: Facets, intent: str) -> None:
        if facets.chart_said:
            kind = facets.chart_kind(intent)
            self._add("output:chart", OutputAsked(label="chart", chart=kind), *facets.chart_said)
        elif _draws(facets, intent):
            self._because("output:chart", OutputAsked(label="chart"), None)
        table = facets.outputs.get("table")
        self._because("output:table", OutputAsked(label="table"), (table.first, table.last) if table else None)

    def _because(self, id_: str, value: object, said: tuple[int, int] | None) -> None:
        """With its own words; without any, it is implied."""
        if said:
            self._add(id_, value, *said)
        else:
            self._imply(id_, value)

    def _imply(self, id_: str, value: object) -> None:
        self._put(Requirement.model_validate({"id": id_, "value": value, "implied": True}))


def _draws(facets: Facets, intent: str) -> bool:
    """Whether a chart was asked for, or says more than the table alone."""
    if facets.chart_said:
        return True
    if "table" in facets.outputs or intent in ("total", "summary", "detail", "periods"):
        return False
    few = len(facets.groups) <= (2 if facets.time_said else 3)
    return few and (intent != "anomaly" or facets.time_said is not None)
