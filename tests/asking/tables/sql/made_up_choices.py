"""Statements by chance that choose rows by what a subquery keeps: groups, the first of an order, rows of joins."""

# ruff: noqa: E501 - a statement stands on one line
from __future__ import annotations

from tests.asking.tables.sql.made_up import Statements

ALIKE = {
    "client_id": (("clients", "client_id"), ("trips", "client_id")),
    "depot_id": (("clients", "depot_id"), ("depots", "depot_id"), ("trips", "legs")),
    "state": (("trips", "state"),),
    "due": (("trips", "due"), ("clients", "joined")),
    "YEAR(due)": (("trips", "YEAR(due)"), ("clients", "YEAR(joined)")),
    "credit": (("clients", "credit"), ("trips", "fare")),
}
NUMBERS = {
    "trips": ("fare", "legs", "fare * legs", "COALESCE(fare, 0)", "fare - legs"),
    "clients": ("credit", "depot_id", "COALESCE(credit, 1)"),
    "depots": ("capacity", "depot_id"),
}
OTHERS = {
    "trips": ("state", "legs", "due", "shared", "client_id"),
    "clients": ("kind", "depot_id", "joined"),
    "depots": ("region",),
}
KEYS = {"trips": "trip_id", "clients": "client_id", "depots": "depot_id"}


