"""Nothing checks the reading of a statement but these: it is refused by name, or gives the statement's own rows."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from groundplan.asking.tables.sql.parse import Untranslatable, translate
from tests.asking.tables.sql.executing import GateRefused
from tests.asking.tables.sql.made_up import TODAY, Open, Statements, opened, write
from tests.asking.tables.sql.reference import differs, expected
from tests.asking.tables.sql.written_out import WRITTEN, mutated

ROOT = Path(__file__).parents[4]
BENCHMARKS = Path(os.environ.get("GROUNDPLAN_BENCHMARKS") or ROOT.parent / "shared/benchmarks")
RECORDED = BENCHMARKS / "large_model"


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Open]:
    folder = tmp_path_factory.mktemp("made_up")
    write(folder)
    with opened(folder) as found:
        yield found


def outcome(sql: str, data: Open, today: date) -> str:
    """`same`, or why the statement has no rows to compare: `refused`, `gate`, `invalid`; fails where they differ."""
    try:
        translated = translate(sql, data.schema, data.values, today=today, question="?")
    except Untranslatable:
        return "refused"
    try:
        wanted = expected(sql, today, data.rows, data.numbers)
    except duckdb.Error:
        return "invalid"
    try:
        _, rows = data.tables.answer(translated.reading, data.schema)
    except GateRefused:
        return "gate"
    difference = differs(rows, wanted)
    assert difference is None, f"{sql}\n{difference}"
    return "same"


def fuzzed(data: Open, seeds: range) -> Counter[str]:
    return Counter(outcome(Statements(seed).statement(), data, TODAY) for seed in seeds)


@pytest.mark.parametrize(
    "renamed",
    [
        "CASE WHEN state IN ('paid', 'open') THEN 'due' ELSE state END",
        "CASE state WHEN 'Open ' THEN 'open' ELSE state END",
        "CASE WHEN state = 'paid' THEN 'open' WHEN state IN ('paid', 'missing') THEN 'gone' ELSE state END",
        "REPLACE(state, 'pa', 'spa')",
        "REPLACE(LOWER(state), 'open', 'waiting')",
    ],
)
def test_texts_are_renamed(made_up: Open, renamed: str) -> None:
    sql = f"SELECT {renamed} AS kind, COUNT(*) AS n, SUM(fare) AS total FROM trips GROUP BY 1"
    assert outcome(sql, made_up, TODAY) == "same"


def test_texts_found_by_a_pattern_are_not_renamed(made_up: Open) -> None:
    renamed = "CASE WHEN state LIKE 'p%' THEN 'due' ELSE state END"
    assert outcome(f"SELECT {renamed} AS kind, COUNT(*) AS n FROM trips GROUP BY 1", made_up, TODAY) == "refused"


@pytest.mark.requirement("R80", part="translated")
def test_statements_made_by_chance_are_refused_or_give_their_own_rows(made_up: Open) -> None:
    found = fuzzed(made_up, range(100))
    assert found["same"] > 60, found
    assert found["gate"] < 4, found


def test_words_changed_in_statements_are_refused_or_give_their_own_rows(made_up: Open) -> None:
    assert {outcome(sql, made_up, TODAY) for sql in WRITTEN} == {"same"}
    found = Counter(outcome(mutated(seed), made_up, TODAY) for seed in range(60))
    assert found["same"] > 24, found


@pytest.mark.slow
def test_five_thousand_statements_made_by_chance(made_up: Open) -> None:
    found = fuzzed(made_up, range(10_000, 15_000))
    print(dict(found))
    assert found["same"] > 3_000, found


@pytest.mark.parametrize(
    ("sql", "construct"),
    [
        ("SELECT state FROM trips UNION SELECT kind FROM clients", "UNION"),
        ("SELECT state, COUNT(*) FROM trips GROUP BY ROLLUP (state)", "ROLLUP"),
        ("SELECT nowhere FROM trips", "the column nowhere"),
        ("SELECT AVG(legs) FROM (SELECT * FROM trips ORDER BY fare LIMIT 5)", "an aggregate over a LIMIT"),
        ("SELECT COUNT(*) FROM (SELECT * FROM trips ORDER BY fare LIMIT 5)", "an aggregate over a LIMIT"),
        (
            "SELECT SUM(fare) FROM (SELECT * FROM trips QUALIFY RANK() OVER (ORDER BY fare DESC) = 1)",
            "an aggregate over a ranking",
        ),
        ("SELECT kind, ANY_VALUE(full_name) FROM clients GROUP BY kind", "the function ANY_VALUE"),
        ("SELECT c.client_id FROM clients c LEFT JOIN trips t ON t.client_id = c.client_id", "rows that a LEFT JOIN"),
        ("SELECT t.fare FROM trips t JOIN clients c ON c.depot_id = t.legs", "a join that is by no key"),
        ("SELECT legs % 2 FROM trips", "MOD"),
        ("SELECT state, MIN(+) AS n FROM trips GROUP BY state", "a function without its argument"),
        ("SELECT ROUND(fare, legs) FROM trips", "the function ROUND to a number of digits that is no constant"),
        ("SELECT ROUND(state) FROM trips", "the function ROUND of text values"),
        ("SELECT client_id || state FROM trips", "a text made of number values"),
    ],
)
def test_a_refusal_names_the_construct(made_up: Open, sql: str, construct: str) -> None:
    with pytest.raises(Untranslatable) as refused:
        translate(sql, made_up.schema, made_up.values, today=TODAY, question="?")
    assert refused.value.construct.startswith(construct)


def test_a_modifier_that_turns_the_meaning_is_read(made_up: Open) -> None:
    """sqlglot keeps NOT LIKE as a flag of LIKE."""
    for sql in (
        "SELECT trip_id FROM trips WHERE state NOT LIKE 'p%'",
        "SELECT trip_id FROM trips WHERE state LIKE 'p%'",
    ):
        assert outcome(sql, made_up, TODAY) == "same"


@pytest.mark.parametrize(
    ("last", "found"), [("code 400", "same"), ("code 400 ", "refused"), ("code 400\u00a0", "refused")]
)
def test_trim_is_left_out_where_no_value_has_spaces_around_it(tmp_path: Path, last: str, found: str) -> None:
    """Too many values to list: the description of the column decides."""
    names = [*(f"code {number}" for number in range(400)), last]
    rows = "\n".join(f'{number},"{name}"' for number, name in enumerate(names))
    (tmp_path / "codes.csv").write_text(f"number,remark\n{rows}\n1000,\n", encoding="utf-8")
    with opened(tmp_path) as data:
        for sql in (
            "SELECT COUNT(DISTINCT NULLIF(TRIM(remark), '')) AS n FROM codes",
            "SELECT COUNT(*) AS n FROM codes WHERE NULLIF(TRIM(remark), '') IS NULL",
            "SELECT number FROM codes WHERE TRIM(LOWER(remark)) = 'code 400'",
            "SELECT number FROM codes WHERE LOWER(TRIM(remark)) = 'code 400'",
        ):
            assert outcome(sql, data, TODAY) == found, sql


@pytest.mark.parametrize("sql", ["AVG(CAST(NULLIF(fare, 0) AS DOUBLE))", "SUM(CAST(CAST(fare AS INTEGER) AS DOUBLE))"])
def test_what_changes_numbers_is_no_cleaning(made_up: Open, sql: str) -> None:
    assert outcome(f"SELECT {sql} AS m FROM trips", made_up, TODAY) in ("same", "refused")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(fare) AS m FROM (SELECT * FROM trips WHERE shared ORDER BY fare DESC LIMIT 7)",
        "SELECT SUM(d) AS m, COUNT(d) AS n FROM (SELECT fare * legs AS d FROM trips ORDER BY d LIMIT 250)",
        "SELECT SUM(n) AS m FROM (SELECT client_id, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY n DESC LIMIT 5)",
        "WITH q AS (SELECT client_id, SUM(fare) AS s FROM trips WHERE shared GROUP BY 1 ORDER BY s DESC LIMIT 5) "
        "SELECT 100.0 * (SELECT SUM(s) FROM q) / (SELECT SUM(fare) FROM trips) AS m",
        "SELECT COUNT(*) + (SELECT COUNT(*) FROM clients) AS m FROM trips WHERE fare > 10000",
        "SELECT t.client_id, ANY_VALUE(c.full_name) AS n, SUM(t.fare) AS m "
        "FROM trips t JOIN clients c ON c.client_id = t.client_id GROUP BY t.client_id",
        # periods written as texts
        "SELECT YEAR(started) || ' Q' || QUARTER(started) AS q, SUM(fare) AS s FROM trips GROUP BY 1 ORDER BY 1",
        "SELECT 'Q' || QUARTER(started) AS q, COUNT(*) AS n FROM trips GROUP BY 1",
        "SELECT CAST(YEAR(started) AS TEXT) || '-' || CAST(MONTH(started) AS TEXT), MIN(fare) FROM trips GROUP BY 1",
        "WITH q AS (SELECT DATE_TRUNC('quarter', started) AS d, SUM(fare) AS s FROM trips GROUP BY 1) "
        "SELECT YEAR(d) || ' Q' || QUARTER(d) AS q, s, s - LAG(s) OVER (ORDER BY d) AS more FROM q ORDER BY d",
    ],
)
def test_what_can_be_proven_equal_is_translated(made_up: Open, sql: str) -> None:
    assert outcome(sql, made_up, TODAY) == "same"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT state, ROUND(AVG(fare), 2) AS m FROM trips GROUP BY state ORDER BY m DESC",
        "SELECT trip_id, ROUND(-fare) AS a, CEIL(-fare) AS b, TRUNC(-fare) AS c, FLOOR(-fare) AS d FROM trips",
        "SELECT state FROM trips GROUP BY state HAVING ROUND(AVG(fare), -1) >= 30",
        "SELECT ROUND(CAST(AVG(fare) AS NUMERIC), 2) AS m FROM trips",
        "SELECT AVG(x) AS m FROM (SELECT client_id, ROUND(SUM(ABS(fare)), 1) AS x FROM trips GROUP BY client_id)",
        "SELECT full_name || ' (' || kind || ')' AS who, credit FROM clients ORDER BY credit DESC LIMIT 5",
        "SELECT CONCAT(full_name, ' ', kind) AS who, COUNT(*) AS n FROM clients GROUP BY who",
        "SELECT c.full_name || d.region AS who FROM clients c JOIN depots d ON d.depot_id = c.depot_id",
        "SELECT kind, MAX(LENGTH(full_name)) AS n FROM clients WHERE LENGTH(kind) > 3 GROUP BY kind",
    ],
)
def test_rounded_numbers_and_joined_texts(made_up: Open, sql: str) -> None:
    assert outcome(sql, made_up, TODAY) == "same"


@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (SELECT state, SUM(fare) AS s FROM trips WHERE started < '2024-06-01' GROUP BY state), "
        "b AS (SELECT state, SUM(fare) AS s FROM trips WHERE started >= '2024-06-01' GROUP BY state) "
        "SELECT a.state, a.s AS s1, b.s AS s2, b.s - a.s AS d FROM a JOIN b ON a.state = b.state ORDER BY d DESC",
        "WITH a AS (SELECT state, COUNT(*) AS n FROM trips GROUP BY state), "
        "b AS (SELECT state, COUNT(*) AS n FROM trips WHERE fare > 20 GROUP BY state) "
        "SELECT a.state, COALESCE(b.n, 0) * 1.0 / a.n AS part FROM a LEFT JOIN b ON a.state = b.state",
        "SELECT state, x.s, y.n FROM (SELECT state, SUM(fare) AS s FROM trips WHERE legs > 2 GROUP BY state) x "
        "JOIN (SELECT state, COUNT(*) AS n FROM trips WHERE shared GROUP BY state HAVING COUNT(*) > 9) y USING (state)",
        "SELECT AVG(b.n) AS m FROM (SELECT client_id, SUM(fare) AS s FROM trips GROUP BY client_id) a "
        "JOIN (SELECT client_id, COUNT(*) AS n FROM trips WHERE fare > 5 GROUP BY client_id) b "
        "ON a.client_id = b.client_id WHERE a.s > 100",
        "WITH total AS (SELECT SUM(fare) AS t FROM trips) "
        "SELECT state, SUM(fare) * 100.0 / total.t AS part FROM trips CROSS JOIN total GROUP BY state, total.t",
        "SELECT a.s AS first, b.s AS then, b.s - a.s AS d FROM (SELECT SUM(fare) AS s FROM trips WHERE legs = 1) a, "
        "(SELECT SUM(fare) AS s FROM trips WHERE legs = 2) b",
        "WITH best AS (SELECT client_id, SUM(fare) AS s FROM trips WHERE client_id IS NOT NULL GROUP BY client_id "
        "ORDER BY s DESC LIMIT 5) SELECT c.full_name, best.s FROM best JOIN clients c ON c.client_id = best.client_id",
        "WITH months AS (SELECT DATE_TRUNC('month', started) AS m, SUM(fare) AS s FROM trips GROUP BY 1) "
        "SELECT m, s FROM months WHERE s = (SELECT MAX(s) FROM months)",
        "WITH states AS (SELECT state, SUM(fare) AS s FROM trips GROUP BY 1) "
        "SELECT state, s / (SELECT SUM(s) FROM states) AS part FROM states",
        "WITH n AS (SELECT client_id, COUNT(*) AS n FROM trips WHERE client_id IS NOT NULL GROUP BY 1), "
        "m AS (SELECT AVG(n) AS a FROM n) SELECT n.client_id, n.n FROM n, m WHERE n.n > m.a",
    ],
)
def test_subqueries_beside_each_other(made_up: Open, sql: str) -> None:
    assert outcome(sql, made_up, TODAY) == "same"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c.full_name, (SELECT COUNT(*) FROM trips t WHERE t.client_id = c.client_id) AS n FROM clients c",
        "SELECT c.client_id, COALESCE((SELECT SUM(fare) FROM trips t WHERE t.client_id = c.client_id "
        "AND t.state = 'paid'), 0) AS s FROM clients c ORDER BY s DESC LIMIT 3",
        "SELECT COUNT(*) AS n FROM clients c WHERE (SELECT COUNT(*) * 2 FROM trips t "
        "WHERE c.client_id = t.client_id) > 12",
        "SELECT d.region, (SELECT MAX(t.fare) FROM trips t JOIN clients c ON c.client_id = t.client_id "
        "WHERE c.depot_id = d.depot_id) AS m FROM depots d",
    ],
)
def test_subqueries_that_are_tied_to_their_row(made_up: Open, sql: str) -> None:
    assert outcome(sql, made_up, TODAY) == "same"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT trip_id, fare FROM trips t WHERE fare > (SELECT AVG(fare) FROM trips t2 WHERE t2.state = t.state)",
        "SELECT COUNT(*) AS n FROM trips t WHERE fare > 2 * (SELECT AVG(x.fare) FROM trips x "
        "WHERE x.state = t.state AND x.shared) AND legs > 1",
        "SELECT full_name FROM clients c WHERE credit >= (SELECT MAX(credit) FROM clients x WHERE x.kind = c.kind)",
        "SELECT trip_id, fare - AVG(fare) OVER (PARTITION BY state) AS d FROM trips WHERE legs > 1 ORDER BY d DESC",
        "SELECT trip_id, 100.0 * fare / SUM(fare) OVER (PARTITION BY state) AS part FROM trips WHERE state = 'paid'",
        "SELECT trip_id, fare / SUM(fare) OVER () AS part FROM trips",
        "SELECT trip_id, COUNT(*) OVER (PARTITION BY state, legs) AS n, MAX(fare) OVER (PARTITION BY legs) AS m "
        "FROM trips WHERE fare > 0",
        "SELECT state, COUNT(*) AS n FROM (SELECT state, fare, legs, AVG(fare) OVER (PARTITION BY client_id) AS a "
        "FROM trips WHERE shared) WHERE fare > a AND legs > 1 GROUP BY state",
        "SELECT AVG(d) AS m FROM (SELECT fare - AVG(fare) OVER (PARTITION BY state) AS d FROM trips)",
        "SELECT t.trip_id, t.fare - AVG(t.fare) OVER (PARTITION BY c.kind) AS d FROM trips t "
        "JOIN clients c ON c.client_id = t.client_id",
        "SELECT trip_id FROM trips t WHERE fare = (SELECT MAX(fare) FROM trips x "
        "WHERE x.state IS NOT DISTINCT FROM t.state)",
        "SELECT client_id, fare FROM (SELECT client_id, fare, started, MIN(started) OVER (PARTITION BY client_id) AS f "
        "FROM trips) WHERE started = f",
        "SELECT DISTINCT state, COUNT(*) OVER (PARTITION BY state) AS n FROM trips",
    ],
)
def test_rows_beside_those_that_are_alike(made_up: Open, sql: str) -> None:
    assert outcome(sql, made_up, TODAY) == "same"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT d.depot_id, COUNT(t.trip_id) AS n, SUM(t.fare) AS s FROM depots d "
        "LEFT JOIN clients c ON c.depot_id = d.depot_id LEFT JOIN trips t ON t.client_id = c.client_id GROUP BY 1",
        "SELECT d.depot_id, COUNT(DISTINCT c.client_id) AS cs, COUNT(t.trip_id) AS n FROM depots d "
        "LEFT JOIN clients c ON c.depot_id = d.depot_id "
        "LEFT JOIN trips t ON t.client_id = c.client_id AND t.shared GROUP BY d.depot_id",
    ],
)
def test_left_joins_one_after_the_other(made_up: Open, sql: str) -> None:
    assert outcome(sql, made_up, TODAY) == "same"


@pytest.mark.parametrize(
    ("sql", "construct"),
    [
        (
            "SELECT d.depot_id, SUM(c.credit) AS s, COUNT(t.trip_id) AS n FROM depots d "
            "LEFT JOIN clients c ON c.depot_id = d.depot_id LEFT JOIN trips t ON t.client_id = c.client_id GROUP BY 1",
            "sums over two LEFT JOINs at once",
        ),
        (
            "SELECT d.depot_id, COUNT(t.trip_id) AS n FROM depots d LEFT JOIN clients c ON c.depot_id = d.depot_id "
            "AND c.credit > 0 LEFT JOIN trips t ON t.client_id = c.client_id GROUP BY 1",
            "a condition in the ON of a LEFT JOIN before another",
        ),
        (
            "SELECT a.state, b.n FROM (SELECT state, COUNT(*) AS n FROM trips GROUP BY state) a "
            "LEFT JOIN (SELECT state, COUNT(*) AS n FROM trips WHERE fare > 20 GROUP BY state) b ON a.state = b.state",
            "a count of a LEFT JOIN",
        ),
        (
            "SELECT c.full_name, (SELECT COUNT(*) FROM trips t WHERE t.client_id > c.client_id) AS n FROM clients c",
            "a subquery that is tied to its row by more than equal columns",
        ),
        (
            "SELECT trip_id FROM trips t WHERE fare > (SELECT MEDIAN(x.fare) FROM trips x WHERE x.state = t.state)",
            "median of the rows that share a value",
        ),
    ],
)
def test_what_would_repeat_rows_or_lose_groups_is_refused(made_up: Open, sql: str, construct: str) -> None:
    with pytest.raises(Untranslatable, match=re.escape(construct)):
        translate(sql, made_up.schema, made_up.values, today=TODAY, question="?")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT LOWER(state) AS s, COUNT(*) AS n FROM trips GROUP BY LOWER(state)",
        "SELECT UPPER(TRIM(state)) AS s, SUM(fare) AS m FROM trips GROUP BY 1 ORDER BY m DESC",
        "SELECT trip_id, TRIM(LOWER(state)) AS s FROM trips WHERE LOWER(state) <> 'paid'",
        "SELECT state FROM trips GROUP BY state HAVING BOOL_OR(trip_id > 250)",
        "SELECT state FROM trips GROUP BY state HAVING BOOL_AND(trip_id > 3)",
    ],
)
def test_texts_in_one_case_and_conditions_of_whole_groups(made_up: Open, sql: str) -> None:
    assert outcome(sql, made_up, TODAY) == "same"


def test_common_idioms_are_refused_or_give_their_own_rows(made_up: Open) -> None:
    idioms = (Path(__file__).parent / "idioms.sql").read_text(encoding="utf-8").partition("\n")[2].split(";\n")
    found = Counter(outcome(sql, made_up, TODAY) for sql in idioms if sql.strip())
    assert found["same"] >= 108, found
    assert found.total() == 132


def recorded(name: str) -> list[dict[str, Any]]:
    lines = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for line in lines if "sql" in (record := json.loads(line))]


def questions(folder: str) -> dict[str, dict[str, Any]]:
    lines = (BENCHMARKS / folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return {(record := json.loads(line))["id"]: record for line in lines}


def share(records: list[tuple[dict[str, Any], Path, date]]) -> float:
    """Of the statements that run over the cleaned tables: those whose reading gives their rows. None may differ."""
    found: Counter[str] = Counter()
    for folder in dict.fromkeys(folder for _, folder, _ in records):
        with opened(folder) as data:
            for record, place, today in records:
                if place == folder:
                    found[outcome(record["sql"], data, today)] += 1
    print(dict(found))
    return found["same"] / (found.total() - found["invalid"])


needs_benchmarks = pytest.mark.skipif(
    not RECORDED.is_dir(), reason=f"{RECORDED} is not there; GROUNDPLAN_BENCHMARKS names the benchmarks' folder"
)


@needs_benchmarks
@pytest.mark.slow
def test_recorded_statements_of_questions_give_their_own_rows() -> None:
    known = questions("questions")
    records = [
        (one, BENCHMARKS / "questions" / known[one["id"]]["dataset"], date(2026, 1, 15))
        for name in ("questions_a", "questions_b")
        for one in recorded(name)
    ]
    assert share(records) >= 0.96


@needs_benchmarks
@pytest.mark.slow
def test_recorded_statements_over_several_tables_give_their_own_rows() -> None:
    known = questions("sql_eval")
    records = [
        (one, BENCHMARKS / "sql_eval/db" / known[one["id"]]["db"], date.fromisoformat(known[one["id"]]["as_of"]))
        for one in recorded("sql_eval")
    ]
    assert share(records) >= 0.9
