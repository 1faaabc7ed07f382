"""Converts the input schema of an MCP tool to the closed form that the params of a plan have.

The result is mostly narrower than the server's schema. Patterns and conditions between arguments are left to the
server to check: a pattern from outside is never run here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator

from groundplan.sources.mcp.plain_text import is_plain, one_line
from groundplan.sources.mcp.references import Unresolved, resolved

Schema = dict[str, Any]

DEEPEST = 8
MOST_PARTS = 500  # of one tool's schema
MOST_LETTERS = 10_000  # of one string
MOST_VALUES = 200  # of one enum
FORMATS = ("date", "date-time", "time", "uuid")
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
SIZES = ("minItems", "maxItems")
OWN = frozenset({"type", "properties", "enum", "const"})  # next to these, anyOf and oneOf are left to the server
SCALARS = ("string", "number", "integer", "boolean")
ANYTHING: Schema = {"type": ["string", "number", "boolean"], "x-value": True, "maxLength": MOST_LETTERS}


class UnsupportedSchema(ValueError):
    """A part of a schema that has no closed form; the message says which part and why."""


def narrowed(schema: Mapping[str, Any]) -> Schema:
    """The params of the catalog's tool: an object, closed at every level. Raises UnsupportedSchema."""
    try:
        params = _Narrowing(schema).part(schema, "params", 0)
    except RecursionError:
        raise UnsupportedSchema("its schema is nested too deeply") from None
    if params.get("type") != "object":
        raise UnsupportedSchema("its arguments are not an object")
    return params


def is_finite(value: object) -> bool:
    """Whether all numbers in it are finite and fit into 64 bits."""
    match value:
        case bool() | str() | None:
            return True
        case int():
            return abs(value) < 2**63
        case float():
            return math.isfinite(value)
        case Mapping():
            return all(map(is_finite, value.values()))
        case Sequence():
            return all(map(is_finite, value))
        case _:
            return False


@dataclass
class _Narrowing:
    whole: Mapping[str, Any]
    parts: int = field(default=0)

    def part(self, given: object, at: str, depth: int) -> Schema:
        """Convert one part of the schema; optional properties without a closed form are left out."""
        self.parts += 1
        if depth > DEEPEST or self.parts > MOST_PARTS:
            raise UnsupportedSchema(f"{at} is too deep or too large")
        schema = self._plain(given, at)
        made = self._closed(schema, at, depth)
        return _described(made, schema)

    def _plain(self, given: object, at: str) -> Mapping[str, Any]:
        """Without references, and without an `allOf` around a single schema."""
        if given is True:
            return {}
        if not isinstance(given, Mapping):
            raise UnsupportedSchema(f"{at} is not a schema")
        try:
            schema = resolved(given, self.whole)
        except Unresolved as error:
            raise UnsupportedSchema(f"{at}: {error}") from None
        together = schema.get("allOf")
        if together is None:
            return schema
        if not isinstance(together, Sequence) or len(together) != 1:
            raise UnsupportedSchema(f"{at} has an allOf")
        return {**self._plain(together[0], at), **{key: value for key, value in schema.items() if key != "allOf"}}

    def _closed(self, schema: Mapping[str, Any], at: str, depth: int) -> Schema:
        for key in ("anyOf", "oneOf"):
            if key in schema and not schema.keys() & OWN:
                return self._one_of(schema[key], f"{at}.{key}", depth)
        if "const" in schema:
            return _of_values([schema["const"]], at)
        if "enum" in schema:
            return _of_values(schema["enum"], at)
        types = _types(schema, at)
        if types == ["object"]:
            return self._object(schema, at, depth)
        if types == ["array"]:
            return self._array(schema, at, depth)
        scalars = [name for name in types if name in SCALARS]
        if types and not scalars:
            raise UnsupportedSchema(f"{at} has an unknown type, or several")
        return _scalar(scalars, schema) if scalars else dict(ANYTHING)

    def _one_of(self, options: object, at: str, depth: int) -> Schema:
        """Plain types and single values are merged; otherwise the first option with a closed form is taken."""
        listed = options if isinstance(options, Sequence) else []
        held: list[Schema] = []
        for option in listed:
            if isinstance(option, Mapping) and option.get("type") == "null":
                continue
            try:
                held.append(self.part(option, at, depth + 1))
            except UnsupportedSchema:
                continue
        if not held:
            raise UnsupportedSchema(f"{at} has no supported option")
        if all("enum" in option for option in held):
            return _of_values([value for option in held for value in option["enum"]], at)
        plain = [option for option in held if option.keys() <= {"type", "x-value", "maxLength", "description"}]
        if len(plain) == len(held) and at.endswith("anyOf"):
            return _scalar(list(dict.fromkeys(name for option in plain for name in _listed(option["type"]))), {})
        return held[0]

    def _object(self, schema: Mapping[str, Any], at: str, depth: int) -> Schema:
        given = schema.get("properties", {})
        required = _names(schema.get("required", []), f"{at}.required")
        if not isinstance(given, Mapping) or (depth and not given):
            raise UnsupportedSchema(f"{at} takes any key")
        unknown = [name for name in required if name not in given]
        if unknown:
            raise UnsupportedSchema(f"{at} requires {one_line(unknown[0], 60)!r}, which it does not describe")
        properties: dict[str, Schema] = {}
        for name, inner in given.items():
            try:
                properties[_name(name, at)] = self.part(inner, f"{at}.{name}", depth + 1)
            except UnsupportedSchema:
                if name in required:
                    raise
        made: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return {**made, "required": required} if required else made

    def _array(self, schema: Mapping[str, Any], at: str, depth: int) -> Schema:
        if "prefixItems" in schema or isinstance(schema.get("items"), Sequence):
            raise UnsupportedSchema(f"{at} is a tuple")
        made: Schema = {"type": "array", "items": self.part(schema.get("items", True), f"{at}[]", depth + 1)}
        made |= {key: schema[key] for key in SIZES if _is_size(schema.get(key))}
        return {**made, "uniqueItems": True} if schema.get("uniqueItems") is True else made


