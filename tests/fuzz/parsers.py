"""Every parser of what others wrote. Bytes go in; a typed outcome comes out, and any other exception is a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import httpx2
import pytest
from pydantic import ValidationError

from groundplan.asking.tables.sql.parse import Untranslatable, translate
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check_text
from groundplan.contracts.plan import Limits
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import GroundplanError
from groundplan.own_tools import load_own_tools
from groundplan.project import Project
from groundplan.settings import wanted_by
from groundplan.sources.http.client import Reply
from groundplan.sources.interface import Call
from groundplan.sources.knowledge.source import Knowledge
from groundplan.sources.tableau.models import Fields, Page, Rows, SignedIn
from groundplan.sources.tableau.rows import expected_columns, to_table
from groundplan.sources.tableau.vizql import Query
from groundplan.sources.tables.engine.duckdb_limits import connect
from groundplan.sources.tables.engine.engines import open_url
from groundplan.sources.tables.files.delta import delta_table
from groundplan.sources.tables.files.load import SETTINGS, _load_all
from groundplan.sources.tables.importing.read import import_models
from groundplan.sources.tables.schema.model_file import Model, load_model
from groundplan.sources.tables.source import Tables
from groundplan.text.periods.find import find_periods
from tests.asking.tables.described import SALES
from tests.asking.tables.sql import made_up
from tests.fuzz.workbook import workbook
from tests.sources.knowledge.small import DESCRIPTION
from tests.sources.tables.importing.boats import write_boats
from tests.sources.trackers.calling import gitlab, ready, youtrack
from tests.sources.trackers.serving import Reply as Sent
from tests.sources.trackers.serving import serving

TODAY = date(2026, 3, 14)
Parse = Callable[[bytes], object]


@contextmanager
def plans() -> Iterator[Parse]:
    """The gate, over the example's table."""
    with Project(SALES) as project:
        yield lambda body: check_text(body, project.catalog, project.schemas)


@contextmanager
def questions() -> Iterator[Parse]:
    """Routing, reading and planning by rules."""
    with Project(SALES) as project:
        yield lambda body: _typed(lambda: project.plan(_text(body), today=TODAY))


@contextmanager
def periods() -> Iterator[Parse]:
    yield lambda body: find_periods(_text(body), TODAY)


@contextmanager
def settings() -> Iterator[Parse]:
    """A groundplan.toml."""
    with _file("groundplan.toml") as (path, write):
        yield lambda body: (write(body), _typed(lambda: wanted_by(path.parent)))


@contextmanager
def tools() -> Iterator[Parse]:
    """A YAML file of tools."""
    with _file("tools.yaml") as (path, write):
        yield lambda body: (write(body), _typed(lambda: Catalog.load([path])))


@contextmanager
def knowledge() -> Iterator[Parse]:
    """A knowledge.yaml with nodes and edges in it."""
    with _file("knowledge.yaml") as (path, write):
        yield lambda body: (write(body), _typed(lambda: _closed(Knowledge.open(path))))


@contextmanager
def graph() -> Iterator[Parse]:
    """Files of nodes and edges: YAML, JSON, Markdown, CSV and TSV, all from the same bytes."""
    names = ("graph.yaml", "graph.json", "page.md", "edges.csv", "edges.tsv")
    with TemporaryDirectory() as folder:
        described = DESCRIPTION.partition("graph:")[0]
        for name in names:
            (Path(folder) / f"{name}.knowledge.yaml").write_text(f"{described}graph: [{name}]\ndocuments: [page.md]\n")

        def parse(body: bytes) -> None:
            (Path(folder) / "page.md").write_bytes(body)
            for name in names:
                (Path(folder) / name).write_bytes(body)
                _typed(lambda name=name: _closed(Knowledge.open(Path(folder) / f"{name}.knowledge.yaml")))  # type: ignore[misc]

        yield parse


@contextmanager
def csv() -> Iterator[Parse]:
    """Encoding, separator, header and types, into a database in memory."""
    with _file("sheet.csv") as (path, write):

        def parse(body: bytes) -> None:
            write(body)
            with connect(":memory:", SETTINGS) as connection:
                _typed(lambda: _load_all(connection, [path]))

        yield parse


