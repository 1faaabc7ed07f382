"""The JSON schema of a tool's params: a closed subset of draft 2020-12 that cannot hold code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated, Literal

from jsonschema import Draft202012Validator
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    NonNegativeInt,
    TypeAdapter,
    ValidationError,
    with_config,
)
from typing_extensions import TypedDict

from groundplan.catalog.faults import faults
from groundplan.contracts.columns import ColumnKind
from groundplan.text.located_yaml import Place

TypeName = Literal["string", "number", "integer", "boolean", "null", "array", "object"]
Role = Literal[
    "axis",
    "chart",
    "column",
    "derive",
    "filter",
    "grain",
    "group_by",
    "hidden",
    "join",
    "metric",
    "order",
    "period",
    "rank",
    "series",
    "time",
]
CLOSING = frozenset({"enum", "const", "pattern", "format", "x-column", "x-names", "x-new", "x-value", "x-text"})
FREE_TEXT = ("select 1; --", "https://example.org/a?b=c", "../../etc/passwd", "__import__('os')")


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _each_once(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("a name is listed twice")
    return names


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
    return pattern


_Spelt = TypedDict(
    "_Spelt",  # keywords that are not valid Python names, or not snake_case
    {
        "additionalProperties": Literal[False],
        "exclusiveMaximum": float,
        "exclusiveMinimum": float,
        "maxItems": NonNegativeInt,
        "maxLength": NonNegativeInt,
        "minItems": NonNegativeInt,
        "minLength": NonNegativeInt,
        "multipleOf": Annotated[float, Field(gt=0)],
        "uniqueItems": bool,
        "x-column": Literal["any", "number", "time", "text"],
        "x-expression": Literal["value", "condition"],
        "x-input": str,
        "x-instead-of": list[str],
        "x-keep": Literal[True],
        "x-names": Literal["entity", "intent", "relation", "type"],
        "x-new": Literal[ColumnKind, "aggregate", "derive", "like"],
        "x-role": Role,
        "x-text": Literal[True],
        "x-value": Literal[True],
    },
    total=False,
)


@with_config(ConfigDict(extra="forbid", strict=True, defer_build=True))
class Schema(_Spelt, total=False):
    """Every keyword that params may use. Others are refused, so that none can allow a free string."""

    type: Annotated[list[TypeName], BeforeValidator(_listed), Field(min_length=1), AfterValidator(_each_once)]
    description: str
    default: JsonValue
    enum: Annotated[list[JsonValue], Field(min_length=1)]
    const: JsonValue
    minimum: float
    maximum: float
    pattern: Annotated[str, AfterValidator(_compiles)]
    format: Literal["date", "date-time", "time", "uuid"]
    items: Schema
    properties: dict[str, Schema]
    required: Annotated[list[str], AfterValidator(_each_once)]


SCHEMA: TypeAdapter[Schema] = TypeAdapter(Schema)


def params_faults(params: JsonValue, subject: str, ports: frozenset[str]) -> Iterator[tuple[Place, str]]:
    """The place and message of every fault; the rules run only if the params have a valid shape."""
    try:
        schema = SCHEMA.validate_python(params)
    except ValidationError as error:
        yield from faults(error, f"{subject}: params", Schema.__annotations__)
        return
    if schema.get("type") != ["object"]:
        yield (), f"{subject}: params are not an object; write 'type: object'"
    for at, inner in _walk(schema, ()):
        name = ".".join(str(part) for part in ("params", *at))
        for rule in RULES:
            yield from ((at, f"{subject}: {name} {what}") for what in rule(inner))
        if inner.get("x-input") not in (None, *ports):
            yield (
                at,
                f"{subject}: {name} refers to the unknown input {inner['x-input']!r}; name one of the tool's inputs",
            )


def _walk(schema: Schema, at: Place) -> Iterator[tuple[Place, Schema]]:
    yield at, schema
    for name, inner in schema.get("properties", {}).items():
        yield from _walk(inner, (*at, "properties", name))
    if "items" in schema:
        yield from _walk(schema["items"], (*at, "items"))


def open_value(schema: Schema) -> Iterator[str]:
    """Every value has a type, and objects and arrays describe their contents."""
    types = schema.get("type", [])
    if not types and not schema.keys() & {"enum", "const"}:
        yield "takes any value; give it a type or an enum"
    if "object" in types and "additionalProperties" not in schema and "x-expression" not in schema:
        yield "takes any key; add 'additionalProperties: false'"
    if "array" in types and "items" not in schema:
        yield "takes any items; describe them with 'items'"


def open_string(schema: Schema) -> Iterator[str]:
    """No string may hold SQL, code, URLs or paths."""
    if "string" in schema.get("type", []) and not CLOSING & schema.keys():
        yield "is an open string; close it with enum, pattern, format, x-column, x-names, x-new, x-value or x-text"
    pattern = schema.get("pattern")
    if pattern and any(re.search(pattern, text) for text in FREE_TEXT):
        yield f"has the pattern {pattern!r}, which allows code, URLs or paths; anchor and narrow it"


def misused_keyword(schema: Schema) -> Iterator[str]:
    """The `x-` keywords apply only to strings."""
    types = schema.get("type", [])
    for keyword in ("x-column", "x-names", "x-new"):
        if keyword in schema and types != ["string"]:
            yield f"has {keyword!r} and is not a string; write 'type: string' or remove it"
    if "x-expression" in schema and types != ["object"]:
        yield "has 'x-expression' and is not an object; write 'type: object' or remove it"
    if "x-instead-of" in schema and "x-expression" not in schema:
        yield "has 'x-instead-of' without 'x-expression'; add 'x-expression' or remove 'x-instead-of'"
    for keyword in ("x-value", "x-text"):
        if keyword in schema and "string" not in types:
            yield f"has {keyword!r} and cannot be a string; remove it"
    for keyword in ("x-keep", "x-input"):
        if keyword in schema and "x-column" not in schema:
            yield f"has {keyword!r} without 'x-column'; add 'x-column' or remove {keyword!r}"


def unknown_required(schema: Schema) -> Iterator[str]:
    """Every required name is a property."""
    for name in schema.get("required", []):
        if name not in schema.get("properties", {}):
            yield f"requires {name!r}, which is not among its properties; add or remove it"


def unfit_default(schema: Schema) -> Iterator[str]:
    """A default is valid for its own schema."""
    if "default" in schema and not _accepts_default(json.dumps(schema)):
        yield f"has the default {schema['default']!r}, which does not fit its own schema; change one of them"


@lru_cache(maxsize=4096)
def _accepts_default(text: str) -> bool:
    """Cached by the schema's text, because many tools share the same params."""
    schema = json.loads(text)
    return Draft202012Validator(schema).is_valid(schema["default"])


RULES = (open_value, open_string, misused_keyword, unknown_required, unfit_default)
