"""Rows chosen by what a subquery keeps: refused by name, or the statement's own rows."""

from __future__ import annotations

from collections import Counter

import pytest

from groundplan.asking.tables.sql.parse import Untranslatable, translate
from groundplan.text.read_back import read_back
from tests.asking.tables.sql.made_up import TODAY, Open
from tests.asking.tables.sql.made_up_choices import Choices
from tests.asking.tables.sql.test_statements import made_up, outcome

__all__ = ["made_up"]  # a fixture


@pytest.mark.parametrize(
    "where",
    [
        "client_id IN (SELECT client_id FROM trips GROUP BY client_id HAVING COUNT(*) > 7)",
        "client_id NOT IN (SELECT client_id FROM trips WHERE client_id IS NOT NULL GROUP BY 1 HAVING COUNT(*) > 7)",
        "client_id IN (SELECT client_id FROM trips WHERE fare > 5 GROUP BY 1 ORDER BY SUM(fare) DESC, 1 LIMIT 5)",
        "client_id IN (SELECT client_id FROM trips GROUP BY client_id, state HAVING SUM(fare) / COUNT(*) > 60)",
        "client_id IN (SELECT client_id FROM trips ORDER BY fare DESC, trip_id LIMIT 5)",
        "joined IN (SELECT DISTINCT joined FROM clients ORDER BY joined DESC LIMIT 4)",
        "YEAR(joined) IN (SELECT YEAR(started) FROM trips GROUP BY YEAR(started) ORDER BY COUNT(*) DESC, 1 LIMIT 1)",
        "EXISTS (SELECT 1 FROM trips t WHERE t.client_id = clients.client_id GROUP BY t.state HAVING COUNT(*) > 2)",
        "NOT EXISTS (SELECT 1 FROM trips t WHERE t.client_id = clients.client_id LIMIT 1)",
        "depot_id IN (SELECT c.depot_id FROM trips t JOIN clients c ON c.client_id = t.client_id WHERE t.fare > 200)",
        "EXISTS (SELECT 1 FROM trips t JOIN clients c ON c.client_id = t.client_id "
        "WHERE c.depot_id = clients.depot_id AND t.fare > 200)",
        "client_id IN (SELECT client_id FROM (SELECT client_id, COUNT(*) AS n FROM trips GROUP BY 1) q WHERE n > 7)",
        "COALESCE(depot_id IN (SELECT legs FROM trips GROUP BY legs HAVING COUNT(*) > 30), FALSE)",
    ],
)
def test_rows_are_chosen_by_groups_and_joins(made_up: Open, where: str) -> None:
    assert outcome(f"SELECT client_id, full_name FROM clients WHERE {where}", made_up, TODAY) == "same"


