"""Each construct of the requirement language gives what independent SQL gives."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import groundplan
from groundplan.asking.tables.plan import propose
from groundplan.contracts.answer import Answer
from groundplan.project import Project
from tests.questions.notation import reading
from tests.questions.test_questions import ROOT, alike, independent, sortable

CASES: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "a condition in a measure": (
        {"metric": {"rate": "rows(region == 'West' or units > 50) / rows()"}, "by": {"channel": "channel"}},
        "SELECT channel, count(*) FILTER (region = 'West' OR units > 50) / count(*) FROM sales GROUP BY 1",
    ),
    "division by zero": (
        {"metric": {"price": "sum(revenue, units > 1000000) / rows(units > 1000000)"}},
        "SELECT NULL",
    ),
    "a year before": (
        {
            "metric": {"growth": "yearly_growth(sum(revenue))"},
            "by": {"month": "cut(date, 'month')", "region": "region"},
        },
        """WITH m AS (SELECT date_trunc('month', date)::DATE AS month, region, sum(revenue) AS v FROM sales
             GROUP BY 1, 2)
           SELECT strftime(now.month, '%Y-%m-%d'), now.region, now.v / earlier.v - 1
           FROM m AS now LEFT JOIN m AS earlier
           ON now.region IS NOT DISTINCT FROM earlier.region AND now.month = earlier.month + INTERVAL 1 YEAR""",
    ),
    "a change of each region": (
        {"metric": {"change": "change(sum(revenue))"}, "by": {"month": "cut(date, 'month')", "region": "region"}},
        """SELECT strftime(date_trunc('month', date), '%Y-%m-%d'), region, sum(revenue)
           - lag(sum(revenue)) OVER (PARTITION BY region ORDER BY date_trunc('month', date))
           FROM sales GROUP BY date_trunc('month', date), region""",
    ),
    "a running total of each region": (
        {"metric": {"so far": "running(rows())"}, "by": {"quarter": "cut(date, 'quarter')", "region": "region"}},
        """SELECT strftime(date_trunc('quarter', date), '%Y-%m-%d'), region,
           sum(count(*)) OVER (PARTITION BY region ORDER BY date_trunc('quarter', date))
           FROM sales GROUP BY date_trunc('quarter', date), region""",
    ),
    "a moving average of some months": (
        {
            "metric": {"average": "moving(sum(units), 3)"},
            "by": {"month": "cut(date, 'month')"},
            "where": ["month >= '2024-06-01' and month < '2024-09-01'"],
        },
        """WITH m AS (SELECT date_trunc('month', date) AS month,
             avg(sum(units)) OVER (ORDER BY date_trunc('month', date) ROWS 2 PRECEDING) AS v FROM sales GROUP BY 1)
           SELECT strftime(month, '%Y-%m-%d'), v FROM m WHERE month >= '2024-06-01' AND month < '2024-09-01'""",
    ),
    "a share within a computed group": (
        {
            "metric": {"part": "share(sum(revenue), year)"},
            "by": {"year": "part(date, 'year')", "region": "region"},
            "where": ["share(sum(revenue), year) > 0.2"],
        },
        """WITH s AS (SELECT year(date) AS y, region,
             sum(revenue) / sum(sum(revenue)) OVER (PARTITION BY year(date)) AS v FROM sales GROUP BY 1, 2)
           SELECT * FROM s WHERE v > 0.2""",
    ),
    "ranges": (
        {"metric": {"sales": "rows()"}, "by": {"size": "bins(units, 10, 20)"}},
        """SELECT CASE WHEN units < 10 THEN 'under 10' WHEN units < 20 THEN '10-19' WHEN units >= 20
           THEN '20+' END, count(*) FROM sales GROUP BY 1""",
    ),
    "ranges of one width": (
        {"metric": {"sales": "rows()"}, "by": {"from": "width(units, 25)"}},
        "SELECT floor(units / 25) * 25, count(*) FROM sales GROUP BY 1",
    ),
    "named groups": (
        {"metric": {"sales": "rows()"}, "by": {"kind": "cases(region == 'West', 'here', units > 20, 'far and many')"}},
        """SELECT CASE WHEN region = 'West' THEN 'here' WHEN units > 20 THEN 'far and many' END, count(*)
           FROM sales GROUP BY 1""",
    ),
    "whether it holds": (
        {"metric": {"sales": "rows()"}, "by": {"weekend": "holds(part(date, 'weekday') >= 6)"}},
        "SELECT coalesce(isodow(date) >= 6, false), count(*) FROM sales GROUP BY 1",
    ),
    "the time between": (
        {"metric": {"weeks": "weeks(min(date), max(date))"}, "by": {"region": "region"}},
        "SELECT region, date_diff('day', min(date), max(date)) / 7 FROM sales GROUP BY 1",
    ),
    "a correlation": (
        {"metric": {"together": "correlation(units, revenue)"}, "by": {"region": "region"}},
        "SELECT region, corr(units, revenue) FROM sales GROUP BY 1",
    ),
    "things": (
        {
            "each": {"keys": ["date", "region"], "measures": {"total": "sum(revenue)", "sales": "rows()"}},
            "metric": {"best": "max(total)", "days": "rows()"},
            "by": {"region": "region"},
            "where": ["sales > 3", "channel != 'online'"],
        },
        """WITH d AS (SELECT date, region, sum(revenue) AS total, count(*) AS sales FROM sales WHERE channel <> 'online'
             GROUP BY 1, 2)
           SELECT region, max(total), count(*) FROM d WHERE sales > 3 GROUP BY 1""",
    ),
    "things by a number of theirs": (
        {
            "each": {"keys": ["date"], "measures": {"sales": "rows()"}},
            "metric": {"days": "rows()"},
            "by": {"sales": "sales"},
        },
        "WITH d AS (SELECT date, count(*) AS n FROM sales GROUP BY 1) SELECT n, count(*) FROM d GROUP BY 1",
    ),
    "things themselves": (
        {
            "each": {"keys": ["product_category"], "measures": {"sales": "rows()"}},
            "where": ["sales > 100"],
            "columns": ["product_category", "sales"],
        },
        "SELECT product_category, count(*) FROM sales GROUP BY 1 HAVING count(*) > 100",
    ),
    "the part of the best": (
        {"metric": {"part": "sum(revenue, among_top(revenue, 5)) / sum(revenue)"}, "where": ["region == 'West'"]},
        """WITH w AS (SELECT revenue FROM sales WHERE region = 'West')
           SELECT (SELECT sum(revenue) FROM (SELECT * FROM w ORDER BY revenue DESC NULLS LAST LIMIT 5)) / sum(revenue)
           FROM w""",
    ),
    "groups by a measure nobody sees": (
        {"metric": {"units sold": "sum(units)"}, "by": {"region": "region"}, "order": "mean(revenue)", "top": 2},
        """SELECT region, sum(units), avg(revenue), row_number() OVER (ORDER BY avg(revenue) DESC) FROM sales
           GROUP BY 1 ORDER BY avg(revenue) DESC LIMIT 2""",
    ),
}


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    with groundplan.open(ROOT / "examples/sales.csv") as opened:
        yield opened


@pytest.mark.requirement("R60")
@pytest.mark.parametrize("name", CASES)
def test_a_reading_gives_what_sql_gives(name: str, project: Project) -> None:
    written, sql = CASES[name]
    outcome = answered(name, written, project)
    _, wanted = independent(f"WITH sales AS (FROM 'examples/sales.csv') SELECT * FROM ({sql})")
    assert wanted
    table = outcome.tables[0]
    named = {*written.get("by", {}), *written.get("metric", {})}
    every = len(table.columns) == len(wanted[0])  # otherwise the table also shows what a rate divides
    places = [place for place, column in enumerate(table.columns) if every or column in named]
    found = [tuple(row[place] for place in places) for row in table.rows]
    pairs = zip(sorted(found, key=sortable), sorted(wanted, key=sortable), strict=True)
    assert [pair for pair in pairs if not alike(*pair)] == []


def test_groups_that_were_chosen_are_no_total(project: Project) -> None:
    written = {"metric": {"units sold": "sum(units)"}, "by": {"region": "region"}, "where": ["mean(revenue) > 1000"]}
    assert "total" not in answered("groups", written, project).text


def answered(name: str, written: Mapping[str, Any], project: Project) -> Answer:
    (schema,) = project.schemas.values()
    asked = reading(name, schema.tables[0].name, written)
    proposal = {"plan": propose(asked, schema).model_dump(mode="json"), "reading": asked.model_dump(mode="json")}
    outcome = project.run(json.dumps(proposal)).outcome
    assert isinstance(outcome, Answer), outcome.text
    return outcome
