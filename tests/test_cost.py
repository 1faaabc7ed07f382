"""A plan that would read more rows than the settings allow waits for approval, with the engine's estimate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.verdict import ToApprove
from groundplan.project import Project
from groundplan.settings import load_settings
from groundplan.sources.tables.engine.cancel_scope import CancelScope
from groundplan.sources.tables.engine.engines import open_duckdb, open_url
from groundplan.sources.tables.source import Tables
from tests.cluster import cluster

ROWS = 30_000
TABLE = f"""
    CREATE TABLE readings AS SELECT i AS reading_id, 'probe ' || (i % 7) AS probe,
        DATE '2024-01-01' + (i % 700)::int AS taken_on, (i % 90)::int AS depth
    FROM generate_series(1, {ROWS}) AS t(i);
    CREATE INDEX of_days ON readings (taken_on);
"""
QUESTION = "total depth by probe"


@pytest.fixture(scope="module")
def duckdb_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("cost") / "readings.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLE)
    return str(path)


@pytest.fixture(scope="module")
def postgres_address() -> Iterator[str]:
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    with cluster() as server:
        with psycopg.connect(server.url, autocommit=True) as owner:
            owner.execute(TABLE + "ANALYZE readings;")
        yield server.url


@pytest.fixture(params=["duckdb", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"{request.param}_address")
    return found


@pytest.mark.requirement("R86", part="cost")
def test_a_plan_that_reads_too_much_waits_with_the_estimate_and_a_cheaper_question(address: str) -> None:
    with Project(address, rows_without_approval=10_000) as project:
        outcome = project.ask(QUESTION).outcome
    assert isinstance(outcome, Refusal)
    assert outcome.plan is not None, "it can be approved"
    assert [issue.code for issue in outcome.issues] == ["access/unapproved"]
    assert "would read about 30,000 rows; 10,000 may be read without approval" in outcome.text
    assert (
        "ask for a period, which may read less (taken_on of readings is from 2024-01-01 to 2025-11-30)" in outcome.text
    )


def test_once_it_is_approved_it_runs(address: str) -> None:
    asked: list[ToApprove] = []

    def approve(given: ToApprove) -> bool:
        asked.append(given)
        return True

    with Project(address, rows_without_approval=10_000) as project:
        outcome = project.ask(QUESTION, approve=approve).outcome
        assert isinstance(outcome, Answer), outcome.text
        assert len(outcome.tables[0].rows) == 7
    (given,) = asked
    assert given.effects == ()
    assert "30,000 rows" in given.issues[-1].problem


def test_a_conversation_waits_and_goes_on_with_a_reply(address: str) -> None:
    with Project(address, rows_without_approval=10_000) as project:
        assert isinstance(project.ask(QUESTION, thread="deep").outcome, Refusal)
        outcome = project.ask("yes", thread="deep").outcome
        assert isinstance(outcome, Answer), outcome.text


def test_a_plan_within_the_limit_does_not_wait(address: str) -> None:
    with Project(address, rows_without_approval=100_000) as project:
        assert isinstance(project.ask(QUESTION).outcome, Answer)


def test_an_index_makes_a_question_about_a_period_cheap_on_postgres(postgres_address: str) -> None:
    with Project(postgres_address, rows_without_approval=10_000) as project:
        outcome = project.ask(f"{QUESTION} on 2024-03-05").outcome
        assert isinstance(outcome, Answer), outcome.text


def test_small_tables_need_no_estimate(duckdb_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def estimate(*_: object, **__: object) -> None:
        raise AssertionError("no engine is asked")

    with Project(duckdb_address) as project:
        monkeypatch.setattr(Tables, "estimate", estimate)
        assert isinstance(project.ask(QUESTION).outcome, Answer)


@pytest.mark.requirement("R86", part="cost")
def test_estimates_are_of_the_rows_that_are_read_not_of_those_that_are_kept(
    duckdb_address: str, postgres_address: str
) -> None:
    for engine in (open_duckdb(Path(duckdb_address)), open_url(postgres_address)):
        scope = CancelScope(30)
        assert engine.estimate("SELECT depth FROM readings WHERE depth = 7", scope) == pytest.approx(ROWS, rel=0.05)
        assert engine.estimate("SELECT probe, sum(depth) FROM readings GROUP BY probe", scope) == ROWS
        engine.close()
    postgres = open_url(postgres_address)
    found = postgres.estimate("SELECT depth FROM readings WHERE taken_on = '2024-03-05'", scope)
    assert found is not None
    assert found < 1_000
    assert (postgres.estimate("SELECT min(taken_on) FROM readings", scope) or 0) < 100, "by the index"
    assert postgres.estimate("SELECT depth FROM readings LIMIT 5", scope) == 5
    postgres.close()


def test_the_limit_is_a_setting(tmp_path: Path) -> None:
    assert load_settings(tmp_path).rows_without_approval == 1_000_000_000
    (tmp_path / "groundplan.toml").write_text("rows_without_approval = 5000\n")
    assert load_settings(tmp_path).rows_without_approval == 5_000
