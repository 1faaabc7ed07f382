"""Whatever a server does, a step ends typed and in time, nothing it says steers, and nothing is left running."""

from __future__ import annotations

import logging
import subprocess
import time
from pathlib import Path

import pytest
from tests.patience import SOON
from tests.sources.mcp.calling import facts, hostile_command, opened, outcome
from tests.sources.mcp.hostile_server import CALLS, CANARY

from groundplan.errors import GroundplanError, SourceError, ToolError
from groundplan.sources.mcp.source import Mcp, ToolFailed

SECONDS = 1.5
ANSWERED = ("chatters", "gives instructions", "tells its environment", "crashes once")


@pytest.mark.requirement("R40", "R44")
@pytest.mark.parametrize("tool", ["shop.look", "shop.change"])
@pytest.mark.parametrize("behaviour", [name for name in CALLS if name not in ANSWERED])
def test_a_call_ends_typed_and_in_time(behaviour: str, tool: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with opened(hostile_command(behaviour, journal)) as source:
        begun = time.monotonic()
        ended = outcome(source, tool, SECONDS, word="x")
        assert time.monotonic() - begun < SOON
        assert ended.status == "failed"
        assert ended.issue is not None
        known = ("running/tool", "running/deadline")
        assert ended.issue.code in (known if tool == "shop.look" else (*known, "running/unknown-effect"))
        assert "CANARY" not in ended.model_dump_json()
        assert [offered.name for offered in source.catalog_tools()][:2] == ["shop.look", "shop.change"]
        assert source.changes() == []
    assert journal.read_text().count("call ") <= (2 if tool == "shop.look" else 1)
    assert_gone(journal)


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ("sends the same page again", "lists tools on too many pages"),
        ("sends empty pages without end", "lists tools on too many pages"),
        ("lists no tools but words", "sent no list of tools"),
        ("sends a list of 10 MB", "sent too much"),
        ("never greets", "did not answer in time"),
        ("exits at once", "stopped"),
    ],
)
def test_a_server_that_cannot_be_opened_says_why(behaviour: str, problem: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    seconds = 2 if behaviour == "never greets" else 20
    begun = time.monotonic()
    with pytest.raises(SourceError, match=problem) as raised:
        Mcp.open({"mcp": hostile_command(behaviour, journal), "seconds": seconds}, "shop")
    assert time.monotonic() - begun < SOON
    assert "CANARY" not in str(raised.value)
    assert_gone(journal)


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(SourceError, match="'no-such-program' does not run as an MCP server"):
        Mcp.open({"mcp": "no-such-program --token secret"}, "shop")


def test_of_5000_tools_the_first_2000_are_taken_and_that_is_said(tmp_path: Path) -> None:
    begun = time.process_time()
    with opened(hostile_command("has 5,000 tools", tmp_path / "journal")) as source:
        assert len(source.catalog_tools()) == 2_000
        assert source.notes == ["only the first 2,000 tools are used"]
    assert time.process_time() - begun < 10


def test_words_before_the_first_message_do_no_harm(tmp_path: Path) -> None:
    with opened(hostile_command("prints a banner", tmp_path / "journal")) as source:
        assert facts(source, "shop.look").items[0].text == "done"


def test_a_server_that_leaves_at_a_new_greeting_gets_the_old_one(tmp_path: Path) -> None:
    with opened(hostile_command("leaves at a greeting that it does not know", tmp_path / "journal")) as source:
        assert facts(source, "shop.look").items[0].text == "done"


@pytest.mark.requirement("R17")
def test_notifications_and_requests_of_the_server_change_nothing(tmp_path: Path) -> None:
    with opened(hostile_command("chatters", tmp_path / "journal")) as source:
        before = source.catalog_tools()
        assert facts(source, "shop.look").items[0].text == "done"
        assert source.catalog_tools() == before
    assert (tmp_path / "journal").read_text().count("list") == 0, "nobody listens to them"


def test_instructions_in_a_result_are_an_item_and_nothing_else(tmp_path: Path) -> None:
    with opened(hostile_command("gives instructions", tmp_path / "journal")) as source:
        found = facts(source, "shop.look")
    assert [item.text for item in found.items] == [CANARY]
    assert "CANARY" not in found.model_copy(update={"items": ()}).model_dump_json()


def test_instructions_in_a_failure_are_quoted_and_not_in_the_message(tmp_path: Path) -> None:
    served = opened(hostile_command("fails with instructions", tmp_path / "journal"))
    with served as source, pytest.raises(ToolFailed) as raised:
        facts(source, "shop.look")
    assert raised.value.item.text == CANARY
    assert "CANARY" not in str(raised.value)


def test_a_schema_that_would_take_years_to_check_does_not(tmp_path: Path) -> None:
    with opened(hostile_command("takes years to check", tmp_path / "journal")) as source:
        assert source.notes == ["shop.doubling: its output schema cannot be read"]
        begun = time.monotonic()
        assert facts(source, "shop.slow").found, "its pattern is not run"
        assert time.monotonic() - begun < SOON


def test_a_good_server_is_asked_again_after_a_bad_answer(tmp_path: Path) -> None:
    with opened(hostile_command("sends 10 MB", tmp_path / "journal"), bytes=20_000_000) as source:
        assert len(facts(source, "shop.look").items[0].text) == 20_000
    with opened(hostile_command("sends 10 MB", tmp_path / "other")) as source:
        for _ in range(2):
            with pytest.raises(ToolError, match="sent more than 1,000,000 bytes; ask for less, or raise `bytes`"):
                facts(source, "shop.look")
    assert (tmp_path / "other").read_text().count("start") == 2


def test_nothing_that_a_server_writes_reaches_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for behaviour in ("refuses", "sends wrong types", "chatters", "lists no tools but words"):
        try:
            with opened(hostile_command(behaviour, tmp_path / behaviour)) as source:
                outcome(source, "shop.look", SECONDS)
        except GroundplanError:
            continue
    assert "CANARY" not in caplog.text


def assert_gone(journal: Path) -> None:
    """No process that was started with this journal is left."""
    until = time.monotonic() + SOON
    while time.monotonic() < until:
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        if str(journal) not in listed:
            return
        time.sleep(0.05)
    raise AssertionError(f"a server with {journal} still runs")
