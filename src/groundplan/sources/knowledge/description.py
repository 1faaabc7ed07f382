"""`knowledge.yaml`: what a knowledge base speaks of, and the files that hold it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from groundplan.contracts.contract import Contract, Text
from groundplan.contracts.knowledge import KnowledgeSchema, LookupIntent, NodeType, Relation
from groundplan.errors import SourceError, UsageError
from groundplan.sources.knowledge.written import Written, load_text, read_yaml
from groundplan.text.located_yaml import Place

FILE = "knowledge.yaml"
INSIDE = ("nodes", "edges")
Named = TypeVar("Named", NodeType, Relation, LookupIntent)


class DescriptionFile(Contract):
    """The keys of knowledge.yaml; the entries of types, relations and intents are contracts of their own."""

    title: Text = ""
    types: dict[str, dict[str, JsonValue] | None]
    relations: dict[str, dict[str, JsonValue] | None] = {}
    intents: dict[str, dict[str, JsonValue] | None] = {}
    graph: tuple[str, ...] = ()  # files of nodes and edges, relative to this one; `*` stands for any name
    documents: tuple[str, ...] = ()
    nodes: JsonValue = None  # a small base fits into this one file
    edges: JsonValue = None


@dataclass(frozen=True)
class Description:
    path: Path
    schema: KnowledgeSchema
    inside: Written  # the nodes and edges that stand in the description itself
    graph: tuple[Path, ...]
    documents: tuple[Path, ...]


def load_description(where: Path, source: str = "knowledge") -> Description:
    """A folder with knowledge.yaml, or that file under any name."""
    path = where / FILE if where.is_dir() else where
    if not path.exists():
        raise UsageError(f"{path}: there is no such file; a knowledge base is described by {FILE}")
    written = read_yaml(path, load_text(path))
    file = written.read(DescriptionFile, written.value)
    return Description(
        path=path.resolve(),
        schema=_schema(written, file, source),
        inside=replace(written, value={key: written.value[key] for key in INSIDE if key in written.value}),
        graph=tuple(_files(written, file.graph, "graph")),
        documents=tuple(_files(written, file.documents, "documents")),
    )


def _schema(written: Written, file: DescriptionFile, source: str) -> KnowledgeSchema:
    """Relations are held against the types, intents against both, one by one: so that a fault has its line."""
    bare = KnowledgeSchema(source=source, title=file.title, types=_named(written, file.types, NodeType, "types"))
    relations = _named(written, file.relations, Relation, "relations")
    for relation in relations:
        _with(written, bare, ("relations", relation.name), relations=(relation,))
    related = _with(written, bare, ("relations",), relations=relations)
    intents = _named(written, file.intents, LookupIntent, "intents")
    for intent in intents:
        _with(written, related, ("intents", intent.name), intents=(intent,))
    return _with(written, related, ("intents",), intents=intents)


def _named(
    written: Written, entries: dict[str, dict[str, JsonValue] | None], contract: type[Named], section: str
) -> tuple[Named, ...]:
    return tuple(
        written.read(contract, {**(entry or {}), "name": name}, (section, name)) for name, entry in entries.items()
    )


def _with(
    written: Written,
    schema: KnowledgeSchema,
    at: Place,
    relations: tuple[Relation, ...] | None = None,
    intents: tuple[LookupIntent, ...] = (),
) -> KnowledgeSchema:
    try:
        return KnowledgeSchema(
            source=schema.source,
            title=schema.title,
            types=schema.types,
            relations=schema.relations if relations is None else relations,
            intents=intents,
        )
    except ValidationError as error:
        what = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise SourceError(written.fault(f"{what}; correct it", at)) from error


def _files(written: Written, patterns: tuple[str, ...], section: str) -> Iterator[Path]:
    """In the order they are listed; each lies in the folder of knowledge.yaml."""
    folder = written.path.parent.resolve()
    for place, pattern in enumerate(patterns):
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise SourceError(written.fault(f"{pattern!r} leaves the folder; name files below it", (section, place)))
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        if not found:
            raise SourceError(written.fault(f"{pattern!r} names no file; correct or remove it", (section, place)))
        for path in found:
            if not path.resolve().is_relative_to(folder):
                raise SourceError(
                    written.fault(f"{path.name!r} points out of the folder; copy it in", (section, place))
                )
            yield path
