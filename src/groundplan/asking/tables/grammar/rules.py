"""The composition rules: which phrases combine, and what the combination means. One rule is one line in RULES."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import cache, cached_property
from itertools import product
from typing import Any

from groundplan.asking.tables.grammar.lexicon import load
from groundplan.asking.tables.grammar.meanings import IDENTIFYING, NUMBERS, Entity, Meanings
from groundplan.asking.tables.grammar.names import KINDS
from groundplan.asking.tables.grammar.phrases import (
    Ask,
    Cond,
    Event,
    Field,
    Group,
    Mark,
    Measure,
    Number,
    PartOfDate,
    Rank,
    Rule,
    ShareOf,
    Span,
    Target,
    Thing,
    Unit,
    When,
)
from groundplan.asking.tables.grammar.senses import as_field, one_of
from groundplan.contracts.expression import (
    Aggregate,
    All,
    AnyOf,
    Arithmetic,
    Bins,
    Change,
    Column,
    Compare,
    Condition,
    Constant,
    DatePart,
    Elapsed,
    Expression,
    Missing,
    Moving,
    Not,
    Rows,
    Running,
    walk,
)
from groundplan.contracts.normal_form import mapped, normal_expression
from groundplan.contracts.schema import Column as SchemaColumn
from groundplan.text.names import singular, split_name
from groundplan.text.stems import stem

NAMED = {"mean": "average", "median": "median", "min": "lowest", "max": "highest", "std": "standard deviation of"}
MONEY = {
    "revenue": ("revenue", "sales", "income", "turnover", "выручка", "доход"),
    "cost": ("cost", "expense", "spend", "spent", "expenditure", "затраты", "расход"),
}
BAD = frozenset(
    stem(word)
    for line in (
        "cancelled cancel cancellation late delay refund return breach missed churn error defect complaint failure",
        "failed damaged lost overdue absence default отмена возврат",
    )
    for word in line.split()
)


class Builders:
    """The builders of the rules, over the meanings of one table. Each returns None for what does not fit."""

    def __init__(self, meanings: Meanings, amount: Expression | None, today: date) -> None:
        """`amount`: what a sale comes to, where the table has one such number."""
        self.meanings, self.today = meanings, today
        self.amount: Field | None = None
        if isinstance(amount, Column):
            self.amount = as_field(meanings.column(amount.name), meanings)
        elif amount is not None:
            self.amount = Field(amount, "revenue", "amount")

    @cached_property
    def money(self) -> Field | None:
        """What a row comes to: the amount, or the only column of amounts."""
        amounts = [column for column in self.meanings.table.columns if self.meanings.of[column.name] == "amount"]
        return self.amount or (as_field(amounts[0], self.meanings) if len(amounts) == 1 else None)

    # measures

    def function_of_field(self, function: Mark, field: Field) -> Measure | None:
        if field.meaning == "flag":
            return self.flag_rate(field) if function.value == "mean" else None
        if field.meaning == "date" and function.value in ("min", "max"):
            return Measure(_aggregate(function.value, field.expression), f"{function.value} {field.name}", base=field)
        if field.meaning == "identifier" and self.is_named_identifier(field, function):
            return Measure(_aggregate(function.value, field.expression), field.name, base=field)  # refused by name
        if field.meaning not in NUMBERS:
            return None
        name = field.name if field.column or function.value == "sum" else f"{NAMED[function.value]} {field.name}"
        return Measure(_aggregate(function.value, field.expression), name, base=field)

    def function_of_number(self, function: Mark, field: Field) -> Measure | None:
        """The average number of repairs is no share of those that have some."""
        return None if field.meaning == "flag" else self.function_of_field(function, field)

    def is_named_identifier(self, field: Field, function: Mark) -> bool:
        """Called an id or a code, and to be added up or averaged. The total order number may be how many there are."""
        last = (split_name(field.name) or ("",))[-1]
        counted = last in ("number", "no", "номер") and function.value == "sum"
        return last in IDENTIFYING and function.value in ("sum", "mean", "median", "std") and not counted

    def function_of_measure(self, function: Mark, measure: Measure) -> Measure | None:
        """The average of a ratio is the ratio of sums; the total of a count is the count."""
        if measure.counts is not None:
            return measure if function.value == "sum" else None
        ratio = isinstance(measure.expression, Arithmetic) and measure.expression.operator == "/"
        return measure if ratio and function.value in ("mean", "sum") else None

    def function_of_things(self, function: Mark, thing: Thing) -> Measure | None:
        """The average receipt: what it comes to."""
        entity = thing.entity
        amount = self.amount
        if function.value not in ("mean", "median") or amount is None or entity.nouns & self.meanings.lexicon.persons:
            return None
        if function.value == "median" or entity.is_rows:
            return (
                Measure(_aggregate(function.value, amount.expression), thing.said, base=amount)
                if entity.is_rows
                else None
            )
        return Measure(_ratio(_aggregate("sum", amount.expression), self.number_of(entity)), thing.said)

    def count_things(self, thing: Thing) -> Measure:
        called = thing.said or thing.entity.called
        return Measure(self.number_of(thing.entity), called, counts=thing.entity, date=thing.date)

    def distinct_things(self, thing: Thing) -> Measure | None:
        return None if thing.entity.is_rows and thing.said == "rows" else self.count_things(thing)

    def count_field(self, field: Field) -> Measure | None:
        if self.names_rows(field):
            return Measure(Rows(), field.name, counts=self.meanings.entities[0])
        if field.meaning in ("category", "name", "identifier") and field.whole:
            return Measure(_aggregate("count_distinct", field.expression), f"number of {field.name}", base=field)
        things = field.meaning == "rate" and field.column is not None and self.meanings.names_things(field.column)
        if field.meaning == "count" or things:  # how many goals: nobody asks for an average so
            return Measure(_aggregate("sum", field.expression), field.name, base=field)
        return None

    def count_names(self, field: Field) -> Measure | None:
        """Model count, where each row has a model of its own."""
        return self.count_field(field) if self.names_rows(field) else None

    def rows_counted(self) -> Measure:
        return self.count_things(Thing(self.meanings.entities[0], "rows"))

    def names_rows(self, field: Field) -> bool:
        """Most rows have a name of their own: counting names is counting rows. So is counting keys."""
        if field.meaning == "identifier" and field.column is not None and (field.name,) in self.meanings.table.keys:
            return True
        rows = self.meanings.table.row_count or 0
        many = field.column is not None and (field.column.cardinality or 0) > 0.5 * rows
        return field.meaning == "name" and many and rows >= 20

    def distinct_field(self, field: Field) -> Measure | None:
        if field.meaning in ("category", "name", "identifier") and field.whole:
            return Measure(_aggregate("count_distinct", field.expression), f"number of {field.name}", base=field)
        return None

    def much(self, field: Field) -> Measure | None:
        if field.meaning in ("amount", "count"):
            return Measure(_aggregate("sum", field.expression), field.name, base=field)
        return None

    def flag_rate(self, field: Field) -> Measure | None:
        yes = self.yes(field)
        made = self.condition_rate(yes) if yes is not None else None
        return replace(made, name=f"{field.name} rate", bad=is_bad(field.name)) if made is not None else None

    def condition_rate(self, condition: Cond) -> Measure | None:
        if condition.groups or condition.versus:
            return None
        name = ", ".join(map(str, condition.values)) or ", ".join(columns_of(condition.condition))
        known = condition.known or self.decided(condition)
        whole = Rows() if known is None else Rows(where=known)
        return Measure(_ratio(Rows(where=condition.condition), whole), f"{name} rate", bad=is_bad(name))

    def decided(self, condition: Cond) -> Condition | None:
        """The fail rate is one of what was inspected: a column of outcomes may have none yet."""
        column = self.meanings.column(condition.column) if condition.column else None
        if column is None or not column.nulls or not condition.is_plain or (column.cardinality or 0) < 2:
            return None
        return Not(part=Missing(of=Column(name=column.name)))

    def percentile(self, number: Number, field: Field) -> Measure | None:
        if field.meaning not in NUMBERS or not 0 < number.value < 100:
            return None
        made = Aggregate(function="percentile", of=field.expression, percent=number.value)
        return Measure(made, f"{number.value:g}th percentile", base=field)

    def per(self, above: Measure, below: Any) -> Measure | None:
        """Cost per conversion, visits per patient: a ratio; of a category, groups are meant instead."""
        right = self.counted(below)
        if right is None or above.grain:
            return None
        left = above.expression
        if isinstance(left, Aggregate) and left.function == "mean" and above.base is not None:
            if isinstance(right, Rows):
                return above  # the average minutes per visit, where a row is a visit
            left = _aggregate("sum", above.base.expression)
        if normal_expression(left) == normal_expression(right):
            return None
        return Measure(_ratio(left, right), f"{above.name} per {_called(below)}")

    def field_per(self, above: Field, below: Any) -> Measure | None:
        if not self.adds_up(above):
            return None
        return self.per(Measure(_aggregate("sum", above.expression), above.name, base=above), below)

    def adds_up(self, field: Field) -> bool:
        """An amount or a count, or a number of which nothing tells that it must not be added up."""
        known = field.column is not None and {*self.meanings.names[field.name]} & self.meanings.lexicon.kinds
        return field.meaning in ("amount", "count") or (field.meaning == "rate" and bool(field.column) and not known)

    def counted(self, value: Any) -> Expression | None:
        """Possible parts of a ratio: things, a total, a number that adds up."""
        if isinstance(value, Thing):
            return self.number_of(value.entity)
        if isinstance(value, Measure):
            totals = isinstance(value.expression, Rows) or getattr(value.expression, "function", "") == "sum"
            return value.expression if totals and not value.grain else None
        if isinstance(value, Field) and value.whole and self.adds_up(value) and not self.is_few(value):
            return _aggregate("sum", value.expression)
        if isinstance(value, Field) and value.column and {*self.meanings.names[value.name]} & {*map(stem, SIZES)}:
            return _aggregate("sum", value.expression)
        return None

    def number_of(self, entity: Entity) -> Expression:
        return Rows() if entity.column is None else _aggregate("count_distinct", Column(name=entity.column.name))

    def usual(self, field: Field) -> Measure | None:
        if field.meaning not in NUMBERS:
            return None
        named = field.column.usual if field.column else None
        function = named or ("sum" if field.meaning in ("amount", "count") else "mean")
        return Measure(_aggregate(function, field.expression), field.name, usual=True, base=field)

    def share_of(self, value: Measure | Field | Thing, by: Group | None = None) -> ShareOf | None:
        """Of what adds up; `by`: the share of each region in the revenue."""
        measure = self.measured(value)
        if measure is None or (isinstance(value, Field) and value.meaning not in ("amount", "count")):
            return None
        of = measure.expression
        adds_up = not isinstance(of, Arithmetic) and not (isinstance(of, Aggregate) and of.function == "defined")
        return ShareOf(measure, by) if adds_up and not (measure.sides or measure.grain) else None

    def measured(self, value: Any) -> Measure | None:
        if isinstance(value, Field):
            return self.usual(value)
        if isinstance(value, Thing):
            money = self.money if self.meanings.rows_are_money and value.entity.is_rows else None
            return self.usual(money) if money is not None else self.count_things(value)
        return value  # type: ignore[no-any-return]

    def change_of(self, change: Mark, value: Any) -> Measure | None:
        measure = self.measured(value)
        if measure is None or measure.grain or measure.sides:
            return None
        return replace(measure, sides=True, name=f"{measure.name} {change.value}", usual=False)

    def over_prior(self, prior: Mark, value: Any) -> Measure | None:
        measure = self.measured(value)
        if measure is None or measure.grain:
            return None
        made = Change(of=measure.expression, against="previous", ratio=True)
        return Measure(
            made,
            f"{measure.name.removesuffix(' change').removesuffix(' ratio')} growth",
            grain=prior.value,  # type: ignore[arg-type]
            base=measure.base,
        )

    def prior_change(self, prior: Mark) -> Mark:
        return Mark("over_prior", prior.value)

    def running(self, value: Any) -> Measure | None:
        measure = self.measured(value)
        if measure is None or measure.grain or isinstance(measure.expression, Arithmetic):
            return None
        if isinstance(measure.expression, Aggregate) and measure.expression.function not in ("sum", "count"):
            return None
        return Measure(Running(of=measure.expression), f"running {measure.name}", grain=None, base=measure.base)

    def moving(self, number: Number, unit: Unit, value: Any) -> Measure | None:
        measure = self.measured(value)
        if measure is None or not 2 <= number.value <= 1000:
            return None
        expression = measure.expression
        made = Moving(of=expression, periods=int(number.value))
        return Measure(made, f"moving average of {measure.name}", grain=unit.grain, base=measure.base)

    def which_measure(self, value: Any) -> Any:
        return self.measured(value) if isinstance(value, Field) else value

    def much_of_all(self) -> Measure | None:
        amount = self.amount
        return self.much(amount) if amount else None

    def headcount(self) -> Measure | None:
        """How many people there are now."""
        ended = self.current()
        if not (self.meanings.person and self.meanings.person.is_rows):
            return None
        return Measure(Rows(where=ended.condition) if ended else Rows(), "headcount")

    def per_unit_of(self, above: Any, unit: Unit, field: Field) -> Measure | None:
        """Charge per day of stay."""
        measure = self.measured(above)
        if measure is None or not isinstance(field.expression, Elapsed) or measure.grain:
            return None
        below = field.expression.model_copy(update={"unit": unit.grain})
        left = measure.expression
        if measure.base is not None and isinstance(left, Aggregate) and left.function == "mean":
            left = _aggregate("sum", measure.base.expression)
        ends = [self.meanings.column(name) for name in columns_of(below)]
        if any(column.nulls for column in ends):  # what has not ended yet has no days
            left = under(left, Not(part=Missing(of=below)))
        return Measure(_ratio(left, _aggregate("sum", below)), f"{measure.name} per {unit.grain}")

    def generic_field(self, field: Field, generic: Mark) -> Field | None:
        """Insurance type, amount spent, parts cost: words that only say what kind of column it is."""
        if field.column is None or field.meaning == "date":
            return None
        if generic.value in MONEY:
            own = {*self.meanings.names[field.name]}
            against = {stem(word) for kind, words in MONEY.items() if kind != generic.value for word in words}
            alike = {stem(word) for word in MONEY[generic.value]}
            others = [name for name, key in self.meanings.names.items() if name != field.name and {*key} <= alike]
            return field if field.meaning == "amount" and not own & against and not others else None
        if generic.value == "name":  # a customer's name is neither the customer's id nor type
            kind = {*self.meanings.names[field.name]} & KINDS
            return field if field.meaning in ("category", "name") and not kind else None
        return field if (generic.value == "number") == (field.meaning in NUMBERS) else None

    def said_twice(self, left: Field, right: Field) -> Field | None:
        """Категории товаров, where one column is called by both words."""
        return left if left.column is not None and left == right else None

    # durations

    def elapsed(self, start: Field, end: Field) -> Field | None:
        """Between pickup and delivery."""
        if start.column is None or end.column is None or start.column == end.column:
            return None
        made = Elapsed(start=start.expression, end=end.expression, unit="day")
        return Field(made, f"days from {start.name} to {end.name}", "rate")

    def in_span(self, span: Span, field: Field) -> Field | None:
        """Days to close, hours of downtime: the duration in that unit."""
        if isinstance(field.expression, Elapsed):
            made = field.expression.model_copy(update={"unit": span.unit})
            return Field(made, f"{field.name} in {span.unit}s".replace("days from", "time from"), "rate")
        return field if field.column is not None and self.unit_of(field.column) == span.unit else None

    def ratio_of(self, above: Field, below: Field) -> Measure | None:
        """Tips as a share of the bill."""
        parts = [self.usual(field) for field in (above, below)]
        if any(part is None for part in parts) or above == below:
            return None
        sums = [_aggregate("sum", field.expression) for field in (above, below)]
        return Measure(_ratio(sums[0], sums[1]), f"{above.name} / {below.name}")

    def event_within(self, event: Event, compare: Mark, number: Number, span: Span) -> Cond | None:
        """Let within 30 days: from the main date on."""
        main = self.meanings.main_date
        if main is None or main == event.column:
            return None
        made = Elapsed(start=Column(name=main.name), end=Column(name=event.column.name), unit=span.unit)
        return self.compare_field(Field(made, f"{span.unit}s until {event.column.name}", "rate"), compare, number)

    def longest(self, mark: Mark, value: Any) -> Rank | None:
        """The longest average wait: of a number that is a time. The cheapest rent: of one that is paid."""
        direction, kind = mark.value.split()
        base = value.base if isinstance(value, Measure) else value
        if base is None:
            return None
        timed = isinstance(base.expression, Elapsed) or (base.column and self.unit_of(base.column) is not None)
        paid = base.meaning == "amount" or self.is_price(base.name)
        fits = timed if kind == "duration" else paid if kind == "price" else False
        return Rank(direction, 1, None, value) if fits else None

    def is_price(self, name: str) -> bool:
        """A rating is no rate, though their stems are alike."""
        long = self.meanings.lexicon.written_out
        return any({word, singular(word), *long(word)} & PRICES for word in split_name(name))

    def most_done(self, mark: Mark) -> Mark:
        return Mark("frequent", mark.value)

    def lasted(self, compare: Mark, number: Number, span: Span, field: Field | None = None) -> Cond | None:
        """More than ten days to close, longer than 45 minutes."""
        field = field or self.dimension("duration")
        if field is None or number.percent or not number.said[:1].isdigit():
            return None
        if isinstance(field.expression, Elapsed):
            return self.compare_field(self.in_span(span, field) or field, compare, number)
        unit = self.unit_of(field.column) if field.column else None
        if unit is None:
            return None
        value = round(number.value * MINUTES[span.unit] / MINUTES[unit], 6)
        return self.compare_field(field, compare, replace(number, value=value))

    def unit_of(self, column: SchemaColumn) -> str | None:
        """The unit that the name of a number tells."""
        words = {*self.meanings.names[column.name]}
        return next((unit for unit, names in UNITS.items() if column.kind == "number" and words & names), None)

    # groups

    def by_field(self, field: Field) -> Group | None:
        if field.meaning == "date":
            return Group(field.name, time=True, named=True)
        if field.meaning in ("category", "name", "flag", "identifier", "year"):
            return Group(field.name)
        return Group(field.name) if self.is_few(field) else None

    def is_few(self, field: Field) -> bool:
        """Stars, rooms, items of an order: a number with so few values that they make groups."""
        few = (field.column.cardinality or 99) if field.column is not None else 99
        whole = field.column is not None and "int" in field.column.type.lower()
        return few <= 30 and (field.meaning == "rate" or (whole and few * 20 <= (self.meanings.table.row_count or 0)))

    def by_number(self, field: Field) -> Group | None:
        """By the number of rooms."""
        return Group(field.name) if field.meaning in NUMBERS and self.is_few(field) else None

    def by_thing(self, thing: Thing) -> Group | None:
        if thing.entity.is_rows:
            return None
        assert thing.entity.column is not None
        return Group(thing.entity.column.name)

    def at_grain(self, unit: Unit) -> Group | None:
        if unit.grain == "hour":
            return self.part_group(PartOfDate("hour"))
        if unit.date is not None:
            return Group(unit.date, grain=unit.grain, time=True, named=True)
        date = self.meanings.main_date
        return Group(date.name, grain=unit.grain, time=True) if date else None

    def part_group(self, part: PartOfDate) -> Group | None:
        date = self.meanings.main_date
        if date is None or (part.part == "hour" and "time" not in date.type.lower()):
            return None
        return Group(part.part, DatePart(of=Column(name=date.name), part=part.part))

    def bins_of(self, field: Field, width: Number) -> Group | None:
        """Weights with a bin size of 500."""
        if field.meaning not in NUMBERS or width.percent or width.value <= 0:
            return None
        return Group(field.name, Bins(of=field.expression, width=width.value))

    def two_groups(self, left: Group, field: Field) -> tuple[Group, ...] | None:
        right = self.by_field(field)
        return (left, right) if right and right != left else None

    # conditions

    def value_pair(self, left: Cond, right: Cond) -> Cond | None:
        if left.negated or right.negated or left.groups or right.groups or left.versus or right.versus:
            return None
        if left.weekday and right.weekday:
            either = AnyOf(parts=(left.condition, right.condition))
            return replace(left, condition=either, values=(*left.values, *right.values))
        if left.column is None or left.column != right.column or not (left.values and right.values):
            return None
        return replace(one_of(left.column, (*left.values, *right.values)), named=left.named or right.named)

    def versus(self, left: Cond, right: Cond) -> Cond | None:
        """Two values that are compared with each other."""
        if left.negated or right.negated or left.versus or right.versus or set(left.values) & set(right.values):
            return None
        made = self.value_pair(left, right)
        return replace(made, named=False, versus=True) if made else None

    def value_of_field(self, value: Cond, field: Field) -> Cond | None:
        fits = value.column == field.name and not value.groups and not value.negated
        return replace(value, named=True) if fits else None

    def not_condition(self, condition: Cond) -> Cond | None:
        if condition.negated or condition.groups or condition.versus:
            return None
        return replace(condition, condition=_negated(condition.condition), negated=True)

    def by_value(self, condition: Cond) -> Cond | None:
        """Paid by card, came in by email."""
        return condition if condition.is_plain and not condition.named else None

    def compare_field(self, field: Field, compare: Mark, number: Number) -> Cond | None:
        if field.meaning not in (*NUMBERS, "year") or (number.percent and not self.is_percent(field)):
            return None
        if field.meaning in ("rate", "year") and self.is_out_of_range(field, number.value):
            return None
        return Cond(Compare(left=field.expression, operator=compare.value, right=Constant(value=number.value)))

    def compare_before(self, field: Field, compare: Mark, number: Number) -> Cond | None:
        """Beds over ten; not where a noun behind the number says what there are ten of."""
        fits = not number.counts or field.name in number.counts
        return self.compare_field(field, compare, number) if fits else None

    def is_out_of_range(self, field: Field, value: float) -> bool:
        """Fifty or more ratings, where a rating is up to five."""
        known = (field.column.least, field.column.greatest) if field.column else (None, None)
        least, greatest = (end if isinstance(end, int | float) else None for end in known)
        return least is not None and greatest is not None and not least <= value <= greatest

    def is_percent(self, field: Field) -> bool:
        """Whether the column's numbers are percentages: up to about a hundred, and not an amount."""
        greatest = field.column.greatest if field.column else None
        return field.meaning == "rate" and isinstance(greatest, int | float) and 1 < greatest <= 150

    def signed(self, sign: Mark, field: Field) -> Cond | None:
        """Negative amounts."""
        return self.compare_field(field, sign, Number(0))

    def more_kinds(self, compare: Mark, number: Number, field: Field) -> Cond | None:
        """In at least three zones."""
        if field.meaning not in ("category", "identifier") or not field.whole or field.column is None:
            return None
        if number.percent or number.value > (field.column.cardinality or 0):
            return None
        left = Rows() if self.names_rows(field) else _aggregate("count_distinct", field.expression)
        return Cond(Compare(left=left, operator=compare.value, right=Constant(value=number.value)), groups=True)

    def mean_compared(self, function: Mark, compare: Mark, number: Number, field: Field) -> Cond | None:
        """Who average under 85 % attendance."""
        made = self.compare_field(field, compare, number)
        if made is None or not isinstance(made.condition, Compare) or function.value not in ("mean", "median"):
            return None
        measure = _aggregate(function.value, field.expression)
        return Cond(made.condition.model_copy(update={"left": measure}), groups=True)

    def not_having(self, having: Cond) -> Cond | None:
        """Ignore stores with fewer than ten sales."""
        made = having.condition
        opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
        if not isinstance(made, Compare) or made.operator not in opposite:
            return None
        return replace(having, condition=made.model_copy(update={"operator": opposite[made.operator]}))

    def field_at_least(self, field: Field, number: Number) -> Cond | None:
        return self.compare_field(field, Mark("compare", ">="), number)

    def field_is_number(self, field: Field, number: Number) -> Cond | None:
        """Grade 9, three rooms."""
        if field.column is None or field.column.kind != "number" or (field.column.cardinality or 0) > 40:
            return None
        if field.meaning not in ("rate", "year", "category"):
            return None
        if self.is_out_of_range(field, number.value):
            return None
        return Cond(
            Compare(left=field.expression, operator="=", right=Constant(value=number.value)),
            field.name,
            (number.value,),
        )

    def number_field(self, number: Number, field: Field) -> Cond | None:
        if not isinstance(number.value, int) or field.meaning not in ("rate", "category") or field.column is None:
            return None
        return self.field_is_number(field, number) if (field.column.cardinality or 99) <= 20 else None

    def between(self, field: Field, low: Number, high: Number) -> Cond | None:
        if field.meaning not in NUMBERS or low.value >= high.value:
            return None
        return Cond(
            All(
                parts=(
                    Compare(left=field.expression, operator=">=", right=Constant(value=low.value)),
                    Compare(left=field.expression, operator="<=", right=Constant(value=high.value)),
                )
            )
        )

    def more_times(self, compare: Mark, number: Number) -> Cond | None:
        return self.more_things(compare, number, Thing(self.meanings.entities[0]))

    def more_things(self, compare: Mark, number: Number, thing: Thing) -> Cond | None:
        if number.percent:
            return None  # fewer than 80 % of them is no number of things
        left = self.number_of(thing.entity)
        return Cond(Compare(left=left, operator=compare.value, right=Constant(value=number.value)), groups=True)

    def more_such(self, compare: Mark, number: Number, such: Cond) -> Cond | None:
        """Cities with more than 50 refunds, where a refund is a row with that value."""
        if not such.is_plain or such.named or number.percent or self.meanings.of.get(such.column or "") == "flag":
            return None
        left = under(Rows(), such.condition)
        return Cond(Compare(left=left, operator=compare.value, right=Constant(value=number.value)), groups=True)

    def running_such(self, such: Cond) -> Measure | None:
        """Cumulative adoptions."""
        happened = isinstance(such.condition, Not) and isinstance(such.condition.part, Missing)
        if (not such.is_plain or such.named) and not happened:
            return None
        name = ", ".join(map(str, such.values)) or "number"
        return Measure(Running(of=under(Rows(), such.condition)), f"running {name}")

    def extreme(self, field: Field, mark: Mark) -> Measure | None:
        """The age of the oldest."""
        direction, kind = mark.value.split()
        meant = self.dimension(kind)
        if field.meaning not in NUMBERS or meant is None or meant.expression != field.expression:
            return None
        return self.function_of_field(Mark("function", "max" if direction == "top" else "min"), field)

    def compare_measure(self, measure: Measure, compare: Mark, number: Number) -> Cond | None:
        own = {part.name for part in (measure.base,) if part} | {of.called for of in (measure.counts,) if of}
        if measure.grain or measure.sides or (number.counts and not own & number.counts):
            return None
        ratio = isinstance(measure.expression, Arithmetic)
        if number.percent and not ratio and not (measure.base and self.is_percent(measure.base)):
            return None
        value = number.value / 100 if number.percent and ratio else number.value
        return Cond(
            Compare(left=measure.expression, operator=compare.value, right=Constant(value=value)),
            groups=True,
        )

    def missing(self, value: Field | Thing | Event) -> Cond | None:
        """Orders without a customer, not returned. A flag is no or yes, not missing."""
        column = value.entity.column if isinstance(value, Thing) else value.column
        flag = isinstance(value, Field) and value.meaning == "flag"
        return Cond(Missing(of=Column(name=column.name))) if column and column.nulls and not flag else None

    def present(self, value: Field | Thing | Event) -> Cond | None:
        made = self.missing(value)
        return Cond(Not(part=made.condition)) if made else None

    def value_of_thing(self, value: Cond, thing: Thing) -> Cond | None:
        """German customers: the thing whose value it is, in a table of its own."""
        joined = self.meanings.joined.get(value.column or "")
        return value if joined is not None and joined.nouns & thing.entity.nouns else None

    def yes(self, field: Field) -> Cond | None:
        if field.meaning != "flag" or field.column is None:
            return None
        value = self.meanings.yes_value(field.column)
        if value is None:
            return None
        unknown = field.column.nulls and self.meanings.no_value(field.column) is not None
        known = Not(part=Missing(of=field.expression)) if unknown else None
        return replace(one_of(field.name, (value,)), known=known)

    def no_flag(self, field: Field) -> Cond | None:
        if field.meaning != "flag" or field.column is None:
            return None
        value = self.meanings.no_value(field.column)
        if value is None and field.column.nulls:  # a tick beside empty cells
            return Cond(Missing(of=field.expression))
        return None if value is None else one_of(field.name, (value,))

    def in_period(self, event: Event, when: When) -> Cond:
        return Cond(within(event.column.name, when), date=event.column.name)

    def date_in_period(self, field: Field, when: When) -> Cond | None:
        if field.meaning == "year":
            return years_within(field.expression, when)
        return Cond(within(field.name, when), date=field.name) if field.meaning == "date" else None

    def current(self) -> Cond | None:
        ends = [self.meanings.events[e] for e in ("end", "close", "check_out") if e in self.meanings.events]
        ends = [column for column in ends if column.nulls]
        return Cond(Missing(of=Column(name=ends[0].name))) if ends else None

    def undone(self, mark: Mark) -> Cond | None:
        column = self.meanings.events.get(mark.value)
        return Cond(Missing(of=Column(name=column.name))) if column and column.nulls else None

    # what is asked for

    def target_rank(self, target: Target, rank: Rank) -> Rank | None:
        """The day with the highest revenue."""
        fits = rank.target is None and rank.by is not None and rank.limit == 1
        return replace(rank, target=target) if fits else None

    def target(self, value: Any) -> Target | None:
        if isinstance(value, Field) and value.meaning in NUMBERS:
            return None
        return Target(value)

    def which(self, target: Target) -> Ask:
        return Ask(target)

    def which_few(self, number: Number, target: Target) -> Ask | None:
        """Which five countries: a ranking says by what."""
        whole = number.value == int(number.value)
        return Ask(target, limit=int(number.value)) if whole and 1 <= number.value <= 1000 else None

    def who(self) -> Ask | None:
        return Ask(Target(Thing(self.meanings.person, "who")), person=True) if self.meanings.person else None

    def ranked(self, mark: Mark, target: Target, number: Number | None = None) -> Rank | None:
        """Top five stores, the best store, the most expensive item."""
        limit = 1 if number is None else int(number.value)
        if limit < 1 or limit > 1000:
            return None
        if mark.kind == "adjective":
            direction, kind = mark.value.split()
            by = self.dimension(kind)
            return Rank(direction, limit, target, by) if by is not None else None
        if mark.kind == "frequent":
            return Rank(mark.value, limit, target, self.count_things(Thing(self.meanings.entities[0])))
        if mark.kind == "selling":
            amount = self.amount
            measure = self.usual(amount) if amount else None
            return Rank(mark.value, limit, target, measure) if measure else None
        judged = mark.kind == "judged" or isinstance(target.value, Field)
        return Rank(mark.value, limit, target, None, judged=judged and number is None)

    def dimension(self, kind: str) -> Field | None:
        """The column that an adjective compares by."""

        wanted = {
            "price": ("price", "цена"),
            "age": ("age", "возраст"),
            "weight": ("weight", "вес"),
            "salary": ("salary", "оклад", "зарплата"),
        }
        if kind in ("date", "start"):
            date = self.meanings.events.get("start") if kind == "start" else self.meanings.main_date
            return as_field(date, self.meanings) if date else None
        if kind == "duration":
            lasting = [
                as_field(column, self.meanings)
                for column in self.meanings.table.columns
                if {*self.meanings.names[column.name]} & {*map(stem, ("duration", "length", "длительность"))}
                and column.kind == "number"
            ]
            pair = self.meanings.duration
            if pair is None or (lasting and pair[0] != self.meanings.main_date):
                return lasting[0] if len(lasting) == 1 else None
            made = Elapsed(start=Column(name=pair[0].name), end=Column(name=pair[1].name))
            return Field(made, "duration in days", "rate")
        named = [
            as_field(column, self.meanings)
            for column in self.meanings.table.columns
            if column.kind == "number"
            and ({*self.meanings.names[column.name]} & {*map(stem, wanted.get(kind, (kind,)))})
        ]
        return named[0] if len(named) == 1 else None

    def highest(self, mark: Mark, value: Any, number: Number | None = None) -> Rank | None:
        """The highest score, the most visits: what is asked for has it."""
        limit = 1 if number is None else number.value
        if mark.kind not in ("superlative", "judged") or not 1 <= limit <= 1000:
            return None
        by = value if isinstance(value, Field) else self.measured(value)
        if isinstance(value, Thing) and mark.kind == "judged":
            return None  # by what?
        if isinstance(by, Field) and (by.meaning not in NUMBERS or (mark.kind == "judged" and by.meaning != "rate")):
            return None
        return Rank(mark.value, int(limit), None, by) if by is not None else None

    def rated(self, mark: Mark, field: Field, target: Target, number: Number | None = None) -> Rank | None:
        """The lowest rated tutor, the three best paid: by the number that the participle names."""
        limit = 1 if number is None else number.value
        fits = field.meaning in NUMBERS and 1 <= limit <= 1000 and target.value != field
        return Rank(mark.value, int(limit), target, field) if fits else None

    def rank_all(self, target: Target, value: Any) -> Rank | None:
        """Rank the agents by revenue: all of them."""
        measure = self.measured(value)
        return Rank("top", None, target, value if isinstance(value, Field) else measure) if measure else None

    def most_in_total(self, mark: Mark, field: Field) -> Rank | None:
        """The most rent, where nothing tells whether rents are added up: perhaps the total is meant."""
        known = field.column is None or {*self.meanings.names[field.name]} & self.meanings.lexicon.kinds
        if field.meaning != "rate" or known or mark.parts[0] not in MOST:
            return None
        total = Measure(_aggregate("sum", field.expression), field.name, base=field)
        return Rank(mark.value, 1, None, total)

    def target_by(self, rank: Rank, value: Any) -> Rank | None:
        if rank.by is not None:
            return None
        measure = self.measured(value)
        return (
            replace(rank, by=value if isinstance(value, Field) else measure, judged=False)
            if measure is not None
            else None
        )

    def by_measure(self, value: Any) -> Any:
        """The measure of a ranking that was said before."""
        measure = self.measured(value)
        return (value if isinstance(value, Field) else measure) if measure is not None else None

    def sorted_by(self, value: Any) -> Rank | None:
        measure = self.measured(value)
        return Rank("top", None, None, value if isinstance(value, Field) else measure) if measure is not None else None

    def total_count(self, function: Mark, count: Mark) -> Mark | None:
        return count if function.value == "sum" else None

    def first_few(self, mark: Mark, number: Number) -> Rank | None:
        """Sales by region, top 3."""
        whole = number.value == int(number.value) and not number.percent
        return Rank(mark.value, int(number.value)) if whole and 1 <= number.value <= 1000 else None

    def order(self, mark: Mark) -> Rank:
        direction, _, judged = mark.value.partition(" ")
        return Rank(direction, None, judged=bool(judged))


