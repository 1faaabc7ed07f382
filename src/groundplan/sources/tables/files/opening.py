"""Opens the right engine for the given data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from groundplan.errors import UsageError
from groundplan.sources.tables.engine.credentials import without_password
from groundplan.sources.tables.engine.engines import (
    AttachedFile,
    Engine,
    open_backend,
    open_duckdb,
    open_loaded,
    open_together,
    open_url,
)
from groundplan.sources.tables.files.lake import find_lake, open_lake
from groundplan.sources.tables.files.load import DATABASES, load_files, load_frames

MOST_BESIDE = 1_000  # names of a folder that are compared with a wrong one
SQLITE = b"SQLite format 3\0"  # the first bytes of its files


def open_with_files(where: str | Path, added: Sequence[AttachedFile]) -> Engine | None:
    """The tables of this file, folder or DuckDB file together with those of the files; None for other databases."""
    scheme, _, rest = str(where).rpartition("://")
    if scheme not in ("", "duckdb", "file"):
        return None
    path = _existing(Path(rest).expanduser())
    if _is_sqlite(path):
        return None
    if lake := find_lake(path):
        return open_lake(path, lake, added)
    own = path.suffix.lower() in DATABASES
    return open_together([AttachedFile(path if own else load_files(path), loaded=not own), *added])


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
    if _is_sqlite(path):
        return open_url(f"sqlite://{path}")
    if lake := find_lake(path):
        return open_lake(path, lake)
    return open_duckdb(path) if path.suffix.lower() in DATABASES else open_loaded(load_files(path))


def _is_sqlite(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


def _existing(path: Path) -> Path:
    if path.exists():
        return path
    beside = [one.name for one in islice(path.parent.iterdir(), MOST_BESIDE)] if path.parent.is_dir() else []
    near = get_close_matches(path.name, beside, n=1)
    hint = f"; did you mean {str(path.with_name(near[0]))!r}?" if near else ""
    raise UsageError(f"{without_password(str(path))}: there is no such file or folder{hint}")


def _open_frames(frames: Mapping[str, object]) -> Engine:
    others = [name for name, frame in frames.items() if not _is_frame(frame)]
    if others or not frames:
        raise UsageError("give at least one frame by name: pandas, polars or pyarrow tables")
    path, folder = load_frames(frames)
    return open_loaded(path, folder)


def _is_frame(value: object) -> bool:
    """pandas, polars and pyarrow all implement the Arrow interface; so do Ibis expressions, which are excluded."""
    return hasattr(value, "__arrow_c_stream__") and not hasattr(value, "compile")
