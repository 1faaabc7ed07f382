"""What each named column is there for: measured, grouped by, or an axis of time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

from groundplan.asking.tables.columns import JOINED, PART, Mention, identifies, is_discrete, is_ordinal_time
from groundplan.asking.tables.conditions import compared_mentions, spent_mentions
from groundplan.asking.tables.scan import Scan
from groundplan.contracts.columns import Function
from groundplan.contracts.schema import Column
from groundplan.text.event_dates import dating_words, telling_stems
from groundplan.text.lexicon import Cue
from groundplan.text.names import split_name
from groundplan.text.stems import stem

JOINERS = frozenset({"and", "or", "&", "и", "или", "with", "plus", "vs", "versus", "against"})
OF_A_PERIOD = frozenset({"by", "of", "the", "по"})
"""What dates and ids are called beside what they are of."""


Number = tuple[Mention, Cue | None, bool]
"""A column of numbers, the function before it, and whether it is grouped by."""


@dataclass(frozen=True)
class Measure:
    mention: Mention
    function: Function | None
    said: tuple[int, int]  # the words that ask for it


@dataclass
class Roles:
    measures: list[Measure] = field(default_factory=list)
    groups: list[Mention] = field(default_factory=list)
    time: Mention | None = None
    dated: Mention | None = None  # a column of dates that only says which one a period is of
    ordinal: Mention | None = None  # a year as a number
    rows_counted: Cue | None = None
    related: bool = False  # one measure is set against another: `weight by height`


def assign(scan: Scan) -> Roles:
    """Left to right; the words before a column decide, then its kind, then what else was named."""
    functions = _bind_functions(scan)
    counts = [cue for cue in scan.functions if cue.label == "count"]
    absorbed = {cue for cue in counts for m in scan.mentions if _is_number_of(scan, cue, m)}
    floating = [cue for cue in counts if cue not in absorbed and cue not in functions.values()]
    grouped = grouped_mentions(scan)
    spent = spent_mentions(scan) - grouped
    roles = Roles(rows_counted=floating[0] if floating else None)
    numbers: list[Number] = []
    for named in _first_of_each(scan, spent | _dating_mentions(scan) | _headed_mentions(scan, grouped)):
        cue = functions.get(named)
        mention = _settled(named, named in grouped, cue)
        column = mention.column
        if (column.kind == "time" or column.role == "temporal") and _tells_the_period(scan, mention):
            roles.dated = _told_apart(scan, mention)
        elif column.kind == "time" or column.role == "temporal":
            roles.time = roles.time or _told_apart(scan, mention)
        elif is_ordinal_time(column) and cue is None:
            roles.ordinal = roles.ordinal or mention
        elif column.kind == "number":
            numbers.append((mention, cue, named in grouped))
        elif _groups_single_rows(scan, named, grouped) or not _stands_for_rows(scan, mention, cue, roles):
            _add_dimension(roles, mention, cue)
    _split_numbers(roles, _measurable(scan, roles, numbers), scan.table.row_count or 0)
    _count_things(scan, roles)
    return roles


def _dating_mentions(scan: Scan) -> frozenset[Mention]:
    """What looks like a column and only tells which date is meant."""
    places = {place for place, _ in dating_words(scan.words, scan.table)}
    return frozenset(m for m in scan.mentions if m.score < JOINED and {*range(m.first, m.last)} <= places)


def _tells_the_period(scan: Scan, mention: Mention) -> bool:
    """`in 2024 by order date`: right behind a period, at no grain, where there are several dates."""
    if sum(column.role == "temporal" for column in scan.table.columns) < 2:
        return False
    between = scan.words[max(scan.dated, default=mention.last) + 1 : mention.first]
    behind = bool(scan.dated) and 0 < len(between) <= 2 and all(word.lower in OF_A_PERIOD for word in between)
    return behind and not scan.cues(scan.lexicon.grains) and "trend" not in scan.labels(scan.lexicon.analyses)


def _headed_mentions(scan: Scan, grouped: set[Mention]) -> frozenset[Mention]:
    """`profit of corporate customers`: the noun that a value describes, where something else is measured."""
    ends = {value.last for value in scan.value_mentions}
    measured = any(m.column.kind == "number" for m in scan.mentions)
    return frozenset(m for m in scan.mentions if measured and m.first in ends and m not in grouped and _names_texts(m))


def _names_texts(mention: Mention) -> bool:
    return mention.column.kind == "text" and mention.score < JOINED


def _told_apart(scan: Scan, mention: Mention) -> Mention:
    """`дата заказа`: of several columns of dates the one that the word beside it tells."""
    beside = {scan.words[i].stem for i in (mention.first - 1, mention.last) if 0 <= i < len(scan.words)}
    alike = beside.union(*(group for group in scan.lexicon.rows if group & beside))
    dates = (column for column in (mention.column, *mention.others) if column.role == "temporal")
    told = [column for column in dates if alike & telling_stems(column)]
    return replace(mention, column=told[0], others=()) if mention.others and len(told) == 1 else mention


def _count_things(scan: Scan, roles: Roles) -> None:
    """`how many orders`, where an order may have several rows: its ids are counted, each once.

    `orders by region` asks for their number too.
    """
    cue, lists = roles.rows_counted, any(cue.label == "detail" for cue in scan.cues(scan.lexicon.analyses))
    if cue is None and (roles.measures or not roles.groups or lists):
        return
    places = range(cue.last if cue else 0, len(scan.words))
    place = next((i for i in places if scan.words[i].stem in scan.row_nouns), None)
    column = find_repeated(scan, place) if place is not None else None
    if place is None or column is None or column.name in {m.column.name for m in roles.groups}:
        return
    roles.rows_counted, said = None, (cue.first if cue else place, place + 1)
    roles.measures.append(Measure(Mention(column, place, place + 1, PART), "count_distinct", said))


def find_repeated(scan: Scan, place: int) -> Column | None:
    """The id of what the word there names, if several rows may have the same; not so where it is the table's name."""
    word = scan.words[place].stem
    if word in map(stem, split_name(scan.table.name)):
        return None
    alike = {word}.union(*(group for group in scan.lexicon.rows if word in group))
    rows = scan.table.row_count
    for column in scan.table.columns:
        unique = (column.name,) in scan.table.keys or (rows is not None and column.cardinality == rows)
        if column.role == "id" and telling_stems(column) and telling_stems(column) <= alike and not unique:
            return column
    return None


