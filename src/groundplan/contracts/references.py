"""References: params that take their value from an earlier step when the plan runs.

`{"$from": "customer.email"}` is the whole value; `{"$join": ["Dear ", {"$from": "customer.name"}]}` joins several parts
into a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from groundplan.contracts.contract import PLAIN

FROM = "$from"
JOIN = "$join"
MOST_PARTS = 20
WRITTEN = re.compile(r"([a-z][a-z0-9_]{0,63})\.(\w[\w.-]{0,127})")


@dataclass(frozen=True)
class Reference:
    """A field in the result of an earlier step; dots select nested fields."""

    step: str
    field: str

    def __str__(self) -> str:
        return f"{self.step}.{self.field}"


@dataclass(frozen=True)
class Join:
    """A text joined from literal texts and references."""

    parts: tuple[str | Reference, ...]


Taken = Reference | Join


def read_reference(value: object) -> Reference | None:
    """Parse a reference; None for a plain value and for a malformed reference."""
    if not isinstance(value, Mapping) or set(value) != {FROM} or not isinstance(value[FROM], str):
        return None
    written = WRITTEN.fullmatch(value[FROM])
    return Reference(written[1], written[2]) if written else None


def read_join(value: object) -> Join | None:
    """Parse a join; None for a plain value and for a malformed join."""
    listed = value[JOIN] if is_join(value) and set(value) == {JOIN} else None
    if not isinstance(listed, list | tuple):
        return None
    parts = [part if isinstance(part, str) else read_reference(part) for part in listed]
    whole = tuple(part for part in parts if part is not None)
    return Join(whole) if len(whole) == len(parts) and 0 < len(parts) <= MOST_PARTS else None


def is_join(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether a value is meant as a join, even if it is malformed."""
    return isinstance(value, Mapping) and JOIN in value


def taken(value: object, path: str = "params") -> Iterator[tuple[str, Taken]]:
    """Every reference and join inside a JSON value, with its path; references inside a join are not listed."""
    found = read_reference(value) or read_join(value)
    if found:
        yield path, found
        return
    for place, inner in inside(value):
        yield from taken(inner, f"{path}.{place}")


def references(value: object, path: str = "params") -> Iterator[tuple[str, Reference]]:
    """Every reference inside a JSON value, including those in joins, with its path."""
    if isinstance(value, PLAIN):
        return
    found = read_reference(value)
    if found:
        yield path, found
        return
    for place, inner in inside(value):
        yield from references(inner, f"{path}.{place}")


def inside(value: object) -> Iterator[tuple[str, object]]:
    """The direct children of a JSON value, with their keys or indexes."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from ((str(index), inner) for index, inner in enumerate(value))


def renamed(value: object, steps: Mapping[str, str]) -> object:
    """A copy of a JSON value whose references name other steps; those that are not in `steps` stay as they are."""

    def rename(found: Taken) -> object:
        if isinstance(found, Join):
            return {JOIN: [part if isinstance(part, str) else rename(part) for part in found.parts]}
        return {FROM: f"{steps.get(found.step, found.step)}.{found.field}"}

    return filled(value, rename)


def filled(value: object, fill: Callable[[Taken], object]) -> object:
    """A copy of a JSON value with each reference and join replaced."""
    found = read_reference(value) or read_join(value)
    if found:
        return fill(found)
    if isinstance(value, Mapping):
        return {key: filled(inner, fill) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [filled(inner, fill) for inner in value]
    return value
