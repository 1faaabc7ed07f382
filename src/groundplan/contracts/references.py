"""Values that one step takes from another: `{"$from": "customer.email"}` in its params, filled in when it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

KEY = "$from"
WRITTEN = re.compile(r"([a-z][a-z0-9_]{0,63})\.(\w[\w.-]{0,127})")


@dataclass(frozen=True)
class Reference:
    """A field of what an earlier step gave; dots go into objects."""

    step: str
    field: str

    def __str__(self) -> str:
        return f"{self.step}.{self.field}"


def read_reference(value: object) -> Reference | None:
    """The reference that a value is; None for a plain value. What is written wrongly is no reference either."""
    if not isinstance(value, Mapping) or set(value) != {KEY} or not isinstance(value[KEY], str):
        return None
    written = WRITTEN.fullmatch(value[KEY])
    return Reference(written[1], written[2]) if written else None


def references(value: object, path: str = "params") -> Iterator[tuple[str, Reference]]:
    """Every reference inside a JSON value, with its path."""
    found = read_reference(value)
    if found:
        yield path, found
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from references(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from references(inner, f"{path}.{index}")


def filled(value: object, fill: Callable[[Reference], object]) -> object:
    """The same JSON value with each reference replaced."""
    found = read_reference(value)
    if found:
        return fill(found)
    if isinstance(value, Mapping):
        return {key: filled(inner, fill) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [filled(inner, fill) for inner in value]
    return value
