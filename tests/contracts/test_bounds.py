"""What the caller of a question allows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.contracts.bounds import Bounds
from groundplan.contracts.plan import Limits, Plan, Step
from groundplan.contracts.roles import ROLES, Roles
from tests.checking.asked import FIND_CUSTOMER, SEND_MAIL


@pytest.mark.parametrize(
    ("bounds", "sends", "finds"),
    [
        (Bounds(), True, True),
        (Bounds(allow=("send_mail",)), True, False),
        (Bounds(allow=("mail",)), True, True),
        (Bounds(forbid=("send_mail",)), False, True),
        (Bounds(allow=("mail",), forbid=("send_mail",)), False, True),
        (Bounds(allow=("send_mail",), forbid=("mail",)), False, False),
    ],
)
def test_names_are_tools_or_sources_and_what_is_forbidden_is_not_allowed(
    bounds: Bounds, sends: bool, finds: bool
) -> None:
    assert (bounds.allows(SEND_MAIL), bounds.allows(FIND_CUSTOMER)) == (sends, finds)


@given(
    seconds=st.none() | st.floats(0.1, 3_600),
    items=st.none() | st.integers(1, 500),
    limits=st.builds(Limits, seconds=st.floats(1, 3_600), step_seconds=st.floats(0.1, 600), each=st.integers(1, 500)),
)
def test_a_limited_plan_is_within_the_bounds_and_does_the_same(
    seconds: float | None, items: int | None, limits: Limits
) -> None:
    plan = Plan(strategy="hand", steps=(Step(id="a", tool="send_mail"),), limits=limits)
    limited = Bounds(seconds=seconds, items=items).limited(plan)
    assert limited.steps == plan.steps
    assert limited.limits.seconds <= min(limits.seconds, seconds or limits.seconds)
    assert limited.limits.step_seconds <= limited.limits.seconds
    assert limited.limits.each == (items or limits.each)


@given(st.none() | st.integers(1, 10**6), st.none() | st.floats(0.1, 3_600))
def test_no_role_has_more_than_the_bounds(tokens: int | None, seconds: float | None) -> None:
    before = Roles()
    roles = Bounds(tokens=tokens, seconds=seconds).roles(before)
    assert roles.seconds == min(before.seconds, seconds or before.seconds)
    assert all(roles.of(name).tokens == min(before.of(name).tokens, tokens or 10**9) for name in ROLES)
