"""Texts of parts: every reference in them is found, and one that is written wrongly never gets through."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.catalog.catalog import Catalog
from groundplan.checking.gate import check
from groundplan.contracts.plan import Plan
from groundplan.contracts.references import references
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Passed, Refused, Verdict
from tests.checking.asked import FIND_CUSTOMER, asked

NOTE = Tool.model_validate(
    {
        "name": "note",
        "description": "Write a note about a customer.",
        "source": "mail",
        "capabilities": ["act"],
        "params": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "maxLength": 10_000, "x-value": True},
                "tags": {"type": "array", "items": {"type": "string", "x-value": True}},
                "at": {
                    "type": "object",
                    "properties": {
                        "city": {"type": "string", "x-value": True},
                        "land": {"type": "string", "x-value": True, "default": "DE"},
                    },
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        },
        "output": {"kind": "facts"},
        "effect": "write",
    }
)
TOOLS = Catalog.of([FIND_CUSTOMER, NOTE])
FIELDS = ("email", "number", "address.city", "text")

fields = st.sampled_from(FIELDS).map(lambda field: {"$from": f"who.{field}"})
parts = st.lists(st.text(max_size=8) | fields, min_size=1, max_size=20)
joins = parts.map(lambda listed: {"$join": listed})
texts = st.text(max_size=8) | st.just({"$from": "who.email"}) | joins
sound = st.fixed_dictionaries({}, optional={"text": texts, "tags": st.lists(texts, max_size=3)})
neither = st.sampled_from(
    [
        None,
        5,
        2.5,
        True,
        [],
        {},
        ["a"],
        {"$from": "who"},
        {"$from": 5},
        {"$from": "who.email", "x": 1},
        {"$join": ["a"]},
    ]
)
malformed: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({"$join": []}),
    st.lists(st.text(max_size=3) | fields, min_size=21, max_size=25).map(lambda listed: {"$join": listed}),
    st.sampled_from(["a", None, 1, {}, {"0": "a"}]).map(lambda listed: {"$join": listed}),
    st.tuples(joins, st.sampled_from(["$from", "upper", ""])).map(lambda made: {**made[0], made[1]: "who.email"}),
    st.tuples(parts, neither, st.integers(0, 20)).map(
        lambda made: {"$join": [*made[0][: made[2]], made[1], *made[0][made[2] :]]}
    ),
)
places = st.sampled_from(["text", "tags", "at", "at.city"])


def checked(params: dict[str, Any]) -> Verdict:
    steps = [
        {"id": "who", "tool": "find_customer", "params": {"number": 7}, "satisfies": ["goal:note"]},
        {"id": "note", "tool": "note", "params": params, "needs": ["who"], "satisfies": ["goal:note"]},
    ]
    return check(Plan.model_validate({"strategy": "hand", "steps": steps}), asked("goal:note"), TOOLS)


def put(value: object, place: str) -> dict[str, Any]:
    match place:
        case "tags":
            return {"tags": ["a", value]}
        case "at.city":
            return {"at": {"city": value}}
        case _:
            return {place: value}


@pytest.mark.requirement("R31", "R32")
@settings(max_examples=300, deadline=None)
@given(sound)
def test_whatever_is_rightly_joined_passes(params: dict[str, Any]) -> None:
    verdict = checked(params)
    assert isinstance(verdict, Passed), verdict


@pytest.mark.requirement("R31")
@settings(max_examples=500, deadline=None)
@given(malformed, places)
def test_whatever_is_wrongly_joined_is_refused_with_its_place(value: object, place: str) -> None:
    params = put(value, place)
    verdict = checked(params)
    assert isinstance(verdict, Refused)
    [issue] = [issue for issue in verdict.issues if issue.code == "types/malformed-join"]
    assert issue.path == "steps.1.params." + ("tags.1" if place == "tags" else place)


@settings(max_examples=300, deadline=None)
@given(sound)
def test_every_reference_is_found_with_the_path_that_leads_to_it(params: dict[str, Any]) -> None:
    found = dict(references(params))
    assert len(found) == str(params).count("'$from': 'who.")
    for path, reference in found.items():
        value: Any = params
        for name in path.split(".")[1:]:
            value = value[int(name)] if isinstance(value, list) else value[name]
        assert value == {"$from": str(reference)}


@pytest.mark.requirement("R31")
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_one_wrong_reference_among_right_parts_is_refused(data: st.DataObject) -> None:
    listed: list[object] = data.draw(st.lists(st.text(max_size=8) | fields, max_size=19))
    place = data.draw(st.integers(0, len(listed)))
    wrong, code = data.draw(
        st.sampled_from(
            [
                ("who.nobody", "types/unknown-reference"),
                ("other.email", "types/unknown-reference"),
                ("who.address", "types/unfit-reference"),
            ]
        )
    )
    verdict = checked({"text": {"$join": [*listed[:place], {"$from": wrong}, *listed[place:]]}})
    assert isinstance(verdict, Refused)
    assert [(issue.code, issue.path) for issue in verdict.issues] == [(code, f"steps.1.params.text.$join.{place}")]


@pytest.mark.parametrize("params", [{"at": {"$join": ["a"]}}, {"tags": {"$join": ["a"]}}, {"$join": ["a"]}])
def test_a_text_is_not_taken_for_an_object_or_a_list(params: dict[str, Any]) -> None:
    verdict = checked(params)
    assert isinstance(verdict, Refused)
    assert {issue.code for issue in verdict.issues} == {"types/unfit-reference"}


def test_no_default_is_written_beside_a_reference() -> None:
    verdict = checked({"at": {"$from": "who.address"}})
    assert isinstance(verdict, Passed), verdict
    assert verdict.plan.repairs == ()
