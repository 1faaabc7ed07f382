"""The numbers of an analytics question, each compared with the period before, as readings of tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from groundplan.asking.lists.plan import NumberRule
from groundplan.asking.lists.quoting import implied, quoted
from groundplan.contracts.answer import Clarification
from groundplan.contracts.columns import Grain
from groundplan.contracts.contract import Language
from groundplan.contracts.expression import Aggregate, Column, Elapsed
from groundplan.contracts.reading import (
    AnalysisAsked,
    Filter,
    Intent,
    Metric,
    OutputAsked,
    Period,
    Reading,
    Requirement,
    Time,
    Value,
)
from groundplan.contracts.retrieval import Reasoning

MONTHS: Mapping[int, Grain] = {1: "month", 3: "quarter", 12: "year"}
DAYS: Mapping[Grain, int] = {"minute": 0, "hour": 0, "day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}
LAST = date(9999, 12, 31)  # the end of a period that has none


def read_numbers(
    text: str, reasoning: Reasoning, numbers: Iterable[NumberRule], period: Period, language: Language
) -> Reading:
    """One reading for each number; those about the same table stand together."""
    readings = [
        _Asked(text, reasoning, period, language).reading(number) for number in numbers if _is_long(period, number)
    ]
    first, *others = readings
    return first.model_copy(update={"also": tuple(others)})


def _is_long(period: Period, number: NumberRule) -> bool:
    """False if a number along time would have one value."""
    return not number.grain or (period.end - period.start).days > DAYS[number.grain]


def unanswerable(reasoning: Reasoning, group: str, russian: bool) -> Clarification | None:
    """Analytics have one period, no statuses and no groups: other words would change the numbers."""
    said = reasoning.said
    if len(said.get("dates", ())) > 1:
        text = "В вопросе несколько периодов. Какой нужен?" if russian else "Which of the periods do you mean?"
        return Clarification(text=text, missing="the period")
    words = next((said[name][0] for name in ("statuses", "author", "assignee") if said.get(name)), group)
    if not words:
        return None
    text = (
        f"Сводка не учитывает «{words}». Спросите о коммитах, мердж-реквестах или задачах."
        if russian
        else f"Analytics are not filtered or split by {words!r}. Ask for commits, merge requests or issues."
    )
    return Clarification(text=text, missing=words)


def unfinished(reading: Reading, today: date) -> str:
    """A remark on a period that is not over, and is compared with a whole one; empty if there is none."""
    compares = any(r.value == AnalysisAsked(label="compare") for ask in reading.asks for r in ask.requirements)
    if not compares or reading.period is None or reading.period.end <= today:
        return ""
    last = (reading.period.end - timedelta(days=1)).isoformat()
    if reading.language == "ru":
        return f"период длится до {last} и ещё не закончился, а сравнивается с целым предыдущим"
    return f"the period lasts until {last} and is not over, but is compared with the whole period before"


def closed_period(period: Period, today: date) -> Period:
    """A period without an end ends today."""
    return period if period.end < LAST else period.model_copy(update={"end": today + timedelta(days=1)})


def period_before(period: Period) -> tuple[date, date]:
    """As many months, or as many days, as the period has."""
    start, end = period.start, period.end
    if start.day == end.day == 1:
        return _months_earlier(start, _month(end) - _month(start)), start
    return start - (end - start), start


def calendar_grain(period: Period) -> Grain | None:
    """The unit that the period is one of."""
    start, days = period.start, (period.end - period.start).days
    months = _month(period.end) - _month(start)
    if start.day == period.end.day == 1 and months in MONTHS and (start.month - 1) % months == 0:
        return MONTHS[months]
    return "day" if days == 1 else "week" if days == 7 and start.weekday() == 0 else None


def _month(day: date) -> int:
    return day.year * 12 + day.month - 1


def _months_earlier(day: date, months: int) -> date:
    year, month = divmod(_month(day) - months, 12)
    return date(year, month + 1, 1)


@dataclass(frozen=True)
class _Asked:
    """The question, its projects and its period."""

    text: str
    reasoning: Reasoning
    period: Period
    language: Language

    def reading(self, number: NumberRule) -> Reading:
        return Reading(
            question=self.text,
            language=self.language,
            tables=(number.table,),
            requirements=(self.metric(number), *self.kept(number), *self.looked_at(number)),
            intents=tuple(Intent(name=one.type, confidence=one.confidence) for one in self.reasoning.intents),
            period=self.period,
        )

    @property
    def intent(self) -> str:
        """The words that ask for analytics."""
        return next((one.said for one in self.reasoning.intents if one.said), "")

    def metric(self, number: NumberRule) -> Requirement:
        name = number.called.get(self.language)
        value = Metric(function="count", name=name)
        if number.since:
            days = Elapsed(start=Column(name=number.since), end=Column(name=number.by), unit="day")
            value = Metric(expression=Aggregate(function="mean", of=days), name=name)
        return self.quoted(f"metric:{name or 'rows'}", value, self.intent)

    def kept(self, number: NumberRule) -> Iterator[Requirement]:
        projects = self.reasoning.entities.get("projects", ())
        if projects:
            kept = Filter(column="project", operator="in" if len(projects) > 1 else "=", values=projects)
            yield self.quoted("filter:project", kept, *self.reasoning.said.get("projects", ()))
        start, end = self.period.start, self.period.end
        if number.since and calendar_grain(self.period):
            start, _ = period_before(self.period)  # one value for each of the two
        within = Filter(column=number.by, operator="between", values=(start.isoformat(), end.isoformat()))
        yield self.quoted(f"filter:{number.by}", within, *self.reasoning.said.get("dates", ()))

    def looked_at(self, number: NumberRule) -> Iterator[Requirement]:
        """Along time, or beside the period before. A mean of days stands alone where that is no week, month or year."""
        grain = number.grain or (calendar_grain(self.period) if number.since else None)
        if grain:
            yield self.quoted(f"time:{number.by}", Time(column=number.by, grain=grain), self.intent)
        elif not number.since:
            before = tuple(day.isoformat() for day in period_before(self.period))
            kept = Filter(column=number.by, operator="between", values=before)
            yield self.quoted(f"filter:{number.by}#2", kept, self.intent)
            yield self.quoted("analysis:compare", AnalysisAsked(label="compare"), self.intent)
        if number.grain:
            yield implied("analysis:trend", AnalysisAsked(label="trend"))
            yield implied("output:chart", OutputAsked(label="chart"))
        yield implied("output:table", OutputAsked(label="table"))

    def quoted(self, id_: str, value: Value, *said: str) -> Requirement:
        return quoted(id_, value, self.text, *said)
