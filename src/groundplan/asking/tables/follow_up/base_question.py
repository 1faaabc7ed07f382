"""What the texts of one conversation are held against: the table of the question before, and its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from groundplan.asking.tables.columns import Mention
from groundplan.asking.tables.follow_up.splice import ARROW
from groundplan.asking.tables.near_meaning import MEANT, find_meant, runs
from groundplan.asking.tables.read import scan_for
from groundplan.asking.tables.scan import Scan
from groundplan.asking.tables.values import Values
from groundplan.contracts.answer import Refusal
from groundplan.contracts.reading import GroupBy, Metric, Reading, Time
from groundplan.contracts.schema import SourceSchema, Table
from groundplan.text.similar import Nearness
from groundplan.text.words import Word


@dataclass(frozen=True)
class Ground:
    """What a text of this conversation is held against: the table of the question before."""

    previous: Reading
    schema: SourceSchema
    values: Mapping[str, Values]
    today: date
    timezone: str
    meaning: Nearness | None

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(table for table in self.schema.tables if table.name in self.previous.tables)

    def scan(self, text: str) -> Scan | Refusal:
        """With the words that were explained before, by a model or by meaning, explained in the same way."""
        schema = self.schema.model_copy(update={"tables": self.tables})
        found = scan_for(text, schema, self.values, today=self.today, timezone=self.timezone, meaning=None)
        if isinstance(found, Refusal):
            return found
        scan = replace(found, words=tuple(_with_arrows(found)))
        scan = replace(scan, meant=tuple(_explained(scan, self.previous)))
        return replace(scan, meant=(*scan.meant, *find_meant(scan, self.meaning))) if self.meaning else scan


def _with_arrows(scan: Scan) -> Iterator[Word]:
    """An arrow is a word of its own, so that no phrase reaches over it."""
    end = 0
    for word in scan.words:
        place = scan.text.find(ARROW, end, word.start)
        if place >= 0:
            yield Word(ARROW, ARROW, ARROW, place, place + 1)
        yield word
        end = word.end


def _explained(scan: Scan, previous: Reading) -> Iterator[Mention]:
    columns = {column.name: column for column in scan.table.columns}
    for requirement in previous.requirements:
        value = requirement.value
        column = columns.get(value.column or "") if isinstance(value, Metric | GroupBy | Time) else None
        if column is None or any(mention.column == column for mention in scan.mentions):
            continue
        said = requirement.evidence.text.lower()
        yield from (
            Mention(column, *run, MEANT) for run in runs(scan.unexplained) if scan.spoken(*run)[0].lower() in said
        )
