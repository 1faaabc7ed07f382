"""Graphs as a model writes them, by hand."""

from __future__ import annotations

import json
from typing import Any


def node(id_: str, tool: str, words: str, each: str = "", **params: Any) -> dict[str, Any]:
    listed = [{"name": name, "value": value} for name, value in params.items()]
    return {"id": id_, "tool": tool, "words": words, "each": each, "params": listed}


def llm(id_: str, words: str, *facts: str, choices: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"id": id_, "kind": "llm", "words": words, "facts": facts, "choices": choices}


def router(id_: str, words: str) -> dict[str, Any]:
    return {"id": id_, "kind": "router", "words": words}


def edge(source: str, target: str, condition: str = "") -> dict[str, str]:
    return {"source": source, "target": target, "condition": condition}


def graph(nodes: list[dict[str, Any]], edges: tuple[dict[str, str], ...] = (), **more: Any) -> dict[str, Any]:
    return {"nodes": nodes, "edges": [*edges], **more}


def written(nodes: list[dict[str, Any]], *edges: dict[str, str], **more: Any) -> str:
    """The reply of a model."""
    return json.dumps(graph(nodes, edges, **more), ensure_ascii=False)
