"""The base plans, one per intent: which tools, in which order."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from groundplan.contracts.contract import Contract
from groundplan.contracts.tool import Label, ToolName

FOLDER = Path(__file__).with_name("templates")


class Template(Contract):
    intent: Label
    description: str
    steps: tuple[ToolName, ...]  # a step that the reading gives nothing to do is left out


@cache
def load_templates() -> dict[str, Template]:
    found = [Template.model_validate(yaml.safe_load(file.read_text())) for file in sorted(FOLDER.glob("*.yaml"))]
    return {template.intent: template for template in found}
