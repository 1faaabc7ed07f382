"""Asking from the command line and from Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import groundplan
from groundplan.errors import UsageError
from tests.interfaces.test_cli import groundplan as command
from tests.patience import HANGS

SALES = Path(__file__).parents[2] / "examples/sales.csv"
WALKTHROUGH = "get revenue totals by region and product type over time"


@pytest.mark.requirement("R58")
def test_the_walkthrough_question_without_a_model_or_a_network(tmp_path: Path) -> None:
    """In a process whose sockets are broken: whatever would call out fails the test. Nothing of it imports pandas."""
    shut = tmp_path / "sitecustomize.py"
    refuse = "def no(*a, **k): raise OSError('the network is shut')"
    shut.write_text(f"import socket\n{refuse}\nsocket.socket.connect = no\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = [sys.executable, "-X", "importtime", "-m", "groundplan.interfaces.cli.main", "ask", str(SALES), WALKTHROUGH]
    done = subprocess.run([*run, "--json"], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "duckdb" in imported
    assert "pandas" not in imported
    document = json.loads(done.stdout)
    assert [step["tool"] for step in document["plan"]["steps"]] == [
        "parse_datetime",
        "aggregate",
        "plot_line",
        "show_table",
    ]
    aggregate = document["plan"]["steps"][1]["params"]
    assert aggregate["group_by"] == ["date", "region", "product_category"]
    assert aggregate["metrics"] == [{"column": "revenue", "function": "sum", "as": "revenue"}]
    assert all(item["ok"] for item in document["coverage"])
    assert document["tables"][0]["row_count"] == 720
    assert "67,970,983.42" in document["text"]
    stages = [entry["stage"] for entry in document["trace"]]
    assert stages == ["route", "read", "plan", "check", "run", "answer"]
    assert not any(document["usage"].values()), "no model was asked"


@pytest.mark.skipif(os.name != "posix", reason="pipes")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_it_ends_when_nobody_reads_on(stream: str) -> None:
    """`groundplan ask … 2>&1 | head -1` hung: the thread of the run ended with its progress."""
    run = [sys.executable, "-m", "groundplan.interfaces.cli.main", "ask", str(SALES), WALKTHROUGH]
    process = subprocess.Popen(
        run, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: subprocess.PIPE}
    )
    getattr(process, stream).close()
    assert process.wait(HANGS) == (141 if stream == "stdout" else 0)


@pytest.mark.requirement("R10")
@pytest.mark.parametrize(
    ("question", "code", "kind", "says"),
    [
        ("churn rate by region", 1, "refusal", "churn rate"),
        ("revenue on 03/04/2025", 3, "clarification", "03/04/2025"),
    ],
)
def test_what_cannot_be_answered_says_why(question: str, code: int, kind: str, says: str) -> None:
    done = command("ask", SALES, question, "--json")
    assert done.returncode == code, done.stderr
    document = json.loads(done.stdout)
    assert document["kind"] == kind
    assert says in document["text"]


@pytest.mark.requirement("R36")
def test_a_plan_is_previewed_edited_and_run() -> None:
    planned = command("plan", SALES, "total revenue by region", "--json")
    assert planned.returncode == 0, planned.stderr
    assert command("check", "-", "--source", SALES, stdin=planned.stdout).returncode == 0
    proposal = json.loads(planned.stdout)
    proposal["plan"]["steps"] = [s for s in proposal["plan"]["steps"] if s["tool"] != "plot_bar"]
    refused = command("check", "-", "--source", SALES, stdin=json.dumps(proposal))
    assert refused.returncode == 1
    assert "coverage/missing" in refused.stdout
    ran = command("run", "-", "--source", SALES, "--json", stdin=planned.stdout)
    assert json.loads(ran.stdout)["tables"][0]["row_count"] == 5


def test_plan_only_runs_nothing() -> None:
    done = command("ask", SALES, "total revenue by region", "--plan-only")
    assert done.returncode == 0
    assert "aggregate(" in done.stdout
    assert "checked: 3 steps" in done.stdout


def test_explain_gives_the_words_behind_each_step() -> None:
    done = command("explain", SALES, "total revenue by region", "--json")
    rows = {row["requirement"]: row for row in json.loads(done.stdout)["requirements"]}
    assert rows["group_by:region"]["words"] == "by region"
    assert rows["group_by:region"]["steps"] == ["totals (aggregate)"]


@pytest.mark.requirement("R66", part="read-back")
def test_an_answer_is_preceded_by_how_the_question_was_read(tmp_path: Path) -> None:
    line = "Read as: total revenue by region, where date is in Q3 2025. Assumed: total revenue."
    question = "revenue by region in Q3 2025 as a table"
    done = command("ask", SALES, question, "--output", tmp_path)
    assert done.stdout.startswith(line)
    assert line in (tmp_path / "report.md").read_text()
    document = json.loads(command("ask", SALES, question, "--json").stdout)
    assert document["read_as"] == line
    assert line not in document["text"]
    assert json.loads(command("explain", SALES, question, "--json").stdout)["read_as"] == line
    with groundplan.open(SALES) as project:
        read_as = "Понято так: сумма «revenue», разбивка: «region». Допущения: сумма «revenue»."
        assert project.ask("выручка по регионам").read_as == read_as


def test_a_report_folder_has_everything(tmp_path: Path) -> None:
    done = command("ask", SALES, "revenue by month", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {file.name for file in tmp_path.iterdir()} == {
        "answer.json",
        "chart.png",
        "chart.svg",
        "plan.json",
        "report.md",
        "table.csv",
        "trace.json",
    }
    report = (tmp_path / "report.md").read_text()
    assert "![" in report
    assert "| 2025-03 |" in report  # as long as its grain, in the terminal too
    assert "│ 2025-03 │" in done.stdout
    assert "2025-03-01" in (tmp_path / "table.csv").read_text()
    stages = json.loads((tmp_path / "trace.json").read_text())
    assert all({"stage", "ms", "tokens"} <= stage.keys() for stage in stages)
    assert all(f"| {stage['stage']} | {stage['ms']:,.1f} | 0 |" in report for stage in stages)


def test_a_folder_with_settings_knows_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_bytes(SALES.read_bytes())
    assert command("init", "sales.csv").returncode == 0
    done = command("ask", "how many rows are there?")
    assert done.returncode == 0, done.stderr
    assert "21,930" in done.stdout
    assert command("init", "sales.csv").returncode == 2
    settings = (tmp_path / "groundplan.toml").read_text(encoding="utf-8")
    hint = '# [columns."units"]  # 5 to 584\n# called = []\n# meaning = "count"\n'
    assert hint in settings
    assert '# [columns."date"]  # 2024-01-01 to 2025-12-31\n# called = []\n#\n' in settings  # no meaning to choose
    taught = settings.replace(hint, hint.replace("# called = []", 'called = ["takings"]').replace("# [", "[", 1))
    (tmp_path / "groundplan.toml").write_text(taught, encoding="utf-8")
    assert "Units total" in command("ask", "total takings").stdout
    (tmp_path / "groundplan.toml").write_text("sauce = 1\n")
    wrong = command("ask", "how many rows are there?")
    assert wrong.returncode == 2
    assert "sauce" in wrong.stderr


def test_init_names_a_question_that_this_data_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"P{n % 3},2025-02-{n:02},{n * 7 % 50 + 0.5}\n" for n in range(1, 25))
    (tmp_path / "kilns.csv").write_text(f"potter,fired_on,heat\n{rows}")
    done = command("init", "kilns.csv")
    asked = done.stdout.splitlines()[-1].partition('groundplan ask "')[2].rstrip('"')
    assert asked == "average heat by potter"
    assert command("ask", asked).returncode == 0
    (tmp_path / "kilns.csv").write_text("a\n")
    (tmp_path / "groundplan.toml").unlink()
    assert 'ask "how many rows are there?"' in command("init", "kilns.csv").stdout


def test_columns_that_are_not_used_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_bytes(SALES.read_bytes())
    settings = tmp_path / "groundplan.toml"
    settings.write_text('[columns."units"]\ncalled = ["takings"]\n')
    assert "is not used here: the file names no data; add `source`" in command("ask", "sales.csv", "total units").stderr
    settings.write_text('source = "sales.csv"\n[columns."units"]\ncalled = ["takings"]\n')
    assert "[columns]" not in command("ask", "sales.csv", "total takings").stderr
    assert "is about other data" in command("ask", str(SALES), "total units").stderr


def test_a_wrong_file_name_is_answered_with_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_bytes(SALES.read_bytes())
    done = command("ask", "slaes.csv", "total units")
    assert done.returncode == 2
    assert "no such file or folder; did you mean 'sales.csv'?" in done.stderr


def test_a_refusal_of_words_says_once_that_a_model_understands_more() -> None:
    told = "With a model, more wordings are understood: groundplan doctor"
    refused = command("ask", SALES, "revenue by salesperson")
    assert refused.stderr.splitlines()[-1] == told
    assert told not in command("ask", SALES, "revenue by salesperson", "--json").stderr
    assert told not in command("ask", SALES, "delete all sales").stderr
    assert told not in command("ask", SALES, "total revenue").stderr
    assert "С моделью" in command("ask", SALES, "выручка по продавцам").stderr


def test_a_question_without_data_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("ask", "how many rows are there?")
    assert done.returncode == 2
    assert "groundplan init" in done.stderr


@pytest.mark.requirement("R57", part="cli")
def test_python_gives_text_frames_and_pictures(tmp_path: Path) -> None:
    with groundplan.open(SALES) as project:
        answer = project.ask("top 3 product categories by revenue")
    assert answer.kind == "answer"
    assert list(answer.table.columns) == ["product_category", "revenue", "rank"]
    assert len(answer.table) == 3
    assert answer.chart is not None
    answer.chart.save(tmp_path / "x.png")
    answer.chart.save(tmp_path / "x.svg")
    answer.chart.save(tmp_path / "x.json")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "x.json").read_text())["data"]["values"]
    with pytest.raises(UsageError, match="png"):
        answer.chart.save(tmp_path / "x.gif")
