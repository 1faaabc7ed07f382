"""A table of a lake: its files, and how DuckDB reads them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundplan.errors import SourceError, UsageError
from groundplan.sources.tables.files.quoting import exact_path, literal, quoted

MOST_FILES = 50_000


@dataclass(frozen=True)
class LakeTable:
    """`options` are those of `read_parquet`. `columns` with their types are what a table format declares.

    A column that a file does not have is empty there: it was added later.
    """

    paths: Sequence[Path]
    options: str = "hive_partitioning = true"
    columns: Mapping[str, str] | None = None

    def query(self, paths: Sequence[Path]) -> str:
        """The rows of these files, which are some or all of the table's."""
        rows = f"FROM read_parquet({literal([exact_path(path) for path in paths])}, {self.options})"
        if self.columns is None:
            return rows
        empty = ", ".join(f"CAST(NULL AS {type_}) AS {quoted(name)}" for name, type_ in self.columns.items())
        both = f"SELECT {empty} WHERE false" + (f" UNION ALL BY NAME {rows}" if paths else "")
        typed = ", ".join(f"CAST({quoted(n)} AS {type_}) AS {quoted(n)}" for n, type_ in self.columns.items())
        return f"SELECT {typed} FROM ({both})"  # noqa: S608 - quoted above


def inside(folder: Path, path: Path, of: str) -> Path:
    """The path if it is a file of this folder and no link leads out of it. Metadata may be written by anybody."""
    lexical = Path(folder.resolve(), path)
    if lexical.resolve() != lexical or not lexical.is_relative_to(folder.resolve()):
        raise SourceError(f"{folder}: {of} names a file outside of the table's folder, or a link; that is not followed")
    if not lexical.is_file():
        raise SourceError(f"{folder}: {of} names a file that is not there: {lexical.name}")
    return lexical


def refuse_features(folder: Path, kind: str, features: Collection[str]) -> None:
    """What a list of files cannot say would be another answer."""
    if features:
        raise UsageError(
            f"{folder}: this {kind} table uses {', '.join(sorted(features))}, which cannot be read here; "
            "ask it through Spark or another engine, or rewrite it without"
        )


def limited(folder: Path, number: int) -> None:
    if number > MOST_FILES:
        raise UsageError(f"{folder}: has more than {MOST_FILES:,} files; ask them through Spark or a warehouse")
