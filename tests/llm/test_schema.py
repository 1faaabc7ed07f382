"""The schema that is sent: closed, plain enough for every grammar, and filled with the live names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import Field

from groundplan.contracts.contract import Contract, JsonObject
from groundplan.contracts.issue import Issue, Repair
from groundplan.contracts.plan import Coverage, Plan, Route
from groundplan.contracts.reading import Reading, Requirement
from groundplan.contracts.shortlist import Shortlist
from groundplan.contracts.tool import Tool
from groundplan.errors import UsageError
from groundplan.llm.schema import strict_schema

NAMES = ["revenue", 'a "quoted" one', "back\\slash", "новый столбец", "line\nbreak", "emoji 🍒"]
CLOSED: list[type[Contract]] = [Reading, Requirement, Issue, Repair, Coverage, Route, Shortlist]
REFUSED_BY_GRAMMARS = {"uniqueItems", "contains", "multipleOf", "allOf", "oneOf", "if", "$ref", "$defs", "pattern"}


class Odd(Contract):
    """Every constraint that pydantic writes and some grammar refuses."""

    code: Annotated[str, Field(pattern=r"^\p{L}\S*$", min_length=2, max_length=5000)]
    even: Annotated[int, Field(multiple_of=2, ge=0, le=10)]
    share: Annotated[float, Field(gt=0, lt=1)]
    names: frozenset[str]
    few: Annotated[tuple[str, ...], Field(min_length=1, max_length=3)]
    perhaps: Requirement | None = None


CLOSED.append(Odd)


@pytest.mark.parametrize("contract", CLOSED, ids=lambda contract: contract.__name__)
def test_every_object_is_closed_and_no_keyword_is_beyond_a_grammar(contract: type[Contract]) -> None:
    for node in nodes(strict_schema(contract)):
        assert not REFUSED_BY_GRAMMARS & {*node}
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == [*node["properties"]]


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("contract", CLOSED, ids=lambda contract: contract.__name__)
def test_xgrammar_compiles_it(contract: type[Contract]) -> None:
    xgrammar = pytest.importorskip("xgrammar", reason="needs the dependency group `models` (xgrammar)")
    assert xgrammar.Grammar.from_json_schema(json.dumps(schema_with_names(contract)))


@pytest.mark.requirement("R7")
def test_names_fill_every_branch_that_has_the_field_and_leave_none_possible() -> None:
    schema = strict_schema(Reading, {"requirements.value.column": ["a", "b", "a"]})
    columns = [node["properties"]["column"] for node in nodes(schema) if "column" in node.get("properties", {})]
    chosen = {"type": "string", "enum": ["a", "b"]}
    assert len(columns) == 4
    assert all(column in (chosen, {"anyOf": [chosen, {"type": "null"}]}) for column in columns)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (
            {"requirements.value.colum": ["a"]},
            r"at requirements\.value\.colum; .*requirements\.value\.column",
        ),
        ({"follow_up": ["a"]}, "no text field at follow_up"),
        ({"tables": []}, r"Reading\.tables has nothing to choose from"),
    ],
)
def test_choices_that_fit_no_field_are_refused(choices: dict[str, list[str]], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        strict_schema(Reading, choices)


class Tree(Contract):
    children: tuple[Tree, ...] = ()


class Pair(Contract):
    both: tuple[str, int]


class Loose(Contract):
    anything: JsonObject


@pytest.mark.parametrize(
    ("contract", "said"),
    [
        (Plan, r"Plan\.steps\.params is open to any key"),
        (Tool, r"Tool\.params is open to any key"),
        (Loose, r"Loose\.anything is open to any key"),
        (Tree, "holds Tree inside Tree"),
        (Pair, r"Pair\.both uses prefixItems"),
    ],
)
def test_a_contract_that_no_grammar_can_hold_is_refused(contract: type[Contract], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        strict_schema(contract)


def schema_with_names(contract: type[Contract]) -> dict[str, Any]:
    """As it would be sent: with hard names wherever the contract has a column or a table."""
    texts = {"Reading": ["requirements.value.column", "tables"], "Odd": ["names", "few", "perhaps.value.column"]}
    return strict_schema(contract, dict.fromkeys(texts.get(contract.__name__, []), NAMES))


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and every schema within it."""
    yield schema
    for inner in [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]:
        yield from nodes(inner)
    if "items" in schema:
        yield from nodes(schema["items"])
