"""Resolves references inside one schema; references to other documents are never fetched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_HOPS = 16


class Unresolved(ValueError):
    """A reference that cannot be resolved inside its own schema."""


def resolved(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema, or the one it refers to plus the keywords next to the reference."""
    for _ in range(MOST_HOPS):
        if "$ref" not in schema:
            return schema
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**_target(schema["$ref"], whole), **beside}
    raise Unresolved("its references are circular")


def _target(reference: object, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise Unresolved("it refers to another document")
    found: object = whole
    for part in reference.removeprefix("#").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping):
        raise Unresolved("it refers to a missing part")
    return found
