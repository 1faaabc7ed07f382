"""Each claim by itself: true citations, shown as they are, in a sentence that says too much of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from groundplan.answering.verifying.claims import TESTS
from groundplan.answering.writing.citing import Citing
from groundplan.answering.writing.forms import Sentence, forms
from groundplan.answering.writing.subjects import subjects
from groundplan.answering.writing.text import text_of
from groundplan.answering.writing.write import sentences
from groundplan.contracts.answer import Citation
from tests.answering.asking import Data, Question, Run, after, by_groups, opened, over_time, single, total

ROWS = """date,region,kind,units,revenue
2024-01-10,North,Books,10,1000.5
2024-02-20,South,Books,20,2000
2024-03-05,North,Games,30,3000
2024-04-15,South,Games,12,500
2024-05-11,East,Books,11,1500
2024-06-11,East,Books,500,1600
"""
Slots = dict[str, tuple[Citation, ...]]
Lie = Callable[[Citing, Slots], Slots]

pytestmark = pytest.mark.requirement("R52")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Data]:
    file: Path = tmp_path_factory.mktemp("shop") / "shop.csv"
    file.write_text(ROWS)
    with opened(file) as data:
        yield data


def broken(run: Run, form: str, lie: Lie, told_as: str | None = None) -> str:
    """What verification says when one sentence of the answer is told with other values."""
    told = list(sentences(run.plan, run.facts, run.shown, "en"))
    place = next(place for place, sentence in enumerate(told) if sentence.form == form)
    cite = Citing(subjects(run.plan, run.facts, run.shown)[0], "en")
    slots = lie(cite, dict(told[place].slots))
    told[place] = Sentence(told_as or form, {name: cites for name, cites in slots.items() if cites})
    text, citations = text_of(told, "en")
    return " | ".join(issue.problem for issue in run.faults(text, citations))


def swap(*pairs: tuple[str, str]) -> Lie:
    return lambda _, slots: slots | {a: slots[b] for one, other in pairs for a, b in ((one, other), (other, one))}


def put(**changes: str) -> Lie:
    """Other values in some slots: `cell 0 revenue`, `name 0 region`, `label kind`."""
    return lambda cite, slots: slots | {slot: _cited(cite, told) for slot, told in changes.items()}


def only(*kept: str, **changes: str) -> Lie:
    """No other slots than these."""
    return lambda cite, slots: {name: slots[name] for name in kept} | dict(put(**changes)(cite, {}))


def _cited(cite: Citing, told: str) -> tuple[Citation, ...]:
    match told.split():
        case ["cell", row, column]:
            return cite.cell(int(row), column)
        case ["name", row, column]:
            return cite.name(int(row), column)
        case ["rest", listed]:
            return cite.rest(int(listed))
        case ["label", column]:
            return cite.label(column)
        case _:
            return cite.shown()


def two_measures() -> Question:
    asks, (step,) = by_groups("shop", ["region"], "mean")
    units = {"column": "units", "function": "mean", "as": "mean_units"}
    params = {**step["params"], "metrics": [*step["params"]["metrics"], units]}
    return [*asks, "metric:units:mean"], [{**step, "params": params, "satisfies": [*step["satisfies"], "metric:units"]}]


MEAN, SUM = by_groups("shop", ["region"], "mean"), by_groups("shop", ["region", "kind"])
MONTHS = over_time("shop", "month", (), "mean")
SHARES = after(by_groups("shop", ["region"]), "share_of_total", "analysis:share", column="sum_revenue")
TOP = after(by_groups("shop", ["region"]), "rank_rows", "rank:top2", "rank:top:2", by="sum_revenue", limit=2)
SPREAD_ASKS, ODD_ASKS = ["metric:units", "analysis:distribution"], ["metric:units", "analysis:anomaly"]
SPREAD = single("distribution_stats", SPREAD_ASKS, SPREAD_ASKS, table="shop", column="units", bins=3)
ODD = single("detect_anomalies", ODD_ASKS, ODD_ASKS, table="shop", column="units", threshold=5)
DETAIL = single("show_table", ["analysis:detail"], ["analysis:detail"], table="shop")

UPSIDE_DOWN = swap(("top", "low"), ("top_value", "low_value"))
CASES: list[tuple[str, Question, str, Lie, str | None]] = [
    ("greatest", MEAN, "extremes", UPSIDE_DOWN, None),
    ("least", MEAN, "extremes", UPSIDE_DOWN, None),
    ("greatest", MONTHS, "series_rises", swap(("peak", "low"), ("peak_at", "low_at")), None),
    ("earliest", MONTHS, "series_rises", put(start="name 1 date", first="cell 1 mean_revenue"), None),
    ("latest", MONTHS, "series_rises", put(end="name 4 date", last="cell 4 mean_revenue"), None),
    ("measured", two_measures(), "extremes", put(measure="label mean_units"), None),
    ("heads", SUM, "leader", put(dimension="label kind"), None),
    ("total", SUM, "extremes", put(total="cell 0 sum_revenue"), None),
    ("whole", SUM, "extremes", only("measure", value="cell 0 sum_revenue"), "total"),
    ("only", MEAN, "extremes", only("measure", value="cell 0 mean_revenue", name="name 0 region"), "one"),
    ("keyed", SHARES, "shares", put(dimensions="label sum_revenue"), None),
    ("within", SHARES, "shares", put(within="label region"), None),
    ("ranked", TOP, "top", put(), "bottom"),
    ("tied", TOP, "top", only("measure", count="rows", value="cell 0 sum_revenue"), "top_tied"),
    (
        "most_frequent",
        SPREAD,
        "most_often",
        put(start="cell 1 bin_start", end="cell 1 bin_end", count="cell 1 count"),
        None,
    ),
    ("standing_out", ODD, "anomalies_one", put(), "anomalies_none"),
    ("all_columns", DETAIL, "listing", lambda _, slots: {**slots, "columns": slots["columns"][1:]}, None),
    ("one_row", DETAIL, "listing", only("columns"), "listing_of_one"),
    ("rows", DETAIL, "listing", put(count="shown"), None),
    ("no_rows", DETAIL, "listing", only(), "no_rows"),
    ("nothing_found", DETAIL, "listing", only(), "nothing"),
    ("valueless", total("shop"), "total", only("measure"), "no_value"),
    ("rest", DETAIL, "listing", only(count="rest 3"), "more"),
]


@pytest.mark.parametrize(
    ("claim", "question", "form", "lie", "told_as"), CASES, ids=[f"{case[0]}-{case[2]}" for case in CASES]
)
def test_a_claim_that_is_not_true_is_found(
    shop: Data, claim: str, question: Question, form: str, lie: Lie, told_as: str | None
) -> None:
    run = shop.ask(question)
    run.text()
    assert claim in broken(run, form, lie, told_as)


def test_a_list_that_leaves_a_row_out_is_found(shop: Data) -> None:
    run = shop.ask(TOP)
    told = list(sentences(run.plan, run.facts, run.shown, "en"))
    for lie in (told[:-1], [*told, told[-1]], [told[0], *reversed(told[1:])]):
        text, citations = text_of(lie, "en")
        assert any("omits, repeats or reorders" in issue.problem for issue in run.faults(text, citations)), text


def test_every_claim_of_every_sentence_is_known() -> None:
    claimed = {claim[0] for form in forms().values() for claim in form.claims}
    assert claimed == set(TESTS)


def test_both_languages_have_the_same_slots() -> None:
    for form in forms().values():
        slots = [
            {piece.name for piece in form.variants[name][0] if not isinstance(piece, str)} for name in ("en", "ru")
        ]
        assert slots[0] == slots[1], form.name
