"""Random pairs of tenants through every endpoint: what belongs to another looks exactly like what does not exist."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from groundplan.column_settings import ColumnSettings
from groundplan.contracts.answer import Clarification, Refusal
from groundplan.contracts.issue import Issue
from groundplan.contracts.run import RunRequest
from groundplan.state.column_settings import SavedSettings
from groundplan.state.keys import Keys, id_of
from groundplan.state.postgres import Postgres, open_postgres
from groundplan.state.runs import Runs
from groundplan.state.uploads import Uploads
from tests.asking.tables.described import SALES
from tests.service.processes import served
from tests.state.test_plans import TOTALS

TENANTS = 12
NOBODYS = "f" * 24
OWN = {"/v1/plans", "/v1/suggestions", "/v1/checks", "/v1/explanations"}  # name nothing that is stored
OPEN = {"/livez", "/readyz", "/metrics", "/v1/session"}


@dataclass
class Tenant:
    name: str
    key: str
    key_id: str
    upload: str
    runs: list[str]  # one that waits for an approval, one that waits for an answer, one queued
    secret: str  # in its question, its conversation, its clarification, its upload and the settings of its column


async def settle(database: Postgres) -> list[Tenant]:
    """Tenants whose runs wait: no worker is there to go on with them."""
    return [await _tenant(database, f"pair-{number}-{uuid.uuid4().hex[:6]}") for number in range(TENANTS)]


async def _tenant(database: Postgres, name: str) -> Tenant:
    key, secret = await Keys(database).make(name, role="admin"), uuid.uuid4().hex
    runs, ids = Runs(database.of(name)), []
    refusal = Refusal(text=secret, issues=(Issue(code="access/unapproved", problem=secret),), plan=TOTALS)
    waiting = (("waiting_approval", refusal), ("waiting_answer", Clarification(text=secret, missing=secret)))
    for number, (state, shown) in enumerate(waiting):
        run, _ = await runs.add(
            RunRequest(question=f"what about {secret}?", thread=f"{secret}-{number}"), f"key-{number}"
        )
        claim = await runs.claim()
        assert claim is not None
        await runs.write(claim, [("question", {"text": secret})], state=state, waiting=shown)
        ids.append(run.id)
    run, _ = await runs.add(RunRequest(question=f"what about {secret}?"))
    upload = await _upload(database.of(name), secret)
    said = ColumnSettings(called=(f"n{secret}",), description=secret)
    await SavedSettings(database.of(name)).put((f"t{secret}", f"c{secret}"), said)
    return Tenant(name, key, id_of(key), upload, [*ids, run.id], secret)


async def _upload(database: Postgres, secret: str) -> str:
    """A file whose name, table, column and value are the tenant's secret."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"t{secret}.csv"
        file.write_text(f"c{secret}\nv{secret}\n")
        return await Uploads(database).add(file, file.name, {f"t{secret}": f"t{secret}"}, 1, 1000)


@dataclass
class Served:
    client: httpx.Client
    tenants: list[Tenant]