def _measurable(scan: Scan, roles: Roles, numbers: list[Number]) -> list[Number]:
    """`how many rows have units over 5`: what is only compared with a number is not measured beside the rest."""
    compared = compared_mentions(scan)
    rest = [(m, cue, grouped) for m, cue, grouped in numbers if m not in compared or cue or grouped]
    lists_rows = any(cue.label == "detail" for cue in scan.cues(scan.lexicon.analyses))
    return rest if rest or roles.measures or roles.rows_counted or lists_rows else numbers


def _first_of_each(scan: Scan, spent: frozenset[Mention]) -> list[Mention]:
    seen: dict[str, Mention] = {}
    for mention in scan.mentions:
        if mention in spent:
            continue
        known = seen.get(mention.column.name)
        if known is None or mention.score > known.score:
            seen[mention.column.name] = mention
    return sorted(seen.values(), key=lambda mention: mention.first)


def _bind_functions(scan: Scan) -> dict[Mention, Cue]:
    """`average of X`, `AVG(X)`, `X totals`; a list shares its function: `total sales and profit`."""
    bound: dict[Mention, Cue] = {}
    named = {mention.first for mention in scan.mentions}
    for cue in scan.functions:
        if scan.counts_rows(cue) and cue.last not in named:
            continue
        after = next((m for m in scan.mentions if m.first >= cue.last), None)
        before = next((m for m in reversed(scan.mentions) if m.last <= cue.first), None)
        if after and _only_fillers(scan, cue.last, after.first):
            bound.setdefault(after, cue)
        elif before and before.last == cue.first and before not in bound and before.column.kind == "number":
            bound[before] = cue
    for left, right in zip(scan.mentions, scan.mentions[1:], strict=False):
        if left in bound and right not in bound and bound[left].last <= left.first and _joined(scan, left, right):
            bound[right] = bound[left]
    return {m: cue for m, cue in bound.items() if not (cue.label == "count" and _is_number_of(scan, cue, m))}


def _is_number_of(scan: Scan, cue: Cue, mention: Mention) -> bool:
    """`number of doors`, `door count`: a column of whole numbers, not a count of rows."""
    if cue.label != "count" or mention.column.kind != "number" or (scan.counts_rows(cue) and cue.last != mention.first):
        return False
    before = cue.last <= mention.first and _only_fillers(scan, cue.last, mention.first)
    return (before and cue.last - cue.first > 1) or mention.last == cue.first


