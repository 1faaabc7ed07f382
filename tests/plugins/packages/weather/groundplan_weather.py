"""A source as a third party would write it: readings of weather stations, kept as JSON lines in a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from groundplan.contracts.facts import StepFacts, TableColumn, TableRef
from groundplan.contracts.schema import Column, SourceSchema, Table
from groundplan.errors import SourceError, UsageError
from groundplan.sources.interface import Call, Result

COLUMNS = {"station": pa.string(), "day": pa.date32(), "rainfall": pa.float64()}
KINDS: dict[str, Any] = {"station": "text", "day": "time", "rainfall": "number"}
ROLES: dict[str, Any] = {"station": "dimension", "day": "temporal", "rainfall": "measure"}


class Weather:
    """Set up with `[sources.weather] file = "…"`. Its rows are worked on in the scratch database."""

    def __init__(self, file: Path, name: str) -> None:
        self.name, self._file = name, file

    @classmethod
    def open(cls, where: dict[str, Any], name: str = "weather") -> Self:
        file = Path(str(where.get("file", "")))
        if not file.is_file():
            raise UsageError(f"[sources.{name}]: there is no file {file}; name the file with the readings")
        return cls(file, name)

    @staticmethod
    def tools() -> Sequence[Path]:
        return [Path(__file__).with_name("groundplan_weather.yaml")]

    async def describe(self) -> SourceSchema:
        columns = tuple(Column(name=name, type=KINDS[name], kind=KINDS[name], role=ROLES[name]) for name in COLUMNS)
        return SourceSchema(source=self.name, engine="json", tables=(Table(name="readings", columns=columns),))

    async def call(self, call: Call) -> Result:
        wanted = set(_listed(call.params.get("stations")))
        try:
            read = [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]
            rows = [{**row, "day": date.fromisoformat(row["day"])} for row in read]
        except (OSError, ValueError, KeyError) as error:
            raise SourceError(f"{self._file}: cannot be read ({error}); write one JSON object a line") from error
        kept = [row for row in rows if not wanted or row["station"] in wanted]
        table = pa.Table.from_pylist(kept[: call.limits.rows], pa.schema(COLUMNS))
        columns = tuple(TableColumn(name=name, kind=KINDS[name]) for name in COLUMNS)
        ref = TableRef(source=self.name, engine="json", query=f"{call.run}/{call.step}", columns=columns)
        return Result(StepFacts(step=call.step, found=bool(kept), rows=len(kept), table=ref), table)

    async def close(self) -> None: ...


def _listed(given: object) -> list[str]:
    return [str(one) for one in given] if isinstance(given, list | tuple) else []
