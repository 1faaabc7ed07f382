"""Settings of columns that people saved in the browser, for all processes of the service."""

from __future__ import annotations

from groundplan.column_settings import ColumnSettings, Place
from groundplan.errors import UsageError
from groundplan.state.audit import ONE_PERSON, Audit
from groundplan.state.database import Database
from groundplan.state.uploads import NoRoom

MOST = 500  # columns of a tenant that have settings


class NoSuchColumn(UsageError):
    """The data has no such column."""


class UnfitSetting(UsageError):
    """A part of the settings cannot be used for this column."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field


class SavedSettings:
    """The settings of one tenant. They are read before each run, so they are few and small."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant, self._audit = database, database.tenant, Audit(database)

    async def list(self) -> dict[Place, ColumnSettings]:
        sql = "select of_table, of_column, settings from column_settings where tenant = ? order by 1, 2"
        async with self._database.transaction(writes=False) as run:
            rows = await run(sql, self._tenant)
        return {(table, column): ColumnSettings.model_validate_json(settings) for table, column, settings in rows}

    async def put(self, place: Place, settings: ColumnSettings, actor: str = ONE_PERSON) -> None:
        """Save settings instead of those that the column has."""
        add = "insert into column_settings (tenant, of_table, of_column, settings) values (?, ?, ?, ?)"
        count = "select count(*) from column_settings where tenant = ?"
        async with self._database.transaction() as run:
            await run.lock(f"column_settings/{self._tenant}")
            await run(DELETE, self._tenant, *place)
            if (await run(count, self._tenant))[0][0] >= MOST:
                raise NoRoom(f"{MOST:,} columns may be changed; reset one first")
            await run(add, self._tenant, *place, settings.model_dump_json(exclude_defaults=True))
            await self._audit.add(run, self._tenant, actor, "column.changed", ".".join(place))

    async def delete(self, place: Place, actor: str = ONE_PERSON) -> None:
        """Forget the settings of a column, if it has some."""
        async with self._database.transaction() as run:
            if await run(f"{DELETE} returning of_table", self._tenant, *place):
                await self._audit.add(run, self._tenant, actor, "column.reset", ".".join(place))


DELETE = "delete from column_settings where tenant = ? and of_table = ? and of_column = ?"
