"""Any input schema becomes closed params, or the tool is left out; nothing open ever passes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from groundplan.catalog.params import params_faults
from groundplan.sources.mcp.params import MOST_LETTERS, UnsupportedSchema, narrowed

TEXT = {"type": "string", "x-value": True, "maxLength": MOST_LETTERS}
PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def one(schema: Any, **whole: Any) -> Any:
    """What becomes of a single property."""
    return narrowed({"type": "object", "properties": {"it": schema}, **whole})["properties"].get("it")


@pytest.mark.requirement("R17")
@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"type": "string"}, TEXT),
        ({"type": "string", "maxLength": 5, "pattern": "^(a+)+$"}, {**TEXT, "maxLength": 5}),
        ({"type": "string", "format": "date"}, {**TEXT, "format": "date"}),
        ({"type": "string", "format": "uri"}, TEXT),
        ({"type": ["integer", "null"], "minimum": 1}, {"type": "integer", "minimum": 1}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}, {"type": "integer"}),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, {**TEXT, "type": ["integer", "string"]}),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": ["a", "b"], "type": "string"}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": [1, 2, None]}, {"enum": [1, 2]}),
        ({"const": True}, {"enum": [True]}),
        ({}, {**TEXT, "type": ["string", "number", "boolean"]}),
        ({"type": "integer", "default": 3}, {"type": "integer", "default": 3}),
        ({"type": "integer", "default": "three"}, {"type": "integer"}),
        ({"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "integer"}}),
        ({"type": "string", "description": "The\u200b word.\n"}, {**TEXT, "description": "The word."}),
        ({"allOf": [{"$ref": "#/$defs/n"}], "description": "Some."}, {"type": "number", "description": "Some."}),
        ({"anyOf": [{"type": "object"}, {"type": "boolean"}]}, {"type": "boolean"}),
        ({"type": ["string", "array"]}, TEXT),
    ],
)
def test_what_can_be_held_is_held(schema: Any, made: Any) -> None:
    assert one(schema, **{"$defs": {"n": {"type": "number"}}}) == made


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#/$defs/circle"},
        {"$ref": "#/$defs/tree"},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"allOf": [{"type": "string"}, {"maxLength": 3}]},
        {"enum": ["\u202ereversed"]},
        {"enum": [{"a": 1}]},
        {"enum": []},
        {"type": "null"},
        {"type": "file"},
        {"type": 3},
        False,
        "string",
    ],
)
def test_what_cannot_be_held_goes_if_it_may_and_else_the_tool_does(schema: Any) -> None:
    circles: dict[str, Any] = {
        "circle": {"$ref": "#/$defs/circle"},
        "tree": {"type": "object", "properties": {"leaf": {"$ref": "#/$defs/tree"}}, "required": ["leaf"]},
    }
    assert one(schema, **{"$defs": circles}) is None
    with pytest.raises(UnsupportedSchema):
        one(schema, **{"$defs": circles}, required=["it"])


def test_nested_objects_are_closed_all_the_way_down() -> None:
    made = one({"type": "array", "items": {"$ref": "#/$defs/p"}}, **{"$defs": {"p": PERSON}})
    closed = {"type": "object", "properties": {"name": TEXT}, "additionalProperties": False, "required": ["name"]}
    assert made == {"type": "array", "items": closed}


def test_conditions_between_arguments_are_left_to_the_server() -> None:
    either = {"anyOf": [{"required": ["it"]}, {"required": ["other"]}]}
    assert one({"type": "string"}, **either) == TEXT


@pytest.mark.parametrize("name", ["", "\u200b", "a\nb", "x" * 129])
def test_a_name_that_cannot_be_shown_is_no_param(name: str) -> None:
    assert narrowed({"type": "object", "properties": {name: {"type": "string"}}})["properties"] == {}


def test_a_schema_that_grows_without_end_is_left_out() -> None:
    defs = {f"s{n}": {"type": "array", "items": {"$ref": f"#/$defs/s{n + 1}"}} for n in range(50)}
    assert one({"$ref": "#/$defs/s0"}, **{"$defs": defs}) is None
    wide = {f"p{n}": {"type": "string"} for n in range(600)}
    with pytest.raises(UnsupportedSchema, match="too large"):
        narrowed({"type": "object", "properties": wide, "required": [*wide]})


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8))
KEYWORDS = {
    "type": st.sampled_from(
        ["string", "number", "integer", "boolean", "null", "array", "object", ["string", "null"], 7]
    ),
    "enum": st.lists(SCALARS, max_size=3),
    "const": SCALARS,
    "default": SCALARS,
    "format": st.sampled_from(["date", "uri", 3]),
    "pattern": st.sampled_from([".*", "(", "^(a+)+$"]),
    "minimum": SCALARS,
    "maxLength": SCALARS,
    "minItems": SCALARS,
    "multipleOf": SCALARS,
    "uniqueItems": SCALARS,
    "description": SCALARS,
    "additionalProperties": st.sampled_from([True, False, {"type": "string"}]),
    "$ref": st.sampled_from(["#", "#/$defs/a", "#/properties/a", "http://x/y", 4]),
    "x-column": st.just("any"),
}


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    nested = {
        "items": inner,
        "properties": st.dictionaries(st.sampled_from(["a", "b", "\u200b"]), inner, max_size=3),
        "required": st.lists(st.sampled_from(["a", "b"]), max_size=2),
        "anyOf": st.lists(inner, max_size=3),
        "oneOf": st.lists(inner, max_size=3),
        "allOf": st.lists(inner, max_size=2),
        "$defs": st.dictionaries(st.just("a"), inner, max_size=1),
    }
    return st.fixed_dictionaries({}, optional={**KEYWORDS, **nested})


ANY_SCHEMA = st.recursive(
    st.one_of(st.booleans(), st.fixed_dictionaries({}, optional=KEYWORDS)), schemas, max_leaves=12
)


@pytest.mark.requirement("R17", "R35")
@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "b"]), ANY_SCHEMA, max_size=2), ANY_SCHEMA)
def test_whatever_a_server_lists_what_passes_is_closed(properties: dict[str, Any], shared: Any) -> None:
    try:
        made = narrowed({"type": "object", "properties": properties, "$defs": {"a": shared}})
    except UnsupportedSchema:
        return
    assert list(params_faults(made, "tool 'x'", frozenset())) == []
    Draft202012Validator.check_schema(made)
