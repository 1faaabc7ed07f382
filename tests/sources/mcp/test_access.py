"""What is set up: nothing of our environment that was not named, no shell, and faults that say what to write."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.sources.mcp.calling import facts, hostile_command, opened

from groundplan.errors import UsageError
from groundplan.sources.mcp.access import load_access
from groundplan.sources.mcp.source import Mcp

OF_THE_SYSTEM = {"LC_CTYPE"}  # Python sets it by itself


def test_a_command_sees_only_what_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "named")
    monkeypatch.setenv("OTHER_KEY", "a secret of someone else")
    with opened(hostile_command("tells its environment", tmp_path / "journal"), env=["SHOP_KEY"]) as source:
        seen = dict(facts(source, "shop.look").first)
    assert seen["SHOP_KEY"] == "named"
    assert seen.keys() - OF_THE_SYSTEM == {"PATH", "HOME", "SHOP_KEY"}


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOP_KEY", raising=False)
    with pytest.raises(UsageError, match="variable SHOP_KEY is not set"):
        Mcp.open({"mcp": sys.executable, "env": ["SHOP_KEY"]}, "shop")


def test_no_shell_sees_the_command(tmp_path: Path) -> None:
    access = load_access("shop", {"mcp": f"python 'my server.py' ; touch {tmp_path}/made $(id) > out"})
    assert access.command == ["python", "my server.py", ";", "touch", f"{tmp_path}/made", "$(id)", ">", "out"]


@pytest.mark.parametrize(
    ("name", "settings", "problem"),
    [
        ("Shop!", {"mcp": "x"}, "write a name of lower-case letters"),
        ("shop", {}, "mcp: Field required"),
        ("shop", {"mcp": "  "}, "write a command"),
        ("shop", {"mcp": "x", "token": "s3cret"}, "token: Extra inputs"),
        ("shop", {"mcp": "x", "seconds": 0}, "seconds: Input should be greater"),
        ("shop", {"mcp": "x", "bytes": 10}, "bytes: Input should be greater"),
        ("shop", {"mcp": "x", "token_env": "T"}, "a command gets its token by `env`"),
        ("shop", {"mcp": "https://example.org/mcp", "env": ["T"]}, "`env` is for a command"),
        ("shop", {"mcp": "https://s3cret@example.org/mcp"}, "with no user and no password"),
        ("shop", {"mcp": "python 'open"}, "No closing quotation"),
    ],
)
def test_a_wrong_setting_is_named_and_not_shown(name: str, settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as raised:
        load_access(name, settings)
    assert "s3cret" not in str(raised.value)
