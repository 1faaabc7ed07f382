"""`groundplan serve sales.csv` for one person: a real process, asked over HTTP. No Postgres, no key."""

from __future__ import annotations

import asyncio
import csv
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock, patch

import httpx
import pytest

from groundplan.contracts.run import RunRequest
from groundplan.service.data import Data
from groundplan.service.worker import _outcome
from groundplan.state.database import SQLite
from groundplan.state.runs import Runs
from tests.asking.tables.described import SALES
from tests.service.processes import MAIN, WAIT, ask, events, get, served, settled, until

UNCLEAR = "total revenue on 03/04/2025"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("alone")
    shutil.copy(SALES, folder / "sales.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDPLAN_STATE", str(folder / "state"))
        with served(folder, "sales.csv") as found:
            yield found


@pytest.mark.requirement("R56", part="ask")
@pytest.mark.requirement("R57", part="http")
def test_a_question_is_answered(client: httpx.Client) -> None:
    run = ask(client, "total revenue by region")
    assert run["state"] == "succeeded"
    assert run["outcome"]["kind"] == "answer"
    assert run["outcome"]["read_as"] == "Read as: total revenue by region."
    assert len(run["outcome"]["tables"][0]["rows"]) == 5


@pytest.mark.requirement("R56", part="plan")
@pytest.mark.requirement("R57", part="http")
def test_a_question_is_planned_explained_checked_and_its_plan_run(client: httpx.Client) -> None:
    asked = {"question": "total revenue by region"}
    planned = client.post("/v1/plans", json=asked).json()
    proposal = {"reading": planned["reading"], "plan": planned["plan"]}
    explained = client.post("/v1/explanations", json=asked).json()
    assert [reason["steps"] for reason in explained["reasons"]]
    assert {word["text"] for word in explained["words"]} >= {"revenue", "region"}
    checked = client.post("/v1/checks", json=proposal).json()
    assert checked["passed"]
    assert checked["fingerprint"] == planned["fingerprint"]
    broken = {**proposal, "plan": {**planned["plan"], "steps": planned["plan"]["steps"][:0]}}
    assert not client.post("/v1/checks", json=broken).json()["passed"]
    run = client.post("/v1/runs", json={"plan": proposal}, headers=WAIT).json()
    assert run["state"] == "succeeded"
    assert run["outcome"]["text"] == ask(client, asked["question"])["outcome"]["text"]


@pytest.mark.requirement("R78")
def test_a_reading_is_changed_by_hand_checked_and_run(client: httpx.Client) -> None:
    outcome = ask(client, "total revenue by region in 2024")["outcome"]
    planned = client.post("/v1/plans", json={"reading": outcome["reading"]}).json()
    labels = {chip["requirement"]: chip["label"] for chip in planned["chips"]}
    assert labels == {
        "metric:revenue": "total revenue",
        "group_by:region": "region",
        "filter:date": "date is in 2024",
    }
    asked = {"reading": outcome["reading"], "requirement": "group_by:region", "search": "channel"}
    (found,) = client.post("/v1/suggestions", json=asked).json()
    changes = [found["change"], {"requirement": "filter:date"}]
    changed = client.post("/v1/plans", json={"reading": outcome["reading"], "changes": changes}).json()
    assert changed["read_as"] == "Read as: total revenue by channel."
    proposal = {"reading": changed["reading"], "plan": changed["plan"]}
    run = client.post("/v1/runs", json={"plan": proposal}, headers=WAIT).json()
    assert (
        run["outcome"]["tables"][0]["rows"] == ask(client, "total revenue by channel")["outcome"]["tables"][0]["rows"]
    )
    impossible = {"requirement": "metric:revenue", "to": {"kind": "metric", "column": "channel", "function": "sum"}}
    refused = client.post("/v1/plans", json={"reading": outcome["reading"], "changes": [impossible]}).json()
    assert refused["fingerprint"] is None
    assert [issue["requirement"] for issue in refused["issues"]] == ["metric:channel"]
    assert client.post("/v1/plans", json={"question": "x", "reading": outcome["reading"]}).status_code == 422
    unknown = {"reading": outcome["reading"], "changes": [{"requirement": "rank:none"}]}
    assert client.post("/v1/plans", json=unknown).status_code == 422


