"""Verifies a query that somebody else wrote: what it asks, in words, and what is wrong with it. Nothing is executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date

from sqlglot.errors import SqlglotError

from groundplan.asking.tables.model.contradictions import contradictions
from groundplan.asking.tables.sql.parse import translate
from groundplan.asking.tables.sql.statement import parse_select
from groundplan.asking.tables.sql.untranslatable import NotASelect, Untranslatable
from groundplan.asking.tables.sql.verify_joins import repeated_rows
from groundplan.asking.tables.sql.verify_names import Query, unknown_columns, unknown_tables, unknown_values
from groundplan.asking.tables.values import Values
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.verification import Finding, Verification
from groundplan.text.read_back import read_as

RULES: tuple[Callable[[Query], Iterator[Finding]], ...] = (
    unknown_tables,
    unknown_columns,
    unknown_values,
    repeated_rows,
)
MISNAMED = frozenset({"verify/unknown-table", "verify/unknown-column"})
MOST_FINDINGS = 20
HINT = "look at the question and the query again: one of them means something else"


def verify(
    question: str,
    sql: str,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    timezone: str = "UTC",
) -> Verification:
    """`values` are the texts that columns hold, by table; those of a column count as all if there are no more."""
    try:
        findings = _findings(Query(parse_select(sql), schema, values))
    except NotASelect as error:
        problem, hint = f"this is not one SELECT: {error.construct}", "write one SELECT in DuckDB's dialect"
        return _result([Finding(code="verify/not-a-select", problem=problem, where=error.detail, hint=hint)])
    except (Untranslatable, SqlglotError, RecursionError) as error:
        return _result([], unverified=(_in_short(error),))
    if any(finding.code in MISNAMED for finding in findings):
        return _result(findings)
    try:
        read = translate(sql, schema, values, today=today, question=question)
    except Untranslatable as error:
        return _result(findings, unverified=(_in_short(error),))
    against = contradictions(read.reading, question, schema, values, today=today, timezone=timezone)
    findings += [
        Finding(
            code=one.code, problem=_of_query(one.problem), hint=HINT, severity="error" if one.certain else "warning"
        )
        for one in against
        if one.code != "value/unknown"  # found in the query itself, with its place
    ]
    return _result(findings, reading=read.reading, notes=read.notes)


def _findings(query: Query) -> list[Finding]:
    found = dict.fromkeys(finding for rule in RULES for finding in rule(query))
    return sorted(found, key=lambda finding: finding.severity)[:MOST_FINDINGS]


def _result(
    findings: list[Finding],
    *,
    unverified: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    reading: Reading | None = None,
) -> Verification:
    errors = any(finding.severity == "error" for finding in findings)
    return Verification(
        result="faulty" if errors else "unverified" if unverified else "sound",
        read_as=read_as(reading) if reading else "",
        findings=tuple(findings),
        unverified=unverified,
        notes=notes,
        reading=reading,
    )


def _of_query(problem: str) -> str:
    return problem.replace("the reading", "the query")


def _in_short(error: Exception) -> str:
    if isinstance(error, Untranslatable):
        return f"{error.construct} ({error.detail})" if error.detail else error.construct
    return str(error).partition("\n")[0][:300] or type(error).__name__
