"""What plans took, by arithmetic that can be done by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.suites.cost import took, usage_of

from groundplan.checking.gate import check_text
from groundplan.contracts.answer import Usage
from groundplan.contracts.plan import Plan, Proposal, Provenance
from groundplan.project import load_catalog
from groundplan.result import Planned
from tests.checking.asked import SCHEMA

PLAN = (Path(__file__).parents[2] / "examples/sales_plan.json").read_text()
NO_MODEL = {"seconds_per_question", "repaired"}


def planned(calls: int, tokens: int, attempts: int, text: str = PLAN) -> Planned:
    usage = Usage(models=("small",) if calls else (), calls=calls, prompt_tokens=tokens, completion_tokens=calls)
    made = Provenance(model="small" if attempts else None, attempts=attempts)
    plan: Plan = Proposal.model_validate_json(text).plan.model_copy(update={"provenance": made})
    return Planned(plan=plan, verdict=check_text(text, load_catalog(), {"tables": SCHEMA}), usage=usage)


def miscased() -> str:
    proposal = json.loads(PLAN)
    by = proposal["plan"]["steps"][1]["params"]["group_by"]
    proposal["plan"]["steps"][1]["params"]["group_by"] = [name.upper() for name in by]
    return json.dumps(proposal)


@pytest.mark.requirement("R59")
def test_four_questions_by_hand() -> None:
    asked = [planned(0, 0, 0), planned(1, 100, 1), planned(3, 300, 2, miscased()), planned(2, 50, 0)]
    assert usage_of(asked) == Usage(models=("small",), calls=6, prompt_tokens=450, completion_tokens=6)
    assert took(asked, [1.0, 2.0, 3.0, 2.0], with_a_model=True) == {
        "seconds_per_question": 2.0,
        "repaired": 0.25,
        "asked": 0.75,
        "tokens_per_question": 114.0,
        "first_try": 0.5,
        "attempts": 1.5,
    }


def test_nothing_is_said_of_a_model_that_is_not_there_or_made_no_plan() -> None:
    assert took([planned(0, 0, 0)], [1.0], with_a_model=False).keys() == NO_MODEL
    silent = took([planned(0, 0, 0)], [1.0], with_a_model=True)
    assert silent.keys() == NO_MODEL | {"asked", "tokens_per_question"}
    assert silent["asked"] == 0


def test_a_question_without_a_plan_counts_too() -> None:
    measures = took([Planned(usage=Usage(calls=1, prompt_tokens=8)), planned(1, 2, 1)], [1.0, 1.0], with_a_model=True)
    assert measures["asked"] == 1
    assert measures["tokens_per_question"] == 5.5
    assert measures["first_try"] == 1
