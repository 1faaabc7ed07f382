"""Reads a question with a model: it writes SQL, code translates it into a reading and checks that, faults go back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from groundplan.asking.tables.grammar.implied import implied, intent_of, with_implied
from groundplan.asking.tables.model.context import Asked, prompt_for
from groundplan.asking.tables.model.contradictions import Contradiction, contradictions
from groundplan.asking.tables.model.looks import OF_CHART, SINGLE_VALUES, look_at
from groundplan.asking.tables.model.reply import MeantSql, SqlReply
from groundplan.asking.tables.model.rounding import unrounded
from groundplan.asking.tables.naming import Naming
from groundplan.asking.tables.sql.parse import Untranslatable, translate
from groundplan.budget import aside
from groundplan.context import Context
from groundplan.contracts.columns import Grain
from groundplan.contracts.defaults import Default
from groundplan.contracts.expression import Column, DateCut, Related, walk
from groundplan.contracts.issue import Issue
from groundplan.contracts.reading import (
    Analysis,
    AnalysisAsked,
    ChartKind,
    GroupBy,
    Intent,
    Metric,
    OutputAsked,
    Reading,
    Requirement,
    Time,
)
from groundplan.llm.calls import Calls
from groundplan.proposing.loop import Accepted, Faults, propose
from groundplan.text.words import Language, language_of

TOKENS = 1_200  # of a reply
MOST_ASKS = 4  # things that one question may ask for
LOOK_UPS = 2  # rounds in which a model may ask to see further tables
ANALYSES: dict[str, Analysis] = {
    "trend": "trend",
    "distribution": "distribution",
    "anomaly": "anomaly",
    "anomalies": "anomaly",
    "correlation": "correlation",
    "summary": "summary",
}
CHARTS: dict[str, ChartKind] = {
    "line": "line",
    "bar": "bar",
    "area": "area",
    "scatter": "scatter",
    "histogram": "histogram",
    "box": "box",
    "heatmap": "heatmap",
}
EMPTY = "the reply has no sql, and says neither what is missing (cannot) nor what to ask (ask)"


@dataclass(frozen=True)
class Candidate:
    """A reading that nothing speaks against, with remarks for the person who asked."""

    reading: Reading
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cannot:
    """The tables do not hold what the question needs, by the model's word."""

    missing: str


@dataclass(frozen=True)
class Hesitant:
    """The meanings of the question, with a reading for each part that could be translated."""

    meant: tuple[str, ...]
    readings: tuple[Reading, ...] = ()  # of each, or none


@dataclass(frozen=True)
class MoreTables:
    names: tuple[str, ...]


ModelRead = Candidate | Cannot | Hesitant


@dataclass(frozen=True)
class _Translated:
    """One statement as a reading, with what its words may name and remarks."""

    reading: Reading
    reply: SqlReply
    naming: Naming
    notes: tuple[str, ...]


