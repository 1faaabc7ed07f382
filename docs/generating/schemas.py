"""The JSON schemas of what crosses groundplan's border, for editors, planners and other languages."""

from __future__ import annotations

import json
from collections.abc import Mapping

from groundplan.contracts.contract import Contract
from groundplan.contracts.facts import Facts
from groundplan.contracts.plan import Plan, Proposal
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Refused

PUBLISHED: tuple[type[Contract], ...] = (Reading, Plan, Proposal, Tool, Facts, SourceSchema, Refused)


def pages() -> Mapping[str, str]:
    return {path(model): _text(model) for model in PUBLISHED}


def path(model: type[Contract]) -> str:
    return f"reference/schemas/{model.__name__}.json"


def _text(model: type[Contract]) -> str:
    return json.dumps(model.model_json_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
