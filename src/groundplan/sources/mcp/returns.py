"""The output schema of an MCP tool, and checks of results against it at a bounded cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from groundplan.sources.mcp.plain_text import is_plain
from groundplan.sources.mcp.references import Unresolved, resolved

Schema = dict[str, Any]

DEEPEST = 12  # deeper levels are not checked: recursive schemas have no end
MOST_PARTS = 1_000
WRAPPED = "result"  # the field in which SDKs wrap results that are not objects
MOST_CHECKS = 2_000_000  # parts of the schema times values of the result
# No pattern: a server could send one that never finishes. No uniqueItems: it compares all pairs.
TAKEN = (
    "type",
    "const",
    "required",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
)


class InvalidResult(ValueError):
    """A result or an output schema that cannot be used."""


@dataclass
class Returns:
    """The output schema of a tool, reduced to keywords that are cheap to check."""

    schema: Schema
    parts: int = field(default=0)

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> Returns:
        """Raises InvalidResult for an invalid schema, or one too large to check."""
        made = cls({})
        try:
            made.schema = made._part(schema, schema, 0)
            Draft202012Validator.check_schema(made.schema)
        except (Unresolved, SchemaError, RecursionError):
            raise InvalidResult("its output schema cannot be read") from None
        return made

    def check(self, value: object) -> None:
        """Raises InvalidResult; the message names the place but does not quote the server."""
        if self.parts * _count(value) > MOST_CHECKS:
            raise InvalidResult("is too large to check against its output schema")
        error = next(Draft202012Validator(self.schema).iter_errors(value), None)
        if error is not None:
            place = "".join(f"[{part}]" if isinstance(part, int) else ".…" for part in error.absolute_path)
            raise InvalidResult(f"does not fit its output schema ({error.validator} at result{place})")

    @property
    def wrapping(self) -> str | None:
        """The field that wraps the whole result: an object's only field if it is a list or `result`."""
        properties = self.schema.get("properties", {})
        if len(properties) != 1:
            return None
        [(name, inner)] = properties.items()
        return name if name == WRAPPED or inner.get("type") == "array" else None

    @property
    def first(self) -> Schema:
        """The fields that later steps may use: those of the object, or of a list's first row, marked `x-many`."""
        inner = _without_null(self.schema.get("properties", {}).get(self.wrapping, self.schema))
        many = inner.get("type") == "array"
        if many:
            row = inner.get("items", {})
            inner = row if row.get("type") == "object" else _around(row)
        elif inner.get("type") != "object":
            inner = _around(inner)
        properties = inner.get("properties", {})
        plain = {name: properties[name] for name in properties if is_plain(name)}
        return {"type": "object", "properties": plain} | ({"x-many": True} if many else {})

    def _part(self, given: object, whole: Mapping[str, Any], depth: int) -> Schema:
        if given is True or given is False or depth > DEEPEST or not isinstance(given, Mapping):
            return {}
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise Unresolved("its output schema is too large")
        schema = resolved(given, whole)
        made: Schema = {key: schema[key] for key in TAKEN if key in schema}
        if isinstance(schema.get("enum"), Sequence):
            made["enum"] = schema["enum"]
            self.parts += len(schema["enum"])
        if isinstance(schema.get("properties"), Mapping):
            properties = schema["properties"].items()
            made["properties"] = {name: self._part(inner, whole, depth + 1) for name, inner in properties}
        if isinstance(schema.get("items"), Mapping) and "prefixItems" not in schema:
            made["items"] = self._part(schema["items"], whole, depth + 1)
        return made | self._choices(schema, whole, depth) | self._others(schema, whole, depth)

    def _choices(self, schema: Mapping[str, Any], whole: Mapping[str, Any], depth: int) -> Schema:
        """`oneOf` becomes `anyOf`: the keywords left out here may be what distinguished the options."""
        together = list(self._listed(schema.get("allOf"), whole, depth))
        for key in ("anyOf", "oneOf"):
            choices = list(self._listed(schema.get(key), whole, depth))
            together += [{"anyOf": choices}] if choices else []
        return {"allOf": together} if together else {}

    def _listed(self, given: object, whole: Mapping[str, Any], depth: int) -> Iterator[Schema]:
        for inner in given if isinstance(given, list) else []:
            yield self._part(inner, whole, depth + 1)

    def _others(self, schema: Mapping[str, Any], whole: Mapping[str, Any], depth: int) -> Schema:
        """The rule for other keys; none if `patternProperties` may allow some."""
        others = schema.get("additionalProperties")
        if others is False and "patternProperties" not in schema:
            return {"additionalProperties": False}
        if isinstance(others, Mapping) and "patternProperties" not in schema:
            return {"additionalProperties": self._part(others, whole, depth + 1)}
        return {}


def _without_null(schema: Schema) -> Schema:
    """The schema of the value if it is not null: a customer for `a customer or null`."""
    choices = [choice for part in schema.get("allOf", []) for choice in part.get("anyOf", [])]
    given = [choice for choice in choices if choice.get("type") != "null"]
    return given[0] if len(given) == 1 else schema


def _around(schema: Schema) -> Schema:
    return {"type": "object", "properties": {WRAPPED: schema}}


def _count(value: object) -> int:
    if isinstance(value, Mapping):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, list | tuple) else 1
