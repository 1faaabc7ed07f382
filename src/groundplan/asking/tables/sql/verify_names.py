"""Names and values of a query that the data does not have, with those that are written most like them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from groundplan.asking.tables.sql.names import find_table, normal
from groundplan.asking.tables.sql.statement import shown
from groundplan.asking.tables.sql.untranslatable import Untranslatable
from groundplan.asking.tables.values import Values
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.contracts.verification import Finding

MOST_NAMED = 10  # names in a hint
UNCHANGING = (exp.Paren, exp.Trim, exp.Cast, exp.Coalesce)
BY_CASE = (exp.Lower, exp.Upper)


@dataclass(frozen=True)
class Query:
    """A parsed SELECT with the schema it is written for: the tables and columns that its names stand for."""

    tree: Any
    schema: SourceSchema
    values: Mapping[str, Values]

    @cached_property
    def scopes(self) -> list[Scope]:
        """Every SELECT in it, the inner ones first."""
        return [*traverse_scope(self.tree)]

    def table(self, source: Any) -> Table | None:
        """The table of the schema that a FROM names; None for a subquery or an unknown table."""
        if not isinstance(source, exp.Table):
            return None
        try:
            return find_table(source, self.schema)
        except Untranslatable:
            return None

    def names(self, source: Any) -> list[str] | None:
        """The columns of a table or a subquery; None if they are not known."""
        if isinstance(source, Scope):
            outputs: list[str] = source.expression.named_selects  # type: ignore[attr-defined]
            if any(name in ("*", "") for name in outputs):
                inner = [self.names(one) for one in source.sources.values()]
                return None if None in inner else [*outputs, *(name for names in inner for name in names or ())]
            return list(outputs)
        table = self.table(source)
        return [column.name for column in table.columns] if table else None

    def alias_of(self, column: Any, scope: Scope) -> str | None:
        """The source of this SELECT that has the column; None if it is of a SELECT around it, or unknown."""
        sources = selected(scope)
        if column.table:
            return next((alias for alias in sources if normal(alias) == normal(column.table)), None)
        having = [alias for alias, source in sources.items() if has(self.names(source), column.name)]
        return having[0] if len(having) == 1 else None

    def described(self, column: Any, scope: Scope | None) -> tuple[Table, Column] | None:
        """The schema's column that stands behind a name, through subqueries that only pass it on."""
        while scope is not None:
            alias = self.alias_of(column, scope)
            if alias is None:
                scope = scope.parent
                continue
            source = selected(scope)[alias]
            if isinstance(source, Scope):
                column, scope = output(source, column.name), source
                if not isinstance(column, exp.Column):
                    return None
                continue
            table = self.table(source)
            found = table and next((one for one in table.columns if normal(one.name) == normal(column.name)), None)
            return (table, found) if table and found else None
        return None


def selected(scope: Scope) -> dict[str, Any]:
    """The sources in FROM and JOIN, by alias."""
    return {alias: source for alias, (_, source) in scope.selected_sources.items()}


def has(names: Iterable[str] | None, name: str) -> bool:
    return names is not None and normal(name) in map(normal, names)


def output(scope: Scope, name: str) -> Any:
    """The expression of a subquery's column; None if it has none of this name."""
    for one in getattr(scope.expression, "selects", ()):
        if normal(one.alias_or_name) == normal(name):
            return one.unalias()
    return None


def unknown_tables(query: Query) -> Iterator[Finding]:
    """Every table exists."""
    names = [table.name for table in query.schema.tables]
    for scope in query.scopes:
        for source in selected(scope).values():
            if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier) and not query.table(source):
                problem = f"there is no table {source.name!r}"
                yield Finding(
                    code="verify/unknown-table", problem=problem, where=shown(source), hint=near(source.name, names)
                )


def unknown_columns(query: Query) -> Iterator[Finding]:
    """Every column exists in the table that it is taken from."""
    for scope in query.scopes:
        for column in scope.columns:
            if not isinstance(column.this, exp.Star) and (names := _names_around(column, scope, query)) is not None:
                place = f" in {column.table!r}" if column.table else ""
                yield Finding(
                    code="verify/unknown-column",
                    problem=f"there is no column {column.name!r}{place}",
                    where=shown(column if isinstance(column.parent, exp.Select | None) else column.parent),
                    hint=near(column.name, names),
                )


def _names_around(column: Any, scope: Scope | None, query: Query) -> list[str] | None:
    """The names that the column could have had; None if it is there, or if that cannot be known."""
    found: list[str] = []
    while scope is not None:
        for alias, source in selected(scope).items():
            if column.table and normal(alias) != normal(column.table):
                continue
            names = query.names(source)
            if names is None or has(names, column.name):
                return None
            found += names
        if not column.table and has(getattr(scope.expression, "named_selects", ()), column.name):
            return None
        if column.table and found:
            return found
        scope = scope.parent
    return found


def unknown_values(query: Query) -> Iterator[Finding]:
    """Texts that a column is compared with are among its values, where all of those are known."""
    for scope in query.scopes:
        for node in scope.find_all(exp.EQ, exp.NEQ, exp.In):
            for side, text in _compared(node):
                yield from _unknown_value(query, scope, node, side, text)


def _unknown_value(query: Query, scope: Scope, node: Any, side: Any, text: str) -> Iterator[Finding]:
    folded = isinstance(side, BY_CASE)
    while isinstance(side, (*UNCHANGING, *BY_CASE)):
        side = side.this
    found = query.described(side, scope) if isinstance(side, exp.Column) else None
    if found is None or found[1].kind != "text":
        return
    table, column = found
    held = query.values.get(table.name, {}).get(column.name)
    if not held or not column.holds_only(held):
        return
    if text in held or (folded and normal(text) in map(normal, held)):
        return
    yield Finding(
        code="verify/unknown-value",
        problem=f"{column.name!r} of {table.name!r} never is {text!r}",
        where=shown(node),
        hint=near(text, held),
    )


def _compared(node: Any) -> Iterator[tuple[Any, str]]:
    if isinstance(node, exp.In):
        yield from ((node.this, one.this) for one in node.expressions if _is_text(one))
    elif _is_text(node.expression):
        yield node.this, node.expression.this
    elif _is_text(node.this):
        yield node.expression, node.this.this


def _is_text(node: Any) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)


def near(name: str, known: Iterable[str]) -> str:
    """`did you mean 'region'?`, or what there is."""
    names = list(dict.fromkeys(known))
    folded = {normal(one): one for one in names}
    close = [folded[one] for one in get_close_matches(normal(name), folded, n=3, cutoff=0.5)]
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    listed = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    return f"there is {listed}" if listed else "see `groundplan sources describe`"
