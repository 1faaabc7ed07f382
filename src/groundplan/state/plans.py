"""Checked plans, kept so that an equivalent question costs no model call; those marked good serve as examples.

A stored plan is data like any other: whoever finds one takes it through the gate again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from pydantic import ValidationError

from groundplan.contracts.contract import Contract
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import UsageError
from groundplan.state.sqlite_file import opened

FILE = "plans.sqlite"
TROUBLE = (
    "{file}: the kept plans cannot be read or written ({error}); move the file away, and plans are kept in a new one"
)
LAYOUT = """
create table if not exists plan (
    key text primary key, id text not null, question text not null, reading text not null, plan text not null,
    fingerprint text not null, marked integer not null default 0
)
"""
# another plan for the same question has yet to be marked
KEEP = """
insert into plan (key, id, question, reading, plan, fingerprint) values (?, ?, ?, ?, ?, ?)
on conflict (key) do update set question = excluded.question, reading = excluded.reading, plan = excluded.plan,
    marked = marked and fingerprint = excluded.fingerprint, fingerprint = excluded.fingerprint
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
    """One SQLite file in a folder; opened for each call, so that processes can share it."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def find(self, key: str) -> Plan | None:
        """The plan kept under this key; None also where what is stored is no plan."""
        with self._open() as plans:
            row = plans.execute("select plan from plan where key = ?", (key,)).fetchone()
        return _plan(row[0]) if row else None

    def keep(self, key: str, question: str, reading: Reading, plan: Plan) -> None:
        """A plan that passed the gate; it replaces the one before it."""
        written = plan.model_dump_json(include={*Plan.model_fields})
        row = (key, _digest(key)[:10], question, reading.model_dump_json(), written, plan.fingerprint)
        with self._open() as plans:
            plans.execute(KEEP, row)

    def entries(self) -> tuple[Entry, ...]:
        """Every kept plan, the oldest first."""
        with self._open() as plans:
            rows = plans.execute("select id, question, plan, marked from plan order by rowid").fetchall()
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

    def mark(self, id_: str) -> None:
        """The plan was right: it may be shown to a model as an example."""
        self._change("update plan set marked = 1 where id = ?", id_)

    def forget(self, id_: str) -> None:
        self._change("delete from plan where id = ?", id_)

    def example(self, reading: Reading) -> Plan | None:
        """The marked plan whose question asks for most of the same kinds of things and for the fewest others."""
        wanted = {r.label for r in reading.requirements}
        with self._open() as plans:
            rows = plans.execute("select id, reading, plan from plan where marked = 1 order by id").fetchall()
        best, chosen = (0, 0), None
        for _, asked, text in rows:
            labels, plan = _labels(asked), _plan(text)
            score = (len(labels & wanted), -len(labels - wanted))
            if plan is not None and score[0] > 0 and score > best:
                best, chosen = score, plan
        return chosen

    def _change(self, statement: str, id_: str) -> None:
        with self._open() as plans:
            if plans.execute(statement, (id_,)).rowcount == 0:
                known = ", ".join(row[0] for row in plans.execute("select id from plan order by rowid"))
                raise UsageError(f"no kept plan has the id {id_!r}; the ids are {known or 'none: no plan is kept yet'}")

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return opened(self._file, LAYOUT, TROUBLE)


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
