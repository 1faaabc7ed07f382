"""The vocabulary of the catalog: capabilities, their aliases, and the requirements they serve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from groundplan.catalog.faults import faults
from groundplan.contracts.contract import Contract, Text
from groundplan.contracts.tool import Label, Tool
from groundplan.errors import CatalogError
from groundplan.text.located_yaml import File, Place, whole

CAPABILITIES = Path(__file__).with_name("capabilities.yaml")
REQUIREMENTS = Path(__file__).with_name("requirements.yaml")


class Capability(Contract):
    description: Annotated[Text, Field(min_length=10)]
    aliases: tuple[Label, ...] = ()
    asked_by: tuple[str, ...] = ()  # requirement labels; if empty, any question may use it
    reserved: bool = False


class Vocabulary(Contract):
    core: tuple[Label, ...]  # capabilities that every catalog needs
    capabilities: dict[Label, Capability]
    version: Annotated[int, Field(ge=1)]  # of the map below
    requirements: dict[str, tuple[Label, ...]]

    def with_analyses(self, tools: Iterable[Tool]) -> Vocabulary:
        """With the analyses that tools bring with them: a capability for each, which only its own label asks for."""
        found = {tool.analysis.label: tool.analysis for tool in tools if tool.analysis}
        for label, analysis in found.items():
            if self.requirements.get(analysis.requirement, (analysis.capability,)) != (analysis.capability,):
                raise CatalogError(f"the analysis {label!r} is built in; give that of the tool another label")
        made = {
            analysis.capability: Capability(
                description=f"Does the analysis {analysis.label}.", asked_by=(analysis.requirement,)
            )
            for analysis in found.values()
        }
        served = {analysis.requirement: (analysis.capability,) for analysis in found.values()}
        update = {"capabilities": self.capabilities | made, "requirements": self.requirements | served}
        return self.model_copy(update=update) if found else self

    @cached_property
    def names(self) -> dict[str, str]:
        """Every name and alias, mapped to its capability."""
        aliases = {alias: name for name, item in self.capabilities.items() for alias in item.aliases}
        return aliases | {name: name for name in self.capabilities}

    @cached_property
    def serving(self) -> dict[str, frozenset[str]]:
        """The capabilities that serve each requirement label, with aliases resolved."""
        return {
            label: frozenset(self.names.get(name, name) for name in listed)
            for label, listed in self.requirements.items()
        }

    @cached_property
    def asked_by(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(item.asked_by) for name, item in self.capabilities.items() if item.asked_by}


def load_vocabulary(capabilities: File, requirements: File) -> Vocabulary:
    """Raises CatalogError with every invalid entry; `audit` finds what is missing from the map."""
    problems: list[str] = []
    parts = [entry for file in (capabilities, requirements) if (entry := whole(file, problems))]
    words = {key: value for part in parts if isinstance(part.value, dict) for key, value in part.value.items()}
    for at, what in () if problems else _faults(words):
        part = next((part for part in parts if at[:1] in part.lines), parts[0])
        problems.append(part.fault(what, at))
    if problems:
        raise CatalogError("\n".join(problems))
    return Vocabulary.model_validate(words)


def _faults(words: object) -> Iterator[tuple[Place, str]]:
    try:
        vocabulary = Vocabulary.model_validate(words)
    except ValidationError as error:
        yield from faults(error, "the vocabulary", (*Vocabulary.model_fields, *Capability.model_fields))
        return
    owners = {name: name for name in vocabulary.capabilities}
    for name, capability in vocabulary.capabilities.items():
        for index, alias in enumerate(capability.aliases):
            if alias in owners:
                at = ("capabilities", name, "aliases", index)
                yield at, f"the alias {alias!r} of {name!r} already means {owners[alias]!r}; remove one"
            owners.setdefault(alias, name)