class SqlReader:
    """One question, and the models that may read it."""

    def __init__(self, calls: Calls, context: Context) -> None:
        self._calls, self._context = calls, context

    async def read(self, asked: Asked) -> Accepted[ModelRead] | None:
        """The first valid reply of a model; None if there is none."""
        for _ in range(LOOK_UPS + 1):
            found = await self._propose(asked)
            if found is None:
                return None
            value = found.value
            if not isinstance(value, MoreTables):
                return Accepted(value, found.model)
            asked = replace(asked, first=value.names)
        return None

    async def _propose(self, asked: Asked) -> Accepted[ModelRead | MoreTables] | None:
        check, log = partial(self._check, asked), self._context.attempts
        before = self._context.sent_back
        return await propose(self._calls, prompt_for(asked), SqlReply, check, log, max_tokens=TOKENS, before=before)

    async def _check(self, asked: Asked, reply: SqlReply) -> ModelRead | MoreTables | Faults:
        if reply.sql.strip():
            return await self._candidate(reply, asked)
        if reply.cannot.strip():
            return Cannot(reply.cannot.strip())
        if reply.ask:
            return await self._hesitant(reply.ask, asked)
        known = tuple(name for name in reply.look_up if asked.schema.find(name) and name not in asked.first)
        return MoreTables((*asked.first, *known)) if known else Faults((EMPTY,))

    async def _candidate(self, reply: SqlReply, asked: Asked) -> Candidate | Faults:
        """One reading; of several statements, each is a thing that the question asks for."""
        found = await aside(partial(self._all_translated, reply, asked))
        if isinstance(found, Faults):
            return found
        made: list[Candidate] = []
        for translated in found:
            proven = await self._proven(translated)
            if isinstance(proven, Faults):
                return proven
            made.append(proven)
        assumes = tuple(line.strip() for line in reply.assumes if line.strip())
        also = tuple(one.reading for one in made[1:])
        reading = made[0].reading.model_copy(update={"also": also, "assumes": assumes})
        return Candidate(reading, tuple(note for one in made for note in one.notes))

    def _all_translated(self, reply: SqlReply, asked: Asked) -> list[_Translated] | Faults:
        """Every statement as a reading that nothing certain speaks against; runs off the event loop."""
        found: list[_Translated] = []
        for one in (reply, *(SqlReply(sql=sql) for sql in reply.also)):
            try:
                found.append(self._translated(one, asked))
            except Untranslatable as error:
                return Faults((str(error),))
        whole = found[0].reading.model_copy(update={"also": tuple(one.reading for one in found[1:])})
        certain = [one for one in self._against(whole, asked) if one.certain]
        return Faults(tuple(one.problem for one in certain)) if certain else _with_looks(found, asked)

    def _translated(self, reply: SqlReply, asked: Asked) -> _Translated:
        found = translate(reply.sql, asked.schema, asked.values, today=asked.today, question=asked.text)
        tables = _tables_of(found.reading)
        naming = Naming(asked.text, asked.schema, asked.values, tables, asked.today, asked.timezone)
        reading = unrounded(self._completed(found.reading, asked, naming), asked.text)
        return _Translated(reading, reply, naming, found.notes)

    async def _proven(self, found: _Translated) -> Candidate | Faults:
        """With the analyses and the chart that were asked for, or the rows alone, if a plan for it passes the gate."""
        drawn, dropped = _labelled(found.reading, found.reply, found.naming)
        for proposed, notes in ((drawn, dropped), (_plain(found.reading), _undrawn(found.reply, dropped))):
            candidate = found.naming.with_assumed(proposed)
            issues = await self._context.find_issues(candidate)
            if not issues:
                return Candidate(candidate, (*found.notes, *notes))
        return Faults(tuple(map(_worded, issues)))

    def _against(self, reading: Reading, asked: Asked) -> tuple[Contradiction, ...]:
        """What contradicts the words. A follow-up may rest on the words before it and may replace them."""
        given: dict[str, Any] = {"today": asked.today, "timezone": asked.timezone}
        found = contradictions(reading, asked.text, asked.schema, asked.values, **given)
        if not found or asked.before is None:
            return found
        with_before = contradictions(reading, asked.said, asked.schema, asked.values, **given)
        still = {one.code for one in with_before}
        return tuple(one for one in found if one.code in still)

    def _completed(self, reading: Reading, asked: Asked, naming: Naming) -> Reading:
        """With the words that each part rests on, the tables it speaks of and who read it."""
        language = language_of(asked.text)
        parts = [_in_its_language(r, language) for r in reading.requirements if not isinstance(r.value, OutputAsked)]
        return reading.model_copy(
            update={
                "language": language,
                "tables": naming.tables,
                "requirements": tuple(map(naming.evident, parts)),
                "read_by": (self._calls.model,),
                "follow_up": asked.before is not None,
            }
        )

    async def _hesitant(self, ask: tuple[MeantSql, ...], asked: Asked) -> Hesitant:
        """The readings of those that can be translated and planned; only the words if fewer than two can."""
        found: list[tuple[str, Reading]] = []
        for one in ask:
            made = await self._candidate(SqlReply(sql=one.sql), asked) if one.sql.strip() else Faults(())
            if isinstance(made, Candidate):
                found.append((one.means, made.reading))
        if len(found) < 2:
            return Hesitant(tuple(one.means for one in ask))
        return Hesitant(tuple(means for means, _ in found), tuple(reading for _, reading in found))


def _in_its_language(requirement: Requirement, language: Language) -> Requirement:
    """Without an English name of a measure, where the question is Russian: then it is called after what it computes."""
    value = requirement.value
    if language != "ru" or not isinstance(value, Metric) or not (value.name or "").isascii():
        return requirement
    return requirement.model_copy(update={"value": value.model_copy(update={"name": None})})


