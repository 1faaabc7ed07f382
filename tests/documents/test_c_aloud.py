"""The twelve answers in the how-to about knowledge bases are what its questions give, models scripted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("openai", reason="needs the extra `llm`")

from tests.documents.c import DEVELOPER, PORTFOLIO, drafts, plans, talk

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ask-a-knowledge-base.md"
TALKS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "c_answers.yaml").read_text(encoding="utf-8"))


def rows() -> dict[str, str]:
    """The questions and answers of the page."""
    section = PAGE.read_text(encoding="utf-8").split("## Read aloud\n")[1].split("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return {question.strip("`"): answer for question, answer in lines[1:]}


@pytest.mark.requirement("R49", "R50", "R60")
@pytest.mark.needs("knowledge")
@pytest.mark.parametrize("case", TALKS, ids=lambda case: case["turns"][0]["ask"])
def test_the_page_says_what_is_answered(case: dict[str, Any]) -> None:
    script = [
        reply
        for turn in case["turns"]
        for reply in (plans(*map(tuple, turn["calls"])), *([drafts(*turn["draft"])] if "draft" in turn else []))
    ]
    folder = {"developer": DEVELOPER, "portfolio": PORTFOLIO}[case["base"]]
    outcomes, _ = talk(folder, [turn["ask"] for turn in case["turns"]], *script, writer="model")
    for turn, outcome in zip(case["turns"], outcomes, strict=True):
        assert rows()[turn["ask"]] == outcome.text.replace("\n", " ")


def test_there_are_twelve() -> None:
    assert len(rows()) == 12 == sum(len(case["turns"]) for case in TALKS)
