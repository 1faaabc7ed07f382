"""Embeddings of tools in a FAISS index. Needs the extra `semantic`, which is imported on first use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
from numpy.typing import NDArray

from groundplan.errors import UsageError, WorldError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEFAULT_MODEL = "BAAI/bge-small-en-v1.5"
HUB_SECONDS = 5.0
NEAREST = 200  # documents with a score of their own; all others get the lowest of these scores

Matrix = NDArray[np.float32]


class Embedder(Protocol):
    model: str

    def documents(self, texts: Sequence[str]) -> Matrix: ...

    def queries(self, texts: Sequence[str]) -> Matrix: ...


class SentenceEmbedder:
    """A sentence-transformers model, given by its hub name or its folder; loaded on first use."""

    def __init__(self, model: str | None = None) -> None:
        if not installed():
            raise UsageError("vector search is not installed; run `pip install 'groundplan[semantic]'`")
        self.model = model or DEFAULT_MODEL

    def load(self) -> None:
        """Load the model now; raises WorldError if that fails."""
        _load_model(self.model)

    def documents(self, texts: Sequence[str]) -> Matrix:
        vectors = _load_model(self.model).encode_document(list(texts), normalize_embeddings=True)
        return np.asarray(vectors, dtype=np.float32)

    def queries(self, texts: Sequence[str]) -> Matrix:
        vectors = _load_model(self.model).encode_query(list(texts), normalize_embeddings=True)
        return np.asarray(vectors, dtype=np.float32)


class Vectors:
    """Exact search by cosine similarity."""

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, vectors: Matrix) -> Self:
        import faiss

        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(np.ascontiguousarray(vectors))
        return cls(index)

    @classmethod
    def load(cls, file: Path) -> Self:
        import faiss

        return cls(faiss.read_index(str(file)))

    def save(self, file: Path) -> None:
        import faiss

        faiss.write_index(self._index, str(file))

    def matrix(self) -> Matrix:
        return np.asarray(self._index.reconstruct_n(0, self._index.ntotal), dtype=np.float32)

    def scores(self, queries: Matrix) -> tuple[Matrix, NDArray[np.bool_]]:
        """For each query, the scores of all documents, and which of them are among the nearest."""
        near, rows = self._index.search(queries, min(NEAREST, self._index.ntotal))
        near = np.maximum(near, 0)
        scores = np.repeat(near[:, -1:], self._index.ntotal, axis=1)
        np.put_along_axis(scores, rows, near, axis=1)
        found = np.zeros(scores.shape, dtype=bool)
        np.put_along_axis(found, rows, True, axis=1)
        return scores, found


def installed() -> bool:
    return all(find_spec(name) for name in ("faiss", "sentence_transformers"))


@lru_cache(maxsize=2)
def _load_model(name: str) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(name, device="cpu", local_files_only=True)
    except OSError as error:
        missing = WorldError(
            f"the embedding model {name!r} cannot be loaded; download it, or name a folder as "
            "`embeddings` in groundplan.toml or in GROUNDPLAN_EMBEDDINGS"
        )
        if not _hub_answers():
            raise missing from error
    try:
        return SentenceTransformer(name, device="cpu")
    except OSError as error:
        raise missing from error


def _hub_answers() -> bool:
    """Asked once and briefly: the hub's own client tries each file again for half a minute."""
    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    try:
        urlopen(Request(hub, method="HEAD"), timeout=HUB_SECONDS).close()  # noqa: S310 - the user's own setting
    except HTTPError:
        return True
    except (OSError, ValueError):
        return False
    return True
