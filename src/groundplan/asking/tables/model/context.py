"""What a model is shown of the data before it reads a question: names, meanings, keys and some values, but no rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from groundplan.asking.tables.grammar.meanings import meanings_of
from groundplan.asking.tables.model.values import shown_values
from groundplan.asking.tables.values import Values
from groundplan.context import Context
from groundplan.contracts.columns import Meaning
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Metric, Reading, Requirement
from groundplan.contracts.schema import Column, NamedMetric, SourceSchema, Table
from groundplan.llm.prompt import load_prompt
from groundplan.text.names import split_name
from groundplan.text.stems import stem
from groundplan.text.words import Word, normalise, words_of

PROMPT = "read_sql"
ROOM = 12_000  # characters for the tables, so that a model with a short context still has room to reply
MOST_EXAMPLES = 3
MOST_EARLIER = 4  # questions of the conversation that are told beside the one before
DESCRIBED = 160  # characters of a description
UNLISTED: frozenset[Meaning] = frozenset({"identifier", "text"})  # their values name nothing that people ask about
KINDS = {"number": "NUMBER", "text": "TEXT", "boolean": "BOOLEAN", "other": "TEXT"}
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True)
class Asked:
    """A question with everything that a prompt about it may hold."""

    text: str
    schema: SourceSchema
    values: Mapping[str, Values]
    today: date
    timezone: str = "UTC"
    before: Reading | None = None  # what the question before asked for: this one may follow up on it
    earlier: tuple[Reading, ...] = ()  # the questions before that one, oldest first
    examples: tuple[Reading, ...] = ()  # that a person approved
    share_values: bool = True
    first: tuple[str, ...] = ()  # tables that the model asked to see

    @property
    def said(self) -> str:
        """The words that the reading may rest on: a follow-up has those of the question before too."""
        return f"{self.before.question} {self.text}" if self.before else self.text

    def otherwise_shown(self) -> Asked:
        """The same question for a second, independent reading: tables in another order, and no examples."""
        turned = self.schema.model_copy(update={"tables": self.schema.tables[::-1]})
        return replace(self, schema=turned, examples=())


async def asked_of(question: Question, context: Context, values: Mapping[str, Values], *, share_values: bool) -> Asked:
    """The question with the tables, the turn before it and the approved examples of this context."""
    return Asked(
        text=normalise(question.text),
        schema=context.tables,
        values=values,
        today=question.today,
        timezone=question.timezone,
        before=context.turns[-1].reading if context.turns else None,
        earlier=tuple(turn.reading for turn in context.turns[-1 - MOST_EARLIER : -1]),
        examples=await context.plans.approved() if context.plans else (),
        share_values=share_values,
    )


def prompt_for(asked: Asked) -> str:
    """Exactly what is sent for the question, and what `groundplan doctor --prompt` prints."""
    tables, left_out = _tables(asked)
    return load_prompt(PROMPT).fill(
        tables="\n\n".join(tables),
        links="\n".join(_links(asked.schema)),
        metrics="\n".join(_metrics(asked.schema)),
        others=load_prompt("read_others").fill(names=", ".join(left_out)) if left_out else "",
        examples="\n".join(_examples(asked)),
        before=_before(asked),
        today=f"{asked.today.isoformat()} ({asked.today:%A})",
        question=asked.text,
    )


def _tables(asked: Asked) -> tuple[list[str], list[str]]:
    """The tables that fit, those that share most words with the question first, and the names of the others."""
    words = words_of(asked.said)
    fitting = [table for table in asked.schema.tables if table.columns]
    whole = [_table(table, asked, words) for table in fitting]
    if sum(map(len, whole)) <= ROOM:
        return whole, []
    said = {word.stem for word in words}
    shown: list[str] = []
    left_out: list[str] = []
    for table in sorted(fitting, key=lambda one: (one.name not in asked.first, -_shared(one, said))):
        text = _table(table, asked, words)
        fits = sum(map(len, shown)) + len(text) <= ROOM
        if fits or not shown:
            shown.append(text[:ROOM])
        else:
            left_out.append(quoted(table.name))
    return shown, left_out


def _shared(table: Table, said: set[str]) -> int:
    """How many words of its names the question has."""
    names = (table.name, *table.synonyms, *(column.name for column in table.columns))
    return sum(stem(part) in said for name in names for part in split_name(name))


def _table(table: Table, asked: Asked, words: Sequence[Word]) -> str:
    rows = f"{table.row_count:,} rows" if table.row_count is not None else ""
    called = f"also called {', '.join(table.synonyms)}" if table.synonyms else ""
    keys = f"one row for each {', '.join(map(quoted, table.keys[0]))}" if table.keys else ""
    about = "; ".join(filter(None, (rows, keys, called, _line(table.description))))
    of = meanings_of(table, asked.values.get(table.name, {})).of
    columns = [_column(column, of[column.name], table, asked, words) for column in table.columns]
    return "\n".join((f"TABLE {quoted(table.name)}" + (f" -- {about}" if about else ""), *columns))


def _column(column: Column, meaning: Meaning, table: Table, asked: Asked, words: Sequence[Word]) -> str:
    kind = _time_type(column) if column.kind == "time" else KINDS[column.kind]
    called = f"also called {', '.join(column.synonyms)}" if column.synonyms else ""
    main = "the usual date" if table.main_date == column.name else ""
    empty = "may be empty" if column.nulls else ""
    about = (meaning, column.unit or "", _defined(column), main, called, _line(column.description), empty)
    values = _values(column, meaning, table, asked, words) if asked.share_values else ""
    return f"  {quoted(column.name)} {kind} -- {'; '.join(filter(None, (*about, values)))}"


def _defined(column: Column) -> str:
    """How its publisher takes and computes it."""
    taken = f"usually the {column.usual}" if column.usual else ""
    taken = f"aggregated already: only as AGG({quoted(column.name)})" if column.aggregated else taken
    formula = f"computed as {_line(column.formula)}" if column.formula else ""
    return "; ".join(filter(None, (taken, formula)))


def _values(column: Column, meaning: Meaning, table: Table, asked: Asked, words: Sequence[Word]) -> str:
    """All values or some of them; the range of a number or a time."""
    if column.kind in ("number", "time"):
        known = column.least is not None and column.greatest is not None and meaning != "identifier"
        return f"from {_end(column.least)} to {_end(column.greatest)}" if known else ""
    values = asked.values.get(table.name, {}).get(column.name, ())
    shown, whole = shown_values(values, words)
    if not shown or (meaning in UNLISTED and not whole and len(values) > len(shown)):
        return ""
    synonyms = {one.value: one.words for one in column.called}
    listed = (f"{literal(v)}" + (f" ({', '.join(synonyms[v])})" if v in synonyms else "") for v in shown)
    return ("values " if whole else "values such as ") + ", ".join(listed)


def _end(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).removesuffix("T00:00:00").removesuffix(" 00:00:00")


def _time_type(column: Column) -> str:
    lower = column.type.lower()
    return "DATE" if lower.startswith("date") and "time" not in lower else "TIMESTAMP"


def _links(schema: SourceSchema) -> Iterator[str]:
    for link in schema.relationships:
        pairs = zip(link.columns, link.to_columns, strict=False)
        joined = " AND ".join(
            f"{quoted(link.table)}.{quoted(own)} = {quoted(link.to_table)}.{quoted(other)}" for own, other in pairs
        )
        called = f" ({link.called})" if link.called else ""
        yield f"many {quoted(link.table)} to one {quoted(link.to_table)}{called}: {joined}"


def _metrics(schema: SourceSchema) -> Iterator[str]:
    from groundplan.asking.tables.sql.write import Unwritable, sql_of

    for metric in schema.metrics:
        called = f" (also {', '.join(metric.synonyms)})" if metric.synonyms else ""
        try:
            yield f"{metric.name}{called}: {sql_of(_as_reading(metric), schema)}"
        except Unwritable:
            continue


def _as_reading(metric: NamedMetric) -> Reading:
    value = Metric(expression=metric.expression, name=metric.name)
    named = Requirement(id=f"metric:{metric.name}"[:256], value=value, implied=True)
    return Reading(question=metric.name, tables=(metric.table,), requirements=(named,))


def _examples(asked: Asked) -> Iterator[str]:
    """Approved readings of questions about the same tables, the likest first."""
    tables, said = {table.name for table in asked.schema.tables}, {word.stem for word in words_of(asked.text)}

    def shared(reading: Reading) -> int:
        return len(said & {word.stem for word in words_of(reading.question)})

    own = [reading for reading in asked.examples if reading.tables and {*reading.tables} <= tables]
    told = ((reading, _sql(reading, asked.schema)) for reading in sorted(own, key=shared, reverse=True))
    for reading, sql in [pair for pair in told if pair[1]][:MOST_EXAMPLES]:
        yield f"Question: {_line(reading.question)}\n{sql}"


def _before(asked: Asked) -> str:
    if asked.before is None:
        return ""
    sql = _sql(asked.before, asked.schema)
    before = load_prompt("read_before").fill(question=_line(asked.before.question), sql=sql or "(not known)")
    told = [f"- {_line(one.question)}: {_sql(one, asked.schema) or '(not known)'}" for one in asked.earlier]
    earlier = load_prompt("read_earlier").fill(turns="\n".join(told)) if told else ""
    return f"{earlier}\n{before}" if earlier else before


def _sql(reading: Reading, schema: SourceSchema) -> str:
    """The reading as SQL; empty if it cannot be written so."""
    from groundplan.asking.tables.sql.write import Unwritable, sql_of

    try:
        return " ".join(sql_of(reading, schema).split())
    except Unwritable:
        return ""


def quoted(name: str) -> str:
    """A name as SQL writes it: in quotes unless it is plain."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    return "'" + " ".join(value.split()).replace("'", "''") + "'"


def _line(text: str) -> str:
    return " ".join(text.split())[:DESCRIBED]
