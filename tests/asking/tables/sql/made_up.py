"""Made-up tables with every nuisance, and statements over them: written out, and made by chance."""

# ruff: noqa: E501 - a statement stands on one line
from __future__ import annotations

import asyncio
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from groundplan.contracts.schema import SourceSchema
from groundplan.project import AsyncProject
from tests.asking.tables.sql.executing import Tables

TODAY = date(2025, 6, 30)
REGIONS = ("North", "South", "East", "Ost-West", "Zürich")
KINDS = ("new", "used", "Leased")
CITIES = ("Москва", "Тверь", "Орёл", None)


@dataclass
class Open:
    schema: SourceSchema
    values: dict[str, dict[str, tuple[str, ...]]]
    tables: Tables

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.tables.executor.engine.backend.con.cursor().execute(sql).fetchall()  # type: ignore[attr-defined]
        return found

    @property
    def numbers(self) -> set[str]:
        return {one.name.casefold() for table in self.schema.tables for one in table.columns if one.kind != "text"}


def write(folder: Path) -> None:
    """Three related tables and one in Cyrillic: missing values, ties, repeats, negative numbers, times of day."""
    random = Random(7)
    depots = [(number, random.choice(REGIONS), random.choice((None, 10, 20, 20, 35))) for number in range(1, 7)]
    _csv(folder, "depots", ("depot_id", "region", "capacity"), depots)
    clients = [
        (
            100 + number,
            f"Client {number % 25}",
            random.choice((*KINDS, None)),
            random.choice((None, *(depot[0] for depot in depots))),
            date(2023, 1, 15) + timedelta(days=random.randint(0, 700)),
            random.choice((None, 0, 0, 5.5, 12.25, -3)),
        )
        for number in range(40)
    ]
    _csv(folder, "clients", ("client_id", "full_name", "kind", "depot_id", "joined", "credit"), clients)
    trips = []
    for number in range(260):
        start = datetime(2024, 1, 1) + timedelta(hours=random.randint(0, 24 * 500), minutes=random.choice((0, 15, 30)))
        end = None if random.random() < 0.15 else start + timedelta(minutes=random.choice((15, 45, 60, 600, 2_000)))
        trips.append(
            (
                number + 1,
                None if random.random() < 0.1 else random.choice(clients)[0],
                start,
                end,
                start.date() + timedelta(days=random.randint(0, 40)) if random.random() < 0.8 else None,
                random.choice((None, 0, 1, 2, 2, 3, 5, 8, -1)),
                random.choice((None, 0.5, 10, 10, 12.5, 99.99, -4, 250)),
                random.choice(("paid", "open", "Open ", "cancelled", None)),
                random.choice(("true", "false", None)),
            )
        )
    names = ("trip_id", "client_id", "started", "ended", "due", "legs", "fare", "state", "shared")
    _csv(folder, "trips", names, trips)
    sales = [
        (
            date(2024, 11, 1) + timedelta(days=random.randint(0, 120)),
            random.choice(CITIES),
            random.choice(("Чай", "Кофе", "Сок")),
            random.choice((None, 1, 2, 3)),
            random.choice((None, 100, 150.5, 200)),
        )
        for _ in range(120)
    ]
    _csv(folder, "Продажи", ("Дата", "Город", "Товар", "Количество", "Сумма"), sales)


def _csv(folder: Path, name: str, header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)


@contextmanager
def opened(folder: Path) -> Iterator[Open]:
    loop = asyncio.new_event_loop()
    project = loop.run_until_complete(AsyncProject.open(folder))
    try:
        source: Any = project.sources["tables"]
        found = loop.run_until_complete(source.values("?"))
        values = {table: {name: texts or () for name, texts in of.items()} for table, of in found.items()}
        yield Open(project.schemas["tables"], values, Tables(source._executor))
    finally:
        loop.run_until_complete(project.close())
        loop.close()