def columns_of(node: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.name for part in walk(node) if isinstance(part, Column)))


def is_bad(name: str) -> bool:
    """Whether the worst rate of it is the highest."""
    words = {part for word in split_name(name) for part in (word, *load().written_out(word))}
    return bool({*map(stem, words)} & BAD)


def years_within(of: Expression, when: When) -> Cond | None:
    """Born after 1995, where years are numbers."""
    start, end = when.period.start, when.period.end
    parts: list[Condition] = []
    if start != date.min:
        parts.append(Compare(left=of, operator=">=", right=Constant(value=start.year)))
    if end != date.max:
        parts.append(Compare(left=of, operator="<", right=Constant(value=end.year)))
    whole = all((day.month, day.day) == (1, 1) for day in (start, end) if day not in (date.min, date.max))
    return Cond(parts[0] if len(parts) == 1 else All(parts=tuple(parts))) if parts and whole else None


def within(column: str, when: When) -> Condition:
    """From the first day up to, not including, the day after the last."""

    parts: list[Condition] = []
    of = Column(name=column)
    if when.period.start != date.min:
        parts.append(Compare(left=of, operator=">=", right=Constant(value=when.period.start.isoformat())))
    if when.period.end != date.max:
        parts.append(Compare(left=of, operator="<", right=Constant(value=when.period.end.isoformat())))
    return parts[0] if len(parts) == 1 else All(parts=tuple(parts))


