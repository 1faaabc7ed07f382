"""YAML and JSON as they were written: the value, and the line of everything in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails
from yaml.constructor import SafeConstructor

from groundplan.errors import SourceError

Place = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 16


@dataclass(frozen=True)
class Written:
    """A mapping from a file; what stands on which line is known for YAML, JSON counts as one line."""

    path: Path
    value: Mapping[str, JsonValue]
    lines: Mapping[Place, int] = field(default_factory=dict)

    def where(self, at: Place = ()) -> str:
        """The file and the line of that place, or of the nearest part of the file around it."""
        while at and at not in self.lines:
            at = at[:-1]
        return f"{self.path}:{self.lines.get(at, 1)}"

    def fault(self, what: str, at: Place = ()) -> str:
        return f"{self.where(at)}: {what}"

    def read(self, model: type[Model], value: object, at: Place = ()) -> Model:
        """A part of the file as a contract; all that is wrong with it is said at once."""
        try:
            return model.model_validate(value)
        except ValidationError as error:
            found = (self.fault(_said(detail), (*at, *detail["loc"])) for detail in error.errors(include_url=False))
            raise SourceError("\n".join(found)) from error


def load_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SourceError(f"{path}:1: cannot be read ({error.strerror}); name a file that is there") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}:1: is no UTF-8 text; save it as UTF-8") from error


def read_json(path: Path, text: str) -> Written:
    try:
        return Written(path, _mapping(path, json.loads(text, object_pairs_hook=_each_key_once)))
    except json.JSONDecodeError as error:
        raise SourceError(f"{path}:{error.lineno}: {error.msg}; correct the JSON") from error
    except ValueError as error:
        raise SourceError(f"{path}:1: {error}") from error


def read_yaml(path: Path, text: str, lines_above: int = 0) -> Written:
    """Dates stay text, keys are unique and aliases are refused: a file means what it shows."""
    lines: dict[Place, int] = {}
    try:
        node = LOADER(text).get_single_node()
        value = _Values(lines, lines_above).of(node, ()) if node else {}
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SourceError(f"{path}:{line + lines_above}: {error.problem}; correct the YAML") from error
    except yaml.YAMLError as error:
        raise SourceError(f"{path}:1: {error}; correct the YAML") from error
    return Written(path, _mapping(path, value), lines)


@dataclass
class _Values:
    """Plain values out of YAML nodes."""

    lines: dict[Place, int]
    lines_above: int
    seen: set[int] = field(default_factory=set)
    constructor: SafeConstructor = field(default_factory=SafeConstructor)

    def of(self, node: yaml.Node, at: Place) -> JsonValue:
        self.lines.setdefault(at, node.start_mark.line + 1 + self.lines_above)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self.seen or len(at) > DEEPEST:
            raise _refused(node, "a value is an alias or nested too deep; write it out")
        self.seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            return [self.of(item, (*at, place)) for place, item in enumerate(node.value)]
        return dict(self._pairs(node, at))

    def _pairs(self, node: yaml.Node, at: Place) -> Iterator[tuple[str, JsonValue]]:
        keys: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refused(key, "a key is no plain text")
            if key.value in keys:
                raise _refused(key, f"the key {key.value!r} appears twice")
            keys.add(key.value)
            self.lines[*at, key.value] = key.start_mark.line + 1 + self.lines_above
            yield key.value, self.of(value, (*at, key.value))

    def _scalar(self, node: yaml.ScalarNode) -> JsonValue:
        text = str(node.value)
        match node.tag.rpartition(":")[2]:
            case "null":
                return None
            case "bool":
                return bool(self.constructor.construct_yaml_bool(node))
            case "int":
                return int(self.constructor.construct_yaml_int(node))
            case "float":
                return float(self.constructor.construct_yaml_float(node))
            case "str" | "timestamp":
                return text
            case tag:
                raise _refused(node, f"{text!r} has the YAML tag {tag!r}")


def _mapping(path: Path, value: object) -> Mapping[str, JsonValue]:
    if not isinstance(value, dict):
        raise SourceError(f"{path}:1: holds no mapping; write keys with values")
    return value


def _each_key_once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice in one object; keep one")
    return found


def _refused(node: yaml.Node, what: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=what, problem_mark=node.start_mark)


def _said(detail: ErrorDetails) -> str:
    place = ".".join(str(part) for part in detail["loc"])
    match detail["type"]:
        case "missing":
            return f"{place} is missing; add it"
        case "extra_forbidden":
            return f"{place} is no key that is known here; correct or remove it"
        case _:
            message = detail["msg"].removeprefix("Value error, ")
            return f"{place}: {message[0].lower()}{message[1:]}; correct it" if place else f"{message}; correct it"
