"""The second gate: only a single plain SELECT over the source's own tables may run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from groundplan.errors import QueryRefused

LONGEST = 400_000  # characters: enough for a filter with a thousand long values

QUERY = (
    exp.Select, exp.Union, exp.Subquery, exp.CTE, exp.From, exp.Join, exp.Table, exp.TableAlias,
    exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Distinct,
    exp.Identifier, exp.Column, exp.Alias, exp.Star, exp.Paren, exp.Tuple,
    exp.Literal, exp.Null, exp.Boolean, exp.Var, exp.Window, exp.WindowSpec, exp.WithinGroup, exp.Filter,
    exp.Exists,
)  # fmt: skip
OPERATORS = (
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Is, exp.Between,
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.DPipe, exp.Case, exp.If, exp.Kwarg,
    exp.Cast, exp.DataTypeParam, exp.Interval, exp.RegexpLike, exp.NullSafeEQ,
)  # fmt: skip
FUNCTIONS = (
    exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count, exp.Stddev, exp.StddevSamp, exp.Variance, exp.VariancePop,
    exp.CovarPop, exp.Corr, exp.PercentileCont, exp.Quantile, exp.ApproxDistinct, exp.LogicalOr, exp.LogicalAnd,
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue,
    exp.Coalesce, exp.Nullif, exp.Least, exp.Greatest,
    exp.Abs, exp.Round, exp.Floor, exp.Ceil, exp.Ln, exp.Log, exp.Pow, exp.Sqrt, exp.IsInf, exp.IsNan,
    exp.Lower, exp.Upper, exp.Length, exp.Substring, exp.Trim,
    exp.Contains, exp.StartsWith, exp.EndsWith, exp.Right, exp.StrPosition, exp.Concat, exp.Extract,
    exp.DayOfWeek, exp.DateDiff, exp.DateTrunc, exp.TimestampTrunc, exp.DateFromParts, exp.TimestampFromParts,
)  # fmt: skip
ALLOWED = frozenset(QUERY + OPERATORS + FUNCTIONS)
UNTYPED = frozenset({"MAKE_DATE", "TO_SECONDS", "TO_MILLISECONDS", "SUFFIX"})
"""Allowed functions that the parser has no node type for."""

OF_DIALECT: Mapping[str, tuple[type[exp.Expr], ...]] = {
    "bigquery": (
        exp.CountIf, exp.DatetimeDiff, exp.SafeDivide, exp.Trunc, exp.TsOrDsToDate, exp.TsOrDsToDatetime, exp.WeekStart,
    ),
    "clickhouse": (exp.CountIf, exp.DayOfWeekIso, exp.TsOrDsToDate, exp.WeekOfYear),
    "databricks": (exp.SafeDivide, exp.TsOrDsToDate),
    "duckdb": (exp.Array, exp.Explode),
    "mysql": (
        exp.DateAdd, exp.DateSub, exp.Day, exp.Hex, exp.Left, exp.Month, exp.Quarter, exp.TimestampDiff,
        exp.Timestamp, exp.TimeToStr, exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.Unhex, exp.WeekOfYear, exp.Year,
    ),
    "postgres": (exp.MakeInterval,),
    "pyspark": (exp.TryCast, exp.TsOrDsToDate),
    "snowflake": (exp.CountIf, exp.DateAdd, exp.TsOrDsToDate, exp.TsOrDsToTimestamp),
    "sqlite": (exp.Date, exp.TimeToStr, exp.TsOrDsToTimestamp),
    "trino": (
        exp.DayOfWeekIso, exp.FromISO8601Date, exp.FromISO8601Timestamp, exp.TsOrDsToDate, exp.WeekOfYear,
    ),
}  # fmt: skip
UNTYPED_OF_DIALECT: Mapping[str, frozenset[str]] = {
    "bigquery": frozenset({"IEEE_DIVIDE"}),
    "clickhouse": frozenset(
        {
            "ISNULL", "ISNOTNULL", "LAGINFRAME", "LEADINFRAME", "COUNTDISTINCTIF", "UNIQIF", "TODATE", "TODATETIME",
            "TODATETIME64", "TODAYOFMONTH", "TODAYOFWEEK", "TOHOUR",
            "TOISOWEEK", "TOMONTH", "TOQUARTER", "TOSTARTOFDAY", "TOSTARTOFHOUR", "TOSTARTOFMINUTE", "TOSTARTOFMONTH",
            "TOSTARTOFQUARTER", "TOSTARTOFYEAR", "TOMONDAY", "TOYEAR", "PARSEDATETIMEBESTEFFORT", "STDDEVSAMP",
            "STDDEVPOP", "VARSAMP", "VARPOP", "SUMIF", "AVGIF", "MINIF", "MAXIF", "COUNTIF", "STDDEVSAMPIF", "VARPOPIF",
            "UNIQEXACT", "UNIQEXACTIF", "POSITIONUTF8", "LENGTHUTF8", "SUBSTRINGUTF8", "LOWERUTF8", "UPPERUTF8",
        }
    ),
    "pyspark": frozenset({"MAKE_DT_INTERVAL"}),
    "trino": frozenset({"IS_INFINITE", "DAY_OF_WEEK", "PARSE_DURATION", "WEEK_OF_YEAR"}),
    "mysql": frozenset({"CHAR_LENGTH", "MAKEDATE", "WEEKDAY"}),
    "sqlite": frozenset(
        {
            "DATE", "DATETIME", "MOD", "_IBIS_DATE_DELTA", "_IBIS_REGEX_SEARCH", "GROUNDPLAN_VARIANCE",
            "GROUNDPLAN_ROUND", "GROUNDPLAN_MOMENT", "GROUNDPLAN_LATER",
        }
    ),
}  # fmt: skip
TYPES_OF_DIALECT: Mapping[str, tuple[exp.DType, ...]] = {
    "bigquery": (exp.DataType.Type.DATETIME,),
    "clickhouse": (exp.DataType.Type.DATETIME, exp.DataType.Type.DATETIME64, exp.DataType.Type.DATE32),
    "duckdb": (exp.DataType.Type.ARRAY,),
    "mysql": (exp.DataType.Type.BINARY, exp.DataType.Type.CHAR, exp.DataType.Type.DATETIME),
}  # fmt: skip
"""Also allowed where the engine speaks this dialect. They read their arguments and nothing else."""

TYPES = frozenset(
    {
        exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR, exp.DataType.Type.BOOLEAN,
        exp.DataType.Type.TINYINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.INT,
        exp.DataType.Type.BIGINT,
        exp.DataType.Type.FLOAT, exp.DataType.Type.DOUBLE, exp.DataType.Type.DECIMAL,
        exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPNTZ,
        exp.DataType.Type.TIMESTAMPTZ,
    }
)  # fmt: skip


def approve(sql: str, dialect: str, tables: Collection[str]) -> None:
    """Raises QueryRefused unless every part of the query is on the lists above.

    >>> approve('SELECT "t0"."v" FROM "sales" AS "t0"', "duckdb", ["sales"])
    """
    try:
        query = _parse(sql, dialect)
        for node in query.walk():
            _approve_node(node, dialect)
        own = _all_folded(frozenset(tables), dialect)
        _refuse_hidden(query, own, dialect)
        for table in query.find_all(exp.Table):
            _approve_table(table, own, dialect)
    except RecursionError as error:
        raise QueryRefused("the compiled query is nested too deeply to check") from error


def _parse(sql: str, dialect: str) -> exp.Expression:
    if len(sql) > LONGEST:
        raise QueryRefused(f"the compiled query has {len(sql):,} characters; at most {LONGEST:,} are checked")
    try:
        statements = sqlglot.parse(sql, read=dialect)
    except SqlglotError as error:
        raise QueryRefused(f"the compiled query cannot be read as {dialect}: {error}") from error
    if len(statements) != 1 or not isinstance(statements[0], exp.Select | exp.Union):
        raise QueryRefused("the compiled query is not exactly one SELECT")
    return statements[0]


def _approve_node(node: exp.Expr, dialect: str) -> None:
    match node:
        case exp.Anonymous():
            known = node.name.upper() in UNTYPED or node.name.upper() in UNTYPED_OF_DIALECT.get(dialect, ())
        case exp.AnonymousAggFunc():
            known = str(node.this).upper() in UNTYPED_OF_DIALECT.get(dialect, ())
        case exp.DataType():
            known = node.this in TYPES or node.this in TYPES_OF_DIALECT.get(dialect, ())
        case exp.With():
            known = not node.recursive
        case _:
            known = type(node) in ALLOWED or type(node) in OF_DIALECT.get(dialect, ())
    if not known:
        what = str(node.this) if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc) else type(node).__name__
        what = f"{what} {node.this}" if isinstance(node, exp.DataType) else what
        raise QueryRefused(f"the compiled query uses {what!r}, which is not allowed")


def _refuse_hidden(query: exp.Expression, own: Collection[str], dialect: str) -> None:
    """Ibis calls parts of a query t0, t1, …: such a part hides the source's table of that name."""
    for cte in query.find_all(exp.CTE):
        name = _folded(cte.args["alias"].this, dialect)
        if name in own:
            raise QueryRefused(
                f"the compiled query has a part called {name!r}, and so is a table of this source: "
                "the two cannot be told apart; rename the table or make a view of it"
            )


