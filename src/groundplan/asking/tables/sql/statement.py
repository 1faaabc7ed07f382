"""Text into one bounded SELECT of listed constructs; everything else is refused before it is looked at."""

from __future__ import annotations

import re
from typing import Any

import sqlglot
from sqlglot import exp

from groundplan.asking.tables.sql.untranslatable import NotASelect, Untranslatable

DIALECT = "duckdb"
LONGEST = 20_000  # characters
MOST_WORDS = 4_000  # names, numbers and signs
DEEPEST_BRACKETS = 60
MOST_NODES = 4_000
DEEPEST = 120  # nodes inside each other
MOST_ROWS = 10_000

CLAUSES = (
    exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Ordered, exp.Limit,
    exp.With, exp.CTE, exp.Table, exp.TableAlias, exp.Subquery, exp.Alias, exp.Identifier, exp.Column, exp.Star,
    exp.Distinct, exp.Var, exp.DataType, exp.DataTypeParam, exp.Paren, exp.Tuple, exp.Union,
    exp.Intersect, exp.Except,
)  # fmt: skip
VALUES = (
    exp.Literal, exp.Boolean, exp.Null, exp.Interval, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod,
    exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Cast, exp.TryCast, exp.Trim, exp.Lower, exp.Upper, exp.Initcap,
    exp.Replace, exp.RegexpReplace, exp.Round, exp.Floor, exp.Ceil, exp.Trunc, exp.Abs, exp.Length, exp.DPipe,
    exp.Concat, exp.ConcatWs, exp.Greatest, exp.Least, exp.Left, exp.Right, exp.Substring, exp.SplitPart,
)  # fmt: skip
CONDITIONS = (
    exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ,
    exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.Exists, exp.Contains, exp.StartsWith, exp.EndsWith,
)  # fmt: skip
DATES = (
    exp.CurrentDate, exp.CurrentTimestamp, exp.Date, exp.TsOrDsToDate, exp.Year, exp.Quarter, exp.Month, exp.Week,
    exp.WeekOfYear, exp.Day, exp.DayOfMonth, exp.Hour, exp.DayOfWeek, exp.DayOfWeekIso, exp.Extract, exp.Dayname,
    exp.Monthname, exp.TimestampTrunc, exp.DateTrunc, exp.DateDiff, exp.DateAdd, exp.DateSub, exp.TimeToStr,
    exp.TimeToUnix, exp.LastDay, exp.DateFromParts,
)  # fmt: skip
MEASURES = (
    exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Stddev, exp.StddevSamp, exp.AnyValue,
    exp.First, exp.PercentileCont, exp.Quantile, exp.WithinGroup, exp.Corr, exp.Filter, exp.IgnoreNulls, exp.LogicalOr,
    exp.LogicalAnd, exp.Mode, exp.Agg,
)  # fmt: skip
WINDOWS = (
    exp.Window, exp.WindowSpec, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Lag,
)  # fmt: skip
ALLOWED: frozenset[type[Any]] = frozenset((*CLAUSES, *VALUES, *CONDITIONS, *DATES, *MEASURES, *WINDOWS))
PARTS = frozenset({"this", "expression", "expressions"})
MORE: dict[type[Any], frozenset[str]] = {
    exp.Select: frozenset(
        [
            "with_",
            "from_",
            "joins",
            "where",
            "group",
            "having",
            "qualify",
            "order",
            "limit",
            "distinct",
            "operation_modifiers",
        ]
    ),
    exp.Subquery: frozenset({"alias"}),
    exp.Table: frozenset({"alias", "db", "catalog"}),
    exp.TableAlias: frozenset({"columns"}),
    exp.CTE: frozenset({"alias"}),
    exp.With: frozenset({"recursive"}),
    exp.Alias: frozenset({"alias"}),
    exp.Identifier: frozenset({"quoted"}),
    exp.Column: frozenset({"table"}),
    exp.Join: frozenset({"on", "using", "side", "kind", "method"}),
    exp.Group: frozenset({"all"}),
    exp.Ordered: frozenset({"desc", "nulls_first"}),
    exp.Literal: frozenset({"is_string"}),
    exp.Case: frozenset({"ifs", "default"}),
    exp.If: frozenset({"true", "false"}),
    exp.Cast: frozenset({"to"}),
    exp.TryCast: frozenset({"to", "safe"}),
    exp.DataType: frozenset({"nested"}),
    exp.Between: frozenset({"low", "high"}),
    exp.In: frozenset({"query"}),
    exp.Like: frozenset({"negate"}),
    exp.ILike: frozenset({"negate"}),
    exp.Interval: frozenset({"unit"}),
    exp.DateAdd: frozenset({"unit"}),
    exp.DateSub: frozenset({"unit"}),
    exp.DateDiff: frozenset({"unit", "date_part_boundary"}),
    exp.TimestampTrunc: frozenset({"unit"}),
    exp.DateTrunc: frozenset({"unit"}),
    exp.TimeToStr: frozenset({"format"}),
    exp.Replace: frozenset({"replacement"}),
    exp.RegexpReplace: frozenset({"replacement", "modifiers", "single_replace"}),
    exp.Round: frozenset({"decimals"}),
    exp.DPipe: frozenset({"safe"}),
    exp.Concat: frozenset({"safe", "coalesce"}),
    exp.Count: frozenset({"big_int"}),
    exp.Quantile: frozenset({"quantile"}),
    exp.Lag: frozenset({"offset", "default"}),
    exp.Window: frozenset({"order", "over", "partition_by", "spec"}),
    exp.WindowSpec: frozenset({"kind", "start", "start_side", "end", "end_side"}),
    exp.Union: frozenset({"distinct", "with_"}),
    exp.Intersect: frozenset({"distinct", "with_", "order", "limit"}),
    exp.Except: frozenset({"distinct", "with_", "order", "limit"}),
}
"""Beside its parts, what may be said of a construct: an unknown modifier, such as `negate`, may turn its meaning."""
FUNCTIONS = frozenset({"date_part", "age", "now", "today", "date_sub", "datesub"})  # that sqlglot has no class for


