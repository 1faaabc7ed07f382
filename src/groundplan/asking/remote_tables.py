"""Steps that read tables from remote servers, with the filters that the server can apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from groundplan.contracts.contract import Scalar
from groundplan.contracts.meaning import DAY
from groundplan.contracts.plan import Step
from groundplan.contracts.reading import Filter, Requirement
from groundplan.contracts.tool import Keep, Tool


@dataclass(frozen=True)
class Fetching:
    """The tools that read remote tables, by table, and the time zone for dates."""

    tools: Mapping[str, Tool]
    timezone: str = "UTC"

    def step(self, id_: str, table: str, wanted: Iterable[Requirement], serves: Iterable[str]) -> Step:
        """A step that reads the table with every filter that its server can apply; `satisfies` lists those first."""
        tool, params = self.tools[table], dict[str, Any]()
        applied = [need.id for need in wanted if _apply(need, tool, params)]
        if "timezone" in _properties(tool) and self.timezone != "UTC":
            params["timezone"] = self.timezone
        return Step(id=id_, tool=tool.name, params=params, satisfies=tuple(dict.fromkeys([*applied, *serves])))


def _apply(need: Requirement, tool: Tool, params: dict[str, Any]) -> bool:
    """Add the filter to the params if the tool supports it; returns whether it does."""
    for keep in tool.keeps:
        if isinstance(need.value, Filter) and keep.column == need.value.column:
            given = dict(_given(keep, need.value, tool))
            if given and not given.keys() & params.keys():
                params.update(given)
                return True
    return False


def _given(keep: Keep, wanted: Filter, tool: Tool) -> Iterator[tuple[str, Any]]:
    """The params for a filter; empty if the tool does not support it."""
    values = list(wanted.values)
    match keep.operator, wanted.operator:
        case "in", "=" | "in":
            yield keep.params[0], values
        case "=", "=" | "in" if len(values) == 1 and _fits(tool, keep.params[0], values[0]):
            yield keep.params[0], values[0]
        case "contains", "contains" if len(values) == 1:
            yield keep.params[0], values[0]
        case "between", "between" if all(isinstance(value, str) and DAY.fullmatch(value) for value in values):
            yield from zip(keep.params, values, strict=True)
        case _:
            return
    yield from keep.when.items()


def _fits(tool: Tool, param: str, value: Scalar) -> bool:
    allowed = _properties(tool)[param].get("enum")
    return not isinstance(allowed, list | tuple) or value in allowed


def _properties(tool: Tool) -> Mapping[str, Mapping[str, object]]:
    return cast(Mapping[str, Mapping[str, object]], tool.params.get("properties", {}))
