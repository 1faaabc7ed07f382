"""A knowledge base as a source: its schema, its names, and its tools."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

from groundplan.blocking import Workers
from groundplan.contracts.facts import StepFacts
from groundplan.contracts.knowledge import KnowledgeSchema
from groundplan.contracts.schema import SourceSchema
from groundplan.errors import UsageError
from groundplan.settings import cache_folder
from groundplan.sources.interface import Call, Result
from groundplan.sources.knowledge.description import load_description
from groundplan.sources.knowledge.documents import Document, load_document
from groundplan.sources.knowledge.graph import Graph
from groundplan.sources.knowledge.loading import GraphBuilder
from groundplan.sources.knowledge.search import Search, open_search
from groundplan.sources.knowledge.tools import document_search, graph_neighbors, graph_query

VECTORS = "knowledge-vectors"  # the folder of embeddings, in the cache
THREADS = 4
Row = tuple[str, str, str, tuple[str, ...]]


class Knowledge:
    """Opened with `Knowledge.open`; the graph is in memory and read-only."""

    def __init__(self, schema: KnowledgeSchema, graph: Graph, documents: Sequence[Document], base: str) -> None:
        self.name = schema.source
        self.schema, self.graph = schema, graph
        self._documents, self._base = documents, base
        self._search: Search | None = None
        self._guard = threading.Lock()
        self._workers = Workers(self.name, THREADS)

    @classmethod
    def open(cls, where: str | Path, name: str = "knowledge") -> Self:
        """Open a folder with knowledge.yaml, or that file itself."""
        description = load_description(Path(where).expanduser(), name)
        builder = GraphBuilder(description.schema)
        builder.add_parsed(description.inline)
        for path in description.graph:
            builder.add_file(path)
        documents = [load_document(path, description.path.parent) for path in description.documents]
        graph = builder.finish()
        return cls(description.schema, graph, [*builder.documents, *documents], str(description.path))

    @staticmethod
    def tools() -> Sequence[Path]:
        return [Path(__file__).with_name("tools.yaml")]

    async def describe(self) -> SourceSchema:
        return SourceSchema(source=self.name, engine="graph", tables=(), knowledge=self.schema)

    def entities(self) -> Iterator[Row]:
        """Id, type, name and aliases of every node. Readers find names with them; planners never see them."""
        return ((node.id, node.type, node.name, node.aliases) for node in self.graph.nodes.values())

    async def call(self, call: Call) -> Result:
        return Result(await self._workers.run(partial(self._call, call)))

    async def close(self) -> None:
        await self._workers.close()
        self._search = None

    def _call(self, call: Call) -> StepFacts:
        params = _with_defaults(call)
        match call.tool.name:
            case "graph_query":
                return graph_query(call.step, params, self.graph, self.schema)
            case "graph_neighbors":
                return graph_neighbors(call.step, params, self.graph)
            case "document_search":
                return document_search(call.step, params, self._open_search(), time.monotonic() + call.seconds)
            case name:
                raise UsageError(f"a knowledge base has no tool {name!r}; see `groundplan catalog list`")

    def _open_search(self) -> Search:
        """Opened on the first search: questions that the graph answers do not need it."""
        with self._guard:
            if self._search is None:
                self._search = open_search(self._documents, cache_folder() / VECTORS, self._base)
            return self._search


def _with_defaults(call: Call) -> Mapping[str, Any]:
    properties: Any = call.tool.params.get("properties", {})
    return {name: spec["default"] for name, spec in properties.items() if "default" in spec} | dict(call.params)
