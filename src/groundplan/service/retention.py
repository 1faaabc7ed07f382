"""Deletes runs that ended long ago, with all that was kept of them."""

from __future__ import annotations

from groundplan.contracts.run import ENDED
from groundplan.project import conversation_place, run_place
from groundplan.state.database import EVERY_TENANT, Database, Transaction

DAY = 24 * 3600.0  # seconds
AT_ONCE = 200  # runs in one transaction
CHECKPOINTS = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
OLD = f"""delete from runs where (tenant, id) in (select tenant, id from runs as r where state in {ENDED}
    and updated < {{now}} - ? order by updated limit ? {{skip_locked}}) returning tenant, id, thread"""  # noqa: S608 - ours


async def delete_ended(database: Database, days: float) -> int:
    """Delete the runs that ended so many days ago; returns how many. Their plans stay, for later questions."""
    deleted = 0
    while True:
        sql = OLD.replace("{now}", database.now).replace("{skip_locked}", database.skip_locked)
        async with database.of(EVERY_TENANT).transaction() as run:
            rows = await run(sql, days * DAY, AT_ONCE)
            for tenant, id_, _ in rows:
                await run("delete from events where tenant = ? and run = ?", tenant, id_)
                await run("delete from feedback where tenant = ? and run = ?", tenant, id_)
                # `0` follows `/`: all keys that begin with the run's id
                await run("delete from effects where tenant = ? and key > ? and key < ?", tenant, f"{id_}/", f"{id_}0")
        for tenant, id_, _ in rows:
            async with database.of(tenant).transaction() as run:
                await _delete_checkpoints(run, run_place(tenant, id_))
        for tenant, thread in {(tenant, thread) for tenant, _, thread in rows if thread}:
            await _delete_conversation(database.of(tenant), thread)
        deleted += len(rows)
        if len(rows) < AT_ONCE:
            return deleted


async def _delete_conversation(database: Database, thread: str) -> None:
    """Delete a conversation that has no run any more. In this transaction no run of it can be added."""
    async with database.transaction() as run:
        await run.lock(f"thread/{database.tenant}/{thread}")
        if await run("select id from runs where tenant = ? and thread = ? limit 1", database.tenant, thread):
            return
        await _delete_checkpoints(run, conversation_place(database.tenant, thread))


async def _delete_checkpoints(run: Transaction, place: str) -> None:
    for table in CHECKPOINTS:
        await run(f"delete from {table} where thread_id = ?", place)  # noqa: S608 - ours
