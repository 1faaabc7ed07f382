"""What the gate and the planners ask of a catalog."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.contracts.tool import Output, Tool
from groundplan.errors import CatalogError
from tests.catalog.test_loading import BUILT_IN


def tool(name: str, *capabilities: str) -> Tool:
    return Tool(
        name=name,
        description="A tool for a test.",
        source="tests",
        capabilities=capabilities or ("measure",),
        params={"type": "object", "additionalProperties": False},
        output=Output(kind="table"),
        effect="read",
    )


@pytest.fixture(scope="module")
def built_in() -> Catalog:
    return Catalog.load([BUILT_IN])


def test_tools_come_in_the_order_of_names(built_in: Catalog) -> None:
    names = list(built_in.tools)
    assert names == sorted(names)
    assert len(built_in.tools) == len(names) == len(built_in.tools.values())


def test_an_unknown_tool_is_not_in_the_catalog(built_in: Catalog) -> None:
    for name in ("agregate", "", "\ud800", "агрегат", None):
        assert name not in built_in.tools
    for name in ("agregate", "\ud800"):
        with pytest.raises(KeyError):
            built_in.tools[name]


def test_a_tool_is_read_once(built_in: Catalog) -> None:
    assert built_in.tools["aggregate"] is built_in.tools["aggregate"]


@pytest.mark.requirement("R12")
def test_any_of_several_capabilities_serves_a_requirement_and_one_serves_many(built_in: Catalog) -> None:
    assert built_in.serving("analysis:trend") == {"time_series_plot", "time_series_features"}
    assert {"aggregate", "segment"} <= built_in.serving("analysis:compare")
    assert all("aggregate" in built_in.serving(label) for label in ("metric", "group_by", "analysis:total"))


@pytest.mark.requirement("R12")
def test_an_unknown_label_is_served_by_nothing(built_in: Catalog) -> None:
    assert built_in.serving("analysis:astrology") == frozenset()


@pytest.mark.requirement("R12")
def test_an_alias_means_its_capability_wherever_it_is_used(built_in: Catalog) -> None:
    assert built_in.capability("aggregation") == built_in.capability("aggregate") == "aggregate"
    assert built_in.capability("astrology") is None
    assert built_in.tools_with("aggregation") == built_in.tools_with("aggregate") == ("aggregate",)
    assert built_in.asked_by("outlier_detection") == {"analysis:anomaly"}
    written = Catalog.of([tool("sum_up", "aggregation", "aggregate", "line_plot")])
    assert written.tools["sum_up"].capabilities == ("aggregate", "time_series_plot")
    assert written.tools_with("time_series_plot") == ("sum_up",)


def test_a_capability_for_any_question_is_asked_by_nothing_in_particular(built_in: Catalog) -> None:
    assert built_in.asked_by("aggregate") == built_in.asked_by("astrology") == frozenset()


def test_tools_with_a_capability_come_in_order() -> None:
    catalog = Catalog.of([tool("b", "plot"), tool("c", "filter"), tool("a", "plot")])
    assert catalog.tools_with("plot") == ("a", "b")
    assert catalog.tools_with("join") == ()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("agregate", "aggregate"),
        ("Plot-Line", "plot_line"),
        ("rank_row", "rank_rows"),
        ("xyzzy", None),
        ("", None),
    ],
)
def test_a_misspelt_tool_gets_a_suggestion(written: str, meant: str | None, built_in: Catalog) -> None:
    assert built_in.nearest(written) == meant


def test_a_suggestion_keeps_the_tools_own_spelling() -> None:
    assert Catalog.of([tool("getUser"), tool("listItems")]).nearest("get_user") == "getUser"


def test_an_empty_catalog_answers_too() -> None:
    catalog = Catalog.of([])
    assert (len(catalog.tools), list(catalog.tools), catalog.nearest("aggregate")) == (0, [], None)


def test_the_same_name_twice_is_refused() -> None:
    with pytest.raises(CatalogError, match="'count' is defined twice"):
        Catalog.of([tool("count"), tool("count")])


def test_the_version_follows_the_tools_and_not_their_order() -> None:
    one, other = tool("one"), tool("other")
    assert Catalog.of([one, other]).version == Catalog.of([other, one]).version
    assert Catalog.of([one]).version != Catalog.of([one, other]).version
    dearer = one.model_copy(update={"cost": 2})
    assert Catalog.of([one]).version != Catalog.of([dearer]).version


def test_threads_may_share_a_catalog(built_in: Catalog) -> None:
    fresh = Catalog.load([BUILT_IN])
    names = list(built_in.tools) * 40

    def look_up(name: str) -> Iterator[object]:
        yield fresh.tools[name] == built_in.tools[name]
        yield name in fresh.tools
        yield fresh.nearest(name) == name
        yield all(name in fresh.tools_with(capability) for capability in fresh.tools[name].capabilities)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda name: all(look_up(name)), names))
