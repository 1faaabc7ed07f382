"""Files that people uploaded. They are kept in the database in pieces, so that every process can read them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from groundplan.errors import UsageError
from groundplan.state.audit import ONE_PERSON, Audit
from groundplan.state.database import Database, Transaction

PIECE = 1_000_000  # bytes
COLUMNS = "id, name, bytes, hash, tables, created"


class NoSuchUpload(UsageError):
    """There is no upload with this id, or it belongs to another tenant."""


class Unreadable(UsageError):
    """The file has no table that can be read."""


class NoRoom(UsageError):
    """The tenant has as many files, or as many bytes of them, as it may have."""


@dataclass(frozen=True)
class Upload:
    id: str
    name: str  # of the file
    bytes: int
    hash: str  # SHA-256 of the content
    tables: Mapping[str, str]  # what its tables are called, by their names in the loaded file
    created: datetime


class Uploads:
    """The files of one tenant. An upload never changes: a file of the same name replaces it."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant, self._audit = database, database.tenant, Audit(database)

    async def list(self) -> list[Upload]:
        """Oldest first."""
        sql = f"select {COLUMNS} from uploads where tenant = ? order by id"  # noqa: S608 - our own names
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, self._tenant)
        return [
            Upload(id_, name, size, digest, json.loads(tables), datetime.fromtimestamp(created, UTC))
            for id_, name, size, digest, tables, created in rows
        ]

    async def add(
        self,
        file: Path,
        name: str,
        tables: Mapping[str, str],
        most_files: int,
        most_bytes: int,
        actor: str = ONE_PERSON,
    ) -> str:
        """Store a file under this name, instead of one with the same name; returns its id."""
        id_ = f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(6)}"
        size, digest = await asyncio.to_thread(_size_and_hash, file)
        add = f"insert into uploads (tenant, {COLUMNS}) values (?, ?, ?, ?, ?, ?, {self._database.now})"  # noqa: S608 - ours
        async with self._database.transaction() as run:
            await run.lock(f"uploads/{self._tenant}")
            for (replaced,) in await run("select id from uploads where tenant = ? and name = ?", self._tenant, name):
                await self._delete(run, replaced, name, actor)
            await self._refuse_too_many(run, size, most_files, most_bytes)
            await run(add, self._tenant, id_, name, size, digest, json.dumps(tables, ensure_ascii=False))
            await self._add_pieces(run, id_, file)
            await self._audit.add(run, self._tenant, actor, "upload.added", f"{id_} {name}")
        return id_

    async def delete(self, id_: str, actor: str = ONE_PERSON) -> None:
        async with self._database.transaction() as run:
            rows = await run("select name, tables from uploads where tenant = ? and id = ?", self._tenant, id_)
            if not rows:
                raise NoSuchUpload(f"there is no upload {id_!r}")
            for table in json.loads(rows[0][1]).values():  # another file may have a table of this name later
                await run("delete from column_settings where tenant = ? and of_table = ?", self._tenant, table)
            await self._delete(run, id_, rows[0][0], actor)

    async def pieces(self, id_: str) -> AsyncIterator[bytes]:
        """The content, piece by piece; it ends early if the upload is deleted meanwhile."""
        sql, number = "select content from upload_pieces where tenant = ? and upload = ? and number = ?", 0
        while True:
            async with self._database.transaction(writes=False) as run:
                rows = await run(sql, self._tenant, id_, number)
            if not rows:
                return
            yield rows[0][0]
            number += 1

    async def _refuse_too_many(self, run: Transaction, size: int, most_files: int, most_bytes: int) -> None:
        [(files, taken)] = await run(
            "select count(*), coalesce(sum(bytes), 0) from uploads where tenant = ?", self._tenant
        )
        if files >= most_files:
            raise NoRoom(f"there may be {most_files:,} uploaded files; delete one first")
        if taken + size > most_bytes:
            raise NoRoom(f"uploaded files may have {most_bytes:,} bytes together; delete one first")

    async def _add_pieces(self, run: Transaction, id_: str, file: Path) -> None:
        sql = "insert into upload_pieces (tenant, upload, number, content) values (?, ?, ?, ?)"
        with file.open("rb") as opened:
            number = 0
            while piece := await asyncio.to_thread(opened.read, PIECE):
                await run(sql, self._tenant, id_, number, piece)
                number += 1

    async def _delete(self, run: Transaction, id_: str, name: str, actor: str) -> None:
        await run("delete from upload_pieces where tenant = ? and upload = ?", self._tenant, id_)
        if await run("delete from uploads where tenant = ? and id = ? returning id", self._tenant, id_):
            await self._audit.add(run, self._tenant, actor, "upload.deleted", f"{id_} {name}")


def _size_and_hash(file: Path) -> tuple[int, str]:
    with file.open("rb") as opened:
        return file.stat().st_size, hashlib.file_digest(opened, "sha256").hexdigest()
