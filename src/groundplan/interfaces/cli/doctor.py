"""`groundplan doctor`: checks the installation and says how to fix problems."""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import typer
from pydantic import JsonValue
from rich.markup import escape

from groundplan.errors import Crashed, GroundplanError
from groundplan.interfaces.cli.terminal import out, print_json
from groundplan.settings import ADDRESS, Endpoint, cache_folder, load_models, load_settings, state_folder
from groundplan.state.measures import ModelSpeed, keep_speed

MODEL_SECONDS = 20.0
SOURCE_SECONDS = 20.0

NO_MODEL_SET = (
    "none is set, and none is required. With one, more wordings are understood: start Ollama, llama-server or another "
    f"server, or name a hosted one. `groundplan doctor --model {ADDRESS} --questions` measures how well it reads "
    f"(pip install 'groundplan[llm]'), `groundplan ask --model {ADDRESS} …` asks it, and model = \"{ADDRESS}\" in "
    "groundplan.toml keeps it"
)

Check = tuple[str, bool | None, str]
"""The name of a check, whether it passes (None: something optional is missing), and a message."""


def report(model: str | None, json: bool) -> None:
    """Print every check; exit 4 if a required one fails."""
    signs = {True: "[green]✓[/]", False: "[red]✗[/]", None: "[dim]-[/]"}
    found = []
    for name, works, word in checks(model):
        found.append({"check": name, "works": works, "said": word})
        if not json:
            out.print(f"{signs[works]} {escape(name)}: {escape(word)}", soft_wrap=True)
    if json:
        print_json(found)
    if any(check["works"] is False for check in found):
        raise typer.Exit(4)


def print_prompt(data: Any, question: str) -> None:
    """Print what a model would be sent for the question; nothing is sent."""
    from groundplan.project import AsyncProject

    async def prompt() -> str:
        project = await AsyncProject.open(data, roles=load_settings(Path.cwd()).roles)
        try:
            return await project.prompt(question)
        finally:
            await project.close()

    out.print(escape(asyncio.run(prompt())), soft_wrap=True)


def checks(model: str | None) -> Iterator[Check]:
    """The checks of this folder and its models, or of the models that are named."""
    if model is None:
        yield from _installation()
        try:
            servers = load_settings(Path.cwd()).sources
        except GroundplanError as error:
            yield "settings", False, str(error)
            return
    yield from _models(model)
    for source, settings in servers.items() if model is None else ():
        yield source, *_tried(partial(_server, source, settings))


def _installation() -> Iterator[Check]:
    yield "python", sys.version_info >= (3, 11), sys.version.split()[0]
    yield "groundplan", True, importlib.metadata.version("groundplan")
    for name, works in {"engine": _engine, "catalog": _catalog, "charts": _charts}.items():
        yield name, *_tried(works)
    for name, folder in {"cache": cache_folder(), "state": state_folder()}.items():
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        yield name, True, f"{folder} ({size / 1e6:,.1f} MB)"
    installed = importlib.util.find_spec("psycopg") is not None
    yield (
        "postgres",
        installed or None,
        "ready" if installed else "an extra: pip install 'groundplan[postgres]'",
    )


def _server(name: str, settings: dict[str, JsonValue]) -> str:
    """Read one row of each table that this folder's settings allow."""
    from groundplan.contracts.plan import Limits
    from groundplan.project import AsyncProject
    from groundplan.sources.interface import Call

    async def reads() -> list[str]:
        project = await AsyncProject.open({name: settings})
        tools = [tool for tool in project.catalog.tools.values() if tool.source == name and tool.output.table]
        try:
            for tool in tools:
                call = Call("doctor", "doctor", tool, {"limit": 1}, {}, Limits(rows=1), SOURCE_SECONDS)
                await project.sources[name].call(call)
        finally:
            await project.close()
        return [tool.output.table or "" for tool in tools]

    began = time.monotonic()
    tables = asyncio.run(reads())
    return f"{settings.get('url')} gives {', '.join(tables)} ({time.monotonic() - began:.1f} s)"


def _models(named: str | None) -> Iterator[Check]:
    """What each model's server can and cannot do; the models of this folder's settings, or those that are named."""
    endpoints = load_models(Path.cwd(), named)
    if not endpoints:
        yield "model", None, NO_MODEL_SET
    for endpoint in endpoints:
        yield from _model(endpoint)


def _model(endpoint: Endpoint) -> Iterator[Check]:
    from groundplan.llm.abilities import find_abilities

    try:
        found = asyncio.run(find_abilities(endpoint, MODEL_SECONDS))
        if found.tokens_per_second is not None:
            keep_speed(ModelSpeed(url=endpoint.url, model=found.model, tokens_per_second=found.tokens_per_second))
    except GroundplanError as error:
        yield "model", False, str(error)
        return
    if not found.reachable:
        yield "model", False, found.problem
        return
    yield "model", True, f"{found.name} at {found.url} answers in {found.seconds:.1f} s"
    for finding in found.findings:
        yield found.name, finding.there or None, finding.said


def _tried(work: Callable[[], str]) -> tuple[bool, str]:
    try:
        return True, work()
    except Exception as error:  # noqa: BLE001  report any failure and continue
        return False, str(error if isinstance(error, GroundplanError) else Crashed.by(error))


def _engine() -> str:
    import duckdb

    from groundplan.sources.tables.source import Tables

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ok.csv"
        path.write_text("a,b\n1,x\n2,y\n")
        Tables.open(path)
    return f"DuckDB {duckdb.__version__} opens a file read-only"


def _catalog() -> str:
    from groundplan.project import load_catalog

    catalog = load_catalog()
    return f"{len(catalog.tools)} tools, version {catalog.version}"


def _charts() -> str:
    from groundplan.charts.picture import png

    values = [{"x": 1, "y": 2}]
    spec = {"mark": "bar", "data": {"values": values}, "encoding": {"x": {"field": "x"}, "y": {"field": "y"}}}
    return f"drawn without a browser ({len(png(spec)):,} bytes)"
