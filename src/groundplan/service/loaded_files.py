"""Uploads as database files in a folder of this process, which is deleted when the process ends."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from groundplan.blocking import Workers
from groundplan.errors import GroundplanError, SourceError
from groundplan.sources.tables.engine.duckdb_limits import process_folder
from groundplan.sources.tables.engine.engines import AttachedFile
from groundplan.sources.tables.files.load import load_file
from groundplan.state.database import Database
from groundplan.state.uploads import Unreadable, Upload, Uploads

THREADS = 2  # files that are loaded at once


class LoadedFiles:
    def __init__(self) -> None:
        self._workers = Workers("uploads", THREADS)

    async def of(self, database: Database, uploads: Sequence[Upload]) -> list[AttachedFile]:
        """The uploads of a tenant, loaded if this process does not have them yet. Others of the tenant are deleted."""
        wanted = {place_of(database.tenant, upload.id): upload for upload in uploads}
        for place in {*_folder_of(database.tenant).iterdir()} - {*wanted}:
            delete(place)
        for place, upload in wanted.items():
            if not place.exists():
                await self._fetch(database, upload, place)
        return [AttachedFile(place, upload.tables) for place, upload in wanted.items() if place.exists()]

    async def load(self, file: Path, target: Path) -> tuple[str, ...]:
        """Load a file into a new database file; returns the names of its tables."""
        try:
            return await self._workers.run(lambda: load_file(file, target))
        except GroundplanError as error:
            raise Unreadable(str(error).replace(f"{file.parent}{os.sep}", "")) from error

    async def close(self) -> None:
        await self._workers.close()

    async def _fetch(self, database: Database, upload: Upload, place: Path) -> None:
        """Nothing is there afterwards if the upload was deleted meanwhile."""
        with TemporaryDirectory(dir=process_folder(), prefix="upload-") as folder:
            file, digest, size = Path(folder) / upload.name, hashlib.sha256(), 0
            with file.open("wb") as opened:
                async for piece in Uploads(database).pieces(upload.id):
                    opened.write(piece)
                    digest.update(piece)
                    size += len(piece)
            if size < upload.bytes:
                return
            if digest.hexdigest() != upload.hash:
                raise SourceError(f"{upload.name}: its stored content has changed; delete the file and upload it again")
            loaded = file.with_name("loaded.duckdb")
            await self.load(file, loaded)
            loaded.replace(place)


def place_of(tenant: str, upload: str) -> Path:
    return _folder_of(tenant) / f"{upload}.duckdb"


def delete(place: Path) -> None:
    """Delete a loaded file. A project that has it open can still read it."""
    with suppress(OSError):
        place.unlink()


def _folder_of(tenant: str) -> Path:
    folder = process_folder() / "uploads" / hashlib.sha256(tenant.encode()).hexdigest()[:32]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
