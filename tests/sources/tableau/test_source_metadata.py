"""The data source is found, its fields are described, kept for a while, and without them nothing is asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.sources.tableau.calling import BY_REGION, configured, during, opened, ready
from tests.sources.tableau.double.tableau import Tableau

from groundplan.errors import SourceError, UsageError
from groundplan.sources.tableau import datasource, members
from groundplan.sources.tableau.source import Tableau as Source


def described(source: Source) -> Any:
    return during(source, source.describe)


@pytest.mark.requirement("R46")
def test_the_schema_is_one_table_of_captions_with_kinds_and_roles(tableau: Tableau, tmp_path: Path) -> None:
    schema = described(opened(tableau, tmp_path))
    (table,) = schema.tables
    assert (schema.source, table.name) == ("tableau", tableau.name)
    told = {column.name: (column.type, column.kind, column.role) for column in table.columns}
    expected = {
        "Order ID": ("STRING", "text", "id"),
        "Order Date": ("DATE", "time", "temporal"),
        "Region": ("STRING", "text", "dimension"),
        "Returned": ("BOOLEAN", "boolean", "dimension"),
        "Sales": ("REAL", "number", "measure"),
        "Quantity": ("INTEGER", "number", "measure"),
        "Profit Ratio": ("REAL", "number", "measure"),
        "Profit (bin)": ("INTEGER", "number", "dimension"),
    }
    assert expected.items() <= told.items()
    assert "Row ID" not in told, "it is hidden"


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("per_page", [40, 130, 1000])
def test_a_data_source_is_found_by_name_on_any_page(
    tableau: Tableau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, per_page: int
) -> None:
    monkeypatch.setattr(datasource, "PER_PAGE", per_page)
    schema = described(opened(tableau, tmp_path, datasource=tableau.name))
    assert schema.tables[0].name == tableau.name
    assert tableau.count("datasources") == -(-130 // per_page)
    assert json.loads(tableau.bodies("read-metadata")[0])["datasource"] == {"datasourceLuid": tableau.luid}


@pytest.mark.parametrize(
    ("name", "said"),
    [("Superstore", "no data source visible to this sign-in"), ("Returns", "several data sources have")],
)
def test_a_name_of_none_or_of_several_is_refused(tableau: Tableau, tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        described(opened(tableau, tmp_path, datasource=name))
    assert tableau.count("read-metadata") == 0


def test_a_jwt_signs_in_too(tableau: Tableau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEAU_JWT", tableau.jwt)
    settings = {"url": tableau.url, "site": tableau.site, "datasource": tableau.luid, "jwt_env": "TABLEAU_JWT"}
    assert described(Source.open(settings)).tables[0].name == tableau.name


@pytest.mark.requirement("R46", "R42")
def test_metadata_is_read_once_for_many_calls_at_once(tableau: Tableau, tmp_path: Path) -> None:
    source = opened(tableau, tmp_path)

    async def at_once() -> None:
        await asyncio.gather(*(source.call(ready(BY_REGION)) for _ in range(5)))
        await source.describe()

    during(source, at_once)
    counts = {name: tableau.count(name) for name in ("signin", "read-metadata", "query-datasource", "signout")}
    assert counts == {"signin": 1, "read-metadata": 1, "query-datasource": 5, "signout": 1}
    assert tableau.rest.sessions == {}


def test_metadata_is_read_again_when_its_time_is_over(tableau: Tableau, tmp_path: Path) -> None:
    source = opened(tableau, tmp_path, metadata_seconds=0.05)

    async def twice() -> None:
        await source.describe()
        await asyncio.sleep(0.1)
        await source.describe()

    during(source, twice)
    assert tableau.count("read-metadata") == 2


def test_an_error_that_says_nothing_of_fields_leaves_the_metadata(tableau: Tableau, tmp_path: Path) -> None:
    source = opened(tableau, tmp_path)

    async def asked() -> None:
        tableau.fault("403800", times=1)
        with pytest.raises(SourceError, match="API Access"):
            await source.call(ready(BY_REGION))
        await source.call(ready(BY_REGION))

    during(source, asked)
    assert tableau.count("read-metadata") == 1


@pytest.mark.requirement("R46", "R42")
def test_members_of_text_fields_are_read_once_and_only_where_they_are_few(
    tableau: Tableau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "FEW", 13)
    source = opened(tableau, tmp_path)

    async def asked() -> Any:
        first, second = await asyncio.gather(source.values("sales in the west"), source.values("другое"))
        assert first == second
        return first

    found = during(source, asked)[tableau.name]
    assert found["Region"] == ("Central", "East", "South", "West")
    assert found["State"] == tuple(
        row[0] for row in tableau.sql('SELECT DISTINCT "State" FROM superstore WHERE "State" IS NOT NULL ORDER BY 1')
    )
    assert found["City"] == (), "there are too many"
    assert "Order ID" not in found
    assert tableau.count("query-datasource") == len(found)


def test_members_of_more_fields_than_allowed_are_not_read(
    tableau: Tableau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "MOST_FIELDS", 2)
    source = opened(tableau, tmp_path)
    found = during(source, lambda: source.values("sales"))[tableau.name]
    assert [name for name, values in found.items() if values] == ["Region", "State"]
    assert tableau.count("query-datasource") == 2


def test_a_field_that_cannot_be_listed_leaves_the_others(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("400804", times=1)
    source = opened(tableau, tmp_path)
    found = during(source, lambda: source.values("sales"))[tableau.name]
    assert [not values for values in found.values()].count(True) == 2, "and one has too many members"
    assert tableau.count("read-metadata") == 1


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"datasource": ""}, "datasource: "),
        ({"api_version": "3.27/../admin"}, "api_version: "),
        ({"site": "a/b"}, "site: "),
        ({"timezone": "Mars/Phobos"}, "no such time zone"),
        ({"url": "https://me:word@tableau.example.org"}, "no user and no password"),
        ({"token_secret": "CANARY"}, "token_secret: Extra inputs"),
        ({"token_name": None}, "one way to sign in"),
        ({"token_secret_file": None}, "one way to sign in"),
        ({"token_secret_env": "A"}, "not both"),
        ({"token_secret_file": "/nowhere/at/all"}, "has no token"),
        ({"jwt_env": "NOT_SET_ANYWHERE"}, "NOT_SET_ANYWHERE has no token"),
    ],
)
def test_settings_that_cannot_be_right_are_refused_without_being_shown(
    tableau: Tableau, tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        Source.open(configured(tableau, tmp_path, **settings))
    assert "CANARY" not in str(caught.value)
    assert "word@" not in str(caught.value)
    assert tableau.requests == []
