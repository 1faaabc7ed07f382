"""Files over HTTP: upload one as tables of the caller's tenant, list them, delete one."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path as File
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from weakref import WeakValueDictionary

from fastapi import FastAPI, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from groundplan.errors import GroundplanError
from groundplan.service.access import UPLOADS
from groundplan.service.loaded_files import delete, place_of
from groundplan.service.projects import Projects
from groundplan.settings import ServiceSettings
from groundplan.sources.tables.engine.duckdb_limits import process_folder
from groundplan.sources.tables.engine.engines import AttachedFile
from groundplan.sources.tables.files.load import READERS, safe_name
from groundplan.state.uploads import NoRoom, Unreadable, Upload, Uploads

LONGEST_NAME = 100  # characters
MOST_TIMES = 4  # what all uploads of a tenant may take when they are loaded, against what they may take as files
MOST_NAME_BYTES = 200  # file systems allow 255
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The content of the file.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class UploadEntry(BaseModel):
    id: str
    name: str = Field(description="The name of the file, without characters that a file name should not have.")
    bytes: int
    tables: tuple[str, ...] = Field(description="What its tables are called in questions.")
    created: datetime


class UploadList(BaseModel):
    files: list[UploadEntry]
    kinds: tuple[str, ...] = Field(description="The endings of file names that can be uploaded.")
    most_bytes: int = Field(description="The largest size of one file.")
    most_files: int = Field(description="How many files there may be; 0 if none can be uploaded.")


def add_uploads(app: FastAPI, settings: ServiceSettings) -> None:
    receiving: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by tenant: one file at a time

    @app.post(UPLOADS, status_code=201, openapi_extra=BODY)
    async def post_upload(
        request: Request, name: Annotated[str, Query(min_length=1, max_length=1000, description="Of the file.")]
    ) -> UploadEntry:
        """Upload a file. Its tables can be asked about at once; a file of the same name is replaced."""
        cleaned, store = clean_name(name), _store(request)
        async with receiving.setdefault(request.state.tenant, asyncio.Lock()):
            await _refuse_full(store, cleaned, settings.upload_files)
            with TemporaryDirectory(dir=process_folder(), prefix="upload-") as folder:
                file = File(folder) / cleaned
                await _receive(request, file)
                id_ = await _add(request, file, settings)
        return next(_entry(upload) for upload in await store.list() if upload.id == id_)

    @app.get(UPLOADS)
    async def list_uploads(request: Request) -> UploadList:
        """The uploaded files of this tenant, oldest first, and what can be uploaded."""
        return UploadList(
            files=[_entry(upload) for upload in await _store(request).list()],
            kinds=tuple(READERS),
            most_bytes=settings.upload_bytes,
            most_files=settings.upload_files,
        )

    @app.delete(f"{UPLOADS}/{{id}}", status_code=204)
    async def delete_upload(id: Annotated[str, Path(pattern=r"^[0-9a-f]{24}$")], request: Request) -> None:
        """Delete an uploaded file. Later questions do not know its tables."""
        await _store(request).delete(id, request.state.actor)
        delete(place_of(request.state.tenant, id))


async def _refuse_full(store: Uploads, name: str, most: int) -> None:
    """Before anything is received; `Uploads.add` counts again."""
    if len([upload for upload in await store.list() if upload.name != name]) >= most:
        raise NoRoom(
            f"there may be {most:,} uploaded files; delete one first" if most else "this service takes no files"
        )


def clean_name(name: str) -> str:
    """A file name that is safe everywhere: no folders, no control characters, not too long.

    >>> clean_name("C:\\\\data\\\\..\\\\my [sales]\\x00.CSV")
    'my _sales_.csv'
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    stem, dot, kind = last.rpartition(".")
    kind = f"{dot}{kind}".lower()
    if kind not in READERS:
        raise Unreadable(f"files of this kind cannot be read; upload one of {', '.join(READERS)}")
    printable = "".join(" " if char.isspace() else char for char in stem if char.isspace() or char.isprintable())
    plain = " ".join(re.sub(r"[^\w .()-]", "_", printable).split()).strip(". ")[: LONGEST_NAME - len(kind)]
    while len(plain.encode()) > MOST_NAME_BYTES:
        plain = plain[:-1]
    return f"{plain.strip('. ') or 'table'}{kind}"


async def _receive(request: Request, file: File) -> None:
    """Write the body to the file as it comes. `Access` bounds its size."""
    try:
        with file.open("wb") as opened:
            async for part in request.stream():
                await asyncio.to_thread(opened.write, part)
    except ClientDisconnect as error:
        raise Unreadable("the file did not arrive whole") from error


async def _add(request: Request, file: File, settings: ServiceSettings) -> str:
    """Load the file, try whether it can be asked about together with the rest, and store it; returns its id."""
    projects: Projects = request.app.state.projects
    tenant, uploads, loaded = request.state.tenant, _store(request), file.with_name("loaded.duckdb")
    names = await projects.files.load(file, loaded)
    async with projects.of(tenant) as project:
        known = {table.name.lower() for schema in project.schemas.values() for table in schema.tables}
    stored = await uploads.list()
    replaced = {name for upload in stored if upload.name == file.name for name in upload.tables.values()}
    tables = _unused(names, known - replaced)
    others = await projects.files.of(
        projects.database.of(tenant), [upload for upload in stored if upload.name != file.name]
    )
    await _refuse_unreadable(projects, tenant, others, AttachedFile(loaded, tables))
    taken = sum(one.path.stat().st_size for one in (*others, AttachedFile(loaded, tables)))
    if taken > MOST_TIMES * settings.upload_total_bytes:
        raise NoRoom(f"the uploaded files would take {taken:,} bytes when loaded; delete one first")
    most = settings.upload_files, settings.upload_total_bytes
    id_ = await uploads.add(file, file.name, tables, *most, request.state.actor)
    loaded.replace(place_of(tenant, id_))
    return id_


def _unused(names: Sequence[str], taken: Collection[str]) -> dict[str, str]:
    """What the tables will be called: other tables keep their names."""
    found: dict[str, str] = {}
    for name in names:
        found[name] = safe_name(name, {*taken, *found.values()})
    return found


async def _refuse_unreadable(
    projects: Projects, tenant: str, others: Sequence[AttachedFile], new: AttachedFile
) -> None:
    """Open all of the tenant's data with the new file: a file that would prevent this must not be stored."""
    try:
        project = await projects.open_with(tenant, [*others, new])
    except GroundplanError as error:
        raise Unreadable(str(error)) from error
    await project.close()
    for schema in project.schemas.values():
        for table in schema.tables:
            if table.unreadable and table.name in new.names.values():
                raise Unreadable(f"{table.name}: {table.unreadable}")


def _store(request: Request) -> Uploads:
    return Uploads(request.app.state.projects.database.of(request.state.tenant))


def _entry(upload: Upload) -> UploadEntry:
    tables = tuple(upload.tables.values())
    return UploadEntry(id=upload.id, name=upload.name, bytes=upload.bytes, tables=tables, created=upload.created)