def parse_statement(sql: str) -> Any:
    """The only SELECT that the text holds, made of listed constructs; raises Untranslatable."""
    tree = parse_select(sql)
    try:
        _refuse_unlisted(tree)
    except RecursionError as error:  # `a.a.a…` is deep without a bracket
        raise Untranslatable("nesting this deep", "ask for less in one SELECT") from error
    return tree


def parse_select(sql: str) -> Any:
    """The only SELECT that the text holds, whatever it is made of; raises Untranslatable."""
    if len(sql) > LONGEST:
        raise Untranslatable("a statement this long", f"use at most {LONGEST:,} characters")
    if sum(1 for _ in re.finditer(r"\w+|[^\w\s]", sql)) > MOST_WORDS:
        raise Untranslatable("a statement this long", f"use at most {MOST_WORDS:,} words and signs")
    if _deepest_bracket(sql) > DEEPEST_BRACKETS:
        raise Untranslatable("nesting this deep", f"use at most {DEEPEST_BRACKETS} brackets inside each other")
    try:
        found = [tree for tree in sqlglot.parse(sql, read=DIALECT) if tree is not None]
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        raise NotASelect("this syntax", str(error).partition("\n")[0]) from error
    if len(found) != 1:
        raise NotASelect("several statements" if found else "an empty text", f"{len(found)} were given")
    tree: Any = found[0]
    if not isinstance(tree, exp.Query):
        raise NotASelect(f"{tree.key.upper()}", "write one SELECT")
    return tree


def _deepest_bracket(sql: str) -> int:
    depth = deepest = 0
    for letter in sql:
        if letter == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif letter == ")":
            depth -= 1
    return deepest


def _refuse_unlisted(tree: Any) -> None:
    waiting, seen = [(tree, 1)], 0
    while waiting:
        node, depth = waiting.pop()
        seen += 1
        if seen > MOST_NODES or depth > DEEPEST:
            raise Untranslatable("a statement this large", "ask for less in one SELECT")
        if type(node) is exp.Anonymous:
            if node.name.lower() not in FUNCTIONS:
                raise Untranslatable(f"the function {node.name}")
        elif type(node) not in ALLOWED:
            raise Untranslatable(named(node), shown(node))
        odd = [key for key, said in node.args.items() if said and key not in PARTS | MORE.get(type(node), PARTS)]
        if odd:
            raise Untranslatable(f"{odd[0].strip('_').upper()} of {named(node)}", shown(node))
        if type(node) is exp.Table and not isinstance(node.this, exp.Identifier):
            raise Untranslatable("a table function", shown(node))
        waiting.extend((child, depth + 1) for child in node.iter_expressions())


def named(node: Any) -> str:
    """The construct as SQL calls it."""
    if isinstance(node, exp.Func):
        return f"the function {node.sql_names()[0]}"
    return str(node.key).upper()


def shown(node: Any) -> str:
    """A piece of the statement, short enough for a message."""
    text: str = node.sql(DIALECT)
    return text if len(text) <= 120 else f"{text[:117]}..."


def most_rows(node: Any) -> int | None:
    """How many rows the LIMIT of a SELECT keeps; None without one; raises Untranslatable."""
    limit = node.args.get("limit")
    if limit is None:
        return None
    most = limit.expression
    if not isinstance(most, exp.Literal) or not most.name.isdigit() or not 1 <= int(most.name) <= MOST_ROWS:
        raise Untranslatable("this LIMIT", shown(limit))
    return int(most.name)
