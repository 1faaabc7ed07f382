"""Every question back that real questions lead to: choosing a candidate plans exactly its reading."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from groundplan.contracts.answer import Answer, Clarification
from groundplan.contracts.question import Question
from groundplan.evaluation.suites.questions import data_files, load_questions
from groundplan.pipeline import after_reply
from groundplan.project import AsyncProject

FRESH = Path(__file__).parent / "fresh"


@pytest.mark.requirement("R70", part="python")
@pytest.mark.parametrize("name", ["shelter_and_batches", pytest.param("library_and_calls", marks=pytest.mark.slow)])
def test_a_chosen_candidate_is_its_reading(name: str) -> None:
    asked = asyncio.run(_questions_back(FRESH / name))
    assert len(asked) > 5
    for one in asked:
        assert len(one.readings) == len(one.candidates) == len({*one.candidates}), one.text


async def _questions_back(folder: Path) -> list[Clarification]:
    """The clarifications of a set; each candidate is chosen, and the first one is run."""
    found: list[Clarification] = []
    questions = load_questions(folder)
    for name in dict.fromkeys(question.dataset for question in questions):
        with TemporaryDirectory() as unpacked:
            files = data_files(folder, name, Path(unpacked))
            project = await AsyncProject.open(files[0] if len(files) == 1 else files[0].parent)
            for one in (question for question in questions if question.dataset == name):
                ended = (await project.plan(one.question, today=one.today)).ended
                if isinstance(ended, Clarification):
                    found.append(ended)
                    _chosen(ended, Question(text=one.question, today=one.today))
                    outcome = await project.reply(ended, "1", today=one.today)
                    assert not isinstance(outcome, Answer) or outcome.reading == ended.readings[0]
                    assert [entry.stage for entry in outcome.trace].count("read") == 1, "before the reply"
            await project.close()
    return found


def _chosen(asked: Clarification, question: Question) -> None:
    """By number and by its own words, without a route or a reader in between."""
    for number, (candidate, reading) in enumerate(zip(asked.candidates, asked.readings, strict=True), 1):
        for reply in (str(number), candidate):
            after = after_reply(question, asked, reply, "run")
            assert isinstance(after, dict), candidate
            assert after["reading"] == reading.model_dump(mode="json"), candidate
            assert after["route"] == "tables"
