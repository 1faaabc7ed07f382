"""The example read by the plainest route there is, so that what its questions expect is checked without the product."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from groundplan.contracts.knowledge import KnowledgeSchema

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "examples" / "portfolio"


def cases(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
    return found


def marked(text: str, *values: object, notyet: dict[str, str]) -> Any:
    """A case by its text; one that is not yet right fails as expected, and must leave the list once it passes."""
    marks = [pytest.mark.xfail(reason=notyet[text], strict=True)] if text in notyet else []
    return pytest.param(text, *values, id=text, marks=marks)


def description() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "knowledge.yaml").read_text(encoding="utf-8"))
    return found


def nodes() -> list[dict[str, Any]]:
    """Of the YAML files, then of the Markdown ones."""
    return [node for file in _yaml() for node in file.get("nodes", [])] + [_front(file) for file in _markdown()]


def edges() -> list[tuple[str, str, str]]:
    return [tuple(edge) for file in _yaml() for edge in file.get("edges", [])]


def rows() -> list[tuple[str, str, str, list[str]]]:
    """Ids, types, names and aliases, as a registry wants them."""
    return [(node["id"], node["type"], node["name"], aliases(node)) for node in nodes()]


def aliases(node: dict[str, Any]) -> list[str]:
    return [alias for listed in node.get("aliases", {}).values() for alias in listed]


def schema() -> KnowledgeSchema:
    told = description()
    named = {
        key: tuple({"name": name, **value} for name, value in told[key].items())
        for key in ("types", "relations", "intents")
    }
    return KnowledgeSchema.model_validate({"source": "portfolio", "title": told["title"], **named})


def walk(entity: str, path: list[str]) -> list[str]:
    """Each node that the path leads to, once, in the order of the edges."""
    places = [entity]
    for hop in path:
        steps = _steps(hop)
        places = list(dict.fromkeys(end for place in places for start, end in steps if start == place))
    return places


def _steps(hop: str) -> list[tuple[str, str]]:
    along = [(start, end) for start, name, end in edges() if name == hop.removeprefix("^")]
    return [(end, start) for start, end in along] if hop.startswith("^") else along


def _yaml() -> list[dict[str, Any]]:
    files = [file for file in sorted(FOLDER.glob("*.yaml")) if file.name != "knowledge.yaml"]
    return [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]


def _markdown() -> list[Path]:
    return sorted((FOLDER / "nodes").glob("*.md"))


def _front(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8").split("---\n")[1])
    return found
