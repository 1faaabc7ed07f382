"""Links in the folder for output are not written through, and a conversation never takes over a run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import groundplan
from groundplan.contracts.answer import Answer
from groundplan.interfaces.report import write
from groundplan.project import AsyncProject, conversation_place
from groundplan.regular_files import write_regular

SALES = Path(__file__).parents[2] / "examples" / "sales.csv"


def test_a_report_replaces_links_and_leaves_what_they_point_at(tmp_path: Path) -> None:
    out, own = tmp_path / "out", tmp_path / "bashrc"
    out.mkdir()
    own.write_text("mine")
    names = ("report.md", "answer.json", "trace.json", "plan.json")
    for name in names:
        (out / name).symlink_to(own)
    with groundplan.open(SALES) as project:
        outcome = project.ask("total revenue by region").outcome
    assert isinstance(outcome, Answer)
    for table in outcome.tables:
        (out / f"{table.step}.csv").symlink_to(own)
    write(outcome, out)
    assert own.read_text() == "mine"
    assert not any((out / name).is_symlink() for name in names)
    assert "West" in (out / "report.md").read_text()


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write_regular(tmp_path / "a.txt", "one")
    write_regular(tmp_path / "a.txt", b"two")
    assert (tmp_path / "a.txt").read_text() == "two"
    assert [*tmp_path.iterdir()] == [tmp_path / "a.txt"]
    with pytest.raises(OSError, match="No such file"):
        write_regular(tmp_path / "none" / "a.txt", "one")


def test_a_table_is_saved_in_place_of_a_link(tmp_path: Path) -> None:
    out, own = tmp_path / "out", tmp_path / "bashrc"
    out.mkdir()
    own.write_text("mine")
    import pyarrow as pa

    from groundplan.sources.tables.tools.sinks import _write

    for name in ("a.csv", "a.json", "a.parquet"):
        (out / name).symlink_to(own)
        _write(pa.table({"a": ["x"]}), out / name)
        assert not (out / name).is_symlink()
    assert own.read_text() == "mine"
    assert len([*out.iterdir()]) == 3


def test_no_conversation_has_the_place_of_a_run() -> None:
    assert conversation_place("", "abc") != "abc"
    assert conversation_place("t", "abc") != "t/abc"


def test_a_conversation_named_like_a_waiting_run_leaves_it_alone() -> None:
    async def work() -> tuple[str, str]:
        project = await AsyncProject.open(str(SALES))
        try:
            asked = await project.ask("share of revenue", run_id="waits1")
            await project.ask("total revenue", thread="waits1")
            again = await project.resume("waits1")
            return asked.text, again.text
        finally:
            await project.close()

    before, after = asyncio.run(work())
    assert before == after, "the run still waits with its own question"
