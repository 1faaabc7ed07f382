"""The same readings as SQL written another way: each value of another table is a subquery of its own, nothing is
joined."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from groundplan.contracts import expression as e
from groundplan.contracts.join_paths import Path, find_path
from groundplan.contracts.reading import ColumnsAsked, Each, Filter, GroupBy, Metric, Reading
from groundplan.contracts.relationship import Relationship


def sql_of(reading: Reading, links: Sequence[Relationship]) -> str:
    """One row for each group, or the rows themselves; raises NoPath."""
    return _Writer(links).query(reading)


class _Writer:
    def __init__(self, links: Sequence[Relationship]) -> None:
        self.links = links
        self.aliases = (f"r{number}" for number in count())

    def query(self, reading: Reading) -> str:
        table, own = reading.tables[0], next(self.aliases)
        values = [r.value for r in reading.requirements]
        where = [self.condition(v.condition, table, own) for v in values if isinstance(v, Filter) and v.condition]
        kept = " AND ".join(where) or "TRUE"
        for shown in values:
            if isinstance(shown, ColumnsAsked):
                computed = {one.name: self.value(one.expression, table, own) for one in shown.computed}
                listed = ", ".join(f'{computed.get(n, f"{own}.{n}")} AS "{n}"' for n in shown.columns)
                return f"SELECT {listed} FROM {table} {own} WHERE {kept}"
        for each in values:
            if isinstance(each, Each):
                return self.things(each, values, f"FROM {table} {own} WHERE {kept}", table, own)
        groups = [v for v in values if isinstance(v, GroupBy)]
        inner: list[str] = [f'{self.value(g.expression, table, own)} AS "{g.column}"' for g in groups if g.expression]
        outer = [f'"{g.column}"' for g in groups]
        for metric in (v for v in values if isinstance(v, Metric)):
            of, total = self.measure(metric.expression, table, own)
            inner.append(f'{of} AS "{metric.name}"')
            outer.append(f'{total.format(metric.name)} AS "{metric.name}"')
        by = " GROUP BY " + ", ".join(f'"{g.column}"' for g in groups) if groups else ""
        return f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(inner)} FROM {table} {own} WHERE {kept}) q{by}"

    def things(self, each: Each, values: Sequence[Any], source: str, table: str, own: str) -> str:
        """Rows, then one row for each thing, then measures of things."""
        keys = ", ".join(f'{self.value(one.expression, table, own)} AS "{one.name}"' for one in each.computed)
        of, total = self.measure(each.measures[0].expression, table, own)
        names = ", ".join(f'"{key}"' for key in each.keys)
        rows = f"SELECT {keys}, {of} AS own {source}"
        things = f"SELECT {names}, {total.format('own')} AS own FROM ({rows}) r GROUP BY {names}"
        groups = [f'"{v.column}"' for v in values if isinstance(v, GroupBy)]
        metric = next(v for v in values if isinstance(v, Metric))
        of, total = self.measure(metric.expression, "", "t")
        by = f" GROUP BY {groups[0]}" if groups else ""
        shown = ", ".join([*groups, f"{total.format('m')} AS m"])
        inner = ", ".join([*groups, f"{of} AS m"])
        return f"SELECT {shown} FROM (SELECT {inner} FROM ({things}) t) q{by}"

    def measure(self, node: e.Expression | None, table: str, own: str) -> tuple[str, str]:
        """A value of each row, missing where it does not count, and the function over it."""
        match node:
            case e.Overall():
                return self.value(node, table, own), 'max("{}")'
            case e.Arithmetic(left=left, operator="/", right=e.Overall() as right):
                value, total = self.measure(left, table, own)
                if isinstance(left, e.Overall):
                    total = self.value(left, table, own)
                return value, f"(CAST({total} AS DOUBLE PRECISION) / nullif({self.value(right, table, own)}, 0))"
        where = getattr(node, "where", None)
        kept = self.condition(where, table, own) if where is not None else "TRUE"
        match node:
            case e.Rows():
                return f"CASE WHEN {kept} THEN 1 END", 'count("{}")'
            case e.Aggregate(function=function, of=of):
                value = f"CASE WHEN {kept} THEN {self.value(of, table, own)} END"
                names = {"mean": 'avg("{}")', "count_distinct": 'count(DISTINCT "{}")'}
                return value, names.get(function, f'{function}("{{}}")')
        raise ValueError(node)

    def value(self, node: e.Expression, table: str, own: str) -> str:
        match node:
            case e.Column(table=other, name=name, via=via) if other is not None and (other != table or via):
                return self.looked_up(find_path(self.links, table, other, via), name, own)
            case e.Column(name=name):
                return f"{own}.{name}"
            case e.Constant(value=str() as text):
                return f"'{text}'"
            case e.Constant(value=value):
                return str(value)
            case e.DateCut(of=of, grain=grain):
                return f"CAST(date_trunc('{grain}', {self.value(of, table, own)}) AS DATE)"
            case e.Arithmetic(left=left, operator=operator, right=right):
                return f"({self.value(left, table, own)} {operator} {self.value(right, table, own)})"
            case e.Overall(table=other, of=of, where=where):
                return self.overall(other or table, of, where)
            case e.Related(table=other, of=of, via=via):
                return self.related(other, of, find_path(self.links, other, table, via), own)
        raise ValueError(node)

    def looked_up(self, path: Path, name: str, own: str) -> str:
        if not path:
            return f"{own}.{name}"
        link, other = path[0], next(self.aliases)
        same = " AND ".join(f"{other}.{k} = {own}.{c}" for c, k in zip(link.columns, link.to_columns, strict=True))
        return f"(SELECT {self.looked_up(path[1:], name, other)} FROM {link.to_table} {other} WHERE {same})"

    def related(self, table: str, of: e.Expression, path: Path, own: str) -> str:
        other = next(self.aliases)
        keys = [self.looked_up(path[:-1], name, other) for name in path[-1].columns]
        same = " AND ".join(f"{key} = {own}.{k}" for key, k in zip(keys, path[-1].to_columns, strict=True))
        value, total = self.measure(of, table, other)
        return f"(SELECT {total.format('v')} FROM (SELECT {value} AS v FROM {table} {other} WHERE {same}) q)"

    def overall(self, table: str, of: e.Expression, where: e.Condition | None) -> str:
        other = next(self.aliases)
        value, total = self.measure(of, table, other)
        kept = self.condition(where, table, other) if where is not None else "TRUE"
        return f"(SELECT {total.format('v')} FROM (SELECT {value} AS v FROM {table} {other} WHERE {kept}) q)"

    def groups(self, node: e.FoundGroup) -> str:
        """The first keys of the groups, from rows on which keys and measured values stand beside each other."""
        own, table = next(self.aliases), node.table
        kept = self.condition(node.where, table, own) if node.where is not None else "TRUE"
        columns = {f"k{place}": self.value(key, table, own) for place, key in enumerate(node.keys)}

        def measured(measure: e.Expression) -> str:
            if measure in node.keys:
                return f"k{node.keys.index(measure)}"
            value, total = self.measure(measure, table, own)
            name = f"v{len(columns)}"
            columns[name] = value
            return total.format(name)

        having = ""
        if isinstance(node.having, e.Compare):
            having = (
                f" HAVING {measured(node.having.left)} {node.having.operator} {self.value(node.having.right, '', '')}"
            )
        order = [f"{measured(one.by)} {'DESC' if one.direction == 'top' else 'ASC'} NULLS LAST" for one in node.order]
        number = "dense_rank" if node.ties == "as_one" else "rank"
        place = f"{number}() OVER (ORDER BY {', '.join(order)})" if order else "1"
        keys = ", ".join(f"k{place}" for place in range(len(node.keys)))
        rows = (
            f"SELECT {', '.join(f'{text} AS {name}' for name, text in columns.items())} FROM {table} {own} WHERE {kept}"
        )
        groups = f"SELECT k0, {place} AS place FROM ({rows}) r GROUP BY {keys}{having}"
        return f"SELECT k0 FROM ({groups}) q WHERE place <= {node.limit or 1}"

    def condition(self, node: e.Condition, table: str, own: str) -> str:
        match node:
            case e.All(parts=parts) | e.AnyOf(parts=parts):
                joint = " AND " if isinstance(node, e.All) else " OR "
                return "(" + joint.join(self.condition(part, table, own) for part in parts) + ")"
            case e.Not(part=part):
                return f"(NOT {self.condition(part, table, own)})"
            case e.Missing(of=of):
                return f"({self.value(of, table, own)} IS NULL)"
            case e.Found(of=of, table=other, column=column, where=where):
                inner = next(self.aliases)
                kept = self.condition(where, other, inner) if where is not None else "TRUE"
                value = self.value(of, table, own)
                known = f"SELECT {inner}.{column} FROM {other} {inner} WHERE {kept} AND {inner}.{column} IS NOT NULL"
                return f"coalesce({value} IN ({known}), FALSE)"
            case e.FoundGroup(of=of):
                return f"coalesce({self.value(of, table, own)} IN ({self.groups(node)}), FALSE)"
            case e.OneOf(of=of, values=values):
                listed = ", ".join(f"'{value}'" for value in values)
                return f"({self.value(of, table, own)} IN ({listed}))"
            case e.Compare(left=left, operator=operator, right=right):
                return f"({self.value(left, table, own)} {operator} {self.value(right, table, own)})"
        raise ValueError(node)