def test_a_follow_up_goes_on_from_the_changed_reading(client: httpx.Client) -> None:
    asked = ask(client, "total revenue by region", thread="changed")
    group = {"requirement": "group_by:region", "to": {"kind": "group_by", "column": "channel"}}
    body = {"reading": asked["outcome"]["reading"], "changes": [group]}
    changed = client.post("/v1/plans", json=body).json()
    proposal = {"reading": changed["reading"], "plan": changed["plan"]}
    run = client.post("/v1/runs", json={"plan": proposal, "thread": "changed"}, headers=WAIT).json()
    assert (run["state"], run["request"]["thread"]) == ("succeeded", "changed")
    follow_up = ask(client, "only in 2025", thread="changed")["outcome"]
    assert follow_up["tables"][0]["columns"][0] == "channel"
    assert "2025" in follow_up["read_as"]


def test_each_number_of_the_text_has_its_place_and_its_cells(client: httpx.Client) -> None:
    outcome = ask(client, "total revenue by region")["outcome"]
    tables = {table["step"]: table for table in outcome["tables"]}
    assert outcome["charts"][0]["usermeta"]["step"] in outcome["facts"]["charts"]
    assert outcome["citations"]
    for cited in outcome["citations"]:
        assert outcome["text"][cited["start"] :].startswith(cited["text"])
        if isinstance(cited["value"], float):
            assert cited["cells"]
    whole = [cited for cited in outcome["citations"] if len(cited["cells"]) == 1 and isinstance(cited["value"], float)]
    for cited in whole:
        (cell,) = cited["cells"]
        table = tables[cell["step"]]
        assert table["rows"][cell["row"]][table["columns"].index(cell["column"])] == cited["value"]


def test_a_table_is_saved_as_csv(client: httpx.Client) -> None:
    run = ask(client, "total revenue by region")
    table = run["outcome"]["tables"][0]
    reply = client.get(f"/v1/runs/{run['id']}/tables/{table['step']}.csv")
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    rows = [*csv.reader(reply.text.splitlines())]
    assert rows[0] == table["columns"]
    assert [row[0] for row in rows[1:]] == [row[0] for row in table["rows"]]
    assert [float(row[1]) for row in rows[1:]] == pytest.approx([row[1] for row in table["rows"]], rel=1e-12)
    assert client.get(f"/v1/runs/{run['id']}/tables/none.csv").status_code == 404


@pytest.mark.requirement("R56", part="strategy")
def test_the_strategy_is_chosen_by_request(client: httpx.Client) -> None:
    planned = client.post("/v1/plans", json={"question": "total revenue by region", "strategy": "rules"}).json()
    assert planned["plan"]["strategy"] == "rules"
    assert ask(client, "total revenue", strategy="rules")["outcome"]["plan"]["strategy"] == "rules"
    needs_model = client.post("/v1/plans", json={"question": "total revenue by region", "strategy": "adapt"})
    assert "the strategy `adapt` needs a model" in needs_model.text
    assert client.post("/v1/runs", json={"question": "x", "strategy": "magic"}).status_code == 422


def test_a_refusal_is_an_outcome_and_a_wrong_request_a_problem(client: httpx.Client) -> None:
    refused = ask(client, "revenue by salesperson")
    assert refused["state"] == "refused"
    assert refused["outcome"]["issues"][0]["code"]
    for body in ({}, {"question": "x", "plan": {}}, {"question": "a\0b"}, {"question": "x", "more": 1}):
        reply = client.post("/v1/runs", json=body)
        assert reply.status_code == 422
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.json()["code"] == "service/invalid"
    assert client.get("/v1/runs/" + "0" * 24).json()["code"] == "service/not-found"
    assert client.post("/v1/runs", content=b"x" * 2_000_000).status_code == 413
    failed = ask(client, "total revenue", timezone="Mars/Olympus")
    assert (failed["state"], failed["problem"]["code"]) == ("failed", "service/usage")


