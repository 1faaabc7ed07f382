"""A contract as the JSON schema that a server is asked to enforce.

Only keywords that xgrammar, llama.cpp and hosted servers all support are sent. The other constraints (patterns, text
lengths, multiples) are checked when the reply is validated, which happens even if the server enforces the schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import JsonValue

from groundplan.contracts.contract import Contract
from groundplan.errors import UsageError

Schema = dict[str, JsonValue]
Choices = Mapping[str, Sequence[str]]
"""The allowed names of each text field, by the field's path; lists add nothing to a path: `filters.column`."""

KEPT = ("type", "enum", "minItems", "maxItems")
INTEGER_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
READ = {"$ref", "anyOf", "oneOf", "const", "properties", "items", "additionalProperties", "required", *KEPT}
UNSENT = {
    *("title", "description", "default", "examples", "discriminator", "$defs"),
    *("pattern", "format", "minLength", "maxLength", "multipleOf", "uniqueItems", *INTEGER_BOUNDS),
}
LONGEST = 256  # characters: with a larger `maxLength` grammars are slow or refused


def strict_schema(into: type[Contract], choices: Choices | None = None) -> Schema:
    """A closed schema without references, every field required; fields in `choices` list the allowed names."""
    whole = _described(into)
    writer = _Writer(into.__name__, whole.get("$defs", {}), choices or {})
    schema = writer.write(whole, "", ())
    unused = sorted({*writer.choices} - writer.filled)
    if unused:
        known = ", ".join(sorted(writer.texts)) or "none"
        raise UsageError(f"{into.__name__} has no text field at {', '.join(unused)}; its text fields: {known}")
    return schema


@lru_cache(maxsize=256)
def _described(into: type[Contract]) -> dict[str, Any]:
    return into.model_json_schema()


def closed(fields: Schema) -> Schema:
    """The schema of an object with exactly these fields."""
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def or_null(schema: Schema) -> Schema:
    """The schema of an optional field: hosted servers require every field, so null stands for a missing one."""
    return {"anyOf": [schema, {"type": "null"}]}


class _Writer:
    """Converts a pydantic schema in one pass; records which paths are text and which got their choices."""

    def __init__(self, contract: str, definitions: Mapping[str, Schema], choices: Choices) -> None:
        self.contract = contract
        self.definitions = definitions
        self.choices = choices
        self.filled: set[str] = set()
        self.texts: set[str] = set()

    def write(self, node: Schema, path: str, inside: tuple[str, ...]) -> Schema:
        self._refuse_unknown(node, path)
        match node:
            case {"$ref": str(reference)}:
                return self._inline(reference.rsplit("/", 1)[-1], path, inside)
            case {"anyOf": list(branches)} | {"oneOf": list(branches)}:
                return {"anyOf": [self.write(dict(branch), path, inside) for branch in _objects(branches)]}
            case {"const": value}:
                return {"enum": [value]}
            case {"type": "object"}:
                return self._object(node, path, inside)
            case {"type": "array", "items": dict(items)}:
                return {**_only(node, KEPT), "items": self.write(items, path, inside)}
            case {"type": "string"} if "enum" not in node:
                return self._text(node, path)
            case {"type": "integer"}:
                return _only(node, (*KEPT, *INTEGER_BOUNDS))
            case {"type": "string" | "number" | "boolean" | "null"} | {"enum": _}:
                return _only(node, KEPT)
        raise UsageError(f"{self._at(path)} has no type that a grammar can express; give the field a closed type")

    def _inline(self, name: str, path: str, inside: tuple[str, ...]) -> Schema:
        if name in inside:
            raise UsageError(f"{self._at(path)} contains {name} inside {name}; use a contract that is not recursive")
        return self.write(dict(self.definitions[name]), path, (*inside, name))

    def _object(self, node: Schema, path: str, inside: tuple[str, ...]) -> Schema:
        properties = node.get("properties")
        if node.get("additionalProperties") is not False or not isinstance(properties, dict):
            raise UsageError(f"{self._at(path)} is open to any key; use a contract with fixed keys")
        fields: Schema = {
            name: self.write(dict(field), f"{path}.{name}".lstrip("."), inside)
            for name, field in properties.items()
            if isinstance(field, dict)
        }
        return closed(fields)

    def _text(self, node: Schema, path: str) -> Schema:
        self.texts.add(path)
        if path not in self.choices:
            most = node.get("maxLength")
            return {"type": "string", **({"maxLength": most} if isinstance(most, int) and most <= LONGEST else {})}
        names: list[JsonValue] = [*dict.fromkeys(self.choices[path])]
        if not names:
            raise UsageError(f"{self._at(path)} has nothing to choose from; leave the field out of the contract")
        self.filled.add(path)
        return {"type": "string", "enum": names}

    def _refuse_unknown(self, node: Schema, path: str) -> None:
        unknown = sorted({*node} - READ - UNSENT)
        if unknown:
            raise UsageError(f"{self._at(path)} uses {', '.join(unknown)}, which not every server's grammar supports")

    def _at(self, path: str) -> str:
        return f"{self.contract}.{path}" if path else self.contract


def _only(node: Schema, keys: Sequence[str]) -> Schema:
    return {key: node[key] for key in keys if key in node}


def _objects(branches: Sequence[JsonValue]) -> list[Schema]:
    return [branch for branch in branches if isinstance(branch, dict)]
