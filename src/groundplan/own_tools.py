"""Tools of a project's own: a YAML file that describes them, and beside it a Python file with one function for each.

The Python files run as code of this process. Whoever calls this has been told so and trusts them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from groundplan.catalog.loading import load_file, read_tools
from groundplan.catalog.vocabulary import CAPABILITIES, REQUIREMENTS, load_vocabulary
from groundplan.contracts.tool import Tool
from groundplan.errors import CatalogError, UsageError
from groundplan.text.located_yaml import File

Functions = Mapping[str, Callable[..., Any]]


def load_own_tools(files: Mapping[str, bytes]) -> tuple[tuple[Tool, ...], Functions]:
    """The tools, and the function of each; `files` are the contents of the YAML and Python files by their names."""
    vocabulary = load_vocabulary(load_file(CAPABILITIES), load_file(REQUIREMENTS))
    tools, functions = list[Tool](), dict[str, Callable[..., Any]]()
    for name, content in sorted(files.items()):
        if not name.endswith(".yaml"):
            continue
        described = [*read_tools([File(Path(name), content)], vocabulary)]
        code = name.removesuffix(".yaml") + ".py"
        if code not in files:
            raise UsageError(f"{name}: there is no {code} beside it; put the function of each tool there")
        found = _run(code, files[code])
        for tool in described:
            _refuse_unfit(tool, name)
            if not callable(found.get(tool.name)):
                raise UsageError(f"{code}: has no function {tool.name!r}, which {name} describes")
            functions[tool.name] = found[tool.name]
        tools += described
    return tuple(tools), functions


def _run(name: str, content: bytes) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": f"groundplan_tool_{name.removesuffix('.py')}"}
    try:
        exec(compile(content, name, "exec"), names)  # noqa: S102 - a trusted file: see the module
    except Exception as error:
        raise UsageError(f"{name}: cannot be loaded: {type(error).__name__}: {error}") from error
    return names


def _refuse_unfit(tool: Tool, name: str) -> None:
    """A function gets one table and gives one; it changes nothing outside."""
    if tool.source != "tables" or tool.effect != "read" or tool.output.kind != "table" or len(tool.inputs) != 1:
        raise CatalogError(
            f"{name}: tool {tool.name!r} must have the source tables, the effect read, one input and a table as output"
        )
    if tool.output.columns not in ("input", "kept"):
        raise CatalogError(f"{name}: tool {tool.name!r}: output.columns is input or kept for a tool of your own")
