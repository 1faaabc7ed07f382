"""The base class of all contracts: deeply frozen, and closed to unknown keys."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, PlainSerializer

Name = Annotated[str, Field(min_length=1, max_length=128)]
"""A step, tool, table or column name; the gate checks that it exists."""

StepId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Text = Annotated[str, Field(max_length=2_000)]
Scalar = str | int | float | bool | None
"""A value in a fact or a filter; dates are ISO 8601 strings."""

PLAIN = (str, int, float, type(None))
"""The types of JSON values with nothing inside; `bool` is an `int`. Far faster to ask for than `Mapping`."""
Language = Literal["en", "ru"]
"""The languages in which answers are written and charts are labelled."""


class Contract(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        ser_json_inf_nan="null",
        serialize_by_alias=True,
        defer_build=True,  # build validators on first use, to keep imports fast
    )


def freeze(value: object) -> object:
    """A read-only copy of a JSON value, so that a checked plan cannot be edited."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: object) -> object:
    """A copy of a JSON value in plain dicts and lists, as `json` and `jsonschema` require."""
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


JsonObject = Annotated[
    Mapping[str, JsonValue], AfterValidator(freeze), PlainSerializer(thaw, return_type=dict[str, JsonValue])
]
"""A read-only JSON object."""
