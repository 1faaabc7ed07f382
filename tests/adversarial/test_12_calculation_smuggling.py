"""No formula is ever sent, and no formula of a server leaves its source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groundplan.project import Project
from tests.sources.tableau.calling import SALES, opened
from tests.sources.tableau.double.tableau import Tableau
from tests.sources.tableau.test_source_metadata import described
from tests.tableau.asking import proposal, refused, sent
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


@pytest.mark.requirement("R46")
def test_no_formula_and_no_description_leaves_the_source(tableau: Tableau, tmp_path: Path) -> None:
    written = described(opened(tableau, tmp_path)).model_dump_json()
    assert "Profit Ratio" in written
    for unsaid in ("SUM(", "[Profit]", "DATEDIFF", "Revenue of the line"):
        assert unsaid not in written
