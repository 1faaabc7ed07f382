"""The shortlist: all template tools, retrieved tools up to the cap, and a small safety set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.queries import Queries, for_reading
from groundplan.catalog.search.search import DECIMALS, Hit
from groundplan.contracts.reading import Reading, Requirement
from groundplan.contracts.shortlist import Candidate, Shortlist, Why
from groundplan.errors import UsageError

CAP = 12
SAFETY = ("aggregate", "plot_line", "compute_summary_stats")
OVER_CAP = 2  # how far the safety set may push the shortlist beyond the cap
FOUND, FOUND_WIDER = 40, 200  # the number of search results
SERVING = 3  # tools put first for an uncovered requirement
WIDER_WEIGHT = 0.3  # of scores from the wider search, which covers only part of the question
FIRST = 10.0  # added to put a tool first: more than any search score


class Retriever(Protocol):
    def search(self, queries: Queries, limit: int) -> Sequence[Hit]: ...


def narrow(
    reading: Reading,
    catalog: Catalog,
    retriever: Retriever,
    template_tools: Sequence[str] = (),
    missing: Sequence[str] = (),
    *,
    cap: int = CAP,
    safety: Sequence[str] = SAFETY,
) -> Shortlist:
    """The tools that may serve a reading.

    `missing` names requirements that no step of the last plan covered: more tools are searched for them, and the
    tools that serve them come first.
    """
    _refuse_unknown(reading, catalog, template_tools, missing)
    hits = {hit.tool: hit for hit in retriever.search(for_reading(reading, catalog), FOUND)}
    if missing:
        hits |= {hit.tool: hit for hit in _wider(reading, catalog, retriever, missing, hits)}
    template = list(dict.fromkeys(template_tools))
    always = [name for name in dict.fromkeys(safety) if name in catalog.tools]
    retrieved = _retrieved(hits.values(), template, always, cap)
    added = [name for name in always if name not in template and name not in retrieved]
    chosen: dict[Why, list[str]] = {"template": template, "retrieved": retrieved, "safety": added}
    tools = tuple(_candidate(name, why, hits.get(name)) for why, names in chosen.items() for name in names)
    return Shortlist(tools=tools, cap=cap)


def _retrieved(hits: Iterable[Hit], template: Sequence[str], safety: Sequence[str], cap: int) -> list[str]:
    """The best tools up to the cap; the lowest are dropped if the safety set would exceed it by too much."""
    ranked = sorted((hit for hit in hits if hit.tool not in template), key=lambda hit: (-hit.score, hit.tool))
    kept = [hit.tool for hit in ranked[: max(cap - len(template), 0)]]
    added = [name for name in safety if name not in template and name not in kept]
    over = len(template) + len(kept) + len(added) - cap - OVER_CAP
    droppable = [name for name in reversed(kept) if name not in safety]
    dropped = droppable[: max(over, 0)]
    return [name for name in kept if name not in dropped]


def _wider(
    reading: Reading, catalog: Catalog, retriever: Retriever, missing: Sequence[str], known: Mapping[str, Hit]
) -> Iterator[Hit]:
    """A search for the missing requirements only; tools that can serve them come first, even if not found."""
    found = {hit.tool: hit for hit in retriever.search(for_reading(reading, catalog, only=missing), FOUND_WIDER)}
    first: dict[str, list[str]] = {}
    for requirement in (r for r in reading.requirements if r.id in missing):
        for name in _serving(requirement, catalog, found):
            first.setdefault(name, []).append(requirement.id)
    for name in sorted(found.keys() | first.keys()):
        before, now = known.get(name, Hit(name, 0.0)), found.get(name, Hit(name, 0.0))
        score = max(before.score, WIDER_WEIGHT * now.score) + (FIRST if name in first else 0.0)
        queries = (*first.get(name, ()), *before.queries, *now.queries)
        yield Hit(name, round(score, DECIMALS), tuple(dict.fromkeys(queries)))


def _serving(requirement: Requirement, catalog: Catalog, found: Mapping[str, Hit]) -> list[str]:
    """A few tools with a capability that serves the requirement, highest score first."""
    able = {name for capability in catalog.serving(requirement.label) for name in catalog.tools_with(capability)}
    return sorted(able, key=lambda name: (-found[name].score if name in found else 0.0, name))[:SERVING]


def _candidate(name: str, why: Why, hit: Hit | None) -> Candidate:
    return Candidate(tool=name, why=why, score=hit.score, queries=hit.queries) if hit else Candidate(tool=name, why=why)


def _refuse_unknown(reading: Reading, catalog: Catalog, template_tools: Sequence[str], missing: Sequence[str]) -> None:
    for name in template_tools:
        if name not in catalog.tools:
            raise UsageError(f"the template names the tool {name!r}, which the catalog does not list; correct it")
    for id_ in sorted(set(missing) - {requirement.id for requirement in reading.requirements}):
        raise UsageError(f"{id_!r} is passed as missing, but the reading has no such requirement; pass one that it has")