def _approve_table(table: exp.Table, own: Collection[str], dialect: str) -> None:
    if not isinstance(table.this, exp.Identifier):
        raise QueryRefused("the compiled query reads from a function instead of a table")
    name = _folded(table.this, dialect)
    if table.args.get("db") or table.args.get("catalog"):
        raise QueryRefused(f"the compiled query reads {name!r} from another schema")
    if name not in own and not any(name == _folded(cte, dialect) for cte in _visible(table)):
        raise QueryRefused(f"the compiled query reads {name!r}, which is not a table of this source")


def _visible(table: exp.Table) -> Iterator[exp.Identifier]:
    """The WITH names in scope at this table: not its own, later or inner ones."""
    child: exp.Expr | None = table
    node = table.parent
    while node is not None:
        if isinstance(node, exp.With):
            for cte in node.expressions:
                if cte is child:
                    break
                yield cte.args["alias"].this
            child = node.parent  # the query these names belong to: its later names are not in scope here
            node = child.parent if child is not None else None
            continue
        given = node.args.get("with_")
        if given is not None:
            yield from (cte.args["alias"].this for cte in given.expressions)
        child, node = node, node.parent


@lru_cache(maxsize=16)
def _all_folded(tables: frozenset[str], dialect: str) -> frozenset[str]:
    return frozenset(_folded(exp.to_identifier(name, quoted=True), dialect) for name in tables)


def _folded(identifier: exp.Identifier, dialect: str) -> str:
    """The name as the engine compares it."""
    return str(Dialect.get_or_raise(dialect).normalize_identifier(identifier.copy()).name)