@pytest.mark.requirement("R70", part="http")
@pytest.mark.parametrize("reply", ["1", "2025-04-03"])
def test_a_clarification_is_answered(client: httpx.Client, reply: str) -> None:
    run = ask(client, UNCLEAR)
    assert run["state"] == "waiting_answer"
    assert "03/04/2025" in run["waiting"]["text"]
    assert client.post(f"/v1/runs/{run['id']}/answer", json={"text": reply}).status_code == 200
    ended = settled(client, run["id"])
    assert ended["state"] == "succeeded"
    assert ended["outcome"]["text"] == ask(client, "total revenue on 2025-04-03")["outcome"]["text"]
    assert client.post(f"/v1/runs/{run['id']}/answer", json={"text": reply}).json()["code"] == "service/conflict"


@pytest.mark.requirement("R83", part="http")
@pytest.mark.requirement("R70", part="http")
def test_a_choice_is_a_number_of_what_is_offered(client: httpx.Client) -> None:
    run = ask(client, UNCLEAR)
    answer = f"/v1/runs/{run['id']}/answer"
    assert len(run["waiting"]["readings"]) == 2
    assert client.post(answer, json={"choice": 3}).json()["detail"] == "there is no choice 3; there are 2"
    assert client.post(answer, json={"choice": 1, "text": "1"}).status_code == 422
    assert client.post(answer, json={}).status_code == 422
    assert client.post(answer, json={"choice": 2}).status_code == 200
    ended = settled(client, run["id"])
    assert ended["outcome"]["reading"] == run["waiting"]["readings"][1]
    assert ended["outcome"]["text"] == ask(client, "total revenue on 2025-03-04")["outcome"]["text"]


@pytest.mark.requirement("R70", part="http")
def test_one_reading_is_declined_by_no(client: httpx.Client) -> None:
    run = ask(client, "total revenue in early May 2025")
    assert len(run["waiting"]["readings"]) == 1
    assert client.post(f"/v1/runs/{run['id']}/answer", json={"text": "no"}).status_code == 200
    ended = settled(client, run["id"])
    assert (ended["state"], ended["outcome"]["issues"][0]["code"]) == ("refused", "reading/declined")


def test_a_run_that_waits_is_cancelled(client: httpx.Client) -> None:
    run = ask(client, UNCLEAR)
    assert client.post(f"/v1/runs/{run['id']}/cancel").json()["state"] == "cancelled"
    assert [kind for _, kind, _ in events(client, run["id"])][-1] == "run.ended"


@pytest.mark.requirement("R76", part="events")
@pytest.mark.requirement("R56", part="streaming")
def test_a_stream_that_reconnects_loses_and_repeats_nothing(client: httpx.Client) -> None:
    run = client.post("/v1/runs", json={"question": "monthly revenue by region"}).json()["id"]
    seen: list[tuple[int, str, Any]] = []
    while not seen or seen[-1][1] != "run.ended":
        seen += events(client, run, seen[-1][0] if seen else None, most=2)
    assert [number for number, _, _ in seen] == [*range(1, len(seen) + 1)]
    assert seen == events(client, run)
    kinds = [kind for _, kind, _ in seen]
    assert kinds[0] == "run.queued"
    assert {"run.started", "stage", "reading", "plan", "step", "outcome"} <= {*kinds}
    assert client.get(f"/v1/runs/{run}/events", headers={"Last-Event-ID": str(seen[-1][0])}).status_code == 204


@pytest.mark.requirement("R56", part="runs")
def test_fifty_posts_with_one_key_are_one_run(client: httpx.Client) -> None:
    def post(_: int) -> httpx.Response:
        return client.post("/v1/runs", json={"question": "total revenue"}, headers={"Idempotency-Key": "the-key"})

    with ThreadPoolExecutor(10) as pool:
        replies = [*pool.map(post, range(50))]
    assert {reply.status_code for reply in replies} <= {200, 202}
    assert len({reply.json()["id"] for reply in replies}) == 1
    other = client.post("/v1/runs", json={"question": "rows?"}, headers={"Idempotency-Key": "the-key"})
    assert other.status_code == 409


