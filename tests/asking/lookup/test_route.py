"""In a project with other sources, a list of the knowledge base goes on there, and nowhere else."""

from __future__ import annotations

from datetime import date
from typing import Any, cast

import pytest

from groundplan.asking.lookup.plan import propose
from groundplan.asking.lookup.route import Lookup
from groundplan.context import Context
from groundplan.contracts.conversation import Turn
from groundplan.contracts.question import Question
from groundplan.contracts.schema import SourceSchema
from tests.asking.lookup.portfolio import REGISTRY, SCHEMA, understood
from tests.checking.asked import SCHEMA as TABLES
from tests.checking.asked import asked, catalog

KNOWLEDGE = SourceSchema(source="knowledge", engine="graph", tables=(), knowledge=SCHEMA)


def listed() -> Turn:
    reading = understood("Стек Газпрома")
    return Turn.of(reading, propose(reading, SCHEMA))


def measured() -> Turn:
    return listed().model_copy(update={"reading": asked("metric:revenue:sum")})


def score(text: str, *turns: Turn) -> float:
    schemas = {"knowledge": KNOWLEDGE, "tables": TABLES}
    context = Context(catalog(), schemas, cast(Any, None), registry=REGISTRY, turns=turns)
    return Lookup().accepts(Question(text=text, today=date(2026, 3, 1)), context, {})


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("question", ["show the rest", "ещё", "next 5", "таблицей"])
def test_a_list_goes_on_where_it_began(question: str) -> None:
    assert score(question, listed()) == 1.0
    assert score(question, listed(), measured()) < 0.5
    assert score(question) < 0.5
