"""A source whose tools do what their params say: wait, fail, give so many rows. Every call is written to a log."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.answer import ShownTable
from groundplan.contracts.facts import StepFacts, TableRef
from groundplan.contracts.plan import CheckedPlan, Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Passed
from groundplan.errors import ToolError, TransientError
from groundplan.sources.interface import Call, Result


def _tool(name: str, ports: Sequence[str]) -> Tool:
    number = {"type": "number"}
    params = {
        "ms": number,
        "rows": number,
        "broken": {"type": "boolean"},
        "flaky": number,
        "retry_after": number,
    }
    return Tool.model_validate(
        {
            "name": name,
            "description": "Does what its params say.",
            "source": "scripted",
            "capabilities": ["retrieve"],
            "inputs": [{"name": port} for port in ports],
            "params": {"type": "object", "additionalProperties": False, "properties": params},
            "output": {"kind": "table"},
            "effect": "read",
        }
    )


CATALOG = Catalog.of([_tool("begin", ()), _tool("pass_on", ("table",)), _tool("unite", ("left", "right"))])
READING = Reading.model_validate(
    {
        "question": "do it",
        "requirements": [{"id": "goal:g1", "value": {"kind": "goal", "text": "do it"}, "evidence": {"text": "do it"}}],
    }
)


def step(id_: str, *needs: str, **params: float | bool) -> dict[str, object]:
    tool = "begin" if not needs else "pass_on"
    return {"id": id_, "tool": tool, "needs": needs, "params": params, "satisfies": ["goal:g1"]}


def checked(*steps: dict[str, object], **plan: object) -> CheckedPlan:
    verdict = check(Plan.model_validate({"strategy": "hand", "steps": steps, **plan}), READING, CATALOG, SCHEMAS)
    assert isinstance(verdict, Passed), verdict
    return verdict.plan


SCHEMAS = {"scripted": SourceSchema(source="scripted", engine="none", tables=())}


class Scripted:
    """Handles are plain strings that name the steps they came through."""

    name = "scripted"

    def __init__(self, log: Path | None = None) -> None:
        self.log = log
        self.calls: Counter[str] = Counter()
        self.restored: list[str] = []

    @staticmethod
    def tools() -> Sequence[Path]:
        return ()

    async def describe(self) -> SourceSchema:
        return SCHEMAS["scripted"]

    async def call(self, call: Call) -> Result:
        self.calls[call.step] += 1
        self._write(f"begin {call.step}")
        await asyncio.sleep(float(str(call.params.get("ms", 0))) / 1000)
        if call.params.get("broken"):
            raise ToolError(f"{call.step} broke")
        if self.calls[call.step] <= float(str(call.params.get("flaky", 0))):
            error = TransientError(f"{call.step} is busy")
            error.retry_after = float(str(call.params["retry_after"])) if "retry_after" in call.params else None
            raise error
        handle = f"{call.step}({','.join(str(i) for i in call.inputs.values())})"
        self._write(f"end {call.step} {handle}")
        rows = int(float(str(call.params.get("rows", 1))))
        facts = StepFacts(
            step=call.step,
            found=rows > 0,
            rows=rows,
            table=TableRef(source="scripted", engine="none", query=handle, columns=()),
        )
        return Result(facts, handle)

    def table(self, name: str) -> object:
        return name

    def restore(self, ref: TableRef, run: str) -> object:
        self.restored.append(ref.query)
        return ref.query

    async def values(self, question: str) -> dict[str, dict[str, tuple[str, ...]]]:
        return {}

    async def fetch(self, ref: TableRef, run: str, rows: int, seconds: float) -> ShownTable:
        return ShownTable(columns=(), rows=(), row_count=0)

    async def close(self) -> None: ...

    def _write(self, line: str) -> None:
        if self.log is None:
            return
        descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
        os.close(descriptor)
