"""Stores checked plans, so that an equivalent question needs no model call; plans marked good serve as examples.

A stored plan is not trusted: the caller passes it through the gate again.
"""

from __future__ import annotations

import hashlib
import json

from pydantic import ValidationError

from groundplan.contracts.contract import Contract
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import UsageError
from groundplan.state.database import Database, Row
from groundplan.text.lexicon import load_lexicon
from groundplan.text.loose_words import loose_runs
from groundplan.text.words import words_of

# the mark stays only if the plan is unchanged
KEEP = """
insert into plans (tenant, key, id, question, reading, plan, fingerprint) values (?, ?, ?, ?, ?, ?, ?)
on conflict (tenant, key) do update set question = excluded.question, reading = excluded.reading,
    plan = excluded.plan, fingerprint = excluded.fingerprint,
    marked = case when plans.fingerprint = excluded.fingerprint then plans.marked else 0 end
"""


class Entry(Contract):
    """A stored plan, as it is listed for people."""

    id: str
    question: str
    tools: tuple[str, ...]
    marked: bool


def signature(reading: Reading) -> str:
    """Equal for two readings exactly if they ask for the same thing; wording, language and order do not matter."""
    if reading.also:
        return _digest(json.dumps([signature(ask) for ask in reading.asks]))
    requirements = sorted((r.id, r.implied, r.value.model_dump_json()) for r in reading.requirements)
    intents = [intent.name for intent in reading.intents]
    words = told_by_words(reading)
    return _digest(json.dumps([requirements, intents, reading.tables, *([words] if words else [])]))


def told_by_words(reading: Reading) -> list[str]:
    """What no requirement holds and words still tell: a calculation such as `growth`, which end of a ranking."""
    loose = {meaning for run in loose_runs(reading) for meaning in run.means}
    ranked = [words_of(r.words) for r in reading.requirements if r.id == "analysis:ranking"]
    return sorted(loose | {cue.label for words in ranked for cue in load_lexicon().rankings.find(words)})


def key_of(reading: Reading, schema: SourceSchema, catalog_version: str) -> str:
    """The key covers requirements, schema and catalog: if any of them changes, a new plan is made."""
    return f"{signature(reading)}-{schema.hash}-{catalog_version}"


class PlanStore:
    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    async def find(self, key: str) -> Plan | None:
        """The plan stored under this key; None if there is none or it cannot be read."""
        rows = await self._select("select plan from plans where tenant = ? and key = ?", key)
        return _plan(rows[0][0]) if rows else None

    async def keep(self, key: str, question: str, reading: Reading, plan: Plan, *, approved: bool = False) -> None:
        """Store a plan that passed the gate, in place of one with the same key; `approved` marks it as good."""
        written = plan.model_dump_json(include={*Plan.model_fields})
        id_ = _digest(key)[:10]
        row = (self._tenant, key, id_, question, reading.model_dump_json(), written, plan.fingerprint)
        async with self._database.transaction() as run:
            await run(KEEP, *row)
            if approved:
                await run("update plans set marked = 1 where tenant = ? and key = ?", self._tenant, key)

    async def entries(self) -> tuple[Entry, ...]:
        """Every stored plan, oldest first."""
        order = f"order by {self._database.oldest}"
        rows = await self._select(f"select id, question, plan, marked from plans where tenant = ? {order}")  # noqa: S608 - our own name
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
        """Mark a plan as good: it may then be shown to a model as an example."""
        await self._change("update plans set marked = 1 where tenant = ? and id = ?", id_)

    async def forget(self, id_: str) -> None:
        await self._change("delete from plans where tenant = ? and id = ?", id_)

    async def example(self, reading: Reading) -> Plan | None:
        """The marked plan whose requirements share most labels with these, and have the fewest others."""
        wanted = {r.label for r in reading.requirements}
        rows = await self._select("select reading, plan from plans where tenant = ? and marked = 1 order by id")
        best, chosen = (0, 0), None
        for asked, text in rows:
            labels, plan = _labels(asked), _plan(text)
            score = (len(labels & wanted), -len(labels - wanted))
            if plan is not None and score[0] > 0 and score > best:
                best, chosen = score, plan
        return chosen

    async def approved(self) -> tuple[Reading, ...]:
        """The readings behind plans that are marked as good."""
        rows = await self._select("select reading from plans where tenant = ? and marked = 1 order by id")
        return tuple(reading for (text,) in rows if (reading := _reading(text)))

    async def _select(self, query: str, *values: str) -> list[Row]:
        async with self._database.transaction(writes=False) as run:
            return await run(query, self._tenant, *values)

    async def _change(self, statement: str, id_: str) -> None:
        async with self._database.transaction() as run:
            if await run(f"{statement} returning id", self._tenant, id_):
                return
            kept = await run("select id from plans where tenant = ?", self._tenant)
        known = ", ".join(sorted(row[0] for row in kept)) or "none: no plan is stored yet"
        raise UsageError(f"no stored plan has the id {id_!r}; the ids are {known}")


def _plan(text: object) -> Plan | None:
    try:
        return Plan.model_validate_json(text) if isinstance(text, str | bytes) else None
    except ValidationError:
        return None


def _labels(text: object) -> set[str]:
    reading = _reading(text)
    return {r.label for r in reading.requirements} if reading else set()


def _reading(text: object) -> Reading | None:
    try:
        return Reading.model_validate_json(text) if isinstance(text, str | bytes) else None
    except ValidationError:
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
