"""Opens the right engine for the given data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from groundplan.errors import UsageError
from groundplan.sources.tables.engine.credentials import without_password
from groundplan.sources.tables.engine.engines import (
    AttachedFile,
    Engine,
    open_backend,
    open_duckdb,
    open_together,
    open_url,
)
from groundplan.sources.tables.files.load import DATABASES, load_files, load_frames


def open_with_files(where: str | Path, added: Sequence[AttachedFile]) -> Engine | None:
    """The tables of this file, folder or DuckDB file together with those of the files; None for a server."""
    scheme, _, rest = str(where).rpartition("://")
    if scheme not in ("", "duckdb", "file"):
        return None
    path = _existing(Path(rest).expanduser())
    return open_together([AttachedFile(path if path.suffix.lower() in DATABASES else load_files(path)), *added])


def open_engine(where: object) -> Engine:
    """Files and frames are loaded into DuckDB first; databases are used directly."""
    match where:
        case str() if "://" in where:
            return _open_url(where)
        case str() | Path():
            return _open_path(Path(where).expanduser())
        case Mapping():
            return _open_frames({str(name): frame for name, frame in where.items()})
        case _ if _is_frame(where):
            return _open_frames({"data": where})
        case _:
            return open_backend(where)


def _open_url(url: str) -> Engine:
    scheme, _, rest = url.partition("://")
    return _open_path(Path(rest)) if scheme in ("duckdb", "file") else open_url(url)


def _open_path(path: Path) -> Engine:
    path = _existing(path)
    return open_duckdb(path if path.suffix.lower() in DATABASES else load_files(path))


def _existing(path: Path) -> Path:
    if not path.exists():
        raise UsageError(f"{without_password(str(path))}: there is no such file or folder")
    return path


def _open_frames(frames: Mapping[str, object]) -> Engine:
    others = [name for name, frame in frames.items() if not _is_frame(frame)]
    if others or not frames:
        raise UsageError("give at least one frame by name: pandas, polars or pyarrow tables")
    path, folder = load_frames(frames)
    return open_duckdb(path, folder)


def _is_frame(value: object) -> bool:
    """pandas, polars and pyarrow all implement the Arrow interface; so do Ibis expressions, which are excluded."""
    return hasattr(value, "__arrow_c_stream__") and not hasattr(value, "compile")
