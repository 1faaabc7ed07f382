"""The sub-commands about what is kept: the tools of the catalog, and plans that a model may be shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundplan.errors import UsageError

if TYPE_CHECKING:
    from groundplan.state.plans import PlanStore

catalog_app = typer.Typer(help="The tools that plans may use.", no_args_is_help=True)
examples_app = typer.Typer(help="The plans that a model may be shown as examples.", no_args_is_help=True)
sources_app = typer.Typer(help="The servers that are set up here, and what they offer.", no_args_is_help=True)
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
ExampleId = Annotated[str, typer.Argument(metavar="ID", help="As `groundplan examples list` shows it.")]


@catalog_app.command("list")
def catalog_list(json: JsonOption = False) -> None:
    """Every tool in a line."""
    from groundplan.interfaces.cli import show
    from groundplan.project import load_catalog

    show.tools(load_catalog(), json)


@catalog_app.command("show")
def catalog_show(name: str, json: JsonOption = False) -> None:
    """One tool: what it does, its params and what serves what."""
    from groundplan.interfaces.cli import show
    from groundplan.project import load_catalog

    catalog = load_catalog()
    if name not in catalog.tools:
        near = catalog.nearest(name)
        raise UsageError(f"there is no tool {name!r}; " + (f"did you mean {near!r}?" if near else "see catalog list"))
    show.tool(catalog.tools[name], json)


@examples_app.command("list")
def examples_list(json: JsonOption = False) -> None:
    """The plans that a model made and the gate passed; those marked good are shown to a model."""
    from groundplan.interfaces.cli import show

    show.examples(asyncio.run(_store().entries()), json)


@examples_app.command("mark")
def examples_mark(example: ExampleId) -> None:
    """Say that a plan was right, so that a model may be shown it."""
    asyncio.run(_store().mark(example))
    typer.echo(f"{example} is marked: a model may be shown it")


@examples_app.command("forget")
def examples_forget(example: ExampleId) -> None:
    """Throw a plan away: it is neither used again nor shown."""
    asyncio.run(_store().forget(example))
    typer.echo(f"{example} is forgotten")


def _store() -> PlanStore:
    from groundplan.settings import state_folder
    from groundplan.state.plans import PlanStore

    return PlanStore(state_folder())


@sources_app.command("list")
def sources_list() -> None:
    """Each server with its tools, what was left out, and what has changed since it was accepted."""
    for name, server in _servers():
        listed: list[object] = getattr(server, "catalog_tools", list)()
        typer.echo(f"{name}: {len(listed)} tools" if listed else f"{name}: set up")
        for note in getattr(server, "notes", ()):
            typer.echo(f"  left out: {note}")
        for change in getattr(server, "changes", tuple)():
            typer.echo(f"  {change.kind}: {change.tool}, not used until `groundplan sources accept {change.tool}`")
            typer.echo("\n".join(f"    {line}" for line in change.diff.splitlines()))


@sources_app.command("accept")
def sources_accept(
    tool: Annotated[str, typer.Argument(help="As `groundplan sources list` shows it: shop.find.")],
) -> None:
    """Use a tool as its server describes it now."""
    for name, server in _servers():
        if tool.startswith(f"{name}.") and hasattr(server, "accept"):
            server.accept([tool])
            typer.echo(f"{tool} is accepted as it is now")
            return
    raise UsageError(f"no server here has a tool {tool!r}; see `groundplan sources list`")


def _servers() -> Iterator[tuple[str, Any]]:
    """Those of the groundplan.toml here, each open while it is looked at."""
    from groundplan.project import Project
    from groundplan.settings import load_settings

    settings = load_settings(Path.cwd()).sources
    if not settings:
        raise UsageError("no server is set up here; write a table [sources.NAME] into groundplan.toml")
    for name, given in settings.items():
        with Project({name: given}) as project:
            yield name, project.aio.sources[name]
