"""The searchable text of tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.search_words import words
from groundplan.contracts.tool import Tool
from groundplan.text.names import name_words

NAME_WEIGHT = 2  # a word of the name counts as much as two in the description
TEXT_LIMIT = 600  # characters: descriptions begin with the purpose, and embedding more takes longer


@dataclass(frozen=True)
class Document:
    id: str  # returned by a search; for a tool of the catalog, its name
    name: str
    description: str
    labels: tuple[str, ...] = ()  # capabilities, and the kind of output
    params: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """For lexical search."""
        rest = " ".join((self.description, *self.labels, *self.params))
        return words(self.name) * NAME_WEIGHT + words(rest)

    @property
    def text(self) -> str:
        """For an embedding model; without params, because their common words blur the meaning."""
        return f"{' '.join(name_words(self.name))}: {self.description}"[:TEXT_LIMIT]


def documents(catalog: Catalog) -> list[Document]:
    """One document for each tool, sorted by name."""
    return [_document(tool) for tool in catalog.tools.values()]


def _document(tool: Tool) -> Document:
    labels = (*tool.capabilities, tool.output.kind)
    return Document(tool.name, tool.name, tool.description, labels, tuple(_param_names(tool.params)))


def _param_names(schema: object) -> Iterator[str]:
    """The names of properties at every depth of a JSON schema."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key == "properties" and isinstance(value, Mapping):
                yield from value
            yield from _param_names(value)
    elif isinstance(schema, Sequence) and not isinstance(schema, str):
        for value in schema:
            yield from _param_names(value)
