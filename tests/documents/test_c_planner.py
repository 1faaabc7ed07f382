"""Source document C: a planning model decides what is looked up, code checks it, and a bad plan only searches."""

from __future__ import annotations

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Answer, Clarification, Refusal
from groundplan.contracts.reading import Reading
from tests.documents.c import DEVELOPER, PORTFOLIO, looked_up, plans, talk
from tests.llm.scripted import says

pytestmark = pytest.mark.needs("knowledge")


@pytest.mark.requirement("R4", "R18", "R22")
def test_paraphrase_is_planned_and_the_right_project_found() -> None:
    boast = plans(("project_achievements", "Вертушка"), limits={"max_items": 8, "max_groups": 4, "max_paragraphs": 4})
    [outcome], [prompt] = talk(PORTFOLIO, ["Чем он может похвастаться на «Вертушке»?"], boast)
    assert looked_up(outcome) == [("project_achievements", "project:vertushka")]
    assert isinstance(outcome, Answer)
    assert "Штрафы за простой уменьшились на 61 млн рублей в год." in outcome.text
    assert len(outcome.text.splitlines()) == 5
    assert '"Vertushka" (project)' in prompt
    assert [(attempt.model, attempt.faults) for attempt in outcome.proposals] == [("scripted", ())]


@pytest.mark.requirement("R79", part="look-ups")
@pytest.mark.requirement("R22")
def test_planner_is_called_where_no_name_matches_and_says_what_it_assumed() -> None:
    [outcome], [prompt] = talk(PORTFOLIO, ["Что он делал в банке?"], plans(("company_projects", "Talvik Bank")))
    assert "Named in the question: nothing" in prompt
    assert looked_up(outcome) == [("company_projects", "company:talvik-bank")]
    assert isinstance(outcome, Answer)
    assert outcome.reading
    assert outcome.reading.assumes == ("имеется в виду Talvik Bank",)
    assert {"Sova", "Ptarmigan"} <= {item.title for item in outcome.facts.items}


@pytest.mark.requirement("R10")
def test_planner_that_finds_no_intent_leaves_an_honest_no_in_russian() -> None:
    [outcome], _ = talk(DEVELOPER, ["Что он делал в зоопарке?"], plans())
    assert isinstance(outcome, Refusal)
    assert outcome.text == "Ни в графе, ни в документах об этом ничего не сказано."


@pytest.mark.requirement("R2", "R22")
def test_there_means_the_projects_found_before() -> None:
    used = plans(("TECHNOLOGY_USAGE", "RAG"))
    there = plans(("PROJECT_TECH_STACK", "AI-Portfolio"), ("PROJECT_TECH_STACK", "Помощник поддержки"))
    questions = ["Где применял RAG?", "а какие технологии там использовались?"]
    [first, second], prompts = talk(DEVELOPER, questions, used, there)
    assert looked_up(first) == [("TECHNOLOGY_USAGE", "technology:rag")]
    assert {entity for _, entity in looked_up(second)} == {"project:ai-portfolio", "project:helpdesk"}
    assert "Question before" not in prompts[0]
    assert 'It found: "AI-Portfolio" (project), "Помощник поддержки" (project)' in prompts[1]
    assert isinstance(second, Answer)
    assert second.text.splitlines()[0] == "Технологии, AI-Portfolio:"


@pytest.mark.requirement("R2")
def test_a_question_with_its_own_name_reaches_the_planner_without_the_conversation() -> None:
    questions = ["Где применял RAG?", "А какие проекты в Aston?"]
    used, projects = plans(("TECHNOLOGY_USAGE", "RAG")), plans(("COMPANY_PROJECTS", "Aston"))
    [_, second], prompts = talk(DEVELOPER, questions, used, projects)
    assert looked_up(second) == [("COMPANY_PROJECTS", "company:aston")]
    assert "RAG?" not in prompts[1]


@pytest.mark.requirement("R81", part="in the result")
@pytest.mark.requirement("R21", "R22")
def test_one_repair_then_the_emergency_plan_and_both_attempts_in_the_result() -> None:
    invented = plans(("PROJECT_ACHIEVEMENTS", "Луна-парк"))
    [outcome], prompts = talk(DEVELOPER, ["Почему ассистент молчит?"], invented, says("нет"))
    assert "there is no 'Луна-парк' here" in prompts[1]
    assert looked_up(outcome) == [("general", None)]
    assert isinstance(outcome, Answer)
    assert [step.tool for step in outcome.plan.steps] == ["document_search"]
    assert [bool(attempt.faults) for attempt in outcome.proposals] == [True, True]


@pytest.mark.requirement("R83", part="look-ups")
@pytest.mark.requirement("R10")
def test_of_two_atlases_the_reply_chooses_one_and_nothing_else() -> None:
    [asked, answered], _ = talk(PORTFOLIO, ["Достижения на Атласе", "2"], plans(("project_achievements", "Atlas News")))
    assert isinstance(asked, Clarification)
    assert asked.text == ("Подходит несколько. Что имеется в виду: Atlas Ledger (проект) или Atlas News (проект)?")
    assert all(isinstance(reading, Reading) for reading in asked.readings)
    assert looked_up(answered) == [("project_achievements", "project:atlas-news")]
