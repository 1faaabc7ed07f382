"""What holds for any tools and any params at all."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.params import FREE_TEXT, SCHEMA, TypeName, params_faults
from groundplan.catalog.store import compile_tools, find_store
from groundplan.contracts.columns import ColumnKind
from groundplan.contracts.tool import Effect, Output, Port, PortKind, Tool

VOCABULARY = Catalog.of([]).vocabulary
ALIASES = VOCABULARY.names.keys() - VOCABULARY.capabilities.keys()

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
labels = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
capabilities = labels.filter(lambda name: name not in ALIASES) | st.sampled_from(sorted(VOCABULARY.capabilities))
tools = st.builds(
    Tool,
    name=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,30}", fullmatch=True),
    description=texts.map(lambda text: f"A tool that {text}."),
    source=labels,
    capabilities=st.lists(capabilities, min_size=1, max_size=4, unique=True).map(tuple),
    inputs=st.lists(st.builds(Port, name=labels, kind=st.sampled_from(get_args(PortKind))), max_size=2).map(tuple),
    params=st.dictionaries(texts, json_values, max_size=4),
    output=st.builds(
        Output,
        kind=st.sampled_from(get_args(PortKind)),
        adds=st.dictionaries(texts, st.sampled_from(get_args(ColumnKind)), max_size=2),
        key=st.none() | st.lists(labels, max_size=2).map(tuple),
    ),
    effect=st.sampled_from(get_args(Effect)),
    cost=st.integers(0, 1_000),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(tools, max_size=6, unique_by=lambda tool: tool.name))
def test_any_tools_come_back_from_the_store_as_they_were(given_tools: list[Tool]) -> None:
    wanted = {tool.name: tool for tool in given_tools}
    store = compile_tools(given_tools, VOCABULARY)
    with TemporaryDirectory() as folder:
        store.save(Path(folder, "catalog.sqlite"))
        kept = find_store(Path(folder, "catalog.sqlite"))
        assert kept is not None
        for catalog in (Catalog(store), Catalog(kept)):
            assert dict(catalog.tools) == wanted
            assert list(catalog.tools) == sorted(wanted)
            for name, tool in wanted.items():
                assert all(name in catalog.tools_with(capability) for capability in tool.capabilities)
                assert catalog.nearest(name) is not None


keywords = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(get_args(TypeName)) | st.lists(st.sampled_from(get_args(TypeName)), max_size=3),
        "description": texts,
        "enum": st.lists(json_values, max_size=3),
        "const": json_values,
        "default": json_values,
        "minimum": numbers,
        "maxItems": st.integers(-1, 5),
        "minLength": st.integers(-1, 5) | texts,
        "multipleOf": numbers,
        "uniqueItems": st.booleans() | st.none(),
        "pattern": st.sampled_from(["^[a-z]{1,9}$", "^.*$", "[", "^[0-9]+$"]),
        "format": st.sampled_from(["date", "uri"]),
        "required": st.lists(labels, max_size=2),
        "additionalProperties": st.booleans(),
        "x-value": st.booleans(),
    },
)
schemas = st.recursive(
    keywords,
    lambda inner: st.builds(
        lambda outer, more: {**outer, **more},
        keywords,
        st.fixed_dictionaries({}, optional={"items": inner, "properties": st.dictionaries(labels, inner, max_size=2)}),
    ),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(schemas)
def test_whatever_shape_we_accept_is_a_json_schema(schema: dict[str, Any]) -> None:
    try:
        SCHEMA.validate_python(schema)
    except ValidationError:
        return
    Draft202012Validator.check_schema(schema)


@settings(max_examples=300, deadline=None)
@given(schemas, st.sampled_from(FREE_TEXT))
def test_no_accepted_params_take_code_outside_a_marked_value(schema: dict[str, Any], code: str) -> None:
    params: dict[str, Any] = {"type": "object", "additionalProperties": False, "properties": {"a": schema}}
    if "x-value" in str(schema) or "enum" in str(schema) or list(params_faults(params, "tool", frozenset())):
        return
    for value in (code, [code], {"a": code}, {code: 1}, [[code]], [{"a": code}]):
        assert not Draft202012Validator(params, format_checker=Draft202012Validator.FORMAT_CHECKER).is_valid(
            {"a": value}
        )
