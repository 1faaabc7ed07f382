"""Keeps compiled catalogs on disk, so that unchanged tool files are not read again."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from groundplan.catalog import loading, params
from groundplan.catalog.loading import load_file, read_tools
from groundplan.catalog.store import FORMAT, Store, compile_tools, find_store
from groundplan.catalog.vocabulary import CAPABILITIES, REQUIREMENTS, load_vocabulary
from groundplan.contracts import tool
from groundplan.contracts.contract import Contract
from groundplan.text.located_yaml import File

CHECKS = tuple(Path(module.__file__) for module in (loading, params, tool) if module.__file__)
SETTLED_NS = 100_000_000  # file clocks are coarse: a file changed more recently may change again with the same stamp

Stamp = tuple[int, int, int, int]


class Manifest(Contract):
    """The stat data of a set of files when they were read, and the hash of their contents."""

    read_at: int
    stamps: tuple[Stamp, ...]
    hash: str

    def holds(self, stamps: tuple[Stamp, ...]) -> bool:
        return stamps == self.stamps and all(changed < self.read_at - SETTLED_NS for _, _, changed, _ in stamps)


def load_store(files: Sequence[Path], cache: Path | None) -> Store:
    """The cached store if the files are unchanged; otherwise compiled, and cached if the folder is writable."""
    inputs = (*(path.absolute() for path in files), CAPABILITIES, REQUIREMENTS, *CHECKS)
    if cache is None:
        return _compiled([load_file(path) for path in inputs], len(files))
    manifest = cache.absolute() / f"catalog-{_digest(*(str(path).encode() for path in inputs))[:16]}.json"
    known = _find_manifest(manifest)
    if known and known.holds(_stamps(inputs)) and (store := find_store(_place(manifest.parent, known.hash))):
        return store
    return _refreshed(inputs, len(files), manifest, known)


def _refreshed(inputs: Sequence[Path], tool_files: int, manifest: Path, known: Manifest | None) -> Store:
    read_at, stamps = time.time_ns(), _stamps(inputs)
    contents = [load_file(path) for path in inputs]
    now = Manifest(read_at=read_at, stamps=stamps, hash=_digest(*(file.content for file in contents)))
    place = _place(manifest.parent, now.hash)
    store = find_store(place)
    if store is None:
        store = _save(_compiled(contents, tool_files), place)
    _remember(manifest, now, known)
    return store


def _compiled(contents: Sequence[File], tool_files: int) -> Store:
    vocabulary = load_vocabulary(*contents[tool_files : tool_files + 2])
    return compile_tools(read_tools(contents[:tool_files], vocabulary), vocabulary)


def _save(store: Store, place: Path) -> Store:
    """The store opened from its file, or the one in memory if the folder cannot be written."""
    with suppress(OSError, sqlite3.OperationalError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        store.save(place)
    return find_store(place) or store


def _remember(manifest: Path, now: Manifest, before: Manifest | None) -> None:
    part = manifest.with_name(f"{manifest.name}.{os.getpid()}-{os.urandom(4).hex()}")
    with suppress(OSError):
        part.write_text(now.model_dump_json())
        part.replace(manifest)
        if before and before.hash != now.hash:
            _place(manifest.parent, before.hash).unlink(missing_ok=True)


def _find_manifest(path: Path) -> Manifest | None:
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _place(cache: Path, contents: str) -> Path:
    return cache / f"catalog-{contents}.sqlite"


def _stamps(paths: Sequence[Path]) -> tuple[Stamp, ...]:
    return tuple(_stamp(path) for path in paths)


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0, 0)  # reading the file later raises the error
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256(str(FORMAT).encode())
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()
