"""A question back: each candidate has its reading, or none has."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from groundplan.contracts.answer import Clarification
from groundplan.contracts.reading import Evidence, Metric, Reading, Requirement


def _reading(column: str) -> Reading:
    metric = Metric(column=column, function="sum")
    asked = Requirement(id=f"metric:{column}", value=metric, evidence=Evidence(text="total"))
    return Reading(question="the total?", requirements=(asked,))


def test_readings_are_those_of_the_candidates() -> None:
    """Two candidates with one reading would plan the wrong one for the second."""
    readings = (_reading("price"), _reading("cost"))
    asked = Clarification(text="Which?", missing="total", candidates=("price", "cost"), readings=readings)
    assert Clarification.model_validate(asked.model_dump(mode="json")) == asked
    assert not asked.confirms
    with pytest.raises(ValidationError, match="2 candidates have 1 readings"):
        Clarification(text="Which?", missing="total", candidates=("price", "cost"), readings=readings[:1])


def test_one_reading_is_a_confirmation() -> None:
    asked = Clarification(text="Read as: total price. Run it?", missing="", candidates=("total price",))
    assert not asked.confirms, "words that nobody has read cannot be run as they are"
    assert asked.model_copy(update={"readings": (_reading("price"),)}).confirms