@pytest.fixture(scope="module")
def pairs(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    async def settled() -> list[Tenant]:
        async with open_postgres(postgres) as database:
            return await settle(database)

    with served(tmp_path_factory.mktemp("pairs"), str(SALES), "--database", postgres) as client:
        yield Served(client, asyncio.run(settled()))


def attempts(
    of: Tenant, run: str, key_id: str, thread: str, upload: str = NOBODYS
) -> Iterator[tuple[str, str, str, object]]:
    """Method, template, path and body of everything that names something stored."""
    base = "/v1/runs/{id}"
    approval = {"plan": TOTALS.fingerprint, "approved": True}
    for method, template, body in (
        ("GET", base, None),
        ("GET", f"{base}/events", None),
        ("GET", f"{base}/tables/{{step}}.csv", None),
        ("POST", f"{base}/cancel", None),
        ("POST", f"{base}/resume", None),
        ("POST", f"{base}/answer", {"text": "1"}),
        ("POST", f"{base}/approval", approval),
        ("POST", f"{base}/approval", {**approval, "approved": False}),
        ("POST", f"{base}/feedback", {"thumb": "bad", "reason": "why"}),
        ("GET", f"{base}/feedback", None),
        ("POST", "/v1/reviews/{id}", {}),
    ):
        yield method, template, template.replace("{id}", run).replace("{step}", "s1"), body
    yield "GET", "/v1/threads/{name}", f"/v1/threads/{thread}", None
    yield "DELETE", "/v1/keys/{key}", f"/v1/keys/{key_id}", None
    yield "DELETE", "/v1/uploads/{id}", f"/v1/uploads/{upload}", None
    secret = thread.partition("-")[0]
    for method, body in (("PUT", {"called": ["word"]}), ("DELETE", None)):
        yield method, "/v1/column-settings", f"/v1/column-settings?table=t{secret}&column=c{secret}", body
    yield "GET", "/v1/runs", f"/v1/runs?cursor={run}", None
    yield "POST", "/v1/rollout", "/v1/rollout", {"variant": f"v{secret}"[:30]}
    for command in ("step", "stop", "promote"):
        yield "POST", f"/v1/rollout/{command}", f"/v1/rollout/{command}", {}
    for path in ("/v1/reviews", "/v1/reviews/regressions", "/v1/rollout"):
        yield "GET", path, path, None
    for path in (
        "/v1/threads",
        "/v1/keys",
        "/v1/audit",
        "/v1/uploads",
        "/v1/column-settings",
        "/v1/sources",
        "/v1/values",
    ):
        yield "GET", path, path, None


@pytest.mark.requirement("R77", part="rows")
@pytest.mark.requirement("R77", part="names")
@pytest.mark.requirement("R77", part="errors")
@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)], ids=["few", "many"])
def test_what_belongs_to_another_looks_like_what_does_not_exist(count: int, pairs: Served) -> None:
    chance, requests, seen = random.Random(11), 0, set()
    before = {tenant.name: states(pairs.client, tenant) for tenant in pairs.tenants}
    for pair in range(count):
        mine, theirs = chance.sample(pairs.tenants, 2)
        run = chance.choice(theirs.runs)
        number = chance.randrange(2)
        foreign = [*attempts(mine, run, theirs.key_id, f"{theirs.secret}-{number}", theirs.upload)]
        nobodys = [*attempts(mine, NOBODYS, "f" * 12, "nobody-knows-it")]
        place = pair % len(foreign) if count < 200 else None  # each pair: one endpoint, or every one
        chosen = slice(place, None if place is None else place + 1)
        for (method, template, path, body), (_, _, same, _) in [*zip(foreign, nobodys, strict=True)][chosen]:
            told, unknown = (send(pairs.client, mine, method, one, body) for one in (path, same))
            assert told.status_code == unknown.status_code, (template, told.text)
            if template != "/v1/runs":  # a cursor: where the list goes on
                assert plain(told.text, path) == plain(unknown.text, same), template
            assert theirs.secret not in told.text
            assert theirs.name not in told.text
            assert theirs.key_id not in told.text.replace(path.rpartition("/")[2], "")
            requests, seen = requests + 2, seen | {template}
    assert before == {tenant.name: states(pairs.client, tenant) for tenant in pairs.tenants}
    paths = {*pairs.client.get("/openapi.json", headers=bearer(pairs.tenants[0])).json()["paths"]}
    assert seen == paths - OWN - OPEN, "an endpoint is not tried"
    print(f"\n{count} pairs, {requests} requests, nothing of another")


def test_a_tenant_knows_its_own_upload_and_settings_only(pairs: Served) -> None:
    for tenant in pairs.tenants[:4]:
        files = send(pairs.client, tenant, "GET", "/v1/uploads", None).json()["files"]
        assert [file["id"] for file in files] == [tenant.upload]
        for path in ("/v1/sources", "/v1/column-settings"):
            told = send(pairs.client, tenant, "GET", path, None).text
            assert [one.name for one in pairs.tenants if f"n{one.secret}" in told] == [tenant.name]


def test_every_endpoint_is_open_or_tried_or_names_nothing_stored(pairs: Served) -> None:
    paths = {*pairs.client.get("/openapi.json", headers=bearer(pairs.tenants[0])).json()["paths"]}
    tried = {template for _, template, _, _ in attempts(pairs.tenants[0], "", "", "")}
    assert paths - OWN - OPEN == tried, "add a new endpoint to `attempts`, or to `OWN` if it names nothing stored"


def send(client: httpx.Client, tenant: Tenant, method: str, path: str, body: object) -> httpx.Response:
    return client.request(method, path, json=body, headers=bearer(tenant))


def bearer(tenant: Tenant) -> dict[str, str]:
    return {"Authorization": f"Bearer {tenant.key}"}


def plain(text: str, path: str) -> str:
    """The text without the ids that were sent."""
    for part in path.split("/"):
        text = text.replace(part, "") if len(part) >= 12 else text
    return text


def states(client: httpx.Client, tenant: Tenant) -> list[tuple[str, str]]:
    runs = client.get("/v1/runs", headers=bearer(tenant)).json()["runs"]
    return sorted((run["id"], run["state"]) for run in runs)
