"""Where things are kept on this machine, and what a folder's groundplan.toml says."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from platformdirs import user_cache_path, user_state_path
from pydantic import ValidationError

from groundplan.contracts.contract import Contract
from groundplan.errors import UsageError

FILE = "groundplan.toml"


class Settings(Contract):
    """The keys of groundplan.toml."""

    source: str | None = None  # a file, a folder, a DuckDB file or a URL; a path is relative to the toml
    timezone: str = "UTC"
    embeddings: str | None = None  # a sentence-transformers model; needs the extra `semantic`


def load_settings(folder: Path) -> Settings:
    """Of this folder; the defaults where it has no groundplan.toml. `GROUNDPLAN_EMBEDDINGS` stands in for its key."""
    file = folder / FILE
    set_outside = {"embeddings": os.environ.get("GROUNDPLAN_EMBEDDINGS") or None}
    if not file.exists():
        return Settings.model_validate(set_outside)
    try:
        found = Settings.model_validate(set_outside | tomllib.loads(file.read_text(encoding="utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        keys = ", ".join(Settings.model_fields)
        raise UsageError(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}; it knows {keys}") from error
    if found.source and "://" not in found.source:
        return found.model_copy(update={"source": str(folder / found.source)})
    return found


def cache_folder() -> Path:
    """What can be made again: loaded files, compiled catalogs. `GROUNDPLAN_CACHE` moves it."""
    return _private(Path(os.environ.get("GROUNDPLAN_CACHE") or user_cache_path("groundplan")))


def state_folder() -> Path:
    """What must survive: checkpoints of runs. `GROUNDPLAN_STATE` moves it."""
    return _private(Path(os.environ.get("GROUNDPLAN_STATE") or user_state_path("groundplan")))


def _private(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
