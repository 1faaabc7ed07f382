"""Results become facts, the same over stdio and HTTP, and whatever shape a server gives them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tests.sources.mcp.calling import facts, opened, ready, served_shop, shop_command

from groundplan.contracts.facts import Complete, Truncated
from groundplan.contracts.plan import Limits
from groundplan.sources.mcp import results
from groundplan.sources.mcp.source import Mcp, ToolFailed

ADA = {"id": 1, "name": "Ada Brown", "email": "ada@example.org", "tier": "premium", "country": "Norway"}


@pytest.fixture(scope="module", params=["stdio", "http"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mcp]:
    database = tmp_path_factory.mktemp("shop") / "shop.sqlite"
    if request.param == "stdio":
        with opened(shop_command(database)) as source:
            yield source
        return
    with served_shop(database) as address, opened(address) as source:
        yield source


@pytest.mark.requirement("R17", "R44")
def test_an_object_gives_its_fields(shop: Mcp) -> None:
    found = facts(shop, "shop.find_customer", email="ada@example.org")
    assert dict(found.first) == ADA
    assert {item.kind: item.value for item in found.items} == ADA
    assert (found.found, found.rows, found.state) == (True, 1, Complete())
    assert [cited.id for cited in found.sources] == ["shop.find_customer"]


@pytest.mark.requirement("R17", "R44")
def test_a_list_gives_its_rows_and_their_number(shop: Mcp) -> None:
    found = facts(shop, "shop.list_customers", tier="premium")
    assert found.rows == 2
    assert dict(found.first) == ADA
    assert [(item.title, item.text) for item in found.items] == [
        ("Ada Brown", "id: 1, email: ada@example.org, tier: premium, country: Norway"),
        ("Elif Kaya", "id: 5, email: elif@example.org, tier: premium, country: Turkey"),
    ]


def test_a_list_of_words_gives_a_line_for_each(shop: Mcp) -> None:
    found = facts(shop, "shop.list_free_slots", day="2026-03-02")
    assert [item.title for item in found.items] == ["09:00", "10:00", "11:00", "14:00", "15:00"]
    assert dict(found.first) == {"result": "09:00"}


def test_an_empty_list_is_nothing_found(shop: Mcp) -> None:
    found = facts(shop, "shop.get_orders", customer_id=4)
    assert (found.found, found.rows, found.items, found.sources) == (False, 0, (), ())


def test_a_failure_is_told_in_our_words_and_quoted_beside(shop: Mcp) -> None:
    with pytest.raises(ToolFailed) as raised:
        facts(shop, "shop.find_customer", email="nobody@example.org")
    assert str(raised.value) == "shop.find_customer reports that it failed; check its params"
    assert "there is no such customer" in raised.value.item.text


def test_calls_at_once_and_from_other_loops_all_get_their_own_answer(shop: Mcp) -> None:
    async def many() -> list[Any]:
        calls = [shop.call(ready(shop, "shop.find_customer", {"id": number})) for number in (1, 2, 3, 4, 1)]
        return [result.facts.first["id"] for result in await asyncio.gather(*calls)]

    assert asyncio.run(many()) == [1, 2, 3, 4, 1]
    assert asyncio.run(many()) == [1, 2, 3, 4, 1]


def shaped(value: Any, limits: Limits | None = None) -> Any:
    return results.structured("a_step", value, results.wrapping(value), "the tool", "s.tool", limits or Limits())


def test_lists_inside_an_object_are_groups_with_their_count() -> None:
    value = {"total": 7, "orders": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}], "owner": {"name": "Ada"}}
    found = shaped(value, Limits(items=1))
    assert [(item.kind, item.value) for item in found.items] == [("total", 7)]
    assert [(group.title, group.count, len(group.items)) for group in found.groups] == [
        ("orders", 2, 1),
        ("owner", None, 1),
    ]


def test_rows_over_the_limit_are_counted_and_said_to_be_missing() -> None:
    found = shaped({"rows": [{"n": number} for number in range(120)]})
    assert (found.rows, len(found.items)) == (120, 50)
    assert found.state == Truncated(reason="the first 50 of 120 are listed")


@pytest.mark.parametrize("value", [{}, {"result": None}, {"result": []}, {"a": None, "b": []}, []])
def test_nothing_is_nothing(value: Any) -> None:
    assert not shaped(value).found


@pytest.mark.parametrize(("value", "shown"), [(5, 5), ("word", "word"), (False, False), (1.5, 1.5)])
def test_a_single_value_has_the_name_of_its_tool(value: Any, shown: Any) -> None:
    found = shaped({"result": value})
    assert [(item.title, item.value) for item in found.items] == [("the tool", shown)]
    assert dict(found.first) == {"result": value}


def test_words_are_quoted_without_what_cannot_be_seen_and_a_cut_is_said() -> None:
    found = results.text("a_step", ["one\x1b[31m\u200b", "two"], ["image"], "the tool", "s.tool")
    assert [item.text for item in found.items] == ["one[31m\ntwo"]
    assert found.state == Truncated(reason="image content is left out")
    long = results.text("a_step", ["x" * 30_000], [], "the tool", "s.tool")
    assert len(long.items[0].text) == 20_000
    assert long.state == Truncated(reason="only the first 20,000 characters are kept")
    field = shaped({"body": "x" * 30_000, "id": 1})
    assert field.state == Truncated(reason="only the first 20,000 characters of body are kept")
