"""Rows chosen by what a subquery keeps: refused by name, or the statement's own rows."""

from __future__ import annotations

from collections import Counter

import pytest

from groundplan.asking.tables.sql.parse import Untranslatable, translate
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


def fuzzed(data: Open, seeds: range) -> Counter[str]:
    return Counter(outcome(Choices(seed).statement(), data, TODAY) for seed in seeds)


@pytest.mark.requirement("R80", part="translated")
def test_choices_made_by_chance_are_refused_or_give_their_own_rows(made_up: Open) -> None:
    found = fuzzed(made_up, range(150))
    assert found["same"] > 90, found
    assert found["gate"] < 5, found


@pytest.mark.slow
def test_thousands_of_choices_made_by_chance(made_up: Open) -> None:
    found = fuzzed(made_up, range(10_000, 14_000))
    print(dict(found))
    assert found["same"] > 2_500, found
