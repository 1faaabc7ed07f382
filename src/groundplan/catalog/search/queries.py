"""Search queries: one for each requirement, and one for the whole question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.clauses import clauses
from groundplan.catalog.search.search_words import words
from groundplan.contracts.reading import OutputAsked, Reading, Requirement
from groundplan.text.names import name_words

COMBINED = "combined"
LEAST_WORDS = 3  # a shorter clause is a value or a name, not a request
MOST_CLAUSES = 24
MOST_TYPICAL = 4  # the first capabilities of a label, the most typical ones; with all of them the query is too vague


@dataclass(frozen=True)
class Query:
    id: str  # of the requirement, or `combined`
    text: str


@dataclass(frozen=True)
class Queries:
    """The query for the whole, and queries for its parts so that none is drowned out."""

    whole: Query
    parts: tuple[Query, ...] = ()

    @property
    def all(self) -> tuple[Query, ...]:
        return (self.whole, *self.parts)


def for_text(text: str) -> Queries:
    """A request in plain words, with its clauses as the parts."""
    return Queries(Query(COMBINED, text), tuple(_clauses_of(text)))


def for_reading(reading: Reading, catalog: Catalog, only: Sequence[str] | None = None) -> Queries:
    """A reading, with its requirements and its clauses as the parts; or only some of its requirements."""
    asked = [r for r in reading.requirements if only is None or r.id in only]
    own = tuple(Query(r.id, requirement_text(r, catalog)) for r in asked)
    labels = " ".join(word for r in asked for word in name_words(r.label))
    if only is not None:
        return Queries(Query(COMBINED, " ".join((labels, *(r.words for r in asked)))), own)
    return Queries(Query(COMBINED, f"{reading.question} {labels}"), (*own, *_clauses_of(reading.question)))


def requirement_text(requirement: Requirement, catalog: Catalog) -> str:
    """The requirement's words, its label, and the descriptions of capabilities that serve it."""
    chart = requirement.value.chart if isinstance(requirement.value, OutputAsked) else None
    listed = catalog.vocabulary.requirements.get(requirement.label, ())[:MOST_TYPICAL]
    known = catalog.vocabulary.capabilities
    serving = (known[name].description for name in map(catalog.capability, listed) if name)
    return " ".join((requirement.words, *name_words(requirement.label), chart or "", *serving))


def _clauses_of(text: str) -> Iterator[Query]:
    found = [clause for clause in clauses(text) if len(set(words(clause))) >= LEAST_WORDS]
    return (Query(COMBINED, clause) for clause in found[:MOST_CLAUSES] if clause != text)
