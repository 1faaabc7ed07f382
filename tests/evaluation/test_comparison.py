"""Two ways of answering side by side: by arithmetic that can be done by hand, and on a real table."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundplan.contracts.answer import Answer, Clarification, Outcome, TraceEntry, Usage
from groundplan.contracts.estimate import Estimate, wilson
from groundplan.contracts.matching_rows import same_rows
from groundplan.errors import SourceError, UsageError
from groundplan.evaluation.comparing.compare import Variant, compare
from groundplan.evaluation.comparing.conversations import Conversation, Turn, load_conversations, sql_over
from groundplan.evaluation.comparing.figures import Comparison
from groundplan.evaluation.comparing.intervals import Array, bootstrap, quantile
from groundplan.evaluation.comparing.side_by_side import lines
from groundplan.evaluation.comparing.strategies import Way, _compare, compare_folder, find_ways
from groundplan.project import AsyncProject

ROOT = Path(__file__).parents[2]
CSV = "day,shop,sold\n2025-01-01,Mill,3\n2025-01-02,Mill,4\n2025-02-01,Quay,5\n2025-02-02,Quay,9\n"
BY_SHOP = "SELECT shop, sum(sold) FROM 'shops.csv' GROUP BY 1"
WRITTEN = f"""
conversations:
- id: shops
  turns:
  - {{ask: total sold by shop, sql: "{BY_SHOP}"}}
  - {{ask: only Quay, rows: [[Quay, 14]]}}
  - {{ask: total sold by shop, sql: "{BY_SHOP}"}}
- id: alone
  turns:
  - {{ask: total sold, rows: [[20]]}}
