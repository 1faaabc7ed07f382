"""YAML files read entry by entry, with the line of everything in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import cast

import yaml
from pydantic import JsonValue
from yaml.constructor import SafeConstructor
from yaml.events import (
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.resolver import Resolver

from groundplan.errors import CatalogError

Place = tuple[str | int, ...]

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 32


@dataclass(frozen=True)
class File:
    """A file as it was when it was read: what is hashed is what is parsed."""

    path: Path
    content: bytes

    @classmethod
    def read(cls, path: Path) -> File:
        try:
            return cls(path, path.read_bytes())
        except OSError as error:
            raise CatalogError(f"{path}:1: cannot be read ({error.strerror}); give a file that exists") from error


@dataclass(frozen=True)
class Problem:
    file: File
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file.path}:{self.line}: {self.what}"


@dataclass(frozen=True)
class Entry:
    """One value of a file, where it stands, and the line of each value inside it."""

    file: File
    place: Place
    value: JsonValue
    lines: Mapping[Place, int]

    def problem(self, what: str, at: Place = ()) -> Problem:
        """What is wrong, `at` a place inside the value or the nearest one around it that the file has."""
        while at and at not in self.lines:
            at = at[:-1]
        return Problem(self.file, self.lines[at], what)


def entries(file: File, problems: list[Problem]) -> Iterator[Entry]:
    """The values of the outermost mapping, those of a list one by one: a long file is never held whole."""
    with _noting(file, problems):
        yield from _Composer(file, problems).entries()


def whole(file: File, problems: list[Problem]) -> Entry | None:
    """The outermost mapping as one value; None when the file cannot be read to its end."""
    with _noting(file, problems):
        return _Composer(file, problems).whole()
    return None


@contextmanager
def _noting(file: File, problems: list[Problem]) -> Iterator[None]:
    try:
        yield
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problems.append(Problem(file, line, f"{error.problem or error.context}; correct the YAML"))
    except yaml.YAMLError as error:
        problems.append(Problem(file, 1, f"{error}; save the file as UTF-8 text"))


class _Composer:
    """Builds plain JSON values from YAML events and keeps lines; several times faster than PyYAML's nodes."""

    def __init__(self, file: File, problems: list[Problem]) -> None:
        self._file = file
        self._problems = problems
        self._next: Callable[[], Event] = LOADER(file.content).get_event
        self._anchors: dict[str, JsonValue] = {}
        self._lines: dict[Place, int] = {}

    def entries(self) -> Iterator[Entry]:
        seen: dict[str, int] = {}
        if self._opened() is None:
            return
        while not isinstance(event := self._next(), MappingEndEvent):
            key = self._key(event, seen)
            inner = self._next()
            if isinstance(inner, SequenceStartEvent) and inner.anchor is None:
                yield from self._items(key)
            else:
                yield self._entry(inner, (key,), seen[key])
        self._closed()

    def whole(self) -> Entry | None:
        outer = self._opened()
        if outer is None:
            return None
        entry = self._entry(outer, (), _line(outer))
        self._closed()
        return entry

    def _opened(self) -> Event | None:
        """The start of the outermost mapping."""
        self._next()  # the stream begins
        start = self._next()
        outer = self._next() if isinstance(start, DocumentStartEvent) else start
        if isinstance(outer, MappingStartEvent):
            return outer
        self._note(outer, "the file holds no mapping; write keys with values")
        return None

    def _closed(self) -> None:
        self._next()  # the document ends
        if isinstance(event := self._next(), DocumentStartEvent):
            self._note(event, "a second YAML document begins; keep one document in a file")

    def _items(self, key: str) -> Iterator[Entry]:
        position = 0
        while not isinstance(event := self._next(), SequenceEndEvent):
            yield self._entry(event, (key, position), _line(event))
            position += 1

    def _entry(self, event: Event, place: Place, line: int) -> Entry:
        self._lines = {}
        value = self._value(event, (), line)
        return Entry(self._file, place, value, self._lines)

    def _value(self, event: Event, at: Place, line: int) -> JsonValue:
        self._lines[at] = line
        value: JsonValue
        if isinstance(event, ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, MappingStartEvent):
            value = self._mapping(event, at)
        elif isinstance(event, SequenceStartEvent):
            value = self._sequence(event, at)
        else:
            return self._alias(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _mapping(self, start: Event, at: Place) -> JsonValue:
        _refuse_depth(start, at)
        value: dict[str, JsonValue] = {}
        seen: dict[str, int] = {}
        while not isinstance(event := self._next(), MappingEndEvent):
            key = self._key(event, seen)
            value[key] = self._value(self._next(), (*at, key), seen[key])
        return value

    def _sequence(self, start: Event, at: Place) -> JsonValue:
        _refuse_depth(start, at)
        value: list[JsonValue] = []
        while not isinstance(event := self._next(), SequenceEndEvent):
            value.append(self._value(event, (*at, len(value)), _line(event)))
        return value

    def _key(self, event: Event, seen: dict[str, int]) -> str:
        if not isinstance(event, ScalarEvent):
            raise _unreadable(event, "a key is not plain text")
        key = self._scalar(event)
        if not isinstance(key, str):
            self._note(event, f"the key {event.value!r} does not read as text; put it in quotes")
            key = str(event.value)
        if key in seen:
            self._note(event, f"the key {key!r} appears twice, first on line {seen[key]}; keep one")
        seen[key] = _line(event)
        return key

    def _scalar(self, event: ScalarEvent) -> JsonValue:
        text: str = event.value
        if event.tag is not None:
            self._note(event, f"{text!r} has the YAML tag {event.tag!r}; remove the tag")
        if event.tag is not None or not event.implicit[0]:
            return text
        try:
            return _plain_scalar(text)
        except ValueError as error:
            self._note(event, f"{text!r} {error}")
            return text

    def _alias(self, event: Event) -> JsonValue:
        anchor = getattr(event, "anchor", None)
        if anchor not in self._anchors:
            self._note(event, f"*{anchor} has no complete &{anchor} above it; write the value out")
            return None
        return self._anchors[anchor]

    def _note(self, event: Event, what: str) -> None:
        self._problems.append(Problem(self._file, _line(event), what))


@lru_cache(maxsize=4096)
def _plain_scalar(text: str) -> str | int | float | bool | None:
    """What YAML 1.1 makes of unquoted text, as far as JSON has it."""
    tag = str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]
    node = yaml.ScalarNode(tag, text)
    match tag.rpartition(":")[2]:
        case "str":
            return text
        case "null":
            return None
        case "bool":
            return bool(_CONSTRUCTOR.construct_yaml_bool(node))
        case "int":
            return int(_CONSTRUCTOR.construct_yaml_int(node))
        case "float":
            return _finite(float(_CONSTRUCTOR.construct_yaml_float(node)))
        case kind:
            raise ValueError(f"reads as a YAML {kind}; put it in quotes")


def _finite(number: float) -> float:
    if not isfinite(number):
        raise ValueError("is no JSON number; write a finite one")
    return number


_RESOLVER = Resolver()
_CONSTRUCTOR = SafeConstructor()


def _line(event: Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _unreadable(event: Event, what: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=what, problem_mark=cast("yaml.Mark", event.start_mark))


def _refuse_depth(event: Event, at: Place) -> None:
    if len(at) > DEEPEST:
        raise _unreadable(event, f"values are nested deeper than {DEEPEST} levels")
