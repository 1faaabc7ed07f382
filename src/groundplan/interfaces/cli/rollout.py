"""`groundplan rollout`: put a variant on trial, look at it, go on, stop, promote."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import typer

from groundplan.errors import UsageError
from groundplan.interfaces.cli.catalog import JsonOption
from groundplan.interfaces.cli.service import DatabaseOption, data_of
from groundplan.interfaces.cli.terminal import print_json, say

if TYPE_CHECKING:
    from groundplan.contracts.estimate import Estimate
    from groundplan.contracts.rollout import Rollout
    from groundplan.rollout.status import RolloutStatus, SideStatus
    from groundplan.service.rollouts import Commands

T = TypeVar("T")
rollout_app = typer.Typer(help="Roll out a variant of the settings, a share at a time.", no_args_is_help=True)
SourceOption = Annotated[str | None, typer.Option("--source", "-s", help="The data; as for `serve`.")]
ModelOption = Annotated[str | None, typer.Option("--model", help="As for `serve` and `worker`.")]
TenantOption = Annotated[str | None, typer.Option("--tenant", help="With --database: whose questions.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Also if the regression set is not read rightly.")]


@rollout_app.command("start")
def start(
    variant: Annotated[str, typer.Argument(help="A table [variants.NAME] of groundplan.toml, or `settings`.")],
    share: Annotated[int, typer.Option("--share", help="Percent of the conversations; 0 is the shadow.")] = 0,
    shadowed: Annotated[int, typer.Option("--shadowed", help="Percent of the questions that the shadow reads.")] = 100,
    day_tokens: Annotated[int | None, typer.Option("--day-tokens", help="Tokens of the trial in 24 hours.")] = None,
    day_seconds: Annotated[
        float | None, typer.Option("--day-seconds", help="Seconds of the shadow in 24 hours.")
    ] = None,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Seconds of one question of the trial.")] = None,
    source: SourceOption = None,
    model: ModelOption = None,
    database: DatabaseOption = None,
    tenant: TenantOption = None,
) -> None:
    """Put a variant on trial, in the shadow by default: the current one answers, and this one reads along."""
    from groundplan.contracts.rollout import RolloutLimits

    given = {"shadowed": shadowed, "day_tokens": day_tokens, "day_seconds": day_seconds, "timeout": timeout}
    limits = RolloutLimits.model_validate({name: value for name, value in given.items() if value is not None})
    _told(_run(source, model, database, tenant, lambda commands: commands.start(variant, _share(share), limits=limits)))


@rollout_app.command("status")
def status(
    json: JsonOption = False,
    source: SourceOption = None,
    model: ModelOption = None,
    database: DatabaseOption = None,
    tenant: TenantOption = None,
) -> None:
    """Both sides with 95 % intervals, and whether the next step is supported."""
    found = _run(source, model, database, tenant, lambda commands: commands.status())
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        say("\n".join(lines(found)))


@rollout_app.command("step")
def step(
    share: Annotated[int | None, typer.Argument(help="10, 25, 50, 75 or 100; by default the next one.")] = None,
    force: ForceOption = False,
    source: SourceOption = None,
    model: ModelOption = None,
    database: DatabaseOption = None,
    tenant: TenantOption = None,
) -> None:
    """Let the variant on trial answer a share of the conversations, once it reads the regression set rightly."""
    wanted = None if share is None else _share(share)
    _told(_run(source, model, database, tenant, lambda commands: commands.step(wanted, force=force)))


@rollout_app.command("stop")
def stop(
    why: Annotated[str, typer.Argument(help="Why, for the record.")] = "",
    source: SourceOption = None,
    model: ModelOption = None,
    database: DatabaseOption = None,
    tenant: TenantOption = None,
) -> None:
    """Let the current variant answer everything from the next question on."""
    _told(_run(source, model, database, tenant, lambda commands: commands.stop(why)))


@rollout_app.command("promote")
def promote(
    force: ForceOption = False,
    source: SourceOption = None,
    model: ModelOption = None,
    database: DatabaseOption = None,
    tenant: TenantOption = None,
) -> None:
    """Put the variant on trial in force from the next question on."""
    _told(_run(source, model, database, tenant, lambda commands: commands.promote(force=force)))


def lines(found: RolloutStatus) -> list[str]:
    """The status as text."""
    told = [f"in force: {found.current}"]
    if found.rollout:
        share = f"{found.rollout.share} %" if found.rollout.share else "shadow"
        told.append(f"on trial: {found.rollout.variant}, {share}, {found.rollout.state}")
    for name, side in found.sides.items():
        told += [f"{name}: {side.n} questions", *_side(side)]
    for what, agreed in (("same meaning", found.same_meaning), ("same rows", found.same_rows)):
        told += [f"{what}: {_shown(agreed)}"] if agreed else []
    return [*told, found.advice]


def _side(side: SideStatus) -> list[str]:
    shares = {"errors": side.errors, "refused": side.refused, "asked": side.asked, "thumbs down": side.thumbs_down}
    told = [f"  {name:<12}{_shown(share)}" for name, share in shares.items() if share]
    told.append(f"  {'seconds':<12}p50 {side.p50:.2f}, p95 {side.p95:.2f}")
    told.append(f"  {'tokens':<12}{side.tokens:,.0f} for each question")
    return [*told, f"  {'fell back':<12}{side.fell_back}"] if side.fell_back else told


def _shown(share: Estimate) -> str:
    return f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})"


def _told(rollout: Rollout) -> None:
    states = {"running": f"answers {rollout.share} %" if rollout.share else "reads along in the shadow"}
    states |= {"stopped": "is no longer on trial", "promoted": "is in force"}
    say(f"{rollout.variant} {states[rollout.state]}")


def _share(given: int) -> Any:
    from groundplan.contracts.rollout import Share

    if given not in get_args(Share):
        raise UsageError(f"the share is one of {', '.join(map(str, get_args(Share)))}, not {given}")
    return given


def _run(
    source: str | None,
    model: str | None,
    url: str | None,
    tenant: str | None,
    work: Callable[[Commands], Awaitable[T]],
) -> T:
    async def run() -> T:
        async with _commands(source, model, url, tenant) as commands:
            return await work(commands)

    return asyncio.run(run())


@asynccontextmanager
async def _commands(
    source: str | None, model: str | None, url: str | None, tenant: str | None
) -> AsyncIterator[Commands]:
    """Without a URL: of the service for one person on this machine."""
    from groundplan.service.projects import Projects
    from groundplan.service.rollouts import Commands
    from groundplan.state.audit import ONE_PERSON, OPERATOR
    from groundplan.state.opening import open_database

    data = data_of(source, model)
    if url is not None and tenant is None:
        raise UsageError("name the tenant: --tenant NAME")
    async with open_database(url) as database:
        projects = Projects(database, data.open)
        try:
            yield Commands(projects, tenant or data.tenant, OPERATOR if url else ONE_PERSON)
        finally:
            await projects.close()
