"""Gaps in the vocabulary and the tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.reading import Analysis, ChartKind, Kind, OutputLabel


def audit(catalog: Catalog, reference: str | None = None) -> list[str]:
    """One line for each gap. `reference` is the text of the page that must name every tool."""
    found = [*_unmapped(catalog), *_unknown(catalog), *_unserved(catalog), *_undescribed(catalog)]
    if reference is not None:
        found += [f"tool {name!r} is not in the reference page" for name in catalog.tools if name not in reference]
    return found


def labels() -> set[str]:
    """Every label that a requirement can have."""
    kinds = set(get_args(Kind)) - {"analysis", "output"}
    analyses = {f"analysis:{label}" for label in get_args(Analysis)}
    return kinds | analyses | {f"output:{label}" for label in get_args(OutputLabel)}


def _own(catalog: Catalog) -> set[str]:
    """The labels of the analyses that tools bring with them."""
    return {f"analysis:{label}" for label in catalog.analyses}


def _unmapped(catalog: Catalog) -> Iterator[str]:
    mapped = catalog.vocabulary.requirements
    for label in sorted(labels() - {label for label, names in mapped.items() if names}):
        yield f"no capability serves the requirement {label!r}; map it in requirements.yaml"
    for label in sorted(mapped.keys() - labels() - _own(catalog)):
        yield f"requirements.yaml maps {label!r}, which is not a label; remove it"


def _unknown(catalog: Catalog) -> Iterator[str]:
    vocabulary = catalog.vocabulary
    for label, names in vocabulary.requirements.items():
        for name in sorted(set(names) - vocabulary.names.keys()):
            yield f"{label!r} is mapped to the unknown capability {name!r}; describe it in capabilities.yaml"
    for name in sorted(set(vocabulary.core) - vocabulary.capabilities.keys()):
        yield f"the core names the unknown capability {name!r}; describe it in capabilities.yaml"
    askable = labels() | _own(catalog) | {f"output:chart:{kind}" for kind in get_args(ChartKind)}
    for name, asked_by in vocabulary.asked_by.items():
        for label in sorted(asked_by - askable):
            yield f"the capability {name!r} is asked by {label!r}, which is not a label; correct it"


def _unserved(catalog: Catalog) -> Iterator[str]:
    for name, capability in catalog.vocabulary.capabilities.items():
        served = bool(catalog.tools_with(name))
        if not served and not capability.reserved:
            yield f"no tool has the capability {name!r}; remove it, or reserve it and say why"
        if served and capability.reserved:
            yield f"the capability {name!r} is reserved though a tool has it; remove 'reserved'"
        if capability.reserved and "reserved" not in capability.description.lower():
            yield f"the description of {name!r} does not say why it is reserved"


def _undescribed(catalog: Catalog) -> Iterator[str]:
    mapped = frozenset[str]().union(*catalog.vocabulary.serving.values())
    for name, tool in catalog.tools.items():
        if not tool.description.endswith("."):
            yield f"the description of tool {name!r} does not end with a full stop"
        for capability in tool.capabilities:
            if capability not in mapped and capability not in catalog.vocabulary.capabilities:
                yield f"tool {name!r} has the capability {capability!r}, which nothing describes or maps"