class Choices(Statements):
    def statement(self) -> str:
        kinds = (self.of_found, self.of_exists, self.of_joined_in, self.of_places, self.of_sets, self.of_single)
        kind = self.random.choices((*kinds, self.of_wholes), (5, 3, 3, 3, 3, 3, 1))[0]
        return kind()

    def shown(self, table: str, where: str, alias: str = "") -> str:
        """A statement about the rows of the table that meet the condition."""
        source = f"{table} {alias}".strip()
        own = f"{alias or table}."
        number, group = own + KEYS[table], own + self.pick(*OTHERS[table])
        return self.pick(
            f"SELECT COUNT(*) AS n FROM {source} WHERE {where}",
            f"SELECT {number} FROM {source} WHERE {where}",
            f"SELECT {group}, COUNT(*) AS n, SUM({number}) AS m FROM {source} WHERE {where} GROUP BY {group}",
            f"SELECT COUNT(*) FILTER (WHERE {where}) AS n, COUNT(*) AS m FROM {source}",
            f"SELECT {number} FROM {source} WHERE {where} {self.pick('AND', 'OR')} {own}{self.pick(*NUMBERS[table][:2])} > 2",
        )

    def least(self, table: str) -> str:
        number = self.pick(*NUMBERS[table])
        of = self.pick("COUNT(*)", f"SUM({number})", f"AVG({number})", f"MIN({number})", f"MAX({number})", f"COUNT({number})", f"COUNT(DISTINCT {self.pick(*OTHERS[table])})", f"SUM({number}) / COUNT(*)", f"SUM(CASE WHEN {number} > 2 THEN 1 ELSE 0 END)")  # fmt: skip
        return f"{of} {self.pick('>', '>=', '<', '<=', '=', '<>')} {self.pick('0', '1', '2', '3', '5', '20')}"

    def kept(self, table: str) -> str:
        if table == "trips":
            return self.maybe(f" WHERE {self.condition(1)}", 0.4)
        number = self.pick(*NUMBERS[table])
        return self.maybe(f" WHERE {number} {self.pick('>', '<=', '<>')} {self.pick('0', '2', '5')}", 0.4)

    def groups(self, table: str, key: str) -> str:
        """`SELECT key FROM …` that keeps some groups or rows."""
        where, more = self.kept(table), self.maybe(f", {self.pick(*OTHERS[table])}", 0.2)
        if self.random.random() < 0.25:
            known = f"{key} IS NOT NULL"
            where = f"{where} AND {known}" if where else f" WHERE {known}"
        number, way = self.pick(*NUMBERS[table]), self.pick("", " DESC")
        limit = self.pick("1", "2", "3", "5", "50")
        of = self.pick("COUNT(*)", f"SUM({number})", f"MAX({number})", f"AVG({number})", f"SUM({number}) / COUNT(*)")
        second = f" {self.pick('AND', 'OR')} {self.least(table)}"
        having = f" HAVING {self.least(table)}{self.maybe(second, 0.2)}"
        ties = f"{key}{self.pick('', ' DESC')}{more}"
        return self.pick(
            f"SELECT {key} FROM {table}{where} GROUP BY {key}{more}{having}",
            f"SELECT {key} FROM {table}{where} GROUP BY {key}{more}{having}",
            f"SELECT {key} FROM {table}{where} GROUP BY {key}{more}{self.maybe(having, 0.3)} ORDER BY {of}{way}, {ties} LIMIT {limit}",
            f"SELECT {key} FROM {table}{where} GROUP BY {key}{more}{self.maybe(having, 0.3)} ORDER BY {of}{way}, {ties} LIMIT {limit}",
            f"SELECT {key} FROM {table}{where} ORDER BY {number}{way}, {KEYS[table]} LIMIT {limit}",
            f"SELECT DISTINCT {key} FROM {table}{where} ORDER BY {key}{way} LIMIT {limit}",
            f"SELECT {key} FROM {table}{where}",
            f"SELECT {key} FROM (SELECT {key}, COUNT(*) AS n FROM {table}{where} GROUP BY {key}) q WHERE n > {limit}",
            f"SELECT {key} FROM {table}{where} GROUP BY {key}{more}{self.maybe(having, 0.3)} QUALIFY {self.pick('RANK', 'DENSE_RANK')}() OVER (ORDER BY {of}{way}) <= {limit}",
            f"SELECT {key} FROM (SELECT {key}, {self.pick('RANK', 'DENSE_RANK')}() OVER (ORDER BY {of}{way}) AS r FROM {table}{where} GROUP BY {key}) q WHERE r <= {limit}",
            f"SELECT {key} FROM {table}{where} QUALIFY {self.pick('RANK', 'DENSE_RANK')}() OVER (ORDER BY {number}{way}) {self.pick('<=', '<')} {limit}",
        )  # fmt: skip

    def of_found(self) -> str:
        name = self.pick(*ALIKE)
        (table, value), (other, key) = self.random.choice(ALIKE[name]), self.random.choice(ALIKE[name])
        return self.shown(table, f"{value} {self.pick('IN', 'IN', 'NOT IN')} ({self.groups(other, key)})")

    def of_exists(self) -> str:
        name = self.pick(*(name for name in ALIKE if "(" not in name))
        (table, value), (other, key) = self.random.choice(ALIKE[name]), self.random.choice(ALIKE[name])
        where = f"x.{key} = o.{value}" if self.random.random() < 0.5 else f"o.{value} = x.{key}"
        where += self.maybe(f" AND x.{self.pick(*NUMBERS[other][:2])} {self.pick('>', '<')} {self.pick('1', '5')}", 0.5)
        of = self.pick("1", "1", "*", f"x.{key}", "COUNT(*)")
        group = self.maybe(f" GROUP BY x.{self.pick(key, *OTHERS[other])} HAVING {self.least(other)}", 0.5)
        order = self.maybe(f" ORDER BY x.{key}")
        cut = self.maybe(f"{order} LIMIT {self.pick('1', '3')}", 0.2)
        sub = f"SELECT {of} FROM {other} x WHERE {where}{group}{cut}"
        return self.shown(table, f"{self.pick('', 'NOT ')}EXISTS ({sub})", "o")

    def of_joined_in(self) -> str:
        """A subquery over a join."""
        join = self.pick("JOIN", "JOIN", "LEFT JOIN")
        where = self.pick(
            "t.fare > 5", "c.credit > 0", "t.legs < 3 AND c.kind = 'new'", "c.kind = 'used' OR t.fare > 20"
        )
        source = f"trips t {join} clients c ON c.client_id = t.client_id"
        deep = self.maybe(f" {join} depots d ON d.depot_id = c.depot_id", 0.4)
        key = self.pick("c.depot_id", "c.depot_id", "t.client_id", "c.client_id")
        table = "depots" if key == "c.depot_id" and self.random.random() < 0.6 else "clients"
        value = key[2:]
        having = self.pick("COUNT(*) > 3", "SUM(t.fare) > 50", "MAX(c.credit) > 1", "COUNT(DISTINCT t.state) > 1")
        cut = self.pick(f" HAVING {having}", f" ORDER BY {having.split(' ')[0].replace('COUNT(DISTINCT', 'COUNT(*)')} DESC, {key} LIMIT {self.pick('1', '2', '4')}")  # fmt: skip
        known = self.maybe(f" AND {key} IS NOT NULL", 0.3)
        sub = self.pick(
            f"SELECT {key} FROM {source}{deep} WHERE {where}{known}",
            f"SELECT DISTINCT {key} FROM {source}{deep} WHERE ({where}){known}",
            f"SELECT {key} FROM {source}{deep} WHERE ({where}){known} GROUP BY {key}{cut}",
        )
        if self.random.random() < 0.4:
            inside = f"SELECT 1 FROM {source}{deep} WHERE {key} = o.{value} AND ({where})"
            return self.shown(table, f"{self.pick('', 'NOT ')}EXISTS ({inside})", "o")
        return self.shown(table, f"{value} {self.pick('IN', 'IN', 'NOT IN')} ({sub})")

    def of_places(self) -> str:
        """Rows and groups at the first places, ties kept."""
        table = self.pick("trips", "trips", "clients")
        group, other = self.random.sample(OTHERS[table], 2)
        number, way, rank = self.pick(*NUMBERS[table]), self.pick("", " DESC"), self.pick("RANK", "DENSE_RANK")
        measure = self.pick("COUNT(*)", f"SUM({number})", f"MAX({number})", f"SUM({number}) / COUNT(*)")
        within = self.maybe(f"PARTITION BY {other} ", 0.4)
        most = f"{self.pick('<=', '<=', '<', '=')} {self.pick('1', '2', '3', '4')}"
        groups = f"{group}, {other}" if within else group
        then = self.maybe(f", {KEYS[table]}", 0.2)
        of_rows = f"{rank}() OVER ({within}ORDER BY {number}{way}{then})"
        of_groups = f"{rank}() OVER ({within}ORDER BY {measure}{way}{self.maybe(f', {group}', 0.2)})"
        where = self.kept(table)
        rows = f"SELECT {KEYS[table]}, {other}, {number} AS x"
        return self.pick(
            f"{rows} FROM {table}{where} QUALIFY {of_rows} {most}",
            f"SELECT * FROM ({rows}, {of_rows} AS r FROM {table}{where}) q WHERE r {most}",
            f"SELECT {groups}, {measure} AS m FROM {table}{where} GROUP BY {groups} QUALIFY {of_groups} {most}",
            f"SELECT * FROM (SELECT {groups}, {measure} AS m, {of_groups} AS r FROM {table}{where} GROUP BY {groups}) q WHERE r {most}",
            f"SELECT {groups}, m FROM (SELECT {groups}, {measure} AS m, {of_groups} AS r FROM {table}{where} GROUP BY {groups}) q WHERE r {most} ORDER BY r, {group}",
        )

    def of_sets(self) -> str:
        """INTERSECT and EXCEPT, alone, counted and looked in."""
        name = self.pick(*ALIKE)
        sides = []
        for _ in range(self.random.choice((2, 2, 2, 3))):
            table, key = self.random.choice(ALIKE[name])
            known = self.maybe(f" WHERE {key} IS NOT NULL", 0.6)
            kept = known or self.kept(table)
            sides.append(self.groups(table, key) if self.random.random() < 0.4 else f"SELECT {key} FROM {table}{kept}")
        made, *others = sides
        for one in others:
            made = f"({made}) {self.pick('INTERSECT', 'EXCEPT')} ({one})"
        table, key = self.random.choice(ALIKE[name])
        return self.pick(
            made,
            made,
            f"SELECT COUNT(*) AS n FROM ({made}) q",
            f"SELECT {KEYS[table]} FROM {table} WHERE {key} {self.pick('IN', 'IN', 'NOT IN')} ({made})",
        )

    def of_single(self) -> str:
        """Comparisons with one value of one row."""
        table = self.pick(*NUMBERS)
        number, way, sign = self.pick(*NUMBERS[table]), self.pick("", " DESC"), self.pick("=", "<>", "<", ">=")
        name = self.pick(*ALIKE)
        (other, value), (inner, key) = self.random.choice(ALIKE[name]), self.random.choice(ALIKE[name])
        of = self.pick("COUNT(*)", f"SUM({self.pick(*NUMBERS[inner])})", f"MAX({self.pick(*NUMBERS[inner])})")
        row, by = self.pick("2", "5", "105", "900"), self.pick(*NUMBERS[inner])
        best = f"SELECT {key} AS k FROM {inner} GROUP BY {key} ORDER BY {of}{way}, {key} LIMIT 1"
        same = f"{value} = (SELECT k FROM top)"
        return self.pick(
            self.shown(table, f"{number} {sign} (SELECT {number} FROM {table}{self.kept(table)} ORDER BY {number}{way} LIMIT 1)"),
            self.shown(table, f"{number} {sign} (SELECT {number} FROM {table} WHERE {KEYS[table]} = {row})"),
            self.shown(other, f"{value} {self.pick('=', '=', '<>')} ({best})"),
            self.shown(other, f"{self.maybe('NOT ', 0.3)}({value} = (SELECT {key} FROM {inner}{self.kept(inner)} ORDER BY {by}{way}, {KEYS[inner]} LIMIT 1))"),
            f"WITH top AS ({best}) {self.shown(other, same)}",
        )  # fmt: skip

    def of_wholes(self) -> str:
        """Division of whole numbers, and places that only order."""
        whole = self.pick("legs", "trip_id", "client_id", "legs - 3", "LENGTH(state)", "fare", "YEAR(due)")
        by, way = self.pick("2", "3", "legs", "(legs - 1)", "2.5", "0"), self.pick("", " DESC")
        return self.pick(
            f"SELECT trip_id, {whole} // {by} AS x FROM trips{self.kept('trips')}",
            f"SELECT {whole} // {by} AS x, COUNT(*) AS n FROM trips GROUP BY 1",
            "SELECT state, SUM(legs) // COUNT(*) AS x FROM trips GROUP BY state",
            f"SELECT trip_id, {whole} AS x FROM trips ORDER BY {self.pick('ROW_NUMBER', 'RANK')}() OVER (ORDER BY {whole}{way}, trip_id) LIMIT 7",
            f"SELECT state, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*){way}) AS r FROM trips GROUP BY state ORDER BY r{self.pick('', ' DESC')}",
        )  # fmt: skip
