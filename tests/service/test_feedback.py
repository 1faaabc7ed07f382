"""Feedback in the service: one thumb for each answer, reviews for those who administer, and a metric."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.feedback import Feedback
from groundplan.contracts.issue import Issue
from groundplan.contracts.run import RunRequest
from groundplan.service.retention import delete_ended
from groundplan.state.database import Database
from groundplan.state.feedback import Ratings
from groundplan.state.keys import Role
from groundplan.state.plans import PlanStore
from groundplan.state.postgres import open_postgres
from groundplan.state.runs import Conflict, NoSuchRun, Runs
from tests.asking.tables.described import SALES
from tests.interfaces.test_cli import groundplan as command
from tests.service.conftest import OpenDatabase
from tests.service.processes import ask, make_key, process, served
from tests.service.test_stores import using
from tests.state.test_plans import READING, TOTALS

QUESTION = "total revenue by region"
REFUSED = Refusal(text="No", issues=(Issue(code="a/b", problem="x"),), reading=READING, plan=TOTALS)


async def _ended(database: Database, question: str = QUESTION) -> str:
    runs = Runs(database)
    run, _ = await runs.add(RunRequest(question=question))
    claim = await runs.claim()
    assert claim is not None
    await runs.write(claim, state="refused", outcome=REFUSED)
    return run.id


def test_the_last_thumb_counts_and_a_bad_one_keeps_what_a_review_needs(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        ratings, run = Ratings(opened), await _ended(opened)
        assert await ratings.find(run) is None
        await ratings.give(run, Feedback(thumb="bad", reason="не то"))
        [review] = await ratings.to_review()
        assert (review.run, review.question, review.reason) == (run, QUESTION, "не то")
        assert (review.reading, review.plan) == (READING, TOTALS)
        await ratings.settle(review, READING)
        assert await ratings.to_review() == ()
        assert [(one.question, one.reading) for one in await ratings.regressions()] == [(QUESTION, READING)]
        await ratings.give(run, Feedback(thumb="good"))
        assert await ratings.find(run) == Feedback(thumb="good")
        with pytest.raises(NoSuchRun, match="no bad feedback"):
            await ratings.get(run)
        other = Ratings(opened.of("another"))
        with pytest.raises(NoSuchRun):
            await other.give(run, Feedback(thumb="good"))
        assert (await other.find(run), await other.to_review(), await other.regressions()) == (None, (), ())

    using(database, work)


def test_a_run_without_an_answer_gets_no_feedback(database: OpenDatabase) -> None:
    async def work(opened: Database) -> None:
        runs = Runs(opened)
        run, _ = await runs.add(RunRequest(question=QUESTION))
        with pytest.raises(Conflict, match="no answer yet"):
            await Ratings(opened).give(run.id, Feedback(thumb="good"))
        claim = await runs.claim()
        assert claim is not None
        await runs.write(claim, state="waiting_answer", waiting=Clarification(text="Which?", missing="it"))
        with pytest.raises(Conflict, match="no answer yet"):
            await Ratings(opened).give(run.id, Feedback(thumb="good"))

    using(database, work)


def test_feedback_is_deleted_with_its_run_and_a_reviewed_pair_stays(postgres: str) -> None:
    async def work() -> None:
        async with open_postgres(postgres) as every:
            opened = every.of("forgetful")
            ratings, run = Ratings(opened), await _ended(opened)
            await ratings.give(run, Feedback(thumb="bad"))
            await ratings.settle(await ratings.get(run), READING)
            async with opened.transaction() as changing:
                await changing("update runs set updated = 0 where tenant = ?", opened.tenant)
            await delete_ended(every, 365)
            assert await ratings.find(run) is None
            assert len(await ratings.regressions()) == 1

    asyncio.run(work())


@dataclass
class Service:
    url: str
    client: httpx.Client
    asks: dict[str, str]
    administers: dict[str, str]
    metrics: dict[str, str]


@pytest.fixture(scope="module")
def service(own_postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("feedback")
    roles: list[tuple[str, Role]] = [("rated", "ask"), ("rated", "admin"), ("prometheus", "metrics")]
    keys = [{"Authorization": f"Bearer {make_key(own_postgres, tenant, role)}"} for tenant, role in roles]
    with ExitStack() as stack:
        on = ("--database", own_postgres)
        stack.enter_context(process(folder, "worker", str(SALES), *on))
        client = stack.enter_context(served(folder, str(SALES), *on))
        client.headers.update(keys[0])
        yield Service(own_postgres, client, *keys)


@pytest.mark.requirement("R90", part="regression set")
@pytest.mark.requirement("R90", part="example")
@pytest.mark.requirement("R90", part="feedback")
def test_over_http_a_review_becomes_an_example_and_satisfaction_is_measured(service: Service, tmp_path: Path) -> None:
    client = service.client
    run = ask(client, QUESTION)["id"]
    place = f"/v1/runs/{run}/feedback"
    assert client.get(place).json() is None
    for thumb in ("good", "bad"):
        assert client.post(place, json={"thumb": thumb, "reason": "two\nlines"}).status_code == 204
    assert client.get(place).json() == {"thumb": "bad", "reason": "two\nlines"}
    assert client.get("/v1/reviews").status_code == 403, "a person who asks reviews nothing"
    [review] = client.get("/v1/reviews", headers=service.administers).json()
    assert (review["run"], review["question"]) == (run, QUESTION)
    settled = client.post(f"/v1/reviews/{run}", json={}, headers=service.administers)
    assert settled.json()["question"] == QUESTION, settled.text
    assert client.get("/v1/reviews", headers=service.administers).json() == []
    [kept] = client.get("/v1/reviews/regressions", headers=service.administers).json()
    assert kept["run"] == run
    [entry] = [one for one in client.get("/v1/audit", headers=service.administers).json() if one["about"] == run]
    assert entry["action"] == "feedback.reviewed"
    text = client.get("/metrics", headers=service.metrics).text
    assert 'groundplan_feedback_total{thumb="good"} 1.0' in text
    assert 'groundplan_feedback_total{thumb="bad"} 1.0' in text

    async def examples() -> int:
        async with open_postgres(service.url) as database:
            return len(await PlanStore(database.of("rated")).approved())

    assert asyncio.run(examples()) == 1


def test_the_operator_finds_the_tenant_of_a_run(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "groundplan.toml").write_text(f'source = "{SALES}"\n')
    monkeypatch.chdir(tmp_path)
    run, on = ask(service.client, "average revenue by region")["id"], ("--database", service.url)
    assert command("feedback", run, "bad", "why", *on).returncode == 0
    [review] = json.loads(command("reviews", "list", "--json", "--tenant", "rated", *on).stdout)
    assert review["run"] == run
    assert command("reviews", "settle", run, "--as-read", *on).returncode == 0
    report = json.loads(command("eval", "own", "--json", "--tenant", "rated", *on).stdout)
    assert report["scores"]["right"] == 1.0
    assert "name the tenant" in command("reviews", "list", *on).stderr
    assert "no run 'ffff'" in command("feedback", "ffff", "good", *on).stderr


@pytest.mark.parametrize(
    "body", [{"thumb": "fine"}, {}, {"thumb": "bad", "reason": "x" * 2_001}, {"thumb": "bad", "reason": "\0"}]
)
def test_other_feedback_is_refused(body: dict[str, str], service: Service) -> None:
    assert service.client.post(f"/v1/runs/{'f' * 24}/feedback", json=body).status_code == 422