def _described(made: Schema, schema: Mapping[str, Any]) -> Schema:
    """Add the description, and the default if it fits the converted schema."""
    text = schema.get("description")
    if isinstance(text, str) and one_line(text, 200):
        made = {**made, "description": one_line(text, 200)}
    if "default" in schema and schema["default"] is not None and is_finite(schema["default"]):
        with_default = {**made, "default": schema["default"]}
        if Draft202012Validator(made).is_valid(schema["default"]):
            return with_default
    return made


def _scalar(types: Sequence[str], schema: Mapping[str, Any]) -> Schema:
    made: Schema = {"type": types[0] if len(types) == 1 else list(types)}
    made |= {key: schema[key] for key in BOUNDS if _is_number(schema.get(key))}
    if _is_number(schema.get("multipleOf")) and schema["multipleOf"] > 0:
        made["multipleOf"] = schema["multipleOf"]
    if "string" in types:
        most = schema["maxLength"] if _is_size(schema.get("maxLength")) else MOST_LETTERS
        made |= {"x-value": True, "maxLength": min(most, MOST_LETTERS)}
        if _is_size(schema.get("minLength")):
            made["minLength"] = schema["minLength"]
        if schema.get("format") in FORMATS:
            made["format"] = schema["format"]
    return made


def _types(schema: Mapping[str, Any], at: str) -> list[str]:
    """The types without null: a param that may be null can be omitted instead."""
    types = [name for name in _names(_listed(schema.get("type", [])), at) if name != "null"]
    if not types and "properties" in schema:
        return ["object"]
    if not types and "type" in schema:
        raise UnsupportedSchema(f"{at} can only be null")
    return types


def _of_values(given: object, at: str) -> Schema:
    """An enum; its texts must be readable, because a person approves them."""
    values = [value for value in given if value is not None] if isinstance(given, list) else []
    if not 0 < len(values) <= MOST_VALUES or not all(map(_is_plain_scalar, values)):
        raise UnsupportedSchema(f"{at} lists values that cannot be shown, or too many")
    texts = {"type": "string"} if all(isinstance(value, str) for value in values) else {}
    return {**texts, "enum": list(dict.fromkeys(values))}


def _names(given: object, at: str) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise UnsupportedSchema(f"{at} is not a list of names")
    return list(dict.fromkeys(given))


def _name(name: object, at: str) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= 128 or not is_plain(name):
        raise UnsupportedSchema(f"{at} has a name that cannot be shown")
    return name


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _is_plain_scalar(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= 200 and is_plain(value)
    return isinstance(value, bool) or _is_number(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 2**31
