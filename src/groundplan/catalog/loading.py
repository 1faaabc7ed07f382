"""Loads tools from YAML files; every fault names its file and line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import JsonValue, TypeAdapter, ValidationError

from groundplan.catalog.faults import faults, suggest
from groundplan.catalog.params import params_faults
from groundplan.catalog.vocabulary import Vocabulary
from groundplan.contracts.tool import Keep, Label, Output, OwnAnalysis, Phrase, Port, Tool
from groundplan.errors import CatalogError
from groundplan.text.located_yaml import File, Located, Place, entries

KEYS = (
    *Tool.model_fields,
    *Port.model_fields,
    *Output.model_fields,
    *Keep.model_fields,
    *OwnAnalysis.model_fields,
    *Phrase.model_fields,
)


def load_file(path: Path) -> File:
    try:
        return File(path, path.read_bytes())
    except OSError as error:
        raise CatalogError(f"{path}:1: cannot be read ({error.strerror}); give a file that exists") from error


def read_tools(files: Iterable[File], vocabulary: Vocabulary) -> Iterator[Tool]:
    """Yield the tools; after the last, raise CatalogError with the problems of all files."""
    problems: list[str] = []
    seen: dict[str, str] = {}
    for file in files:
        for entry, source in _listed(file, problems):
            found = list(_faults(entry, vocabulary, seen))
            tool = _validated(entry, source, found)
            problems.extend(entry.fault(what, at) for at, what in found)
            if tool and not found:
                yield tool
    if problems:
        raise CatalogError("\n".join(problems))


def _listed(file: File, problems: list[str]) -> Iterator[tuple[Located, str]]:
    """The entries under `tools`, with the source named above them."""
    source: str | None = None
    empty = True
    for entry in entries(file, problems):
        match entry.place:
            case ("source",):
                source = _source(entry, problems)
            case ("tools", int()):
                if empty and source is None:
                    problems.append(entry.fault("no source is named above 'tools'; put 'source' there"))
                empty = False
                yield entry, source or "unnamed"
            case (key, *_):
                hint = suggest(str(key), ("source", "tools"), "remove it")
                problems.append(entry.fault(f"the file has an unknown key {key!r}; {hint}"))
    if empty:
        problems.append(f"{file.path}:1: the file lists no tools; add a list 'tools'")


def _source(entry: Located, problems: list[str]) -> str:
    try:
        return TypeAdapter(Label).validate_python(entry.value)
    except ValidationError:
        problems.append(entry.fault(f"{entry.value!r} is not a source name; use lower-case letters, digits and _"))
        return "unnamed"


def _validated(entry: Located, source: str, found: list[tuple[Place, str]]) -> Tool | None:
    if not isinstance(entry.value, dict):
        return None
    try:
        return Tool.model_validate({**entry.value, "source": source})
    except ValidationError as error:
        found.extend(faults(error, _subject(entry), KEYS))
        return None


def _faults(entry: Located, vocabulary: Vocabulary, seen: dict[str, str]) -> Iterator[tuple[Place, str]]:
    """Faults that the contract of a tool does not check."""
    tool, subject = entry.value, _subject(entry)
    if not isinstance(tool, dict):
        yield (), f"{subject} is not a mapping; write keys with values"
        return
    if "source" in tool:
        yield ("source",), f"{subject} names a source; name it only at the top of the file"
    yield from _repeated(entry, tool.get("name"), seen)
    yield from _unknown_capabilities(tool.get("capabilities"), subject, vocabulary)
    params = tool.get("params")
    if isinstance(params, dict):
        ports = frozenset(str(port.get("name")) for port in _items(tool.get("inputs")) if isinstance(port, dict))
        yield from ((("params", *at), what) for at, what in params_faults(params, subject, ports))
        yield from _unknown_params(tool.get("output"), params.get("properties"), subject)
        yield from _unknown_keeps(tool.get("keeps"), params.get("properties"), subject)


def _repeated(entry: Located, name: JsonValue, seen: dict[str, str]) -> Iterator[tuple[Place, str]]:
    if not isinstance(name, str):
        return
    if name in seen:
        yield ("name",), f"tool {name!r} is already defined at {seen[name]}; rename one of them"
    seen.setdefault(name, entry.where(("name",)))


def _unknown_capabilities(listed: JsonValue, subject: str, vocabulary: Vocabulary) -> Iterator[tuple[Place, str]]:
    for index, name in enumerate(_items(listed)):
        if isinstance(name, str) and name not in vocabulary.names:
            hint = suggest(name, vocabulary.names, "describe it in capabilities.yaml first")
            yield ("capabilities", index), f"{subject} has the unknown capability {name!r}; {hint}"


def _unknown_params(output: JsonValue, known: JsonValue, subject: str) -> Iterator[tuple[Place, str]]:
    properties = known if isinstance(known, dict) else {}
    for key in ("key", "retypes"):
        for name in _items(output.get(key)) if isinstance(output, dict) else ():
            if name not in properties:
                hint = suggest(str(name), properties, "name a param of the tool")
                yield (
                    ("output", key),
                    f"{subject}: output.{key} names the param {name!r}, which does not exist; {hint}",
                )


def _unknown_keeps(keeps: JsonValue, known: JsonValue, subject: str) -> Iterator[tuple[Place, str]]:
    properties = known if isinstance(known, dict) else {}
    for index, keep in enumerate(_items(keeps)):
        named = [*_items(keep.get("params")), *_items(keep.get("when"))] if isinstance(keep, dict) else []
        for name in (name for name in named if name not in properties):
            hint = suggest(str(name), properties, "name a param of the tool")
            yield ("keeps", index), f"{subject}: keeps names the param {name!r}, which does not exist; {hint}"


def _items(value: JsonValue) -> list[JsonValue]:
    return list(value) if isinstance(value, list | dict) else []


def _subject(entry: Located) -> str:
    name = entry.value.get("name") if isinstance(entry.value, dict) else None
    return f"tool {name!r}" if name else f"tool number {int(entry.place[-1]) + 1}"