class Statements:
    """Statements by chance: rows, groups, levels, windows, joins; wrong ones among them, which have to be refused."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def maybe(self, text: str, share: float = 0.5) -> str:
        return text if self.random.random() < share else ""

    def statement(self) -> str:
        kind = self.random.choices(
            (self.of_rows, self.of_groups, self.of_levels, self.of_windows, self.of_joins, self.of_related, self.of_sales, self.of_tops),
            (3, 5, 3, 3, 4, 3, 2, 3),
        )[0]  # fmt: skip
        return kind()

    # --- parts over trips, whose alias is `t`

    def number(self) -> str:
        return self.pick(
            "fare", "legs", "fare * legs", "fare - legs", "COALESCE(fare, 0)", "COALESCE(legs, 1)", "fare / legs",
            "fare / NULLIF(legs, 0)", "-fare", "fare - COALESCE(legs, 0)", "CAST(legs AS DOUBLE)", "fare + 0.5",
            "DATE_DIFF('day', started, due)", "DATE_DIFF('hour', started, ended)", "DATE_DIFF('minute', started, ended)",
            "EXTRACT(epoch FROM ended - started) / 60", "due - CAST(started AS DATE)", "DATE_DIFF('month', started, due)",
            "DATE_DIFF('week', started, due)", "CASE WHEN legs > 2 THEN 1 ELSE 0 END", "CAST(shared AS INTEGER)",
            "COALESCE(fare, legs, 0)", "2 * fare", "fare * 1.1", "ABS(fare)", "ROUND(fare)", "FLOOR(fare / 4)", "ROUND(fare, -1)",
            "CEIL(fare)", "TRUNC(fare)", "ABS(legs - fare)", "CAST(FLOOR(fare) AS INTEGER)", "LENGTH(state)", "LENGTH(CONCAT(state, '!', legs))",
        )  # fmt: skip

    def group(self) -> str:
        return self.pick(
            "state", "shared", "client_id", "legs", "DATE_TRUNC('month', started)", "YEAR(started)", "MONTH(due)",
            "ISODOW(started)", "DAYOFWEEK(started)", "HOUR(started)", "CAST(started AS DATE)", "due", "QUARTER(due)",
            "DATE_TRUNC('week', due)", "COALESCE(state, 'none')", "UPPER(state)", "TRIM(state)", "legs > 2",
            "CASE WHEN fare > 50 THEN 'high' WHEN fare > 5 THEN 'low' ELSE 'none' END", "FLOOR(fare / 10) * 10",
            "CASE WHEN fare > 50 THEN 'high' WHEN fare <= 50 THEN 'low' END", "state IS NULL", "DAYNAME(started)",
            "strftime(started, '%Y-%m')", "DATE_TRUNC('hour', started)", "EXTRACT(week FROM due)",
            "state || '-' || COALESCE(state, 'none')", "CONCAT(state, '/', state)", "LENGTH(state)", "'s: ' || state",
        )  # fmt: skip

    def measure(self) -> str:
        of, where = self.number(), self.condition(1)
        return self.pick(
            "COUNT(*)", f"COUNT({of})", f"SUM({of})", f"AVG({of})", f"MIN({of})", f"MAX({of})", f"MEDIAN({of})",
            "COUNT(DISTINCT client_id)", "COUNT(DISTINCT state)", f"COUNT(*) FILTER (WHERE {where})",
            f"SUM({of}) FILTER (WHERE {where})", f"SUM(CASE WHEN {where} THEN {of} ELSE 0 END)",
            f"SUM(CASE WHEN {where} THEN 1 ELSE 0 END)", f"AVG(CASE WHEN {where} THEN {of} END)",
            f"AVG(CASE WHEN {where} THEN 1.0 ELSE 0 END)", f"COUNT(CASE WHEN {where} THEN 1 END)",
            f"100.0 * COUNT(*) FILTER (WHERE {where}) / COUNT(*)", f"SUM({of}) / COUNT(*)", f"SUM({of}) / SUM(legs)",
            "MAX(started)", "MIN(due)", f"COUNT(DISTINCT CASE WHEN {where} THEN client_id END)", f"COUNT_IF({where})",
            f"QUANTILE_CONT({of}, 0.9)", f"STDDEV({of})", f"COALESCE(SUM({of}), 0)", f"SUM(COALESCE({of}, 0))",
            "MIN(state)", f"ANY_VALUE({of})", "CORR(fare, legs)", f"MAX({of}) - MIN({of})", "CAST(MAX(started) AS DATE)",
            f"COUNT(*) * 1.0 / NULLIF(COUNT(DISTINCT {self.pick('client_id', 'legs')}), 0)", "AVG(shared::INT)",
            "ROUND(AVG(fare), 2)", f"ROUND(SUM({of}), 2)", "ROUND(100.0 * SUM(fare) / COUNT(*), 1)", "CAST(AVG(fare) AS DECIMAL(10, 2))",
            "ROUND(AVG(legs))", "CEIL(AVG(fare))", "ABS(SUM(fare))", "ROUND(AVG(fare), 2) + 1",
        )  # fmt: skip

    def condition(self, deep: int = 2) -> str:
        if deep and self.random.random() < 0.35:
            parts = [self.condition(deep - 1) for _ in range(2)]
            return self.pick(f"({parts[0]} AND {parts[1]})", f"({parts[0]} OR {parts[1]})", f"NOT ({parts[0]})")
        sign = self.pick("=", "<>", "<", "<=", ">", ">=")
        return self.pick(
            f"fare {sign} {self.pick('10', '0', '12.5', '-4', '100')}", f"legs {sign} {self.pick('2', '0', '5')}",
            f"{self.number()} {sign} {self.pick('1', '5', '20.5')}", "fare IS NULL", "legs IS NOT NULL", "shared",
            "NOT shared", "shared IS NOT TRUE", "shared = TRUE", "shared IS FALSE", "fare > legs", "fare <> legs",
            f"state {self.pick('=', '<>')} '{self.pick('paid', 'open', 'Open ', 'missing')}'", "state IN ('paid', 'open')",
            "state NOT IN ('paid', 'open')", "LOWER(state) = 'open'", "LOWER(TRIM(state)) = 'open'", "state LIKE 'p%'",
            "state LIKE '%en%'", "state ILIKE '%EN%'", "state LIKE 'open'", "state NOT ILIKE 'o%'", "state LIKE '%d'",
            "TRIM(state) IN ('open', 'paid')", "UPPER(state) LIKE 'O%'", "state LIKE 'o_en'", "COALESCE(state, '') = ''",
            f"started {sign} DATE '2024-06-01'", f"started {sign} TIMESTAMP '2024-06-01 12:00:00'", f"due {sign} '2024-06-01'",
            "started BETWEEN '2024-03-01' AND '2024-09-30'", "due BETWEEN DATE '2024-03-01' AND DATE '2024-09-30'",
            f"CAST(started AS DATE) {sign} DATE '2024-08-08'", "YEAR(started) = 2024", "MONTH(due) IN (1, 2, 3)",
            "started >= CURRENT_DATE - INTERVAL 200 DAY", "due > CURRENT_DATE - INTERVAL '6 months'", "legs IN (1, 2, -1)",
            "DATE_TRUNC('month', started) = DATE '2024-05-01'", f"ended > started + INTERVAL {self.pick('1 HOUR', '30 MINUTE', '1 DAY')}",
            f"ended - started {sign} INTERVAL 1 HOUR", "due IS DISTINCT FROM DATE '2024-05-05'", "state IS DISTINCT FROM 'paid'",
            "legs IS NOT DISTINCT FROM 2", "legs BETWEEN 1 AND 3", "legs NOT BETWEEN 1 AND 3", "client_id = '105'",
            "client_id IN (SELECT client_id FROM clients WHERE kind = 'new')", "client_id NOT IN (SELECT client_id FROM clients WHERE credit > 0)",
            "EXISTS (SELECT 1 FROM clients c WHERE c.client_id = trips.client_id AND c.kind = 'used')",
            "NOT EXISTS (SELECT 1 FROM clients c WHERE c.client_id = trips.client_id AND c.credit > 1)",
            f"{self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM clients c WHERE c.{self.pick('credit = trips.fare', 'joined = trips.due', 'depot_id = trips.legs + 1')} AND c.kind = 'used')",
            f"legs {self.pick('IN', 'IN', 'NOT IN')} (SELECT {self.pick('depot_id FROM clients', 'credit FROM clients', 'legs FROM trips')} WHERE {self.pick('depot_id > 3', 'credit >= 0', 'legs IS NOT NULL')})",
            f"{self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM trips t2 WHERE t2.due = trips.due AND {self.pick('t2.fare > 50', 't2.fare > (SELECT AVG(t3.fare) FROM trips t3)', 'EXISTS (SELECT 1 FROM depots d WHERE d.capacity = t2.fare)')})",
            "fare > (SELECT AVG(fare) FROM trips)", "fare = (SELECT MAX(fare) FROM trips WHERE shared)", "COALESCE(fare, 0) = 0",
            "fare >= 0.3 * legs", "isodow(started) IN (6, 7)", "strftime(started, '%Y-%m') = '2024-05'", "(fare > 1) = shared",
            "state || '!' = 'open!'", "CONCAT('x', state) = 'x'", "LENGTH(TRIM(state)) > 4", "LENGTH(state) = 4", "'a' || state LIKE 'ap%'",
        )  # fmt: skip

    def where(self, share: float = 0.5) -> str:
        return self.maybe(f" WHERE {self.condition()}", share)

    def order(self, keys: list[str], limited: bool = True) -> str:
        chosen = self.random.sample(keys, k=min(len(keys), self.random.choice((0, 1, 1, 1, 2))))
        if not chosen:
            return ""
        by = ", ".join(f"{key}{self.pick('', ' DESC', ' DESC NULLS LAST', ' ASC', ' NULLS FIRST')}" for key in chosen)
        return f" ORDER BY {by}" + (self.maybe(f" LIMIT {self.pick('1', '3', '10')}", 0.4) if limited else "")

    # --- statements

    def of_rows(self) -> str:
        columns = self.random.sample(["trip_id", "state", "fare", "started", "due", "legs", "shared", "client_id"], k=3)
        computed = self.maybe(f", {self.number()} AS extra", 0.3)
        keys = [*columns, *(["extra"] if computed else []), "trip_id", "fare * 2"]
        if self.random.random() < 0.2:
            return (
                f"SELECT DISTINCT {columns[0]}, {columns[1]} FROM trips{self.where()}{self.order(columns[:2], False)}"
            )
        return f"SELECT {', '.join(columns)}{computed} FROM trips{self.where(0.8)}{self.order(keys)}"

    def of_groups(self) -> str:
        groups = [*dict.fromkeys(self.group() for _ in range(self.random.choice((0, 1, 1, 1, 2))))]
        measures = [self.measure() for _ in range(self.random.choice((1, 1, 2)))]
        listed = [f"{one} AS g{place}" for place, one in enumerate(groups)]
        listed += [f"{one} AS m{place}" for place, one in enumerate(measures)]
        by = f" GROUP BY {', '.join(self.pick(one, str(place + 1), f'g{place}') for place, one in enumerate(groups))}"
        having = self.maybe(
            f" HAVING {self.pick('COUNT(*)', measures[0])} {self.pick('>', '<', '>=', '<>')} {self.pick('3', '1')}", 0.2
        )
        keys = [
            *(f"g{place}" for place in range(len(groups))),
            *(f"m{place}" for place in range(len(measures))),
            "COUNT(*)",
        ]
        if not groups:
            return f"SELECT {', '.join(listed)} FROM trips{self.where()}"
        return f"SELECT {', '.join(listed)} FROM trips{self.where(0.4)}{by}{having}{self.order(keys)}"

    def of_levels(self) -> str:
        key = self.pick("client_id", "state", "client_id, state", "legs")
        inner = f"SELECT {key}, {self.measure()} AS x, COUNT(*) AS n FROM trips{self.where(0.4)} GROUP BY {key}"
        inner += self.maybe(f" HAVING COUNT(*) > {self.pick('1', '3')}", 0.3)
        outer = self.pick(
            "SELECT AVG(x) AS a FROM q", "SELECT MAX(n) AS a, COUNT(*) AS b FROM q", "SELECT n, COUNT(*) AS a FROM q GROUP BY n ORDER BY n",
            "SELECT SUM(n) AS a FROM q WHERE x > 3", "SELECT *, x * 2 AS y FROM q", "SELECT COUNT(*) AS a FROM q WHERE n >= 4",
            f"SELECT {key}, x, n FROM q WHERE n > 2 ORDER BY n DESC LIMIT 3", f"SELECT {key}, x / n AS r FROM q ORDER BY r",
            "SELECT MEDIAN(n) AS a, AVG(CASE WHEN n > 2 THEN 1.0 ELSE 0 END) AS b FROM q",
            "SELECT CASE WHEN n > 3 THEN 'many' ELSE 'few' END AS k, COUNT(*) AS a, AVG(n) AS b FROM q GROUP BY 1",
        )  # fmt: skip
        return self.pick(f"WITH q AS ({inner}) {outer}", outer.replace("FROM q", f"FROM ({inner}) q"))

    def of_windows(self) -> str:
        period = self.pick("DATE_TRUNC('month', started)", "DATE_TRUNC('quarter', due)", "YEAR(started)")
        value = self.pick("COUNT(*)", "SUM(fare)", "AVG(fare)", "COUNT(DISTINCT client_id)", "SUM(COALESCE(fare, 0))")
        part = self.maybe("state", 0.3)
        keys, by = (f"{part}, ", f"PARTITION BY {part} ") if part else ("", "")
        down = self.maybe(" DESC", 0.1)
        inner = f"SELECT {keys}{period} AS p, {value} AS v FROM trips{self.where(0.3)} GROUP BY {keys}{period}"
        window = self.pick(
            f"SUM(v) OVER ({by}ORDER BY p{down})", f"v - LAG(v) OVER ({by}ORDER BY p{down})", f"100.0 * v / SUM(v) OVER ({by})",
            f"(v - LAG(v) OVER ({by}ORDER BY p)) / LAG(v) OVER ({by}ORDER BY p)", "v / SUM(v) OVER ()", f"LAG(v) OVER ({by}ORDER BY p)",
            f"AVG(v) OVER ({by}ORDER BY p ROWS BETWEEN {self.pick('1', '2', '5')} PRECEDING AND CURRENT ROW)", f"LAG(v, 2) OVER ({by}ORDER BY p)",
            f"100.0 * v / LAG(v) OVER ({by}ORDER BY p) - 100", f"AVG(v) OVER ({by}ORDER BY p ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
            f"SUM(v) OVER ({by}ORDER BY p ROWS UNBOUNDED PRECEDING)", f"SUM(v) OVER ({by}ORDER BY p ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
            f"RANK() OVER ({by}ORDER BY v DESC)", "ROUND(100.0 * v / SUM(v) OVER (), 2)", f"v - LAG(v) OVER ({by}ORDER BY p{down}) + 1", "v * 1.0 / SUM(v) OVER (PARTITION BY p)",
        )  # fmt: skip
        after = self.maybe(" WHERE v > 5", 0.15)
        outer = f"SELECT {keys}p, v, {window} AS w FROM q{after}"
        if self.random.random() < 0.2:
            outer = f"SELECT {keys}p, w FROM (SELECT *, {window} AS w FROM q) WHERE {self.pick('w > 1', 'p IS NOT NULL', 'v > 5')}"
        return f"WITH q AS ({inner}) {outer}{self.order(['p', 'v', 'w'], False)}"

    def of_tops(self) -> str:
        rank = self.pick("ROW_NUMBER", "ROW_NUMBER", "RANK", "DENSE_RANK")
        most, sign = self.pick("1", "2", "3"), self.pick("=", "<=", "<=", "<")
        if self.random.random() < 0.5:
            window = f"{rank}() OVER ({self.maybe('PARTITION BY state ')}ORDER BY {self.pick('fare', 'started', 'legs')}{self.pick('', ' DESC')})"
            return self.pick(
                f"SELECT state, trip_id, fare, legs FROM trips{self.where()} QUALIFY {window} {sign} {most}",
                f"SELECT state, trip_id FROM (SELECT *, {window} AS rn FROM trips{self.where()}) WHERE rn {sign} {most}{self.maybe(' AND legs > 1', 0.2)}",
            )  # fmt: skip
        measure = self.measure()
        window = f"{rank}() OVER ({self.maybe('PARTITION BY state ')}ORDER BY m{self.pick('', ' DESC')})"
        inner = f"SELECT state, legs, {measure} AS m FROM trips{self.where(0.3)} GROUP BY state, legs"
        return self.pick(
            f"WITH q AS ({inner}) SELECT state, legs, m FROM q QUALIFY {window} {sign} {most}",
            f"WITH q AS ({inner}), r AS (SELECT *, {window} AS rn FROM q) SELECT state, legs, m FROM r WHERE rn {sign} {most} ORDER BY state",
        )  # fmt: skip

    def of_joins(self) -> str:
        join = self.pick("JOIN", "LEFT JOIN", "INNER JOIN")
        first = self.pick(
            f"trips t {join} clients c ON c.client_id = t.client_id", "clients c JOIN trips t ON t.client_id = c.client_id",
            f"trips t {join} clients c USING (client_id)", "trips t, clients c", "trips t RIGHT JOIN clients c ON t.client_id = c.client_id",
        )  # fmt: skip
        more = self.maybe(f" {self.pick('JOIN', 'LEFT JOIN')} depots d ON d.depot_id = c.depot_id", 0.4)
        where = [self.pick("c.kind = 'new'", "c.credit > 0", "t.fare > 5", "c.joined >= '2023-06-01'", "t.started > c.joined", "c.kind IS NULL", "c.client_id IS NULL", "t.fare > c.credit")]  # fmt: skip
        if first == "trips t, clients c":
            where.append("t.client_id = c.client_id")
        if more and self.random.random() < 0.3:
            where.append(self.pick("d.region = 'North'", "d.capacity IS NOT NULL"))
        text = self.maybe(f" WHERE {' AND '.join(where)}", 0.6 if len(where) == 1 else 1)
        group = self.pick("c.kind", "c.full_name", "c.client_id, c.full_name", "t.state", "DATE_TRUNC('month', c.joined)", *(["d.region", "d.depot_id"] if more else []))  # fmt: skip
        measure = self.pick("COUNT(*)", "SUM(t.fare)", "COUNT(DISTINCT c.client_id)", "AVG(t.legs)", "MAX(c.joined)", "COUNT(c.client_id)", "AVG(c.credit)", "COUNT(t.trip_id)")  # fmt: skip
        if self.random.random() < 0.3:
            return f"SELECT t.trip_id, c.full_name, c.kind{', d.region' if more else ''} FROM {first}{more}{text}{self.order(['t.trip_id', 'c.full_name'])}"
        if self.random.random() < 0.2:
            return f"SELECT DISTINCT c.kind{', d.region' if more else ''} FROM {first}{more}{text}"
        return f"SELECT {group}, {measure} AS m FROM {first}{more}{text} GROUP BY {group}{self.order(['m'])}"

    def of_related(self) -> str:
        join, on = self.pick("LEFT JOIN", "LEFT JOIN", "JOIN"), self.maybe(" AND t.fare > 5", 0.3)
        first = f"clients c {join} trips t ON t.client_id = c.client_id{on}"
        measure = self.pick("COUNT(t.trip_id)", "COUNT(*)", "SUM(t.fare)", "AVG(t.fare)", "MAX(t.started)", "COUNT(DISTINCT t.state)", "SUM(CASE WHEN t.shared THEN 1 ELSE 0 END)", "COALESCE(SUM(t.fare), 0)", "COUNT(t.fare)", "SUM(c.credit)", "MIN(c.joined)", "COUNT(DISTINCT c.client_id)")  # fmt: skip
        group = self.pick("c.client_id, c.full_name", "c.client_id", "c.kind", "c.full_name", "c.kind, c.depot_id")
        where = self.maybe(f" WHERE {self.pick('c.kind = $', 'c.credit > 0', 't.fare > 5', 't.trip_id IS NULL', 't.fare IS NULL')}", 0.4).replace("$", "'new'")  # fmt: skip
        sub = f"(SELECT client_id, {self.pick('COUNT(*)', 'SUM(fare)', 'MAX(started)', 'AVG(legs)')} AS v FROM trips{self.where(0.3)} GROUP BY client_id{self.maybe(' HAVING COUNT(*) > 3', 0.2)})"
        return self.pick(
            f"SELECT {group}, {measure} AS m FROM {first}{where} GROUP BY {group}{self.maybe(' HAVING COUNT(t.trip_id) > 2', 0.2)}{self.order(['m', group.split(', ')[0]])}",
            f"SELECT {group}, {measure} AS m FROM {first}{where} GROUP BY {group}{self.order(['m'])}",
            f"SELECT c.client_id, c.full_name FROM {first} WHERE t.trip_id IS NULL",
            f"SELECT c.client_id, x.v FROM clients c {self.pick('JOIN', 'LEFT JOIN')} {sub} x ON x.client_id = c.client_id{self.order(['x.v'])}",
            f"SELECT c.kind, {self.pick('AVG', 'SUM', 'COUNT', 'MAX')}(x.v) AS m FROM clients c {self.pick('JOIN', 'LEFT JOIN')} {sub} x ON x.client_id = c.client_id GROUP BY c.kind",
            f"SELECT COUNT(*) AS n FROM clients WHERE client_id {self.pick('IN', 'NOT IN')} (SELECT client_id FROM trips{self.where(0.5)}{self.maybe(' AND client_id IS NOT NULL', 0)})",
            f"SELECT COUNT(*) AS n FROM clients c WHERE {self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM trips t WHERE t.client_id = c.client_id AND t.fare > 5)",
            "SELECT COUNT(*) AS n FROM clients WHERE client_id NOT IN (SELECT client_id FROM trips WHERE client_id IS NOT NULL AND fare > 5)",
            f"SELECT d.region, COUNT(c.client_id) AS m FROM depots d {join} clients c ON c.depot_id = d.depot_id GROUP BY d.region{self.order(['m'])}",
        )  # fmt: skip

    def of_sales(self) -> str:
        group = self.pick('"Город"', "Товар", '"товар"', "DATE_TRUNC('month', \"Дата\")", "ГОРОД")
        measure = self.pick('SUM("Сумма")', "SUM(сумма)", 'SUM("Количество" * "Сумма")', "COUNT(*)", 'AVG("СУММА")')
        where = self.maybe(
            self.pick(
                " WHERE \"Город\" = 'Москва'",
                " WHERE товар <> 'Чай'",
                " WHERE \"Дата\" >= '2025-01-01'",
                ' WHERE "Город" IS NULL',
            )
        )
        table = self.pick('"Продажи"', "Продажи", "продажи")
        return f"SELECT {group} AS g, {measure} AS m FROM {table}{where} GROUP BY {group}{self.order(['g', 'm'])}"
