"""Feedback on answers, those that wait for review, and the tenant's own questions with right readings."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime

from groundplan.contracts.answer import Answer, Refusal
from groundplan.contracts.feedback import Feedback, Regression, Review
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.run import RunRequest
from groundplan.state.audit import ONE_PERSON, Audit
from groundplan.state.database import EVERY_TENANT, Database, Row, SQLite, Transaction
from groundplan.state.rollouts import Rollouts
from groundplan.state.runs import Conflict, NoSuchRun

MOST_REGRESSIONS = 200  # of a tenant, the newest
RATE = """insert into feedback (tenant, run, thumb, reason, actor, at, question, today, reading, plan)
    values (?, ?, ?, ?, ?, {now}, ?, ?, ?, ?) on conflict (tenant, run) do update set thumb = excluded.thumb,
    reason = excluded.reason, actor = excluded.actor, at = excluded.at, question = excluded.question,
    today = excluded.today, reading = excluded.reading, plan = excluded.plan, reviewed = 0"""
RIGHT = """insert into regressions (tenant, run, question, today, reading, at) values (?, ?, ?, ?, ?, {now})
    on conflict (tenant, run) do update set reading = excluded.reading, at = excluded.at"""
TO_REVIEW = "select run, question, reason, at, today, reading, plan from feedback where tenant = ? and thumb = 'bad'"


class Ratings:
    """The feedback of one tenant."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant, self._audit = database, database.tenant, Audit(database)

    async def give(self, run_id: str, given: Feedback, actor: str = ONE_PERSON) -> str | None:
        """Keep feedback instead of earlier feedback on the same answer. A bad one keeps what is needed for a review.

        Returns why the trial of a variant stops, if it does so by this thumb.
        """
        async with self._database.transaction() as run:
            asked = await self._asked(run, run_id)
            kept = asked if given.thumb == "bad" else (None, None, None, None)
            sql = RATE.replace("{now}", self._database.now)
            await run(sql, self._tenant, run_id, given.thumb, given.reason, actor, *kept)
            return await Rollouts(self._database).stop_if_bad(run, run_id)

    async def find(self, run_id: str) -> Feedback | None:
        sql = "select thumb, reason from feedback where tenant = ? and run = ?"
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, self._tenant, run_id)
        return Feedback(thumb=rows[0][0], reason=rows[0][1]) if rows else None

    async def to_review(self, limit: int = 100) -> tuple[Review, ...]:
        """Bad answers that nobody has reviewed, the newest first."""
        async with self._database.transaction(writes=False) as run:
            rows = await run(f"{TO_REVIEW} and reviewed = 0 order by at desc limit ?", self._tenant, limit)
        return tuple(map(_review, rows))

    async def get(self, run_id: str) -> Review:
        """A bad answer, reviewed or not."""
        async with self._database.transaction(writes=False) as run:
            rows = await run(f"{TO_REVIEW} and run = ?", self._tenant, run_id)
        if not rows:
            raise NoSuchRun(
                f"run {run_id!r} has no bad feedback to review; `groundplan reviews list` shows those that do"
            )
        return _review(rows[0])

    async def settle(self, review: Review, reading: Reading, actor: str = ONE_PERSON) -> None:
        """The reading is right: the pair becomes an item of the tenant's regression set."""
        async with self._database.transaction() as run:
            done = "update feedback set reviewed = 1 where tenant = ? and run = ?"
            await run(done, self._tenant, review.run)
            told = (review.question, review.today.isoformat(), reading.model_dump_json())
            await run(RIGHT.replace("{now}", self._database.now), self._tenant, review.run, *told)
            await self._audit.add(run, self._tenant, actor, "feedback.reviewed", review.run)

    async def regressions(self) -> tuple[Regression, ...]:
        sql = "select run, question, today, reading from regressions where tenant = ? order by at desc limit ?"
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, self._tenant, MOST_REGRESSIONS)
        return tuple(
            Regression(
                run=id_, question=asked, today=date.fromisoformat(today), reading=Reading.model_validate_json(said)
            )
            for id_, asked, today, said in rows
        )

    async def _asked(self, run: Transaction, run_id: str) -> tuple[str, str, str | None, str | None]:
        """Question, date, reading and plan of a run that has an answer or a refusal."""
        rows = await run("select request, outcome, created from runs where tenant = ? and id = ?", self._tenant, run_id)
        if rows:
            return _of_run(*rows[0])
        if isinstance(self._database, SQLite):
            sql = "select question, today, reading, plan from asked where tenant = ? and run = ?"
            if found := await run(sql, self._tenant, run_id):
                return found[0][0], found[0][1], found[0][2], found[0][3]
        raise NoSuchRun(f"there is no run {run_id!r}")


async def tenant_of(database: Database, run_id: str) -> str | None:
    """The tenant whose run this is; for the operator, who may see all."""
    async with database.of(EVERY_TENANT).transaction(writes=False) as run:
        rows = await run("select tenant from runs where id = ?", run_id)
    return str(rows[0][0]) if rows else None


def _of_run(request: str, outcome: str | None, created: float) -> tuple[str, str, str | None, str | None]:
    asked, ended = RunRequest.model_validate_json(request), json.loads(outcome) if outcome else None
    if not ended or ended["kind"] not in ("answer", "refusal"):
        raise Conflict("the run has no answer yet; give feedback when it has ended")
    found = (Answer if ended["kind"] == "answer" else Refusal).model_validate(ended)
    reading, plan = (part.model_dump_json() if part else None for part in (found.reading, found.plan))
    question = asked.question or (found.reading.question if found.reading else "")
    return question, (asked.today or datetime.fromtimestamp(created, UTC).date()).isoformat(), reading, plan


def _review(row: Row) -> Review:
    run, question, reason, at, today, reading, plan = row
    return Review(
        run=run,
        question=question,
        reason=reason,
        at=datetime.fromtimestamp(at, UTC),
        today=date.fromisoformat(today),
        reading=Reading.model_validate_json(reading) if reading else None,
        plan=Plan.model_validate_json(plan) if plan else None,
    )