"""
ASKED = "total sold by shop"
SHOPS = (("Mill", 7), ("Quay", 14))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shops")
    (made / "shops.csv").write_text(CSV)
    (made / "shops.yaml").write_text(WRITTEN)
    return made


@pytest.fixture(scope="module")
def answer(folder: Path) -> Answer:
    """A real one, whose trace and usage tests set as they need."""

    async def asked() -> Outcome:
        project = await AsyncProject.open(folder / "shops.csv")
        try:
            return await project.ask(ASKED, today=date(2025, 3, 1))
        finally:
            await project.close()

    outcome = asyncio.run(asked())
    assert isinstance(outcome, Answer)
    return outcome


NOW = datetime(2026, 1, 15, tzinfo=UTC)


def told(answer: Answer, *stages: str, tokens: int = 0) -> Answer:
    named = [stage.partition(": ") for stage in stages]
    trace = tuple(TraceEntry(stage=stage, thought=thought, at=NOW, ms=10.0) for stage, _, thought in named)
    usage = Usage(models=("m",), calls=1, prompt_tokens=tokens, completion_tokens=1) if tokens else Usage()
    return answer.model_copy(update={"trace": trace, "usage": usage})


def always(outcome: Outcome) -> Callable[[str, str], Awaitable[Outcome]]:
    async def answer(question: str, thread: str) -> Outcome:
        return outcome

    return answer


def conversation(*turns: tuple[tuple[str | int, ...], ...], id: str = "c") -> Conversation:
    return Conversation(id=id, turns=tuple(Turn(ask=ASKED, rows=rows) for rows in turns))


def compared(variants: Sequence[Variant], *conversations: Conversation) -> Comparison:
    return asyncio.run(compare(variants, conversations, sql_over(Path())))


# intervals


@pytest.mark.requirement("R61")
@pytest.mark.parametrize(
    ("held", "of", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0)]
)
def test_a_share_has_wilsons_interval(held: int, of: int, low: float, high: float) -> None:
    share = wilson(held, of)
    assert share == Estimate(value=held / of, low=low, high=high, n=of)


def test_of_nothing_there_is_no_share() -> None:
    assert wilson(0, 0) is None


@pytest.mark.parametrize("rows", [[5.0], [3.0, 1.0], [4.0, 1.0, 3.0, 2.0, 9.0]])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.95, 1.0])
def test_a_quantile_is_numpys(rows: list[float], share: float) -> None:
    assert quantile(np.array(rows), share) == pytest.approx(np.quantile(rows, share))


def middle(rows: Array) -> float:
    return quantile(rows, 0.5)


def test_the_same_measurements_have_the_same_interval_around_their_median() -> None:
    rows, names = [float(number) for number in range(41)], [str(number) for number in range(41)]
    first, second = bootstrap(rows, names, middle), bootstrap(rows, names, middle)
    assert first == second
    assert first.value == 20
    assert 5 < first.low < 20 < first.high < 35


def test_turns_of_one_conversation_count_as_little_as_they_tell() -> None:
    rows = [1.0] * 20 + [9.0] * 20
    by_turn = bootstrap(rows, [str(number) for number in range(40)], lambda drawn: float(drawn.mean()))
    by_conversation = bootstrap(rows, ["a"] * 20 + ["b"] * 20, lambda drawn: float(drawn.mean()))
    assert by_conversation.low == 1
    assert by_conversation.high == 9
    assert 3 < by_turn.low < by_turn.high < 7


def test_of_a_single_conversation_the_turns_are_drawn() -> None:
    spread = bootstrap([1.0, 2.0, 3.0, 4.0], ["a"] * 4, lambda drawn: float(drawn.mean()))
    assert spread.low < 2.5 < spread.high


# rows


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        ([("Quay", 14.0), ("Mill", 7)], SHOPS),
        ([(14.000000001, "Quay"), (7, "Mill")], SHOPS),
        ([("Mill", 7, 2), ("Quay", 14, 1)], SHOPS),
        ([("2025-01-01T00:00:00", None)], [(date(2025, 1, 1), None)]),
        ([], []),
    ],
    ids=["another order", "other columns first", "a rank besides", "a date and nothing", "no rows at all"],
)
def test_the_same_rows(got: Any, wanted: Any) -> None:
    assert same_rows(got, wanted)


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        ([("Mill", 14), ("Quay", 7)], SHOPS),
        ([("Mill", 7)], SHOPS),
        ([("Mill", 7), ("Quay", 14), ("Quay", 14)], SHOPS),
        ([(7,), (14,)], SHOPS),
        ([("Mill", 7.1), ("Quay", 14)], SHOPS),
        ([("Mill", 7), ("Quay", None)], SHOPS),
        ([(1, "a"), (1, "b")], [(1, 1), (1, 1)]),
        ([(True,)], [(1,)]),
    ],
    ids=["swapped", "one missing", "one twice", "a column missing", "a number off", "a gap", "one for two", "a truth"],
)
def test_other_rows(got: Any, wanted: Any) -> None:
    assert not same_rows(got, wanted)


# conversations


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("conversations: [{id: a, turns: [{ask: x}]}]", "either `sql` or `rows`"),
        ("conversations: [{id: a, turns: [{ask: x, sql: y, rows: []}]}]", "either `sql` or `rows`"),
        ("conversations: [{id: a, turns: []}]", r"conversations\.0\.turns"),
        ("conversations: [{id: a, turns: [{ask: x, rows: [], hint: y}]}]", "hint"),
        ("conversations: [", "not YAML"),
        ("[]", "shops.yaml"),
        (
            "conversations: [{id: a, turns: [{ask: x, rows: []}]}, {id: a, turns: [{ask: x, rows: []}]}]",
            "several conversations have the id 'a'",
        ),
    ],
)
def test_what_is_no_conversation_is_named(tmp_path: Path, written: str, problem: str) -> None:
    (tmp_path / "shops.yaml").write_text(written)
    with pytest.raises(UsageError, match=problem):
        load_conversations(tmp_path)


def test_a_folder_without_conversations_says_how_to_write_them(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="conversations:"):
        load_conversations(tmp_path)


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("COPY (SELECT 1) TO 'out.csv'", "is not a single SELECT"),
        ("SELECT 1; DROP TABLE x", "is not a single SELECT"),
        ("SELECT nothing FROM 'shops.csv'", "fails"),
    ],
)
def test_a_check_query_only_reads_and_says_why_it_fails(folder: Path, sql: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        sql_over(folder)(sql)
    assert not (folder / "out.csv").exists()


# the comparison


@pytest.mark.requirement("R59", "R61")
def test_rates_are_counted_as_one_would_by_hand(answer: Answer) -> None:
    long = told(answer, "route", "schema", "check", "check", "run", tokens=99)
    short = told(answer, "check", "run", tokens=24)
    again = told(answer, "plan: reuse", "check", "run")
    seen: list[str] = []

    async def ours(question: str, thread: str) -> Outcome:
        seen.append(thread)
        return again if seen.count(thread) > 1 else short

    wrong = (("Mill", 7), ("Quay", 15))
    asked = conversation(SHOPS, SHOPS, wrong), conversation(SHOPS, id="d")
    found = compared([Variant("long", always(long)), Variant("ours", ours)], *asked)
    first, second = found.variants
    assert (found.conversations, found.questions, first.questions) == (2, 4, 4)
    assert (first.right.value, second.right.value) == (0.75, 0.75)
    assert first.failures == second.failures == {"wrong rows": 1}
    assert (first.answered.value, second.answered.value) == (1, 1)
    assert (first.first_try.value, first.retried.value) == (0, 1)
    assert (second.first_try.value, second.retried.value) == (1, 0)
    assert (first.schema_fetched.value, second.schema_fetched.value) == (1, 0)
    assert first.reused
    assert second.reused
    assert (first.reused.value, second.reused.value, second.reused.n) == (0, 1, 2)
    assert first.stages["check"].p50.value == 20
    assert second.stages["plan"].p50.n == 2
    assert (first.prompt_tokens.value, first.completion_tokens.value, first.calls.value) == (99, 1, 1)
    assert second.prompt_tokens.value == 12
    (change,) = found.differences
    assert (change.variant, change.against) == ("ours", "long")
    assert change.tokens.value == -87.5
    assert change.tokens_share
    assert change.tokens_share.value == -0.875
    assert change.right == Estimate(value=0, low=0, high=0, n=4)


@pytest.mark.timed
@pytest.mark.requirement("R61")
def test_a_slower_variant_is_slower_by_as_much(answer: Answer) -> None:
    def taking(seconds: float) -> Variant:
        async def slow(question: str, thread: str) -> Outcome:
            await asyncio.sleep(seconds)
            return answer

        return Variant(f"{seconds}", slow)

    found = compared([taking(0.5), taking(0.02)], conversation(*[SHOPS] * 6))
    assert found.variants[0].latency.p50.value >= 500
    (change,) = found.differences
    assert change.latency_ms.low <= change.latency_ms.value < -100  # 480, and either may have to wait for a processor
    assert -1 < change.latency_p50.value < -0.2
    assert change.tokens_share is None


def test_each_goes_first_as_often_as_the_other_after_one_question_that_is_not_measured(answer: Answer) -> None:
    order: list[tuple[str, str]] = []

    def noting(name: str) -> Variant:
        async def note(question: str, thread: str) -> Outcome:
            order.append((name, thread))
            return answer

        return Variant(name, note)

    compared([noting("a"), noting("b")], conversation(SHOPS, SHOPS, SHOPS))
    warm, measured = order[:2], order[2:]
    assert [name for name, _ in warm] == ["a", "b"]
    assert {thread for _, thread in warm}.isdisjoint({thread for _, thread in measured})
    assert [name for name, _ in measured] == ["a", "b", "b", "a", "a", "b"]


def test_none_finds_what_another_one_kept(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", "before")
    folders: dict[str, set[str]] = {"a": set(), "b": set()}

    def noting(name: str) -> Variant:
        async def note(question: str, thread: str) -> Outcome:
            folders[name].add(os.environ["GROUNDPLAN_STATE"])
            return answer

        return Variant(name, note)

    compared([noting("a"), noting("b")], conversation(SHOPS, SHOPS))
    assert {len(seen) for seen in folders.values()} == {2}  # one to warm up, one that is measured
    assert folders["a"].isdisjoint(folders["b"])
    assert os.environ["GROUNDPLAN_STATE"] == "before"


@pytest.mark.requirement("R59")
def test_what_is_not_answered_is_counted_by_its_kind(answer: Answer) -> None:
    turns = iter([answer, Clarification(text="Which?", missing="x"), SourceError("gone"), answer])

    async def unsure(question: str, thread: str) -> Outcome:
        turn = next(turns)
        if isinstance(turn, SourceError):
            raise turn
        return turn

    found = compared([Variant("unsure", unsure), Variant("sure", always(answer))], conversation(SHOPS, SHOPS, SHOPS))
    figures = found.variants[0]
    assert figures.failures == {"clarification": 1, "SourceError": 1}
    assert (figures.right.value, figures.answered.value) == (0.3333, 0.3333)
    assert [(miss.id, miss.why) for miss in figures.misses] == [
        ("c/1", "clarification: Which?"),
        ("c/2", "SourceError: gone"),
    ]


@pytest.mark.parametrize("names", [["one"], ["one", "one"]])
def test_one_variant_is_no_comparison(answer: Answer, names: list[str]) -> None:
    with pytest.raises(UsageError, match="at least two variants"):
        compared([Variant(name, always(answer)) for name in names], conversation(SHOPS))


# strategies


@pytest.mark.requirement("R59", "R61")
def test_strategies_are_compared_on_a_folder_of_conversations(folder: Path) -> None:
    counts: list[tuple[int, int]] = []
    ways = [Way("rules", None), Way(None, "none")]
    clock = {"today": date(2025, 3, 1), "timezone": "UTC"}
    on_progress = lambda done, total: counts.append((done, total))  # noqa: E731
    found = asyncio.run(_compare(folder, folder / "shops.csv", on_progress, ways, **clock))
    assert counts == [(done, 8) for done in range(1, 9)]
    assert [one.variant for one in found.variants] == ["rules", "usual none"]
    for one in found.variants:
        assert one.misses[0].id == "alone/1"  # its rows were written wrong on purpose
        assert one.misses[0].got == [[21]]
        assert one.right.value == 0.75
        assert one.reused
        assert (one.reused.value, one.reused.n) == (1, 2)
        assert one.stages.keys() >= {"read", "plan", "check", "run", "answer"}
    assert Comparison.model_validate_json(found.model_dump_json()) == found
    text = "\n".join(lines(found))
    assert "rules misses: wrong rows 1" in text
    assert "usual none against rules" in text
    assert "75% [30%, 95%]" in text


def test_every_strategy_meets_every_model_and_rules_meet_none() -> None:
    ways = find_ways(["rules", "adapt"], ["small", "large"])
    assert ways == [Way("rules", None), Way("adapt", "small"), Way("adapt", "large")]
    assert [way.name for way in find_ways([], ["none", "small"])] == ["usual none", "usual small"]


def test_an_unknown_strategy_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no strategy 'rule'; the strategies are adapt, compose, rules"):
        find_ways(["rule"], [])


def test_one_way_is_no_comparison(folder: Path) -> None:
    with pytest.raises(UsageError, match="--strategy or --model twice"):
        compare_folder(folder, folder / "shops.csv", lambda done, total: None, ["rules", "rules"])


@pytest.mark.requirement("R59", "R61")
@pytest.mark.needs("llm")
def test_the_short_way_asks_tableau_less_and_builds_on_earlier_turns() -> None:
    """The servers count: the long way reads the fields for every question, ours once."""
    script = ["-m", "benchmarks.tableau_conversations"]
    command = [sys.executable, *script, "--sample", "3", "--round-trip", "200", "--json"]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert finished.stdout, finished.stderr
    told = json.loads(finished.stdout)
    long, ours = told["comparison"]["variants"]
    assert told["requests"]["long"]["read-metadata"] > long["questions"]
    assert told["requests"]["usual"]["read-metadata"] == 1
    assert (long["schema_fetched"]["value"], ours["schema_fetched"]["value"]) == (1, 0)
    assert long["reused"]["value"] == 0
    assert ours["right"]["value"] == 1 >= long["right"]["value"]
    assert ours["reused"]["value"] > 0.3
    assert told["comparison"]["differences"][0]["latency_p50"]["value"] < 0
