"""The tools of an agent: the JSON schema of its calls, and the check of each call against the tool's own schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match
from pydantic import JsonValue

from groundplan.contracts.contract import Contract, JsonObject, thaw
from groundplan.contracts.tool import Tool
from groundplan.errors import UsageError
from groundplan.llm.schema import LONGEST, Schema, closed, or_null
from groundplan.running.model.tools import SOURCE

MOST_ITEMS = 20  # in a list that a model writes
LONGEST_DESCRIPTION = 200  # characters
PROVEN = frozenset({"x-column", "x-names", "x-new"})  # names that only the gate can check, so agents cannot set them
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


class ToolCall(Contract):
    tool: str
    params: JsonObject


class Done(Contract):
    done: Literal[True]


class Turn(Contract):
    """An agent's next action."""

    next: ToolCall | Done


@dataclass(frozen=True)
class AgentTools:
    """The tools that the plan gives an agent. Constrained decoding prevents calls of any other tool."""

    tools: Mapping[str, Tool]

    @property
    def schema(self) -> Schema:
        """A call or `done`, wrapped in an object because not every server accepts `anyOf` at the top level."""
        calls = [closed({"tool": {"enum": [name]}, "params": said}) for name, said in self._params.items()]
        return closed({"next": {"anyOf": [*calls, closed({"done": {"enum": [True]}})]}})

    def lines(self) -> str:
        """One line per tool: `shop.find_customer(email, country?): Finds a customer.`"""
        return "\n".join(self._line(name) for name in self._params)

    def params(self, call: ToolCall) -> dict[str, JsonValue]:
        """The params for the tool: without nulls, and with defaults."""
        tool = self.tools[call.tool]
        said = {name: value for name, value in _plain(call.params).items() if value is not None}
        inside = _schemas(_plain(tool.params).get("properties"))
        return {name: inner["default"] for name, inner in inside.items() if "default" in inner} | said

    def fault(self, call: ToolCall) -> str:
        """Why the tool's own schema rejects a call; it is stricter than the decoding grammar."""
        if call.tool not in self.tools:
            return f"{call.tool[:80]!r} is none of the tools"
        checker = Draft202012Validator(_plain(self.tools[call.tool].params), format_checker=FormatChecker())
        unfit = best_match(checker.iter_errors(self.params(call)))
        return f"params of {call.tool}: {unfit.json_path}: {unfit.message}" if unfit else ""

    @cached_property
    def _params(self) -> dict[str, Schema]:
        return {name: _offered(name, tool) for name, tool in self.tools.items()}

    def _line(self, name: str) -> str:
        fields = _schemas(self._params[name]["properties"])
        said = ", ".join(f"{field}?" if "anyOf" in inner else field for field, inner in fields.items())
        return f"{name}({said}): {' '.join(self.tools[name].description.split())[:LONGEST_DESCRIPTION]}"


def agent_tools(names: list[str], catalog: Mapping[str, Tool]) -> AgentTools:
    """The named tools; raises for tools that the gate does not allow for agents."""
    tools = {name: catalog[name] for name in names if name in catalog}
    refused = [name for name in names if name not in tools or not _is_fit(tools[name])]
    if refused:
        raise UsageError(f"an agent cannot call {refused[0]!r}; give it tools that only read and need no table")
    return AgentTools(tools)


def _is_fit(tool: Tool) -> bool:
    return tool.effect == "read" and not tool.inputs and tool.source != SOURCE


def _offered(name: str, tool: Tool) -> Schema:
    said = _said(_plain(tool.params))
    if said is None:
        raise UsageError(f"an agent cannot call {name!r}: it needs params that only a checked plan can set")
    return said


def _said(node: Schema) -> Schema | None:
    """The part of a tool's schema that a decoding grammar supports; None if it needs a name that the gate checks."""
    if PROVEN & node.keys():
        return None
    match node:
        case {"enum": list(words)}:
            return {"enum": words}
        case {"const": word}:
            return {"enum": [word]}
        case {"type": list(types)} if len(types) > 1:
            said = [part for one in types if (part := _said({**node, "type": one}))]
            return {"anyOf": [*said]} if said else None
        case {"type": "object" | ["object"]}:
            return _object(node)
        case {"type": "array" | ["array"], "items": dict(items)}:
            return _array(node, items)
        case {"type": "string" | ["string"]}:
            most = node.get("maxLength")
            return {"type": "string", "maxLength": min(most, LONGEST) if isinstance(most, int) else LONGEST}
        case {"type": "integer" | ["integer"]}:
            return {"type": "integer", **{key: node[key] for key in BOUNDS if key in node}}
        case {"type": "number" | "boolean" as kind} | {"type": ["number" | "boolean" as kind]}:
            return {"type": kind}
    return None


def _object(node: Schema) -> Schema | None:
    required = cast(list[str], node.get("required", []))
    fields: Schema = {}
    for name, inner in _schemas(node.get("properties")).items():
        said = _said(inner)
        if said is None and name in required:
            return None
        if said is not None:
            fields[name] = said if name in required else or_null(said)
    return closed(fields)


def _array(node: Schema, items: Schema) -> Schema | None:
    item = _said(items)
    least, most = node.get("minItems"), node.get("maxItems")
    if item is None:
        return None
    bounds: Schema = {"minItems": least} if least else {}
    return {
        "type": "array",
        **bounds,
        "maxItems": min(most, MOST_ITEMS) if isinstance(most, int) else MOST_ITEMS,
        "items": item,
    }


def _schemas(properties: JsonValue) -> dict[str, Schema]:
    found = properties if isinstance(properties, dict) else {}
    return {name: inner for name, inner in found.items() if isinstance(inner, dict)}


def _plain(value: object) -> Schema:
    return cast(Schema, thaw(value))
