"""What was seen stays; what is new or changed waits, whatever a server says in the meantime."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from tests.sources.mcp.calling import facts, hostile_command, opened, ready

from groundplan.contracts.tool import Tool
from groundplan.errors import SourceError, StateInvalid, ToolError, UsageError
from groundplan.sources.mcp.pins import Change, Pins
from groundplan.sources.mcp.source import Mcp
from groundplan.sources.mcp.tools import ToolDefinition


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "mcp"


def seen_then(behaviour: str, journal: Path) -> str:
    """A server whose tools were seen once."""
    command = hostile_command(behaviour, journal)
    with opened(command) as source:
        assert names(source) == ["shop.look", "shop.change"]
        assert source.changes() == []
    return command


@pytest.mark.requirement("R36")
def test_a_change_that_now_says_it_only_reads_is_withheld(tmp_path: Path) -> None:
    with opened(seen_then("turns a change into a look later", tmp_path / "journal")) as source:
        assert names(source) == ["shop.look"]
        assert [(change.tool, change.parts) for change in source.changes()] == [("shop.change", ("annotations",))]


@pytest.mark.requirement("R17")
def test_a_new_tool_is_withheld_and_its_words_with_it(tmp_path: Path) -> None:
    with opened(seen_then("adds a tool later", tmp_path / "journal")) as source:
        assert "CANARY" not in str(source.catalog_tools())
        assert [(change.tool, change.kind) for change in source.changes()] == [("shop.steal", "new")]


def test_before_a_change_is_made_the_tool_is_looked_at_again(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    with opened(hostile_command("changes after the first list", journal)) as source:
        call = ready(source, "shop.change", {"word": "x"})
        with pytest.raises(ToolError, match=r"shop\.change has changed since it was accepted"):
            facts(source, "shop.change", word="x")
        assert "call change" not in journal.read_text()
        assert {(change.tool, change.kind) for change in source.changes()} == {
            ("shop.change", "changed"),
            ("shop.look", "gone"),
        }
        assert call.tool not in source.catalog_tools()


def test_only_what_changed_can_be_accepted_and_all_or_nothing(tmp_path: Path) -> None:
    with opened(seen_then("adds a tool later", tmp_path / "journal")) as source:
        with pytest.raises(UsageError, match=r"'shop\.look' has not changed; changed: shop\.steal"):
            source.accept(["shop.steal", "shop.look"])
        assert names(source) == ["shop.look", "shop.change"]


def test_the_file_is_private_and_a_damaged_one_is_refused(tmp_path: Path, state: Path) -> None:
    command = seen_then("an ordinary one", tmp_path / "journal")
    [file] = state.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    whole = file.read_text()
    for damaged in (whole[:-2], whole.replace("Looks a thing up", "Does harm"), "[]"):
        file.write_text(damaged)
        with pytest.raises(StateInvalid, match="is damaged"):
            Mcp.open({"mcp": command}, "shop")


def test_where_nothing_can_be_kept_nothing_is_opened(tmp_path: Path, state: Path) -> None:
    state.parent.mkdir()
    state.write_text("a file where the folder should be")
    with pytest.raises(SourceError, match="cannot be written"):
        Mcp.open({"mcp": hostile_command("an ordinary one", tmp_path / "journal")}, "shop")


def test_endless_numbers_in_a_definition_do_not_spoil_the_file(tmp_path: Path) -> None:
    command = hostile_command("has numbers without end in a schema", tmp_path / "journal")
    for _ in range(2):
        with opened(command) as source:
            assert source.changes() == []
            assert source.notes == ["'look' has an invalid definition"]


def test_hidden_characters_are_seen_in_a_diff() -> None:
    pins = Pins("shop", "somewhere")
    pins.trust_first({"look": ToolDefinition({"name": "look", "description": "Looks up."})})
    [change] = pins.changes({"look": ToolDefinition({"name": "look", "description": "Looks\u200b up.\x1b"})})
    assert "Looks\\u200b up.\\u001b" in change.diff
    assert isinstance(change, Change)


def test_servers_of_one_name_in_two_folders_do_not_share_what_was_seen() -> None:
    Pins("shop", "one").trust_first({"look": ToolDefinition({"name": "look"})})
    assert not Pins("shop", "two").holds(ToolDefinition({"name": "look"}))
    assert Pins("shop", "one").holds(ToolDefinition({"name": "look"}))


def names(source: Mcp) -> list[str]:
    tools: list[Tool] = source.catalog_tools()
    return [tool.name for tool in tools]
