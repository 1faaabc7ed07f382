"""Loads `knowledge.yaml`: the types, relations and intents of a knowledge base, and its files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from groundplan.contracts.contract import Contract, Text
from groundplan.contracts.knowledge import KnowledgeSchema, LookupIntent, LookupLimits, NodeType, Relation
from groundplan.errors import SourceError, UsageError
from groundplan.sources.knowledge.parsed_file import ParsedFile, load_text, read_yaml
from groundplan.text.located_yaml import Place

FILE = "knowledge.yaml"
INLINE = ("nodes", "edges")
Named = TypeVar("Named", NodeType, Relation, LookupIntent)


class DescriptionFile(Contract):
    """The keys of knowledge.yaml; the entries of types, relations and intents have their own contracts."""

    title: Text = ""
    types: dict[str, dict[str, JsonValue] | None]
    relations: dict[str, dict[str, JsonValue] | None] = {}
    intents: dict[str, dict[str, JsonValue] | None] = {}
    graph: tuple[str, ...] = ()  # glob patterns for files of nodes and edges, relative to this file
    documents: tuple[str, ...] = ()
    limits: LookupLimits = LookupLimits()
    nodes: JsonValue = None  # a small knowledge base fits into this one file
    edges: JsonValue = None


@dataclass(frozen=True)
class Description:
    path: Path
    schema: KnowledgeSchema
    inline: ParsedFile  # the nodes and edges in the description itself
    graph: tuple[Path, ...]
    documents: tuple[Path, ...]


def load_description(where: Path, source: str = "knowledge") -> Description:
    """Load a folder with knowledge.yaml, or that file under any name."""
    path = where / FILE if where.is_dir() else where
    if not path.exists():
        raise UsageError(f"{path}: there is no such file; a knowledge base is described by {FILE}")
    parsed = read_yaml(path, load_text(path))
    file = parsed.read(DescriptionFile, parsed.value)
    return Description(
        path=path.resolve(),
        schema=_schema(parsed, file, source),
        inline=replace(parsed, value={key: parsed.value[key] for key in INLINE if key in parsed.value}),
        graph=tuple(_files(parsed, file.graph, "graph")),
        documents=tuple(_files(parsed, file.documents, "documents")),
    )


def _schema(parsed: ParsedFile, file: DescriptionFile, source: str) -> KnowledgeSchema:
    """Relations are checked against the types, intents against both, one at a time so that a fault has its line."""
    types = _named(parsed, file.types, NodeType, "types")
    bare = KnowledgeSchema(source=source, title=file.title, types=types, limits=file.limits)
    relations = _named(parsed, file.relations, Relation, "relations")
    for relation in relations:
        _with(parsed, bare, ("relations", relation.name), relations=(relation,))
    related = _with(parsed, bare, ("relations",), relations=relations)
    intents = _named(parsed, file.intents, LookupIntent, "intents")
    for intent in intents:
        _with(parsed, related, ("intents", intent.name), intents=(intent,))
    return _with(parsed, related, ("intents",), intents=intents)


def _named(
    parsed: ParsedFile, entries: dict[str, dict[str, JsonValue] | None], contract: type[Named], section: str
) -> tuple[Named, ...]:
    return tuple(
        parsed.read(contract, {**(entry or {}), "name": name}, (section, name)) for name, entry in entries.items()
    )


def _with(
    parsed: ParsedFile,
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
            limits=schema.limits,
        )
    except ValidationError as error:
        what = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise SourceError(parsed.fault(f"{what}; correct it", at)) from error


def _files(parsed: ParsedFile, patterns: tuple[str, ...], section: str) -> Iterator[Path]:
    """The files in the order they are listed; each must be in the folder of knowledge.yaml."""
    folder = parsed.path.parent.resolve()
    for place, pattern in enumerate(patterns):
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise SourceError(parsed.fault(f"{pattern!r} is outside the folder; name files in it", (section, place)))
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        if not found:
            raise SourceError(parsed.fault(f"{pattern!r} matches no file; correct or remove it", (section, place)))
        for path in found:
            if not path.resolve().is_relative_to(folder):
                raise SourceError(
                    parsed.fault(f"{path.name!r} links to a file outside the folder; copy it in", (section, place))
                )
            yield path
