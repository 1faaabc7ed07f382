"""Finds the installed sources by entry point, and the one that opens given data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from importlib.metadata import EntryPoint
from os import PathLike
from pathlib import Path
from typing import Any

from groundplan.entry_points import entry_points
from groundplan.errors import UsageError
from groundplan.sources.interface import Source

TABLES = "tables"  # opens data that no other source claims, and processes rows that servers send
MODEL = "model"  # opened for each run with the project's models, never from settings

Opener = Callable[[], Source]


@cache
def installed() -> Mapping[str, EntryPoint]:
    """The entry points by name; built-in sources are registered like plug-ins."""
    return {point.name: point for point in sorted(entry_points("groundplan.sources"), key=lambda p: p.name)}


def load_type(kind: str) -> Any:
    """The class of a source, a `SourceType`. Imported on demand, because some imports are slow."""
    return installed()[kind].load()


def openers(where: Any, files: Sequence[Any] = ()) -> list[Opener]:
    """The opener of the given data; for settings, one for each `[sources.NAME]` and for a scratch database.

    `files` are database files whose tables are added: `AttachedFile`s of the source `tables`.
    """

    def scratch() -> Source:
        opened: Source = load_type(TABLES).scratch(files)
        return opened

    if _is_settings(where):
        return [*(_server(name, dict(where[name])) for name in sorted(where)), scratch]
    kind = next((kind for kind in installed() if kind != MODEL and _described_by(kind, where)), TABLES)
    if not files:
        return [partial(_open, kind, where, kind)]
    if kind == TABLES:
        return [partial(_with_files, where, files)]
    return [partial(_open, kind, where, kind), scratch]


def tool_files(kinds: Collection[str] | None = None) -> list[Path]:
    """The YAML files that describe the tools of these sources, or of all installed ones; a model has none."""
    wanted = [kind for kind in installed() if kind != MODEL and (kinds is None or kind in kinds)]
    return [file for kind in wanted for file in load_type(kind).tools()]


def _is_settings(where: Any) -> bool:
    return isinstance(where, Mapping) and bool(where) and all(isinstance(given, Mapping) for given in where.values())


def _server(name: str, settings: dict[str, Any]) -> Opener:
    kind = settings.pop("kind", None) or next((kind for kind in (name, *settings) if kind in installed()), None)
    if name == MODEL or kind == MODEL:
        raise UsageError(f"[sources.{name}]: {MODEL!r} is reserved for language models; use another name")
    if not isinstance(kind, str) or kind not in installed():
        raise UsageError(f"[sources.{name}]: there is no such source; installed: {', '.join(installed())}")
    return partial(_open, kind, settings, name)


def _described_by(kind: str, where: Any) -> bool:
    """Whether this is a folder with KIND.yaml, or that file itself."""
    if not isinstance(where, str | PathLike) or "://" in str(where):
        return False
    path, file = Path(where).expanduser(), f"{kind}.yaml"
    return path.name == file or (path / file).is_file()


def _with_files(where: Any, files: Sequence[Any]) -> Source:
    opened: Source = load_type(TABLES).with_files(where, files)
    return opened


def _open(kind: str, where: Any, name: str) -> Source:
    opened: Source = load_type(kind).open(where, name)
    return opened