def grouped_mentions(scan: Scan) -> set[Mention]:
    """Columns that `by`, `per` and the like lead to."""
    found: set[Mention] = set()
    ends = {cue.last: cue for cue in scan.groupings}
    for index, mention in enumerate(scan.mentions):
        place = mention.first
        while place not in ends and place > 0 and _is_filler(scan, place - 1):
            place -= 1
        before = scan.mentions[index - 1] if index else None
        counted = [c for c in scan.functions if c.label == "count" and _is_number_of(scan, c, mention)]
        if (
            place in ends
            or (before in found and _joined(scan, before, mention))
            or any(_after_grouping(scan, c.first, ends) for c in counted)
        ):
            found.add(mention)
    return found


def _after_grouping(scan: Scan, place: int, ends: dict[int, Cue]) -> bool:
    while place not in ends and place > 0 and _is_filler(scan, place - 1):
        place -= 1
    return place in ends


def _joined(scan: Scan, left: Mention | None, right: Mention) -> bool:
    """Only a comma or a joining word stands between them."""
    if left is None:
        return False
    between = [word.lower for word in scan.words[left.last : right.first]]
    gap = scan.text[scan.words[left.last - 1].end : scan.words[right.first].start]
    rest = [word for word in between if word not in JOINERS and word not in ("the", "their", "its")]
    return not rest and (any(word in ("and", "or", "и", "или", "plus") for word in between) or "," in gap or "&" in gap)


def _only_fillers(scan: Scan, first: int, last: int) -> bool:
    return all(_is_filler(scan, i) for i in range(first, last))


def _is_filler(scan: Scan, place: int) -> bool:
    word = scan.words[place]
    return word.stem in scan.lexicon.fillers and word.lower not in ("and", "or", "и", "или")


def _settled(mention: Mention, grouped: bool, cue: Cue | None) -> Mention:
    """Of columns that fit the words alike, the only one that can group, or the only one that can be measured."""
    averaged = cue is not None and cue.label not in ("count", "count_distinct")
    columns = (mention.column, *mention.others)
    fitting = [c for c in columns if (c.kind == "number") == averaged] if grouped or averaged else []
    return replace(mention, column=fitting[0], others=()) if len(fitting) == 1 else mention


def _groups_single_rows(scan: Scan, mention: Mention, grouped: set[Mention]) -> bool:
    """`price by customer` groups though most customers have one row; `height against weight by person` does not."""
    measures = [m for m in scan.mentions if m.column.kind == "number"]
    modifies = any(other.first == mention.last for other in scan.mentions)
    return mention in grouped and len(measures) < 2 and not modifies


def _stands_for_rows(scan: Scan, mention: Mention, cue: Cue | None, roles: Roles) -> bool:
    """`count of orders` in a table of orders: the name of what a row is counts rows."""
    column = mention.column
    if column.role != "id" and not identifies(column, scan.table.row_count or 0):
        return False
    if cue and cue.label == "count" and roles.rows_counted is None:
        roles.rows_counted = cue
    return True


def _add_dimension(roles: Roles, mention: Mention, cue: Cue | None) -> None:
    """`how many regions` counts the regions; `count region` counts rows by region."""
    distinct = cue and (cue.label == "count_distinct" or (cue.label == "count" and cue.last - cue.first > 1))
    if cue and distinct:
        roles.measures.append(Measure(mention, "count_distinct", (cue.first, mention.last)))
        return
    if cue and cue.label == "count" and roles.rows_counted is None:
        roles.rows_counted = cue
    roles.groups.append(mention)


def _split_numbers(roles: Roles, numbers: list[Number], rows: int) -> None:
    """Numbers are measured, unless one of few values is grouped by or stands beside another measure."""
    measured = [m for m, cue, _ in numbers if cue and cue.label != "count"]
    for mention, cue, grouped in numbers:
        others = [m for m, _, _ in numbers if m is not mention]
        beside = any(not is_discrete(other.column, rows) for other in others) or bool(measured)
        if cue and cue.label != "count":
            said = (min(cue.first, mention.first), max(cue.last, mention.last))
            roles.measures.append(Measure(mention, cast(Function, cue.label), said))
        elif is_discrete(mention.column, rows) and (grouped or beside or roles.groups):
            roles.groups.append(mention)
        else:
            roles.related |= grouped
            roles.measures.append(Measure(mention, None, (mention.first, mention.last)))
    roles.groups.sort(key=lambda mention: mention.first)
