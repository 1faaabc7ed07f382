"""Statements written by hand over the made-up tables, and changes of single words in them."""

# ruff: noqa: E501 - a statement stands on one line
from __future__ import annotations

import re
from random import Random

WRITTEN = (
    "SELECT AVG(fare) AS m FROM (SELECT * FROM trips WHERE shared ORDER BY fare DESC LIMIT 7)",
    "SELECT SUM(n) AS m FROM (SELECT client_id, COUNT(*) AS n FROM trips WHERE fare > 5 GROUP BY client_id ORDER BY n DESC LIMIT 5)",
    "WITH q AS (SELECT client_id, SUM(fare) AS s FROM trips WHERE legs > 1 GROUP BY client_id ORDER BY s DESC LIMIT 5) SELECT 100.0 * (SELECT SUM(s) FROM q) / (SELECT SUM(fare) FROM trips) AS m",
    "SELECT COUNT(*) + (SELECT COUNT(*) FROM clients WHERE credit > 5) AS m FROM trips WHERE fare > 10",
    "SELECT state, SUM(fare) / (SELECT SUM(fare) FROM trips WHERE legs > 2) AS m FROM trips WHERE legs > 1 GROUP BY state ORDER BY m DESC LIMIT 3",
    "SELECT t.client_id, ANY_VALUE(c.full_name) AS n, SUM(t.fare) AS m FROM trips t JOIN clients c ON c.client_id = t.client_id WHERE c.credit > 1 GROUP BY t.client_id ORDER BY m DESC LIMIT 5",
    "SELECT c.kind, COUNT(DISTINCT t.client_id) AS n, AVG(t.fare) AS m FROM trips t JOIN clients c ON c.client_id = t.client_id WHERE t.fare > 5 AND c.joined >= '2023-06-01' GROUP BY c.kind HAVING COUNT(*) > 3 ORDER BY n DESC LIMIT 3",
    "SELECT c.client_id, c.full_name, COUNT(t.trip_id) AS n FROM clients c LEFT JOIN trips t ON t.client_id = c.client_id AND t.fare > 5 WHERE c.credit < 10 GROUP BY c.client_id, c.full_name ORDER BY n DESC, c.client_id ASC LIMIT 10",
    "SELECT DATE_TRUNC('month', started) AS p, COUNT(*) AS n, AVG(fare) AS m FROM trips WHERE started >= DATE '2024-06-01' AND legs > 1 GROUP BY DATE_TRUNC('month', started) ORDER BY p ASC",
    "WITH q AS (SELECT DATE_TRUNC('month', started) AS p, SUM(fare) AS v FROM trips WHERE legs > 1 GROUP BY DATE_TRUNC('month', started)) SELECT p, v, v - LAG(v) OVER (ORDER BY p) AS w FROM q ORDER BY p ASC",
    "SELECT state, trip_id, fare FROM trips WHERE fare > 5 QUALIFY ROW_NUMBER() OVER (PARTITION BY state ORDER BY fare DESC, trip_id ASC) <= 2",
    "SELECT state, legs, n FROM (SELECT state, legs, COUNT(*) AS n FROM trips GROUP BY state, legs) QUALIFY ROW_NUMBER() OVER (PARTITION BY state ORDER BY n DESC) = 1",
    "SELECT COUNT(*) AS n FROM clients WHERE client_id NOT IN (SELECT client_id FROM trips WHERE client_id IS NOT NULL AND fare > 5) AND credit >= 0",
    "SELECT COUNT(*) AS n FROM clients c WHERE EXISTS (SELECT 1 FROM trips t WHERE t.client_id = c.client_id AND t.fare > 50 AND t.legs < 3)",
    "SELECT AVG(n) AS m, MAX(n) AS b FROM (SELECT client_id, COUNT(*) AS n, SUM(fare) AS s FROM trips WHERE legs > 0 GROUP BY client_id HAVING COUNT(*) > 2) WHERE s > 10",
    "SELECT CASE WHEN n > 3 THEN 'many' ELSE 'few' END AS k, COUNT(*) AS a, AVG(n) AS b FROM (SELECT client_id, COUNT(*) AS n FROM trips WHERE fare > 1 GROUP BY client_id) GROUP BY 1 ORDER BY a DESC",
    "SELECT d.region, SUM(t.fare) AS m FROM trips t JOIN clients c ON c.client_id = t.client_id JOIN depots d ON d.depot_id = c.depot_id WHERE t.legs > 1 AND d.capacity >= 10 GROUP BY d.region ORDER BY m DESC LIMIT 2",
    "SELECT trip_id, fare, legs FROM trips WHERE fare > (SELECT AVG(fare) FROM trips WHERE legs > 1) AND legs < 5 ORDER BY fare DESC, trip_id ASC LIMIT 10",
    "SELECT AVG(CASE WHEN fare > 10 THEN 1.0 ELSE 0 END) AS r, SUM(CASE WHEN legs > 2 THEN fare ELSE 0 END) AS s, COUNT(CASE WHEN fare < 5 THEN 1 END) AS n FROM trips WHERE started >= '2024-03-01'",
    "SELECT state, 100.0 * COUNT(*) FILTER (WHERE fare > 10) / COUNT(*) AS r, MAX(legs) - MIN(legs) AS s FROM trips WHERE legs IS NOT NULL GROUP BY state ORDER BY r DESC",
    "SELECT COUNT(*) AS n FROM trips WHERE LOWER(TRIM(state)) = 'open' AND COALESCE(fare, 0) > 1 OR legs = 2 AND NOT fare > 5",
    "SELECT c.kind, SUM(x.v) AS m FROM clients c JOIN (SELECT client_id, SUM(fare) AS v FROM trips WHERE legs > 1 GROUP BY client_id) x ON x.client_id = c.client_id GROUP BY c.kind ORDER BY m DESC",
    "SELECT CASE WHEN y THEN 'a' ELSE 'b' END AS k, AVG(s) AS m FROM (SELECT client_id, MAX(state) IS NOT NULL AS y, SUM(fare) AS s FROM trips GROUP BY client_id) GROUP BY 1",
    "SELECT y, COUNT(*) AS m FROM (SELECT client_id, CASE WHEN SUM(fare) > 50 THEN 'big' WHEN COUNT(*) > 5 THEN 'many' END AS y FROM trips WHERE legs > 1 GROUP BY client_id) GROUP BY y",
)
ALIKE = (
    (">", "<", ">=", "<=", "=", "<>"),
    ("+", "-", "*", "/"),
    ("SUM", "AVG", "MAX", "MIN", "COUNT", "MEDIAN"),
    ("ASC", "DESC", "DESC NULLS LAST"),
    ("fare", "legs", "trip_id"),
    ("fare", "legs", "client_id"),
    ("credit", "depot_id", "client_id"),
    ("state", "shared"),
    ("kind", "full_name"),
    ("started", "due", "ended"),
    ("month", "quarter", "year", "week", "day"),
    ("AND", "OR"),
    ("JOIN", "LEFT JOIN"),
    ("IN", "NOT IN"),
    ("EXISTS", "NOT EXISTS"),
    ("IS NULL", "IS NOT NULL"),
    ("ROW_NUMBER", "RANK", "DENSE_RANK"),
    ("0", "1", "2", "3", "5", "7", "10", "50", "250"),
)
WORD = re.compile(r"[<>]=|<>|IS NOT NULL|IS NULL|LEFT JOIN|NOT IN|NOT EXISTS|[\w.]+|\S")


def mutated(seed: int) -> str:
    """A statement with one to three words changed to others of their kind; often no sense, sometimes no SQL."""
    random = Random(seed)
    sql = random.choice(WRITTEN)
    for _ in range(random.choice((1, 1, 2, 3))):
        places = [(found, kinds) for found in WORD.finditer(sql) if (kinds := _alike(found.group()))]
        found, kinds = random.choice(places)
        table, dot, name = found.group().rpartition(".")
        other = random.choice([one for one in random.choice(kinds) if one != name])
        sql = f"{sql[: found.start()]}{table}{dot}{other}{sql[found.end() :]}"
    return sql


def _alike(word: str) -> list[tuple[str, ...]]:
    name = word if word[:1].isdigit() else word.rpartition(".")[2]
    return [kind for kind in ALIKE if name in kind]
