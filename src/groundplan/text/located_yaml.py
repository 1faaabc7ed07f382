"""YAML read with the line of every value; faults are collected, not raised.

Only JSON values are read. A file can be read entry by entry, so one with 100,000 entries is never in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import cast

import yaml
from pydantic import JsonValue
from yaml.constructor import SafeConstructor
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.resolver import Resolver

from groundplan.text.plain_yaml import LOADER

Place = tuple[str | int, ...]

DEEPEST = 32
MOST_REPEATED = 10_000  # values that the aliases of one file stand for: aliases of aliases grow without end
LONGEST_CHAIN = 4


@dataclass(frozen=True)
class File:
    """A file and its contents, read once: the bytes that are hashed are the bytes that are parsed."""

    path: Path
    content: bytes
    lines_above: int = 0  # lines of the file before the content, such as the fence above front matter


@dataclass(frozen=True)
class Located:
    """A value, where it is in its file, and the line of each value inside it."""

    path: Path
    value: JsonValue
    lines: Mapping[Place, int] = field(default_factory=dict)
    place: Place = ()

    def where(self, at: Place = ()) -> str:
        """The file and line of a place inside the value, or of the nearest enclosing place that has a line."""
        while at and at not in self.lines:
            at = at[:-1]
        return f"{self.path}:{self.lines.get(at, 1)}"

    def fault(self, what: str, at: Place = ()) -> str:
        return f"{self.where(at)}: {what}"


def entries(file: File, problems: list[str]) -> Iterator[Located]:
    """The values of the outermost mapping; lists are given item by item."""
    with _collecting(file, problems):
        yield from _Composer(file, problems).entries()


def whole(file: File, problems: list[str], *, as_written: bool = False) -> Located | None:
    """The outermost mapping as one value; None if the file cannot be read completely.

    With `as_written`, keys, dates and other values that JSON lacks stay text, aliases are refused, and an empty file
    is an empty mapping.
    """
    with _collecting(file, problems):
        return _Composer(file, problems, as_written).whole()
    return None


@contextmanager
def _collecting(file: File, problems: list[str]) -> Iterator[None]:
    """Adds a YAML error raised in the block to the problems."""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 + file.lines_above if error.problem_mark else 1
        problems.append(f"{file.path}:{line}: {error.problem or error.context}; correct the YAML")
    except yaml.YAMLError as error:
        problems.append(f"{file.path}:1: {error}; save the file as UTF-8 text")


@dataclass(frozen=True)
class _Anchored:
    value: JsonValue
    size: int  # values in it
    chain: int  # aliases of aliases in it


class _Composer:
    """Builds JSON values from YAML events and records their lines; several times faster than PyYAML's nodes."""

    def __init__(self, file: File, problems: list[str], as_written: bool = False) -> None:
        self._file = file
        self._problems = problems
        self._as_written = as_written
        self._first_line = 1 + file.lines_above
        self._next: Callable[[], Event] = LOADER(file.content).get_event
        self._anchors: dict[str, _Anchored] = {}
        self._values = 0  # read so far, those that aliases stand for included
        self._repeated = 0  # values that aliases stand for
        self._chain = 0  # aliases of aliases in the value that is read
        self._lines: dict[Place, int] = {}

    def entries(self) -> Iterator[Located]:
        seen: dict[str, int] = {}
        if self._opened() is None:
            return
        while not isinstance(event := self._next(), MappingEndEvent):
            key = self._key(event, seen)
            inner = self._next()
            if isinstance(inner, SequenceStartEvent) and inner.anchor is None:
                yield from self._items(key)
            else:
                yield self._located(inner, (key,), seen[key])
        self._closed()

    def whole(self) -> Located | None:
        outer = self._opened()
        if outer is None:
            return None
        if isinstance(outer, StreamEndEvent):
            return Located(self._file.path, {})
        found = self._located(outer, (), self._line(outer))
        self._closed()
        return found

    def _opened(self) -> Event | None:
        """The start event of the outermost mapping, or the end event of an empty file if that is allowed."""
        self._next()  # the stream begins
        start = self._next()
        outer = self._next() if isinstance(start, DocumentStartEvent) else start
        if isinstance(outer, MappingStartEvent) or (self._as_written and isinstance(outer, StreamEndEvent)):
            return outer
        self._note(outer, "the file is not a mapping; write keys with values")
        return None

    def _closed(self) -> None:
        self._next()  # the document ends
        if isinstance(event := self._next(), DocumentStartEvent):
            self._note(event, "a second YAML document begins; keep one document in a file")

    def _items(self, key: str) -> Iterator[Located]:
        position = 0
        while not isinstance(event := self._next(), SequenceEndEvent):
            yield self._located(event, (key, position), self._line(event))
            position += 1

    def _located(self, event: Event, place: Place, line: int) -> Located:
        self._lines = {}
        value = self._value(event, (), line)
        return Located(self._file.path, value, self._lines, place)

    def _value(self, event: Event, at: Place, line: int) -> JsonValue:
        self._lines[at] = line
        if isinstance(event, AliasEvent):
            return self._alias(event)
        anchor, before, chain = getattr(event, "anchor", None), self._values, self._chain
        self._values, self._chain = self._values + 1, 0
        value: JsonValue
        if isinstance(event, ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, MappingStartEvent):
            value = self._mapping(event, at)
        else:
            value = self._sequence(event, at)
        if anchor is not None:
            self._anchors[anchor] = _Anchored(value, self._values - before, self._chain)
        self._chain = max(chain, self._chain)
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
            value.append(self._value(event, (*at, len(value)), self._line(event)))
        return value

    def _key(self, event: Event, seen: dict[str, int]) -> str:
        if not isinstance(event, ScalarEvent):
            raise _unreadable(event, "a key is not plain text")
        key = event.value if self._as_written else self._scalar(event)
        if not isinstance(key, str):
            self._note(event, f"the key {event.value!r} is not text; put it in quotes")
            key = str(event.value)
        if key in seen:
            self._note(event, f"the key {key!r} appears twice, first on line {seen[key]}; keep one")
        seen[key] = self._line(event)
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
            if not self._as_written:
                self._note(event, f"{text!r} {error}")
            return text

    def _alias(self, event: AliasEvent) -> JsonValue:
        found = self._anchors.get(str(event.anchor))
        if self._as_written:
            self._note(event, f"*{event.anchor} is an alias; write the value out")
        elif found is None:
            self._note(event, f"*{event.anchor} has no complete &{event.anchor} above it; write the value out")
        if found is None:
            return None
        self._values, self._repeated = self._values + found.size, self._repeated + found.size
        self._chain = max(self._chain, found.chain + 1)
        if self._repeated > MOST_REPEATED or self._chain > LONGEST_CHAIN:
            what = f"aliases stand for more than {MOST_REPEATED:,} values, or for {LONGEST_CHAIN} further aliases"
            raise _unreadable(event, f"{what}; write them out")
        return found.value

    def _note(self, event: Event, what: str) -> None:
        self._problems.append(f"{self._file.path}:{self._line(event)}: {what}")

    def _line(self, event: Event) -> int:
        return event.start_mark.line + self._first_line if event.start_mark else 1


@lru_cache(maxsize=4096)
def _plain_scalar(text: str) -> str | int | float | bool | None:
    """The JSON value of unquoted text by the rules of YAML 1.1; raises ValueError for values that JSON lacks."""
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
        raise ValueError("is not a JSON number; write a finite one")
    return number


_RESOLVER = Resolver()
_CONSTRUCTOR = SafeConstructor()


def _unreadable(event: Event, what: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=what, problem_mark=cast("yaml.Mark", event.start_mark))


def _refuse_depth(event: Event, at: Place) -> None:
    if len(at) > DEEPEST:
        raise _unreadable(event, f"values are nested deeper than {DEEPEST} levels")
