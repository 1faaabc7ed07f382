"""Small catalogs and readings, written short, and a search over them."""

from __future__ import annotations

from collections.abc import Sequence

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.documents import documents
from groundplan.catalog.search.index import build_index
from groundplan.catalog.search.search import Search
from groundplan.contracts.reading import AnalysisAsked, Evidence, Goal, Reading, Requirement
from groundplan.contracts.tool import Output, Tool


def tool(name: str, description: str = "Does something or other.", capability: str = "act", *params: str) -> Tool:
    properties = {param: {"type": "string"} for param in params}
    return Tool(
        name=name,
        description=description,
        source="tests",
        capabilities=(capability,),
        params={"type": "object", "properties": properties},
        output=Output(kind="facts"),
    )


def searching(catalog: Catalog) -> Search:
    return Search(build_index(documents(catalog)))


def reading(question: str, *requirements: Requirement) -> Reading:
    return Reading(question=question, requirements=requirements)


def goal(text: str) -> Requirement:
    return Requirement(id=f"goal:{text.split()[0]}", value=Goal(text=text), evidence=Evidence(text=text))


def anomaly(words: str) -> Requirement:
    return Requirement(id="analysis:anomaly", value=AnalysisAsked(label="anomaly"), evidence=Evidence(text=words))


def names(count: int, stem: str = "tool") -> Sequence[str]:
    return [f"{stem}_{number:02}" for number in range(count)]
