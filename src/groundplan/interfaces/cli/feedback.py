"""`groundplan feedback` and `groundplan reviews`: whether answers were good, and what is right where they were not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from groundplan.errors import UsageError
from groundplan.interfaces.cli.catalog import JsonOption
from groundplan.interfaces.cli.service import DatabaseOption
from groundplan.interfaces.cli.terminal import print_json, say

if TYPE_CHECKING:
    from groundplan.contracts.feedback import Feedback, Review, Thumb
    from groundplan.contracts.reading import Reading
    from groundplan.state.database import Database

T = TypeVar("T")
LAST = "last"
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run; `last` is the last one asked here.")]
TenantOption = Annotated[
    str | None, typer.Option("--tenant", help="With --database: whose; by default, of a run, the tenant that asked.")
]

reviews_app = typer.Typer(help="Bad answers that wait for somebody to say what is right.", no_args_is_help=True)


def feedback(
    run: RunArgument,
    thumb: Annotated[str, typer.Argument(metavar="good|bad", help="Whether the answer is good.")],
    reason: Annotated[str, typer.Argument(help="Why.")] = "",
    database: DatabaseOption = None,
    tenant: TenantOption = None,
) -> None:
    """Say whether an answer is good. A bad one is kept with question, reading and plan, for review."""
    from groundplan.contracts.feedback import Feedback

    if thumb not in ("good", "bad"):
        raise UsageError(f'an answer is good or bad, not {thumb!r}: groundplan feedback {run} bad "why"')
    given: Thumb = "good" if thumb == "good" else "bad"
    found = asyncio.run(
        _with(database, tenant, run, lambda opened, id_: _give(opened, id_, Feedback(thumb=given, reason=reason)))
    )
    say(f"{found}: {thumb}" + ("; `groundplan reviews list` shows what waits for review" if thumb == "bad" else ""))


@reviews_app.command("list")
def reviews_list(database: DatabaseOption = None, tenant: TenantOption = None, json: JsonOption = False) -> None:
    """List bad answers that nobody has reviewed: run, question, how it was read, and why it is bad."""
    from groundplan.text.read_back import read_as

    found = asyncio.run(_with(database, tenant, None, lambda opened, _: _to_review(opened)))
    if json:
        print_json([review.model_dump(mode="json") for review in found])
        return
    for review in found:
        say(f"{review.run}  {review.question}")
        if review.reading and read_as(review.reading):
            say(f"  {read_as(review.reading)}")
        if review.reason:
            say(f"  bad: {review.reason}")


@reviews_app.command("settle")
def reviews_settle(
    run: RunArgument,
    sql: Annotated[str | None, typer.Option("--sql", help="The question, read rightly, as one SELECT.")] = None,
    as_read: Annotated[bool, typer.Option("--as-read", help="It was read rightly; the fault is elsewhere.")] = False,
    source: Annotated[str | None, typer.Option("--source", "-s", help="The data; as for `ask`.")] = None,
    database: DatabaseOption = None,
    tenant: TenantOption = None,
) -> None:
    """Say how a question is read rightly: an example for models from now on, and an item of `groundplan eval own`."""
    from groundplan.text.read_back import read_as

    if bool(sql) == as_read:
        raise UsageError('say how it is read rightly: --sql "SELECT …", or --as-read')
    right = asyncio.run(_with(database, tenant, run, lambda opened, id_: _settle(opened, id_, sql, source)))
    say(f"{run} is settled. {read_as(right) or right.question}")


async def _give(database: Database, run: str, given: Feedback) -> str:
    from groundplan.state.audit import ONE_PERSON
    from groundplan.state.feedback import Ratings

    await Ratings(database).give(run, given, ONE_PERSON)
    return run


async def _to_review(database: Database) -> tuple[Review, ...]:
    from groundplan.state.feedback import Ratings

    return await Ratings(database).to_review()


async def _settle(database: Database, run: str, sql: str | None, source: str | None) -> Reading:
    from groundplan.project import AsyncProject
    from groundplan.settings import load_settings

    settings = load_settings(Path.cwd())
    data = settings.data(source, "add --source FILE, a folder, a DuckDB file or a postgres:// URL")
    project = await AsyncProject.open(data, columns=settings.columns_of(data), database=database)
    try:
        return await project.review(run, sql=sql)
    finally:
        await project.close()


async def _with(
    url: str | None, tenant: str | None, run: str | None, work: Callable[[Database, str], Awaitable[T]]
) -> T:
    """Do the work as the tenant that is named, or whose run this is. Without a URL: on what this machine keeps."""
    from groundplan.state.feedback import tenant_of
    from groundplan.state.opening import open_database

    async with open_database(url) as database:
        if run == LAST:
            run = await _last(database)
        found = tenant if tenant is not None else await tenant_of(database, run) if run else None
        if found is None and url is not None:
            raise UsageError(f"there is no run {run!r}" if run else "name the tenant: --tenant NAME")
        return await work(database.of(found or ""), run or "")


async def _last(database: Database) -> str:
    from groundplan.state.asked import last_asked
    from groundplan.state.database import SQLite

    found = await last_asked(database) if isinstance(database, SQLite) else None
    if found is None:
        raise UsageError("nothing was asked here yet; give the id of a run")
    return found
