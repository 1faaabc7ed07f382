"""What holds for any catalog, reading, template and cap."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.shortlist import OVER_CAP, SAFETY, narrow
from groundplan.contracts.reading import Reading
from groundplan.contracts.tool import Tool
from tests.catalog.search.tooling import anomaly, goal, reading, searching, tool

WORDS = ("ship", "parcel", "north", "count", "letter", "send", "odd", "plot", "table", "week")
CAPABILITIES = ("act", "anomaly_detection", "plot", "aggregate")

phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
tool_names = st.sampled_from((*SAFETY, *(f"{a}_{b}" for a in WORDS for b in WORDS)))
tools = st.builds(
    lambda *of: tool(*of), tool_names, phrases.map("Does this: {}.".format), st.sampled_from(CAPABILITIES)
)
catalogs = st.lists(tools, min_size=1, max_size=40, unique_by=lambda item: item.name)
readings = st.builds(
    lambda question, about, odd: reading(question, goal(about), anomaly(odd)), phrases, phrases, phrases
)
cases = catalogs.flatmap(
    lambda listed: st.tuples(
        st.just(listed),
        readings,
        st.lists(st.sampled_from([item.name for item in listed]), max_size=14),
        st.integers(8, 12),
        st.sampled_from([(), ("analysis:anomaly",)]),
    )
)
Case = tuple[list[Tool], Reading, list[str], int, tuple[str, ...]]


@pytest.mark.requirement("R14", "R15")
@settings(max_examples=80, deadline=None)
@given(cases)
def test_the_rule_of_the_shortlist_holds(case: Case) -> None:
    listed, asked, template, cap, missing = case
    catalog = Catalog.of(listed)
    shortlist = narrow(asked, catalog, searching(catalog), template, missing, cap=cap)
    by_why = {why: [c for c in shortlist.tools if c.why == why] for why in ("template", "retrieved", "safety")}
    retrieved = by_why["retrieved"]
    safe = {name for name in SAFETY if name in catalog.tools}

    assert len(set(shortlist.names)) == len(shortlist.names)
    assert set(shortlist.names) <= set(catalog.tools)
    assert [c.tool for c in by_why["template"]] == list(dict.fromkeys(template))
    assert safe <= set(shortlist.names)
    assert len(by_why["template"]) + len(retrieved) <= max(cap, len(by_why["template"]))
    assert len(shortlist.tools) <= cap + OVER_CAP or all(c.tool in safe for c in retrieved)
    assert retrieved == sorted(retrieved, key=lambda c: (-c.score, c.tool))


@pytest.mark.requirement("R14")
@settings(max_examples=40, deadline=None)
@given(cases, st.randoms(use_true_random=False))
def test_the_order_in_which_tools_are_listed_changes_nothing(case: Case, chance: random.Random) -> None:
    listed, asked, template, cap, missing = case
    shuffled = chance.sample(listed, len(listed))
    one, other = Catalog.of(listed), Catalog.of(shuffled)
    first = narrow(asked, one, searching(one), template, missing, cap=cap)
    assert narrow(asked, other, searching(other), template, missing, cap=cap) == first


@pytest.mark.requirement("R14")
@settings(max_examples=40, deadline=None)
@given(cases)
def test_only_the_lowest_scored_give_way(case: Case) -> None:
    """A larger cap keeps everything that a smaller one kept."""
    listed, asked, template, _, missing = case
    catalog = Catalog.of(listed)
    search = searching(catalog)
    small = narrow(asked, catalog, search, template, missing, cap=8)
    large = narrow(asked, catalog, search, template, missing, cap=12)
    assert set(small.names) <= set(large.names)
