"""The double of Tableau under clients that others wrote: what they read there, they would read from a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vizql_data_service_py", reason="needs vizql-data-service-py")
pytest.importorskip("tableauserverclient", reason="needs tableauserverclient")
pytest.importorskip("schemathesis", reason="needs schemathesis")

import tableauserverclient
import vizql_data_service_py as sdk  # type: ignore[import-untyped]
from tests.sources.tableau.double.catalogue import FIELDS
from tests.sources.tableau.double.tableau import Tableau
from tests.sources.tableau.double.validation import SPEC
from vizql_data_service_py import query_datasource, read_metadata


@pytest.fixture
def server(tableau: Tableau) -> Iterator[tableauserverclient.Server]:
    server = connected(tableau)
    with server.auth.sign_in(token(tableau)):
        yield server


def connected(tableau: Tableau) -> tableauserverclient.Server:
    return tableauserverclient.Server(tableau.url, use_server_version=True)  # type: ignore[no-untyped-call]


def token(tableau: Tableau, secret: str | None = None) -> tableauserverclient.PersonalAccessTokenAuth:
    return tableauserverclient.PersonalAccessTokenAuth(
        tableau.token_name, secret or tableau.token_secret, site_id=tableau.site
    )


def client(tableau: Tableau, server: tableauserverclient.Server) -> sdk.VizQLDataServiceClient:
    return sdk.VizQLDataServiceClient(tableau.url, server, token(tableau))


def ask(tableau: Tableau, server: tableauserverclient.Server, query: sdk.Query) -> list[Any]:
    source = sdk.Datasource(datasourceLuid=tableau.luid)
    options = sdk.QueryDatasourceOptions(returnFormat=sdk.ReturnFormat.ARRAYS)
    request = sdk.QueryRequest(datasource=source, query=query, options=options)
    answered = query_datasource.sync_detailed(client=client(tableau, server), body=request)
    assert answered.status_code == 200, answered.content
    assert answered.parsed is not None
    return list(answered.parsed.data or [])


class TestTableauServerClient:
    def test_reads_every_page_of_the_data_sources(self, tableau: Tableau, server: tableauserverclient.Server) -> None:
        assert server.version == "3.27"
        listed = list(tableauserverclient.Pager(server.datasources))
        assert [source.id for source in listed] == [source["id"] for source in tableau.rest.datasources]
        assert tableau.count("datasources") == 2

    def test_finds_one_by_its_name_and_reads_it(self, tableau: Tableau, server: tableauserverclient.Server) -> None:
        [found] = server.datasources.filter(name=tableau.name)
        assert found.id == tableau.luid
        assert server.datasources.get_by_id(tableau.luid).project_name == "Samples"

    def test_asks_the_metadata_api(self, tableau: Tableau, server: tableauserverclient.Server) -> None:
        query = f'{{ publishedDatasources(filter: {{luid: "{tableau.luid}"}}) {{ name fields {{ name isHidden }} }} }}'
        [found] = server.metadata.query(query)["data"]["publishedDatasources"]
        assert found["name"] == tableau.name
        assert {field["name"] for field in found["fields"] if field["isHidden"]} == {"Row ID"}

    def test_signs_in_with_a_jwt_and_out(self, tableau: Tableau) -> None:
        server = connected(tableau)
        with server.auth.sign_in(tableauserverclient.JWTAuth(tableau.jwt, site_id=tableau.site)):
            assert len(tableau.rest.sessions) == 1
        assert not tableau.rest.sessions

    def test_meets_a_wrong_secret_and_a_dead_session(self, tableau: Tableau) -> None:
        server = connected(tableau)
        with pytest.raises(tableauserverclient.FailedSignInError, match="401001"):
            server.auth.sign_in(token(tableau, "wrong"))
        server.auth.sign_in(token(tableau))
        tableau.expire()
        with pytest.raises(tableauserverclient.NotSignedInError, match="401002"):
            server.datasources.get()


class TestSdk:
    def test_reads_the_metadata(self, tableau: Tableau, server: tableauserverclient.Server) -> None:
        request = sdk.ReadMetadataRequest(datasource=sdk.Datasource(datasourceLuid=tableau.luid))
        read = read_metadata.sync(client=client(tableau, server), body=request)
        assert read is not None
        assert read.data is not None
        assert [field.fieldCaption for field in read.data] == [field.caption for field in FIELDS if not field.hidden]

    def test_sums_within_a_context(self, tableau: Tableau, server: tableauserverclient.Server) -> None:
        sales = sdk.MeasureFilterField(fieldCaption="Sales", function=sdk.Function.SUM)
        query = sdk.Query(
            fields=[
                sdk.DimensionField(fieldCaption="Sub-Category"),
                sdk.MeasureField(
                    fieldCaption="Sales",
                    function=sdk.Function.SUM,
                    sortPriority=1,
                    sortDirection=sdk.SortDirection.DESC,
                ),
            ],
            filters=[
                sdk.TopNFilter(
                    field=sdk.DimensionFilterField(fieldCaption="Sub-Category"),
                    filterType=sdk.FilterType.TOP,
                    howMany=3,
                    fieldToMeasure=sales,
                    direction=sdk.Direction.TOP,
                ),
                sdk.SetFilter(
                    field=sdk.DimensionFilterField(fieldCaption="Category"),
                    filterType=sdk.FilterType.SET,
                    values=["Office Supplies"],
                    exclude=False,
                    context=True,
                ),
            ],
        )
        by_hand = """SELECT "Sub-Category", sum("Sales") AS total FROM superstore
            WHERE "Category" = 'Office Supplies' GROUP BY 1 ORDER BY total DESC LIMIT 3"""
        assert ask(tableau, server, query) == [list(row) for row in tableau.sql(by_hand)]

    def test_counts_in_bins(self, tableau: Tableau, server: tableauserverclient.Server) -> None:
        query = sdk.Query(
            fields=[
                sdk.BinField(fieldCaption="Profit", binSize=100, sortPriority=1),
                sdk.MeasureField(fieldCaption="Row ID", function=sdk.Function.COUNT),
            ]
        )
        by_hand = (
            'SELECT floor("Profit" / 100) * 100 AS bin, count(*) FROM superstore GROUP BY 1 ORDER BY 1 NULLS FIRST'
        )
        assert ask(tableau, server, query) == [list(row) for row in tableau.sql(by_hand)]

    def test_compares_with_the_next(self, tableau: Tableau, server: tableauserverclient.Server) -> None:
        difference = sdk.DifferenceTableCalcSpecification(
            tableCalcType=sdk.TableCalcType.DIFFERENCE_FROM.value,
            dimensions=[
                sdk.TableCalcFieldReference(fieldCaption="Region"),
                sdk.TableCalcFieldReference(fieldCaption="Segment"),
            ],
            relativeTo="NEXT",
        )
        query = sdk.Query(
            fields=[
                sdk.DimensionField(fieldCaption="Region", sortPriority=1),
                sdk.DimensionField(fieldCaption="Segment", sortPriority=2),
                sdk.TableCalcField(fieldCaption="Sales", function=sdk.Function.SUM, tableCalculation=difference),
            ]
        )
        totals = tableau.sql('SELECT "Region", "Segment", sum("Sales") FROM superstore GROUP BY 1, 2 ORDER BY 1, 2')
        following = [*(row[2] for row in totals[1:]), None]
        wanted = [
            [region, segment, None if after is None else pytest.approx(here - after)]
            for (region, segment, here), after in zip(totals, following, strict=True)
        ]
        assert ask(tableau, server, query) == wanted

    def test_meets_an_unknown_field(self, tableau: Tableau, server: tableauserverclient.Server) -> None:
        query = sdk.Query(fields=[sdk.DimensionField(fieldCaption="Continent")])
        request = sdk.QueryRequest(datasource=sdk.Datasource(datasourceLuid=tableau.luid), query=query)
        answered = query_datasource.sync_detailed(client=client(tableau, server), body=request)
        assert (answered.status_code, json.loads(answered.content)["errorCode"]) == (404, "404934")


@pytest.mark.slow
@pytest.mark.parametrize("known", [False, True], ids=["as published", "with names that exist"])
def test_schemathesis_finds_nothing(known: bool, tableau: Tableau, tmp_path: Path) -> None:
    """`positive_data_acceptance` is off: the specification marks no body as required and resolves no discriminator."""
    tableau.rest.sessions["fuzzing"] = "jwt"
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(with_names(tableau) if known else json.loads(SPEC.read_text())))
    options = ["--url", f"{tableau.url}/api/v1/vizql-data-service", "--header", "X-Tableau-Auth: fuzzing"]
    options += ["--phases", "coverage,fuzzing", "--max-examples", "15", "--seed", "1", "--suppress-health-check", "all"]
    options += ["--no-shrink", "--exclude-checks", "positive_data_acceptance"]
    command = [sys.executable, "-m", "schemathesis.cli", "run", str(spec), *options]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-1000:]
    assert tableau.count("query-datasource") > 300


def with_names(tableau: Tableau) -> dict[str, Any]:
    """The specification narrowed to the data source and the fields there are, so that queries are answered."""
    spec: dict[str, Any] = json.loads(SPEC.read_text())
    components = spec["components"]["schemas"]
    components["Datasource"]["properties"]["datasourceLuid"]["enum"] = [tableau.luid]
    for component in components.values():
        caption = component.get("properties", {}).get("fieldCaption")
        if caption and caption.get("type") == "string":
            caption["enum"] = [field.caption for field in FIELDS]
    return spec