def _with_looks(found: list[_Translated], asked: Asked) -> list[_Translated]:
    """Each analysis of single values that the question names, of the first statement that lists such values.

    Two analyses of the same values are two things that the question asks for.
    """
    reply = found[0].reply
    chart = CHARTS.get((reply.chart or "").lower())
    named = [ANALYSES.get(name.lower()) for name in reply.analyses] + [OF_CHART.get(chart) if chart else None]
    made: dict[int, list[_Translated]] = {}
    for label in dict.fromkeys(label for label in named if label in SINGLE_VALUES):
        for place, one in enumerate(found):
            said = one.naming.evident(implied(AnalysisAsked(label=label)))
            reading = look_at(one.reading, label, asked.schema, one.naming) if not said.implied else None
            if reading is not None:
                drawn = chart if chart and OF_CHART.get(chart) == label else None
                made.setdefault(place, []).append(
                    replace(one, reading=reading, reply=SqlReply(sql=one.reply.sql, analyses=(label,), chart=drawn))
                )
                break
    if not made:
        return found
    looked = {label for looks in made.values() for one in looks for label in one.reply.analyses}
    left = tuple(name for name in reply.analyses if ANALYSES.get(name.lower()) not in looked)
    first = reply.model_copy(update={"analyses": left, "chart": None if chart in OF_CHART else reply.chart})
    found[0] = replace(found[0], reply=first)
    return [made_of for place, one in enumerate(found) for made_of in made.get(place, [one])][:MOST_ASKS]


def _labelled(reading: Reading, reply: SqlReply, naming: Naming) -> tuple[Reading, tuple[str, ...]]:
    """With the analyses and the chart that were asked for, what follows from them, and notes on unknown labels."""
    labels = dict.fromkeys(ANALYSES[name] for name in map(str.lower, reply.analyses) if name in ANALYSES)
    named = [naming.evident(implied(AnalysisAsked(label=label))) for label in labels]
    trend = any(r.id == "analysis:trend" and not r.implied for r in named)
    asked = [*(_along_time(r, reading, naming) if trend else r for r in reading.requirements), *named]
    if trend and not reply.chart:
        asked.append(implied(OutputAsked(label="chart")))  # a table alone does not show it
    if reply.chart and reply.chart.lower() in CHARTS:
        asked.append(naming.evident(implied(OutputAsked(label="chart", chart=CHARTS[reply.chart.lower()]))))
    unknown = [name for name in reply.analyses if name.lower() not in ANALYSES]
    unknown += [reply.chart] if reply.chart and reply.chart.lower() not in CHARTS else []
    return _implied(reading, asked, naming.assume), tuple(
        f"{name[:60]!r} is neither an analysis nor a chart here" for name in unknown
    )


def _along_time(requirement: Requirement, reading: Reading, naming: Naming) -> Requirement:
    """A date that rows are grouped by is the axis of the trend; by itself it leaves the grain to the data."""
    grain: Grain | None = None
    match requirement.value:
        case GroupBy(expression=DateCut(of=Column(name=name, table=None), grain=grain)):
            pass
        case GroupBy(column=name, expression=None, table=None):
            pass
        case _:
            return requirement
    table = naming.schema.find(reading.tables[0])
    column = table.find(name) if table else None
    if column is None or column.kind != "time":
        return requirement
    time = Requirement(id=f"time:{name}", value=Time(column=name, grain=grain), implied=True)
    return naming.evident(time)


def _undrawn(reply: SqlReply, dropped: tuple[str, ...]) -> tuple[str, ...]:
    """Notes on what was asked for besides the rows and could not be done with them."""
    named = [*reply.analyses, *([reply.chart] if reply.chart else [])]
    return (*dropped, *(f"no {name[:60]} could be made of this result" for name in named))


def _plain(reading: Reading) -> Reading:
    """The rows alone, as a table."""
    table = implied(OutputAsked(label="table"))
    return reading.model_copy(
        update={
            "requirements": (*reading.requirements, table),
            "intents": (Intent(name=intent_of(reading.requirements)),),
        }
    )


def _implied(reading: Reading, asked: list[Requirement], assume: Collection[Default]) -> Reading:
    return reading.model_copy(
        update={"requirements": with_implied(asked, assume), "intents": (Intent(name=intent_of(asked)),)}
    )


def _tables_of(reading: Reading) -> tuple[str, ...]:
    """The one that is read, and those that its parts speak of."""
    root, *_ = reading.tables
    nodes = (node for requirement in reading.requirements for node in walk(requirement.value))
    others = {node.table for node in nodes if isinstance(node, Column | Related) and node.table}
    return root, *sorted(others - {root})


def _worded(issue: Issue) -> str:
    return f"{issue.problem}; {issue.hint}" if issue.hint else issue.problem
