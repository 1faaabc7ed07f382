"""Whatever happens ends in one line and its own exit code; no traceback, and no data in the report of a crash."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

import groundplan
from groundplan.errors import Crashed, GroundplanError, UsageError, WorldError, crash_place
from groundplan.interfaces.cli import main
from groundplan.sources.http.client import _seconds as tracker_seconds
from tests.adversarial.test_f03_effects import send
from tests.test_cancel_and_resume import Mail, opened

SECRET = "hunter22-cell"


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "groundplan.interfaces.cli.main", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    file = tmp_path / "sales.csv"
    file.write_text("region,revenue\nWest,3\n")
    return file


def ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], raised: BaseException
) -> tuple[object, str]:
    def crash() -> None:
        raise raised

    monkeypatch.setattr(main, "app", crash)
    with pytest.raises(SystemExit) as ending:
        main.main()
    return ending.value.code, capsys.readouterr().err


def test_a_crash_is_one_line_without_data_and_not_a_refusal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = ended(monkeypatch, capsys, ValueError(f"cannot parse {SECRET}"))
    assert code == Crashed.exit_code == 5
    assert SECRET not in said
    assert "ValueError" in said
    assert len(said.splitlines()) == 1


def test_a_full_disk_is_a_failure_of_the_world(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = ended(monkeypatch, capsys, OSError(28, "No space left on device", "/x/y"))
    assert (code, said) == (4, "groundplan: /x/y: No space left on device\n")


def test_the_place_of_a_crash_is_ours() -> None:
    with pytest.raises(GroundplanError) as raised:
        groundplan.open(3)
    assert crash_place(raised.value).startswith("UsageError in groundplan/sources/")


def test_a_tool_that_crashes_fails_its_step() -> None:
    class Broken(Mail):
        async def call(self, call: object) -> object:  # type: ignore[override]
            raise KeyError(SECRET)

    async def run() -> str:
        project = await opened(Broken())
        try:
            return (await project.run(send("hello"), approve=True)).model_dump_json()
        finally:
            await project.close()

    said = asyncio.run(run())
    assert "running/crash" in said
    assert "unknown whether it took effect" in said
    assert SECRET not in said


def test_an_answer_is_shown_though_its_report_cannot_be_written(
    sales: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from groundplan.interfaces import report

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "write", full)
    done = CliRunner().invoke(main.app, ["ask", str(sales), "total revenue", "--output", str(tmp_path / "out")])
    assert "totals 3" in done.output
    assert isinstance(done.exception, GroundplanError)
    assert done.exception.exit_code == 4


@pytest.mark.parametrize(
    ("words", "environment", "code"),
    [
        (["ask", "FILE", "total revenue"], {"GROUNDPLAN_CACHE": "/proc/nothing"}, 2),
        (["ask", "FILE", "total revenue", "--thread", "a"], {"GROUNDPLAN_STATE": "/proc/nothing"}, 2),
        (["ask", "FILE", "total revenue", "--output", "/proc/nothing"], {}, 2),
        (["ask", "FILE", "total revenue"], {"GROUNDPLAN_MEMORY": "lots"}, 2),
        (["ask", "FILE", "total revenue", "--timezone", "\udcff"], {}, 2),
        (["run", "/dev/null"], {}, 2),
    ],
)
def test_no_command_ends_in_a_traceback(words: list[str], environment: dict[str, str], code: int, sales: Path) -> None:
    done = command(*[{"FILE": str(sales)}.get(word, word) for word in words], **environment)
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stderr


def test_corrupt_state_is_named(sales: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "state.sqlite").write_bytes(b"not a database, but long enough to be looked at" * 100)
    done = command("ask", str(sales), "total revenue", "--thread", "a", GROUNDPLAN_STATE=str(state))
    assert "Traceback" not in done.stderr
    assert "state.sqlite" in done.stderr
    assert done.returncode == 4


@pytest.mark.parametrize("header", ["²", "٣", "", " ", "1e9", "-1", "9" * 400, "Wed, 21 Oct 2015 07:28:00 GMT", "\x00"])
def test_a_strange_retry_after_is_ignored(header: str) -> None:
    from groundplan.llm.wire import _seconds as model_seconds

    assert tracker_seconds(header) is None
    assert model_seconds(header) is None


@pytest.mark.parametrize(
    ("columns", "question"),
    [
        ({"day": ["9999-12-31", "0001-01-01", "2025-01-01"], "revenue": [1, 2, 3]}, "monthly revenue as a line chart"),
        ({"day": ["9999-12-31", "9999-12-30", "9999-12-01"], "revenue": [1, 2, 3]}, "weekly revenue"),
        ({"day": ["0001-01-01", "0001-01-02", "0001-02-01"], "revenue": [1, 2, 3]}, "revenue by quarter"),
        ({"day": ["2025-01-01", "2025-02-01"], "revenue": [1e308, -1e308]}, "revenue by month as a line chart"),
        ({"region": ["a", "b"], "revenue": [1e308, 1e308]}, "bar chart of revenue by region"),
        ({"region": ["a", "b"], "revenue": [1e308, 1e308]}, "total revenue"),
        ({"region": ["a", "b"], "rev\nenue": [1, 2]}, "total rev enue"),
        ({"": ["a", "b"], " ": [1, 2]}, "how many rows are there?"),
    ],
)
def test_extreme_data_ends_in_an_outcome(columns: dict[str, list[object]], question: str, tmp_path: Path) -> None:
    from groundplan.charts.picture import terminal
    from groundplan.interfaces import report

    frame = pandas.DataFrame(columns)
    with groundplan.open({"data": frame}) as project:
        result = project.ask(question)
    assert not [issue for issue in getattr(result.outcome, "issues", ()) if issue.code == "running/crash"]
    report.write(result.outcome, tmp_path)
    for chart in result.charts:
        terminal(chart.spec, 80, 20)
    json.loads((tmp_path / "answer.json").read_text())


@pytest.mark.parametrize(
    "content", [b"\xff\xfe", b"a,b\n\xff\xfe\x00,1\n", b"\x00" * 1000, b"a\xc3\x28,b\n1,2\n", b"\n\n\n"]
)
def test_bytes_that_are_no_text_are_read_or_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_bytes(content)
    try:
        groundplan.open(tmp_path / "odd.csv").close()
    except GroundplanError:
        return


@pytest.mark.parametrize(
    "wrong",
    [
        lambda project: project.ask("x" * 100_001),
        lambda project: project.ask(5),
        lambda project: project.ask("total revenue", timezone=5),
        lambda project: project.ask("total revenue", today="soon"),
        lambda project: project.ask("total revenue", strategy=5),
        lambda project: project.ask("total revenue", thread=5),
        lambda project: project.ask("total revenue", colour="red"),
        lambda project: project.plan(None),
        lambda project: project.run(5),
        lambda project: project.check(None),
        lambda project: project.resume(5),
    ],
)
def test_a_wrong_call_from_python_is_a_usage_error(wrong: Callable[[Any], object], sales: Path) -> None:
    with groundplan.open(sales) as project, pytest.raises(UsageError):
        wrong(project)


@pytest.mark.parametrize(("raised", "typed"), [(ValueError(SECRET), Crashed), (PermissionError(13, "no"), WorldError)])
def test_a_fault_inside_reaches_python_typed_and_with_its_cause(
    raised: Exception, typed: type[GroundplanError], sales: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise raised

    with groundplan.open(sales) as project:
        monkeypatch.setattr("groundplan.project.plan_for", fails)
        with pytest.raises(typed) as caught:
            project.plan("total revenue")
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is raised
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # from a process of a pool


@pytest.mark.parametrize("name", ["re\ngion", "re\tgion", "\x1b[2J", "re\rgion"])
def test_a_control_character_in_a_column_of_a_database_is_named(name: str, tmp_path: Path) -> None:
    file = tmp_path / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE bad AS SELECT 'West' AS \"{name}\", 3 AS revenue")
        connection.execute("CREATE TABLE sales AS SELECT 'West' AS region, 3 AS revenue")
    with groundplan.open(file) as project:
        told = {table.name: table.description for table in project.schemas["tables"].tables}
        assert project.ask("total revenue by region").kind == "answer"
    assert "has a control character" in told["bad"]
    assert told["sales"] == ""


@pytest.mark.timed
def test_a_question_that_is_far_too_long_is_refused_at_once(sales: Path) -> None:
    with groundplan.open(sales) as project:
        begun = time.process_time()
        refused = project.ask("total revenue by region for the last quarter as a bar chart " * 1_600)
        assert time.process_time() - begun < 5
    assert refused.kind == "refusal"
    assert "ask in at most 2,000" in refused.text
