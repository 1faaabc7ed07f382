"""The secret of the token and the session's token reach Tableau and nothing else."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from groundplan.contracts.verdict import Passed
from groundplan.errors import GroundplanError
from groundplan.interfaces.cli.main import app
from groundplan.project import AsyncProject, Project
from groundplan.running.run import run
from groundplan.settings import trust_folder
from tests.running.saving import saved_in
from tests.sources.tableau.calling import configured
from tests.sources.tableau.double.serving import Reply, Request
from tests.sources.tableau.double.tableau import Tableau
from tests.tableau.asking import TODAY, answered, ask
from tests.tableau.conftest import Opener

QUESTION = "sales by region as a bar chart"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is kept on this machine, apart from the secret itself."""
    folder = tmp_path / "kept"
    for name in ("GROUNDPLAN_CACHE", "GROUNDPLAN_STATE"):
        monkeypatch.setenv(name, str(folder))
    return folder


def written(*folders: Path) -> bytes:
    return b"\n".join(file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file())


def canaries(tableau: Tableau) -> list[str]:
    """The secret, and every session token that a request has carried."""
    tokens = {request.headers.get("x-tableau-auth") for request in tableau.requests} - {None}
    assert tokens
    return [tableau.token_secret, *map(str, tokens)]


@pytest.mark.requirement("R46", "R55")
def test_no_secret_is_in_an_answer_a_thread_a_log_or_a_trace(
    tableau: Tableau, opening: Opener, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    project = opening()
    answers = [answered(ask(project, said, thread="canary")) for said in (QUESTION, "only the West")]
    left = " ".join(answer.model_dump_json() for answer in answers).encode() + written(kept) + caplog.text.encode()
    assert b"only the West" in written(kept), "the thread is there, so a secret would be found in it"
    for canary in canaries(tableau):
        assert canary.encode() not in left


@pytest.mark.requirement("R46", "R55")
def test_no_secret_is_in_a_checkpoint(tableau: Tableau, tmp_path: Path, kept: Path) -> None:
    settings = configured(tableau, tmp_path)

    async def through() -> None:
        project = await AsyncProject.open({"tableau": settings})
        planned = await project.plan(QUESTION, today=TODAY)
        assert isinstance(planned.verdict, Passed)
        async with saved_in(kept) as saved:
            await run(planned.verdict.plan, project.sources, run_id="canary", checkpointer=saved)
        await project.close()

    asyncio.run(through())
    found = written(kept)
    assert b"Central" in found, "what the steps brought is there, so a secret would be found too"
    for canary in canaries(tableau):
        assert canary.encode() not in found


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("status", [200, 400, 401, 500, 503])
@pytest.mark.parametrize("on", ["signin", "read-metadata", "query-datasource"])
def test_a_server_that_sends_its_secrets_back_does_not_make_us_say_them(
    tableau: Tableau, tmp_path: Path, kept: Path, caplog: pytest.LogCaptureFixture, on: str, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    honest = tableau.answer

    def echo(request: Request) -> Reply:
        if request.endpoint != on:
            return honest(request)
        shown = {"errorCode": "CANARY", "message": f"{request.headers} {request.body!r}", "error": {"code": "CANARY"}}
        return Reply(status, json.dumps(shown).encode(), headers={"X-Echo": tableau.token_secret})

    tableau.answer = echo  # type: ignore[method-assign]
    with pytest.raises(GroundplanError) as caught, Project({"tableau": configured(tableau, tmp_path)}) as project:
        ask(project, QUESTION)
    said = "".join(traceback.format_exception(caught.value, chain=True)) + caplog.text
    assert "CANARY" not in said
    assert tableau.token_secret not in said
    assert tableau.token_secret.encode() not in written(kept)


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("options", [(), ("--json",), ("--plan-only", "--json")], ids=["text", "json", "plan"])
def test_no_secret_is_in_what_the_command_line_prints_or_writes(
    tableau: Tableau, tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "groundplan.toml").write_text(toml(configured(tableau, tmp_path)), encoding="utf-8")
    trust_folder(folder)
    monkeypatch.chdir(folder)
    asked = ["ask", QUESTION, "--today", str(TODAY), "--output", str(folder / "report"), *options]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    for canary in canaries(tableau):
        assert canary not in done.output
        assert canary.encode() not in written(kept, folder)


def toml(settings: dict[str, Any]) -> str:
    return "\n".join(["[sources.tableau]", *(f"{name} = {json.dumps(value)}" for name, value in settings.items())])
