"""Names and values as DuckDB's SQL writes them.

A value passed as a parameter would do the same, but makes DuckDB import pandas: a tenth of a first question's time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

GLOB_SIGNS = re.compile(r"[*?\[]")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    match value:
        case str():
            return "'" + value.replace("'", "''") + "'"
        case int():
            return str(value)
        case Mapping():
            return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
        case Sequence():
            return "[" + ", ".join(map(literal, value)) + "]"
    raise TypeError(f"{type(value).__name__} has no literal here")


def arguments(path: Path, options: Mapping[str, object]) -> str:
    """The arguments of a function that reads exactly this file.

    DuckDB expands patterns in paths, and takes column values from folders such as `region=West`; both are prevented.
    """
    given = {"hive_partitioning": False, **options}
    return ", ".join([literal(exact_path(path)), *(f"{key} = {literal(value)}" for key, value in given.items())])


def exact_path(path: Path) -> str:
    """The path of this file alone, as a pattern that matches no other."""
    place = path.resolve().as_posix()
    exact = GLOB_SIGNS.sub(lambda sign: f"[{sign[0]}]", place)
    if exact != place and "\\" in place:  # in a pattern, DuckDB takes a backslash for a slash
        raise ValueError("a path with a backslash and one of *?[ cannot be read exactly; rename it")
    return exact
