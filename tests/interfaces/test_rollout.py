"""`groundplan rollout` on the command line, for the service of one person on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groundplan.errors import UsageError
from groundplan.settings import load_settings, wanted_by
from tests.asking.tables.described import SALES
from tests.interfaces.test_cli import groundplan as command

SETTINGS = f"""
source = "{SALES}"

[variants.plain]
roles = {{ reader = "words" }}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "groundplan.toml").write_text(SETTINGS)
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_variant_is_started_stepped_promoted_and_taken_back() -> None:
    assert command("rollout", "status").stdout.splitlines() == ["in force: settings", "No variant is on trial."]
    done = command("rollout", "start", "plain")
    assert (done.stdout, done.returncode) == ("plain reads along in the shadow\n", 0), done.stderr
    assert command("rollout", "step").stdout == "plain answers 10 %\n"
    assert command("rollout", "step", "50").stdout == "plain answers 50 %\n"
    told = command("rollout", "status").stdout
    assert told.splitlines()[:2] == ["in force: settings", "on trial: plain, 50 %, running"]
    assert "Wait before a share of 75 %: 0 of 30 questions at 50 % have been answered." in told
    assert command("rollout", "promote").stdout == "plain is in force\n"
    found = json.loads(command("rollout", "status", "--json").stdout)
    assert (found["current"], found["rollout"]["state"], found["variants"]) == ("plain", "promoted", ["plain"])
    assert command("rollout", "start", "settings", "--share", "100").stdout == "settings answers 100 %\n"
    assert command("rollout", "stop", "no reason").stdout == "settings is no longer on trial\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("start", "large"), "there is no variant 'large'; groundplan.toml has settings, plain"),
        (("start", "plain", "--share", "20"), "the share is one of 0, 10, 25, 50, 75, 100, not 20"),
        (("step",), "no variant is on trial; begin with `groundplan rollout start VARIANT`"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: tuple[str, ...], problem: str) -> None:
    done = command("rollout", *arguments)
    assert (done.returncode, problem in done.stderr) == (2, True), done.stderr


def test_a_variant_says_only_what_differs(folder: Path) -> None:
    (folder / "groundplan.toml").write_text(
        '[roles]\nreader = "words"\nread = { attempts = 2, tokens = 9 }\n'
        "[variants.a]\nroles = { read = { attempts = 5 } }\n"
    )
    settings = load_settings(folder)
    roles = settings.variant("a").roles_over(settings.roles)
    assert (roles.reader, roles.read.attempts, roles.read.tokens) == ("words", 5, 9)
    assert settings.variant("settings").roles_over(settings.roles) == settings.roles


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ('[variants.a]\nroles = { reader = "nobody" }', "variants: a.roles.reader: Input should be 'words' or 'model'"),
        ("[variants.settings]", "'settings' is what stands outside"),
        (
            '[variants.a]\nroles = { read = { model = ["m"] } }',
            "variants.a.roles.read.model: 'm' is not among",
        ),
        ("[variants.a]\nrole = {}", "variants.a.role"),
    ],
)
def test_a_wrong_variant_is_refused(written: str, problem: str, folder: Path) -> None:
    (folder / "groundplan.toml").write_text(written)
    with pytest.raises(UsageError, match=problem):
        load_settings(folder)


def test_a_variant_that_sends_questions_elsewhere_needs_trust(folder: Path) -> None:
    (folder / "groundplan.toml").write_text('[variants.a]\nmodel = "https://models.example.org/v1"\n')
    assert wanted_by(folder)[0] == ("[variants.a] sends questions to https://models.example.org/v1",)
    with pytest.raises(UsageError, match="not trusted yet"):
        load_settings(folder)