@pytest.mark.parametrize(
    ("where", "construct"),
    [
        (
            "client_id NOT IN (SELECT client_id FROM trips GROUP BY client_id HAVING COUNT(*) > 7)",
            "NOT IN where values",
        ),
        ("EXISTS (SELECT COUNT(*) FROM trips t WHERE t.client_id = clients.client_id)", "EXISTS of an aggregate"),
        ("EXISTS (SELECT 1 FROM trips t WHERE t.client_id = clients.client_id HAVING COUNT(*) < 3)", "EXISTS of an"),
        ("joined IN (SELECT started FROM trips ORDER BY fare LIMIT 3)", "a subquery linked by values of another type"),
        ("full_name IN (SELECT MAX(state) FROM trips GROUP BY client_id HAVING COUNT(*) > 3)", "a column that is no"),
    ],
)
def test_a_refused_choice_names_the_construct(made_up: Open, where: str, construct: str) -> None:
    sql = f"SELECT client_id FROM clients WHERE {where}"
    with pytest.raises(Untranslatable) as refused:
        translate(sql, made_up.schema, made_up.values, today=TODAY, question="?")
    assert refused.value.construct.startswith(construct)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT client_id, COUNT(*) AS n FROM trips GROUP BY 1 QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) <= 4",
        "SELECT trip_id, legs FROM trips QUALIFY DENSE_RANK() OVER (ORDER BY legs DESC) <= 2",
        "SELECT trip_id, state, fare FROM trips QUALIFY RANK() OVER (PARTITION BY state ORDER BY fare DESC) <= 3",
        "SELECT * FROM (SELECT legs, SUM(fare) AS m, RANK() OVER (ORDER BY SUM(fare)) AS r FROM trips GROUP BY legs) "
        "WHERE r < 4",
        "SELECT COUNT(*) AS n FROM clients WHERE client_id IN (SELECT client_id FROM trips GROUP BY client_id "
        "QUALIFY DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) <= 2)",
        "SELECT trip_id, fare FROM trips ORDER BY ROW_NUMBER() OVER (ORDER BY fare DESC, trip_id) LIMIT 5",
        "SELECT state, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM trips GROUP BY state ORDER BY r",
        "SELECT trip_id FROM trips WHERE fare = (SELECT fare FROM trips ORDER BY fare DESC LIMIT 1)",
        "SELECT full_name FROM clients WHERE credit > (SELECT credit FROM clients WHERE client_id = 104)",
        "SELECT trip_id FROM trips WHERE client_id = (SELECT client_id FROM trips GROUP BY 1 ORDER BY COUNT(*), 1 "
        "LIMIT 1)",
        "SELECT client_id FROM clients INTERSECT SELECT client_id FROM trips WHERE fare > 50",
        "SELECT client_id FROM clients EXCEPT SELECT client_id FROM trips GROUP BY client_id HAVING COUNT(*) > 5",
        "SELECT COUNT(*) AS n FROM (SELECT legs FROM trips WHERE legs > 1 EXCEPT SELECT depot_id FROM clients) q",
        "SELECT trip_id, legs // 2 AS x FROM trips",
        "SELECT (client_id - 120) // 10 AS x, COUNT(*) AS n FROM clients GROUP BY 1",
    ],
)
def test_places_single_values_set_operations_and_whole_quotients(made_up: Open, sql: str) -> None:
    assert outcome(sql, made_up, TODAY) == "same"


@pytest.mark.parametrize(
    ("sql", "construct"),
    [
        ("SELECT client_id FROM trips EXCEPT SELECT depot_id FROM clients", "EXCEPT where values may be missing"),
        ("SELECT client_id FROM clients INTERSECT ALL SELECT client_id FROM trips", "INTERSECT ALL"),
        ("SELECT kind, credit FROM clients EXCEPT SELECT kind, credit FROM clients", "EXCEPT of several columns"),
        ("SELECT fare // 2 AS x FROM trips", "// of numbers that may have fractions"),
        (
            "SELECT trip_id FROM trips WHERE fare > (SELECT credit FROM clients WHERE kind = 'new')",
            "a subquery as a value",
        ),
        (
            "SELECT trip_id FROM trips WHERE NOT legs = (SELECT depot_id FROM clients ORDER BY credit, 1 LIMIT 1)",
            "the first of an order where its lack decides",
        ),
        (
            "SELECT trip_id, RANK() OVER (PARTITION BY state ORDER BY fare) AS r FROM trips ORDER BY r",
            "an order by places within groups",
        ),
    ],
)
def test_what_cannot_be_proven_equal_is_refused_by_name(made_up: Open, sql: str, construct: str) -> None:
    with pytest.raises(Untranslatable) as refused:
        translate(sql, made_up.schema, made_up.values, today=TODAY, question="?")
    assert refused.value.construct.startswith(construct)


def test_ties_that_are_kept_are_told(made_up: Open) -> None:
    sql = "SELECT legs, COUNT(*) AS n FROM trips GROUP BY legs QUALIFY $() OVER (ORDER BY COUNT(*) DESC) <= 3"
    for rank, told in (("ROW_NUMBER", ""), ("RANK", ", ties kept"), ("DENSE_RANK", ", ties kept and counted once")):
        written = sql.replace("$", rank)
        reading = translate(written, made_up.schema, made_up.values, today=TODAY, question="?").reading
        assert read_back(reading) == f"number of trips by legs, top 3{told}"


def fuzzed(data: Open, seeds: range) -> Counter[str]:
    return Counter(outcome(Choices(seed).statement(), data, TODAY) for seed in seeds)


@pytest.mark.requirement("R80", part="translated")
def test_choices_made_by_chance_are_refused_or_give_their_own_rows(made_up: Open) -> None:
    found = fuzzed(made_up, range(60))
    assert found["same"] > 36, found
    assert found["gate"] < 5, found


@pytest.mark.slow
def test_thousands_of_choices_made_by_chance(made_up: Open) -> None:
    found = fuzzed(made_up, range(10_000, 14_000))
    print(dict(found))
    assert found["same"] > 2_500, found
