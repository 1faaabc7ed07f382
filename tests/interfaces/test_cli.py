"""The command line as a person uses it: real files, exit codes and, where it matters, real processes."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from groundplan.interfaces.cli import main as command_line
from groundplan.interfaces.cli import terminal

ROOT = Path(__file__).parents[2]
SALES, PLAN = ROOT / "examples/sales.csv", ROOT / "examples/sales_plan.json"


COLUMNS = 160


def groundplan(*arguments: object, stdin: str = "") -> CompletedProcess[str]:
    """What the command prints and its exit code, in this process: a new one imports everything again."""
    given = (stdin.encode(), b"", b"")
    names = ("stdin", "stdout", "stderr")
    streams = {name: io.TextIOWrapper(io.BytesIO(text), "utf-8") for name, text in zip(names, given, strict=True)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        patch.setattr(terminal.out, "width", COLUMNS)
        patch.setattr(terminal.err, "width", COLUMNS)
        patch.setattr(command_line, "_collect_garbage_later", lambda: None)
        patch.setattr(sys, "argv", ["groundplan", *map(str, arguments)])
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as ending:
            command_line.main()
    printed = [streams[name] for name in ("stdout", "stderr")]
    for stream in printed:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in printed)  # type: ignore[attr-defined]
    code = ending.value.code
    return CompletedProcess(list(arguments), code if isinstance(code, int) else 0, out, err)


def started(*arguments: object, stdin: str | None = None) -> CompletedProcess[str]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "groundplan.interfaces.cli.main", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, input=stdin, timeout=120, env=environment)


def broken(**changes: Any) -> str:
    proposal = json.loads(PLAN.read_text())
    proposal["plan"]["steps"][1]["params"] |= changes
    return json.dumps(proposal)


@pytest.mark.requirement("R34")
def test_check_reports_like_a_linter() -> None:
    done = started("check", "-", "--source", SALES, stdin=broken(group_by=["date", "regoin"]))
    assert done.returncode == 1
    assert "names/unknown-column" in done.stdout
    assert "steps.1.params.group_by.1" in done.stdout
    assert "did you mean 'region'?" in done.stdout


@pytest.mark.requirement("R34")
def test_check_passes_a_sound_plan_and_shows_its_coverage() -> None:
    done = groundplan("check", PLAN, "--source", SALES)
    assert done.returncode == 0, done.stderr
    assert "analysis:trend <- chart" in done.stdout


def test_check_as_json() -> None:
    done = groundplan("check", PLAN, "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["ok"] is False
    assert "names/no-source" in {issue["code"] for issue in document["issues"]}


@pytest.mark.requirement("R53", part="tables")
def test_run_writes_pictures_tables_and_the_whole_answer(tmp_path: Path) -> None:
    done = started("run", PLAN, "--source", SALES, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "✓ totals" in done.stderr
    assert "700 more rows" in done.stdout
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 721
    assert json.loads((tmp_path / "answer.json").read_text())["kind"] == "answer"


def test_run_as_json_prints_one_document_and_nothing_else() -> None:
    done = started("run", PLAN, "--source", SALES, "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["kind"] == "answer"
    assert document["tables"][0]["row_count"] == 720
    assert {"text", "charts", "plan", "coverage", "repairs", "issues", "facts", "trace", "usage"} <= set(document)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["run", PLAN], 2, "--source"),
        (["run", "no_such.json", "--source", SALES], 2, "cannot read the plan no_such.json"),
        (["run", PLAN, "--source", "no_such.csv"], 2, "no_such.csv"),
        (["resume", "nobody", "--source", SALES], 4, "no run 'nobody'"),
        (["catalog", "show", "agregate"], 2, "did you mean 'aggregate'?"),
        (["eval", "nothing", "."], 2, "there are questions, sql"),
        (["eval", "questions", "no_such"], 2, "no_such is not a folder"),
    ],
)
def test_a_wrong_call_says_what_to_do(arguments: list[object], code: int, says: str) -> None:
    done = groundplan(*arguments)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_call_ends_a_process_with_2() -> None:
    done = started("run", PLAN, "--source", "no_such.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no_such.csv" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_refused_run_exits_1() -> None:
    done = groundplan("run", "-", "--source", SALES, stdin=broken(group_by=["regoin"]))
    assert done.returncode == 1
    assert "regoin" in done.stdout


@pytest.mark.requirement("R11")
def test_catalog_shows_tables_and_how_they_are_related(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("order_id,customer_id\n1,7\n2,8\n3,8\n")
    (tmp_path / "customers.csv").write_text("customer_id,country\n7,Spain\n8,Malta\n")
    shown = groundplan("catalog", "tables", str(tmp_path)).stdout
    assert "orders → customers by customer_id (proposed)" in shown
    listed = json.loads(groundplan("catalog", "tables", str(tmp_path), "--json").stdout)
    assert listed[0]["relationships"][0]["to_columns"] == ["customer_id"]


def test_catalog_lists_and_shows_tools() -> None:
    listed = groundplan("catalog", "list")
    assert listed.returncode == 0
    assert all(name in listed.stdout for name in ("parse_datetime", "aggregate", "plot_heatmap", "save_table"))
    shown = groundplan("catalog", "show", "aggregate")
    assert "group_by" in shown.stdout
    assert "list of column" in shown.stdout
    assert len(json.loads(groundplan("catalog", "list", "--json").stdout)) == 37


def test_doctor_finds_everything_it_needs() -> None:
    done = started("doctor")
    assert done.returncode == 0, done.stdout
    assert "DuckDB" in done.stdout


@pytest.mark.requirement("R58")
def test_demo_brings_its_data_and_asks_it(tmp_path: Path) -> None:
    asked = [sys.executable, "-m", "groundplan.interfaces.cli.main", "demo", str(tmp_path / "here")]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here/sales.csv").read_bytes() == (ROOT / "examples/sales.csv").read_bytes()
    assert "West has the highest revenue" in done.stdout
    assert "1. West: 10.3 million" in done.stdout
    assert "nothing called 'salesperson'" in done.stdout
