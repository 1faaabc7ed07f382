"""The tools of every built-in source, from the YAML that the catalog itself reads, and those of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from groundplan.contracts.contract import thaw
from groundplan.contracts.tool import Output, Tool
from groundplan.running.model.tools import SOURCE, TOOLS

from .markdown import code, document, table

PREFACE = Path(__file__).with_name("tools_preface.md")


def page(root: Path) -> str:
    files = sorted((root / "src" / "groundplan" / "sources").glob("*/tools.yaml"))
    preface = PREFACE.read_text(encoding="utf-8").rstrip()
    sources = [*map(_load, files), (SOURCE, TOOLS)]
    return document([preface, *(line for name, tools in sources for line in _source(name, tools))])


def _load(file: Path) -> tuple[str, Sequence[Tool]]:
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    return data["source"], [Tool(source=data["source"], **item) for item in data["tools"]]


def _source(name: str, tools: Sequence[Tool]) -> Iterator[str]:
    yield ""
    yield f"## Source `{name}`"
    yield ""
    yield f"{len(tools)} tools: " + ", ".join(f"[`{tool.name}`](#{tool.name.replace('.', '')})" for tool in tools) + "."
    for tool in tools:
        yield from _tool(tool)


def _tool(tool: Tool) -> Iterator[str]:
    yield ""
    yield f"### {tool.name}"
    yield ""
    yield tool.description
    yield ""
    yield f"- capabilities: {', '.join(code(name) for name in tool.capabilities)}"
    yield f"- inputs: {', '.join(f'`{port.name}` ({port.kind})' for port in tool.inputs) or 'none'}"
    yield f"- output: {_output(tool.output)}"
    yield f"- effect: {tool.effect}; cost: {tool.cost}"
    yield ""
    yield from table(("param", "type", "default", "notes"), _params(tool.params))


def _output(output: Output) -> str:
    columns = f", columns `{output.columns}`" if output.kind == "table" else ""
    adds = f", adds {', '.join(code(name) for name in output.adds)}" if output.adds else ""
    key = f", one row per {' and '.join(code(name) for name in output.key)}" if output.key else ""
    return f"{output.kind}{columns}{adds}{key}"


def _params(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str, str]]:
    """A row for each param, those inside a list of objects as `metrics[].function`."""
    for name, inner in schema.get("properties", {}).items():
        default = "required" if name in schema.get("required", ()) else _default(inner)
        yield code(prefix + name), _type(inner), default, _notes(inner)
        yield from _params(inner, f"{prefix}{name}.")
        yield from _params(inner.get("items", {}), f"{prefix}{name}[].")


def _default(schema: Mapping[str, Any]) -> str:
    if "default" not in schema:
        return ""
    return code(yaml.safe_dump(thaw(schema["default"]), default_flow_style=True).splitlines()[0])


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(code(str(word)) for word in schema["enum"])
    if "items" in schema:
        return f"list of {_type(schema['items'])}{_span(schema, 'minItems', 'maxItems')}"
    if "x-column" in schema:
        return "column" if schema["x-column"] == "any" else f"column of kind {schema['x-column']}"
    if "x-new" in schema:
        return "name of a new column"
    kind = schema["type"]
    return (" or ".join(kind) if isinstance(kind, list | tuple) else str(kind)) + _span(schema, "minimum", "maximum")


def _span(schema: Mapping[str, Any], least: str, greatest: str) -> str:
    match schema.get(least), schema.get(greatest):
        case None, None:
            return ""
        case None, high:
            return f", at most {high}"
        case low, None:
            return f", at least {low}"
        case low, high:
            return f", {low} to {high}" if low != high else f", exactly {low}"
    raise AssertionError("a pair always matches")


def _notes(schema: Mapping[str, Any]) -> str:
    inner = schema.get("items", {})
    marks = {**inner, **schema}
    words = [f"{key}: {str(marks[key]).lower()}" for key in sorted(marks) if key.startswith("x-")]
    pattern = [f"pattern: {schema['pattern']}"] if "pattern" in schema else []
    notes = [code(word) for word in (*words, *pattern)]
    return " ".join([schema.get("description", ""), ", ".join(notes)]).strip()
