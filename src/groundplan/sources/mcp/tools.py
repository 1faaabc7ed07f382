"""Tool definitions of an MCP server, and their entries in the catalog."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from groundplan.contracts.tool import Output, Tool
from groundplan.sources.mcp.params import UnsupportedSchema, is_finite, narrowed
from groundplan.sources.mcp.plain_text import one_line
from groundplan.sources.mcp.returns import InvalidResult, Returns

if TYPE_CHECKING:
    from mcp_types import Tool as Listed

LONGEST_NAME = 128
LONGEST_DESCRIPTION = 1_000
SHORTEST_DESCRIPTION = 10
MOST_TOOLS = 2_000
LARGEST = 64_000  # characters of one definition
COST = 20  # the same as for other servers


@dataclass(frozen=True)
class ToolDefinition:
    """The definition of one tool as the server sends it, in plain JSON; it is pinned, shown and compared."""

    raw: Mapping[str, Any]

    @classmethod
    def of(cls, tool: Listed) -> ToolDefinition:
        """Keeps only what the server sent and we use: no SDK defaults, icons or metadata."""
        hints = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else None
        definition = {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": hints,
        }
        return cls({key: value for key, value in definition.items() if value is not None})

    @property
    def name(self) -> str:
        return str(self.raw["name"])

    @property
    def title(self) -> str:
        annotations = self.raw.get("annotations", {})
        given = self.raw.get("title") or annotations.get("title") or self.name.replace("_", " ")
        return one_line(str(given), 100) or "result"

    @property
    def reads(self) -> bool:
        """Whether the tool only reads: the server says so, and does not also call it destructive."""
        hints = self.raw.get("annotations", {})
        return hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True

    @cached_property
    def _written(self) -> str:
        return json.dumps(self.raw, sort_keys=True, separators=(",", ":"))

    @property
    def size(self) -> int:
        return len(self._written)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self._written.encode()).hexdigest()


@dataclass(frozen=True)
class CatalogEntry:
    """A tool of the catalog, with the server's definition of it."""

    definition: ToolDefinition
    tool: Tool
    returns: Returns | None


def catalog_entry(definition: ToolDefinition, source: str) -> CatalogEntry:
    """The catalog entry of a tool; raises UnsupportedSchema if its schema is not supported."""
    schema = definition.raw.get("outputSchema")
    try:
        returns = Returns.of(schema) if schema else None
    except InvalidResult as error:
        raise UnsupportedSchema(str(error)) from None
    tool = Tool(
        name=catalog_name(source, definition.name),
        description=_description(definition),
        source=source,
        capabilities=("retrieve",) if definition.reads else ("act",),
        params=narrowed(definition.raw.get("inputSchema", {})),
        output=Output(kind="facts"),
        returns=returns.first if returns else {},
        effect="read" if definition.reads else "write",
        repeatable=definition.raw.get("annotations", {}).get("idempotentHint") is True,
        cost=COST,
    )
    return CatalogEntry(definition, tool, returns)


def catalog_name(source: str, name: str) -> str:
    """`shop.find_customer`. A name that must be changed gets a hash of the original, so that it stays unique."""
    plain = re.sub(r"[^A-Za-z0-9_.:/-]+", "_", name)
    room = LONGEST_NAME - len(source) - 1
    if plain == name and 0 < len(name) <= room:
        return f"{source}.{name}"
    return f"{source}.{plain[: room - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def usable(listed: Sequence[ToolDefinition]) -> tuple[dict[str, ToolDefinition], list[str]]:
    """The usable tools by name, and notes on the others. Two tools with one name are unusable: a call is ambiguous."""
    counts = Counter(definition.name for definition in listed)
    twice = [name for name, count in counts.items() if count > 1]
    notes = [f"{one_line(name, 100)!r} is listed more than once" for name in twice]
    if len(listed) > MOST_TOOLS:
        notes.append(f"only the first {MOST_TOOLS:,} tools are used")
    found: dict[str, ToolDefinition] = {}
    for definition in listed[:MOST_TOOLS]:
        if not is_finite(definition.raw) or definition.size > LARGEST or not definition.name.strip():
            notes.append(f"{one_line(definition.name, 100)!r} has an invalid definition")
        elif counts[definition.name] == 1:
            found[definition.name] = definition
    return found, notes


def _description(definition: ToolDefinition) -> str:
    text = one_line(str(definition.raw.get("description", "")), LONGEST_DESCRIPTION)
    if len(text) < SHORTEST_DESCRIPTION:
        text = f"{definition.title}: {text or 'a tool without a description'}"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