@pytest.mark.requirement("R56", part="runs")
def test_runs_are_listed_page_by_page(client: httpx.Client) -> None:
    ids = [ask(client, "total revenue")["id"] for _ in range(3)]
    page = client.get("/v1/runs", params={"limit": 2}).json()
    rest = client.get("/v1/runs", params={"limit": 2, "cursor": page["cursor"]}).json()
    assert [run["id"] for run in page["runs"] + rest["runs"]][:3] == ids[::-1]


def test_a_conversation_goes_on_and_is_listed(client: httpx.Client) -> None:
    ask(client, "total revenue by region", thread="a talk")
    follow_up = ask(client, "and by channel?", thread="a talk")
    assert "channel" in follow_up["outcome"]["read_as"]
    assert client.get("/v1/threads").json()[0]["name"] == "a talk"
    assert [turn["question"] for turn in client.get("/v1/threads/a talk").json()] == [
        "total revenue by region",
        "total revenue by region → and by channel?",
    ]
    waiting = ask(client, UNCLEAR, thread="a talk")
    busy = client.post("/v1/runs", json={"question": "total revenue", "thread": "a talk"})
    assert (busy.status_code, busy.json()["code"]) == (409, "service/conflict")
    client.post(f"/v1/runs/{waiting['id']}/cancel")
    assert ask(client, "only the West", thread="a talk")["state"] == "succeeded"


@pytest.mark.requirement("R56", part="health")
def test_health_sources_and_openapi(client: httpx.Client) -> None:
    assert client.get("/livez").json()["status"] == "alive"
    assert client.get("/readyz").json()["status"] == "ready"
    [source] = client.get("/v1/sources").json()
    assert [table["name"] for table in source["tables"]] == ["sales"]
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/v1/runs", "/v1/plans", "/v1/checks", "/v1/explanations", "/v1/threads", "/v1/sources"} <= {*paths}


def test_values_of_categories_are_listed_unless_they_are_not_to_be_shared(
    client: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = client.get("/v1/values").json()["sales"]
    assert held["region"] == ["Central", "East", "North", "South", "West"]
    assert "revenue" not in held
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    (tmp_path / "groundplan.toml").write_text("[roles]\nshare_values = false\n")
    with served(tmp_path, str(SALES)) as silent:
        assert silent.get("/v1/values").json() == {}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:8000"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_web_pages_of_others_are_refused(client: httpx.Client, headers: dict[str, str], status: int) -> None:
    for method, path in (("POST", "/v1/runs"), ("GET", "/v1/runs"), ("GET", "/openapi.json")):
        assert client.request(method, path, headers=headers).status_code == status


def test_other_addresses_are_refused_without_keys(tmp_path: Path) -> None:
    done = subprocess.run(
        [*MAIN, "serve", str(SALES), "--host", "0.0.0.0"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "add --database" in done.stderr


def test_runs_survive_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    with served(tmp_path, str(SALES)) as first:
        waiting, asked = (
            ask(first, UNCLEAR)["id"],
            [first.post("/v1/runs", json={"question": "total revenue by region"}).json()["id"] for _ in range(8)],
        )
    with served(tmp_path, str(SALES)) as second:
        until(lambda: all(get(second, run)["state"] == "succeeded" for run in asked))
        second.post(f"/v1/runs/{waiting}/answer", json={"text": "1"})
        assert settled(second, waiting)["state"] == "succeeded"


def test_today_is_that_of_the_settings_where_a_question_names_no_time_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "groundplan.toml").write_text('timezone = "Pacific/Kiritimati"\n')
    monkeypatch.chdir(tmp_path)
    database = SQLite(tmp_path, "alone")

    async def asked(**more: Any) -> Any:
        runs = Runs(database)
        await runs.add(RunRequest(question="total revenue", **more))
        claim = await runs.claim()
        assert claim is not None
        project, ask = await Data(str(SALES)).open(database), AsyncMock()
        with patch.object(project, "ask", ask):
            await _outcome(project, claim, Mock())
        await project.close()
        assert ask.await_args is not None
        return ask.await_args.kwargs["timezone"]

    assert asyncio.run(asked()) == "Pacific/Kiritimati"
    assert asyncio.run(asked(timezone="Asia/Tokyo")) == "Asia/Tokyo"
