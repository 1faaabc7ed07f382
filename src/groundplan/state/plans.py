"""Checked plans, kept so that an equivalent question costs no model call; those marked good serve as examples.

A stored plan is data like any other: whoever finds one takes it through the gate again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from groundplan.contracts.contract import Contract
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import UsageError
from groundplan.state.database import Database

LAYOUT = """
create table if not exists plans (
    tenant text, key text, id text not null, question text not null, reading text not null, plan text not null,
    fingerprint text not null, marked integer not null default 0, primary key (tenant, key)
);
"""
# a plan that replaces a marked one has not been marked itself
KEEP = """
insert into plans (tenant, key, id, question, reading, plan, fingerprint) values (?, ?, ?, ?, ?, ?, ?)
on conflict (tenant, key) do update set question = excluded.question, reading = excluded.reading,
    plan = excluded.plan, marked = marked and fingerprint = excluded.fingerprint, fingerprint = excluded.fingerprint
"""


class Entry(Contract):
    """A kept plan, as people see it."""

    id: str
    question: str
    tools: tuple[str, ...]
    marked: bool


def signature(reading: Reading) -> str:
    """The same for two readings exactly when they ask for the same, in whatever words, language and order."""
    requirements = sorted((r.id, r.implied, r.value.model_dump_json()) for r in reading.requirements)
    intents = [intent.name for intent in reading.intents]
    return _digest(json.dumps([requirements, intents, reading.tables]))


def key_of(reading: Reading, schema: SourceSchema, catalog_version: str) -> str:
    """What is asked, of which tables, with which tools: when any of them changes, the plan is made anew."""
    return f"{signature(reading)}-{schema.hash}-{catalog_version}"


class PlanStore:
    def __init__(self, folder: Path, tenant: str = "") -> None:
        self._database, self._tenant = Database(folder, LAYOUT), tenant

    async def find(self, key: str) -> Plan | None:
        """The plan kept under this key; None also if what is stored is not a plan."""
        rows = await self._select("select plan from plans where tenant = ? and key = ?", key)
        return _plan(rows[0][0]) if rows else None

    async def keep(self, key: str, question: str, reading: Reading, plan: Plan) -> None:
        """Store a plan that passed the gate; it replaces an earlier one."""
        written = plan.model_dump_json(include={*Plan.model_fields})
        id_ = _digest(key)[:10]
        row = (self._tenant, key, id_, question, reading.model_dump_json(), written, plan.fingerprint)
        await self._database.run(lambda plans: plans.execute(KEEP, row))

    async def entries(self) -> tuple[Entry, ...]:
        """Every kept plan, the oldest first."""
        rows = await self._select("select id, question, plan, marked from plans where tenant = ? order by rowid")
        found = [(id_, question, _plan(text), marked) for id_, question, text, marked in rows]
        return tuple(
            Entry(
                id=str(id_),
                question=str(question),
                tools=tuple(s.tool or s.kind for s in plan.steps),
                marked=bool(marked),
            )
            for id_, question, plan, marked in found
            if plan is not None
        )

    async def mark(self, id_: str) -> None:
        """The plan was right: a model may be shown it as an example."""
        await self._change("update plans set marked = 1 where tenant = ? and id = ?", id_)

    async def forget(self, id_: str) -> None:
        await self._change("delete from plans where tenant = ? and id = ?", id_)

    async def example(self, reading: Reading) -> Plan | None:
        """The marked plan whose question asks for most of the same kinds of things and for the fewest others."""
        wanted = {r.label for r in reading.requirements}
        rows = await self._select("select reading, plan from plans where tenant = ? and marked = 1 order by id")
        best, chosen = (0, 0), None
        for asked, text in rows:
            labels, plan = _labels(asked), _plan(text)
            score = (len(labels & wanted), -len(labels - wanted))
            if plan is not None and score[0] > 0 and score > best:
                best, chosen = score, plan
        return chosen

    async def _select(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        return await self._database.run(lambda plans: plans.execute(query, (self._tenant, *values)).fetchall())

    async def _change(self, statement: str, id_: str) -> None:
        def change(plans: sqlite3.Connection) -> None:
            if plans.execute(statement, (self._tenant, id_)).rowcount == 0:
                kept = plans.execute("select id from plans where tenant = ? order by rowid", (self._tenant,))
                known = ", ".join(row[0] for row in kept) or "none: no plan is kept yet"
                raise UsageError(f"no kept plan has the id {id_!r}; the ids are {known}")

        await self._database.run(change)


def _plan(text: object) -> Plan | None:
    try:
        return Plan.model_validate_json(text) if isinstance(text, str | bytes) else None
    except ValidationError:
        return None


def _labels(text: object) -> set[str]:
    try:
        reading = Reading.model_validate_json(text) if isinstance(text, str | bytes) else None
    except ValidationError:
        return set()
    return {r.label for r in reading.requirements} if reading else set()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
