"""Two hundred answers to random questions on random tables: all hold; altered in any way, none does."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from groundplan.answering.writing.forms import Sentence, forms
from groundplan.answering.writing.phrases import MONTHS_OF_DAYS
from groundplan.answering.writing.text import text_of
from groundplan.answering.writing.tracing import Cell, find_trace
from groundplan.answering.writing.write import sentences
from groundplan.contracts.answer import Answer, Citation
from groundplan.contracts.contract import Language
from groundplan.text.period_names import MONTHS
from tests.answering.asking import Question, Run, after, by_groups, filtered, opened, over_time, periods, single, total

TABLES, ANSWERS = 10, 200
LANGUAGES: tuple[Language, ...] = ("en", "ru")
SAME_MEANING = {"total", "total_of_several", "value", "no_value"}
NAMES = ("North", "South", "East & West", "Über-Mitte", "Москва", "O'Hara", "7-Eleven", "St. Louis", "online", "А и Б")
Altering = Callable[[random.Random, Run, Answer], str | None]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Run, Answer]]:
    return list(_answered(tmp_path_factory.mktemp("grounding")))


def _answered(folder: Path) -> Iterator[tuple[Run, Answer]]:
    for seed in range(TABLES):
        chance = random.Random(seed)
        file = folder / f"sales{seed}.csv"
        file.write_text(_rows(chance))
        with opened(file) as data:
            for question in _questions(chance, file.stem):
                run = data.ask(question)
                for language in LANGUAGES:
                    yield run, run.answer(language)


def _rows(chance: random.Random) -> str:
    regions, kinds = chance.sample(NAMES, chance.randint(2, 5)), ["Books", "Games", "Toys"][: chance.randint(2, 3)]
    scale = chance.choice([1, 100, 1_000_000])
    lines = ["date,region,kind,units,revenue"]
    for _ in range(chance.randint(60, 120)):
        day = f"{chance.choice([2023, 2024])}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        units = chance.randint(1, 500)
        money = round(units * scale * chance.uniform(0.5, 2), 2)
        lines.append(f'{day},"{chance.choice(regions)}",{chance.choice(kinds)},{units},{money}')
    return "\n".join(lines)


def _questions(chance: random.Random, table: str) -> list[Question]:
    groups, measure = chance.choice(["region", "kind"]), chance.choice(["revenue", "units"])
    spread, pair = [f"metric:{measure}", "analysis:distribution"], ["metric:units", "metric:revenue"]
    years = ["2024-01-01", "2025-01-01"], ["2023-01-01", "2024-01-01"]
    questions = [
        total(table, chance.choice(["sum", "mean", "median", "max"]), measure),
        by_groups(table, [groups], chance.choice(["sum", "mean", "count_distinct"]), measure),
        by_groups(table, ["region", "kind"], "sum", measure),
        over_time(table, chance.choice(["month", "quarter", "year", "week", "day", "auto"]), (), "sum", measure),
        over_time(table, chance.choice(["month", "quarter"]), [groups], chance.choice(["sum", "mean"]), measure),
        after(by_groups(table, ["region", "kind"]), "rank_rows", "rank:top3", "rank:top:3", by="sum_revenue", limit=3),
        after(by_groups(table, [groups]), "share_of_total", "analysis:share", column="sum_revenue"),
        periods(table, *years, by=chance.choice([[], ["kind"]])),
        single("distribution_stats", spread, spread, table=table, column=measure, bins=7),
        filtered(by_groups(table, ["region"], "mean", measure), "kind", "=", "Books"),
        single(
            "correlate", [*pair, "analysis:correlation"], [*pair, "analysis:correlation"], table=table,
            columns=["units", "revenue"],
        ),
        single(
            "compute_summary_stats", [*pair, "analysis:summary"], [*pair, "analysis:summary"], table=table,
            columns=["units", "revenue", "region"],
        ),
    ]  # fmt: skip
    return chance.sample(questions, ANSWERS // TABLES // 2)


def a_digit(chance: random.Random, run: Run, answer: Answer) -> str | None:
    places = [match.start() for match in re.finditer(r"\d", answer.text)]
    if not places:
        return None
    at = chance.choice(places)
    other = chance.choice([digit for digit in "0123456789" if digit != answer.text[at]])
    return answer.text[:at] + other + answer.text[at + 1 :]


def a_name_of_the_data(chance: random.Random, run: Run, answer: Answer) -> str | None:
    names = [c for c in answer.citations if isinstance(c.value, str) and isinstance(find_trace(c.fact), Cell)]
    others = [c.text for c in names if names and c.text != names[0].text]
    return answer.text.replace(names[0].text, chance.choice(others), 1) if others else None


def an_invented_name(chance: random.Random, run: Run, answer: Answer) -> str | None:
    names = [c.text for c in answer.citations if isinstance(c.value, str)]
    return answer.text.replace(chance.choice(names), "Atlantis", 1) if names else None


def a_percentage(chance: random.Random, run: Run, answer: Answer) -> str | None:
    found = re.search(r"\d(?=\s?%)", answer.text)
    return answer.text[: found.start()] + str((int(found[0]) + 1) % 10) + answer.text[found.end() :] if found else None


def a_unit(chance: random.Random, run: Run, answer: Answer) -> str | None:
    numbers = [c.text for c in answer.citations if isinstance(c.value, float)]
    if not numbers:
        return None
    number = chance.choice(numbers)
    return answer.text.replace(number, f"{number} {chance.choice(['USD', 'kg', '₽', 'тыс.', 'thousand'])}", 1)


def a_scale(chance: random.Random, run: Run, answer: Answer) -> str | None:
    scales = {"million": "billion", "billion": "million", "млн": "млрд", "млрд": "млн"}
    word = next((word for word in scales if f" {word}" in answer.text), None)
    return answer.text.replace(word, scales[word], 1) if word else None


def a_sentence_with_a_number(chance: random.Random, run: Run, answer: Answer) -> str:
    return f"{answer.text} {chance.choice(['Profit is 42.', 'Прибыль: 42.', 'It grew by 7%.'])}"


def a_sentence_without_one(chance: random.Random, run: Run, answer: Answer) -> str:
    return f"{chance.choice(['This is a healthy result.', 'Это хороший результат.'])} {answer.text}"


def a_sentence_of_its_own_names(chance: random.Random, run: Run, answer: Answer) -> str | None:
    names = [c.text for c in answer.citations if isinstance(c.value, str)]
    return f"{answer.text} {chance.choice(names)} did very well." if names else None


def a_date(chance: random.Random, run: Run, answer: Answer) -> str | None:
    for names in (*MONTHS.values(), *MONTHS_OF_DAYS.values()):
        for place, name in enumerate(names):
            if re.search(rf"\b{name}\b", answer.text):
                return re.sub(rf"\b{name}\b", names[(place + 1) % 12], answer.text, count=1)
    return None


def a_direction(chance: random.Random, run: Run, answer: Answer) -> str | None:
    pairs = [("rose", "fell"), ("рост", "снижение"), ("highest", "lowest"), ("больше всего", "меньше всего")]
    for pair in (*pairs, *((second, first) for first, second in pairs)):
        if pair[0] in answer.text:
            return answer.text.replace(*pair, 1)
    return None


ALTERINGS: tuple[Altering, ...] = (
    a_digit,
    a_name_of_the_data,
    an_invented_name,
    a_percentage,
    a_unit,
    a_scale,
    a_sentence_with_a_number,
    a_sentence_without_one,
    a_sentence_of_its_own_names,
    a_date,
    a_direction,
)


@pytest.mark.requirement("R52")
def test_clean_answers_are_never_blocked(answered: Sequence[tuple[Run, Answer]]) -> None:
    assert len(answered) == ANSWERS
    for _, answer in answered:
        assert not answer.issues, (answer.text, answer.issues)
        assert answer.citations


@pytest.mark.requirement("R52")
@pytest.mark.parametrize("alter", ALTERINGS, ids=lambda alter: alter.__name__)
def test_altered_answers_are_always_blocked(answered: Sequence[tuple[Run, Answer]], alter: Altering) -> None:
    chance = random.Random(7)
    altered = 0
    for run, answer in answered:
        text = alter(chance, run, answer)
        if text is not None and text != answer.text:
            altered += 1
            assert run.faults(text, answer.citations), text
    assert altered >= 20, "an alteration that hardly ever applies proves nothing"


@pytest.mark.requirement("R52")
def test_a_lie_with_citations_of_real_cells_is_always_blocked(answered: Sequence[tuple[Run, Answer]]) -> None:
    """The liar cites another row of the same column, with its true value and a faithful text."""
    chance = random.Random(11)
    lies = 0
    for run, answer in answered:
        for place, citation in enumerate(answer.citations):
            lie = _another_row(chance, run, answer, citation)
            if lie is None:
                continue
            lies += 1
            citations = (*answer.citations[:place], lie, *answer.citations[place + 1 :])
            assert run.faults(_with(answer, place, lie), citations), (answer.text, citation, lie)
    assert lies > 300


@pytest.mark.requirement("R52")
def test_a_sentence_with_two_of_its_values_swapped_is_always_blocked(answered: Sequence[tuple[Run, Answer]]) -> None:
    """Every citation is true and shown as it is; only what the sentence claims of them is not."""
    lies = []
    for (run, answer), language in zip(answered, itertools.cycle(LANGUAGES), strict=False):
        told = list(sentences(run.plan, run.facts, run.shown, language))
        assert text_of(told, language)[0] == answer.text
        for place, lie in _swapped(told):
            lies.append((run, text_of([*told[:place], lie, *told[place + 1 :]], language)))
    for run, (text, citations) in random.Random(5).sample(lies, 1_000):
        assert run.faults(text, citations), text


@pytest.mark.requirement("R52")
def test_the_same_values_in_another_sentence_are_always_blocked(answered: Sequence[tuple[Run, Answer]]) -> None:
    lies = 0
    for (run, _), language in zip(answered, itertools.cycle(LANGUAGES), strict=False):
        told = list(sentences(run.plan, run.facts, run.shown, language))
        for place, sentence in enumerate(told):
            for form in _others(sentence):
                lies += 1
                lie = Sentence(form, sentence.slots)
                text, citations = text_of([*told[:place], lie, *told[place + 1 :]], language)
                assert run.faults(text, citations), text
    assert lies > 100


def _swapped(told: Sequence[Sentence]) -> Iterator[tuple[int, Sentence]]:
    """Two slots of a sentence exchanged."""
    for place, sentence in enumerate(told):
        given = {name: cites for name, cites in sentence.slots.items() if cites}
        for one, other in itertools.combinations(given, 2):
            if [cite.value for cite in given[one]] != [cite.value for cite in given[other]]:
                yield place, Sentence(sentence.form, {**given, one: given[other], other: given[one]})


def _others(sentence: Sentence) -> Iterator[str]:
    """Forms that take the same slots and say something else."""
    given = {name for name, cites in sentence.slots.items() if cites}
    for name, form in forms().items():
        slots = {piece.name for piece in form.variants["en"][0] if not isinstance(piece, str)}
        if name != sentence.form and given == slots and not {name, sentence.form} <= SAME_MEANING:
            yield name


def _another_row(chance: random.Random, run: Run, answer: Answer, citation: Citation) -> Citation | None:
    """A citation of this answer that shows another row's cell of the same column."""
    trace = find_trace(citation.fact)
    others = [
        other
        for other in answer.citations
        if isinstance(trace, Cell)
        and isinstance(cell := find_trace(other.fact), Cell)
        and (cell.step, cell.column) == (trace.step, trace.column)
        and other.value != citation.value
    ]
    return chance.choice(others) if others else None


def _with(answer: Answer, place: int, lie: Citation) -> str:
    """The text with one citation's words replaced, found by walking the citations in order."""
    at = 0
    for number, citation in enumerate(answer.citations):
        at = answer.text.index(citation.text, at)
        if number == place:
            return answer.text[:at] + lie.text + answer.text[at + len(citation.text) :]
        at += len(citation.text)
    raise AssertionError("the citation is not in the text")