def under(node: Any, where: Condition) -> Any:
    """The measure of those rows only."""
    if isinstance(node, Rows | Aggregate):
        both = where if node.where is None else All(parts=(node.where, where))
        return node.model_copy(update={"where": both})
    return mapped(node, lambda part: under(part, where))


def _aggregate(function: str, of: Expression) -> Aggregate:
    return Aggregate(function=function, of=of)


def _ratio(left: Expression, right: Expression) -> Arithmetic:
    return Arithmetic(operator="/", left=left, right=right)


def _called(value: Any) -> str:
    return str(value.said if isinstance(value, Thing) else value.name)


def _negated(condition: Condition) -> Condition:
    match condition:
        case Not(part=part):
            return part
        case Compare(operator="=") as compare:
            return compare.model_copy(update={"operator": "!="})
        case _:
            return Not(part=condition)


SIZES = ("sqm", "m2", "area", "kg", "km", "hours", "minutes", "miles", "litres", "площадь")
MINUTES = {"second": 1 / 60, "minute": 1, "hour": 60, "day": 1440, "week": 10080, "month": 43829.1, "year": 525949.2}
UNITS = {
    unit: frozenset(map(stem, words))
    for unit, words in {
        "second": ("sec", "secs", "second", "seconds", "секунда", "сек"),
        "minute": ("min", "mins", "minute", "minutes", "минута", "мин"),
        "hour": ("h", "hr", "hrs", "hour", "hours", "час"),
        "day": ("day", "days", "night", "nights", "день", "дней"),
        "week": ("week", "weeks", "неделя"),
        "month": ("month", "months", "месяц"),
        "year": ("year", "years", "лет"),
    }.items()
}
VALUE = "measure|field|thing"
PRICES = frozenset({"price", "rent", "fee", "fare", "rate", "charge", "cost", "цена", "аренда", "тариф"})
MOST = ("most", "least", "больше всего", "меньше всего")
MARK = "superlative|judged|frequent|adjective|selling"
SAID_TOO = 0.2  # for an optional part that is said

