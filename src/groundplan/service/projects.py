"""A project for each tenant. Tenants share no cache, no connection and no store."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from groundplan.contracts.rollout import SETTINGS
from groundplan.project import AsyncProject
from groundplan.service.loaded_files import LoadedFiles
from groundplan.sources.tables.engine.engines import AttachedFile
from groundplan.state.column_settings import SavedSettings
from groundplan.state.database import Database
from groundplan.state.rollouts import Rollouts
from groundplan.state.uploads import Upload, Uploads

OPEN = 32  # projects that stay open

Opener = Callable[[Database, Sequence[AttachedFile], str], Awaitable[AsyncProject]]
Key = tuple[str, str, tuple[str, ...]]  # a tenant, a variant, and the ids of the tenant's uploads


class Projects:
    """Opens a project when its tenant first needs it, and again when the tenant's uploads have changed.

    The one unused for longest is closed when there are too many.
    """

    def __init__(self, database: Database, opener: Opener, on_open: Callable[[], None] = lambda: None) -> None:
        self.database, self._opener, self._on_open = database, opener, on_open
        self.files = LoadedFiles()
        self._open: OrderedDict[Key, AsyncProject] = OrderedDict()
        self._newest: dict[tuple[str, str], Key] = {}
        self._used: Counter[Key] = Counter()
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, tenant: str, variant: str | None = None) -> AsyncIterator[AsyncProject]:
        """The tenant's project with its uploads and settings of columns; it is not closed while it is used.

        By default with the settings of the variant that is in force.
        """
        variant = variant or (await Rollouts(self.database.of(tenant)).standing()).current
        async with self._opening.setdefault(tenant, asyncio.Lock()):  # slow data delays its own tenant only
            uploads = await Uploads(self.database.of(tenant)).list()
            key = tenant, variant, tuple(upload.id for upload in uploads)
            self._used[key] += 1
            try:
                await self._open_if_needed(key, uploads)
                self._open[key].apply(await SavedSettings(self.database.of(tenant)).list())
            except BaseException:
                self._used -= Counter([key])
                raise
        try:
            yield self._open[key]
        finally:
            self._used -= Counter([key])
            await self._close_older(key)

    async def open_with(self, tenant: str, files: Sequence[AttachedFile], variant: str = SETTINGS) -> AsyncProject:
        """A project with these files, for whoever closes it: to find out whether they can be used."""
        return await self._opener(self.database.of(tenant), files, variant)

    async def _open_if_needed(self, key: Key, uploads: Sequence[Upload]) -> None:
        tenant, variant, _ = key
        if key not in self._open:
            await self._make_room()
            files = await self.files.of(self.database.of(tenant), uploads)
            self._open[key] = await self.open_with(tenant, files, variant)
            self._on_open()
        self._newest[tenant, variant] = key
        self._open.move_to_end(key)
        await self._close_older(key)

    async def _close_older(self, of: Key) -> None:
        """Close the tenant's projects of earlier uploads that nobody uses any more."""
        older = [key for key in self._open if key[:2] == of[:2] and key != self._newest[of[:2]]]
        for key in older:
            if key not in self._used and key in self._open:
                await self._open.pop(key).close()

    async def _make_room(self) -> None:
        idle = [key for key in self._open if key not in self._used]
        for key in idle[: max(len(self._open) + 1 - OPEN, 0)]:
            await self._open.pop(key).close()

    async def close(self) -> None:
        while self._open:
            await self._open.popitem()[1].close()
        await self.files.close()
