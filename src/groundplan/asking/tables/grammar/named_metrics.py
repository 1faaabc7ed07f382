"""Which tables a question measures by naming a metric of the model file."""

from __future__ import annotations

from groundplan.asking.tables.grammar.lexicon import stems_of
from groundplan.contracts.schema import NamedMetric, SourceSchema
from groundplan.text.words import words_of

SAYING = 2  # words: one alone may as well name a table or a column


def measured_tables(text: str, schema: SourceSchema) -> frozenset[str]:
    """The tables of the metrics that the text names by at least two words; none where it names none."""
    stems = tuple(word.stem for word in words_of(text))
    return frozenset(metric.table for metric in schema.metrics if _is_named(metric, stems))


def _is_named(metric: NamedMetric, stems: tuple[str, ...]) -> bool:
    names = [stems_of(name) for name in (metric.name.replace("_", " "), *metric.synonyms)]
    return any(
        stems[first : first + len(name)] == name
        for name in names
        if len(name) >= SAYING
        for first in range(len(stems) - len(name) + 1)
    )
