"""An Ossie model put together from files of other formats; every part remembers its file and line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from groundplan.text.located_yaml import Located, Place
from groundplan.text.names import split_name

MODEL: Place = ("semantic_model", 0)
VERSION = "0.2.0.dev0"


@dataclass
class Collected:
    """`known`: the model that is added to, from the model file of the data."""

    name: str
    known: Mapping[str, Any] = field(default_factory=dict)
    lint: list[str] = field(default_factory=list)  # what was left out, and why
    places: dict[Place, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)  # other names of data sets, in expressions

    def __post_init__(self) -> None:
        empty = {"name": self.name, "datasets": [], "relationships": [], "metrics": []}
        self.model: dict[str, Any] = empty | deepcopy({key: value for key, value in self.known.items() if value})

    @property
    def value(self) -> Mapping[str, Any]:
        return {"version": VERSION, "semantic_model": [self.model]}

    def fault(self, what: str, at: Place = ()) -> str:
        while at and at not in self.places:
            at = at[:-1]
        return f"{self.places.get(at, self.name)}: {what}"

    def note(self, what: str, where: str) -> None:
        self.lint.append(f"{where}: {what}")

    def dataset(self, source: str, where: str, name: str | None = None) -> dict[str, Any]:
        """The data set of this table; made where there is none."""
        for known in self.model["datasets"]:
            if split_name(_table(known.get("source") or known["name"])) == split_name(_table(source)):
                known.setdefault("fields", [])
                return dict_of(known)
        taken = {known["name"] for known in self.model["datasets"]}
        made = {"name": name if name and name not in taken else source, "source": source, "fields": []}
        self.places[(*MODEL, "datasets", len(self.model["datasets"]))] = where
        self.model["datasets"].append(made)
        return made

    def field(self, dataset: dict[str, Any], item: dict[str, Any], where: str) -> None:
        """Add the field, or what it says about one that is there."""
        for known in dataset["fields"]:
            if known["name"] == item["name"]:
                known.update({key: value for key, value in item.items() if key not in known})
                return
        at = self.model["datasets"].index(dataset)
        self.places[(*MODEL, "datasets", at, "fields", len(dataset["fields"]))] = where
        dataset["fields"].append(item)

    def key(self, dataset: dict[str, Any], columns: Sequence[str], where: str) -> None:
        key = [*columns]
        if "primary_key" not in dataset:
            dataset["primary_key"] = key
            self.places[(*MODEL, "datasets", self.model["datasets"].index(dataset), "primary_key")] = where
        elif key != dataset["primary_key"] and key not in dataset.setdefault("unique_keys", []):
            dataset["unique_keys"].append(key)

    def link(self, ends: Sequence[str], columns: Sequence[Sequence[str]], where: str, name: str = "") -> None:
        """From many rows to one; the same link is added once."""
        sides: Any = {"from": ends[0], "to": ends[1]}
        item = sides | {"from_columns": [*columns[0]], "to_columns": [*columns[1]]}
        names = {known.pop("name", None): known for known in map(dict, self.model["relationships"])}
        if item in names.values():
            return
        called = name or f"{ends[0]}_{'_'.join(columns[0])}"
        while called in names:
            called += f"_{ends[1]}"
        self._add("relationships", {"name": called, **item}, where)

    def metric(self, name: str, expression: str, where: str, given: Mapping[str, Any]) -> None:
        known = next((one for one in self.model["metrics"] if one["name"] == name), None)
        if known is None:
            self._add("metrics", {"name": name, "expression": expression, **told(given, name)}, where)
        elif known["expression"] != expression:
            self.note(f"metric {name!r} is defined twice; the first definition is kept", where)

    def _add(self, key: str, item: dict[str, Any], where: str) -> None:
        self.places[(*MODEL, key, len(self.model[key]))] = where
        self.model[key].append(item)


@dataclass(frozen=True)
class Part:
    """A mapping inside a file."""

    file: Located
    at: Place
    value: Mapping[str, Any]

    @property
    def where(self) -> str:
        return self.file.where(self.at)

    def text(self, key: str) -> str:
        """The value as text; empty where there is none."""
        value = self.value.get(key)
        return "" if value is None or isinstance(value, Mapping | list) else str(value).strip()

    def inner(self, key: str) -> Part:
        value = self.value.get(key)
        return Part(self.file, (*self.at, key), value if isinstance(value, Mapping) else {})

    def items(self, key: str) -> Iterator[Part]:
        """The mappings in a list; those of a mapping, with their keys as names."""
        value = self.value.get(key)
        if isinstance(value, list):
            for place, item in enumerate(value):
                if isinstance(item, Mapping):
                    yield Part(self.file, (*self.at, key, place), item)
        elif isinstance(value, Mapping):
            for name, item in value.items():
                named = {"name": name, **(item if isinstance(item, Mapping) else {})}
                yield Part(self.file, (*self.at, key, name), named)


def whole_file(file: Located) -> Part:
    return Part(file, (), file.value if isinstance(file.value, Mapping) else {})


def told(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Its description; its label, where that says something else than the name."""
    found: dict[str, Any] = {}
    if isinstance(given.get("description"), str):
        found["description"] = given["description"].strip()
    label = next((given[key] for key in ("label", "title") if isinstance(given.get(key), str)), "")
    if label and split_name(label) != split_name(name):
        found["ai_context"] = {"synonyms": [label.strip()]}
    return found


def _table(source: str) -> str:
    return source.rpartition(".")[2]


def dict_of(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = value
    return found
