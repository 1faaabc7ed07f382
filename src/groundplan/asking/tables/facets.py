"""What the roles of the columns and the cues of the question add up to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from groundplan.asking.tables.columns import JOINED, SYNONYM, is_additive, is_ordinal_time
from groundplan.asking.tables.conditions import named_groups
from groundplan.asking.tables.roles import Measure, Roles
from groundplan.asking.tables.scan import Scan
from groundplan.contracts.columns import Grain
from groundplan.contracts.reading import ChartKind
from groundplan.contracts.schema import Column, Table
from groundplan.text.event_dates import dated_by
from groundplan.text.lexicon import Cue
from groundplan.text.stems import stem

RANK = frozenset(map(stem, ("rank", "ранг", "ранжировать")))
Group = tuple[str, int, int]
"""A column, and the words that name it."""


@dataclass(frozen=True)
class Facets:
    scan: Scan
    roles: Roles
    groups: tuple[Group, ...]
    whole: frozenset[str]  # columns of which one value was named beside all the others
    time_column: Column | None
    time_said: tuple[int, int] | None  # the words that ask for a time axis
    grain: Grain | None
    grains: dict[str, Cue]
    analyses: dict[str, Cue]
    charts: dict[str, Cue]
    outputs: dict[str, Cue]
    rank: tuple[str, int | None] | None
    rank_cue: Cue | None

    @property
    def counted(self) -> Cue | None:
        return self.roles.rows_counted

    @property
    def plain(self) -> list[Measure]:
        """Measures of which the question does not say what to take."""
        return [measure for measure in self.roles.measures if measure.function is None]

    @property
    def chart_said(self) -> tuple[int, int] | None:
        cue = next(iter(self.charts.values()), None) or self.outputs.get("chart")
        return (cue.first, cue.last) if cue else None

    @property
    def spread_said(self) -> bool:
        """Whether the spread of values was asked for by name."""
        return "distribution" in self.analyses or bool({"histogram", "box"} & self.charts.keys())

    @property
    def is_distribution(self) -> bool:
        """One number, spread out: by name, by a count over it, or because nothing else can be done with it."""
        if len(self.plain) != 1 or self.time_said:
            return False
        if self.groups:
            return "box" in self.charts and len(self.groups) == 1
        additive = is_additive(self.plain[0].mention.column, self.scan.lexicon)
        return self.spread_said or bool(self.counted) or not additive

    def chart_kind(self, intent: str) -> ChartKind | None:
        """The kind that was named; a histogram of groups is a bar chart."""
        named = next((kind for kind in self.charts if kind != "bar"), next(iter(self.charts), None))
        if named == "histogram" and intent != "distribution":
            return "bar"
        if named == "bar" and intent == "distribution":
            return "histogram"
        if named == "line" and intent not in ("time_series", "comparison", "anomaly"):
            return None
        return cast(ChartKind | None, named)


def find_facets(scan: Scan, roles: Roles) -> Facets:
    words = scan.lexicon
    grains, analyses, charts = _grains(scan), scan.labels(words.analyses), scan.labels(words.charts)
    column, said = _time_axis(scan, roles, grains, analyses, charts)
    named = [(m.column.name, m.first, m.last) for m in roles.groups]
    named += [g for g in named_groups(scan, 2) if g[0] not in {name for name, _, _ in named}]
    whole = named_groups(scan, 1) if "share" in analyses and not named and not said else ()
    rank_cue, rank = _ranking(scan, bool(named) or bool(said and grains))
    return Facets(
        scan=scan,
        roles=roles,
        groups=tuple(g for g in (*named, *whole) if column is None or g[0] != column.name),
        whole=frozenset(name for name, _, _ in whole),
        time_column=column,
        time_said=said,
        grain=cast(Grain | None, next(iter(grains), None)) if said else None,
        grains=grains,
        analyses=analyses,
        charts=charts,
        outputs=scan.labels(words.outputs),
        rank=rank,
        rank_cue=rank_cue,
    )


def time_columns(table: Table) -> list[Column]:
    dates = [c for c in table.columns if c.kind == "time" or c.role == "temporal"]
    return dates or [c for c in table.columns if is_ordinal_time(c)]


def _grains(scan: Scan) -> dict[str, Cue]:
    """By grain; `days` is one even where it stands for a column of dates, but not inside a column's own name."""
    named = [set(range(m.first, m.last)) for m in scan.mentions if m.score > SYNONYM]
    named += [set(range(v.first, v.last)) for v in scan.value_mentions]
    found: dict[str, Cue] = {}
    for cue in scan.lexicon.grains.find(scan.words):
        places = set(range(cue.first, cue.last))
        if not places <= scan.dated and not any(places <= name for name in named):
            found.setdefault(cue.label, cue)
    return found


def _time_axis(
    scan: Scan, roles: Roles, grains: dict[str, Cue], analyses: dict[str, Cue], charts: dict[str, Cue]
) -> tuple[Column | None, tuple[int, int] | None]:
    """The column of time and the words that make it an axis; a period alone only filters."""
    columns = time_columns(scan.table)
    named = roles.time or roles.ordinal
    if named:
        return named.column, (named.first, named.last)
    if not columns:
        return None, None
    cue = next(iter(grains.values()), None) or analyses.get("trend")
    if cue is None and "line" in charts and not roles.groups and len(roles.measures) <= 1:
        cue = charts["line"]
    if cue is None and ("line" in charts or "area" in charts) and roles.measures:
        cue = charts.get("line") or charts["area"]
    told = [*_named_for_a_period(scan, roles), *dated_by(scan.words, scan.table), *columns]
    return told[0], (cue.first, cue.last) if cue else None


def _named_for_a_period(scan: Scan, roles: Roles) -> Iterator[Column]:
    """`ship date after 1 May`, `in 2024 by ship date`."""
    if roles.dated:
        yield roles.dated.column
    yield from (m.column for m in scan.mentions if m.column in time_columns(scan.table) and m.score >= JOINED)


def _ranking(scan: Scan, has_groups: bool) -> tuple[Cue | None, tuple[str, int | None] | None]:
    """`top 5`, `5 best`, `which region has the highest`; sorting words alone rank nothing away."""
    others = (*scan.cues(scan.lexicon.orders), *scan.cues(scan.lexicon.comparisons))  # `at least` ranks nothing
    taken = {i for cue in others for i in range(cue.first, cue.last)}
    for cue in scan.cues(scan.lexicon.rankings):
        if cue.first in taken:
            continue
        after = scan.words[cue.last] if cue.last < len(scan.words) else None
        before = scan.words[cue.first - 1] if cue.first else None
        if after and after.text.isdecimal():
            return Cue(cue.label, cue.first, cue.last + 1), (cue.label, int(after.text))
        if before and before.text.isdecimal():
            return Cue(cue.label, cue.first - 1, cue.last), (cue.label, int(before.text))
        if has_groups:
            return cue, (cue.label, None if _ranks_all(scan, cue) or _asks_for_several(scan, cue) else 1)
    return None, None


def _ranks_all(scan: Scan, cue: Cue) -> bool:
    """`rank the regions by cost`, `the rank of each region`."""
    return scan.words[cue.first].stem in RANK


def _asks_for_several(scan: Scan, cue: Cue) -> bool:
    """`which regions have the highest`, `the top regions`."""
    ranked = [m for m in scan.mentions if m.first < cue.first or (m.first == cue.last and m.column.kind != "number")]
    return any(scan.words[m.last - 1].lower.endswith("s") for m in ranked)
