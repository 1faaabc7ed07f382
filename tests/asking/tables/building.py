"""A model that answers as scripted, asked for the query of one question."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.asking.tables.direct import plan as direct
from groundplan.asking.tables.direct.plan_with_model import Offered, Unbuilt, build
from groundplan.asking.tables.route import read_plain
from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.contract import thaw
from groundplan.contracts.plan import Plan
from groundplan.contracts.reading import Reading
from groundplan.contracts.verdict import Passed, Refused
from groundplan.llm.calls import Calls
from groundplan.llm.cascade import Cascade
from groundplan.llm.client import Model
from tests.asking.tables.described import Known
from tests.llm.scripted import PROBED, Behaviour, Scripted, says, scripted

BY_MONTH = "average revenue per month by channel in the West"
RANKED = "top 3 regions by revenue in 2025"
MONTH, CHANNEL = {"field": "date", "function": "TRUNC_MONTH"}, {"field": "channel", "function": "GROUP"}
MEAN, WEST = {"field": "revenue", "function": "AVG"}, {"field": "region", "words": "West"}
TOTAL = {"field": "revenue", "function": "SUM"}
MONTHLY = {"fields": [MONTH, CHANNEL, MEAN], "filters": [WEST]}


class Session:
    """A model that answers as scripted, asked for one reading's query again and again."""

    def __init__(self, question: str, known: Known, catalog: Catalog) -> None:
        reading = read_plain(question, *known, today=date(2026, 1, 15)).answer
        assert isinstance(reading, Reading), reading.text
        self.reading, self.schema, self.catalog = reading, known[0], catalog
        self.by_rules = direct.propose(reading, known[0], "query_table")

    def check(self, plan: Plan) -> Passed | Refused:
        return check(plan, self.reading, self.catalog, {"tables": self.schema})

    def build(self, *script: Behaviour, probed: str = PROBED, **told: Any) -> tuple[Plan | Unbuilt, Scripted]:
        """What comes of it, and what the server saw."""
        built, server = self.build_each(script, [told], probed=probed)
        return built[0], server

    def build_each(
        self, script: Sequence[Behaviour], times: Sequence[dict[str, Any]], probed: str = PROBED
    ) -> tuple[list[Plan | Unbuilt], Scripted]:
        """As often as `times` has arguments for it, each with a deadline of its own."""

        async def run() -> tuple[list[Plan | Unbuilt], Scripted]:
            async with scripted(says(probed), *script) as server, Model.open(server.endpoint()) as model:
                return [await self.built(model, **told) for told in times], server

        return asyncio.run(run())

    async def built(self, model: Model, seconds: float = 20, **told: Any) -> Plan | Unbuilt:
        calls = Calls(Cascade((model,)), seconds)
        return await build(calls, self.reading, self.schema, "query_table", **{"tools": Offered(), **told})

    def plan(self, said: object, **told: Any) -> Plan:
        plan, _ = self.build(answers(said), **told)
        assert isinstance(plan, Plan), plan.problem
        return plan


def answers(said: object) -> Behaviour:
    return says(json.dumps(said, ensure_ascii=False))


def prompts_of(server: Scripted) -> list[str]:
    """Without the probe's."""
    return [str(request["messages"][0]["content"]) for request in server.requests[1:]]


def schema_of(server: Scripted, place: int = -1) -> Any:
    return server.requests[place]["response_format"]["json_schema"]["schema"]


def query_of(plan: Plan) -> Any:
    return next(thaw(step.params["query"]) for step in plan.steps if step.id == "query")
