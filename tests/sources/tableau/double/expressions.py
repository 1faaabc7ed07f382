"""Fields, functions and formulas of a request as SQL for DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb
from tests.sources.tableau.double.catalogue import Catalogue, DataType, Field
from tests.sources.tableau.double.errors import refused
from tests.sources.tableau.double.superstore import TABLE

AGGREGATES = {
    "SUM": "sum({})",
    "AVG": "avg({})",
    "MEDIAN": "median({})",
    "COUNT": "count({})",
    "COUNTD": "count(DISTINCT {})",
    "MIN": "min({})",
    "MAX": "max({})",
    "STDEV": "stddev_samp({})",
    "VAR": "var_samp({})",
}
PARTS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY")
DATE_FUNCTIONS = {part: f"extract({part} FROM {{}})" for part in PARTS} | {
    f"TRUNC_{part}": f"CAST(date_trunc('{part}', {{}}) AS DATE)" for part in PARTS
}
TYPES: dict[str, DataType] = {"VARCHAR": "STRING", "DATE": "DATE", "BOOLEAN": "BOOLEAN", "BIGINT": "INTEGER"}
ANY_TYPE = ("MIN", "MAX", "COUNT", "COUNTD")
BY_TYPE: dict[DataType, tuple[str, ...]] = {
    "INTEGER": tuple(AGGREGATES),
    "REAL": tuple(AGGREGATES),
    "STRING": ANY_TYPE,
    "BOOLEAN": ANY_TYPE,
    "DATE": (*ANY_TYPE, *DATE_FUNCTIONS),
}


@dataclass(frozen=True)
class Expression:
    sql: str
    type: DataType
    aggregates: bool


@dataclass
class Expressions:
    """Turns what a request names into SQL; its values go beside the SQL, never into it."""

    catalogue: Catalogue
    connection: duckdb.DuckDBPyConnection
    values: dict[str, Any] = field(default_factory=dict)

    def bind(self, value: object) -> str:
        name = f"value_{len(self.values)}"
        self.values[name] = value
        return f"${name}"

    def of(self, named: dict[str, Any]) -> Expression:
        """Of anything that names a field: a field of the query, of a filter, of a table calculation."""
        if "calculation" in named:
            return self.formula(named["calculation"])
        known = self.catalogue.get(named["fieldCaption"])
        if "binSize" in named:
            return self._bin(known, named["binSize"])
        return self._applied(known, named.get("function"))

    def formula(self, text: str) -> Expression:
        """The part of Tableau's language that the examples of its manual need; the engine says whether it holds."""
        tokens = list(_tokens(text))
        sql = " ".join(self._token(token) for token in tokens).replace("COUNTD (", "count ( DISTINCT")
        try:
            kind = self.connection.execute(f"DESCRIBE SELECT ({sql}) FROM {TABLE}").fetchall()[0][1]
        except duckdb.Error:
            raise refused("400800", f"The calculation {text!r} is not a formula.") from None
        named = [self.catalogue.get(token[1:-1]) for token in tokens if token.startswith("[")]
        aggregates = any(token in AGGREGATES for token in tokens) or any(field.aggregates for field in named)
        return Expression(f"({sql})", TYPES.get(kind, "REAL"), aggregates)

    def _applied(self, known: Field, function: str | None) -> Expression:
        sql = self.catalogue.sql(known)
        if function is None or (function == "AGG" and known.aggregates):
            return Expression(sql, known.type, known.aggregates)
        if known.aggregates or function not in BY_TYPE[known.type]:
            raise refused("400803", f"The function {function} does not fit the field {known.caption} ({known.type}).")
        if function in DATE_FUNCTIONS:
            kind: DataType = "DATE" if function.startswith("TRUNC") else "INTEGER"
            return Expression(DATE_FUNCTIONS[function].format(sql), kind, aggregates=False)
        kind = known.type if function in ("MIN", "MAX", "SUM") else "INTEGER" if "COUNT" in function else "REAL"
        return Expression(AGGREGATES[function].format(sql), kind, aggregates=True)

    def _bin(self, known: Field, size: float) -> Expression:
        if known.role != "MEASURE" or known.aggregates:
            raise refused("400803", f"A bin needs a measure; {known.caption} is none.")
        width = self.bind(float(size))
        return Expression(f"(floor({self.catalogue.sql(known)} / {width}) * {width})", "REAL", aggregates=False)

    def _token(self, token: str) -> str:
        if token.startswith("["):
            return self.catalogue.sql(self.catalogue.get(token[1:-1]))
        return "trunc" if token == "INT" else token


def _tokens(text: str) -> Iterator[str]:
    known = re.compile(r"\s*(\[[^\]]+\]|\d+(?:\.\d+)?|<>|<=|>=|[-+*/()<>=,]|(?:SUM|AVG|MIN|MAX|COUNTD?|INT|ABS)\b)\s*")
    at = 0
    while at < len(text):
        found = known.match(text, at)
        if found is None:
            raise refused("400800", f"The calculation has a part that is not known: {text[at : at + 40]!r}.")
        yield found[1]
        at = found.end()
