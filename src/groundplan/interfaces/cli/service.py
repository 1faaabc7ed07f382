"""The commands that serve others: `serve`, `worker`, `migrate`, `keys` and `mcp`."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from groundplan.errors import UsageError
from groundplan.interfaces.cli.terminal import say

if TYPE_CHECKING:
    from groundplan.service.data import Data

SOURCES = "a file, a folder, a DuckDB file or a postgres:// URL"

Role = Literal["ask", "admin", "metrics"]

keys_app = typer.Typer(help="API keys of a service with a database.", no_args_is_help=True)

SourceArgument = Annotated[
    str | None, typer.Argument(help="The data; by default that of this folder's groundplan.toml.")
]
DatabaseOption = Annotated[
    str | None,
    typer.Option("--database", envvar="GROUNDPLAN_DATABASE", help="The postgresql:// URL of the service's database."),
]
ServiceModelOption = Annotated[str | None, typer.Option("--model", metavar="NAME|URL|none", help="As for `ask`.")]


def serve(
    source: SourceArgument = None,
    database: DatabaseOption = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="The port to listen on.")] = 8000,
    model: ServiceModelOption = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page.")] = False,
) -> None:
    """Answer questions in the browser and over HTTP. Without --database: for one person on this machine, no key."""
    serving, data = _serving(), data_of(source, model)
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"

    def listening() -> None:
        say(f"groundplan listens on {url}", to_err=True)
        if database is None and not no_browser and _has_a_screen():
            _open_page(url)

    if database is None:
        asyncio.run(serving.serve_alone(data, host, port, listening))
    else:
        asyncio.run(serving.serve(data, database, host, port, listening))


def worker(
    source: SourceArgument = None,
    database: DatabaseOption = None,
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Runs at a time.")] = 4,
    model: ServiceModelOption = None,
    metrics_port: Annotated[int | None, typer.Option("--metrics-port", help="Where Prometheus reads metrics.")] = None,
    metrics_host: Annotated[str, typer.Option("--metrics-host", help="The address for metrics.")] = "127.0.0.1",
) -> None:
    """Run the questions that `serve --database` accepts. Start as many as you need."""
    serving = _serving()
    asyncio.run(serving.work(data_of(source, model), _database(database), at_once, metrics_host, metrics_port))


def migrate(
    database: Annotated[str, typer.Argument(metavar="URL", help="The postgresql:// URL of the service's database.")],
) -> None:
    """Create or update the tables of the service's database. Safe to run again, and by several processes at once."""
    ran = asyncio.run(_serving().migrate(database))
    say(f"ran {len(ran)} migrations" if ran else "the database is up to date")


def mcp(source: SourceArgument = None, model: ServiceModelOption = None) -> None:
    """Offer ask, plan, check, run, explain and verify_sql to an MCP client, over standard input and output."""
    try:
        from groundplan.interfaces.mcp_server import create_server
    except ModuleNotFoundError as error:
        raise UsageError(f"the MCP server needs {error.name}: pip install 'groundplan[mcp]'") from error
    from groundplan.project import AsyncProject
    from groundplan.settings import load_models, load_settings

    settings = load_settings(Path.cwd())
    data = settings.data(source, SOURCES)
    models, columns = load_models(Path.cwd(), model), settings.columns_of(data)
    given = f" --source {shlex.quote(source)}" if source else ""
    more: dict[str, Any] = {
        "roles": settings.roles_of(models),
        "rows_without_approval": settings.rows_without_approval,
    }
    server = create_server(
        lambda: AsyncProject.open(data, settings.embeddings, models, columns, **more),
        f"groundplan resume --approve{given}",
    )
    asyncio.run(server.run_stdio_async())


@keys_app.command("create")
def keys_create(
    tenant: Annotated[str, typer.Argument(help="Whose runs and conversations the key gives access to.")],
    database: DatabaseOption = None,
    name: Annotated[str, typer.Option("--name", help="A note that `keys list` shows.")] = "",
    role: Annotated[
        Role,
        typer.Option(
            "--role",
            help="ask; read, which approves nothing; admin, which also makes keys; or metrics, for Prometheus.",
        ),
    ] = "ask",
) -> None:
    """Make a key and print it. It is shown only now."""
    say(_with_keys(database, lambda keys: keys.make(tenant, name, role)))


@keys_app.command("list")
def keys_list(database: DatabaseOption = None) -> None:
    """List the keys: id, tenant, role, name, when made."""
    for key in _with_keys(database, lambda keys: keys.list()):
        say(f"{key.id}  {key.tenant}  {key.role}  {key.name or '-'}  {key.created:%Y-%m-%d %H:%M}")


@keys_app.command("revoke")
def keys_revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="As `groundplan keys list` shows it.")],
    database: DatabaseOption = None,
) -> None:
    """Refuse requests with this key from now on."""
    _with_keys(database, lambda keys: keys.revoke(key))
    say(f"{key} is revoked")


def _has_a_screen() -> bool:
    """Whether somebody sits here: in a terminal without a display, a text browser would take it over."""
    display = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(display) and sys.stdin.isatty() and sys.stderr.isatty()


def _open_page(url: str) -> None:
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()  # some browsers block


def _with_keys(database: str | None, work: Callable[[Any], Any]) -> Any:
    _serving()
    from groundplan.state.keys import Keys
    from groundplan.state.postgres import open_postgres

    async def with_keys() -> Any:
        async with open_postgres(_database(database)) as opened:
            return await work(Keys(opened))

    return asyncio.run(with_keys())


def _serving() -> Any:
    try:
        from groundplan.service import serving
    except ModuleNotFoundError as error:
        raise UsageError(f"the service needs {error.name}: pip install 'groundplan[service]'") from error
    return serving


def _database(url: str | None) -> str:
    if url is None:
        raise UsageError("name the database: --database URL, or set GROUNDPLAN_DATABASE")
    return url


def data_of(source: str | None, model: str | None) -> Data:
    """The data that a command names, or that of this folder's settings, with its models."""
    from groundplan.service.data import Data
    from groundplan.settings import load_models, load_settings

    return Data(load_settings(Path.cwd()).data(source, SOURCES), load_models(Path.cwd(), model))
