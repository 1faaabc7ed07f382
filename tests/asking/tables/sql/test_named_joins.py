"""Joins that only a statement names: accepted where they lead to one row, and known to planner and gate."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

import groundplan
from groundplan.asking.tables.plan import propose
from groundplan.asking.tables.sql.parse import Untranslatable, translate
from groundplan.contracts.answer import Answer
from groundplan.contracts.plan import Proposal
from groundplan.project import Project

TODAY = date(2026, 3, 1)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Half of the visits name a member who is not listed, so that no relationship is proposed."""
    members = ["member,town"] + [f"M{number},{'Oslo' if number % 2 else 'Bergen'}" for number in range(40)]
    visits = ["visit,who,minutes"] + [f"V{number},M{number % 80},{number % 7 + 1}" for number in range(400)]
    for name, lines in (("members", members), ("visits", visits)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    with groundplan.open(tmp_path) as project:
        yield project


def test_a_join_to_one_row_is_planned_checked_and_run(project: Project) -> None:
    (schema,) = project.describe().values()
    assert not schema.relationships
    sql = (
        "SELECT m.town, SUM(v.minutes) AS minutes FROM visits v JOIN members m ON v.who = m.member "
        "GROUP BY m.town ORDER BY minutes DESC"
    )
    translated = translate(sql, schema, {}, today=TODAY, question="minutes by town")
    assert [link.text for link in translated.reading.joins] == ["visits → members by who"]
    assert any("visits → members by who" in note for note in translated.notes)
    plan = propose(translated.reading, schema)
    outcome = project.run(Proposal(reading=translated.reading, plan=plan)).outcome
    assert isinstance(outcome, Answer), outcome.text
    expected = {"Oslo": 0, "Bergen": 0}
    for number in (number for number in range(400) if number % 80 < 40):
        expected["Oslo" if number % 80 % 2 else "Bergen"] += number % 7 + 1
    assert {row[0]: row[1] for row in outcome.tables[0].rows} == expected


def test_a_join_that_repeats_rows_is_refused(project: Project) -> None:
    (schema,) = project.describe().values()
    sql = "SELECT SUM(v.minutes) FROM visits v JOIN visits w ON v.minutes = w.minutes"
    with pytest.raises(Untranslatable):
        translate(sql, schema, {}, today=TODAY, question="minutes")
