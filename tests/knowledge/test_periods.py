"""Period phrases as people say them of a career, on a day just after the turn of the year."""

from __future__ import annotations

from datetime import date

import pytest

from groundplan.text.periods.find import Found
from tests.knowledge.portfolio import cases

CASES = cases("periods.yaml")
ALL = [*CASES["english"], *CASES["russian"]]
NOT_YET: dict[str, str] = CASES["notyet"]

pytestmark = pytest.mark.requirement("R9", "R10")


def test_what_is_not_yet_read_is_among_the_cases() -> None:
    assert set(NOT_YET) <= {case[0] for case in ALL}
    assert len({case[0] for case in ALL}) == len(ALL)


def meaning(found: tuple[Found, ...]) -> list[object]:
    """As a case writes it; several sure periods are none of its shapes and fail."""
    if not found:
        return ["none"]
    if any(phrase.period is None for phrase in found):
        return ["ask"]
    days = [bound for phrase in found if phrase.period for bound in (phrase.period.start, phrase.period.end)]
    return [None if day in (date.min, date.max) else day for day in days]
