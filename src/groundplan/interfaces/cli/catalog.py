"""The sub-commands `catalog`, `examples` and `sources`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundplan.errors import UsageError
from groundplan.interfaces.cli.terminal import say

if TYPE_CHECKING:
    from groundplan.state.plans import PlanStore

catalog_app = typer.Typer(
    help="Tables, what their columns mean and how they are related; and the tools that plans may use.",
    no_args_is_help=True,
)
examples_app = typer.Typer(help="Stored plans that models see as examples.", no_args_is_help=True)
sources_app = typer.Typer(help="The configured servers and their tools.", no_args_is_help=True)
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
ExampleId = Annotated[str, typer.Argument(metavar="ID", help="As `groundplan examples list` shows it.")]


@catalog_app.command("list")
def catalog_list(json: JsonOption = False) -> None:
    """List all tools."""
    from groundplan.interfaces.cli import show
    from groundplan.project import load_catalog

    show.tools(load_catalog(), json)


@catalog_app.command("show")
def catalog_show(name: str, json: JsonOption = False) -> None:
    """Show one tool with its params."""
    from groundplan.interfaces.cli import show
    from groundplan.project import load_catalog

    catalog = load_catalog()
    if name not in catalog.tools:
        near = catalog.nearest(name)
        raise UsageError(f"there is no tool {name!r}; " + (f"did you mean {near!r}?" if near else "see catalog list"))
    show.tool(catalog.tools[name], json)


@catalog_app.command("tables")
def catalog_tables(
    source: Annotated[str | None, typer.Argument(help="The data; by default that of this folder's settings.")] = None,
    json: JsonOption = False,
) -> None:
    """Show the tables and what their columns mean. Corrections go into groundplan.toml, as [columns."NAME"]."""
    from groundplan.interfaces.cli import show
    from groundplan.project import Project
    from groundplan.settings import load_settings

    settings = load_settings(Path.cwd())
    data = source or settings.source or settings.sources
    if not data:
        raise UsageError("name the data: groundplan catalog tables FILE")
    with Project(data, columns=settings.columns_of(data)) as project:
        show.tables(project.describe(), json)


@examples_app.command("list")
def examples_list(json: JsonOption = False) -> None:
    """List stored plans: plans that a model made and the gate passed. Models see those marked as good."""
    from groundplan.interfaces.cli import show

    show.examples(asyncio.run(_store().entries()), json)


@examples_app.command("mark")
def examples_mark(example: ExampleId) -> None:
    """Mark a plan as good, so that models see it as an example."""
    asyncio.run(_store().mark(example))
    say(f"{example} is marked as a good example")


@examples_app.command("forget")
def examples_forget(example: ExampleId) -> None:
    """Delete a stored plan."""
    asyncio.run(_store().forget(example))
    say(f"{example} is deleted")


def _store() -> PlanStore:
    from groundplan.settings import state_folder
    from groundplan.state.database import SQLite
    from groundplan.state.plans import PlanStore

    return PlanStore(SQLite(state_folder()))


@sources_app.command("list")
def sources_list() -> None:
    """List each server with its tools, the tools left out, and changes since they were accepted."""
    for name, server in _servers():
        listed: list[object] = getattr(server, "catalog_tools", list)()
        say(f"{name}: {len(listed)} tools" if listed else f"{name}: set up")
        for note in getattr(server, "notes", ()):
            say(f"  left out: {note}")
        for change in getattr(server, "changes", tuple)():
            say(f"  {change.kind}: {change.tool}, not used until `groundplan sources accept {change.tool}`")
            say("\n".join(f"    {line}" for line in change.diff.splitlines()))


@sources_app.command("accept")
def sources_accept(
    tool: Annotated[str, typer.Argument(help="As `groundplan sources list` shows it: shop.find.")],
) -> None:
    """Accept a new or changed tool as its server describes it now."""
    for name, server in _servers():
        if tool.startswith(f"{name}.") and hasattr(server, "accept"):
            server.accept([tool])
            say(f"{tool} is accepted")
            return
    raise UsageError(f"no server here has a tool {tool!r}; see `groundplan sources list`")


def _servers() -> Iterator[tuple[str, Any]]:
    """The servers of this folder's groundplan.toml, each open while it is in use."""
    from groundplan.project import Project
    from groundplan.settings import load_settings

    settings = load_settings(Path.cwd()).sources
    if not settings:
        raise UsageError("no server is configured here; add a table [sources.NAME] to groundplan.toml")
    for name, given in settings.items():
        with Project({name: given}) as project:
            yield name, project.aio.sources[name]
