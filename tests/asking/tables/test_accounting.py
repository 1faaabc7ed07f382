"""What becomes of each word of a question: it asks for something, it is structure, or it is not understood."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import groundplan
from groundplan.asking.tables.accounting import unread_words, word_fates
from groundplan.asking.tables.grammar.read import derive
from groundplan.contracts.schema import SourceSchema
from groundplan.project import Project
from groundplan.text.words import words_of
from tests.asking.tables.test_grammar import LOANS, READ, TODAY, VALUES
from tests.interfaces.test_ask import SALES
from tests.interfaces.test_cli import groundplan as command

SCHEMA = SourceSchema(source="files", engine="duckdb", tables=(LOANS,))
EXPLAINED = {
    "show me the total revenue by region in March 2025": {
        "show": "structure",
        "me": "structure",
        "the": "structure",
        "revenue": "metric:revenue",
        "region": "group_by:region",
        "by": "used",
        "March": "filter:",
        "2025": "filter:",
    },
    "покажи топ 3 региона по выручке": {
        "покажи": "structure",
        "топ": "rank:top3",
        "3": "rank:top3",
        "региона": "group_by:region",
        "выручке": "metric:revenue",
    },
}


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with groundplan.open(SALES) as opened:
        yield opened


@pytest.mark.requirement("R66", part="words")
@pytest.mark.parametrize("question", EXPLAINED)
def test_each_word_has_a_fate(question: str, project: Project) -> None:
    found = project.plan(question).words
    assert [word.text for word in found] == [word.text for word in words_of(question)]
    fates = {word.text: f"{word.fate} {' '.join(word.requirements)}" for word in found}
    assert {word: fates[word] for word, fate in EXPLAINED[question].items() if fate not in fates[word]} == {}
    assert "not understood" not in {word.fate for word in found}


@pytest.mark.requirement("R66", part="words")
def test_a_word_that_no_requirement_rests_on_is_not_understood() -> None:
    found = derive("total fee by branch", LOANS, VALUES, today=TODAY).reading
    assert found is not None
    reading = found.model_copy(update={"question": "total fee by branch for zorblat librarians"})
    assert unread_words(reading, SCHEMA) == ("zorblat", "librarians")
    assert [word.fate for word in word_fates(reading, SCHEMA)][-3:] == ["structure", "not understood", "not understood"]


@pytest.mark.parametrize("question", READ)
def test_what_the_grammar_reads_is_understood_word_by_word(question: str) -> None:
    found = derive(question, LOANS, VALUES, today=TODAY).reading
    assert found is not None
    assert unread_words(found, SCHEMA) == ()
    ids = {requirement.id for requirement in found.requirements}
    assert all({*word.requirements} <= ids for word in word_fates(found, SCHEMA))


@pytest.mark.requirement("R66", part="words")
def test_explain_shows_the_fate_of_every_word() -> None:
    question = "show me total revenue by region"
    words = json.loads(command("explain", SALES, question, "--json").stdout)["words"]
    assert [(word["text"], word["fate"]) for word in words][:2] == [("show", "structure"), ("me", "structure")]
    shown = command("explain", SALES, question).stdout
    assert "what became of it" in shown
    assert "not understood" not in shown
