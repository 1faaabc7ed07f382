"""The examples of docs/how-to/verify-sql.md, replayed as they are written."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.asking.tables.sql.shop import write_shop
from tests.extras import missing
from tests.interfaces.test_cli import groundplan as command

PAGE = (Path(__file__).parents[4] / "docs/how-to/verify-sql.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(PAGE) if kind == language]


@pytest.mark.requirement("R84", part="cli")
@pytest.mark.parametrize("block", blocks("console"))
def test_a_command_of_the_page_prints_what_it_says(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_shop(tmp_path / "shop")
    monkeypatch.chdir(tmp_path)
    line, _, printed = block.partition("\n")
    done = command(*shlex.split(line.removeprefix("$ groundplan ")))
    assert done.stdout == printed


@pytest.mark.requirement("R84", part="python")
def test_the_python_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_shop(tmp_path / "shop")
    monkeypatch.chdir(tmp_path)
    [program] = blocks("python")
    exec(compile(program, "verify-sql.md", "exec"), {})
    assert capsys.readouterr().out.startswith("sound Read as: number of orders where status is refunded.")


@pytest.mark.requirement("R84", part="mcp")
@pytest.mark.needs("mcp")
@pytest.mark.skipif(bool(missing("mcp")), reason="needs the extra mcp")
def test_an_assistant_gets_the_reply_of_the_page(tmp_path: Path) -> None:
    from tests.interfaces.test_mcp_server import called

    write_shop(tmp_path / "shop")
    server, given, wanted = map(json.loads, blocks("jsonc"))
    settings: dict[str, Any] = server["mcpServers"]["groundplan"]
    assert (settings["command"], settings["args"][0]) == ("groundplan", "mcp")
    _, [found] = asyncio.run(called(tmp_path, settings["args"][1:], [("verify_sql", given)]))
    told = found.structured_content
    assert told["result"] == wanted["result"]
    [first] = [finding for finding in told["findings"] if finding["severity"] == "error"]
    assert {name: first[name] for name in ("code", "problem")} == wanted["findings"][0]
