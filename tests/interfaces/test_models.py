"""Models from the command line: who is asked, what it took, and what happens when nobody answers."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.settings import FILE, trust_folder
from tests.interfaces.test_cli import SALES
from tests.interfaces.test_cli import groundplan as command
from tests.llm.scripted import PROBED, Behaviour, says, scripted, sends

KNOWN, UNKNOWN = "total revenue by region", "revenue by salesperson"
NOBODY = "http://127.0.0.1:9/v1"
NONSENSE = says("I would rather talk about the weather.")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDPLAN_MODEL", raising=False)
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def settle(url: str, reader: str = "model") -> None:
    models = f'[models.qwen]\nurl = "{url}"\nmodel = "m"\n'
    Path(FILE).write_text(f'model = "qwen"\n[roles]\nreader = "{reader}"\n{models}')
    trust_folder(Path())


def served(
    *arguments: object, script: tuple[Behaviour, ...], reader: str = "model"
) -> tuple[CompletedProcess[str], int]:
    """The command in a folder whose model is this server, and how often it was asked."""

    async def run() -> tuple[CompletedProcess[str], int]:
        async with scripted(*script) as server:
            settle(server.url, reader)
            return await asyncio.to_thread(command, *arguments), len(server.requests)

    return asyncio.run(run())


def test_doctor_tries_the_model_that_is_set() -> None:
    done, asked = served("doctor", script=(says(PROBED),))
    assert done.returncode == 0, done.stdout
    assert "✓ model: qwen at http://127.0.0.1" in done.stdout
    assert "✓ qwen: enforces a JSON schema" in done.stdout
    assert asked == 2


def test_doctor_says_that_a_server_does_not_hold_its_model_to_a_schema() -> None:
    done, _ = served("doctor", script=(says("Hello there!"),))
    assert done.returncode == 0, done.stdout
    assert "does not enforce a JSON schema" in done.stdout
    assert "llama.cpp" in done.stdout


@pytest.mark.parametrize(
    ("script", "word"), [((sends(401, "no"),), "set api_key_env"), ((sends(404, "no"),), "HTTP 404")]
)
def test_doctor_names_what_is_wrong_with_a_model(script: tuple[Behaviour, ...], word: str) -> None:
    done, _ = served("doctor", script=script)
    assert done.returncode == 4
    assert "✗ model: model 'qwen' at http://127.0.0.1" in done.stdout
    assert word in done.stdout


def test_doctor_says_that_nobody_is_there_and_that_nobody_is_needed() -> None:
    settle(NOBODY)
    gone = command("doctor")
    assert gone.returncode == 4
    assert "is the server running?" in gone.stdout
    assert "stamina" not in gone.stderr
    Path(FILE).unlink()
    assert "- model: none is set, and none is required" in command("doctor").stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["ask", SALES, KNOWN, "--strategy", "guess"], "there is no strategy 'guess'; the strategies are adapt"),
        (["ask", SALES, KNOWN, "--strategy", "adapt"], "needs a model"),
        (["ask", SALES, KNOWN, "--strategy", "adapt", "--model", "none"], "needs a model"),
        (["ask", SALES, KNOWN, "--model", "qwne"], "[models.qwne]"),
        (["plan", SALES, KNOWN, "--model", "qwne"], "[models.qwne]"),
        (["explain", SALES, KNOWN, "--model", "qwne"], "[models.qwne]"),
        (["eval", "questions", ".", "--model", "qwne"], "[models.qwne]"),
        (["eval", "questions", ".", "--sample", "0"], "--sample"),
    ],
)
def test_a_wrong_choice_says_what_there_is(arguments: list[object], word: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2, done.stderr
    assert word in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("verb", "question"), [("ask", "total revenue"), ("plan", KNOWN), ("explain", KNOWN)])
def test_words_that_are_enough_ask_nobody_and_say_so(verb: str, question: str) -> None:
    done, asked = served(verb, SALES, question, script=(NONSENSE,), reader="words")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "qwen: not called, the rules were enough"
    assert asked == 0


@pytest.mark.parametrize("off", [("--model", "none"), ("--strategy", "rules")])
def test_a_model_that_is_switched_off_is_neither_asked_nor_mentioned(off: tuple[str, str]) -> None:
    done, asked = served("ask", SALES, UNKNOWN, *off, script=(NONSENSE,))
    assert done.returncode == 1
    assert "qwen" not in done.stderr
    assert asked == 0


@pytest.mark.requirement("R59")
def test_what_a_model_was_asked_is_counted_behind_a_refusal_too() -> None:
    done, asked = served("ask", SALES, UNKNOWN, script=(says(PROBED), NONSENSE))
    assert done.returncode == 1
    assert "salesperson" in done.stdout
    assert "With a model" not in done.stderr
    assert f"qwen: {asked} calls, {7 * asked} + {3 * asked} tokens, " in done.stderr.splitlines()[-1]
    assert asked >= 2


@pytest.mark.requirement("R59")
def test_json_has_the_usage_and_the_tokens_of_each_stage() -> None:
    done, asked = served("ask", SALES, KNOWN, "--strategy", "adapt", "--json", script=(says(PROBED), NONSENSE))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    usage, counted = document["usage"], ("calls", "prompt_tokens", "completion_tokens")
    assert (usage["models"], [usage[name] for name in counted]) == (["qwen"], [asked, 7 * asked, 3 * asked])
    assert {*usage["roles"]} == {"plan", "read"}
    for name in counted:
        assert sum(spent[name] for spent in usage["roles"].values()) == usage[name]
    assert usage["seconds"] == pytest.approx(sum(spent["seconds"] for spent in usage["roles"].values()))
    assert usage["seconds"] > 0
    assert sum(stage["tokens"] for stage in document["trace"]) == 10 * asked > 0
    assert "qwen:" not in done.stderr


@pytest.mark.requirement("R59")
def test_a_report_shows_what_each_stage_took(tmp_path: Path) -> None:
    done, asked = served(
        "ask", SALES, KNOWN, "--strategy", "adapt", "-o", tmp_path / "saved", script=(says(PROBED), NONSENSE)
    )
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "saved/report.md").read_text()
    assert f"qwen: {asked} calls, {7 * asked} + {3 * asked} tokens" in report
    assert "| role | model | calls | tokens in | tokens out | seconds |" in report
    assert re.search(r"\| plan \| qwen \| \d+ \| \d+ \| \d+ \| \d+\.\d \|", report)
    stages = json.loads((tmp_path / "saved/trace.json").read_text())
    spent = [stage for stage in stages if stage["tokens"]]
    assert spent
    assert all(f"| {stage['stage']} | {stage['ms']:,.1f} | {stage['tokens']} |" in report for stage in spent)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ask", SALES, KNOWN, "--strategy", "adapt"], 0),
        (["plan", SALES, KNOWN, "--strategy", "adapt"], 0),
        (["explain", SALES, UNKNOWN], 1),
    ],
)
def test_without_a_server_words_and_rules_stand_and_the_reason_is_said(arguments: list[object], code: int) -> None:
    settle(NOBODY)
    done = command(*arguments)
    assert done.returncode == code, done.stderr
    assert "is the server running?" in done.stderr
    assert done.stderr.splitlines()[-1] == "qwen: no reply, so the rules decided"
    assert "stamina" not in done.stderr
