"""A secret is sent to its server and is in no log, trace, prompt, answer, checkpoint or message."""

from __future__ import annotations

import asyncio
import logging
import traceback
from pathlib import Path
from typing import Any

import pytest

from groundplan.errors import GroundplanError, SourceError
from groundplan.llm.client import Model
from groundplan.llm.recording import recording
from tests.llm.scripted import PROBED, RIPE, Behaviour, Fruit, says, scripted, sends
from tests.llm.test_secrets import CANARY
from tests.sources.tableau.calling import BY_REGION, during, opened, ready
from tests.sources.tableau.double.serving import Reply, Request
from tests.sources.tableau.double.tableau import Tableau
from tests.sources.tableau.test_source_secrets import everything
from tests.sources.trackers import data
from tests.sources.trackers.calling import call, gitlab, youtrack
from tests.sources.trackers.serving import Reply as TrackerReply
from tests.sources.trackers.serving import serving


@pytest.mark.parametrize("body", ["[{}]", "{}", '{"message": "no"}'])
@pytest.mark.parametrize("status", [200, 400, 401, 500])
@pytest.mark.parametrize("opened", [gitlab, youtrack])
def test_a_token_that_a_server_sends_back_is_in_no_message_and_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, opened: Any, status: int, body: str
) -> None:
    caplog.set_level(logging.DEBUG)

    def echo(_: object) -> TrackerReply:
        return TrackerReply(status, body.replace("no", data.TOKEN).encode(), {"X-Echo": data.TOKEN})

    tool = "gitlab_commits" if opened is gitlab else "youtrack_issues"
    with serving(echo) as served, pytest.raises(SourceError) as caught:
        call(opened(served, tmp_path), tool)
    assert data.TOKEN not in str(caught.value)
    assert data.TOKEN not in caplog.text
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or data.TOKEN not in repr(vars(caught.value.__context__))


@pytest.mark.requirement("R46")
def test_no_secret_is_in_what_a_question_leaves_behind(
    tableau: Tableau, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    left = everything(opened(tableau, tmp_path), tableau)
    assert "Region" in left
    assert "CANARY" not in left
    assert "CANARY" not in caplog.text


@pytest.mark.requirement("R46")
@pytest.mark.parametrize("status", [200, 400, 401, 500, 503])
@pytest.mark.parametrize("on", ["signin", "read-metadata", "query-datasource"])
@pytest.mark.parametrize(
    "body",
    [
        '{"errorCode": "CANARY", "message": "CANARY", "debug": {"token": "CANARY"}}',
        '{"error": {"code": "CANARY", "summary": "CANARY", "detail": "CANARY"}}',
        '{"credentials": {"token": "CANARY with a\\nline", "site": {"id": "CANARY/.."}}}',
        '{"data": [{"Region": "CANARY"}]}',
        '{"data": [{"fieldCaption": 7, "dataType": "CANARY"}]}',
        "CANARY",
    ],
)
def test_what_a_server_sends_back_is_in_no_message_and_no_log(
    tableau: Tableau, tmp_path: Path, caplog: pytest.LogCaptureFixture, on: str, status: int, body: str
) -> None:
    caplog.set_level(logging.DEBUG)
    honest = tableau.answer

    def echo(request: Request) -> Reply:
        return Reply(status, body.encode()) if request.endpoint == on else honest(request)

    tableau.answer = echo
    source = opened(tableau, tmp_path)
    with pytest.raises(GroundplanError) as caught:
        during(source, lambda: source.call(ready(BY_REGION, seconds=5)))
    assert "CANARY" not in "".join(traceback.format_exception(caught.value, chain=True))
    assert "CANARY" not in caplog.text


@pytest.mark.requirement("R55")
@pytest.mark.parametrize(("kept_in", "recorded"), [("environment", False), ("file", True)])
@pytest.mark.parametrize(
    "behaviour",
    [
        says(RIPE),
        says(f'{{"fruit": "{CANARY}"}}'),
        says(f"your key is {CANARY}"),
        sends(200, f"{CANARY} is no completion"),
        sends(400, f"bad key {CANARY}"),
        sends(401, f"unknown key {CANARY}", www_authenticate=CANARY),
        sends(429, f"{CANARY} is over its quota", retry_after="900"),
    ],
    ids=["answer", "echo in a field", "echo in text", "echo in no completion", "400", "401", "429"],
)
def test_the_canary_is_sent_and_shows_up_nowhere(
    behaviour: Behaviour,
    kept_in: str,
    recorded: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "key").write_text(f"{CANARY}\n")
    monkeypatch.setenv("CANARY_KEY", CANARY)
    settings = {"api_key_env": "CANARY_KEY"} if kept_in == "environment" else {"api_key_file": str(tmp_path / "key")}
    seen: list[str] = []

    async def run() -> list[str]:
        async with scripted(says(PROBED), behaviour) as server:
            endpoint = server.endpoint(**settings)
            with recording(tmp_path / "recording.json") as transport:
                async with Model.open(endpoint, transport if recorded else None) as model:
                    await model.enforces_schema()
                    try:
                        seen.append(repr(await model.ask("Which?", Fruit, seconds=2)))
                    except GroundplanError as error:
                        seen.extend(traceback.format_exception(error))
                        seen.append(repr((error.__context__, error.__cause__, vars(error))))
                    seen.append(repr((model, vars(model), endpoint, endpoint.model_dump())))
            return server.headers

    with caplog.at_level(logging.DEBUG):
        headers = asyncio.run(run())
    assert all(f"Bearer {CANARY}" in head for head in headers), "the key must reach the server"
    kept = [*seen, caplog.text, (tmp_path / "recording.json").read_text()]
    assert len(caplog.text) > 100
    assert not [text for text in kept if CANARY in text]
