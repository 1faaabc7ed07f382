"""What reading and planning are handed about a file: its schema and its values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from groundplan.contracts.schema import SourceSchema
from groundplan.project import AsyncProject

SALES = Path(__file__).parents[3] / "examples/sales.csv"
Known = tuple[SourceSchema, Mapping[str, Mapping[str, tuple[str, ...]]]]


async def describe(file: Path) -> Known:
    project = await AsyncProject.open(file)
    source, schema = next(iter(project.sources.values())), next(iter(project.schemas.values()))
    values = await source.values("")
    await project.close()
    return schema, values
