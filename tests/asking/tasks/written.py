"""Graphs as a large model would write them, by hand."""

from __future__ import annotations

import json
from typing import Any

from groundplan.asking.tasks.graph_parts import GraphOffer
from groundplan.asking.tasks.whole_graph import graph_schema


def step(part: str, tool: str, for_each: str | None = None, **params: Any) -> dict[str, Any]:
    return {"part": part, "tool": tool, "for_each": for_each, "params": params}


def whole(steps: dict[str, dict[str, Any]], offer: GraphOffer) -> str:
    """The reply with null for everything that is left out, as its schema requires."""
    schema: Any = graph_schema(offer)
    places = schema["properties"]["steps"]["properties"]
    return json.dumps({"steps": {place: _filled(steps.get(place), calls["anyOf"]) for place, calls in places.items()}})


def _filled(written: dict[str, Any] | None, calls: list[Any]) -> dict[str, Any] | None:
    if written is None:
        return None
    fields = [one["properties"] for one in calls if one != {"type": "null"}]
    known = next(one["params"]["properties"] for one in fields if one["tool"]["enum"] == [written["tool"]])
    return {**written, "params": {**dict.fromkeys(known), **written["params"]}}
