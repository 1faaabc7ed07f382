"""The files of the suite `workflow`: tools with their params and results, and tasks with their expected calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from benchmarks.suites import tools
from pydantic import BaseModel, Field, JsonValue

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.tool import Output, Tool
from groundplan.evaluation.suites.rows import load_rows

HOLDS = "tools.jsonl and requests.jsonl"
DISTRACTORS = Path("tool_narrowing/tools.jsonl")
LONGEST = 1_900  # characters of a description
TYPES = {
    "str": "string",
    "string": "string",
    "int": "integer",
    "integer": "integer",
    "float": "number",
    "number": "number",
    "bool": "boolean",
    "boolean": "boolean",
    "list": "array",
    "array": "array",
    "dict": "object",
    "object": "object",
}


class Value(BaseModel):
    """A param or a result of a tool; its type is free text."""

    type: str | None = None
    description: str | None = None
    required: bool | None = None


class ListedTool(BaseModel):
    tool: str
    catalog: str
    description: str | None = None
    inputs: dict[str, Value]
    outputs: dict[str, Value] = {}

    @property
    def name(self) -> str:
        return safe_name(self.tool)


class Node(BaseModel):
    id: str
    tool: str
    arguments: dict[str, JsonValue]

    @property
    def name(self) -> str:
        return safe_name(self.tool)


class Edge(BaseModel):
    source: str
    target: str


class Request(BaseModel):
    id: str
    source: str
    request: Annotated[str, Field(min_length=1, max_length=2_000)]
    nodes: Annotated[tuple[Node, ...], Field(min_length=1)]
    edges: tuple[Edge, ...] = ()
    tools_missing: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """The part of the suite: the first word of its origin."""
        return self.source.partition("-")[0]


def load_tools(folder: Path) -> list[ListedTool]:
    return load_rows(folder / "tools.jsonl", ListedTool, HOLDS)


def load_requests(folder: Path) -> list[Request]:
    """The requests whose tools are all listed."""
    return [row for row in load_rows(folder / "requests.jsonl", Request, HOLDS) if not row.tools_missing]


def load_distractors(folder: Path) -> list[ListedTool]:
    """The tools of the suite `tools`, if its folder is next to this one."""
    file = folder.resolve().parent / DISTRACTORS
    return [_distractor(one) for one in load_rows(file, tools.ListedTool, tools.HOLDS)] if file.exists() else []


def _distractor(one: tools.ListedTool) -> ListedTool:
    inputs = dict.fromkeys(one.params, Value())
    return ListedTool(tool=one.name, catalog=one.catalog, description=one.description, inputs=inputs)


def safe_name(name: str) -> str:
    """The name with only the characters allowed in a tool name."""
    return re.sub(r"[^A-Za-z0-9_.:/-]", "_", name).lstrip("_.:/-")[:128] or "unnamed"


def catalog_of(listed: Iterable[ListedTool]) -> Catalog:
    """A catalog with the first tool of each name. All tools count as reading: effects are unknown and nothing runs."""
    found: dict[str, ListedTool] = {}
    for one in listed:
        found.setdefault(one.name, one)
    return Catalog.of(_tool(one) for one in found.values())


def _tool(listed: ListedTool) -> Tool:
    said = (listed.description or "").strip()
    return Tool(
        name=listed.name,
        description=said[:LONGEST] if len(said) >= 10 else f"The tool {listed.tool[:99]}. {said}",
        source="listed",
        capabilities=("retrieve",),
        params={
            "type": "object",
            "properties": {name: _schema(value) for name, value in listed.inputs.items()},
            "required": [name for name, value in listed.inputs.items() if value.required],
            "additionalProperties": False,
        },
        output=Output(kind="facts"),
        returns={"type": "object", "properties": {name: _schema(value) for name, value in listed.outputs.items()}},
        effect="read",
    )


def _schema(value: Value) -> JsonValue:
    """A JSON schema; empty for an unknown type."""
    known = {"type": TYPES.get((value.type or "").lower()), "description": value.description}
    return {key: told for key, told in known.items() if told}


def homes_of(listed: Sequence[ListedTool]) -> dict[str, str]:
    """The catalog of each tool by its name."""
    return {one.name: one.catalog for one in reversed(listed)}
