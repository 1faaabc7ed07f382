"""Which tools get onto the shortlist, and which give way."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.queries import for_reading, for_text
from groundplan.catalog.search.shortlist import SAFETY, narrow
from groundplan.contracts.reading import Evidence, GroupBy, Metric, OutputAsked, Requirement, Time
from groundplan.contracts.shortlist import Shortlist
from groundplan.errors import UsageError
from tests.catalog.search.tooling import anomaly, goal, names, reading, searching, tool

BUILT_IN = Catalog.load([Path(__file__).parents[3] / "src/groundplan/sources/tables/tools.yaml"])
SHIPPING = [tool(name, f"Ships parcels abroad, way {name[-2:]}.") for name in names(20, "ship")]
SAFE = [tool(name) for name in SAFETY]
ASKED = reading("ship my parcels abroad", goal("ship my parcels abroad"))


def why(shortlist: Shortlist) -> list[str]:
    return [candidate.why for candidate in shortlist.tools]


@pytest.mark.requirement("R14")
def test_the_walkthrough_question_gets_what_its_plan_needs() -> None:
    question = "get revenue totals by region and product type over time"
    asked = reading(
        question,
        Requirement(id="metric:revenue", value=Metric(column="revenue"), evidence=Evidence(text="revenue totals")),
        Requirement(id="group_by:region", value=GroupBy(column="region"), evidence=Evidence(text="by region")),
        Requirement(id="time:date", value=Time(column="date"), evidence=Evidence(text="over time")),
        Requirement(id="output:chart", value=OutputAsked(label="chart"), evidence=Evidence(text="over time")),
    )
    shortlist = narrow(asked, BUILT_IN, searching(BUILT_IN), ["parse_datetime"], cap=8)
    assert {"parse_datetime", "aggregate", "plot_line", "compute_summary_stats"} <= set(shortlist.names)
    assert shortlist.tools[0].why == "template"
    assert len(shortlist.tools) <= 10


@pytest.mark.requirement("R14")
def test_there_is_one_query_for_each_requirement_and_a_combined_one() -> None:
    asked = reading("odd revenue", anomaly("odd"), goal("revenue of the north"))
    queries = for_reading(asked, BUILT_IN)
    assert [query.id for query in queries.all] == ["combined", "analysis:anomaly", "goal:revenue"]
    assert queries.whole.text.startswith("odd revenue")
    assert all(word in queries.parts[0].text for word in ("odd", "anomaly", "stand out"))  # evidence, label, capability


def test_a_question_in_russian_is_served_through_its_requirements() -> None:
    asked = reading("покажи аномалии выручки", anomaly("аномалии"))
    assert "detect_anomalies" in narrow(asked, BUILT_IN, searching(BUILT_IN), cap=8, safety=()).names


def test_every_clause_of_a_request_finds_its_own_tool() -> None:
    request = "Count the parcels of last week. Send a birthday letter to Anna. Book a quiet table for two."
    wanted = [tool("count", "Count parcels."), tool("letter", "Send letters."), tool("table", "Book a table.")]
    crowd = [tool(name, "Send a parcel for Anna, quiet, last week.") for name in names(20)]
    search = searching(Catalog.of([*wanted, *crowd]))
    assert {hit.tool for hit in search.search(for_text(request), 3)} == {"count", "letter", "table"}


@pytest.mark.requirement("R14")
def test_retrieved_tools_fill_the_cap_and_the_safety_set_may_exceed_it_by_two() -> None:
    catalog = Catalog.of([*SHIPPING, *SAFE[:2]])
    shortlist = narrow(ASKED, catalog, searching(catalog), ["ship_00"], cap=8)
    assert why(shortlist) == ["template"] + ["retrieved"] * 7 + ["safety"] * 2


@pytest.mark.requirement("R14")
def test_the_lowest_retrieved_tool_makes_place_for_the_third_safety_tool() -> None:
    catalog = Catalog.of([*SHIPPING, *SAFE])
    search = searching(catalog)
    without = narrow(ASKED, catalog, search, cap=8, safety=())
    shortlist = narrow(ASKED, catalog, search, cap=8)
    assert why(shortlist) == ["retrieved"] * 7 + ["safety"] * 3
    assert shortlist.names[:7] == without.names[:7]


@pytest.mark.requirement("R14")
def test_a_safety_tool_that_was_retrieved_last_is_not_the_one_to_go() -> None:
    last = tool("zz_last", "Ships parcels abroad, and says so in many more words than all the others do.")
    catalog = Catalog.of([*SHIPPING[:7], last, *SAFE])
    shortlist = narrow(ASKED, catalog, searching(catalog), cap=8, safety=("zz_last", *SAFETY))
    assert "zz_last" in shortlist.names
    assert len(shortlist.tools) == 10
    assert why(shortlist) == ["retrieved"] * 7 + ["safety"] * 3


@pytest.mark.requirement("R14")
def test_a_template_longer_than_the_cap_stays_whole() -> None:
    catalog = Catalog.of([*SHIPPING, *SAFE])
    template = names(10, "ship")
    shortlist = narrow(ASKED, catalog, searching(catalog), template, cap=8)
    assert shortlist.names == (*template, *SAFETY)


def test_equal_scores_are_put_in_the_order_of_names() -> None:
    twins = [tool(name, "Ships parcels abroad.") for name in ("bb", "aa", "cc")]
    catalog = Catalog.of(twins)
    assert narrow(ASKED, catalog, searching(catalog)).names == ("aa", "bb", "cc")


def test_a_tool_that_no_query_finds_is_not_retrieved() -> None:
    search = searching(Catalog.of([SHIPPING[0], tool("bake", "Bakes bread.")]))
    assert [hit.tool for hit in search.search(for_text("ship my parcels abroad"), 10)] == ["ship_00"]


@pytest.mark.requirement("R15")
def test_a_wider_search_finds_the_tool_that_the_first_one_missed() -> None:
    talkers = [tool(name, "Anomaly analysis and detection of values that stand out.") for name in names(20, "anomaly")]
    hidden = tool("zz", "Reads the leaves of tea, and then writes at length about it all.", "anomaly_detection")
    catalog = Catalog.of([*talkers, hidden])
    search = searching(catalog)
    asked = reading("analyse the anomalies", anomaly("anomalies"))
    first = narrow(asked, catalog, search, cap=8)
    wider = narrow(asked, catalog, search, cap=8, missing=["analysis:anomaly"])
    assert "zz" not in first.names
    assert wider.tools[0].tool == "zz"
    assert wider.tools[0].queries[0] == "analysis:anomaly"
    assert len(wider.tools) == 8


@pytest.mark.requirement("R15")
def test_what_is_missing_does_not_crowd_out_the_rest() -> None:
    able = [tool(name, "Finds odd values.", "anomaly_detection") for name in names(20, "odd")]
    catalog = Catalog.of([*SHIPPING, *able])
    asked = reading("ship parcels abroad", goal("ship parcels abroad"), anomaly("parcels"))
    wider = narrow(asked, catalog, searching(catalog), cap=8, missing=["analysis:anomaly"])
    assert [name.split("_")[0] for name in wider.names].count("ship") >= 3


def test_unknown_names_are_refused() -> None:
    catalog = Catalog.of(SHIPPING)
    with pytest.raises(UsageError, match="'fly', which the catalog does not list"):
        narrow(ASKED, catalog, searching(catalog), ["fly"])
    with pytest.raises(UsageError, match="'metric:x' is passed as missing"):
        narrow(ASKED, catalog, searching(catalog), missing=["metric:x"])
