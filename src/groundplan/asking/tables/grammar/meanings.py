"""What the columns of a table mean: what is summed, averaged or counted, what a row is, when events were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from groundplan.asking.tables.grammar.lexicon import Key, Lexicon, load, stems_of
from groundplan.contracts.columns import Meaning
from groundplan.contracts.schema import Column, NamedMetric, Table
from groundplan.text.names import is_short_for, kin, split_name
from groundplan.text.stems import lower, stem
from groundplan.text.words import Word

IDENTIFYING = frozenset(
    {
        "id",
        "identifier",
        "no",
        "number",
        "key",
        "code",
        "uuid",
        "sku",
        "ref",
        "reference",
        "ид",
        "код",
        "номер",
        "артикул",
    }
)
NUMBERS = ("amount", "count", "rate")
NAMING = frozenset({"name", "имя", "фио", "фамилия", "название", "title"})
YEARS = frozenset({"year", "год"})
DATING = frozenset({"date", "time", "timestamp", "day", "at", "on", "datetime", "дата", "время", "день"})
STEPS = (  # numbered, not measured
    *("grade", "level", "class", "tier", "floor", "season", "round", "stage", "edition", "heat"),
    *("класс", "уровень", "этаж", "курс", "сезон", "раунд", "этап", "тур"),
)
BIRTHS = ("birth", "born", "рождение", "рожденный")
PLANNED_DATES = (
    *("promised", "planned", "due", "scheduled", "expected", "deadline", "target", "agreed", "estimated"),
    *("план", "плановый", "срок", "обещанный"),
)
EVENT_NOUNS = {
    "visit": ("visit", "check-in", "checkin", "посещение", "визит"),
    "book": ("booking", "reservation", "бронирование", "бронь"),
    "order": ("order", "заказ"),
    "open": ("ticket", "case", "request", "заявка", "обращение"),
    "ship": ("shipment", "отправка"),
    "pay": ("payment", "платеж"),
}
COUNTED = frozenset(map(stem, ("contract", "invoice", "order", "bill", "ticket", "job", "booking", "policy", "claim")))
LASTING = ("seconds", "minutes", "hours", "days", "weeks", "months", "years", "mins", "secs", "hrs")
PREPOSITIONS = frozenset({"in", "out", "on", "at", "up", "off", "by", "to", "for", "from", "of", "в", "на", "от", "до"})
TICKS = frozenset({"x", "✓", "✔", "+", "v", "х"})  # beside empty cells
MONEY = frozenset({"eur", "usd", "gbp", "chf", "rub", "руб", "kzt", "pln", "sek"})
CURRENCIES = "$€£¥₽₹"
PERCENTS = frozenset({"percent", "percents", "percentage", "pct", "%", "процент"})
SEPARATORS = (";", "|", ",")
LISTED = 0.25  # of the values: so many have several parts where cells hold lists
MANY = 0.5  # of the rows: so many different values of a text name the rows


@dataclass(frozen=True)
class Entity:
    """A kind of thing that the table has rows of, and how it is counted: by rows, or by the ids of `column`."""

    nouns: frozenset[str]  # stems
    column: Column | None  # None: a row is one
    called: str

    @property
    def is_rows(self) -> bool:
        return self.column is None


@dataclass(frozen=True)
class Joined:
    """Of a column of another table: further names, and the stems of the nouns for that table's rows."""

    names: frozenset[Key]
    nouns: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Meanings:
    """The table as the grammar sees it."""

    table: Table
    values: Mapping[str, tuple[str, ...]]
    lexicon: Lexicon
    foreign: frozenset[str] = frozenset()  # columns that point at another table, which has the names
    joined: Mapping[str, Joined] = field(default_factory=dict)  # columns of other tables
    metrics: Mapping[Key, NamedMetric] = field(default_factory=dict)  # by what they are called
    dated_by: str | None = None  # the main date, where several could be
    once: bool = True  # whether what all rows of a thing repeat counts once
    shares_limit: bool = False  # of online sales by region: each region's part of them, or how much of it is online?
    rows_are_money: bool = False  # the best by charges: by what they come to, or by how many there are?
    elsewhere: frozenset[str] = frozenset()  # nouns for the rows of other tables
    aggregated: tuple[Column, ...] = ()  # not among the table's columns here: they are measures, in `metrics`

    @cached_property
    def of(self) -> Mapping[str, Meaning]:
        single = {column.name: self._meaning(column) for column in self.table.columns}
        return single | {column.name: "rate" for column in self.aggregated}

    @cached_property
    def names(self) -> Mapping[str, Key]:
        """The words of each column's name as stems, abbreviations written out, units left out."""
        return {column.name: self._name(column.name) for column in self.table.columns}

    def _name(self, name: str) -> Key:
        words = split_name(name)
        long = [next(iter(self.lexicon.written_out(word)), word) for word in words]
        found = tuple(stem(part) for word in long for part in word.split())
        return found or tuple(map(stem, words))

    def _meaning(self, column: Column) -> Meaning:
        if column.meaning is not None:
            return column.meaning
        words = split_name(column.name)
        last = words[-1] if words else ""
        rows = self.table.row_count or 0
        if column.kind == "time" or column.role == "temporal":
            return "date"
        if column.kind == "boolean" or self.yes_value(column) is not None:
            return "flag"
        if "№" in column.name or column.name.rstrip().endswith("#"):
            return "identifier"
        if last in IDENTIFYING and column.kind in ("text", "number"):
            return "identifier"
        measured = column.kind == "number" and {*self.names[column.name]} & self.lexicon.kinds
        if column.role == "id" and not measured:  # minutes that happen to be all different are minutes
            return "identifier"
        if column.kind == "number":
            return "year" if {last, *self.names[column.name][-1:]} & YEARS else self._number(column)
        if set(words) & NAMING:
            return "name"
        if rows >= 20 and (column.cardinality or 0) > MANY * rows:
            return "identifier" if self._looks_like_codes(column) else "name"
        return "category"

    def _looks_like_codes(self, column: Column) -> bool:
        return any(any(letter.isdigit() for letter in value) for value in self.values.get(column.name, ())[:20])

    def _number(self, column: Column) -> Meaning:
        stems = self.names[column.name]
        few = (
            "float" not in column.type.lower()
            and "double" not in column.type.lower()
            and (column.cardinality or 99) <= 20
        )
        if few and {*stems} & {*map(stem, STEPS)}:
            return "category"
        if "unit" in stems[:-1] or self.is_percent(column):  # the cost of one
            return "rate"
        for word in reversed(stems):
            for kind in ("rate", "count", "amount"):
                if word in self.lexicon.numbers[kind]:
                    return kind
        counted = stems[-1:] and stems[-1] in COUNTED  # tickets of a booking, however few
        many = counted or (column.cardinality or 0) > 30
        if column.name.startswith("#") or (self.names_things(column) and many):
            return "count"
        money = {*split_name(column.name)} & MONEY or {*column.name, *(column.unit or "")} & {*CURRENCIES}
        return "amount" if money or lower(column.unit or "") in MONEY else "rate"

    def is_percent(self, column: Column) -> bool:
        """Called a percentage, or written with a percent sign."""
        named = {*split_name(column.name), column.unit or ""} & PERCENTS or "%" in column.name
        return column.kind == "number" and bool(named)

    @cached_property
    def lists(self) -> Mapping[str, frozenset[str]]:
        """The columns whose cells hold several values, and the single values."""
        found: dict[str, frozenset[str]] = {}
        for column in self.table.columns:
            cells = self.values.get(column.name, ()) if column.kind == "text" else ()
            for separator in SEPARATORS:
                parts = [[part.strip() for part in cell.split(separator)] for cell in cells]
                several = [one for one in parts if len(one) > 1]
                single = {part for one in parts for part in one if part}
                if len(several) > LISTED * len(cells) and 2 * len(single) <= sum(map(len, parts)) and len(several) > 2:
                    found[column.name] = frozenset(single)
                    break
        return found

    def holds_codes(self, column: Column) -> str | None:
        """`country` or `language`, if all values are codes of them: GB and DE, or en and de."""
        values = {lower(value) for value in self.values.get(column.name, ())}
        if len(values) < 3 or not values <= {"en"}.union(*self.lexicon.codes.values()):
            return None
        return "language" if "en" in values else "country"

    def names_things(self, column: Column) -> bool:
        """Words, bags, trees: whole numbers of things. Many are added up, a few rooms or stars if asked."""
        last = split_name(column.name)[-1:]
        plural = bool(last) and last[0].endswith("s") and not last[0].endswith(("ss", "us", "is")) and len(last[0]) > 3
        return plural and "int" in column.type.lower() and stem(last[0]) not in map(stem, LASTING)

    def yes_value(self, column: Column) -> str | int | bool | None:
        """The value of a flag that means yes, however it is written."""
        if column.kind == "boolean":
            return True
        if column.kind == "number":
            flag = (column.least, column.greatest) == (0, 1) and column.cardinality == 2
            return 1 if flag else None
        values = self.values.get(column.name, ())
        if column.kind != "text" or not 1 <= len(values) <= 2 or (column.cardinality or 0) > 2:
            return None
        spelt = self.lexicon.values["yes_no"]
        if len(values) == 1 and column.nulls and lower(values[0]) in TICKS:
            return values[0]
        yes = [value for value in values if lower(value) in spelt["yes"]]
        no = [value for value in values if lower(value) in spelt["no"]]
        return yes[0] if yes and len(yes) + len(no) == len(values) else None

    def no_value(self, column: Column) -> str | int | bool | None:
        if column.kind == "boolean":
            return False
        if column.kind == "number":
            return 0
        yes = self.yes_value(column)
        return next((value for value in self.values.get(column.name, ()) if value != yes), None)

    @cached_property
    def dates(self) -> tuple[Column, ...]:
        return tuple(column for column in self.table.columns if self.of[column.name] == "date")

    @cached_property
    def main_date(self) -> Column | None:
        """When the events of the rows happened."""
        return self.main_dates[0] if self.main_dates else None

    @cached_property
    def _has_own_words(self) -> bool:
        """True if the source says what its tables, dates and events are called, and which date is the usual one."""
        return any(column.verbs for column in self.table.columns)

    @cached_property
    def main_dates(self) -> tuple[Column, ...]:
        """The dates that may be meant where none is named, the likeliest first.

        They are present in every row and have about the most different days: the date on which a member joined is the
        same in all of the member's rows; the date of the visit is not. One called like the table or just `date` is it;
        a planned date is not, and nothing is dated by when people were born.
        """
        if self.dated_by is not None:
            return (self.column(self.dated_by),)
        if self.table.main_date is not None and self._has_own_words:
            return (self.column(self.table.main_date),)
        dates = [c for c in self.dates if not {*self.names[c.name]} & {*map(stem, BIRTHS)}]
        fewest = min((c.nulls or 0 for c in dates), default=0)
        whole = [c for c in dates if (c.nulls or 0) == fewest]
        most = max((c.cardinality or 0 for c in whole), default=0)
        varied = [c for c in whole if (c.cardinality or 0) >= 0.8 * most]
        happened = [c for c in varied if c not in self.planned_dates] or varied
        ranked = sorted(happened, key=lambda c: str(c.least or "~"))
        lasting = self.duration_of_events
        if lasting and lasting[0] in ranked:  # an event is dated by its beginning
            ranked = [c for c in ranked if c != lasting[1]]
        telling = [c for c in ranked if self._is_telling(c)]
        return tuple(telling if len(telling) == 1 else ranked)

    def _is_telling(self, column: Column) -> bool:
        """Called like the rows, or just `date`. When something was booked tells little of when it is."""
        own = {word for word in self.names[column.name] if word not in map(stem, DATING)}
        rows = {word for word in (stem(part) for part in split_name(self.table.name)) if len(word) > 2}
        rows |= {part for word in rows for long in self.lexicon.written_out(word) for part in stems_of(long)}
        return not own or bool(own & rows and column != self.events.get("book"))

    @cached_property
    def planned_dates(self) -> tuple[Column, ...]:
        planned = {*map(stem, PLANNED_DATES)}
        return tuple(c for c in self.dates if not planned.isdisjoint(self.names[c.name]))

    @cached_property
    def events(self) -> Mapping[str, Column]:
        """The date of each kind of event that the names of columns tell."""
        found: dict[str, Column] = {}
        for event, names in self.lexicon.values["event_names"].items():
            keys = {stems_of(name) for name in names}
            for column in self.dates:
                if not keys.isdisjoint(self._event_keys[column.name]):
                    found.setdefault(event, column)
        people = {stem(word) for word in split_name(self.table.name)} & self.lexicon.persons
        if people and "open" in found:  # customers are created when they sign up
            found.setdefault("start", found["open"])
        return found

    @cached_property
    def _event_keys(self) -> Mapping[str, frozenset[Key]]:
        """The names of events in the name of each date, without those inside a longer one: a sign-up signs nothing."""
        known = {stems_of(name) for names in self.lexicon.values["event_names"].values() for name in names}
        found: dict[str, frozenset[Key]] = {}
        for column in self.dates:
            own = tuple(word for word in self.names[column.name] if word not in map(stem, DATING))
            runs = {own[i:j] for i in range(len(own)) for j in range(i + 1, len(own) + 1)} & known
            found[column.name] = frozenset(r for r in runs if not any(len(r) < len(o) and {*r} < {*o} for o in runs))
        return found

    def is_row_verb(self, word: Word) -> bool:
        """True for a verb that only says what the rows are: borrow, where they are loans; inspected, of inspections."""
        nouns = self.entities[0].nouns
        if any(word.stem in self.lexicon.row_verbs.get(noun, ()) for noun in nouns):
            return True
        return word.lower.endswith("ed") and any(word.stem == noun or kin(word.stem, noun) for noun in nouns)

    @cached_property
    def duration_of_events(self) -> tuple[Column, Column] | None:
        events = self.events
        for start, end in (("start", "end"), ("check_in", "check_out"), ("open", "close"), ("ship", "deliver")):
            if start in events and end in events and events[start] != events[end]:
                return events[start], events[end]
        return None

    @cached_property
    def duration(self) -> tuple[Column, Column] | None:
        """From when to when something lasts: the events that begin and end it."""
        if self.duration_of_events:
            return self.duration_of_events
        events = self.events
        ends = {events[event].name: events[event] for event in ("return", "close", "end", "deliver") if event in events}
        main = self.main_date
        last = [column for column in ends.values() if column not in self.planned_dates and column != main]
        return (main, last[0]) if main is not None and len(last) == 1 else None

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """The thing that a row is, and the things that have ids."""
        found: list[Entity] = []
        row_nouns = {stem(word) for word in split_name(self.table.name)}
        row_nouns |= {stem(name) for name in self.table.synonyms if " " not in name}
        for column in self.table.columns:
            if self.of[column.name] != "identifier" or column.cardinality == 0:  # an empty column identifies nothing
                continue
            words = [word for word in self.names[column.name] if word not in map(stem, IDENTIFYING)]
            nouns = {stem(word) for word in words} or {*self.names[column.name][:1]}  # a name such as # has no words
            if "by" in words:  # requested by: who, not what
                continue
            nouns |= {key[-1] for key in map(stems_of, column.synonyms) if key}
            of_table = split_name(self.table.name)
            nouns |= {stem(long) for long in of_table for word in words if is_short_for(word, stem(long))}
            if self.is_key(column):
                row_nouns |= nouns
            else:
                found.append(Entity(self._alike(nouns), column, column.name))
        main = self.main_date
        if main is not None and not main.nulls:  # the date of an order: the rows are orders
            plain = {*map(stem, (*DATING, "last", "next", "first"))} | PREPOSITIONS
            telling = {*self.names[main.name]} - plain
            events = [event for event, column in self.events.items() if column == main]
            row_nouns |= telling | {noun for event in events for noun in map(stem, EVENT_NOUNS.get(event, ()))}
        of_ids = frozenset[str]().union(*(entity.nouns for entity in found))
        nouns = row_nouns - self.elsewhere
        said = frozenset(nouns) if self._has_own_words else self._alike(nouns)
        own = Entity(said - of_ids - self.elsewhere, None, self.table.name)
        return (own, *found)

    def is_key(self, column: Column) -> bool:
        if column.name in self.joined:  # of another table, whose rows it identifies
            return False
        rows = self.table.row_count or 0
        varied = not column.sampled and bool(rows) and (column.cardinality or 0) >= 0.98 * rows
        return varied or column.name in self._keys

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset(key[0] for key in self.table.keys if len(key) == 1)

    def _alike(self, nouns: set[str]) -> frozenset[str]:
        groups = [group for group in self.lexicon.things if group & nouns]
        return frozenset(nouns).union(*groups)

    @cached_property
    def sexes(self) -> Mapping[str, Mapping[str, str]]:
        """The columns that hold a sex: which of `female` and `male` each value is."""
        spelt, found = self.lexicon.values["sex_values"], dict[str, Mapping[str, str]]()
        for column in self.table.columns:
            values = self.values.get(column.name, ())
            held = {value: sex for value in values for sex, words in spelt.items() if lower(value) in words}
            if len(held) >= 2 and len(values) <= 5:
                found[column.name] = held
        return found

    @cached_property
    def person(self) -> Entity | None:
        """The people of the table: its rows, or the only things among them that are persons."""
        persons = [entity for entity in self.entities if entity.nouns & self.lexicon.persons]
        if not persons and self.sexes:
            persons = [entity for entity in self.entities if entity.nouns & self.lexicon.more_persons]
        rows = [entity for entity in persons if entity.is_rows]
        return rows[0] if rows else persons[0] if len(persons) == 1 else None

    def name_columns(self, entity: Entity | None) -> tuple[Column, ...]:
        """The columns that name a thing: the name of the student."""
        names = [column for column in self.table.columns if self.of[column.name] == "name"]
        if entity is not None and not entity.is_rows:
            told = [c for c in names if entity.nouns & set(self.names[c.name])]
            bare = [c for c in names if {*split_name(c.name)} <= {*NAMING, "full", "first", "last"} - {"title"}]
            names = told or (bare if entity.nouns & self.lexicon.persons else [])
        return tuple(names)

    def column(self, name: str) -> Column:
        found = self.table.find(name)
        assert found is not None
        return found


def with_meanings(table: Table, values: Mapping[str, tuple[str, ...]]) -> Table:
    """The table with the meaning of each column, and the date of its rows."""
    known = meanings_of(table, values)
    columns = tuple(column.model_copy(update={"meaning": known.of[column.name]}) for column in table.columns)
    return table.model_copy(update={"columns": columns, "main_date": known.main_date.name if known.main_date else None})


def meanings_of(
    table: Table,
    values: Mapping[str, tuple[str, ...]],
    foreign: frozenset[str] = frozenset(),
    joined: Mapping[str, Joined] | None = None,
    metrics: Iterable[NamedMetric] = (),
) -> Meanings:
    named = {stems_of(name): one for one in metrics for name in (*one.synonyms, one.name.replace("_", " "))}
    aggregated = tuple(column for column in table.columns if column.aggregated)
    if aggregated:
        single = tuple(column for column in table.columns if not column.aggregated)
        table = table.model_copy(update={"columns": single})
    return Meanings(table, values, load(), foreign, joined or {}, named, aggregated=aggregated)
