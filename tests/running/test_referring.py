"""What a step takes from earlier ones, filled in before its tool is called."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.contracts.facts import StepFacts
from groundplan.contracts.plan import Step
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.contracts.tool import Tool
from groundplan.running.references import referred

MAIL = Tool.model_validate(
    {
        "name": "mail",
        "description": "Send a mail to somebody.",
        "source": "mail",
        "capabilities": ["act"],
        "inputs": [{"name": "table"}],
        "params": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "body": {"type": "string", "x-value": True},
                "short": {"type": "string", "maxLength": 5, "x-value": True},
                "kind": {"enum": ["news-daily", "news-weekly"]},
                "day": {"type": "string", "format": "date"},
                "count": {"type": "integer"},
            },
        },
        "output": {"kind": "facts"},
    }
)
GIVEN = {
    "name": "Ada",
    "count": 5,
    "share": 5.0,
    "great": 1e21,
    "tiny": 1e-7,
    "gold": True,
    "none": None,
    "rhythm": "weekly",
    "address": {"city": "Rom", "streets": ["Via Appia"]},
    "tags": ["a"],
    "days": ["Monday", 2, True],
    "loans": [{"title": "Dune"}],
}


def filled(first: dict[str, Any] = GIVEN, **params: object) -> Any:
    step = Step.model_validate({"id": "mail", "tool": "mail", "params": params, "needs": ["customer"]})
    return referred(
        step, MAIL, {"customer": StepOutcome(status="finished", facts=StepFacts(step="customer", first=first))}
    )


def of(field: str) -> dict[str, str]:
    return {"$from": f"customer.{field}"}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["Dear ", of("name"), ", thank you"], "Dear Ada, thank you"),
        ([of("count"), " and ", of("share"), ", ", of("gold")], "5 and 5.0, true"),
        ([of("great"), " ", of("tiny")], "1000000000000000000000 0.0000001"),
        ([of("address.city")], "Rom"),
        ([of("tags")], "a"),
        (["On ", of("days"), "."], "On Monday\n2\ntrue."),
        (["nothing ", "of ", "others"], "nothing of others"),
        ([""], ""),
    ],
)
def test_parts_are_written_one_after_the_other(parts: list[object], text: str) -> None:
    assert filled(body={"$join": parts}, table="sales") == {"body": text, "table": "sales"}


texts = st.text(max_size=10)
parts = st.lists(st.tuples(st.booleans(), texts | st.integers(-(10**20), 10**20)), min_size=1, max_size=20)


@settings(max_examples=300, deadline=None)
@given(parts)
def test_the_text_is_what_its_parts_are_together(made: list[tuple[bool, str | int]]) -> None:
    first = {f"field{place}": value for place, (_, value) in enumerate(made)}
    listed = [of(f"field{place}") if taken else str(value) for place, (taken, value) in enumerate(made)]
    assert filled(first, body={"$join": listed}) == {"body": "".join(str(value) for _, value in made)}


@pytest.mark.requirement("R39")
@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"body": {"$join": ["a", of("none")]}}, "'customer.none', which is missing"),
        ({"body": {"$join": ["a", of("mail")]}}, "'customer.mail', which is missing"),
        ({"body": {"$join": [of("address")]}}, "'customer.address' into a text"),
        ({"body": {"$join": [of("loans")]}}, "'customer.loans' into a text"),
        ({"short": {"$join": ["for ", of("name")]}}, "'short' does not fit 'mail'"),
        ({"kind": {"$join": ["news-", of("name")]}}, "'kind' does not fit 'mail'"),
        ({"day": {"$join": ["2026-13-0", of("count")]}}, "'day' does not fit 'mail'"),
        ({"count": {"$join": [of("count")]}}, "'count' does not fit 'mail'"),
    ],
)
def test_what_was_not_given_or_does_not_fit_fails_the_step(params: dict[str, Any], problem: str) -> None:
    outcome = filled(**params)
    assert isinstance(outcome, StepOutcome)
    assert outcome.status == "failed"
    assert outcome.issue
    assert outcome.issue.code == "running/reference"
    assert problem in outcome.issue.problem
    assert "Ada" not in outcome.issue.problem


def test_a_joined_text_may_be_one_of_those_that_are_listed() -> None:
    assert filled(kind={"$join": ["news-", of("rhythm")]}) == {"kind": "news-weekly"}
