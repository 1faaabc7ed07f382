"""The possible meanings of each span of words: columns, values, things, numbers, periods and phrases of the lexicon."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from rapidfuzz.distance import OSA

from groundplan.asking.tables.grammar.lexicon import Key, stems_of
from groundplan.asking.tables.grammar.meanings import DATING, NAMING, Entity, Meanings
from groundplan.asking.tables.grammar.phrases import (
    Cond,
    Event,
    Field,
    Item,
    Mark,
    Measure,
    Number,
    PartOfDate,
    Thing,
    Unit,
    When,
)
from groundplan.contracts.expression import (
    Aggregate,
    Arithmetic,
    Compare,
    Constant,
    DatePart,
    Elapsed,
    Expression,
    OneOf,
)
from groundplan.contracts.expression import Column as ColumnOf
from groundplan.contracts.schema import Column
from groundplan.text.names import split_name
from groundplan.text.periods.find import Found
from groundplan.text.stems import is_russian, lower, stem
from groundplan.text.words import Word, words_of

LONGEST = 6
SHORT = 0.6
FULL, JOINED, PART, SAID, GUESSED = 1.0, 0.95, 0.8, 0.7, 0.55
CURRENCY = frozenset(
    {
        "usd",
        "eur",
        "gbp",
        "dollars",
        "dollar",
        "euros",
        "euro",
        "pounds",
        "bucks",
        "рублей",
        "руб",
        "рубля",
        "р",
        "points",
        "percent",
        "процентов",
        "процента",
        "%",
    }
)
DAYS = (
    dict(
        zip(
            ("1", "2", "3", "4", "5", "6", "7", "67", "12345"),
            ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "weekend", "weekdays"),
            strict=True,
        )
    ),
    dict(
        zip(
            ("1", "2", "3", "4", "5", "6", "7", "67", "12345"),
            ("понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье", "выходные", "будни"),
            strict=True,
        )
    ),
)
GENERIC = frozenset(
    map(
        stem,
        (
            "type",
            "date",
            "time",
            "value",
            "number",
            "name",
            "id",
            "amount",
            "total",
            "code",
            "data",
            "at",
            "on",
            "no",
            "of",
            "the",
            "in",
            "is",
            "to",
            "день",
            "дата",
        ),
    )
)


@dataclass
class Index:
    """What words name in one table; built once for it."""

    columns: dict[Key, list[tuple[float, Column]]] = field(default_factory=lambda: defaultdict(list))
    words: set[str] = field(default_factory=set)  # of names and values, to correct spelling


_indexes: WeakKeyDictionary[Meanings, Index] = WeakKeyDictionary()


def _index(meanings: Meanings) -> Index:
    found = _indexes.get(meanings)
    if found is None:
        found = _indexes[meanings] = Index()
        for column in meanings.table.columns:
            for key, score in _names(column, meanings).items():
                found.columns[key].append((score, column))
            found.words.update(word for word in split_name(column.name) if len(word) > 4)
    return found


def _names(column: Column, meanings: Meanings) -> dict[Key, float]:
    """Everything the column can be called, and how surely."""
    names: dict[Key, float] = {}

    def put(key: Key, score: float) -> None:
        if key and names.get(key, 0) < score:
            names[key] = score

    full = meanings.names[column.name]
    written = tuple(stem(word) for word in split_name(column.name))
    bare = tuple(word for word in full if word not in meanings.lexicon.structure and len(word) > 0)
    put(full, FULL)
    put(written, FULL)
    put(("".join(split_name(column.name)),), JOINED)
    put(("".join(written),), JOINED)
    meaning = meanings.of[column.name]
    for run in (full, written):
        for i in range(len(run)):
            for j in range(i + 1, len(run) + 1):
                part = run[i:j]
                if len(part) == len(run) or all(word in GENERIC or len(word) < 3 for word in part):
                    continue
                if meaning == "date" and part[-1] != run[-1]:
                    continue
                if meaning == "identifier":
                    continue  # a word for the things, not for their ids
                if meaning == "name" and not {*part} & {*map(stem, NAMING)} and _names_things(part, meanings):
                    continue
                put(part, PART - 0.05 * (len(run) - len(part)))
    for saying in meanings.lexicon.means:
        held = [key for key in saying.names if _holds(bare, key)]
        if held:
            rest = len(bare) - max(map(len, held))
            for key in saying.say:
                put(key, SAID - 0.05 * min(rest, 2))
                for word in bare:
                    if word not in held[0] and word not in GENERIC:
                        put((word, *key), PART)
    for called in (column.description,) if column.description else ():
        put(stems_of(called), PART)
    return names


def _names_things(part: Key, meanings: Meanings) -> bool:
    return any(len(part) == 1 and part[0] in entity.nouns for entity in meanings.entities)


def _holds(name: Key, key: Key) -> bool:
    return any(name[i : i + len(key)] == key for i in range(len(name) - len(key) + 1))


def as_field(column: Column, meanings: Meanings) -> Field:
    return Field(ColumnOf(name=column.name), column.name, meanings.of[column.name], column)


@dataclass
class Senses:
    """The senses of one question over one table."""

    text: str
    words: tuple[Word, ...]
    meanings: Meanings
    periods: tuple[Found, ...]
    items: list[Item] = field(default_factory=list)
    corrected: dict[int, str] = field(default_factory=dict)  # misspelt words: what they were read as

    def find(self) -> list[Item]:
        self._correct()
        self._periods()
        self._numbers()
        for first in range(len(self.words)):
            for last in range(first + 1, min(first + LONGEST, len(self.words)) + 1):
                self._columns(first, last)
                self._phrases(first, last)
            self._things(first)
        self._values()
        self._ranges()
        return self.items

    def _ranges(self) -> None:
        """`under 18, 18-39, 40-64, 65+`: three ranges or more, one behind the other."""
        for found in RANGES.finditer(self.text.lower()):
            inside = [i for i, w in enumerate(self.words) if found.start() <= w.start and w.end <= found.end()]
            edges = _edges(found.group())
            if inside and len(edges) >= 2:
                self._add("ranges", inside[0], inside[-1] + 1, Mark("ranges", parts=edges), 1.2)

    def skippable(self) -> list[bool]:
        """Words that may stand anywhere and mean nothing by themselves."""
        structure = self.meanings.lexicon.structure
        moved = {i for item in self.items if item.category == "moved" for i in range(item.first, item.last)}
        return [
            (place not in moved)
            and (
                word.lower in structure
                or (word.plain in structure and "'" in word.lower and not word.lower.endswith("n't"))
            )
            for place, word in enumerate(self.words)
        ]

    def _add(self, category: str, first: int, last: int, value: object, score: float) -> None:
        weight = (last - first) ** 0.9 if last - first > 1 else 1.0
        self.items.append(Item(category, first, last, value, score * weight))

    def _correct(self) -> None:
        """A word that nothing knows is read as the only known one that is a slip or two away."""
        known = self._known()
        spelt = {word: stem(word) for word in known if len(word) > 4}
        fixed = list(self.words)
        for place, word in enumerate(self.words):
            text = word.lower
            if len(text) < 5 or not text.isalpha() or word.stem in self._stems or text in known:
                continue
            allowed = 2 if len(text) >= 8 else 1
            alike = [w for w in spelt if w[0] == text[0] and abs(len(w) - len(text)) < 2]
            slips = {w: OSA.distance(text, w, score_cutoff=allowed) for w in alike}
            near = sorted((count, w) for w, count in slips.items() if count <= allowed)
            if near and len({spelt[w] for count, w in near if count == near[0][0]}) == 1:
                meant = near[0][1]
                fixed[place] = Word(word.text, word.lower, spelt[meant], word.start, word.end)
                self.corrected[place] = meant
        self.words = tuple(fixed)

    def _known(self) -> set[str]:
        lexicon = self.meanings.lexicon
        known = {*lexicon.vocabulary, *lexicon.structure, *_index(self.meanings).words}
        for noun in (word for entity in self.meanings.entities for word in entity.nouns):
            known.add(noun)
        for listed in self.meanings.values.values():
            known.update(lower(part) for value in listed for part in value.split() if part.isalpha())
        for saying in lexicon.means:
            known.update(word for key in saying.say for word in key)
        return known

    @property
    def _stems(self) -> set[str]:
        lexicon = self.meanings.lexicon
        found = {word for key in lexicon.phrases for word in key} | {
            w for key in _index(self.meanings).columns for w in key
        }
        for entity in self.meanings.entities:
            found |= entity.nouns
        return found | {w for group in lexicon.things for w in group}

    def _periods(self) -> None:
        for found in self.periods:
            inside = [i for i, word in enumerate(self.words) if found.start <= word.start and word.end <= found.end]
            if inside and found.period:
                self._add("period", inside[0], inside[-1] + 1, When(found.period), 1.5)
            elif inside:
                self._add(
                    "unclear", inside[0], inside[-1] + 1, Mark("unclear", self.text[found.start : found.end]), 0.9
                )

    def _numbers(self) -> None:
        times, spelt = self.meanings.lexicon.multiples, self.meanings.lexicon.spelt_numbers
        for place, word in enumerate(self.words):
            following = self.words[place + 1] if place + 1 < len(self.words) else None
            if word.is_number:
                value, last = _plain(word.text), place + 1
                if value is None:
                    continue
                if following and following.lower in times and (following.start == word.end or len(following.lower) > 1):
                    value, last = value * times[following.lower], place + 2
                percent = False
                after = self.words[last] if last < len(self.words) else None
                if after and after.lower in CURRENCY:
                    percent = after.lower in ("%", "percent", "процентов", "процента")
                    self._add("number", place, last + 1, Number(value, percent, word.text), 0.95)
                touching = (
                    after is not None
                    and after.start == self.words[last - 1].end
                    and after.lower in ("th", "st", "nd", "rd", "s")
                )
                if touching:
                    self._add("number", place, last + 1, Number(value, False, word.text), 0.9)
                if self.text[self.words[last - 1].end : self.words[last - 1].end + 1] == "+":
                    self._add("at_least", place, last, Number(value, False, word.text), 0.9)
                self._add("number", place, last, Number(value, percent, word.text), 0.9)
            elif word.lower in spelt:
                self._add("number", place, place + 1, Number(spelt[word.lower], False, word.text), 0.7)

    def _columns(self, first: int, last: int) -> None:
        key = tuple(word.stem for word in self.words[first:last])
        named = _index(self.meanings).columns.get(key, ())
        if not named and last - first == 1:
            named = self._short_for(self.words[first])
        exact = [(score, column) for score, column in named if score == FULL]
        for score, column in exact or named:
            self._add("field", first, last, as_field(column, self.meanings), score)

    def _short_for(self, word: Word) -> list[tuple[float, Column]]:
        """Columns with a word in their name that is short for this one: `carr` for carrier, `frt` for freight."""
        text = word.lower.partition("'")[0]
        if len(text) < 5 or text in self.meanings.lexicon.structure or not text.isalpha():
            return []
        found = [
            (SHORT - 0.1 * (len(split_name(column.name)) - 1), column)
            for column in self.meanings.table.columns
            if self.meanings.of[column.name] != "identifier"
            and any(is_short_for(part, text) for part in split_name(column.name))
        ]
        known = any(True for _ in self.meanings.lexicon.find((word,), 0, 1))
        return found if len(found) <= 2 and not known else []

    def _things(self, place: int) -> None:
        word = self.words[place]
        named = _index(self.meanings).columns.get((word.stem,), ())
        if any(score == FULL and self.meanings.of[c.name] == "category" for score, c in named):
            return  # a column is called exactly so
        for entity in self.meanings.entities:
            if word.stem in entity.nouns:
                own = word.stem in self._own_nouns(entity)
                self._add("thing", place, place + 1, Thing(entity, word.lower), 0.95 if own else 0.75)

    def _own_nouns(self, entity: Entity) -> frozenset[str]:
        name = self.meanings.table.name if entity.column is None else entity.column.name
        return frozenset(stem(word) for word in split_name(name))

    def _phrases(self, first: int, last: int) -> None:
        for category, value in self.meanings.lexicon.find(self.words, first, last):
            if category == "superlative" and first and self.words[first - 1].lower == "at":
                continue  # at least, at most
            if category == "share_word" and first and self.words[first - 1].is_number:
                continue
            make = getattr(self, f"_{category}", None)
            if make is not None:
                for kind, made, score in make(value, first, last):
                    self._add(kind, first, last, made, score)
            elif category not in ("yes_no", "sex_values", "event_names"):
                self._add(category, first, last, Mark(category, value), 0.9)

    def _unit(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        yield "unit", Unit(value), 0.85  # type: ignore[arg-type]

    def _grain(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        yield "grain", Unit(value), 0.9  # type: ignore[arg-type]

    def _date_part(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        yield "date_part", PartOfDate(value), 0.95

    def _days_of_week(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        date = self.meanings.main_date
        if date is not None:
            weekday = DatePart(of=ColumnOf(name=date.name), part="weekday")
            days = tuple(int(digit) for digit in value)
            made = (
                Compare(left=weekday, operator="=", right=Constant(value=days[0]))
                if len(days) == 1
                else OneOf(of=weekday, values=days)
            )
            russian = is_russian(self.words[first].lower)
            name = DAYS[russian].get(value, self.words[first].lower)
            yield "condition", Cond(made, "weekday", (name,)), 0.9

    def _people(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        if self.meanings.person:
            yield "thing", Thing(self.meanings.person, "people"), 0.85

    def _rows(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        yield "thing", Thing(self.meanings.entities[0], "rows"), 0.85

    def _event(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        column = self.meanings.events.get(value)
        if column is not None:
            yield "event", Event(column), 0.85
            if value in ("start", "open", "order", "visit", "book", "check_in") and self.words[first].lower.endswith(
                "s"
            ):
                yield "thing", Thing(self.meanings.entities[0], self.words[first].lower), 0.6

    def _duration(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        events = self.meanings.events
        pairs = [value.split()] if value != "any" else [["start", "end"], ["check_in", "check_out"], ["open", "close"]]
        for start, end in pairs:
            left = events.get(start, self.meanings.main_date if start in ("open", "order") else None)
            right = events.get(end)
            if value == "any" and left != self.meanings.main_date:
                continue
            if left is not None and right is not None and left != right:
                name = " ".join(word.lower for word in self.words[first:last])
                made = Elapsed(start=ColumnOf(name=left.name), end=ColumnOf(name=right.name), unit="day")
                yield "field", Field(made, name, "rate"), 0.9 if value != "any" else 0.6
                return

    def _sex(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        spelt = self.meanings.lexicon.values["sex_values"]
        for column in self.meanings.table.columns:
            values = self.meanings.values.get(column.name, ())
            sexes = {v: s for v in values for s, words in spelt.items() if lower(v) in words}
            if len(sexes) >= 2 and len(values) <= 5:
                for held in (v for v, s in sexes.items() if s == value):
                    yield "condition", one_of(column.name, (held,)), 0.9

    def _formula(self, value: str, first: int, last: int) -> Iterator[tuple[str, object, float]]:
        key = tuple(word.stem for word in self.words[first:last])
        if any(score >= SAID - 0.1 for score, _ in _index(self.meanings).columns.get(key, ())):
            return
        kind, _, formula = value.partition(":")
        name = " ".join(word.lower for word in self.words[first:last])
        if kind == "sum":
            made = self.amount(formula)
            if made is not None:
                yield "field", Field(made, name, "amount"), 0.85
            return
        above, below = (self.amount(part) for part in formula.split("/"))
        if above is not None and below is not None:
            ratio = Arithmetic(
                operator="/", left=Aggregate(function="sum", of=above), right=Aggregate(function="sum", of=below)
            )
            yield "measure", Measure(ratio, name), 0.9

    def amount(self, name: str) -> Expression | None:
        """A column of that name, or the calculation that stands for it."""
        for form in self.meanings.lexicon.formula_parts.get(name, (name,)):
            made = self._calculated(form) if any(sign in form for sign in "*-") else self._amount_column(form)
            if made is not None:
                return made
        return None

    def _calculated(self, form: str) -> Expression | None:
        head, _, less = form.partition("-")
        factors = [
            self._amount_column(part) if part not in ("revenue", "sales") else self.amount("revenue")
            for part in head.split("*")
        ]
        if any(part is None for part in factors):
            return None
        made: Expression = factors[0]  # type: ignore[assignment]
        for part in factors[1:]:
            made = Arithmetic(operator="*", left=made, right=part)
        if less:
            right = self._amount_column(less)
            if right is None:
                return None
            made = Arithmetic(operator="-", left=made, right=right)
        return made

    def _amount_column(self, word: str) -> Expression | None:
        found = [
            (score, column)
            for score, column in _index(self.meanings).columns.get((stem(word),), ())
            if column.kind == "number" and self.meanings.of[column.name] in ("amount", "count", "rate")
        ]
        if word == "discount":  # an amount of money, not a percentage
            found = [
                (s, c)
                for s, c in found
                if "amount" in self.meanings.names[c.name] or self.meanings.of[c.name] == "amount"
            ]
        if word == "value":
            found = [(s, c) for s, c in found if "convers" in self.meanings.names[c.name] or s >= PART]
        best = max((score for score, _ in found), default=0)
        columns = [column for score, column in found if score == best]
        return ColumnOf(name=columns[0].name) if len(columns) == 1 else None

    def _values(self) -> None:
        known: dict[Key, list[tuple[str, str]]] = defaultdict(list)
        parts: dict[Key, list[tuple[str, str]]] = defaultdict(list)
        for column in self.meanings.table.columns:
            spoken = [(value, value) for value in self.meanings.values.get(column.name, ())]
            spoken += [(phrase, called.value) for called in column.called for phrase in called.words]
            for phrase, value in spoken:
                key = tuple(word.stem for word in words_of(phrase))
                if not key or len(key) > LONGEST:
                    continue
                known[key].append((column.name, value))
                if key[0] == "fy" and len(key) == 2 and len(key[1]) == 4:
                    known[("fy", key[1][2:])].append((column.name, value))
                for size in range(1, len(key)):
                    parts[key[:size]].append((column.name, value))
        for first in range(len(self.words)):
            for last in range(first + 1, min(first + LONGEST, len(self.words)) + 1):
                key = tuple(word.stem for word in self.words[first:last])
                for column_name, value in known.get(key, ()):
                    if self._may_be_value(first, last, value):
                        flag = self.meanings.of[column_name] == "flag"
                        self._add(
                            "flag_value" if flag else "condition", first, last, one_of(column_name, (value,)), 0.95
                        )
                held = parts.get(key, ())
                if held and key not in known and self._may_be_part(first, last, key):
                    for column_name, value in dict.fromkeys(held):
                        if len(held) <= 3:
                            self._add("condition", first, last, one_of(column_name, (value,)), GUESSED)

    def _may_be_value(self, first: int, last: int, value: str) -> bool:
        """Ordinary words are values only where they are written as the value is."""
        span = self.words[first:last]
        if all(word.is_number for word in span):
            return False
        plain = all(word.lower in self.meanings.lexicon.structure for word in span)
        short = last - first == 1 and len(span[0].lower) <= 2
        return not (plain or short) or (
            self.text[span[0].start : span[-1].end] == value and any(c.isupper() for c in value)
        )

    def _may_be_part(self, first: int, last: int, key: Key) -> bool:
        lexicon = self.meanings.lexicon
        words = self.words[first:last]
        if all(word.lower in lexicon.structure or word.is_number or len(word.lower) < 4 for word in words):
            return False
        if last - first == 1 and (words[0].stem in GENERIC or any(True for _ in lexicon.find(self.words, first, last))):
            return False
        return not _index(self.meanings).columns.get(key)


_NUMBER = r"\d+(?:[.,]\d+)*\s?k?"
_BELOW = "under|below|less than|up to|over|above|more than|до|менее|меньше|свыше|более|больше|от"
_ABOVE = r"\+|and over|and above|and older|and more|or more|и более|и старше|и выше"
_RANGE = rf"(?:(?:{_BELOW})\s+{_NUMBER}|{_NUMBER}\s?(?:-|–|to|до)\s?{_NUMBER}|{_NUMBER}\s?(?:{_ABOVE}))"
RANGES = re.compile(rf"{_RANGE}(?:\s*(?:,|;|and|и|,\s*and)\s*{_RANGE}){{2,}}")


def _edges(text: str) -> tuple[float, ...]:
    """The lower ends: 18, 40 and 65 of under 18, 18-39, 40-64, 65+. Empty where the ranges leave gaps."""
    thousands = "k" in text
    edges: list[float] = []
    last: float | None = None
    for found in re.finditer(_RANGE, text):
        numbers = [float(number.replace(",", "")) for number in re.findall(r"\d+(?:[.,]\d+)*", found.group())]
        numbers = [number * 1000 if thousands and number < 1000 else number for number in numbers]
        if len(numbers) == 2:
            low, high = numbers
            if last is not None and not 0 <= low - last <= max(1.0, 0.01 * low):
                return ()
            edges.append(low)
            last = high
        elif not edges and last is None:
            last = numbers[0]
            edges.append(numbers[0])
        else:
            if last is not None and not 0 <= numbers[0] - last <= max(1.0, 0.01 * numbers[0]):
                return ()
            edges.append(numbers[0])
    return tuple(sorted(set(edges)))


def is_short_for(short: str, word: str) -> bool:
    """The beginning of the word, or its consonants in order."""
    if not 3 <= len(short) < len(word) or short[0] != word[0]:
        return False
    if word.startswith(short):
        return True
    if any(letter in "aeiouyаеиоуыэюя" for letter in short[1:]):
        return False
    rest = iter(word)
    return all(letter in rest for letter in short)


def one_of(column: str, values: tuple[str | float | int | bool, ...]) -> Cond:
    of = ColumnOf(name=column)
    made = (
        Compare(left=of, operator="=", right=Constant(value=values[0]))
        if len(values) == 1
        else OneOf(of=of, values=values)
    )
    return Cond(made, column, values)


def _plain(text: str) -> float | None:
    plain = text.replace(",", "") if "," in text and len(text.split(",")[-1]) == 3 else text.replace(",", ".")
    try:
        value = float(plain)
    except ValueError:
        return None
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def event_words(meanings: Meanings) -> dict[str, Column]:
    """Verbs that the names of dates contain: admitted, posted."""
    found: dict[str, Column] = {}
    for column in meanings.dates:
        for word in meanings.names[column.name]:
            if word not in map(stem, DATING) and len(word) > 2:
                found.setdefault(word, column)
    return found
