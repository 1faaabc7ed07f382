"""Questions to trackers from the command line, in English and Russian, against what the servers hold."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.sources.trackers import data
from tests.sources.trackers.gitlab_double import GitLabDouble
from tests.trackers import truth
from tests.trackers.shop import Shop, listed, shop

WEEK = ("2026-03-02", "2026-03-08")
HAPPENED = ("What happened in project web last week?", "Что произошло в проекте web на прошлой неделе?")
BARS = ("open issues by assignee, as a bar chart", "открытые задачи по исполнителям, столбчатая диаграмма")
TREND = ("commits per week this quarter and the trend", "коммиты по неделям за этот квартал и тренд")
STATUS = ("status of web", "статус web")


@pytest.mark.requirement("R8", "R9", "R44", "R48")
@pytest.mark.parametrize("question", HAPPENED)
def test_what_happened_lists_commits_merge_requests_and_issues_of_the_week(servers: Shop, question: str) -> None:
    document = servers.asked(question)
    assert listed(document) == {
        "Commits": truth.listed(truth.within(truth.commits("web"), "committed_date", *WEEK), "committed_date"),
        "Merge requests": truth.listed(truth.within(truth.merge_requests("web"), "updated_at", *WEEK), "created_at"),
        "Issues": truth.listed(truth.within(truth.issues("web"), "updated", *WEEK), "created", "summary"),
    }
    assert document["facts"]["state"] == {"kind": "complete"}
    assert all(covered["ok"] for covered in document["coverage"])
    assert document["usage"]["calls"] == 0


@pytest.mark.requirement("R8", "R48")
@pytest.mark.parametrize("question", BARS)
def test_open_issues_by_assignee_are_counted_and_drawn_as_bars(servers: Shop, question: str, tmp_path: Path) -> None:
    document = servers.asked(question, "--output", str(tmp_path))
    expected = truth.counts(filter(truth.is_open, truth.issues("web", "api")), truth.assignee)
    [table], [chart] = document["tables"], document["charts"]
    assert dict(table["rows"]) == expected
    count = chart["encoding"]["y"]["field"]
    assert {row["assignee"]: row[count] for row in chart["data"]["values"]} == expected
    assert chart["layer"][0]["mark"]["type"] == "bar"  # the other layer writes the numbers
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert f"{sum(expected.values())}" in document["text"]


@pytest.mark.requirement("R8", "R9", "R48")
@pytest.mark.parametrize("question", TREND)
def test_commits_of_the_quarter_by_week_with_their_trend(servers: Shop, question: str) -> None:
    document = servers.asked(question)
    kept = truth.within(truth.commits("web", "api"), "committed_date", "2026-01-01", "2026-03-31")
    expected = truth.counts(kept, lambda commit: truth.monday(truth.at(commit, "committed_date").date()))
    [table], [chart] = document["tables"], document["charts"]
    assert {week[:10]: count for week, count in table["rows"]} == expected
    assert next(layer["mark"]["type"] for layer in chart["layer"]) == "line"  # partial weeks are marked on it
    assert str(max(expected.values())) in document["text"]


@pytest.mark.requirement("R8", "R44", "R48")
@pytest.mark.parametrize("question", STATUS)
def test_a_status_is_the_commits_of_last_week_and_the_open_issues(servers: Shop, question: str) -> None:
    document = servers.asked(question)
    assert listed(document) == {
        "Commits": truth.listed(truth.within(truth.commits("web"), "committed_date", *WEEK), "committed_date"),
        "Issues": truth.listed([*filter(truth.is_open, truth.issues("web"))], "created", "summary"),
    }


@pytest.mark.requirement("R9", "R48")
@pytest.mark.parametrize(
    ("question", "moment", "sent"),
    [
        ("merge requests of web last week", "created_at", {"created_after", "created_before"}),
        ("merge requests of web updated last week", "updated_at", {"updated_after", "updated_before"}),
        ("merge requests of web merged last week", "merged_at", {"updated_after"}),
    ],
)
def test_merge_requests_are_listed_by_the_date_that_is_spoken_of(
    servers: Shop, question: str, moment: str, sent: set[str]
) -> None:
    there = [request for request in truth.merge_requests("web") if request[moment]]
    expected = truth.listed(truth.within(there, moment, *WEEK), "created_at")
    assert listed(servers.asked(question)) == {"Merge requests": expected}
    assert {name for name in servers.gitlab.requests[0].query if name.endswith(("_after", "_before"))} == sent


@pytest.mark.parametrize(
    ("question", "titles", "more"),
    [
        (HAPPENED[0], ("Commits", "Merge requests", "Issues"), "more"),
        (HAPPENED[1], ("Коммиты", "Запросы на слияние", "Задачи"), "ещё"),
    ],
)
def test_a_person_reads_each_list_with_its_number(
    servers: Shop, question: str, titles: tuple[str, ...], more: str
) -> None:
    told = servers.said(question)
    numbers = [
        len(truth.within(truth.commits("web"), "committed_date", *WEEK)),
        len(truth.within(truth.merge_requests("web"), "updated_at", *WEEK)),
        len(truth.within(truth.issues("web"), "updated", *WEEK)),
    ]
    headings = re.findall(r"^([^-\n].*) \((\d+)\):$", told, re.MULTILINE)
    assert headings == [(title, str(number)) for title, number in zip(titles, numbers, strict=True)]
    assert told.count("\n- ") == sum(min(number, truth.SHOWN) for number in numbers)
    assert f"{more} {numbers[1] - truth.SHOWN}" in told or f"{numbers[1] - truth.SHOWN} {more}" in told


@pytest.mark.parametrize(("question", "bar"), [(BARS[0], "Anna Berg"), (BARS[1], "Борис Ким")])
def test_a_person_sees_bars_and_a_table(servers: Shop, question: str, bar: str) -> None:
    told = servers.said(question)
    expected = truth.counts(filter(truth.is_open, truth.issues("web", "api")), truth.assignee)
    assert re.search(rf"{bar} +█+ {expected[bar]}$", told, re.MULTILINE)
    assert re.search(rf"│ {bar} +│ +{expected[bar]} │", told)


@pytest.mark.requirement("R8", "R48")
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many open issues are there in web?", [*filter(truth.is_open, truth.issues("web"))]),
        ("сколько открытых задач в web?", [*filter(truth.is_open, truth.issues("web"))]),
        (
            "how many issues were closed last month in web?",
            [
                i
                for i in truth.issues("web")
                if i["resolved"] and truth.at(i, "resolved").strftime("%Y-%m") == "2026-02"
            ],
        ),
        ("how many commits last week?", truth.within(truth.commits("web", "api"), "committed_date", *WEEK)),
        ("how many merge requests last week?", truth.within(truth.merge_requests("web"), "created_at", *WEEK)),
    ],
)
def test_a_number_is_made_of_exactly_these_rows(servers: Shop, question: str, expected: list[Any]) -> None:
    [table] = servers.asked(question)["tables"]
    assert table["rows"] == [[len(expected)]]


AROUND_MIDNIGHT = (
    "2026-03-01T20:59:59+00:00",
    "2026-03-01T21:00:00+00:00",  # a Monday begins in Moscow
    "2026-03-01T23:59:59+00:00",
    "2026-03-02T00:00:00+00:00",  # and in Greenwich
    "2026-03-08T20:59:59+00:00",
    "2026-03-08T21:00:00+00:00",
)


@pytest.mark.requirement("R9")
@pytest.mark.parametrize(("zone", "last_week"), [("UTC", [5, 4, 3]), ("Europe/Moscow", [4, 3, 2, 1])])
def test_a_time_zone_moves_the_borders_of_days_and_weeks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str, last_week: list[int]
) -> None:
    monkeypatch.chdir(tmp_path)
    moments = [datetime.fromisoformat(text) for text in AROUND_MIDNIGHT]
    held = [data.commit("shop/web", number, moment) for number, moment in enumerate(moments)]
    with shop(tmp_path, GitLabDouble({"shop/web": held, "shop/api": []}, {}, data.TOKEN)) as servers:
        week = servers.asked("commits in web last week", "--timezone", zone)
        by_week = servers.asked("commits per week in 2026", "--timezone", zone)["tables"][0]
        by_day = servers.asked("commits per day in 2026", "--timezone", zone)["tables"][0]
    assert listed(week) == {"Commits": (len(last_week), [f"Change {number}" for number in last_week])}
    newest = moments[last_week[0]].astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    assert week["facts"]["groups"][0]["items"][0]["value"] == newest.isoformat(timespec="minutes")
    days = [moment.astimezone(ZoneInfo(zone)).date() for moment in moments]
    assert {row[0][:10]: row[1] for row in by_day["rows"]} == Counter(map(str, days))
    assert {row[0][:10]: row[1] for row in by_week["rows"]} == Counter(truth.monday(day) for day in days)
