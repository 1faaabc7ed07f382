"""The product knows its field, not its benchmarks: no question, gold value or column of theirs is in the source."""

from __future__ import annotations

import csv
import json
import lzma
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = Path(os.environ.get("GROUNDPLAN_BENCHMARKS") or ROOT.parent / "shared/benchmarks")
TEXTS = ("*.py", "*.yaml", "*.yml", "*.md", "*.json", "*.toml", "*.txt", "*.sql", "*.csv")
QUESTION_KEYS = ("question", "question_en", "question_ru", "query", "request", "utterances")
ANSWER_KEYS = ("gold", "rows", "answers", "answers_en", "answers_ru", "answer_text", "label", "names", "answer")
LONG_QUESTION = 20  # characters; shorter ones are anyone's

# names that any table may have, and words of the field that some benchmark uses as a name
ORDINARY = """
address amount application area author budget capacity category channel cited citing city code color company condition
connection cost count country currency date day department description direction discount distance duration email end
engine exchange field first friday gender grade height homepage hour how id index keyword language last latitude
length level line link list location longitude make manager meal member message minute mode model monday month name
night note number open order origin park period phone population position price product profit program quantity quarter
range rank rate rating reason region revenue review sales saturday score season section segment service sex size
source start state status stop street subject summary sunday symbol table tax team term text thursday time title topic
total tuesday type unit user value version volume website wednesday week weight year zip
"""
ORDINARY_PHRASES = frozenset(
    {
        "class description",
        "customer id",
        "customer name",
        "day name",  # a function of SQL
        "doc id",
        "due date",
        "many times",
        "order date",
        "order id",
        "product name",
    }
)

pytestmark = pytest.mark.skipif(
    not BENCHMARKS.is_dir(), reason=f"{BENCHMARKS} is not there; GROUNDPLAN_BENCHMARKS names the benchmarks' folder"
)


@cache
def source() -> str:
    """Every text file of the product, in lower case, digits without separators."""
    files = sorted(file for pattern in TEXTS for file in (ROOT / "src").rglob(pattern))
    text = "\n".join(file.read_text(encoding="utf-8") for file in files).lower()
    return re.sub(r"(?<=\d)_(?=\d)", "", text)


@cache
def runs(length: int) -> frozenset[tuple[str, ...]]:
    """Every run of so many words in the source."""
    words = tokens(source())
    return frozenset(zip(*(words[start:] for start in range(length)), strict=False))


def tokens(text: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+", text.lower())


def is_in_source(phrase: str) -> bool:
    """Looked up by its first words, then compared as it is written."""
    words = tokens(phrase)[:6]
    return bool(words) and tuple(words) in runs(len(words)) and phrase.lower().strip() in source()


def test_the_search_finds_what_is_in_the_source() -> None:
    assert is_in_source("rules combine adjacent phrases, and the best phrases cover the question")
    assert not is_in_source("rules combine adjacent phrases, and the best phrases cover the weather")
    assert _named("Product_Category")


def lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def records() -> Iterator[dict[str, Any]]:
    for file in sorted(BENCHMARKS.rglob("*.jsonl")):
        if file.name not in ("tools.jsonl", "templates.jsonl", "xquad_docs.jsonl"):
            yield from lines(file)


def flat(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("value", *ANSWER_KEYS):
                yield from flat(item)
    elif isinstance(value, list):
        for item in value:
            yield from flat(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def told(keys: Iterable[str]) -> set[str]:
    return {text for record in records() for key in keys if key in record for text in flat(record[key])}


def test_no_question_of_a_benchmark_is_in_the_source() -> None:
    questions = {question for question in told(QUESTION_KEYS) if len(question) > LONG_QUESTION}
    assert len(questions) > 5_000  # the benchmarks were really read
    assert sorted(question for question in questions if is_in_source(question)) == []


OWN = ROOT / "tests/questions"
"""The sets of questions by fresh eyes, and those with a large model's replies."""
NAMES_OF_ANY_TABLE = {
    "call in",  # `for call in calls`
    "created at",
    "delivery date",
    "fiscal year",
    "full name",
    "member id",
    "pay type",
    "return date",
    "row id",
    "unit cost",
}


def test_no_question_or_name_of_our_own_sets_is_in_the_source() -> None:
    asked = {line["question"] for file in OWN.rglob("questions.jsonl") for line in lines(file)}
    assert len(asked) > 900
    assert sorted(question for question in asked if len(question) > LONG_QUESTION and is_in_source(question)) == []
    names = {name for file in OWN.rglob("*.csv.xz") for name in header(file)}
    assert len(names) > 250
    several = {name for name in names if len(re.findall(r"[^\W_]+", name)) > 1 and distinctive(name)}
    assert sorted(name for name in several if _named(name) and plain(name) not in NAMES_OF_ANY_TABLE) == []


def header(file: Path) -> list[str]:
    with lzma.open(file, "rt", encoding="utf-8") as opened:
        return [name.strip() for name in next(csv.reader(opened))]


def plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().lower()


def column_names() -> set[str]:
    names: set[str] = set()
    for file in (*BENCHMARKS.glob("nlv_corpus/tables/*.csv"), *BENCHMARKS.glob("sql_eval/db/*/*.csv")):
        with file.open(encoding="utf-8", newline="") as opened:
            names.update(next(csv.reader(opened), []))
    return {name.strip() for name in names if name.strip()}


def distinctive(name: str) -> bool:
    words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    if len(words) > 1:
        return " ".join(words) not in ORDINARY_PHRASES
    return len(words[0]) > 3 and not {words[0], words[0].removesuffix("s")} & set(ORDINARY.split())


def test_no_distinctive_column_of_a_benchmark_is_in_the_source() -> None:
    names = {name for name in column_names() if distinctive(name)}
    assert len(names) > 200
    assert sorted(name for name in names if _named(name)) == []


def _named(name: str) -> bool:
    """As a name of its own, however its words are joined."""
    words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return tuple(words) in runs(len(words)) and bool(re.search(rf"\b{'[ _-]?'.join(words)}\b", source()))


def gold_values() -> set[str]:
    found = told(ANSWER_KEYS)
    for file in BENCHMARKS.glob("nlv_corpus/gold_tables/*.csv"):
        with file.open(encoding="utf-8", newline="") as opened:
            found.update(cell for row in list(csv.reader(opened))[1:] for cell in row)
    return found


def is_telling(value: str) -> bool:
    """A number of five digits or more that is not round, or a text of two words or more."""
    if re.fullmatch(r"-?\d+(\.\d+)?", value):
        digits = value.strip("-").replace(".", "")
        return len(digits) >= 5 and len(digits.strip("0")) > 2
    words = [word for word in tokens(value) if word.isalpha() and word not in ("a", "an", "the")]
    return len(words) >= 2 and " ".join(words) not in ORDINARY_PHRASES


def test_no_gold_value_of_a_benchmark_is_in_the_source() -> None:
    values = {value for value in gold_values() if is_telling(value)}
    assert len(values) > 1_000
    assert sorted(value for value in values if is_in_source(value)) == []
