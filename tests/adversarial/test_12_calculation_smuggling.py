"""A formula runs only if the catalog lists it, and no formula of a server leaves its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.tool import Tool
from tests.checking.test_queries import FIELDS, TOTALS, codes, tools, verdict_on  # noqa: F401
from tests.sources.tableau.calling import opened
from tests.sources.tableau.double.tableau import Tableau
from tests.sources.tableau.test_source_metadata import described


@pytest.mark.requirement("R32", "R41")
def test_a_formula_passes_only_where_the_tool_lists_it(tools: Catalog) -> None:
    described: Any = tools.tools["query_table"].model_dump()
    fields = described["params"]["properties"]["query"]["properties"]["fields"]["items"]["properties"]
    fields["calculation"] = {"enum": ["SUM([revenue]) / SUM([units])"]}
    listing = Catalog.of(
        [*(t for t in tools.tools.values() if t.name != "query_table"), Tool.model_validate(described)]
    )
    for formula, wanted in (("SUM([revenue]) / SUM([units])", False), ("RAWSQL_INT('1')", True)):
        verdict = verdict_on(TOTALS, [*FIELDS, {"fieldCaption": "price", "calculation": formula}], tools=listing)
        assert ("query/free-calculation" in codes(verdict)) is wanted


@pytest.mark.requirement("R46")
def test_no_formula_and_no_description_leaves_the_source(tableau: Tableau, tmp_path: Path) -> None:
    written = described(opened(tableau, tmp_path)).model_dump_json()
    assert "Profit Ratio" in written
    for unsaid in ("SUM(", "[Profit]", "DATEDIFF", "Revenue of the line"):
        assert unsaid not in written
