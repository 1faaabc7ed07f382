"""What tells two plans apart."""

from __future__ import annotations

from groundplan.contracts.plan import Limits, Plan, Step

FIND = Step(id="a", tool="shop.find", params={"email": "é"})
SEND = Step(id="b", tool="shop.send", needs=("a",), params={"to": {"$from": "a.email"}, "n": 1.5})
PLAN = Plan(strategy="hand", steps=(FIND, SEND))


def test_a_plan_has_the_fingerprint_that_earlier_versions_gave_it() -> None:
    assert PLAN.fingerprint == "4d962e02588afa7a"


def test_for_each_and_its_bound_change_the_fingerprint() -> None:
    each = PLAN.model_copy(update={"steps": (FIND, SEND.model_copy(update={"for_each": "a"}))})
    more = PLAN.model_copy(update={"limits": Limits(each=21)})
    assert len({PLAN.fingerprint, each.fingerprint, more.fingerprint}) == 3
