"""Earlier questions that come near: what may be reused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from groundplan.asking.tables.route import read_plain
from groundplan.contracts.conversation import Turn
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.reading import Reading
from groundplan.text.similar import similar
from tests.asking.tables.described import Known

TODAY = date(2026, 1, 15)


def asked(question: str, known: Known) -> Reading:
    found = read_plain(question, *known, today=TODAY).answer
    assert isinstance(found, Reading)
    return found


def plan() -> Plan:
    return Plan(strategy="rules", steps=(Step(id="rows", tool="show_table", params={"table": "sales"}),))


EARLIER = ("total revenue by region in 2024", "average cost by channel", "выручка по регионам за 2024 год")


@pytest.fixture(scope="module")
def turns(sales: Known) -> tuple[Turn, ...]:
    return tuple(Turn(reading=asked(question, sales), plan=plan()) for question in EARLIER)


@pytest.mark.requirement("R25")
@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("show me the total revenue by region in 2024", EARLIER[0]),
        ("Total revenue by region in 2025?", EARLIER[0]),  # four of five words: the year is to be adapted
        ("Total revenue by channel in 2025?", None),
        ("what is the average cost by channel?", EARLIER[1]),
        ("выручка за 2024 год по регионам", EARLIER[2]),
        ("average units by product category", None),
        ("?", None),
    ],
)
def test_without_embeddings_a_similar_question_shares_its_words(
    question: str, found: str | None, turns: tuple[Turn, ...]
) -> None:
    near = similar(question, turns, None)
    assert (near.question if near else None) == found


@pytest.mark.requirement("R25")
def test_with_embeddings_the_nearest_above_the_threshold_is_found(turns: tuple[Turn, ...]) -> None:
    cosines = {"near": (0.79, 0.93, 0.85), "far": (0.79, 0.2, -0.1), "equal": (0.9, 0.1, 0.9)}

    def meaning(phrase: str, names: Sequence[str]) -> Sequence[float]:
        assert list(names) == list(EARLIER)
        return cosines[phrase]

    assert similar("near", turns, meaning) == turns[1]
    assert similar("far", turns, meaning) is None
    assert similar("equal", turns, meaning) == turns[2]  # the latest
    assert similar("near", (), meaning) is None
