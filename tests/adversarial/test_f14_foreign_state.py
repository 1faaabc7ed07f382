"""Folders that somebody else could have filled are not used for the cache or the state."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from groundplan.errors import UsageError
from groundplan.settings import cache_folder, state_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and owners are those of POSIX")
FOLDERS = [("GROUNDPLAN_CACHE", cache_folder), ("GROUNDPLAN_STATE", state_folder)]


@pytest.mark.parametrize(("variable", "folder"), FOLDERS)
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, 0o722])
def test_a_folder_that_others_may_write_to_is_refused(
    variable: str, folder: Callable[[], Path], mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    monkeypatch.setenv(variable, str(shared))
    with pytest.raises(UsageError, match="chmod go-w"):
        folder()


@pytest.mark.parametrize(("variable", "folder"), FOLDERS)
def test_a_folder_of_another_user_is_refused(
    variable: str, folder: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(UsageError, match="belongs to another user"):
        folder()


@pytest.mark.parametrize(("variable", "folder"), FOLDERS)
def test_a_folder_that_cannot_be_made_is_named(
    variable: str, folder: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(variable, str(tmp_path / "file" / "below"))
    with pytest.raises(UsageError, match="set GROUNDPLAN_CACHE"):
        folder()


def test_a_new_folder_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_STATE", str(tmp_path / "new"))
    assert state_folder().stat().st_mode & 0o777 == 0o700
