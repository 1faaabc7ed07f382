"""The catalog: its tools, their capabilities, and which capabilities serve which requirement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from rapidfuzz import fuzz, process

from groundplan.catalog.cache import load_store
from groundplan.catalog.loading import load_file
from groundplan.catalog.store import Store, compile_tools
from groundplan.catalog.vocabulary import CAPABILITIES, REQUIREMENTS, Vocabulary, load_vocabulary
from groundplan.contracts.tool import Tool

CACHED_TOOLS = 4096
NEAR = 65  # out of 100: suggestions below that are noise


class Tools(Mapping[str, Tool]):
    """All tools by name, sorted; a tool is loaded only when it is looked up."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read = lru_cache(maxsize=CACHED_TOOLS)(self._read_one)

    def __getitem__(self, name: str) -> Tool:
        return self._read(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.isascii() and self._store.has(name)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def nearest(self, name: str) -> str | None:
        near = process.extractOne(name[:128].lower(), self._folded, scorer=fuzz.ratio, score_cutoff=NEAR)
        return self._names[near[2]] if near else None

    @cached_property
    def _names(self) -> list[str]:
        return self._store.fact("names").split()

    @cached_property
    def _folded(self) -> list[str]:
        text = self._store.fact("names")
        return self._names if text.islower() else text.lower().split()

    @cached_property
    def _count(self) -> int:
        return int(self._store.fact("count"))

    def _read_one(self, name: str) -> Tool:
        definition = self._store.find_definition(name) if name.isascii() else None
        if definition is None:
            raise KeyError(name)
        return Tool.model_validate_json(definition)


class Catalog:
    """Read-only and safe to share between threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tools = Tools(store)
        self.vocabulary = Vocabulary.model_validate_json(store.fact("vocabulary"))
        self.version = store.fact("version")  # changes with any tool, capability or map

    @classmethod
    def load(cls, files: Sequence[Path], cache: Path | None = None) -> Catalog:
        """Load YAML tool files; raises CatalogError with every problem in them."""
        return cls(load_store(files, cache))

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Catalog:
        """A catalog of tools without a file, such as those of an MCP server."""
        vocabulary = load_vocabulary(load_file(CAPABILITIES), load_file(REQUIREMENTS))
        return cls(compile_tools(tools, vocabulary))

    @property
    def tools(self) -> Mapping[str, Tool]:
        return self._tools

    def serving(self, label: str) -> frozenset[str]:
        """The capabilities that serve a requirement with this label; empty for an unknown label."""
        return self.vocabulary.serving.get(label, frozenset())

    def asked_by(self, capability: str) -> frozenset[str]:
        """The labels that allow this capability: the question must ask for one. Empty if any question may use it."""
        return self.vocabulary.asked_by.get(self.capability(capability) or capability, frozenset())

    def capability(self, name: str) -> str | None:
        """The capability with this name or alias."""
        return self.vocabulary.names.get(name)

    def tools_with(self, capability: str) -> tuple[str, ...]:
        """The names of the tools, sorted."""
        return self._store.tools_with(self.capability(capability) or capability)

    @cached_property
    def analyses(self) -> Mapping[str, Tool]:
        """The tools that bring an analysis of their own, by its label; of two, the first by name."""
        found: dict[str, Tool] = {}
        for name in (name for capability in self._own_capabilities() for name in self._store.tools_with(capability)):
            tool = self._tools[name]
            if tool.analysis is not None:
                found.setdefault(tool.analysis.label, tool)
        return found

    def _own_capabilities(self) -> Iterator[str]:
        for label, served_by in self.vocabulary.requirements.items():
            if label.startswith("analysis:") and served_by == (f"does_{label.removeprefix('analysis:')}",):
                yield served_by[0]

    def nearest(self, name: str) -> str | None:
        """The tool with the most similar name, for a hint; never call it instead."""
        return self._tools.nearest(name)
