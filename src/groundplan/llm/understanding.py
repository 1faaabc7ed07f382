"""Turns a completion into a contract: parses it and validates it against the schema and the contract."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, Literal

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from groundplan.llm.extraction import NoJson, extract
from groundplan.llm.reply import Into
from groundplan.llm.schema import Schema
from groundplan.llm.wire import Completion

MOST_FAULTS = 20  # compared to choose the one to report: a long wrong answer has thousands
REFUSALS = {"refusal", "content_filter"}


@dataclass(frozen=True)
class Understood(Generic[Into]):
    value: Into
    repaired: bool


@dataclass(frozen=True)
class NotUnderstood:
    reason: Literal["length", "refused", "not_json", "wrong_shape"]
    problem: str


def understand(completion: Completion, schema: Schema, into: type[Into]) -> Understood[Into] | NotUnderstood:
    """The filled-in contract; fields that have a default may be left out.

    The schema is checked too, because only it lists the allowed names.
    """
    if completion.finish_reason == "length":
        return NotUnderstood("length", "the answer was cut off at the token limit; shorten it, or allow more tokens")
    if completion.finish_reason in REFUSALS:
        return NotUnderstood("refused", "the model declined to answer")
    found = extract(completion.text)
    if isinstance(found, NoJson):
        return NotUnderstood("not_json", found.problem)
    told = {**_defaults(into, schema), **found.value}
    with suppress(ValidationError):  # what is wrong is told in the words of the schema
        told = _filled(told, into.model_validate_json(json.dumps(told)).model_dump(mode="json", by_alias=True), schema)
    fault = best_match(islice(Draft202012Validator(schema).iter_errors(told), MOST_FAULTS))
    if fault is not None:
        return NotUnderstood("wrong_shape", f"{fault.json_path}: {fault.message}")
    try:
        return Understood(into.model_validate_json(json.dumps(told)), found.repaired)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return NotUnderstood("wrong_shape", f"{'.'.join(map(str, first['loc']))}: {first['msg']}")


def _defaults(into: type[Into], schema: Schema) -> dict[str, object]:
    """The required fields of the schema for which the contract has a default, with it."""
    required = schema.get("required")
    names = [name for name in required if name in into.model_fields] if isinstance(required, list) else []
    fields = {str(name): into.model_fields[str(name)] for name in names}
    return {name: to_jsonable_python(field.get_default()) for name, field in fields.items() if not field.is_required()}


def _filled(told: Any, whole: Any, schema: Any) -> Any:
    """The reply with the defaults of the contract for fields inside it that are left out and that the schema has."""
    if isinstance(told, list) and isinstance(whole, list) and len(told) == len(whole) and "items" in schema:
        return [_filled(*pair, schema["items"]) for pair in zip(told, whole, strict=True)]
    if not isinstance(told, dict) or not isinstance(whole, dict) or not isinstance(schema.get("properties"), dict):
        return told
    fields = {name: inner for name, inner in schema["properties"].items() if name in told or name in whole}
    kept = {name: value for name, value in told.items() if name not in fields}
    return kept | {
        name: _filled(told[name], whole.get(name), inner) if name in told else whole[name]
        for name, inner in fields.items()
    }
