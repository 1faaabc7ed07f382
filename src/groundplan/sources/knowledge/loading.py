"""Builds a graph from files of nodes and edges; every fault names its file and line."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, NamedTuple

from pydantic import Field

from groundplan.budget import Budget
from groundplan.contracts.contract import Contract, Name, Scalar
from groundplan.contracts.knowledge import KnowledgeSchema, Language
from groundplan.errors import SourceError
from groundplan.sources.knowledge.documents import Document
from groundplan.sources.knowledge.graph import Graph, Node
from groundplan.sources.knowledge.markdown import is_markdown, load_markdown
from groundplan.sources.knowledge.parsed_file import ParsedFile, load_text, read_json, read_yaml

HEADER = ("subject", "relation", "object")
MOST_BYTES = 256_000_000  # of triples, unpacked
LONGEST_LINE = 10_000
DELIMITERS = {".tsv": "\t", ".csv": ","}
Triple = tuple[Name, Name, Name]


class NodeEntry(Contract):
    id: Name
    type: Name
    name: Annotated[str, Field(min_length=1, max_length=500)]
    aliases: dict[Language, tuple[Name, ...]] = {}
    text: str = ""
    attributes: dict[Name, Scalar] = {}


class GraphFile(Contract):
    """The contents of a YAML or JSON graph file."""

    nodes: tuple[NodeEntry, ...] = ()
    edges: tuple[Triple, ...] = ()


class Edge(NamedTuple):
    origin: str
    relation: str
    target: str
    where: str  # file and line, for error messages


@dataclass
class GraphBuilder:
    """Collects nodes first and adds edges at the end, so that the order of files does not matter."""

    schema: KnowledgeSchema
    graph: Graph = field(default_factory=Graph)
    documents: list[Document] = field(default_factory=list)
    _edges: list[Edge] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._types = {kind.name for kind in self.schema.types}
        self._ends = {relation.name: (relation.origin, relation.target) for relation in self.schema.relations}

    def add_file(self, path: Path) -> None:
        """The suffix of the name decides the format."""
        name = path.name.lower().removesuffix(".gz")
        if is_markdown(path):
            self._add_markdown(path)
        elif name.endswith((".yaml", ".yml")):
            self.add_parsed(read_yaml(path, load_text(path)))
        elif name.endswith(".json"):
            self.add_parsed(read_json(path, load_text(path)))
        elif Path(name).suffix in DELIMITERS:
            self._edges.extend(_triples(path, DELIMITERS[Path(name).suffix]))
        else:
            raise SourceError(f"{path}:1: is not a graph file; give YAML, JSON, Markdown, CSV or TSV (also as .gz)")

    def add_parsed(self, parsed: ParsedFile) -> None:
        file = parsed.read(GraphFile, parsed.value)
        for place, entry in enumerate(file.nodes):
            self._add_node(entry, parsed.where(("nodes", place)))
        for place, edge in enumerate(file.edges):
            self._edges.append(Edge(*edge, parsed.where(("edges", place))))

    def finish(self) -> Graph:
        """Add the edges between known nodes; an unknown name becomes a node of the type that the relation expects."""
        for origin, relation, target, where in self._edges:
            if relation not in self._ends:
                known = ", ".join(sorted(self._ends)) or "none"
                raise SourceError(f"{where}: there is no relation {relation!r}; knowledge.yaml has: {known}")
            starts, leads = self._ends[relation]
            self.graph.add_edge(self._end(origin, starts, where), relation, self._end(target, leads, where))
        self._edges.clear()
        return self.graph

    def _add_markdown(self, path: Path) -> None:
        """A page is a node, and a document that can be searched."""
        page = load_markdown(path)
        entry = page.head.read(NodeEntry, {"text": page.body, **page.head.value})
        self._add_node(entry, page.head.where(("id",)))
        if page.body:
            self.documents.append(Document(entry.id, entry.type, entry.name, page.body))

    def _add_node(self, entry: NodeEntry, where: str) -> None:
        if entry.type not in self._types:
            raise SourceError(f"{where}: {entry.id!r} has the unknown type {entry.type!r}; add it to the types")
        if entry.id in self.graph.nodes:
            raise SourceError(f"{where}: the node {entry.id!r} already exists; give one of them another id")
        aliases = tuple(dict.fromkeys(alias for listed in entry.aliases.values() for alias in listed))
        node = Node(entry.id, entry.type, entry.name, aliases, entry.text, entry.attributes)
        self.graph.add_node(node)

    def _end(self, name: str, type_: str, where: str) -> str:
        known = self.graph.nodes.get(name)
        if known is not None and known.type == type_:
            return name
        if known is not None or self._reads_as_id(name):
            raise SourceError(f"{where}: {name!r} is not a node of type {type_!r}; add the node or correct the edge")
        id_ = f"{type_}:{name}"
        if id_ not in self.graph.nodes:
            self.graph.add_node(Node(id_, type_, name))
        return id_

    def _reads_as_id(self, name: str) -> bool:
        """`film:alien` reads as an id, so it must exist; `Alien: Covenant` is a name."""
        type_, _, rest = name.partition(":")
        return type_ in self._types and bool(rest) and not rest[0].isspace()


def _triples(path: Path, delimiter: str) -> Iterator[Edge]:
    """Lines of subject, relation and object; a header with these words is skipped."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    line = 0
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            for line, row in enumerate(_rows(_counted(file, path), delimiter), 1):
                if row and (line > 1 or tuple(row) != HEADER):
                    yield _edge(row, f"{path}:{line}")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{path}:{line + 1}: cannot be read ({error}); give UTF-8 text, plain or gzipped") from error


def _counted(file: IO[str], path: Path) -> Iterator[str]:
    """The lines, as long as there are not too many bytes: a gzipped file of a few kilobytes may have gigabytes."""
    budget = Budget(f"{path}: it", "split it", bytes=MOST_BYTES)
    while line := file.readline(LONGEST_LINE):
        budget.take("bytes", len(line))
        yield line


def _rows(file: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """In CSV a value may be quoted; in TSV a quote is an ordinary character."""
    if delimiter == ",":
        return csv.reader(file)
    return csv.reader(file, delimiter=delimiter, quoting=csv.QUOTE_NONE)


def _edge(row: list[str], where: str) -> Edge:
    if len(row) != 3 or not all(row) or max(map(len, row)) > 128:
        raise SourceError(f"{where}: write subject, relation and object, of at most 128 letters each")
    return Edge(row[0], row[1], row[2], where)
