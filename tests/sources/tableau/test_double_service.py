"""Sessions, refusals and faults of the double of Tableau: the wire as the vendor documents it."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest
from tests.sources.tableau.double.asking import JSON, ask, field, listed, post, sign_in, signed
from tests.sources.tableau.double.rest import SITE
from tests.sources.tableau.double.serving import Fault
from tests.sources.tableau.double.tableau import Tableau

REGION, SALES = field("Region"), field("Sales", "SUM")


def test_signing_in_again_with_the_same_token_ends_the_session_before(tableau: Tableau) -> None:
    first = signed(tableau)
    assert sign_in(tableau).status_code == 200
    url = f"{tableau.url}/api/v1/vizql-data-service/read-metadata"
    body = {"datasource": {"datasourceLuid": tableau.luid}}
    assert httpx.post(url, json=body, headers=first).json()["errorCode"] == "401002"
    assert httpx.post(url, json=body, headers=signed(tableau)).status_code == 200


def test_a_jwt_may_open_two_sessions(tableau: Tableau) -> None:
    assert sign_in(tableau, jwt=tableau.jwt).json() != sign_in(tableau, jwt=tableau.jwt).json()
    assert len(tableau.rest.sessions) == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"jwt": "another"},
        {"personalAccessTokenName": "groundplan", "personalAccessTokenSecret": "wrong"},
        {"personalAccessTokenName": "groundplan"},
    ],
)
def test_a_wrong_credential_is_told_as_401001(tableau: Tableau, changed: dict[str, str]) -> None:
    answered = sign_in(tableau, **changed)
    assert (answered.status_code, answered.json()["error"]["code"]) == (401, "401001")
    assert not tableau.rest.sessions


@pytest.mark.parametrize(("header", "code"), [({}, "401000"), ({"X-Tableau-Auth": "old"}, "401002")])
def test_without_a_session_nothing_is_listed(tableau: Tableau, header: dict[str, str], code: str) -> None:
    url = f"{tableau.url}/api/3.27/sites/{SITE}/datasources"
    assert httpx.get(url, headers={**JSON, **header}).json()["error"]["code"] == code


def test_rest_speaks_xml_unless_json_is_asked_for(tableau: Tableau) -> None:
    url = f"{tableau.url}/api/3.27/auth/signin"
    wrong = httpx.post(url, content=b"<tsRequest><credentials jwt='no'><site contentUrl=''/></credentials></tsRequest>")
    assert wrong.headers["content-type"].startswith("application/xml")
    assert 'code="401001"' in wrong.text
    assert httpx.post(url, content=b"{", headers=JSON).json()["error"]["code"] == "400000"


def test_pages_are_told_in_strings_and_an_empty_one_has_no_list(tableau: Tableau) -> None:
    second = listed(tableau, pageNumber="2").json()
    assert second["pagination"] == {"pageNumber": "2", "pageSize": "100", "totalAvailable": "130"}
    assert len(second["datasources"]["datasource"]) == 30
    none = listed(tableau, filter="name:eq:No such").json()
    assert (none["datasources"], none["pagination"]["totalAvailable"]) == ({}, "0")
    assert len(listed(tableau, filter="name:eq:Returns").json()["datasources"]["datasource"]) == 2


@pytest.mark.parametrize(
    "query", [{"pageSize": "1001"}, {"pageSize": "0"}, {"pageNumber": "9"}, {"filter": "size:gt:1"}]
)
def test_a_page_that_cannot_be_is_refused(tableau: Tableau, query: dict[str, str]) -> None:
    assert listed(tableau, **query).status_code == 400


def test_the_metadata_api_selects_and_finds_by_luid(tableau: Tableau) -> None:
    def found(luid: str, chosen: str) -> Any:
        query = f'query q {{ publishedDatasources(filter: {{luid: "{luid}"}}) {chosen} }}'
        answered = httpx.post(f"{tableau.url}/api/metadata/graphql", json={"query": query}, headers=signed(tableau))
        return answered.json()

    chosen = "{ name owner { name } fields { name ... on CalculatedField { formula } } }"
    [source] = found(tableau.luid, chosen)["data"]["publishedDatasources"]
    assert set(source) == {"name", "owner", "fields"}
    assert {"name": "Profit Ratio", "formula": "SUM([Profit])/SUM([Sales])"} in source["fields"]
    assert found("no-such", chosen) == {"data": {"publishedDatasources": []}}
    assert "errors" in found(tableau.luid, "{ name")


def filtered(told: dict[str, Any], caption: str = "Region") -> dict[str, Any]:
    return {"fields": [REGION, SALES], "filters": [{"field": field(caption), **told}]}


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "misspelt function": ("400802", {"fields": [field("Sales", "SUMM")]}),
    "function and calculation": ("400802", {"fields": [field("Sales", "SUM", calculation="SUM([Sales])")]}),
    "bin of a half": ("400802", {"fields": [field("Sales", binSize=0.5)]}),
    "unknown key": ("400802", {"fields": [field("Sales", "SUM", colour="red")]}),
    "unknown key of a filter": ("400802", filtered({"filterType": "SET", "values": ["East"], "exlude": True})),
    "SET without values": ("400802", filtered({"filterType": "SET"})),
    "howMany in words": ("400802", filtered({"filterType": "TOP", "howMany": "five", "fieldToMeasure": SALES})),
    "no such day": (
        "400802",
        filtered(
            {"filterType": "QUANTITATIVE_DATE", "quantitativeFilterType": "MIN", "minDate": "2023-02-30"}, "Order Date"
        ),
    ),
    "table calculation without dimensions": (
        "400802",
        {"fields": [field("Sales", "SUM", tableCalculation={"tableCalcType": "RANK"})]},
    ),
    "key of another calculation": (
        "400802",
        {
            "fields": [
                REGION,
                field(
                    "Sales", "SUM", tableCalculation={"tableCalcType": "RANK", "dimensions": [REGION], "previous": 1}
                ),
            ]
        },
    ),
    "no field": ("400803", {"fields": []}),
    "a field twice": ("400803", {"fields": [REGION, REGION]}),
    "one priority twice": ("400803", {"fields": [{**REGION, "sortPriority": 1}, {**SALES, "sortPriority": 1}]}),
    "function of another type": ("400803", {"fields": [field("Region", "SUM")]}),
    "date function on text": ("400803", {"fields": [field("Region", "YEAR")]}),
    "empty SET": ("400803", filtered({"filterType": "SET", "values": []})),
    "value of another type": ("400803", filtered({"filterType": "SET", "values": [7]})),
    "MATCH on nothing": ("400803", filtered({"filterType": "MATCH"})),
    "RANGE with one end": (
        "400803",
        filtered({"filterType": "QUANTITATIVE_NUMERICAL", "quantitativeFilterType": "RANGE", "min": 1}, "Sales"),
    ),
    "LASTN without N": (
        "400803",
        filtered({"filterType": "DATE", "periodType": "DAYS", "dateRangeType": "LASTN"}, "Order Date"),
    ),
    "filter on a bin": ("400803", filtered({"filterType": "SET", "values": [1]}, "Profit (bin)")),
    "SET of a function": (
        "400803",
        {"fields": [REGION], "filters": [{"field": SALES, "filterType": "SET", "values": [1]}]},
    ),
    "two filters on one field": (
        "400803",
        {"fields": [SALES], "filters": [{"field": REGION, "filterType": "SET", "values": ["East"]}] * 2},
    ),
    "parameter out of its range": (
        "400803",
        {"fields": [REGION], "parameters": [{"parameterCaption": "Profit Bin Size", "value": 60}]},
    ),
    "bad formula": ("400800", {"fields": [field("Mine", calculation="SUM([Sales]")]}),
    "unknown field": ("404934", {"fields": [field("Salez", "SUM")]}),
    "unknown field of a filter": ("404934", filtered({"filterType": "SET", "values": ["x"]}, "Continent")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_query_that_breaks_a_rule_is_refused_with_its_code(tableau: Tableau, case: str) -> None:
    code, query = REFUSED[case]
    answered = post(tableau, **query)
    assert (answered.status_code, answered.json()["errorCode"]) == (int(code[:3]), code), answered.text


def test_a_caption_borne_twice_is_told_so(tableau: Tableau) -> None:
    tableau.service.duplicated = "Region"
    assert post(tableau, [REGION]).json()["errorCode"] == "404935"
    assert post(tableau, [SALES]).status_code == 200


@pytest.mark.parametrize("body", [b"{", b'{"datasource": NaN}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_told_as_400000(tableau: Tableau, body: bytes) -> None:
    url = f"{tableau.url}/api/v1/vizql-data-service/query-datasource"
    assert httpx.post(url, content=body, headers=signed(tableau)).json()["errorCode"] == "400000"
    assert tableau.bodies("query-datasource") == [body]


def test_a_fault_meets_the_calls_that_were_named(tableau: Tableau) -> None:
    tableau.fault("503800", skip=1, times=2)
    assert [post(tableau, [REGION]).status_code for _ in range(4)] == [200, 503, 503, 200]
    assert tableau.count("query-datasource") == 4


@pytest.mark.parametrize(
    ("fault", "status", "wait"),
    [
        ("429000", 429, None),
        ("429000 after 1", 429, "1"),
        ("429000 after 600", 429, "600"),
        ("408000", 408, None),
        ("403800", 403, None),
        ("504000", 504, None),
    ],
)
def test_a_fault_bears_its_code_and_says_when_to_come_again(
    tableau: Tableau, fault: Fault, status: int, wait: str | None
) -> None:
    tableau.fault(fault)
    answered = post(tableau, [REGION])
    assert (answered.status_code, answered.headers.get("retry-after")) == (status, wait)
    assert answered.json()["errorCode"] == fault[:6]


def test_a_token_may_die_in_the_middle_of_a_run(tableau: Tableau) -> None:
    tableau.fault("expired token", skip=1, times=1)
    assert post(tableau, [REGION]).status_code == 200
    assert post(tableau, [REGION]).json()["errorCode"] == "401002"
    assert post(tableau, [REGION]).status_code == 200, "signed in again"


def test_the_data_source_may_vanish(tableau: Tableau) -> None:
    tableau.fault("vanished data source", skip=1)
    assert post(tableau, [REGION]).status_code == 200
    assert post(tableau, [REGION]).json()["errorCode"] == "404004"
    assert listed(tableau, filter=f"name:eq:{tableau.name}").json()["datasources"] == {}


def test_an_error_may_come_half_way_with_status_200(tableau: Tableau) -> None:
    tableau.fault("error half way")
    answered = post(tableau, [REGION])
    assert answered.status_code == 200
    assert (len(answered.json()["data"]), answered.json()["error"]["errorCode"]) == (2, "500000")


def test_bodies_may_be_spoilt(tableau: Tableau) -> None:
    for fault in ("bad JSON", "empty body", "a page of HTML"):
        tableau.troubles.clear()
        tableau.fault(fault)
        with pytest.raises(json.JSONDecodeError):
            post(tableau, [REGION]).json()
    tableau.troubles.clear()
    tableau.fault("wrong types")
    assert {type(value) for row in ask_objects(tableau) for value in row} == {int, str}
    assert all(isinstance(row[1], str) for row in ask_objects(tableau))


def ask_objects(tableau: Tableau) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in post(tableau, [REGION, SALES]).json()["data"]]


def test_the_line_may_break(tableau: Tableau) -> None:
    for fault in ("reset", "half a body"):
        tableau.troubles.clear()
        tableau.fault(fault)
        with pytest.raises(httpx.TransportError):
            post(tableau, [REGION])


def test_a_slow_answer_takes_its_time_and_is_whole(tableau: Tableau) -> None:
    tableau.fault("slow")
    begun = time.monotonic()
    assert len(ask(tableau, [REGION])) == 4
    assert time.monotonic() - begun >= tableau.slow


def test_metadata_may_be_down_while_queries_go_on(tableau: Tableau) -> None:
    tableau.fault("503800", on="read-metadata")
    url = f"{tableau.url}/api/v1/vizql-data-service/read-metadata"
    body = {"datasource": {"datasourceLuid": tableau.luid}}
    assert httpx.post(url, json=body, headers=signed(tableau)).status_code == 503
    assert post(tableau, [REGION]).status_code == 200
