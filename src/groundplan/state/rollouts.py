"""Rollouts of a tenant: the variant on trial, what is kept of each question, and the automatic stop.

Questions are kept without their text. What the shadow has yet to read is `due` at a time; a worker that takes it moves
that time on, so that another takes it up if the worker dies.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from groundplan.contracts.rollout import (
    SETTINGS,
    Counts,
    Measured,
    Rollout,
    RolloutLimits,
    RunSide,
    Share,
    Side,
    StopBounds,
)
from groundplan.rollout.assigning import Before
from groundplan.rollout.stopping import why_stop
from groundplan.state.audit import ONE_PERSON, OPERATOR, Audit
from groundplan.state.database import Database, Row, Transaction
from groundplan.state.runs import QUEUE, Conflict

DAY = 24 * 3_600.0
SHADOW_LEASE = 120.0  # seconds beyond the time-out, until another worker takes up a question of the shadow
SHADOW_TRIES = 3
MOMENT = 0.5  # seconds
STANDING = """select about from rollouts where tenant = ? and state in ('running', 'promoted')
    order by case state when 'running' then 0 else 1 end, id desc limit 2"""
KEEP = """insert into rollout_questions (tenant, rollout, run, side, at, due, tokens, seconds, about)
    values (?, ?, ?, ?, {now}, null, ?, ?, ?) on conflict (tenant, rollout, run, side) do update
    set due = null, tokens = excluded.tokens, seconds = excluded.seconds, about = excluded.about"""
DUE = """insert into rollout_questions (tenant, rollout, run, side, at, due) values (?, ?, ?, 'shadow', {now}, {now})
    on conflict (tenant, rollout, run, side) do nothing"""
TAKE = """update rollout_questions set due = {now} + ?, tries = tries + 1 where (tenant, rollout, run, side) = (
    select tenant, rollout, run, side from rollout_questions as r where due <= {now} and (tenant = ? or ? = '*')
    order by due limit 1 {skip_locked}) returning tenant, rollout, run, tries"""
TELLING = """select q.about, f.thumb from rollout_questions as q left join feedback as f
    on f.tenant = q.tenant and f.run = q.run where q.tenant = ? and q.rollout = ? and q.about is not null
    order by q.at"""


@dataclass(frozen=True)
class Standing:
    """The variant in force, and the rollout that is running."""

    current: str = SETTINGS
    rollout: Rollout | None = None

    @property
    def running(self) -> Rollout:
        if self.rollout is None:
            raise Conflict("no variant is on trial; begin with `groundplan rollout start VARIANT`")
        return self.rollout


@dataclass(frozen=True)
class Due:
    """A question that the shadow has yet to read."""

    tenant: str
    rollout: str
    run: str
    tries: int


class Rollouts:
    def __init__(self, database: Database) -> None:
        self._database, self._tenant, self._audit = database, database.tenant, Audit(database)

    async def standing(self) -> Standing:
        """Read before each question, so that a change counts from the next one."""
        async with self._database.transaction(writes=False) as run:
            return await self._standing(run)

    async def latest(self) -> Rollout | None:
        """The rollout that is running, or the last one."""
        sql = "select about from rollouts where tenant = ? order by id desc limit 1"
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, self._tenant)
        return _rollout(rows[0]) if rows else None

    async def start(
        self, variant: str, bounds: StopBounds, limits: RolloutLimits, share: Share = 0, actor: str = ONE_PERSON
    ) -> Rollout:
        """Put a variant on trial, in the shadow unless a share is given."""
        now = datetime.now(UTC)
        id_ = f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(2)}"
        async with self._database.transaction() as run:
            await run.lock(f"rollout/{self._tenant}")
            standing = await self._standing(run)
            if standing.rollout:
                raise Conflict(f"the variant {standing.rollout.variant!r} is on trial; stop or promote it first")
            if variant == standing.current:
                raise Conflict(f"the variant {variant!r} is in force already")
            made = Rollout(
                id=id_,
                variant=variant,
                current=standing.current,
                share=share,
                bounds=bounds,
                limits=limits,
                started=now,
                changed=now,
            )
            sql = "insert into rollouts (tenant, id, state, about) values (?, ?, 'running', ?)"
            await run(sql, self._tenant, id_, made.model_dump_json())
            await self._audit.add(run, self._tenant, actor, "rollout.started", f"{id_} {variant} {share} %")
        return made

    async def step(self, share: Share, actor: str = ONE_PERSON) -> Rollout:
        return await self._change({"share": share}, "rollout.stepped", actor)

    async def stop(self, why: str = "", actor: str = ONE_PERSON) -> Rollout:
        """The current variant answers everything from the next question on."""
        return await self._change({"state": "stopped", "why": why}, "rollout.stopped", actor)

    async def promote(self, actor: str = ONE_PERSON) -> Rollout:
        """The variant on trial is in force from the next question on."""
        return await self._change({"state": "promoted"}, "rollout.promoted", actor)

    async def before(self, thread: str, run_id: str) -> Before:
        """How the run before this one in its conversation was answered."""
        sql = "select rollout from runs where tenant = ? and thread = ? and id < ? order by id desc limit 1"
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, self._tenant, thread, run_id)
        side = RunSide.model_validate_json(rows[0][0]) if rows and rows[0][0] else None
        return Before(exists=bool(rows), side=side)

    async def keep(self, rollout: Rollout, measured: Measured, casts_shadow: bool = False) -> str | None:
        """Keep how a question went, once, however often it is told; why the trial stops, if it does.

        If it casts a shadow, the variant on trial has to read it, too, once the run has ended.
        """
        told = measured.model_dump_json(exclude={"thumb"})
        costs = (measured.tokens, measured.seconds, told)
        async with self._database.transaction() as run:
            await run(self._sql(KEEP), self._tenant, rollout.id, measured.run, measured.side, *costs)
            if casts_shadow:
                await run(self._sql(DUE), self._tenant, rollout.id, measured.run)
                await run.ring(QUEUE)
            return await self._stop_if_bad(run) if measured.side == "trial" else None

    async def stop_if_bad(self, run: Transaction, run_id: str) -> str | None:
        """After a thumb, in its transaction: why the trial stops, if this run was of its side and it does."""
        sql = "select 1 from rollout_questions where tenant = ? and run = ? and side = 'trial'"
        return await self._stop_if_bad(run) if await run(sql, self._tenant, run_id) else None

    async def _stop_if_bad(self, run: Transaction) -> str | None:
        await run.lock(f"rollout/{self._tenant}")
        rollout = (await self._standing(run)).rollout
        if rollout is None:
            return None
        why = why_stop(counts_of(await self._questions(run, rollout.id), "trial", rollout.bounds), rollout.bounds)
        if why:
            await self._write(run, rollout, {"state": "stopped", "why": why}, "rollout.stopped", OPERATOR)
        return why

    async def questions(self, rollout: str) -> tuple[Measured, ...]:
        """Every question of a rollout with its thumb, oldest first."""
        async with self._database.transaction(writes=False) as run:
            return await self._questions(run, rollout)

    async def history(self) -> Counts:
        """The last ended runs: how many failed, and how many got a thumb down."""
        sql = """select count(*), coalesce(sum(case when state = 'failed' then 1 else 0 end), 0),
            coalesce(sum(case when thumb = 'bad' then 1 else 0 end), 0) from (select r.state, f.thumb from runs as r
            left join feedback as f on f.tenant = r.tenant and f.run = r.id where r.tenant = ?
            and r.state in ('succeeded', 'partial', 'refused', 'failed') order by r.id desc limit 1000) as ended"""
        async with self._database.transaction(writes=False) as run:
            [(n, errors, bad)] = await run(sql, self._tenant)
        return Counts(n=n, errors=errors, bad=bad)

    async def spent(self, rollout: str, side: Side) -> tuple[int, float]:
        """Tokens and seconds of this side in the last 24 hours."""
        sql = """select coalesce(sum(tokens), 0), coalesce(sum(seconds), 0) from rollout_questions
            where tenant = ? and rollout = ? and side = ? and at > {now} - ?"""
        async with self._database.transaction(writes=False) as run:
            [(tokens, seconds)] = await run(self._sql(sql), self._tenant, rollout, side, DAY)
        return int(tokens), float(seconds)

    async def casts_shadow(self) -> bool:
        """Whether a variant is in the shadow or something is due, of this tenant or, for workers, of any."""
        mine = (self._tenant, self._tenant)
        running = "select about from rollouts where state = 'running' and (tenant = ? or ? = '*')"
        due = "select 1 from rollout_questions where due is not null and (tenant = ? or ? = '*') limit 1"
        async with self._database.transaction(writes=False) as run:
            shadows = any(_rollout(row).share == 0 for row in await run(running, *mine))
            return shadows or bool(await run(due, *mine))

    async def take_due(self, seconds: float = SHADOW_LEASE) -> Due | None:
        """Take up the oldest question that the shadow has yet to read, of this tenant or, for workers, of all."""
        async with self._database.transaction() as run:
            rows = await run(self._sql(TAKE), seconds, self._tenant, self._tenant)
        return Due(*rows[0]) if rows else None

    async def give_back(self, due: Due) -> None:
        """Somebody else, or a later moment, may take it up; after some tries, nobody does."""
        async with self._database.of(due.tenant).transaction() as run:
            place = "tenant = ? and rollout = ? and run = ? and side = 'shadow' and about is null"
            values = (due.tenant, due.rollout, due.run)
            if due.tries >= SHADOW_TRIES:
                await run(f"delete from rollout_questions where {place}", *values)  # noqa: S608 - ours
            else:
                await run(self._sql(f"update rollout_questions set due = {{now}} where {place}"), *values)  # noqa: S608 - ours

    async def postpone(self, due: Due) -> None:
        """The run has not ended yet, or the slot is needed: look again in a moment, which is no try."""
        async with self._database.of(due.tenant).transaction() as run:
            sql = """update rollout_questions set due = {now} + ?, tries = tries - 1
                where tenant = ? and rollout = ? and run = ? and side = 'shadow' and about is null"""
            await run(self._sql(sql), MOMENT, due.tenant, due.rollout, due.run)

    async def drop(self, due: Due) -> None:
        async with self._database.of(due.tenant).transaction() as run:
            sql = "delete from rollout_questions where tenant = ? and rollout = ? and run = ? and side = 'shadow'"
            await run(f"{sql} and about is null", due.tenant, due.rollout, due.run)

    async def _change(self, changes: Mapping[str, Any], action: Any, actor: str) -> Rollout:
        async with self._database.transaction() as run:
            await run.lock(f"rollout/{self._tenant}")
            return await self._write(run, (await self._standing(run)).running, changes, action, actor)

    async def _write(
        self, run: Transaction, rollout: Rollout, changes: Mapping[str, Any], action: Any, actor: str
    ) -> Rollout:
        changed = rollout.model_copy(update={**changes, "changed": datetime.now(UTC)})
        sql = "update rollouts set state = ?, about = ? where tenant = ? and id = ?"
        await run(sql, changed.state, changed.model_dump_json(), self._tenant, rollout.id)
        about = f"{rollout.id} {rollout.variant} {changed.share} % {changed.why}".rstrip()
        await self._audit.add(run, self._tenant, actor, action, about)
        return changed

    async def _standing(self, run: Transaction) -> Standing:
        found = [_rollout(row) for row in await run(STANDING, self._tenant)]
        promoted = next((one.variant for one in found if one.state == "promoted"), SETTINGS)
        return Standing(promoted, next((one for one in found if one.state == "running"), None))

    async def _questions(self, run: Transaction, rollout: str) -> tuple[Measured, ...]:
        rows = await run(TELLING, self._tenant, rollout)
        found = ((Measured.model_validate_json(about), thumb) for about, thumb in rows)
        return tuple(one if one.side == "shadow" else one.model_copy(update={"thumb": thumb}) for one, thumb in found)

    def _sql(self, sql: str) -> str:
        return sql.replace("{now}", self._database.now).replace("{skip_locked}", self._database.skip_locked)


def counts_of(questions: tuple[Measured, ...], side: Side, bounds: StopBounds) -> Counts:
    own = [one for one in questions if one.side == side]
    return Counts(
        n=len(own),
        errors=sum(one.is_error for one in own),
        bad=sum(one.is_disliked for one in own),
        slow=sum(one.seconds > bounds.seconds for one in own),
    )


def _rollout(row: Row) -> Rollout:
    return Rollout.model_validate_json(row[0])
