"""Only formulas that code writes from a typed expression are sent; a formula of a server is data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.contracts.expression import Aggregate, Arithmetic, Column
from groundplan.project import Project
from groundplan.sources.tableau.calculation import read, write
from groundplan.sources.tableau.datasource import _columns as columns_of_fields
from groundplan.sources.tableau.models import FieldMetadata
from tests.sources.tableau.calling import SALES
from tests.sources.tableau.double.tableau import Tableau
from tests.tableau.asking import answered, ask, proposal, refused, sent
from tests.tableau.test_faults import BY_REGION as REQUIRED
from tests.tableau.test_faults import GROUPED, project  # noqa: F401

FORMULA = "RAWSQL_INT('1')"
SMUGGLED: dict[str, dict[str, Any]] = {
    "as a calculation": {"metrics": [{**SALES, "calculation": FORMULA}]},
    "as a field": {"metrics": [{**SALES, "column": FORMULA}]},
    "as a group": {"group_by": [FORMULA]},
    "as a function": {"metrics": [{**SALES, "function": FORMULA}]},
    "as a query": {"query": {"fields": [{"fieldCaption": "x", "calculation": FORMULA}]}},
    "as a filtered field": {"conditions": [{"column": FORMULA, "operator": "=", "values": [1]}]},
    "as a condition": {"where": {"kind": "calculation", "calculation": FORMULA}},
}


@pytest.mark.requirement("R32", "R41")
@pytest.mark.parametrize("case", SMUGGLED)
def test_a_formula_is_refused_wherever_it_is_put(tableau: Tableau, project: Project, case: str) -> None:
    refused(project.run(proposal({**GROUPED, **SMUGGLED[case]}, REQUIRED)).outcome)
    assert tableau.requests == []


@pytest.mark.requirement("R32", "R41")
def test_a_formula_in_a_value_or_a_name_stays_text(tableau: Tableau, project: Project) -> None:
    """What is compared with is a value, and what a column is called is a name: neither is ever a calculation."""
    asked = [
        *REQUIRED,
        {
            "id": "filter:Category",
            "value": {"kind": "filter", "column": "Category", "operator": "=", "values": [FORMULA]},
        },
    ]
    params = {"conditions": [{"column": "Category", "operator": "=", "values": [FORMULA]}]}
    named = {"metrics": [{**SALES, "as": FORMULA}]}
    project.run(proposal({**GROUPED, **params, **named}, asked))
    [query] = sent(tableau)
    assert "calculation" not in json.dumps(query)
    assert query["filters"] == [{"field": {"fieldCaption": "Category"}, "filterType": "SET", "values": [FORMULA]}]


@pytest.mark.requirement("R32", "R46")
def test_a_formula_of_the_server_is_short_data_and_is_never_sent(tableau: Tableau, project: Project) -> None:
    answered(ask(project, "profit ratio by region"))
    [query] = sent(tableau)
    assert query["fields"][1] == {"fieldCaption": "Profit Ratio", "sortDirection": "DESC", "sortPriority": 1}
    long = FieldMetadata.model_validate(
        {"fieldCaption": "x", "dataType": "REAL", "columnClass": "CALCULATION", "formula": "SUM(\n[Sales])" * 1_000}
    )
    (column,) = columns_of_fields([long])
    assert len(column.formula) <= 300
    assert "\n" not in column.formula


def total(caption: str) -> Aggregate:
    return Aggregate(function="sum", of=Column(name=caption))


CAPTIONS = ("Sales]) + RAWSQL_REAL('1', [Profit", "a]", "[b", "]]", "SUM([Sales])")


@pytest.mark.requirement("R32", "R46")
@pytest.mark.parametrize("caption", CAPTIONS)
def test_a_caption_that_looks_like_a_formula_stays_a_caption(caption: str) -> None:
    """What is written is read back by other code, and names the same field once."""
    price = Arithmetic(operator="/", left=total(caption), right=total("Sales"))
    formula = write(price)
    assert formula is not None
    assert read(formula) == price
    assert formula.count("[") >= 2