@contextmanager
def excel() -> Iterator[Parse]:
    """A workbook, or the XML of a sheet that is put into one."""
    with _file("book.xlsx") as (path, write):
        yield lambda body: (write(body if body[:2] == b"PK" else workbook(body)), _typed(lambda: _described(path)))


@contextmanager
def model_replies() -> Iterator[Parse]:
    """The body of a chat completion, and the JSON in a model's text."""
    from groundplan.llm.extraction import extract
    from groundplan.llm.wire import Wire
    from groundplan.settings import Endpoint

    wire = Wire(Endpoint(name="fuzzed", url="http://127.0.0.1:9/v1", model="m"))
    yield lambda body: (extract(_text(body)), _typed(lambda: extract(wire._read(_text(body), 1).text)))


@contextmanager
def mcp_tools() -> Iterator[Parse]:
    """The list of tools of an MCP server."""
    from mcp_types import ListToolsResult

    from groundplan.sources.mcp.params import UnsupportedSchema
    from groundplan.sources.mcp.tools import ToolDefinition, catalog_entry, usable

    def parse(body: bytes) -> None:
        with suppress(ValidationError):
            listed = ListToolsResult.model_validate_json(body)
            definitions, _ = usable([ToolDefinition.of(tool) for tool in listed.tools])
            for definition in definitions.values():
                with suppress(UnsupportedSchema):
                    catalog_entry(definition, "shop")

    yield parse


@contextmanager
def mcp_results() -> Iterator[Parse]:
    """The result of an MCP tool, with an output schema and without."""
    from mcp_types import CallToolResult, Tool

    from groundplan.sources.mcp.source import Mcp
    from groundplan.sources.mcp.tools import ToolDefinition, catalog_entry

    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}}
    listed = [
        Tool(name=f"find{number}", inputSchema={"type": "object"}, outputSchema=output)
        for number, output in enumerate((None, schema))
    ]
    entries = [catalog_entry(ToolDefinition.of(tool), "shop") for tool in listed]

    def parse(body: bytes) -> None:
        with suppress(ValidationError):
            answer = CallToolResult.model_validate_json(body)
            for entry in entries:
                call = Call("run", "step", entry.tool, {}, {}, Limits(), 1)
                _typed(lambda call=call, entry=entry: Mcp._facts(None, call, entry, answer))  # type: ignore[misc, arg-type]

    yield parse


@contextmanager
def tracker_bodies() -> Iterator[Parse]:
    """Lists of commits, merge requests and issues, sent by a server."""
    body = [b""]
    with TemporaryDirectory() as folder, serving(lambda _: Sent(200, body[0])) as served:
        loop = asyncio.new_event_loop()
        sources = {"gitlab_commits": gitlab, "gitlab_merge_requests": gitlab, "youtrack_issues": youtrack}
        opened = {tool: opener(served, Path(folder)) for tool, opener in sources.items()}

        def parse(given: bytes) -> None:
            body[0] = given
            served.requests.clear()
            for tool, source in opened.items():
                _typed(lambda tool=tool, source=source: loop.run_until_complete(source.call(ready(tool, {}))))  # type: ignore[misc]

        yield parse
        for source in opened.values():
            loop.run_until_complete(source.close())
        loop.close()


@contextmanager
def tableau_bodies() -> Iterator[Parse]:
    """The replies of Tableau: sign-in, pages, metadata and rows."""
    from groundplan.contracts.schema import Column, Table

    types = {
        "INTEGER": "number",
        "REAL": "number",
        "STRING": "text",
        "BOOLEAN": "boolean",
        "DATE": "time",
        "DATETIME": "time",
        "SPATIAL": "other",
    }
    table = Table(
        name="t",
        columns=tuple(Column(name=name, type=name, kind=kind, role="dimension") for name, kind in types.items()),
    )
    query = Query.model_validate({"fields": [{"fieldCaption": name} for name in types]})
    columns = expected_columns(query, table)

    def parse(body: bytes) -> None:
        reply = Reply(200, body, httpx.Headers(), "Tableau")
        for model in (SignedIn, Page, Fields):
            _typed(lambda model=model: reply.read(model))  # type: ignore[misc]
        _typed(lambda: to_table(reply.read(Rows).data or [], columns, ZoneInfo("Europe/Moscow")))

    yield parse


