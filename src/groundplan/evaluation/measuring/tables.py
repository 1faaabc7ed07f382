"""Tables of invented trades. The same seed makes the same tables, byte for byte."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from groundplan.text.plain_yaml import load_yaml

YEARS = (2024, 2025)
FIRST, DAYS = datetime(2024, 1, 1), 731  # the days of both years
ROWS = 400
MISSING = 0.06  # of the amounts
OPEN = 0.15  # of the jobs
CODES = ("DN", "CX", "WT")
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
RUSSIAN = str.maketrans(CONSONANTS + VOWELS, "бдфгклмнпрствзаеиоу")

Words = dict[str, Any]


@dataclass(frozen=True)
class Trade:
    """The words of one set of tables, and the values that its columns hold."""

    name: str  # of the data set
    words: Words
    places: tuple[str, ...]
    kinds: tuple[str, ...]
    workers: tuple[str, ...]
    regions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def write(self, folder: Path) -> None:
        with (folder / f"{self.name}.csv").open("w", encoding="utf-8", newline="") as file:
            written = csv.writer(file)
            written.writerow(self.columns)
            written.writerows(["" if cell is None else cell for cell in row] for row in self.rows)


@cache
def load_words(name: str) -> Words:
    found: Words = load_yaml((files(__package__) / name).read_text(encoding="utf-8"))
    return found


def english_trade(name: str, random: Random) -> Trade:
    """A trade with a kind, an amount and a count, chosen apart from each other."""
    lists = load_words("words.yaml")
    amount, count = random.choice(lists["amounts"]), random.choice(lists["counts"])
    chosen = {"kind": random.choice(lists["kinds"]), "amount": amount["words"], "amount_column": amount["column"]}
    chosen |= {"count": count["words"], "count_column": count["column"]}
    words = {**random.choice(lists["trades"]), **random.choice(lists["jobs"]), **chosen}
    drawn = _names(random, 24)
    return Trade(name, words, tuple(drawn[:6]), tuple(drawn[6:10]), tuple(drawn[10:20]), tuple(drawn[20:]))


def russian_trade(name: str, random: Random) -> Trade:
    drawn = [one.translate(RUSSIAN).capitalize() for one in _names(random, 20, str.lower)]
    words = random.choice(load_words("words.yaml")["russian"])
    return Trade(name, words, tuple(drawn[:5]), tuple(drawn[5:9]), tuple(drawn[9:]))


def events(trade: Trade, random: Random) -> Table:
    """One row an event: what happened where, when, by whom and how much; some amounts are missing."""
    words = trade.words
    columns = (f"{words['thing']}_id", f"{words['thing']}_date", words["place"], words["kind"], words["worker"])
    rows = [
        (
            f"{words['thing'][:2].upper()}{number:04}",
            _day(random).date(),
            _uneven(random, trade.places),
            _uneven(random, trade.kinds),
            _uneven(random, trade.workers),
            _amount(random),
            random.randint(1, 60),
        )
        for number in range(1, ROWS + 1)
    ]
    return Table(words["things"], (*columns, words["amount_column"], words["count_column"]), tuple(rows))


def places(trade: Trade, random: Random) -> tuple[Table, Table]:
    """Places with a region, and events that name their place by a key; two places have no events."""
    words, key = trade.words, f"{trade.words['place']}_id"
    named = [*trade.places, *_names(random, 6)]
    held = [
        (number, name, trade.regions[number % len(trade.regions)], f"{2005 + number}-{random.randint(1, 12):02}-15")
        for number, name in enumerate(named, 1)
    ]
    rows = [
        (number, random.randint(1, len(held) - 2), _day(random).date(), _uneven(random, CODES), _amount(random, 0.0))
        for number in range(1, ROWS + 1)
    ]
    happened = (f"{words['thing']}_id", key, f"{words['thing']}_date", "status_code", words["amount_column"])
    return (
        Table(words["places"], (key, f"{words['place']}_name", "region", "opened_on"), tuple(held)),
        Table(words["things"], happened, tuple(rows)),
    )


def jobs(trade: Trade, random: Random) -> Table:
    """Jobs with the moments at which they were opened and closed; some are still open."""
    rows = []
    for number in range(1, ROWS + 1):
        opened = _day(random) + timedelta(minutes=random.randint(0, 1439))
        closed = None if random.random() < OPEN else opened + timedelta(minutes=random.randint(30, 9000))
        urgency = _uneven(random, ("low", "normal", "urgent"))
        rows.append((number, opened, closed, urgency, _uneven(random, trade.workers[:4])))
    columns = (f"{trade.words['job']}_id", "opened_at", "closed_at", "priority", "team")
    return Table(trade.words["jobs"], columns, tuple(rows))


def russian_events(trade: Trade, random: Random) -> Table:
    words = trade.words
    rows = [
        (
            number,
            _day(random).date(),
            _uneven(random, trade.places),
            _uneven(random, trade.kinds),
            _uneven(random, trade.workers),
            _amount(random, 0.0),
        )
        for number in range(1, ROWS + 1)
    ]
    columns = ("номер", "дата", words["place"], words["kind"], words["worker"], words["amount"])
    return Table(words["table"], columns, tuple(rows))


def _names(random: Random, count: int, written: Any = str.capitalize) -> list[str]:
    """Invented names, none a beginning of another: `Kodruv`, `Lemast`."""
    found: list[str] = []
    while len(found) < count:
        syllables = [random.choice(CONSONANTS) + random.choice(VOWELS) for _ in range(random.randint(2, 3))]
        name = written("".join(syllables) + random.choice(CONSONANTS))
        if not any(name.startswith(other[:4]) for other in found):
            found.append(name)
    return found


def _day(random: Random) -> datetime:
    return FIRST + timedelta(days=random.randrange(DAYS))


def _uneven(random: Random, values: Sequence[str]) -> str:
    """One of the values, the first ones more often, so that groups differ in size."""
    return random.choices(values, weights=range(len(values) + 2, 2, -1))[0]


def _amount(random: Random, missing: float = MISSING) -> float | None:
    return None if random.random() < missing else round(random.uniform(5, 900), 2)