# What a phrase is made of, the builder with the places of the parts that it takes, and what the rule adds to the score.
# `a|b` is either of them, `a?` may be left out: its place is then the last that the builder takes, and is not given.
RULES: tuple[tuple[str, str, str, float], ...] = (
    # measures
    ("measure", "function field", "function_of_field 0 1", 0.3),
    ("measure", "field function", "function_of_field 1 0", 0.15),
    ("measure", "function thing|count field", "function_of_number 0 2", 0.2),
    ("measure", "function measure", "function_of_measure 0 1", 0.2),
    ("measure", "function thing", "function_of_things 0 1", -0.2),
    ("measure", "count thing", "count_things 1", 0.3),
    ("measure", "count field", "count_field 1", 0.2),
    ("measure", "count compound", "count_field 1", 0.3),
    ("measure", "count distinct thing", "distinct_things 2", 0.3),
    ("measure", "count distinct field", "distinct_field 2", 0.3),
    ("measure", "thing volume", "count_things 0", 0.3),
    ("measure", "field volume", "count_names 0", 0.3),
    ("measure", "headcount", "headcount", 0.3),
    ("measure", "much", "much_of_all", -0.3),
    ("measure", "much field", "much 1", 0.3),
    ("measure", "field rate", "flag_rate 0", 0.3),
    ("measure", "condition rate", "condition_rate 0", 0.0),
    ("measure", "number percentile field", "percentile 0 2", 0.5),
    ("measure", "percentile_of field", "percentile 0 1", 0.5),
    ("measure", "measure per measure", "per 0 2", 0.4),
    ("measure", "measure per thing|field", "per 0 2", 0.2),
    ("measure", "field per thing|field", "field_per 0 2", 0.2),
    ("measure", "measure|field per unit field", "per_unit_of 0 2 3", 0.5),
    ("measure", "field as_share field", "ratio_of 0 2", 0.5),
    ("measure", "field adjective", "extreme 0 1", 0.4),
    ("measure", "which|what measure|field", "which_measure 1", 0.1),
    ("measure", f"change {VALUE}", "change_of 0 1", 0.2),
    ("measure", f"{VALUE} change", "change_of 1 0", 0.2),
    ("over_prior", "over_prior change", "prior_change 0", 0.2),
    ("measure", f"over_prior {VALUE}", "over_prior 0 1", 0.3),
    ("measure", f"{VALUE} over_prior", "over_prior 1 0", 0.3),
    ("measure", f"running {VALUE}", "running 1", 0.3),
    ("measure", f"{VALUE} running", "running 0", 0.3),
    ("measure", "running condition", "running_such 1", 0.2),
    ("measure", f"number unit moving {VALUE}", "moving 0 1 3", 0.4),
    ("measure", f"number unit moving grain {VALUE}", "moving 0 1 4", 0.4),
    ("measure", f"moving {VALUE} number unit", "moving 2 3 1", 0.4),
    ("share", "which|what share", "which_measure 1", 0.1),
    ("share", f"share_word {VALUE}", "share_of 1", 0.3),
    ("share", f"share_word group {VALUE}", "share_of 2 1", 0.5),
    ("count", "function count", "total_count 0 1", 0.0),
    # columns and durations
    ("field", "between moment and|until moment", "elapsed 1 3", 0.6),
    ("field", "moment until moment", "elapsed 0 2", 0.3),
    ("field", "span field", "in_span 0 1", 0.2),
    ("field", "field span", "in_span 1 0", 0.2),
    ("field", "field generic", "generic_field 0 1", 0.1),
    ("field", "generic field", "generic_field 1 0", 0.1),
    ("field", "weak_field generic", "generic_field 0 1", 0.3),
    ("field", "field field", "said_twice 0 1", 0.1),
    # groups
    ("group", "by distinct? field|compound", "by_field 2", 0.3),
    ("group", "by thing", "by_thing 1", 0.2),
    ("group", "by count field", "by_number 2", 0.5),
    ("group", "by unit", "at_grain 1", 0.3),
    ("group", "by date_part", "part_group 1", 0.3),
    ("group", "grain", "at_grain 0", 0.0),
    ("group", "versus field", "by_field 1", 0.0),
    ("group", "field versus", "by_field 0", -0.1),
    ("group", "field bin_width number", "bins_of 0 2", 0.5),
    ("groups", "group and field", "two_groups 0 2", 0.3),
    # conditions
    ("condition", "condition or|and condition", "value_pair 0 2", 0.3),
    ("condition", "condition versus condition", "versus 0 2", 0.5),
    ("condition", "between condition and condition", "versus 1 3", 0.5),
    ("condition", "condition field", "value_of_field 0 1", 0.2),
    ("condition", "field condition", "value_of_field 1 0", 0.2),
    ("condition", "condition thing", "value_of_thing 0 1", 0.2),
    ("condition", "by condition", "by_value 1", 0.1),
    ("condition", "negation condition", "not_condition 1", 0.3),
    ("condition", "field compare number", "compare_before 0 1 2", 0.3),
    ("condition", "field number beyond", "compare_before 0 2 1", 0.2),
    ("condition", "compare number field", "compare_field 2 0 1", -0.2),
    ("condition", "field at_least", "field_at_least 0 1", 0.2),
    ("condition", "field number", "field_is_number 0 1", 0.0),
    ("condition", "number field", "number_field 0 1", 0.0),
    ("condition", "field between number and number", "between 0 2 4", 0.4),
    ("condition", "sign field", "signed 0 1", 0.3),
    ("condition", "compare number span field?", "lasted 0 1 2 3", 0.1),
    ("condition", "field compare number span", "lasted 1 2 3 0", 0.4),
    ("condition", "event compare number span", "event_within 0 1 2 3", 0.4),
    ("condition", "missing|lacking field present?", "missing 1", 0.3),
    ("condition", "missing|lacking thing", "missing 1", 0.3),
    ("condition", "field missing", "missing 0", 0.3),
    ("condition", "present field|thing", "present 1", 0.3),
    ("condition", "field present", "present 0", 0.2),
    ("condition", "field", "yes 0", -0.1),
    ("condition", "negation field", "no_flag 1", 0.3),
    ("condition", "event", "present 0", 0.0),
    ("condition", "negation event", "missing 1", 0.3),
    ("condition", "event period", "in_period 0 1", 0.3),
    ("condition", "field period", "date_in_period 0 1", 0.2),
    ("condition", "current", "current", 0.0),
    ("condition", "undone", "undone 0", 0.0),
    ("having", "function compare number field", "mean_compared 0 1 2 3", 0.4),
    ("having", "measure compare number", "compare_measure 0 1 2", 0.3),
    ("having", "compare number distinct? field", "more_kinds 0 1 3", 0.2),
    ("having", "number beyond distinct? field", "more_kinds 1 0 3", 0.2),
    ("having", "compare number times", "more_times 0 1", 0.3),
    ("having", "number beyond times", "more_times 1 0", 0.3),
    ("having", "compare number thing", "more_things 0 1 2", 0.3),
    ("having", "number beyond thing", "more_things 1 0 2", 0.3),
    ("having", "compare number condition", "more_such 0 1 2", 0.3),
    ("having", "negation target? having", "not_having 2", 0.2),
    # what is asked for, and in which order
    ("target", "field|compound|thing|unit|date_part", "target 0", 0.0),
    ("ask", "which target", "which 1", 0.3),
    ("ask", "list target", "which 1", 0.2),
    ("ask", "target where", "which 0", -0.1),
    ("ask", "who", "who", 0.0),
    ("ask", "which|list number target", "which_few 1 2", 0.4),
    ("ask", "number target", "which_few 0 1", -0.4),
    ("frequent", "superlative row_verb", "most_done 0", 0.2),
    ("frequent", "row_verb superlative", "most_done 1", 0.0),
    ("rank", f"{MARK} number? target", "ranked 0 2 1", 0.2),
    ("rank", f"number {MARK} target", "ranked 1 2 0", 0.4),
    ("rank", f"which target {MARK}", "ranked 2 1", 0.2),
    ("rank", f"superlative|judged {VALUE}", "highest 0 1", 0.2),
    ("rank", f"superlative|judged number {VALUE}", "highest 0 2 1", 0.3),
    ("rank", f"number superlative|judged {VALUE}", "highest 1 2 0", 0.3),
    ("rank", f"{VALUE} superlative", "highest 1 0", -0.2),
    ("rank", "superlative|judged number? participle target", "rated 0 2 3 1", 0.4),
    ("rank", "number superlative|judged participle target", "rated 1 2 3 0", 0.5),
    ("rank", f"ranking_word target by {VALUE}", "rank_all 1 3", 0.4),
    ("rank", "superlative field", "most_in_total 0 1", 0.2),
    ("rank", "adjective field|measure", "longest 0 1", 0.2),
    ("rank", f"rank by {VALUE}", "target_by 0 2", 0.3),
    ("rank", "which|what rank", "which_measure 1", 0.1),
    ("rank", "target rank", "target_rank 0 1", 0.1),
    ("rank", "sorted measure|field", "sorted_by 1", 0.2),
    ("order", "ordering", "order 0", 0.0),
    ("order", "sorted order", "which_measure 1", 0.2),
    ("order", "superlative number", "first_few 0 1", 0.0),
    ("by_measure", "by measure|field", "by_measure 1", 0.1),
    ("by_measure", "by thing", "by_measure 1", 0.0),
    ("by_measure", "by count", "rows_counted", 0.1),
    # charts
    ("binned", "by field bracket", "by_measure 1", 0.4),
    ("chart", "several chart", "which_measure 1", 0.2),
)


@cache
def _parsed() -> tuple[tuple[str, tuple[str, ...], str, tuple[int, ...], float], ...]:
    """Each rule as it is without alternatives and optional parts."""
    made = []
    for result, parts, line, bonus in RULES:
        name, *places = line.split()
        ways = [(*part.removesuffix("?").split("|"), *([""] if part.endswith("?") else [])) for part in parts.split()]
        optional = [place for place, part in enumerate(parts.split()) if part.endswith("?")]
        for way in product(*ways):
            said = [place for place, part in enumerate(way) if part]
            taken = tuple(said.index(place) for place in map(int, places) if place in said)
            more = SAID_TOO * sum(place in said for place in optional)
            made.append((result, tuple(filter(None, way)), name, taken, bonus + more))
    return tuple(made)


def rules_for(builders: Builders) -> list[Rule]:
    return [
        Rule(result, parts, getattr(builders, name), places, bonus) for result, parts, name, places, bonus in _parsed()
    ]
