"""The search index of a catalog, cached on disk and rebuilt only when the catalog or the model changes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from groundplan.catalog.catalog import Catalog
from groundplan.catalog.search.bm25 import Lexical
from groundplan.catalog.search.documents import Document, documents
from groundplan.catalog.search.vectors import Embedder, Matrix, Vectors

FORMAT = 2  # raise it when the documents, words or files change
KEPT = 16  # indexes in a cache folder; the oldest are deleted
NAMES, WORDS, VECTORS = "names.json", "words", "vectors.faiss"


@dataclass(frozen=True)
class Index:
    names: tuple[str, ...]  # the rows of the scores
    lexical: Lexical
    vectors: Vectors | None = None


def open_index(catalog: Catalog, cache: Path, embedder: Embedder | None = None) -> Index:
    """The index of a catalog's tools, sorted by name."""
    return open_documents(catalog.version, lambda: documents(catalog), cache, embedder)


def open_documents(
    contents: str, read: Callable[[], Sequence[Document]], cache: Path, embedder: Embedder | None = None
) -> Index:
    """The cached index of these contents; otherwise built, and cached if the folder is writable."""
    place = cache / "index" / _key(contents, embedder)
    found = find_index(place)
    if found is None:
        read_now = read()
        found = build_index(read_now, embedder.documents([d.text for d in read_now]) if embedder else None)
        with suppress(OSError):
            save_index(found, place)
    return found


def build_index(of: Sequence[Document], vectors: Matrix | None = None) -> Index:
    """Built in memory; `vectors` are the embeddings of the documents' texts."""
    lexical = Lexical.build([document.words for document in of])
    names = tuple(document.id for document in of)
    return Index(names, lexical, Vectors.build(vectors) if vectors is not None and names else None)


def find_index(place: Path) -> Index | None:
    """The saved index; None if it is missing or damaged and must be rebuilt."""
    try:
        names = tuple(json.loads((place / NAMES).read_bytes()))
        vectors = Vectors.load(place / VECTORS) if (place / VECTORS).exists() else None
        return Index(names, Lexical.load(place / WORDS), vectors)
    except (OSError, ValueError, KeyError, EOFError, RuntimeError):  # FAISS raises RuntimeError if it cannot read
        return None


def save_index(index: Index, place: Path) -> None:
    """Written atomically, even if another process writes the same index."""
    part = place.with_name(f"{place.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        part.mkdir(parents=True, mode=0o700)
        index.lexical.save(part / WORDS)
        if index.vectors:
            index.vectors.save(part / VECTORS)
        (part / NAMES).write_text(json.dumps(index.names))
        shutil.rmtree(place, ignore_errors=True)  # an index that exists here is damaged, else it would be in use
        part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _forget_oldest(place.parent)


def _key(contents: str, embedder: Embedder | None) -> str:
    made_by = (FORMAT, version("bm25s"), version("PyStemmer"), embedder.model if embedder else "")
    return f"{contents}-{hashlib.sha256(repr(made_by).encode()).hexdigest()[:12]}"


def _forget_oldest(folder: Path) -> None:
    by_age = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in by_age[KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
