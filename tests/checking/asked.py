"""Readings, schemas and drafts for the cases, written short."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from groundplan.catalog.catalog import Catalog
from groundplan.checking.draft import Draft
from groundplan.contracts.bounds import Bounds
from groundplan.contracts.knowledge import KnowledgeSchema, LookupIntent, NodeType, Relation
from groundplan.contracts.plan import Fallback, Limits, Plan, Step, Strategy
from groundplan.contracts.reading import Entity, Evidence, Filter, GroupBy, Metric, Reading, Requirement
from groundplan.contracts.relationship import Relationship
from groundplan.contracts.schema import Column, NamedMetric, SourceSchema, Table
from groundplan.contracts.tool import Tool
from tests.questions.notation import condition, value

SOURCES = Path(__file__).parents[2] / "src/groundplan/sources"
TOOLS = [SOURCES / name / "tools.yaml" for name in ("tables", "knowledge")]

SEND_MAIL = Tool.model_validate(
    {
        "name": "send_mail",
        "description": "Send an e-mail to a customer.",
        "source": "mail",
        "capabilities": ["act"],
        "params": {
            "type": "object",
            "properties": {"to": {"enum": ["customer"]}},
            "additionalProperties": False,
        },
        "output": {"kind": "facts"},
        "effect": "write",
        "cost": 900,
    }
)

FIND_CUSTOMER = Tool.model_validate(
    {
        "name": "find_customer",
        "description": "Find a customer by number.",
        "source": "mail",
        "capabilities": ["retrieve"],
        "params": {"type": "object", "properties": {"number": {"type": "integer"}}, "additionalProperties": False},
        "output": {"kind": "facts"},
        "returns": {
            "type": "object",
            "properties": {
                "number": {"type": "integer"},
                "email": {"type": "string"},
                "address": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        },
        "effect": "read",
    }
)
INVITE = Tool.model_validate(
    {
        "name": "invite",
        "description": "Invite guests to an event.",
        "source": "mail",
        "capabilities": ["act"],
        "params": {
            "type": "object",
            "properties": {
                "guests": {"type": "array", "items": {"type": "string", "x-value": True}},
                "city": {"type": "string", "x-value": True},
                "seats": {"type": "number"},
            },
            "additionalProperties": False,
        },
        "output": {"kind": "facts"},
        "effect": "write",
    }
)
LIST_CUSTOMERS = Tool.model_validate(
    {
        "name": "list_customers",
        "description": "List customers of a city.",
        "source": "mail",
        "capabilities": ["retrieve"],
        "params": {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False},
        "output": {"kind": "facts"},
        "returns": {
            "type": "object",
            "properties": {"number": {"type": "integer"}, "email": {"type": "string"}},
            "x-many": True,
        },
        "effect": "read",
    }
)
OTHERS = (SEND_MAIL, FIND_CUSTOMER, INVITE, LIST_CUSTOMERS)


def _column(name: str, kind: str, role: str) -> Column:
    return Column.model_validate({"name": name, "type": kind, "kind": kind, "role": role})


SCHEMA = SourceSchema(
    source="tables",
    engine="duckdb",
    tables=(
        Table(
            name="sales",
            columns=(
                _column("date", "time", "temporal"),
                _column("region", "text", "dimension"),
                _column("product_category", "text", "dimension"),
                _column("channel", "text", "dimension"),
                _column("units", "number", "measure"),
                _column("revenue", "number", "measure"),
            ),
        ),
        Table(
            name="orders",
            columns=(
                _column("order_id", "number", "id"),
                _column("ordered", "text", "temporal"),
                _column("freight", "number", "measure"),
            ),
            keys=(("order_id",),),
        ),
        Table(
            name="items",
            columns=(
                _column("order_id", "number", "id"),
                _column("product", "text", "dimension"),
                _column("amount", "number", "measure"),
            ),
        ),
        Table(name="cities", columns=(_column("city", "text", "id"), _column("country", "text", "dimension"))),
        Table(
            name="stays",
            columns=(
                _column("origin", "text", "dimension"),
                _column("target", "text", "dimension"),
                _column("nights", "number", "measure"),
            ),
        ),
        Table(
            name="published",
            columns=(
                _column("area", "text", "dimension"),
                _column("turnover", "number", "measure"),
                _column("margin", "number", "measure").model_copy(update={"aggregated": True}),
            ),
        ),
    ),
    relationships=(
        Relationship(table="items", columns=("order_id",), to_table="orders", to_columns=("order_id",)),
        Relationship(table="stays", columns=("origin",), to_table="cities", to_columns=("city",)),
        Relationship(table="stays", columns=("target",), to_table="cities", to_columns=("city",)),
    ),
    metrics=(NamedMetric(name="turnover", table="sales", expression=value("sum(revenue)")),),
)


KNOWLEDGE = SourceSchema(
    source="knowledge",
    engine="graph",
    tables=(),
    knowledge=KnowledgeSchema(
        source="knowledge",
        types=(NodeType(name="project"), NodeType(name="technology")),
        relations=(Relation(name="uses", origin="project", target="technology"),),
        intents=(LookupIntent(name="stack", about="project", path=("uses",)),),
    ),
)


def catalog(*more: Tool) -> Catalog:
    built_in = Catalog.load(TOOLS)
    return Catalog.of([*built_in.tools.values(), *OTHERS, *more])


def asked(*short: str) -> Reading:
    """`metric:revenue:sum`, `time:date:month`, `filter:region:=:West`, `rank:top:5`, `intent:stack:atlas:offset=10`, …

    An expression is in the notation of `tests/questions`: `metric rate = rows(region == 'West') / rows()`. `of items,
    orders` are the tables, the one that the question is about first; `join items.order_id > orders.order_id` names a
    join that only the reading has.
    """
    tables = [name for item in short if item.startswith("of ") for name in item[3:].split(", ")]
    joins = tuple(_join(item) for item in short if item.startswith("join "))
    short = tuple(item for item in short if not item.startswith(("of ", "join ")))
    entities = tuple(Entity(id=item.split(":")[2], type="project") for item in short if item.startswith("intent:"))
    requirements = tuple(_requirement(item) for item in short)
    return Reading(
        question="a question", tables=tuple(tables), joins=joins, requirements=requirements, entities=entities
    )


def _join(short: str) -> Relationship:
    (table, column), (to_table, to_column) = (end.split(".") for end in short.removeprefix("join ").split(" > "))
    return Relationship(table=table, columns=(column,), to_table=to_table, to_columns=(to_column,))


def _requirement(short: str) -> Requirement:
    if named := re.match(r"(metric|group_by|filter) (\w+) = (.+)", short):
        return _expressed(*named.groups())
    kind, *rest = short.split(":")
    first, second = rest[0], rest[1] if len(rest) > 1 else None
    values: dict[str, Callable[[], dict[str, object]]] = {
        "metric": lambda: {"column": None if first == "rows" else first, "function": second},
        "group_by": lambda: {"column": first},
        "time": lambda: {"column": first, "grain": second},
        "analysis": lambda: {"label": first},
        "output": lambda: {"label": first, "chart": second},
        "filter": lambda: {"column": first, "operator": second, "values": [_value(v) for v in rest[2:]]},
        "rank": lambda: {"direction": first, "limit": int(second or 1)},
        "goal": lambda: {"text": first, **_hanging(rest[1:])},
        "constraint": lambda: {"text": first, **_hanging(rest[1:])},
        "intent": lambda: {"intent": first, "entity": second, **dict(part.split("=") for part in rest[2:])},
    }
    name = f"{first}{second}" if kind == "rank" else first
    return Requirement.model_validate(
        {"id": f"{kind}:{name}", "value": {"kind": kind, **values[kind]()}, "evidence": Evidence(text=short)}
    )


def _expressed(kind: str, name: str, text: str) -> Requirement:
    made: dict[str, Callable[[], Metric | GroupBy | Filter]] = {
        "metric": lambda: Metric(name=name, expression=value(text)),
        "group_by": lambda: GroupBy(column=name, expression=value(text)),
        "filter": lambda: Filter(condition=condition(text)),
    }
    return Requirement(id=f"{kind}:{name}", value=made[kind](), evidence=Evidence(text=text))


def _hanging(rest: Sequence[str]) -> dict[str, object]:
    """`goal:g2:if:c1`, `goal:g3:else:c1`, `goal:g4:each`"""
    if rest == ["each"]:
        return {"each": True}
    return {"when": f"constraint:{rest[1]}", "holds": rest[0] == "if"} if rest else {}


def _value(text: str) -> str | int:
    return int(text) if text.isdigit() else text


def draft(
    steps: Sequence[dict[str, object]],
    asks: Sequence[str],
    using: Catalog,
    source: bool = True,
    fallback: dict[str, object] | None = None,
    limits: dict[str, object] | None = None,
    strategy: str = "hand",
    bounds: dict[str, object] | None = None,
    lacks: Sequence[str] = (),
) -> Draft:
    plan = Plan(
        strategy=cast(Strategy, strategy),
        steps=tuple(Step.model_validate(step) for step in steps),
        fallback=Fallback.model_validate(fallback) if fallback else None,
        limits=Limits.model_validate(limits or {}),
    )
    tables = SCHEMA.model_copy(update={"lacks": tuple(lacks)})
    schemas = {"tables": tables, "knowledge": KNOWLEDGE} if source else {}
    return Draft(plan, asked(*asks), using, schemas, Bounds.model_validate(bounds or {}))
