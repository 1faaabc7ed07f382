"""The compiled catalog: an SQLite file whose opening time does not depend on the number of tools."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import weakref
from collections.abc import Iterable
from pathlib import Path
from threading import Lock

from groundplan.catalog.vocabulary import Vocabulary
from groundplan.contracts.tool import Tool
from groundplan.errors import CatalogError

FORMAT = 1  # raise it when the layout changes
# `fact` keeps row ids: without them, reading a short fact would also read the long ones stored next to it
LAYOUT = """
create table tool (name text primary key, definition text not null);
create table capability (name text, tool text, primary key (name, tool)) without rowid;
create table fact (key text primary key, value text not null);
"""


class Store:
    """Reads a compiled catalog. Threads may share it; a lock serialises their queries."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = Lock()
        weakref.finalize(self, connection.close)

    def fact(self, key: str) -> str:
        """A fact about the whole catalog: `names`, `count`, `version` or `vocabulary`."""
        return str(self._rows("select value from fact where key = ?", key)[0][0])

    def find_definition(self, name: str) -> str | None:
        rows = self._rows("select definition from tool where name = ?", name)
        return str(rows[0][0]) if rows else None

    def has(self, name: str) -> bool:
        return bool(self._rows("select 1 from tool where name = ?", name))

    def tools_with(self, capability: str) -> tuple[str, ...]:
        rows = self._rows("select tool from capability where name = ? order by tool", capability)
        return tuple(str(row[0]) for row in rows)

    def save(self, path: Path) -> None:
        """Written atomically, even if another process writes the same file."""
        part = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
        try:
            with self._lock:
                self._connection.execute("vacuum into ?", (str(part),))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def _rows(self, query: str, value: str) -> list[tuple[object, ...]]:
        with self._lock:
            return self._connection.execute(query, (value,)).fetchall()


def compile_tools(tools: Iterable[Tool], vocabulary: Vocabulary) -> Store:
    """Compile into a store in memory; aliases of capabilities are resolved."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.executescript(LAYOUT)
    listed = tuple(tools)
    vocabulary = vocabulary.with_analyses(listed)
    for tool in listed:
        _insert(connection, _canonical(tool, vocabulary.names))
    names = [str(name) for (name,) in connection.execute("select name from tool order by name")]
    facts = {
        "names": "\n".join(names),
        "count": str(len(names)),
        "vocabulary": vocabulary.model_dump_json(),
        "version": _version(connection, vocabulary),
    }
    connection.executemany("insert into fact values (?, ?)", facts.items())
    connection.commit()
    return Store(connection)


def find_store(path: Path) -> Store | None:
    """The saved store; None if it is missing or damaged and must be compiled again."""
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        store = Store(connection)
        store.fact("version")
    except (sqlite3.DatabaseError, IndexError):
        return None
    return store


def _insert(connection: sqlite3.Connection, tool: Tool) -> None:
    try:
        connection.execute("insert into tool values (?, ?)", (tool.name, tool.model_dump_json()))
    except sqlite3.IntegrityError as error:
        raise CatalogError(f"tool {tool.name!r} is defined twice; rename one of them") from error
    rows = [(name, tool.name) for name in tool.capabilities]
    connection.executemany("insert or ignore into capability values (?, ?)", rows)


def _canonical(tool: Tool, names: dict[str, str]) -> Tool:
    own = (tool.analysis.capability,) if tool.analysis else ()
    meant = tuple(dict.fromkeys(names.get(name, name) for name in (*tool.capabilities, *own)))
    return tool if meant == tool.capabilities else tool.model_copy(update={"capabilities": meant})


def _version(connection: sqlite3.Connection, vocabulary: Vocabulary) -> str:
    digest = hashlib.sha256(vocabulary.model_dump_json().encode())
    for (definition,) in connection.execute("select definition from tool order by name"):
        digest.update(f"\n{definition}".encode())
    return digest.hexdigest()[:16]
