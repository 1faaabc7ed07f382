"""The suite `tools`: how many of the tools that a request needs are found, in its own catalog and in all catalogs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import numpy as np
from pydantic import BaseModel

from groundplan.catalog.search.documents import Document
from groundplan.catalog.search.index import Index, build_index, open_documents
from groundplan.catalog.search.queries import Queries, for_text
from groundplan.catalog.search.search import Search
from groundplan.catalog.search.vectors import Embedder, Matrix, SentenceEmbedder
from groundplan.evaluation.report import Miss, Report
from groundplan.evaluation.suites.rows import load_rows
from groundplan.evaluation.suites.sampling import spread
from groundplan.settings import cache_folder

HOLDS = "tools.jsonl and queries.jsonl"
PLACES = 10
LOOKED_AT = 50  # results to search for the rank of a miss

OnProgress = Callable[[int, int], None]


class ListedTool(BaseModel):
    tool_id: str
    catalog: str
    name: str
    description: str
    params: tuple[str, ...] = ()


class Request(BaseModel):
    id: str
    catalog: str
    query: str
    gold: tuple[str, ...]


@dataclass(frozen=True)
class SearchRequest:
    """A request with its search queries and their embeddings."""

    request: Request
    queries: Queries
    vectors: Matrix | None


def evaluate(
    folder: Path, sample: int | None, semantic: bool, on_progress: OnProgress, model: str | None = None
) -> Report:
    """Score a folder with `tools.jsonl` and `queries.jsonl`; `sample` takes so many requests, evenly spread."""
    began = time.perf_counter()
    tools = sorted(load_rows(folder / "tools.jsonl", ListedTool, HOLDS), key=lambda tool: tool.tool_id)
    requests = spread(load_rows(folder / "queries.jsonl", Request, HOLDS), sample)
    embedder = SentenceEmbedder(model) if semantic else None
    merged, load_ms = _merged(folder / "tools.jsonl", tools, embedder)
    searches = _search_requests(requests, embedder)
    everywhere, milliseconds = _searched(searches, {tool.catalog: merged for tool in tools}, _half(on_progress, 0))
    at_home, _ = _searched(searches, _own(tools, merged), _half(on_progress, len(searches)))
    return Report(
        suite="tools",
        n=len(requests),
        scores=_scores(requests, everywhere, "") | _scores(requests, at_home, "own_"),
        misses=tuple(_miss(r, found) for r, found in zip(requests, everywhere, strict=True) if not _complete(r, found)),
        seconds=round(time.perf_counter() - began, 1),
        extra={"median_ms": round(median(milliseconds), 2), "index_load_ms": load_ms},
    )


def _merged(file: Path, tools: Sequence[ListedTool], embedder: Embedder | None) -> tuple[Index, float]:
    """The index of all tools, loaded from disk, and its load time."""
    contents = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    open_documents(contents, lambda: _documents(tools), cache_folder(), embedder)
    began = time.perf_counter()
    index = open_documents(contents, lambda: _documents(tools), cache_folder(), embedder)
    return index, round((time.perf_counter() - began) * 1000, 1)


def _own(tools: Sequence[ListedTool], merged: Index) -> dict[str, Index]:
    """An index of each catalog, with the embeddings of the merged index."""
    matrix = merged.vectors.matrix() if merged.vectors else None
    rows: dict[str, list[int]] = {}
    for row, tool in enumerate(tools):
        rows.setdefault(tool.catalog, []).append(row)
    return {
        catalog: build_index(_documents([tools[row] for row in own]), matrix[own] if matrix is not None else None)
        for catalog, own in rows.items()
    }


def _search_requests(requests: Sequence[Request], embedder: Embedder | None) -> list[SearchRequest]:
    """Embed all queries in one batch, which is much faster than one by one."""
    queries = [for_text(request.query) for request in requests]
    if embedder is None:
        return [SearchRequest(*pair, None) for pair in zip(requests, queries, strict=True)]
    vectors = embedder.queries([query.text for each in queries for query in each.all])
    ends = np.cumsum([len(each.all) for each in queries])
    return [SearchRequest(*triple) for triple in zip(requests, queries, np.split(vectors, ends[:-1]), strict=True)]


def _searched(
    requests: Sequence[SearchRequest], indexes: Mapping[str, Index], on_progress: OnProgress
) -> tuple[list[list[str]], list[float]]:
    """The results for each request, best first, and the search times in milliseconds."""
    found: list[list[str]] = []
    milliseconds: list[float] = []
    searches = {catalog: Search(index) for catalog, index in indexes.items()}
    for done, item in enumerate(requests):
        began = time.perf_counter()
        hits = searches[item.request.catalog].rank(item.queries, item.vectors, LOOKED_AT)
        milliseconds.append((time.perf_counter() - began) * 1000)
        found.append([hit.tool for hit in hits])
        on_progress(done + 1, len(requests))
    return found, milliseconds


def _half(on_progress: OnProgress, before: int) -> OnProgress:
    """Progress of one of the two searches for every request: in all catalogs, then in its own."""
    return lambda done, total: on_progress(before + done, 2 * total)


def _scores(requests: Sequence[Request], found: Sequence[Sequence[str]], prefix: str) -> dict[str, float]:
    pairs = list(zip(requests, found, strict=True))
    return {
        f"{prefix}recall@{PLACES}": round(fmean(_recall(*pair) for pair in pairs), 4),
        f"{prefix}completeness@{PLACES}": round(fmean(_complete(*pair) for pair in pairs), 4),
    }


def _recall(request: Request, found: Sequence[str]) -> float:
    return len(set(request.gold).intersection(found[:PLACES])) / len(set(request.gold))


def _complete(request: Request, found: Sequence[str]) -> bool:
    return set(request.gold).issubset(found[:PLACES])


def _miss(request: Request, found: Sequence[str]) -> Miss:
    lost = sorted(set(request.gold).difference(found[:PLACES]))
    places = (f"{name} at {found.index(name) + 1}" if name in found else f"{name} not found" for name in lost)
    got = list(found[:PLACES])
    return Miss(id=request.id, question=request.query, expected=list(request.gold), got=got, why="; ".join(places))


def _documents(tools: Sequence[ListedTool]) -> list[Document]:
    return [Document(tool.tool_id, tool.name, tool.description, params=tool.params) for tool in tools]
