"""The search for the tools that one part of a task may take."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.parts import FEW, search_parts
from groundplan.catalog.search.queries import Queries
from groundplan.catalog.search.search import Hit, Search
from groundplan.catalog.search.shortlist import FOUND
from groundplan.contracts.tool import Output, Port
from tests.catalog.search.tooling import names, searching, tool

TIDE, WIND = tool("get_tide", "The tide at a harbour."), tool("get_wind", "The wind at sea, and at a harbour.")
TABLE = tool("read_tides", "The tides of a harbour.").model_copy(update={"output": Output(kind="table")})
TAKING = tool("sum_tides", "The tides of a harbour.").model_copy(update={"inputs": (Port(name="data"),)})
MODEL = tool("write_tides", "The tides of a harbour.").model_copy(update={"source": "model"})


def test_only_tools_that_give_facts_of_themselves_are_found_the_best_first() -> None:
    catalog = Catalog.of([TIDE, WIND, TABLE, TAKING, MODEL])
    search = search_parts(searching(catalog), catalog)
    assert [*search("the tide at the harbour", 5)] == ["get_tide", "get_wind"]
    assert [*search("the tide at the harbour", 1)] == ["get_tide"]


@pytest.mark.parametrize(("others", "found"), [(FEW - 1, 5), (FEW, 1)])
def test_in_a_small_catalog_tools_that_no_word_finds_follow_by_name(others: int, found: int) -> None:
    catalog = Catalog.of([TIDE, TABLE, *(tool(name) for name in names(others))])
    search = search_parts(searching(catalog), catalog)
    assert [*search("tide", 5)] == ["get_tide", *names(others)][:found]


def test_tools_that_cannot_be_steps_do_not_crowd_out_those_that_can() -> None:
    tables = [TABLE.model_copy(update={"name": name, "description": "Tide, tide."}) for name in names(2 * FOUND)]
    catalog = Catalog.of([TIDE, *tables, *(tool(name) for name in names(FEW, "other"))])
    assert [*search_parts(searching(catalog), catalog)("tide", 3)] == ["get_tide"]


def test_the_same_words_are_searched_for_once() -> None:
    catalog = Catalog.of([TIDE, WIND])

    class Counting(Search):
        searched = 0

        def search(self, queries: Queries, limit: int) -> list[Hit]:
            Counting.searched += 1
            return super().search(queries, limit)

    search = search_parts(Counting(searching(catalog)._index), catalog)
    found: Sequence[Sequence[str]] = [search("tide", 2), search("tide", 2)]
    assert found[0] == found[1]
    assert Counting.searched == 1
