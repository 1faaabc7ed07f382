"""Counts of tracker lists: of one person or of several lists at once, along time or by a column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast, get_args

from groundplan.asking.lists.quoting import implied, quoted
from groundplan.contracts.columns import Grain
from groundplan.contracts.contract import Language
from groundplan.contracts.reading import (
    AnalysisAsked,
    Filter,
    GroupBy,
    Metric,
    OutputAsked,
    Reading,
    Requirement,
    Time,
)
from groundplan.contracts.schema import Column, Table
from groundplan.text.lexicon import Cue, load_lexicon
from groundplan.text.stems import stem
from groundplan.text.words import Word, language_of

GRAINS = frozenset(get_args(Grain))


@dataclass(frozen=True)
class Counting:
    """The words that count: `how many`, `per week`, the word behind `by`, and a word that asks for more than that."""

    count: str = ""
    grain: Grain | None = None
    along: str = ""
    group: str = ""
    more: str = ""

    @property
    def is_asked(self) -> bool:
        return bool(self.count or self.grain or self.more)


def read_counting(words: Sequence[Word], taken: frozenset[int]) -> Counting:
    """How the words count; `taken` are the places of words that name a period or a person."""
    lexicon = load_lexicon()
    used = set(taken)

    def found(cues: Iterable[Cue]) -> list[Cue]:
        kept = [cue for cue in cues if not used & {*range(cue.first, cue.last)}]
        used.update(place for cue in kept for place in range(cue.first, cue.last))
        return kept

    grains = found(lexicon.grains.find(words))
    functions = found(lexicon.functions.find(words))
    groups = [cue for cue in found(lexicon.groupings.find(words)) if cue.last < len(words)]
    more = [cue for cue in functions if cue.label != "count"] + grains[1:] + groups[1:]
    for phrases in (lexicon.rankings, lexicon.analyses, lexicon.charts):
        more += found(phrases.find(words))
    counts = [cue for cue in functions if cue.label == "count"]
    return Counting(
        count=_first_text(words, counts),
        grain=cast(Grain, grains[0].label) if grains and grains[0].label in GRAINS else None,
        along=_first_text(words, grains),
        group=words[groups[0].last].text if groups else "",
        more=_first_text(words, more),
    )


def _first_text(words: Sequence[Word], cues: Sequence[Cue]) -> str:
    return " ".join(word.text for word in words[cues[0].first : cues[0].last]) if cues else ""


@dataclass(frozen=True)
class Counted:
    """The question, what is counted in it, and the conditions on each list."""

    text: str
    counting: Counting
    filters: Sequence[Requirement]
    dates: Mapping[str, str]  # the usual date column of each table

    def reading(self, tables: Sequence[Table]) -> Reading | None:
        """One reading for each list; None if a list has no column that the words group by."""
        if self.counting.more or any(self.counting.group and self.column(table) is None for table in tables):
            return None
        first, *others = map(self.of_list, tables)
        return first.model_copy(update={"also": tuple(others)})

    def of_list(self, table: Table) -> Reading:
        language: Language = "ru" if language_of(self.text) == "ru" else "en"
        name = table.name.replace("_", " ") if language == "en" else None
        count = Metric(function="count", name=name)
        kept = [*self.kept(table)]
        return Reading(
            question=self.text,
            language=language,
            tables=(table.name,),
            requirements=(
                quoted(f"metric:{name or 'rows'}", count, self.text, self.counting.count or self.text),
                *kept,
                *self.grouped(table),
                *self.along_time(table, kept),
                implied("output:table", OutputAsked(label="table")),
            ),
        )

    def kept(self, table: Table) -> Iterator[Requirement]:
        """The conditions, called as those of a question about one table are."""
        for requirement in self.filters:
            kept = requirement.value
            if isinstance(kept, Filter) and kept.table == table.name:
                update = {"id": f"filter:{kept.column}", "value": kept.model_copy(update={"table": None})}
                yield requirement.model_copy(update=update)

    def column(self, table: Table) -> Column | None:
        """The column that the word behind `by` names."""
        said = stem(self.counting.group)
        return next((one for one in table.columns if said in map(stem, (one.name, *one.synonyms))), None)

    def grouped(self, table: Table) -> Iterator[Requirement]:
        if column := self.column(table) if self.counting.group else None:
            yield quoted(f"group_by:{column.name}", GroupBy(column=column.name), self.text, self.counting.group)

    def along_time(self, table: Table, kept: Sequence[Requirement]) -> Iterator[Requirement]:
        if not self.counting.grain:
            return
        periods = [r.value.column for r in kept if isinstance(r.value, Filter) and r.value.operator == "between"]
        column = next(filter(None, periods), self.dates[table.name])
        time = Time(column=column, grain=self.counting.grain)
        yield quoted(f"time:{column}", time, self.text, self.counting.along)
        yield implied("analysis:trend", AnalysisAsked(label="trend"))
        yield implied("output:chart", OutputAsked(label="chart"))