@contextmanager
def sql() -> Iterator[Parse]:
    """A statement of a model, translated into a reading."""
    with TemporaryDirectory() as folder:
        made_up.write(Path(folder))
        with made_up.opened(Path(folder)) as data:
            known: dict[str, Any] = {"today": TODAY, "question": "?"}

            def parse(body: bytes) -> None:
                with suppress(Untranslatable):
                    translate(_text(body), data.schema, data.values, **known)

            yield parse


@contextmanager
def recordings() -> Iterator[Parse]:
    """A recorded conversation with a model, replayed to the client."""
    from groundplan.llm.recording import replaying

    async def replay(path: Path) -> None:
        with replaying(path) as player:
            while player.unused:
                first = player.unused[0]
                try:
                    request = httpx2.Request(first.method, f"http://127.0.0.1{first.path}", json=first.request)
                except (ValueError, httpx2.InvalidURL):  # no client asks so
                    return
                await (await player.handle_async_request(request)).aread()

    with _file("recording.json") as (path, write):
        yield lambda body: (write(body), _typed(lambda: asyncio.run(replay(path))))


@contextmanager
def imports() -> Iterator[Parse]:
    """Models of dbt, Cube and Lightdash over four tables; what is made of them must load again."""
    with _boats() as (schema, folder):
        models, beside = folder / "models.yml", folder / "semantic_model.yaml"

        def parse(body: bytes) -> None:
            models.write_bytes(body)
            made = _typed(lambda: import_models(models, schema, beside))
            if isinstance(made, tuple):
                _model(beside, made[0].encode()).applied(schema)

        yield parse


@contextmanager
def model_files() -> Iterator[Parse]:
    """The model file beside the data."""
    with _boats() as (schema, folder):
        yield lambda body: _typed(lambda: _model(folder / "semantic_model.yaml", body).applied(schema))


@contextmanager
def own_tools() -> Iterator[Parse]:
    """A YAML file of a tool of one's own; the Python file beside it is code that was trusted."""
    code = b"def concentration(table, params):\n    return table\n"
    yield lambda body: _typed(lambda: load_own_tools({"concentration.yaml": body, "concentration.py": code}))


@contextmanager
def delta_logs() -> Iterator[Parse]:
    """The log of a Delta table: which files it has, and their columns."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "_delta_log" / f"{0:020}.json"
        for file in (log, *(Path(folder) / name / "part-0.snappy.parquet" for name in (".", "year=2024"))):
            file.parent.mkdir(exist_ok=True)
            file.touch()

        def parse(body: bytes) -> object:
            log.write_bytes(body)
            return _typed(lambda: delta_table(Path(folder)))

        yield parse


@contextmanager
def addresses() -> Iterator[Parse]:
    """Addresses of engines, as far as libpq reads them: nothing is connected."""
    import psycopg
    from psycopg.conninfo import make_conninfo

    def connect(url: str, **_: Any) -> None:
        make_conninfo(url)
        raise psycopg.OperationalError("nobody answers")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg, "connect", connect)
        yield lambda body: _typed(lambda: open_url(_text(body)))


PARSERS: Mapping[str, Callable[[], Any]] = {
    parser.__name__: parser
    for parser in (
        plans, questions, periods, settings, tools, knowledge, graph, csv, excel, model_replies, mcp_tools, mcp_results,
        tracker_bodies, tableau_bodies, sql, recordings, imports, model_files, own_tools, addresses,
        delta_logs,
    )
}  # fmt: skip


def _typed(work: Callable[[], object]) -> object:
    try:
        return work()
    except GroundplanError as error:
        return error


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


@contextmanager
def _file(name: str) -> Iterator[tuple[Path, Callable[[bytes], object]]]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        yield path, path.write_bytes


@contextmanager
def _boats() -> Iterator[tuple[SourceSchema, Path]]:
    with TemporaryDirectory() as folder:
        write_boats(Path(folder) / "data")
        yield asyncio.run(Tables.open(Path(folder) / "data").describe()), Path(folder)


def _model(path: Path, body: bytes) -> Model:
    path.write_bytes(body)
    try:
        return load_model(path)
    finally:
        path.unlink()


def _described(path: Path) -> None:
    source = Tables.open(path)
    try:
        asyncio.run(source.describe())
    finally:
        asyncio.run(source.close())


def _closed(source: Any) -> None:
    asyncio.run(source.close())
