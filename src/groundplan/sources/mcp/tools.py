"""A tool as an MCP server tells it, and as the catalog takes it."""

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
from groundplan.sources.mcp.params import Unholdable, is_finite, narrowed
from groundplan.sources.mcp.returns import Returns, Unfit
from groundplan.sources.mcp.words import one_line

if TYPE_CHECKING:
    from mcp_types import Tool as Listed

LONGEST_NAME = 128
LONGEST_DESCRIPTION = 1_000
SHORTEST_DESCRIPTION = 10
MOST_TOOLS = 2_000
LARGEST = 64_000  # characters of one definition
COST = 20  # as of other servers


@dataclass(frozen=True)
class Told:
    """What a server says of one tool, in plain JSON: what is pinned, shown and compared."""

    definition: Mapping[str, Any]

    @classmethod
    def of(cls, tool: Listed) -> Told:
        """Only what was said: neither a default of the SDK, nor pictures and notes to other clients."""
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
        return str(self.definition["name"])

    @property
    def title(self) -> str:
        annotations = self.definition.get("annotations", {})
        given = self.definition.get("title") or annotations.get("title") or self.name.replace("_", " ")
        return one_line(str(given), 100) or "result"

    @property
    def reads(self) -> bool:
        """Only where the server says so, and nothing else it says speaks against it."""
        hints = self.definition.get("annotations", {})
        return hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True

    @cached_property
    def _written(self) -> str:
        return json.dumps(self.definition, sort_keys=True, separators=(",", ":"))

    @property
    def size(self) -> int:
        return len(self._written)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self._written.encode()).hexdigest()


@dataclass(frozen=True)
class Offered:
    """A tool that the catalog can hold, beside what the server said of it."""

    told: Told
    tool: Tool
    returns: Returns | None


def offer(told: Told, source: str) -> Offered:
    """Raises Unholdable with the reason why a tool has no place in the catalog."""
    schema = told.definition.get("outputSchema")
    try:
        returns = Returns.of(schema) if schema else None
    except Unfit as error:
        raise Unholdable(str(error)) from None
    tool = Tool(
        name=catalog_name(source, told.name),
        description=_description(told),
        source=source,
        capabilities=("retrieve",) if told.reads else ("act",),
        params=narrowed(told.definition.get("inputSchema", {})),
        output=Output(kind="facts"),
        returns=returns.first if returns else {},
        effect="read" if told.reads else "write",
        repeatable=told.definition.get("annotations", {}).get("idempotentHint") is True,
        cost=COST,
    )
    return Offered(told, tool, returns)


def catalog_name(source: str, name: str) -> str:
    """`shop.find_customer`. A name that had to be changed ends in a hash of the true one, so that it stays unique."""
    plain = re.sub(r"[^A-Za-z0-9_.:/-]+", "_", name)
    room = LONGEST_NAME - len(source) - 1
    if plain == name and 0 < len(name) <= room:
        return f"{source}.{name}"
    return f"{source}.{plain[: room - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def known(listed: Sequence[Told]) -> tuple[dict[str, Told], list[str]]:
    """Tools by name, and why others are none. Of two with one name nobody can say which a call would reach."""
    counts = Counter(told.name for told in listed)
    twice = [name for name, count in counts.items() if count > 1]
    notes = [f"{one_line(name, 100)!r} is listed more than once" for name in twice]
    if len(listed) > MOST_TOOLS:
        notes.append(f"only the first {MOST_TOOLS:,} tools are taken")
    found: dict[str, Told] = {}
    for told in listed[:MOST_TOOLS]:
        if not is_finite(told.definition) or told.size > LARGEST or not told.name.strip():
            notes.append(f"{one_line(told.name, 100)!r} has a definition that cannot be kept")
        elif counts[told.name] == 1:
            found[told.name] = told
    return found, notes


def _description(told: Told) -> str:
    text = one_line(str(told.definition.get("description", "")), LONGEST_DESCRIPTION)
    if len(text) < SHORTEST_DESCRIPTION:
        text = f"{told.title}: {text or 'a tool without a description'}"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
