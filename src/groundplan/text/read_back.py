"""The read-back: how a question about tables was understood, in one sentence and in its language.

average score of rows where subject is Math
total revenue by region, where date is in Q3 2025, top 5
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from groundplan.contracts.contract import Language, Scalar
from groundplan.contracts.expression import (
    Aggregate,
    Arithmetic,
    Cases,
    Column,
    DateCut,
    DatePart,
    Expression,
    Rows,
    Share,
    columns_of,
    walk,
)
from groundplan.contracts.meaning import DAY, Meaning, Sorting, compared_periods, meaning_of, measure_of
from groundplan.contracts.normal_form import of_filter
from groundplan.contracts.reading import (
    AnalysisAsked,
    ColumnsAsked,
    Each,
    Filter,
    GroupBy,
    IntentAsked,
    Metric,
    OutputAsked,
    Rank,
    Reading,
    Requirement,
    Time,
    Value,
)
from groundplan.contracts.wording import Wording, day_named, in_words
from groundplan.text.names import plural, things_of, worded
from groundplan.text.period_names import MONTHS, WEEKDAYS, Whole, period_name, whole_period
from groundplan.text.safe import ACTIVE, as_code, plain

SAID: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "line": "Read as: {}.",
        "yes or no": "; yes or no",
        "own": "{} of {}",
        "readers": " Read by {}.",
        "by words": "words",
        "twice": "{}, twice alike",
        "assumed": " Assumed: {}.",
        "dated by": "dates are those of {}",
        "once": "each {} counts once",
        "and": " and ",
        "also": "; and ",
        "anomaly": "unusual values of {}",
        "correlation": "how {} go together",
        "distribution": "distribution of {}",
        "summary": "summary of {}",
        "all": "{}",
        "all columns": "all columns",
        "every": "every {}",
        "different": "different {}",
        "rows": "rows",
        "combinations": "combinations of {}",
        "each": "each {}",
        "over": " over {}",
        "by": " by {}",
        "long by": ", by {}",
        "where": " where {}",
        "of rows where": " of rows where {}",
        "groups where": ", where {}",
        "among rows where": ", among rows where {}",
        "from rows where": ", from rows where {}",
        "having": ", only those where {}",
        "compared": ", {} in {} compared with {}",
        "whole": "{} is in {}",
        "day": "{} is on {}",
        "days": "{} is from {} to {}",
        "span": "{} to {}",
        "top": "top {}",
        "bottom": "lowest {}",
        "top 1": "only the highest",
        "bottom 1": "only the lowest",
        "top first": "highest first",
        "bottom first": "lowest first",
        "top by": "top {} by {}",
        "bottom by": "lowest {} by {}",
        "top 1 by": "only the one with the highest {}",
        "bottom 1 by": "only the one with the lowest {}",
        "top first by": "sorted by {}, highest first",
        "bottom first by": "sorted by {}, lowest first",
        "then top": "then by {}, highest first",
        "then bottom": "then by {}, lowest first",
        "kept": "ties kept",
        "as_one": "ties kept and counted once",
        "limit": "only {}",
        "these groups": "these groups",
        "for each": " for each {}",
        "tables": ", in {}",
        "chart": ", as {}",
    },
    "ru": {
        "line": "Понято так: {}.",
        "yes or no": "; да или нет",
        "own": "{}: {}",
        "readers": " Прочитано: {}.",
        "by words": "слова",
        "twice": "{}, дважды одинаково",
        "assumed": " Допущения: {}.",
        "dated by": "даты по столбцу {}",
        "once": "каждое значение {} учтено один раз",
        "and": " и ",
        "also": "; и ещё ",
        "anomaly": "необычные значения {}",
        "correlation": "связь {}",
        "distribution": "распределение {}",
        "summary": "сводка: {}",
        "all": "{}",
        "all columns": "все столбцы",
        "every": "все значения: {}",
        "different": "разные значения {}",
        "rows": "строки",
        "rows of": "строк {}",
        "combinations": "сочетаний {}",
        "each": "каждый {}",
        "over": " по каждой из групп {}",
        "by": ", разбивка: {}",
        "long by": ", разбивка: {}",
        "where": ", где {}",
        "of rows where": ", где {}",
        "groups where": ", где {}",
        "among rows where": ", среди строк, где {}",
        "from rows where": ", по строкам, где {}",
        "having": ", только те, у кого {}",
        "compared": ", сравнение периодов ({}): {} и {}",
        "whole": "{} — {}",
        "day": "{} — {}, один день",
        "days": "{} с {} по {}",
        "span": "{} – {}",
        "top": "{} наибольших",
        "bottom": "{} наименьших",
        "top 1": "только наибольшее",
        "bottom 1": "только наименьшее",
        "top first": "по убыванию",
        "bottom first": "по возрастанию",
        "top by": "{} с наибольшим значением: {}",
        "bottom by": "{} с наименьшим значением: {}",
        "top 1 by": "только с наибольшим значением: {}",
        "bottom 1 by": "только с наименьшим значением: {}",
        "top first by": "по убыванию: {}",
        "bottom first by": "по возрастанию: {}",
        "then top": "затем по убыванию: {}",
        "then bottom": "затем по возрастанию: {}",
        "kept": "с равными последнему",
        "as_one": "равные считаются за одно место",
        "limit": "только {}",
        "these groups": "эти группы",
        "for each": " для каждого значения {}",
        "tables": ", таблицы {}",
        "chart": ", {}",
    },
}
CHARTS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "line": "a line chart",
        "bar": "a bar chart",
        "area": "an area chart",
        "scatter": "a scatter plot",
        "histogram": "a histogram",
        "box": "a box plot",
        "heatmap": "a heatmap",
    },
    "ru": {
        "line": "линейный график",
        "bar": "столбчатая диаграмма",
        "area": "диаграмма с областями",
        "scatter": "диаграмма рассеяния",
        "histogram": "гистограмма",
        "box": "ящик с усами",
        "heatmap": "тепловая карта",
    },
}
FORMS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "total": "total",
        "compare": "comparison",
        "trend": "trend",
        "distribution": "distribution",
        "anomaly": "unusual values",
        "correlation": "correlation",
        "share": "share of the whole",
        "ranking": "ranking",
        "summary": "summary",
        "detail": "single rows",
        "chart": "a chart",
        "table": "a table",
        "text": "a text",
        "file": "a file",
    },
    "ru": {
        "total": "итог",
        "compare": "сравнение",
        "trend": "динамика",
        "distribution": "распределение",
        "anomaly": "необычные значения",
        "correlation": "связь",
        "share": "доля от целого",
        "ranking": "рейтинг",
        "summary": "сводка",
        "detail": "отдельные строки",
        "chart": "график",
        "table": "таблица",
        "text": "текст",
        "file": "файл",
    },
}
ANALYSES = ("anomaly", "correlation", "distribution", "summary")
YES: Mapping[Language, tuple[str, str]] = {"en": ("no", "yes"), "ru": ("нет", "да")}
BARE = re.compile(r"[^\W\d_](?:[\w .&/+#-]*[\w+#])?")  # a text that needs no quotes
MISTAKEN = re.compile(r"\b(?:and|or|where|is|by|yes|no|true|false|missing|present)\b", re.IGNORECASE)
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?")


def read_as(reading: Reading) -> str:
    """The line that stands before an answer; empty for tasks and for the lists of trackers."""
    said = SAID[language_of(reading)]
    if {requirement.kind for requirement in reading.requirements} & {"intent", "goal", "constraint"}:
        told = look_ups_in_words(reading)
        return said["line"].format(told) if told else ""
    line = said["line"].format(read_back(reading).removesuffix("."))
    return line + _readers(reading, said) + _assumptions(reading, said)


def look_ups_in_words(reading: Reading) -> str:
    """What is looked up of which entity: `projects where it is used, Kubernetes`; empty if that has no words."""
    said, called = SAID[language_of(reading)], {intent.name: plain(intent.called) for intent in reading.intents}
    asked = [value for r in reading.requirements if isinstance(value := r.value, IntentAsked)]
    if len(asked) < len(reading.requirements) or not all(called.get(one.intent) for one in asked):
        return ""
    names = {entity.id: plain(entity.name) for entity in reading.entities}
    told = [", ".join(filter(None, (called[one.intent], names.get(one.entity or "")))) for one in asked]
    polar = said["yes or no"] if any(one.polar for one in asked) else ""
    return "; ".join(dict.fromkeys(f"{one[0].lower()}{one[1:]}" for one in told)) + polar


def _readers(reading: Reading, said: Mapping[str, str]) -> str:
    """Who read it, where a model did: `Read by words and large.`"""
    names = [said["by words"] if name == "words" else plain(name) for name in reading.read_by]
    if not names:
        return ""
    told = said["twice"].format(names[0]) if len(names) == 2 and names[0] == names[1] else said["and"].join(names)
    return said["readers"].format(told)


def _assumptions(reading: Reading, said: Mapping[str, str]) -> str:
    """What the question leaves open and was taken to be meant: by defaults, or by a model."""
    asked = (requirement for ask in reading.asks for requirement in ask.requirements)
    lines = [*(line for r in asked for line in assumptions_of(r, language_of(reading)))]
    lines += [plain(line).strip(" .") for line in reading.assumes]
    return said["assumed"].format("; ".join(dict.fromkeys(lines))) if lines else ""


def assumptions_of(requirement: Requirement, language: Language) -> Iterator[str]:
    """In words, what the question does not say of a requirement: all of it, its function or its date."""
    value = requirement.value
    if isinstance(value, AnalysisAsked | OutputAsked):
        return
    if isinstance(value, Each) and "once_each" in requirement.assumed:
        yield SAID[language]["once"].format(_wording(language, exact=False).name(value.keys[0]))
    elif requirement.implied or "usual_function" in requirement.assumed:
        grouped = isinstance(value, GroupBy | Time)
        yield SAID[language]["by" if grouped else "all"].format(part_in_words(value, language)).strip(" ,")
    dates = sorted(_dates_in(value, language)) if "main_date" in requirement.assumed else []
    if dates:
        yield SAID[language]["dated by"].format(_list(dates, language))


def _dates_in(value: Value, language: Language) -> set[str]:
    wording = _wording(language, exact=False)
    if isinstance(value, GroupBy | Time) and not (isinstance(value, GroupBy) and value.expression):
        return {wording.name(value.column)}
    if isinstance(value, Each):
        cuts = [part for one in value.computed for part in walk(one.expression) if isinstance(part, DateCut)]
        return {wording.name(part.name) for cut in cuts for part in walk(cut) if isinstance(part, Column)}
    node = of_filter(value) if isinstance(value, Filter) else value
    return {wording.name(part.name) for part in walk(node) if isinstance(part, Column)}


def distinct_sentences(readings: Iterable[Reading]) -> tuple[str, ...]:
    """The sentence of each reading; with names as they are written, if that is how they differ."""
    given = tuple(readings)
    told = tuple(map(read_back, given))
    return told if len({*told}) == len(told) else tuple(read_back(reading, exact=True) for reading in given)


def part_in_words(value: Value, language: Language, *, of_values: bool = False, rows: str | None = None) -> str:
    """One part of a reading as a person would say it: `total revenue`, `region is North`, `top 5`.

    `of_values`: of a look at single values, which have no function. `rows`: what the rows are called.
    """
    wording = replace(_wording(language, exact=False), rows=rows)
    said = SAID[language]
    match value:
        case Metric(column=str() as column, function=None, expression=None) if of_values:
            return wording.name(column)
        case Metric():
            return in_words(measure_of(value), wording)
        case GroupBy(column=column, expression=expression):
            return in_words(expression, wording) if expression is not None else wording.name(column)
        case Time(column=column, grain=grain):
            return in_words(DateCut(of=Column(name=column), grain=grain), wording) if grain else wording.name(column)
        case Filter():
            return in_words(of_filter(value), wording)
        case Rank(direction=direction, limit=limit, by=by, then=then, ties=shared):
            kept = "" if (limit or 0) > 1 else " 1" if limit else " first"
            given = [str(limit)] if (limit or 0) > 1 else []
            sorted_by = (
                by.of if isinstance(by, Aggregate) and isinstance(by.of, DatePart) else by
            )  # the same in a group
            given += [in_words(sorted_by, wording)] if sorted_by else []
            ties = [said[f"then {one.direction}"].format(in_words(one.by, wording)) for one in then]
            ties += [said[shared]] if shared != "cut" else []
            return ", ".join((said[direction + kept + (" by" if by else "")].format(*given), *ties))
        case ColumnsAsked(columns=columns):
            return _list([wording.name(column) for column in columns], language)
        case Each(keys=keys, computed=computed):
            made = {one.name: in_words(one.expression, wording) for one in computed}
            named = [made.get(key, wording.name(key)) for key in keys]
            return said["for each"].strip().format(_list(named, language))
        case OutputAsked(chart=str() as chart):
            return CHARTS[language][chart]
        case AnalysisAsked(label=label) | OutputAsked(label=label):
            return FORMS[language].get(label, label)
        case _:
            return value.kind


def read_back(reading: Reading, *, exact: bool = False) -> str:
    """The reading as one sentence; `exact` quotes the names of columns instead of writing them as words."""
    if reading.also:
        return SAID[language_of(reading)]["also"].join(read_back(ask, exact=exact) for ask in reading.asks)
    language = language_of(reading)
    said, wording = SAID[language], replace(_wording(language, exact), rows=rows_called(reading))
    sides = compared_periods(reading.requirements)
    kept = tuple(r for r in reading.requirements if r not in sides)
    meaning = meaning_of(reading.model_copy(update={"requirements": kept}))
    text = "".join((_subject(reading, meaning, wording), _groups(meaning, wording), *_conditions(meaning, wording)))
    if sides:
        text += _sides(sides, wording)
    for asked in (r.value for r in reading.requirements if isinstance(r.value, AnalysisAsked)):
        if asked.label not in FORMS[language]:  # a tool brings it
            named = "".join(f", {name} = {value}" for name, value in asked.settings)
            text = said["own"].format(asked.label.replace("_", " "), text) + named
    order = _order(meaning, wording)
    text += f", {order}" if order else ""
    if len(reading.tables) > 1:
        text += said["tables"].format(_list([plain(table) for table in reading.tables], language))
    chart = _chart(reading)
    return text + said["chart"].format(CHARTS[language][chart]) if chart else text


def language_of(reading: Reading) -> Language:
    return "ru" if reading.language == "ru" else "en"


# what is asked for


def _subject(reading: Reading, meaning: Meaning, wording: Wording) -> str:
    said = SAID[wording.language]
    measures = _measures(reading, meaning, wording)
    labels = {r.value.label for r in reading.requirements if isinstance(r.value, AnalysisAsked)}
    label = next((label for label in ANALYSES if label in labels), None)
    bare = [r.value.column for r in reading.requirements if isinstance(r.value, Metric) and _is_bare(r.value)]
    columns = [_column(node, meaning.distinct, wording) for node in meaning.columns if node not in meaning.measures]
    if label and (bare or label == "summary"):
        names = [wording.name(name) for name in bare if name] or [said["all columns"]]
        return said[label].format(_list(names, wording.language))
    if measures or columns:
        distinct = said["different"] if meaning.distinct else "{}"
        shown = [] if meaning.groups and not meaning.distinct and measures else columns
        told = _list([*measures, *shown], wording.language)
        return distinct.format(told) + _over(meaning, wording)
    if meaning.groups:
        return said["every"].format(_list(_sorted(meaning.groups, wording), wording.language)) + _over(meaning, wording)
    return wording.rows if wording.rows and wording.language == "en" else said["rows"]


def _column(node: Expression, distinct: bool, wording: Wording) -> str:
    return wording.several(node.name) if distinct and isinstance(node, Column) else in_words(node, wording)


def _is_bare(metric: Metric) -> bool:
    """Whether it is a column without a function."""
    return metric.function is None and metric.expression is None


def _measures(reading: Reading, meaning: Meaning, wording: Wording) -> list[str]:
    """The measures in words. A share that an analysis asks for is one of each measure."""
    asked = any(isinstance(r.value, AnalysisAsked) and r.value.label == "share" for r in reading.requirements)
    shared = asked and not any(isinstance(node, Share) for measure in meaning.measures for node in walk(measure))
    measures = [Share(of=measure) if shared else measure for measure in meaning.measures]
    own = wording if meaning.things is None else replace(wording, things=_things(meaning, wording))
    if isinstance(meaning.along, DateCut) and meaning.along.grain:
        own = replace(own, grain=meaning.along.grain)
    several = len(measures) > 1
    return sorted(
        f"({told})" if several and isinstance(node, Arithmetic) else told
        for node, told in ((measure, in_words(measure, own)) for measure in measures)
    )


PLURAL = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)*s(?: [^\W\d_]+ed)?")
"""A name for rows: `orders`, `requests merged`."""


def rows_called(reading: Reading) -> str | None:
    """What the rows are, in the plural: what the question or the table calls them. None if things are counted."""
    values = [requirement.value for requirement in reading.requirements]
    if not reading.tables or any(isinstance(value, Each) for value in values):
        return None
    table = reading.tables[0]
    if language_of(reading) == "ru":
        return SAID["ru"]["rows of"].format(_quoted(worded(table), "ru"))
    names = (v.name for v in values if isinstance(v, Metric) and v.column is None and _says_rows(v))
    return next((name for name in names if name and PLURAL.fullmatch(name)), None) or things_of(table)


def _says_rows(metric: Metric) -> bool:
    """True of a count of rows whose name somebody said: `rows` beside another measure is ours."""
    return metric.expression is None or (metric.expression == Rows() and metric.name != "rows")


def _things(meaning: Meaning, wording: Wording) -> str:
    """What identifies the things; what is measured and grouped by is said already."""
    assert meaning.things is not None
    keys = {key.name for key in meaning.things.keys if isinstance(key, Column)}
    said = {name for node in (*meaning.measures, *meaning.groups) for name in columns_of(node)}
    made = sorted(in_words(key, wording) for key in meaning.things.keys if not isinstance(key, Column))
    names = sorted(keys - said) or ([] if made else sorted(keys))
    if len(names) == 1 and not made:
        return wording.several(names[0])
    if len(made) == 1 and not names:
        return SAID[wording.language]["each"].format(made[0])
    told = [*map(wording.name, names), *made]
    return SAID[wording.language]["combinations"].format(_list(told, wording.language))


def _over(meaning: Meaning, wording: Wording) -> str:
    """The things that measures are taken over; a count names them itself."""
    if meaning.things is None or (meaning.measures and all(isinstance(m, Rows) for m in meaning.measures)):
        return ""
    return SAID[wording.language]["over"].format(_things(meaning, wording))


def _groups(meaning: Meaning, wording: Wording) -> str:
    if not meaning.groups or not (meaning.measures or meaning.columns):
        return ""
    key = "long by" if any(isinstance(measure, Arithmetic) for measure in meaning.measures) else "by"
    return SAID[wording.language][key].format(_list(_sorted(meaning.groups, wording), wording.language))


def _sorted(nodes: Iterable[Expression], wording: Wording) -> list[str]:
    """In words; times last, as people say it."""
    return [in_words(node, wording) for node in sorted(nodes, key=lambda n: (isinstance(n, DateCut), in_words(n)))]


# of which rows


def _conditions(meaning: Meaning, wording: Wording) -> Iterator[str]:
    said = SAID[wording.language]
    if meaning.where is not None:
        yield said[_link(meaning)].format(in_words(meaning.where, wording))
    if meaning.things is not None and meaning.things.where is not None:
        yield said["from rows where"].format(in_words(meaning.things.where, wording))
    if meaning.having is not None:
        yield said["having"].format(in_words(meaning.having, wording))


def _link(meaning: Meaning) -> str:
    """How the condition follows what was said before it."""
    if any(getattr(node, "where", None) for measure in meaning.measures for node in walk(measure)):
        return "among rows where"
    if meaning.groups:
        return "groups where"
    counted = all(isinstance(measure, Rows) for measure in meaning.measures)
    return "where" if counted and not meaning.columns else "of rows where"


def _sides(sides: Sequence[Requirement], wording: Wording) -> str:
    earlier, later = sorted(side.value.values for side in sides if isinstance(side.value, Filter))
    column = next(side.value.column for side in sides if isinstance(side.value, Filter))
    spans = (_span(str(start), str(end), wording.language) for start, end in (later, earlier))
    return SAID[wording.language]["compared"].format(wording.name(column or ""), *spans)


# order, cut and chart


def _order(meaning: Meaning, wording: Wording) -> str:
    said = SAID[wording.language]
    if meaning.order is None:
        return said["limit"].format(meaning.limit) if meaning.limit else ""
    if _is_week(meaning):
        return ""
    told = said[_order_key(meaning, meaning.order)]
    given = [str(meaning.limit)] if (meaning.limit or 0) > 1 else []
    if {meaning.order[0]} != meaning.measures:
        given.append(_ordering(meaning.order[0], meaning, wording))
    told = told.format(*given)
    within = _list(_sorted(meaning.within, wording), wording.language) if meaning.within else ""
    told += said["for each"].format(within) if within else ""
    then = ((by, "then top" if descending else "then bottom") for by, descending in meaning.then)
    ties = [said[meaning.ties]] if meaning.ties != "cut" else []
    return ", ".join((told, *(said[key].format(_ordering(by, meaning, wording)) for by, key in then), *ties))


def _is_week(meaning: Meaning) -> bool:
    """All days from Monday to Sunday, as anybody would list them."""
    days = [day_named(group) for group in meaning.groups if isinstance(group, Cases)]
    by, descending = meaning.order or (None, True)
    return not (descending or meaning.limit or meaning.then) and any(
        by == Aggregate(function="min", of=day) for day in days if day
    )


def _ordering(by: Expression, meaning: Meaning, wording: Wording) -> str:
    """What the result is ordered by; groups that were listed before are not listed again."""
    listed = [group for group in meaning.groups if isinstance(group, Cases)]
    return SAID[wording.language]["these groups"] if listed == [by] else in_words(by, wording)


def _order_key(meaning: Meaning, order: Sorting) -> str:
    way = "top" if order[1] else "bottom"
    kept = "" if (meaning.limit or 0) > 1 else " 1" if meaning.limit else " first"
    return way + kept + ("" if {order[0]} == meaning.measures else " by")


def _chart(reading: Reading) -> str | None:
    drawn = [r.value.chart for r in reading.requirements if isinstance(r.value, OutputAsked) and not r.implied]
    return next(filter(None, drawn), None)


# names and values


def _wording(language: Language, exact: bool) -> Wording:
    def name(column: str) -> str:
        written = column if exact else worded(column)
        return _quoted(written, language) if exact or language == "ru" else _safe(written)

    def several(column: str) -> str:
        return name(column) if exact or language == "ru" else plural(name(column))

    def value(given: Scalar) -> str:
        return _value(given, language)

    def period(words: str, start: Scalar, end: Scalar) -> str | None:
        return _period(words, str(start), str(end), language)

    def part(unit: str, given: Scalar) -> str | None:
        return _part(unit, given, language)

    return Wording(language, name, several, value, period, part)


def _safe(text: str) -> str:
    return as_code(text) if ACTIVE.search(text) else plain(text)


def _quoted(text: str, language: Language) -> str:
    if ACTIVE.search(text):
        return as_code(text)
    return f"«{plain(text)}»" if language == "ru" else f'"{plain(text)}"'


def _value(given: Scalar, language: Language) -> str:
    match given:
        case bool():
            return YES[language][given]
        case int() | float():
            return _number(given, language)
        case str() if MOMENT.fullmatch(given):
            return given
        case str() if language == "en" and BARE.fullmatch(given) and not MISTAKEN.search(given):
            return plain(given)
        case _:
            return _quoted(str(given), language)


def _number(given: float, language: Language) -> str:
    whole = int(given) if given == int(given) else given
    text = f"{whole:,}" if abs(whole) >= 10_000 else str(whole)
    return text if language == "en" else text.replace(",", " ").replace(".", ",")


def _period(words: str, start: str, end: str, language: Language) -> str | None:
    """None if the range is not one of whole days."""
    if not (DAY.fullmatch(start) and DAY.fullmatch(end) and start < end):
        return None
    said = SAID[language]
    grain = whole_period(start, end)
    if grain:
        return said["whole"].format(words, _named(start, grain, language))
    last = (date.fromisoformat(end) - timedelta(days=1)).isoformat()
    return said["day"].format(words, start) if last == start else said["days"].format(words, start, last)


def _named(start: str, grain: Whole, language: Language) -> str:
    name = period_name(date.fromisoformat(start[:10]), grain, language)
    return f"{name} год" if language == "ru" and grain != "month" else name


def _span(start: str, end: str, language: Language) -> str:
    """A period by its name, or by its first and last day."""
    grain = whole_period(start, end)
    if grain:
        return _named(start, grain, language)
    last = (date.fromisoformat(end[:10]) - timedelta(days=1)).isoformat()
    return last if last == start else SAID[language]["span"].format(start, last)


def _part(unit: str, given: Scalar, language: Language) -> str | None:
    names = {"weekday": WEEKDAYS, "month": MONTHS}.get(unit)
    if names is None or not isinstance(given, int | float) or given not in range(1, len(names[language]) + 1):
        return None
    return names[language][int(given) - 1]


def _list(items: Sequence[str], language: Language) -> str:
    return SAID[language]["and"].join(filter(None, (", ".join(items[:-1]), items[-1])))
