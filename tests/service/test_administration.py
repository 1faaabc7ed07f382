"""Keys over HTTP, what each role may do, quotas as problems, and the audit log: `serve` with a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from groundplan.state.keys import Role
from tests.asking.tables.described import SALES
from tests.patience import HANGS
from tests.service.processes import make_key, served


@pytest.fixture(scope="module")
def client(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder: Path = tmp_path_factory.mktemp("administration")
    (folder / "groundplan.toml").write_text("[service]\nopen_runs = 2\n")
    with served(folder, str(SALES), "--database", postgres) as found:
        yield found


def as_(client: httpx.Client, key: str) -> httpx.Client:
    return httpx.Client(base_url=client.base_url, headers={"Authorization": f"Bearer {key}"}, timeout=HANGS)


def role(postgres: str, client: httpx.Client, tenant: str, name: Role) -> httpx.Client:
    return as_(client, make_key(postgres, tenant, name))


def test_a_key_is_made_used_listed_and_revoked(postgres: str, client: httpx.Client) -> None:
    admin = role(postgres, client, "keyed", "admin")
    made = admin.post("/v1/keys", json={"name": "for a script"})
    assert made.status_code == 201
    script = as_(client, made.json()["key"])
    assert script.get("/v1/runs").status_code == 200
    listed = {key["id"]: key for key in admin.get("/v1/keys").json()}
    assert listed[made.json()["id"]]["role"] == "ask"
    assert made.json()["key"] not in admin.get("/v1/keys").text
    assert admin.delete(f"/v1/keys/{made.json()['id']}").status_code == 204
    assert script.get("/v1/runs").status_code == 401
    gone = admin.delete(f"/v1/keys/{made.json()['id']}")
    assert (gone.status_code, gone.json()["code"]) == (404, "service/not-found")
    log = [(entry["action"], entry["about"]) for entry in admin.get("/v1/audit").json()]
    assert log[:2] == [("key.revoked", made.json()["id"]), ("key.created", made.json()["id"])]
    [own] = {*listed} - {made.json()["id"]}
    assert {entry["actor"] for entry in admin.get("/v1/audit").json()} == {"operator", own}


def test_a_role_may_do_what_it_is_for(postgres: str, client: httpx.Client) -> None:
    paths = {"/v1/runs": {"ask", "admin"}, "/v1/keys": {"admin"}, "/v1/audit": {"admin"}, "/metrics": {"metrics"}}
    for name in ("ask", "admin", "metrics"):
        caller = role(postgres, client, "roles", name)
        for path, allowed in paths.items():
            reply = caller.get(path)
            assert reply.status_code == (200 if name in allowed else 403), (name, path)
            assert name in allowed or reply.json()["code"] == "service/role"
    assert role(postgres, client, "roles", "ask").delete("/v1/keys/" + "0" * 12).status_code == 403
    assert httpx.get(f"{client.base_url}/metrics", timeout=HANGS).status_code == 401


@pytest.mark.requirement("R77", part="names")
def test_an_administrator_sees_one_tenant(postgres: str, client: httpx.Client) -> None:
    mine, theirs = role(postgres, client, "admin-one", "admin"), role(postgres, client, "admin-two", "admin")
    made = theirs.post("/v1/keys", json={"name": "their secret name"}).json()["id"]
    assert "their secret name" not in mine.get("/v1/keys").text
    assert made not in mine.get("/v1/audit").text
    assert mine.delete(f"/v1/keys/{made}").status_code == 404
    assert made in theirs.get("/v1/keys").text


@pytest.mark.requirement("R77", part="quotas")
def test_too_many_runs_are_a_problem_that_says_when_to_try_again(postgres: str, client: httpx.Client) -> None:
    """No worker runs here, so that runs stay queued."""
    caller, other = role(postgres, client, "busy", "ask"), role(postgres, client, "idle", "ask")
    runs = [caller.post("/v1/runs", json={"question": "total revenue"}) for _ in range(3)]
    assert [reply.status_code for reply in runs] == [202, 202, 429]
    assert runs[2].json()["code"] == "service/too-many-runs"
    assert int(runs[2].headers["Retry-After"]) > 0
    assert other.post("/v1/runs", json={"question": "total revenue"}).status_code == 202
    caller.post(f"/v1/runs/{runs[0].json()['id']}/cancel")
    assert caller.post("/v1/runs", json={"question": "total revenue"}).status_code == 202


def test_the_audit_log_only_grows(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("set role groundplan")
        connection.execute("select set_config('groundplan.tenant', '*', false)")
        connection.execute("select count(*) from audit")
        for statement in ("delete from audit", "update audit set actor = 'nobody'", "truncate audit"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
