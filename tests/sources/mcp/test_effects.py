"""A change is sent once. Where nobody can say whether it was made, that is what is said."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest
from tests.patience import HANGS, SOON
from tests.sources.mcp.calling import facts, hostile_command, opened, outcome, ready, rows, shop_command

from groundplan.errors import DeadlineExceeded, OutcomeUnknown, ToolError, UsageError
from groundplan.running.step import execute
from groundplan.sources.mcp.connection import ToolCall
from groundplan.sources.mcp.source import Mcp
from groundplan.sources.mcp.tools import ToolDefinition

MAIL = {"to": "ada@example.org", "subject": "Hello", "body": "Ready."}


@pytest.mark.requirement("R43")
def test_the_same_step_of_the_same_run_has_its_effect_once(tmp_path: Path) -> None:
    database = tmp_path / "shop.sqlite"
    with opened(shop_command(database)) as shop:
        first = facts(shop, "shop.send_email", **MAIL)
        again = facts(shop, "shop.send_email", **MAIL)
    assert first == again
    ((key, recipient),) = rows(database, "select key, recipient from outbox")
    assert (key.rpartition("/")[0], recipient) == ("a_run/a_step", "ada@example.org")


@pytest.mark.requirement("R43")
@pytest.mark.parametrize(
    "behaviour",
    [
        "crashes",
        "hangs",
        "floods",
        "sends 10 MB",
        "sends invalid UTF-8",
        "sends wrong types",
        "refuses",
    ],
)
def test_a_change_without_a_readable_answer_is_unknown_and_never_sent_again(behaviour: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with opened(hostile_command(behaviour, journal), seconds=5) as source:
        with pytest.raises(OutcomeUnknown, match=r"it is not known whether shop\.change took effect"):
            asyncio.run(source.call(ready(source, "shop.change", {"word": "x"}, 1.5)))
        told = outcome(source, "shop.change", 1.5, word="x")
        assert told.issue is not None
        assert told.issue.code == "running/unknown-effect"
    assert calls(journal) == 2, "one for each step that was taken"


@pytest.mark.requirement("R40", "R43")
def test_a_look_is_asked_once_more_on_a_new_connection(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with opened(hostile_command("crashes once", journal)) as source:
        assert facts(source, "shop.look", word="x").items[0].text == "done"
    assert calls(journal) == 2
    journal.unlink()
    with opened(hostile_command("crashes", journal)) as source, pytest.raises(ToolError, match="the server stopped"):
        facts(source, "shop.look", word="x")
    assert calls(journal) == 2


@pytest.mark.requirement("R43")
def test_after_a_crash_the_next_change_goes_to_a_new_connection(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with opened(hostile_command("crashes once", journal)) as source:
        with pytest.raises(OutcomeUnknown):
            facts(source, "shop.change", word="x")
        assert facts(source, "shop.change", word="x").found
    assert (calls(journal), journal.read_text().count("start")) == (2, 2)


def test_a_change_that_waits_behind_another_call_was_not_sent_and_is_simply_late(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with opened(hostile_command("hangs", journal)) as source:

        async def both() -> tuple[BaseException, BaseException]:
            looking = source.call(ready(source, "shop.look", {}, 2))
            await asyncio.sleep(0)
            changing = source.call(ready(source, "shop.change", {}, 0.5))
            first, second = await asyncio.gather(looking, changing, return_exceptions=True)
            assert isinstance(first, BaseException)
            assert isinstance(second, BaseException)
            return first, second

        late, waiting = asyncio.run(both())
    assert type(late) is DeadlineExceeded
    assert type(waiting) is DeadlineExceeded
    assert "call change" not in journal.read_text()


def test_a_call_that_was_given_up_is_not_sent_any_more() -> None:
    asking = ToolCall("shop.change", ToolDefinition({"name": "change"}), {}, "a_run/a_step")
    assert not asking.give_up()
    with pytest.raises(asyncio.CancelledError):
        asking.begin()
    sent = ToolCall("shop.change", ToolDefinition({"name": "change"}), {}, "a_run/a_step")
    sent.begin()
    assert sent.give_up()


def test_who_stops_waiting_stops_the_server(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with opened(hostile_command("hangs", journal)) as source:

        async def impatient() -> None:
            async with asyncio.timeout(0.3):
                await execute(source, ready(source, "shop.look", {}, HANGS), HANGS, lambda _: None)

        with pytest.raises(TimeoutError):
            asyncio.run(impatient())
        assert_free_again(source, journal)


def test_a_server_that_hangs_before_a_change_is_sent_is_late_and_then_left(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with opened(hostile_command("lists once and then hangs", journal)) as source:
        with pytest.raises(DeadlineExceeded):
            asyncio.run(source.call(ready(source, "shop.change", {}, 1)))
        assert calls(journal) == 0
        assert facts(source, "shop.change").found
    assert calls(journal) == 1


def test_closing_twice_is_no_fault_and_leaves_no_thread_behind(tmp_path: Path) -> None:
    others = {*threading.enumerate()}
    with opened(hostile_command("an ordinary one", tmp_path / "journal")) as source:
        [own] = [thread for thread in {*threading.enumerate()} - others if thread.name == "groundplan-shop"]
        call = ready(source, "shop.look", {})
        asyncio.run(source.close())
        with pytest.raises(UsageError, match="was closed"):
            asyncio.run(source.call(call))
    own.join(SOON)
    assert not own.is_alive()


def assert_free_again(source: Mcp, journal: Path) -> None:
    """The call that hung does not hold up the next one, which reaches a server."""

    async def again() -> None:
        before = calls(journal)
        asking = asyncio.create_task(source.call(ready(source, "shop.look", {}, HANGS)))
        await asyncio.to_thread(wait_for_a_call, journal, before)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(again())


def wait_for_a_call(journal: Path, before: int) -> None:
    until = time.monotonic() + SOON
    while calls(journal) == before:
        assert time.monotonic() < until, "no call reached a server"
        time.sleep(0.02)


def calls(journal: Path) -> int:
    return journal.read_text().count("call ")
