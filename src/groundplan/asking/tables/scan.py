"""Everything the words of a question say, before it is decided what they mean together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from groundplan.asking.tables.columns import EXACT, JOINED, Mention, find_mentions, identifies
from groundplan.asking.tables.values import ValueMention, Values, find_values
from groundplan.contracts.schema import Table
from groundplan.text.lexicon import Cue, Lexicon, Phrases
from groundplan.text.names import split_name
from groundplan.text.periods.find import Found
from groundplan.text.stems import stem
from groundplan.text.words import Word

ROWS = frozenset(map(stem, ("row", "record", "entry", "строка", "запись")))


@dataclass(frozen=True)
class Scan:
    """The words of one question held against one table."""

    text: str
    words: tuple[Word, ...]
    table: Table
    lexicon: Lexicon
    values: Values
    periods: tuple[Found, ...]
    meant: tuple[Mention, ...] = ()  # columns that unknown words come near in meaning

    @cached_property
    def dated(self) -> frozenset[int]:
        """The words that are part of a period."""
        return frozenset(
            i
            for i, word in enumerate(self.words)
            for period in self.periods
            if period.start <= word.start and word.end <= period.end
        )

    @cached_property
    def _all_mentions(self) -> tuple[Mention, ...]:
        found = find_mentions(self.words, self.table, self.lexicon)
        return tuple(m for m in found if not self.dated & set(range(m.first, m.last)))

    @cached_property
    def value_mentions(self) -> tuple[ValueMention, ...]:
        """Values, except where the same words surely name a column or the table."""
        named = {i for m in self._all_mentions if m.score >= EXACT for i in range(m.first, m.last)} | self._own_name
        return tuple(
            v
            for v in find_values(self.words, self.table, self.values)
            if not (named | self.dated) & set(range(v.first, v.last))
        )

    @cached_property
    def _own_name(self) -> frozenset[int]:
        """Where the table is called by a name of several words: `merge` requests were not all merged."""
        name = [stem(word) for word in split_name(self.table.name)]
        stems = [word.stem for word in self.words]
        starts = [i for i in range(len(stems)) if len(name) > 1 and stems[i : i + len(name)] == name]
        return frozenset(i + step for i in starts for step in range(len(name)))

    def values_of(self, column: str) -> frozenset[str]:
        """All that are known, by the data or by what people call them."""
        known = self.table.find(column)
        return frozenset((*self.values.get(column, ()), *(called.value for called in (known.called if known else ()))))

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Columns, except where the same words are a value, a fixed phrase, a modifier or a word for the rows."""
        taken = {i for v in self.value_mentions for i in range(v.first, v.last)}
        found = [m for m in self._all_mentions if not taken & set(range(m.first, m.last)) and not self._in_phrase(m)]
        sure = {m.first for m in found if m.score >= JOINED}
        kept = [m for m in found if m.score >= JOINED or not (m.last in sure or self._means_rows(m))]
        meant = {i for m in self.meant for i in range(m.first, m.last)}
        kept = [m for m in kept if not meant & set(range(m.first, m.last))]
        return tuple(sorted([*kept, *self.meant], key=lambda mention: mention.first))

    def _in_phrase(self, mention: Mention) -> bool:
        """`segmented by` groups, and `over time` is a trend, though columns are called segment and time."""
        words = [word.lower for word in self.words[mention.first : mention.last]]
        if "".join(words) == "".join(split_name(mention.column.name)):
            return False
        inside = set(range(mention.first, mention.last))
        return any(
            inside <= set(range(cue.first, cue.last)) and cue.last - cue.first > len(inside)
            for phrases in self._all_phrases
            for cue in phrases.find(self.words)
        )

    def _means_rows(self, mention: Mention) -> bool:
        """`orders` in a table with an order number and an order date: the rows, not one of the columns.

        So are `sales` that are counted or listed in a table of sales, though revenue is called sales too, and
        `количество` of rows, though units are called that.
        """
        cues = [cue for cue in self.lexicon.functions.find(self.words) if cue.first == mention.first]
        if any(self.counts_rows(cue) for cue in cues):
            return True
        if mention.last - mention.first > 1 or self.words[mention.first].stem not in self.row_nouns:
            return False
        return bool(mention.others) or self._counts_or_lists(mention.first)

    def counts_rows(self, cue: Cue) -> bool:
        """`how many rows`, `number of the sales` in a table of sales."""
        following = (word for word in self.words[cue.last :] if word.lower not in ("of", "the", "all"))
        word = next(following, None)
        return cue.label == "count" and word is not None and word.stem in ROWS | self.row_nouns

    def _counts_or_lists(self, place: int) -> bool:
        """Whether `how many` or `list` leads to that word, over fillers and values only."""
        valued = {i for v in self.value_mentions for i in range(v.first, v.last)}
        cues = (*self.lexicon.functions.find(self.words), *self.lexicon.analyses.find(self.words))
        return any(
            cue.label in ("count", "detail")
            and cue.last <= place
            and all(i in valued or self.words[i].stem in self.lexicon.fillers for i in range(cue.last, place))
            for cue in cues
        )

    @cached_property
    def _named(self) -> tuple[tuple[int, int], ...]:
        """Where columns and values are named."""
        columns = [(mention.first, mention.last) for mention in self.mentions]
        return tuple(columns + [(value.first, value.last) for value in self.value_mentions])

    def cues(self, phrases: Phrases) -> tuple[Cue, ...]:
        """Phrases of the lexicon, except inside a period or the name of a column or a value."""
        named = [self.dated, *(frozenset(range(first, last)) for first, last in self._named)]
        found = phrases.find(self.words)
        return tuple(c for c in found if not any(set(range(c.first, c.last)) <= name for name in named))

    @cached_property
    def functions(self) -> tuple[Cue, ...]:
        return self.cues(self.lexicon.functions)

    @cached_property
    def groupings(self) -> tuple[Cue, ...]:
        return self.cues(self.lexicon.groupings)

    def labels(self, phrases: Phrases) -> dict[str, Cue]:
        """The first cue of each label."""
        found: dict[str, Cue] = {}
        for cue in self.cues(phrases):
            found.setdefault(cue.label, cue)
        return found

    def spoken(self, first: int, last: int) -> tuple[str, int]:
        """The question's own words there, and where they start: evidence."""
        start, end = self.words[first].start, self.words[last - 1].end
        return self.text[start:end], start

    @cached_property
    def row_nouns(self) -> frozenset[str]:
        """Words for the rows themselves: the table's name, and the names of what identifies a row."""
        names = [split_name(self.table.name)]
        rows = self.table.row_count or 0
        names += [
            split_name(c.name)
            for c in self.table.columns
            if c.role == "id" or (c.kind == "text" and identifies(c, rows))
        ]
        # the date of an order: the rows are orders
        names += [split_name(c.name)[:-1] for c in self.table.columns if c.role == "temporal"]
        said = frozenset(stem(word) for name in names for word in name) - {"id", "name", "number"}
        return said.union(*(group for group in self.lexicon.rows if group & said))

    @cached_property
    def unexplained(self) -> tuple[int, ...]:
        """Words that neither the data nor the lexicon knows: what the question may be about, and we are not."""
        known: set[int] = set(self.dated)
        for first, last in self._named:
            known.update(range(first, last))
        for phrases in self._all_phrases:
            for cue in phrases.find(self.words):
                known |= set(range(cue.first, cue.last))
        return tuple(
            i
            for i, word in enumerate(self.words)
            if i not in known
            and not word.is_number
            and len(word.lower) > 1
            and word.lower[0].isalpha()
            and word.stem not in self.lexicon.fillers
            and word.stem not in self.row_nouns
        )

    @property
    def _all_phrases(self) -> Sequence[Phrases]:
        words = self.lexicon
        return (
            words.functions,
            words.groupings,
            words.analyses,
            words.rankings,
            words.orders,
            words.charts,
            words.outputs,
            words.grains,
            words.negations,
            words.comparisons,
        )
