"""Where things are kept on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_state_path


def cache_folder() -> Path:
    """What can be made again: loaded files, compiled catalogs. `GROUNDPLAN_CACHE` moves it."""
    return _private(Path(os.environ.get("GROUNDPLAN_CACHE") or user_cache_path("groundplan")))


def state_folder() -> Path:
    """What must survive: checkpoints of runs. `GROUNDPLAN_STATE` moves it."""
    return _private(Path(os.environ.get("GROUNDPLAN_STATE") or user_state_path("groundplan")))


def _private(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
