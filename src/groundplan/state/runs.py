"""Runs and their events. The table of runs is also the queue: a worker claims a run, and a claim expires.

    queued ──▶ running ──▶ succeeded | partial | refused | failed | cancelled
      ▲           │
      └── reply ── waiting_approval, waiting_answer; resume ── partial

A claim has an attempt number. What a worker writes is accepted only while its attempt is the run's latest one, so a
worker that was believed dead changes nothing. Events are numbered in the transaction that changes the run.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, JsonValue

from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.issue import Issue
from groundplan.contracts.rollout import RunSide
from groundplan.contracts.run import ENDED, WAITING, EventKind, Run, RunEvent, RunReply, RunRequest, State
from groundplan.errors import GroundplanError, UsageError
from groundplan.state.audit import ONE_PERSON, Audit
from groundplan.state.database import EVERY_TENANT, Database, Row, Transaction

LEASE = 8.0  # seconds until a claim that is not renewed expires
MANY = 1_000_000  # no limit
TRIES = 5  # a run that has stopped so many workers is given up; one whose worker hung counts three times
UNANSWERED = 24 * 3600  # seconds after which a question back is given up, once the tenant asks again
OPEN = ("queued", "running", "waiting_approval")  # a question back costs nothing while it waits
NOT_ENDED = ("queued", "running", *WAITING)
QUEUE, CANCEL = "queue", "cancel"  # what the bell rings for workers
COLUMNS = "id, state, attempt, request, waiting, outcome, problem, created, updated, rollout"
ADD = """insert into runs (tenant, id, state, thread, key, request, created, updated)
    values (?, ?, 'queued', ?, ?, ?, {now}, {now}) on conflict (tenant, key) do nothing returning {columns}"""
# the tenant with the fewest active runs is first, so that nobody's long queue delays others
CLAIM = """with active as (
        select tenant, count(*) as runs from runs where state = 'running' and lease >= {now} group by tenant)
    update runs set state = 'running', attempt = attempt + 1, tries = tries + 1, lease = {now} + ?, updated = {now}
    where (tenant, id) = (
        select r.tenant, r.id from runs as r left join active on active.tenant = r.tenant
        where (r.state = 'queued' or (r.state = 'running' and r.lease < {now}))
        and (r.tenant = ? or ? = '*') and r.tenant != ? and coalesce(active.runs, 0) < ?
        order by coalesce(active.runs, 0), r.id limit 1 {skip_locked})
    returning tenant, id, attempt, tries, request, reply, cancel, {now} - created, rollout"""
RENEW = """update runs set lease = {now} + ? where tenant = ? and id = ? and attempt = ? and state = 'running'
    returning cancel"""

Events = Sequence[tuple[EventKind, Mapping[str, JsonValue]]]


class Fenced(GroundplanError):
    """Another worker has taken up the run, or it has ended."""


class Conflict(UsageError):
    """The run or the conversation is in a state in which this cannot be done."""


class TooMany(UsageError):
    """The tenant has as many runs as it may have."""


class NoSuchRun(UsageError):
    """There is no run with this id, or it belongs to another tenant."""


@dataclass(frozen=True, eq=False)
class Claim:
    """A run as a worker took it up."""

    tenant: str
    id: str
    attempt: int
    tries: int  # claims since the run was last queued by a person; more than one: a worker stopped in it
    request: RunRequest
    reply: RunReply | None
    cancelled: bool
    since: float  # when it was requested, on this process's monotonic clock
    rollout: RunSide | None = None  # the side of an earlier attempt


def topic(tenant: str, run: str) -> str:
    """What the bell rings when a run has new events."""
    return f"run/{tenant}/{run}"


def settled_topic(tenant: str, run: str) -> str:
    """What the bell rings when a run has ended or waits for a person."""
    return f"settled/{tenant}/{run}"


class Runs:
    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._audit = Audit(database)

    async def add(self, request: RunRequest, key: str | None = None, most: int | None = None) -> tuple[Run, bool]:
        """Queue a run. With a key that was used before, the earlier run; the bool says whether it is new.

        `most`: how many runs of the tenant may be queued, running or waiting.
        """
        written, id_ = request.model_dump_json(), f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(6)}"
        async with self._database.transaction() as run:
            if most is not None:
                await run.lock(f"tenant/{self._tenant}")
            await self._refuse_busy_thread(run, request.thread, key)
            added = await run(self._sql(ADD), self._tenant, id_, request.thread, key, written)
            if added:
                await self._refuse_too_many(run, most)
                await self._tell(run, id_, [("run.queued", {})])
                await run.ring(QUEUE)
                return _run(added[0]), True
            [(id_, before)] = await run("select id, request from runs where tenant = ? and key = ?", self._tenant, key)
            if before != written:
                raise Conflict("this Idempotency-Key was used for another request; use a new one")
            return await self._get(run, id_), False

    async def _refuse_busy_thread(self, run: Transaction, thread: str | None, key: str | None) -> None:
        if thread is None:
            return
        await run.lock(f"thread/{self._tenant}/{thread}")
        sql = f"select id, key from runs where tenant = ? and thread = ? and state not in {ENDED}"  # noqa: S608 - ours
        busy = [row for row in await run(sql, self._tenant, thread) if key is None or row[1] != key]
        if busy:
            raise Conflict(
                f"run {busy[0][0]} of this conversation has not ended; wait for it, reply to it or cancel it"
            )

    async def _refuse_too_many(self, run: Transaction, most: int | None) -> None:
        if most is None:
            return
        await self._expire(run, most)
        sql = f"select count(*) from runs where tenant = ? and state in {OPEN}"  # noqa: S608 - ours
        if (await run(sql, self._tenant))[0][0] > most:
            raise TooMany(f"{most} of your runs have not ended; wait for them, reply to them or cancel them")

    async def _expire(self, run: Transaction, most: int) -> None:
        """Cancel questions back that nobody answered for long, and the oldest of too many: they would lock one out."""
        old = f"updated < {self._database.now} - {UNANSWERED}"
        newest = "select id from runs where tenant = ? and state = 'waiting_answer' order by id desc limit ?"
        sql = f"select id from runs where tenant = ? and state = 'waiting_answer' and ({old} or id not in ({newest}))"  # noqa: S608 - ours
        for (id_,) in await run(sql, self._tenant, self._tenant, most):
            changes = {"state": "cancelled", "waiting": None}
            await self._change(run, id_, ("waiting_answer",), changes, _ended("cancelled"))

    async def find(self, id_: str) -> Run | None:
        async with self._database.transaction(writes=False) as run:
            found = await run(self._one(), self._tenant, id_)
        return _run(found[0]) if found else None

    async def asking_in(self, thread: str) -> Run | None:
        """The run of this conversation that waits for an answer."""
        sql = f"select {COLUMNS} from runs where tenant = ? and thread = ? and state = 'waiting_answer'"  # noqa: S608 - ours
        async with self._database.transaction(writes=False) as run:
            found = await run(sql, self._tenant, thread)
        return _run(found[0]) if found else None

    async def page(self, before: str | None, limit: int) -> list[Run]:
        """The newest runs, or those older than this one."""
        sql = f"select {COLUMNS} from runs where tenant = ? and id < ? order by id desc limit ?"  # noqa: S608 - ours
        async with self._database.transaction(writes=False) as run:
            return [_run(row) for row in await run(sql, self._tenant, before or "~", limit)]

    async def threads(self, limit: int) -> list[tuple[str, int, datetime]]:
        """The conversations last used: name, number of runs, and when."""
        sql = """select thread, count(*), max(updated) as last from runs where tenant = ? and thread is not null
            group by thread order by last desc limit ?"""
        async with self._database.transaction(writes=False) as run:
            return [(name, count, _time(last)) for name, count, last in await run(sql, self._tenant, limit)]

    async def events(self, id_: str, after: int = 0) -> list[RunEvent]:
        sql = "select number, kind, at, data from events where tenant = ? and run = ? and number > ? order by number"
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, self._tenant, id_, after)
        return [
            RunEvent(number=number, kind=kind, at=_time(at), data=json.loads(data)) for number, kind, at, data in rows
        ]

    async def reply(
        self, id_: str, state: State, reply: RunReply, about: str | None = None, actor: str = ONE_PERSON
    ) -> Run:
        """Queue a run that waits in this state. `about`: the fingerprint of the plan that is replied to."""
        async with self._database.transaction() as run:
            found = await self._get(run, id_)
            if about is not None and found.approve and about != found.approve:
                raise Conflict("another plan waits for approval; review it first")
            if isinstance(found.waiting, Clarification):
                reply = reply.model_copy(update={"to": found.waiting.text})
            changes = {"state": "queued", "tries": 0, "reply": reply, "waiting": None}
            if not await self._change(run, id_, (state,), changes, [("run.queued", {})]):
                raise Conflict(f"the run does not wait for this; it is {found.state}")
            if about is not None:
                await self._audit.add(run, self._tenant, actor, "plan.approved", f"{id_} {about}")
            await run.ring(QUEUE)
            return await self._get(run, id_)

    async def resume(self, id_: str, actor: str = ONE_PERSON) -> Run:
        """Queue a run that ended as partial, for what it left."""
        async with self._database.transaction() as run:
            found = await self._get(run, id_)
            await self._refuse_busy_thread(run, found.request.thread, None)
            changes = {"state": "queued", "tries": 0, "outcome": None}
            if not await self._change(run, id_, ("partial",), changes, [("run.queued", {})]):
                raise Conflict(f"nothing is left to do; the run is {found.state}")
            await self._audit.add(run, self._tenant, actor, "run.resumed", id_)
            await run.ring(QUEUE)
            return await self._get(run, id_)

    async def refuse(self, id_: str, about: str, actor: str = ONE_PERSON) -> Run:
        """End a run whose plan is not approved."""
        async with self._database.transaction() as run:
            found = await self._get(run, id_)
            changes = {"state": "refused", "outcome": found.waiting, "waiting": None}
            if about != found.approve or not await self._change(
                run, id_, ("waiting_approval",), changes, _ended("refused")
            ):
                raise Conflict(f"this plan does not wait for approval; the run is {found.state}")
            await self._audit.add(run, self._tenant, actor, "plan.declined", f"{id_} {about}")
            return await self._get(run, id_)

    async def cancel(self, id_: str) -> Run:
        """Cancel a run. A worker that has it is told; nobody else needs to be."""
        async with self._database.transaction() as run:
            await self._get(run, id_)
            changes = {"state": "cancelled", "waiting": None}
            if not await self._change(run, id_, ("queued", *WAITING), changes, _ended("cancelled")):
                told = "update runs set cancel = 1 where tenant = ? and id = ? and state = 'running' returning id"
                if await run(told, self._tenant, id_):
                    await run.ring(CANCEL)
            return await self._get(run, id_)

    async def claim(self, most: int = MANY, besides: str | None = None) -> Claim | None:
        """Take up the oldest run that is queued, or whose worker has died, of the tenant with the fewest active runs.

        `most`: how many runs of one tenant may be active. Workers that claim at the same moment may exceed it.
        `besides`: the tenant of which none is taken up.
        """
        sql = self._sql(CLAIM)
        async with self._database.transaction() as run:
            rows = await run(sql, LEASE, self._tenant, self._tenant, besides or EVERY_TENANT, most)
        if not rows:
            return None
        tenant, id_, attempt, tries, request, reply, cancel, age, rollout = rows[0]
        replied = RunReply.model_validate_json(reply) if reply else None
        asked, since = RunRequest.model_validate_json(request), time.monotonic() - age
        side = RunSide.model_validate_json(rollout) if rollout else None
        return Claim(tenant, id_, attempt, tries, asked, replied, bool(cancel), since, side)

    async def queue(self) -> tuple[dict[str, int], float]:
        """The number of runs by state, of states that are no end, and the seconds that the oldest has been queued."""
        sql = f"""select state, count(*), {{now}} - min(updated) from runs where state in {NOT_ENDED}
            and (tenant = ? or ? = '*') group by state"""  # noqa: S608 - ours
        async with self._database.transaction(writes=False) as run:
            rows = await run(self._sql(sql), self._tenant, self._tenant)
        ages = {state: age for state, _, age in rows}
        return {state: count for state, count, _ in rows}, max(ages.get("queued", 0.0), 0.0)

    async def renew(self, claims: Collection[Claim]) -> dict[Claim, bool | None]:
        """Renew the claims. For each, whether the run is to be cancelled; None if the claim is lost."""
        found: dict[Claim, bool | None] = {}
        async with self._database.of(EVERY_TENANT).transaction() as run:
            for claim in sorted(claims, key=lambda claim: (claim.tenant, claim.id)):
                rows = await run(self._sql(RENEW), LEASE, claim.tenant, claim.id, claim.attempt)
                found[claim] = bool(rows[0][0]) if rows else None
        return found

    async def give_up(self, claims: Collection[Claim], *, blamed: bool) -> None:
        """Let others take up these runs at once; `blamed`: this counts as much as two workers that stopped."""
        sql = "update runs set lease = 0, tries = tries + ? where tenant = ? and id = ? and attempt = ?"
        async with self._database.of(EVERY_TENANT).transaction() as run:
            for claim in sorted(claims, key=lambda claim: (claim.tenant, claim.id)):
                await run(f"{sql} and state = 'running'", 2 if blamed else 0, claim.tenant, claim.id, claim.attempt)
            await run.ring(QUEUE)

    async def write(self, claim: Claim, events: Events = (), **changes: Any) -> None:
        """Change a claimed run and add events; `Fenced` if the claim is lost."""
        async with self._database.transaction() as run:
            if not await self._change(run, claim.id, ("running",), changes, events, claim.attempt):
                raise Fenced(f"run {claim.id} is no longer of attempt {claim.attempt}")
            if changes.get("state") == "queued":
                await run.ring(QUEUE)

    async def _change(
        self,
        run: Transaction,
        id_: str,
        states: tuple[State, ...],
        changes: Mapping[str, Any],
        events: Events,
        attempt: int | None = None,
    ) -> bool:
        """Change the run if it is in one of these states, and of this attempt; the row is locked from here on."""
        sets = "".join(f", {name} = ?" for name in changes)
        where = f"tenant = ? and id = ? and state in ({', '.join('?' * len(states))})"
        values = [_text(value) for value in changes.values()]
        sql = f"update runs set updated = {{now}}{sets} where {where}"  # noqa: S608 - our own names
        of_attempt: tuple[int, ...] = ()
        if attempt is not None:
            sql, of_attempt = f"{sql} and attempt = ?", (attempt,)
        changed = await run(self._sql(f"{sql} returning id"), *values, self._tenant, id_, *states, *of_attempt)
        if changed:
            await self._tell(run, id_, events)
            if changes.get("state") in (*ENDED, *WAITING):
                await run.ring(settled_topic(self._tenant, id_))
        return bool(changed)

    async def _tell(self, run: Transaction, id_: str, events: Events) -> None:
        if not events:
            return
        last = "select coalesce(max(number), 0) from events where tenant = ? and run = ?"
        [(number,)] = await run(last, self._tenant, id_)
        rows = ", ".join(["(?, ?, ?, ?, ?, {now})"] * len(events))
        add = self._sql(f"insert into events (tenant, run, number, kind, data, at) values {rows}")  # noqa: S608 - ours
        values: list[object] = []
        for place, (kind, data) in enumerate(events, number + 1):
            values += (self._tenant, id_, place, kind, json.dumps(data, ensure_ascii=False))
        await run(add, *values)
        await run.ring(topic(self._tenant, id_))

    async def _get(self, run: Transaction, id_: str) -> Run:
        found = await run(self._one(), self._tenant, id_)
        if not found:
            raise NoSuchRun(f"there is no run {id_!r}")
        return _run(found[0])

    def _one(self) -> str:
        return f"select {COLUMNS} from runs where tenant = ? and id = ?"  # noqa: S608 - our own names

    def _sql(self, sql: str) -> str:
        for name in ("now", "skip_locked"):
            sql = sql.replace(f"{{{name}}}", getattr(self._database, name))
        return sql.replace("{columns}", COLUMNS)


def _ended(state: State) -> Events:
    return [("run.ended", {"state": state})]


def _run(row: Row) -> Run:
    id_, state, attempt, request, waiting, outcome, problem, created, updated, rollout = row
    waits = json.loads(waiting) if waiting else None
    found = Run.model_validate(
        {
            "id": id_,
            "state": state,
            "request": RunRequest.model_validate_json(request),
            "attempt": attempt,
            "created": _time(created),
            "updated": _time(updated),
            "waiting": waits,
            "outcome": json.loads(outcome) if outcome else None,
            "problem": Issue.model_validate_json(problem) if problem else None,
            "rollout": RunSide.model_validate_json(rollout) if rollout else None,
        }
    )
    if isinstance(found.waiting, Refusal):
        return found.model_copy(update={"approve": found.waiting.to_approve})
    return found


def _text(value: object) -> object:
    return value.model_dump_json() if isinstance(value, BaseModel) else value


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
