"""Questions to trackers, by words alone: what is asked for, about which project, when and in which status."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.asking.lists.read import detect_intents, load_tracker_words
from groundplan.contracts.reading import Period
from groundplan.contracts.retrieval import Reasoning
from groundplan.telemetry.audit import AgentBroke
from groundplan.text.entities import build_registry

TODAY = date(2026, 7, 23)
PROJECTS = build_registry(
    [
        ("web/shop", "project", "Shop", ("Магазин",)),
        ("my-repo", "project", "my-repo", ()),
        ("MB", "project", "Мобильный банк", ("mobile bank",)),
        ("desk", "project", "Issues", ()),
        ("bounty", "project", "Bug Bounty", ()),
        ("r24", "project", "Release 2024", ()),
        ("anna", "person", "Anna", ()),
    ]
)
COMMITS, ISSUES, REQUESTS, ANALYTICS, ACTIVITY, STATUS, UNKNOWN = (
    "query_commits",
    "query_issues",
    "query_merge_requests",
    "query_analytics",
    "query_activity",
    "query_status",
    "unknown",
)


def read(question: str) -> Reasoning:
    return detect_intents(question, PROJECTS, load_tracker_words(), today=TODAY)


def sure(question: str) -> list[str]:
    return [intent.type for intent in read(question).intents if intent.confidence >= 0.3]


@pytest.mark.requirement("R8")
@pytest.mark.parametrize(
    ("question", "intents"),
    [
        ("commits in my-repo this week", [COMMITS]),
        ("Кто делал коммиты в my-repo?", [COMMITS]),
        ("what was pushed yesterday", [COMMITS]),
        ("open issues by assignee, as a bar chart", [ISSUES]),
        ("открытые задачи по исполнителям, столбчатая диаграмма", [ISSUES]),
        ("сколько багов закрыли в июне", [ISSUES]),
        ("team productivity last month", [ANALYTICS]),
        ("метрики Магазина за квартал", [ANALYTICS]),
        ("status of Shop", [STATUS]),
        ("Статус Магазина", [STATUS]),
        ("What happened in project Shop last week?", [ACTIVITY]),
        ("Что произошло в Магазине на прошлой неделе?", [ACTIVITY]),
        ("is the Shop project healthy?", [STATUS]),
        ("что сделали в Магазине вчера", [ACTIVITY]),
        ("open merge requests of Shop", [REQUESTS]),
        ("мердж-реквесты за неделю", [REQUESTS]),
        ("show issues and commits of Shop", [ISSUES, COMMITS]),
        ("покажи коммиты и задачи Магазина", [COMMITS, ISSUES]),
        ("tell me a joke", [UNKNOWN]),
        ("расскажи анекдот", [UNKNOWN]),
        ("?!", [UNKNOWN]),
    ],
)
def test_intents_are_heard_in_both_languages(question: str, intents: list[str]) -> None:
    assert sure(question) == intents


@pytest.mark.parametrize(
    ("question", "intent", "weak"),
    [
        ("commits per week this quarter and the trend", COMMITS, ANALYTICS),
        ("коммиты по неделям за этот квартал и тренд", COMMITS, ANALYTICS),
        ("issues with status open", ISSUES, STATUS),
        ("repo status", STATUS, COMMITS),
    ],
)
def test_an_intent_that_yields_is_heard_and_stays_below_the_threshold(question: str, intent: str, weak: str) -> None:
    confidence = {found.type: found.confidence for found in read(question).intents}
    assert set(confidence) == {intent, weak}
    assert confidence[intent] >= 0.7
    assert confidence[weak] < 0.3


def test_what_is_denied_is_not_asked_for() -> None:
    assert sure("commits without issues") == [COMMITS]
    assert sure("коммиты без задач") == [COMMITS]


def test_more_words_for_an_intent_make_it_surer() -> None:
    [few], [many] = read("issues by author").intents, read("issues by assignee").intents
    assert (few.confidence, many.confidence) == (0.9, 0.92)


@pytest.mark.requirement("R8")
@pytest.mark.parametrize(
    ("question", "projects"),
    [
        ("commits of Shop and my-repo", ("web/shop", "my-repo")),
        ("коммиты Магазина", ("web/shop",)),
        ("что нового в Мобильном банке", ("MB",)),
        ("commits by Anna", ()),
        ("open issues this week", ()),
        ("open tickets in Issues", ("desk",)),
    ],
)
def test_projects_are_the_names_that_were_set_up(question: str, projects: tuple[str, ...]) -> None:
    assert read(question).entities.get("projects", ()) == projects


def test_words_of_a_name_speak_neither_of_an_intent_nor_of_a_date() -> None:
    assert sure("metrics of Bug Bounty") == [ANALYTICS]
    assert dict(read("commits of Release 2024").entities) == {"projects": ("r24",)}


@pytest.mark.parametrize(
    ("question", "stranger"),
    [
        ("What happened in project Zeta-2 last week?", "Zeta-2"),
        ("status of Zeta", "Zeta"),
        ("статус проекта Зета", "Зета"),
        ("commits of the project called zeta", "zeta"),
        ("latest commits in the Zeta project", "Zeta"),
        ("issues } or project: SECRET {", "SECRET"),
    ],
)
def test_a_project_that_nobody_set_up_is_said_to_be_missing(question: str, stranger: str) -> None:
    assert read(question).unresolved == (stranger,)
    assert "projects" not in read(question).entities


@pytest.mark.parametrize(
    "question",
    [
        "What happened in project Shop last week?",
        "project status",
        "status of the project this month",
        "which project has the most commits",
        "как дела у команды",
        "что произошло в проекте вчера",
        "состояние проекта Магазин",
        "состояние дел в Магазине",
        "is the my-repo project stable?",
    ],
)
def test_words_behind_project_that_name_none_are_no_strangers(question: str) -> None:
    assert read(question).unresolved == ()


@pytest.mark.requirement("R9")
def test_dates_stay_as_words_and_become_intervals() -> None:
    reasoning = read("Коммиты Магазина за прошлую неделю")
    assert reasoning.entities["dates"] == ("прошлую неделю",)
    assert reasoning.periods == (
        Period(start=date(2026, 7, 13), end=date(2026, 7, 20), timezone="UTC", phrase="прошлую неделю"),
    )


@pytest.mark.requirement("R9")
def test_a_date_with_two_meanings_has_no_interval_and_is_unresolved() -> None:
    reasoning = read("commits on 03/04/2025")
    assert (reasoning.entities["dates"], reasoning.periods) == (("03/04/2025",), ())
    assert reasoning.unresolved == ("03/04/2025",)


@pytest.mark.parametrize(
    ("question", "statuses"),
    [
        ("open issues", ("open",)),
        ("closed and open bugs", ("closed", "open")),
        ("задачи в работе", ("in-progress",)),
        ("tasks in progress", ("in-progress",)),
        ("unresolved issues", ("open", "in-progress")),
        ("не закрытые баги", ("open", "in-progress")),
        ("решённые тикеты", ("closed",)),
        ("issues of Shop", ()),
    ],
)
def test_statuses_are_normalised(question: str, statuses: tuple[str, ...]) -> None:
    assert read(question).entities.get("statuses", ()) == statuses


def test_a_status_to_leave_out_is_not_taken_for_one_to_keep() -> None:
    reasoning = read("issues not in progress")
    assert "statuses" not in reasoning.entities
    assert reasoning.unresolved == ("not in progress",)


def test_providers_are_named_in_both_languages() -> None:
    assert read("что в ютреке и GitLab?").entities["providers"] == ("youtrack", "gitlab")


def test_a_new_intent_is_words_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "trackers.yaml"
    shipped = Path(__file__).parents[3] / "src/groundplan/asking/lists/trackers.yaml"
    added = "intents:\n  query_merge_requests:\n    words:\n      0.9: [merge request, мерж реквест]\n"
    file.write_text(shipped.read_text(encoding="utf-8").replace("intents:\n", added, 1), encoding="utf-8")
    reasoning = detect_intents("merge requests of Shop", PROJECTS, load_tracker_words(file), today=TODAY)
    assert [(intent.type, intent.confidence) for intent in reasoning.intents] == [("query_merge_requests", 0.9)]


@pytest.mark.requirement("R63")
def test_detection_without_a_question_says_what_is_missing() -> None:
    with pytest.raises(AgentBroke, match="intent_detection: no question found in context"):
        read("")


@pytest.mark.requirement("R8", "R23")
def test_no_model_and_no_engine_is_loaded() -> None:
    program = (
        "import sys; import groundplan.asking.lists.read, groundplan.asking.lists.plan\n"
        "print(sorted(name for name in sys.modules if name in ('openai', 'groundplan.llm', 'ibis', 'langgraph')))"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"


@given(st.text(min_size=1, max_size=200))
def test_any_text_gives_an_intent_that_can_be_planned(question: str) -> None:
    reasoning = read(question)
    assert max(intent.confidence for intent in reasoning.intents) >= 0.5
    confidences = [intent.confidence for intent in reasoning.intents]
    assert confidences == sorted(confidences, reverse=True)
