"""The suite `ruqa`: how often search finds the passage that answers a question, in Russian and in English."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal, get_args

from pydantic import BaseModel

from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.rows import load_rows
from groundplan.evaluation.suites.sampling import spread
from groundplan.settings import cache_folder
from groundplan.sources.knowledge.documents import DOCUMENT, Document
from groundplan.sources.knowledge.search import Search, open_search
from groundplan.sources.knowledge.source import VECTORS

HOLDS = "xquad_docs.jsonl and xquad_questions.jsonl"
PLACES = (1, 5)
LOOKED_AT = 20  # results to search for the rank of a miss

Language = Literal["ru", "en"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
OnProgress = Callable[[int, int], None]


class Passage(BaseModel):
    doc_id: str
    title: str
    text_ru: str
    text_en: str

    def document(self, language: Language) -> Document:
        """The passage without its title, which is English in both languages."""
        return Document(self.doc_id, DOCUMENT, "", self.text_ru if language == "ru" else self.text_en)


class Question(BaseModel):
    id: str
    doc_id: str
    question_ru: str
    question_en: str

    def asked(self, language: Language) -> str:
        return self.question_ru if language == "ru" else self.question_en


def evaluate(folder: Path, sample: int | None, on_progress: OnProgress) -> Report:
    """Score a folder with `xquad_docs.jsonl` and `xquad_questions.jsonl`; all documents are searched every time."""
    began = time.perf_counter()
    passages = load_rows(folder / "xquad_docs.jsonl", Passage, HOLDS)
    questions = spread(load_rows(folder / "xquad_questions.jsonl", Question, HOLDS), sample)
    scores: dict[str, float] = {}
    misses: list[Miss] = []
    for number, language in enumerate(LANGUAGES):
        base = f"{folder.resolve()}#{language}"
        documents = [passage.document(language) for passage in passages]
        search = open_search(documents, cache_folder() / VECTORS, base)
        found = _searched(search, questions, language, _part(on_progress, number * len(questions)))
        scores |= _scores(questions, found, language)
        misses += _misses(questions, found, language)
    seconds = time.perf_counter() - began
    return Report(suite="ruqa", n=len(questions), scores=scores, misses=tuple(misses), seconds=round(seconds, 1))


def _searched(
    search: Search, questions: Sequence[Question], language: Language, on_progress: OnProgress
) -> list[list[str]]:
    found = []
    for done, question in enumerate(questions, 1):
        found.append([hit.document.id for hit in search.find(question.asked(language), LOOKED_AT)])
        on_progress(done, len(questions))
    return found


def _part(on_progress: OnProgress, before: int) -> OnProgress:
    return lambda done, total: on_progress(before + done, len(LANGUAGES) * total)


def _scores(questions: Sequence[Question], found: Sequence[Sequence[str]], language: Language) -> dict[str, float]:
    pairs = list(zip(questions, found, strict=True))
    return {
        f"{language}_recall@{places}": round(fmean(question.doc_id in ids[:places] for question, ids in pairs), 4)
        for places in PLACES
    }


def _misses(questions: Sequence[Question], found: Sequence[Sequence[str]], language: Language) -> list[Miss]:
    return [
        Miss(
            id=f"{question.id}/{language}",
            question=question.asked(language),
            expected=question.doc_id,
            got=list(ids[: PLACES[-1]]),
            why=f"stood at {ids.index(question.doc_id) + 1}" if question.doc_id in ids else "was not found",
        )
        for question, ids in zip(questions, found, strict=True)
        if question.doc_id not in ids[:1]
    ]
