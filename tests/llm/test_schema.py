"""The schema that is sent: closed, plain enough for every grammar, and filled with the live names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from groundplan.asking.tables.adapt.changes import Adaptation, EditOffer
from groundplan.asking.tables.model.reply import SqlReply
from groundplan.contracts.contract import Contract, JsonObject, Name, Scalar
from groundplan.contracts.issue import Issue, Repair
from groundplan.contracts.plan import Coverage, Plan, Route
from groundplan.contracts.reading import Reading
from groundplan.contracts.shortlist import Shortlist
from groundplan.contracts.tool import Tool
from groundplan.errors import UsageError
from groundplan.llm.schema import strict_schema
from tests.checking.asked import asked, catalog

NAMES = ["revenue", 'a "quoted" one', "back\\slash", "новый столбец", "line\nbreak", "emoji 🍒"]
REFUSED_BY_GRAMMARS = {"uniqueItems", "contains", "multipleOf", "allOf", "oneOf", "if", "$ref", "$defs", "pattern"}


class Total(Contract):
    kind: Literal["total"] = "total"
    column: Name | None = None


class Grouping(Contract):
    kind: Literal["grouping"] = "grouping"
    column: Name


class Kept(Contract):
    kind: Literal["kept"] = "kept"
    column: Name
    values: tuple[Scalar, ...] = ()


class Wish(Contract):
    id: Name
    value: Annotated[Total | Grouping | Kept, Field(discriminator="kind")]


class Wishes(Contract):
    """A union in a list, as a model may be asked for."""

    requirements: tuple[Wish, ...]
    tables: tuple[Name, ...] = ()
    follow_up: bool = False


CLOSED: list[type[Contract]] = [Wishes, Wish, Issue, Repair, Coverage, Route, Shortlist]


class Odd(Contract):
    """Every constraint that pydantic writes and some grammar refuses."""

    code: Annotated[str, Field(pattern=r"^\p{L}\S*$", min_length=2, max_length=5000)]
    even: Annotated[int, Field(multiple_of=2, ge=0, le=10)]
    share: Annotated[float, Field(gt=0, lt=1)]
    names: frozenset[str]
    few: Annotated[tuple[str, ...], Field(min_length=1, max_length=3)]
    perhaps: Wish | None = None


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


def test_the_schema_of_a_reading_is_small_and_a_grammar() -> None:
    written = json.dumps(strict_schema(SqlReply))
    assert len(written) < 4_000, "hosted servers refuse long schemas"
    xgrammar = pytest.importorskip("xgrammar", reason="needs the dependency group `models` (xgrammar)")
    assert xgrammar.Grammar.from_json_schema(written)


@pytest.mark.requirement("R7")
def test_names_fill_every_branch_that_has_the_field_and_leave_none_possible() -> None:
    schema = strict_schema(Wishes, {"requirements.value.column": ["a", "b", "a"]})
    columns = [node["properties"]["column"] for node in nodes(schema) if "column" in node.get("properties", {})]
    chosen = {"type": "string", "enum": ["a", "b"]}
    assert len(columns) == 3
    assert all(column in (chosen, {"anyOf": [chosen, {"type": "null"}]}) for column in columns)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        (
            {"requirements.value.colum": ["a"]},
            r"at requirements\.value\.colum; .*requirements\.value\.column",
        ),
        ({"follow_up": ["a"]}, "no text field at follow_up"),
        ({"tables": []}, r"Wishes\.tables has nothing to choose from"),
    ],
)
def test_choices_that_fit_no_field_are_refused(choices: dict[str, list[str]], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        strict_schema(Wishes, choices)


ASKED = asked("metric:revenue:sum", "group_by:region", "filter:region:in:West:East", "filter:units:>:50", "rank:top:3")
CHANGED = Plan.model_validate(
    {
        "strategy": "hand",
        "steps": [
            {"id": "rows", "tool": "filter_rows", "params": {"table": "sales"}},
            {"id": "totals", "tool": "aggregate", "needs": ["rows"]},
            {"id": "chart", "tool": "plot_bar", "needs": ["totals"]},
            {"id": "added1", "tool": "rank_rows", "needs": ["totals"]},
        ],
    }
)


def offer(*tools: str, reading: Reading = ASKED) -> EditOffer:
    """Of these tools, and columns with hard names."""
    known = catalog().tools
    return EditOffer(
        base=CHANGED,
        requirements=reading.requirements,
        tools={name: known[name] for name in known},
        added=frozenset(tools),
        serves=dict.fromkeys(known, tuple(r.id for r in reading.requirements)),
        table="sales",
        columns={**dict.fromkeys(NAMES, frozenset({"number"})), "date": frozenset({"time"})},
        least=0,
    )


def branches(schema: dict[str, Any], op: str) -> list[dict[str, Any]]:
    found = [branch["properties"] for branch in schema["properties"]["changes"]["items"]["anyOf"]]
    return [fields for fields in found if fields["op"] == {"enum": [op]}]


@pytest.mark.requirement("R7", "R19")
def test_xgrammar_compiles_the_changes_of_a_plan_with_every_tool() -> None:
    xgrammar = pytest.importorskip("xgrammar", reason="needs the dependency group `models` (xgrammar)")
    schema = offer(*catalog().tools).schema
    assert len(branches(schema, "add")) > 15
    assert xgrammar.Grammar.from_json_schema(json.dumps(schema))


@pytest.mark.requirement("R7", "R35")
def test_everything_that_a_change_may_say_is_a_choice_except_its_reason() -> None:
    schema = offer(*catalog().tools).schema
    for node in nodes(schema):
        assert not REFUSED_BY_GRAMMARS & {*node}
        assert node.get("type") not in ("string", "number", "integer") or node == {"type": "string", "maxLength": 80}
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == [*node["properties"]]


@pytest.mark.requirement("R7", "R35")
def test_a_filter_is_one_that_was_asked_for_and_a_number_one_that_was_said() -> None:
    modified = {
        fields["step"]["enum"][0]: fields["params"]["properties"] for fields in branches(offer().schema, "modify")
    }
    first, second = [condition["properties"] for condition in modified["rows"]["conditions"]["items"]["anyOf"]]
    values = {"type": "array", "minItems": 2, "maxItems": 2, "items": {"enum": ["West", "East"]}}
    assert first == {"column": {"enum": ["region"]}, "operator": {"enum": ["in"]}, "values": values}
    assert second["values"]["items"] == {"enum": [50]}
    assert modified["added1"]["limit"] == {"enum": [50, 3]}
    assert modified["added1"]["by"] == {"enum": NAMES}
    assert modified["chart"]["y"] == {"enum": NAMES}
    assert modified["chart"]["x"] == {"anyOf": [{"enum": [*NAMES, "date"]}, {"type": "null"}]}


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("tool", ["filter_rows", "rank_rows", "compare_periods", "save_table", "join_tables"])
def test_a_tool_that_needs_what_the_question_does_not_say_is_not_offered(tool: str) -> None:
    plain = offer(tool, "aggregate", reading=asked("metric:revenue:sum", "group_by:region")).schema
    assert [fields["tool"]["enum"] for fields in branches(plain, "add")] == [["aggregate"]]


def test_series_are_told_apart_by_the_groups_that_were_asked_for() -> None:
    params = {
        fields["tool"]["enum"][0]: fields["params"]["properties"]
        for fields in branches(offer("detect_anomalies", "distribution_stats", "aggregate").schema, "add")
    }
    assert params["detect_anomalies"]["by"] == {
        "type": "array",
        "minItems": 1,
        "maxItems": 1,
        "items": {"enum": ["region"]},
    }
    assert params["distribution_stats"]["by"] == {"enum": ["region"]}
    assert params["aggregate"]["group_by"]["items"] == {"enum": [*NAMES, "date"]}


def test_a_new_step_gets_an_id_that_is_free_and_needs_a_table() -> None:
    [added] = branches(offer("plot_bar").schema, "add")
    assert added["id"]["enum"] == ["added2", "added3", "added4"]
    assert added["needs"]["items"]["enum"] == ["rows", "totals", "added1", "added2", "added3", "added4"]


@pytest.mark.requirement("R7")
@pytest.mark.parametrize(("step", "taken"), [("totals", True), ("total", False)])
def test_a_ready_schema_is_sent_as_it_is_and_the_answer_held_to_it(step: str, taken: bool) -> None:
    pytest.importorskip("openai", reason="needs the extra `llm`")
    from groundplan.llm.client import Model
    from groundplan.llm.reply import Reply
    from tests.llm.scripted import PROBED, says, scripted

    answer, schema = {"changes": [{"op": "remove", "step": step}]}, offer().schema

    async def ask() -> tuple[object, Any]:
        async with scripted(says(PROBED), says(json.dumps(answer))) as server, Model.open(server.endpoint()) as model:
            return await model.ask("Change it.", Adaptation, schema=schema), server.requests[-1]

    told, request = asyncio.run(ask())
    assert request["response_format"]["json_schema"]["schema"] == schema
    assert isinstance(told, Reply) is taken


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
        (Tree, "contains Tree inside Tree"),
        (Reading, "contains Arithmetic inside Arithmetic"),
        (Pair, r"Pair\.both uses prefixItems"),
    ],
)
def test_a_contract_that_no_grammar_can_hold_is_refused(contract: type[Contract], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        strict_schema(contract)


def schema_with_names(contract: type[Contract]) -> dict[str, Any]:
    """As it would be sent: with hard names wherever the contract has a column or a table."""
    texts = {"Wishes": ["requirements.value.column", "tables"], "Odd": ["names", "few", "perhaps.value.column"]}
    return strict_schema(contract, dict.fromkeys(texts.get(contract.__name__, []), NAMES))


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and every schema within it."""
    yield schema
    for inner in [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]:
        yield from nodes(inner)
    if "items" in schema:
        yield from nodes(schema["items"])
