"""The source on its double, called as the runner would call it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from tests.sources.tableau.double.tableau import NAME
from tests.sources.tableau.double.tableau import Tableau as Double

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.plan import Limits
from groundplan.contracts.step_outcome import StepOutcome
from groundplan.contracts.tool import Tool
from groundplan.running.step import execute
from groundplan.sources.interface import Call, Result
from groundplan.sources.tableau.source import Handle, Tableau

T = TypeVar("T")
SALES = {"column": "Sales", "function": "sum", "as": "sales"}
BY_REGION = {"group_by": ["Region"], "metrics": [SALES]}


def opened(double: Double, folder: Path, **settings: Any) -> Tableau:
    return Tableau.open(configured(double, folder, **settings))


def configured(double: Double, folder: Path, **settings: Any) -> dict[str, Any]:
    secret = folder / "secret"
    secret.write_text(f"{double.token_secret}\n")
    signing = {"token_name": double.token_name, "token_secret_file": str(secret)}
    return {"url": double.url, "site": double.site, "datasource": double.luid, **signing, **settings}


@cache
def tool() -> Tool:
    return Catalog.load([*Tableau.tools()]).tools["tableau_query"]


def ready(params: Any, seconds: float = 20, limits: Limits | None = None, name: str = "") -> Call:
    inputs = {"table": Handle(name or NAME)}
    return Call("a_run", "a_step", tool(), params, inputs, limits or Limits(), seconds)


def ask(source: Tableau, params: Any, **options: Any) -> Result:
    """One call, and then the source is closed."""
    return during(source, lambda: source.call(ready(params, **options)))


def rows(result: Result) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table(result).columns), strict=True))


def table(result: Result) -> pa.Table:
    assert isinstance(result.handle, pa.Table)
    return result.handle


def run(source: Tableau, params: Any, seconds: float) -> StepOutcome:
    """One step through the runner's own door."""

    async def step() -> StepOutcome:
        outcome, _ = await execute(source, ready(params, seconds), seconds, lambda _: None)
        return outcome

    return during(source, step)


def during(source: Tableau, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async def through() -> T:
        try:
            return await work()
        finally:
            await source.close()

    return asyncio.run(through())
