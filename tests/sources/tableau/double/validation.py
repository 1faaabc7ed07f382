"""Requests held against Tableau's own specification, branch by branch.

The specification as it stands says less than it means: `Filter` names its branches only in a discriminator, which
validators pass over, and `additionalProperties: false` beside `allOf` forbids what the other part asks for. Here every
component is made flat, a discriminator becomes a choice, and a key that no branch knows is refused.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match
from tests.sources.tableau.double.errors import refused

SPEC = Path(__file__).parents[1] / "spec" / "VizQLDataServiceOpenAPISchema.json"
PREFIX = "#/components/schemas/"
Schema = dict[str, Any]


def check(component: str, body: object) -> None:
    """Raises 400802 where the body is not what the component says."""
    fault = best_match(_validator(component).iter_errors(body))
    if fault is not None:
        where = "/".join(str(part) for part in fault.absolute_path) or "the body"
        raise refused("400802", f"{where}: {fault.message}"[:400])


@cache
def _validator(component: str) -> Draft202012Validator:
    components = json.loads(SPEC.read_text())["components"]["schemas"]
    distinct_sentences = {name: _told_apart(components, name) for name in components}
    schema = {"$ref": PREFIX + component, "components": {"schemas": distinct_sentences}}
    return Draft202012Validator(schema, format_checker=FormatChecker(["date"]))


def _told_apart(components: dict[str, Schema], name: str) -> Schema:
    schema = components[name]
    if "discriminator" not in schema or "oneOf" in schema:
        return _flat(components, name)
    chooser = schema["discriminator"]["propertyName"]
    choices = [
        {"if": {"properties": {chooser: {"const": value}}}, "then": {"$ref": branch}}
        for value, branch in schema["discriminator"]["mapping"].items()
    ]
    known = {chooser: schema["properties"][chooser]}
    return {"type": "object", "required": [chooser], "properties": known, "allOf": choices}


def _flat(components: dict[str, Schema], name: str) -> Schema:
    """The component with everything that it is said to be all of, and nothing else allowed."""
    merged = _merged(components, components[name])
    if merged.get("type") != "object":
        return merged
    merged.setdefault("additionalProperties", name.endswith(("Request", "Options")))  # newer clients send newer options
    return merged


def _merged(components: dict[str, Schema], schema: Schema) -> Schema:
    """`{}` beside a property only repeats its name: what the other part says of it counts."""
    schema = _nullable(schema)
    whole: Schema = {**schema, "properties": {}, "required": []}
    whole.pop("allOf", None)
    for part in (*schema.get("allOf", ()), {key: value for key, value in schema.items() if key != "allOf"}):
        told = _merged(components, components[part["$ref"].removeprefix(PREFIX)]) if "$ref" in part else part
        whole["properties"] |= {key: _nullable(value) for key, value in told.get("properties", {}).items() if value}
        whole["required"] += told.get("required", [])
    if "type" not in schema and whole["properties"]:
        whole["type"] = "object"
    return whole


def _nullable(schema: Schema) -> Schema:
    """OpenAPI 3.0 says `nullable` where JSON Schema lists the type."""
    if schema.get("nullable") and "type" in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return schema
