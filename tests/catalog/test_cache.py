"""A compiled catalog is used again as long as, and only as long as, the files are the same."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from groundplan.catalog import cache as caching
from groundplan.catalog.catalog import Catalog
from groundplan.catalog.store import find_store
from groundplan.text import located_yaml
from tests.catalog.test_loading import BUILT_IN, ONE_TOOL

SOUND = ONE_TOOL % "{type: object, additionalProperties: false}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.yaml"
    path.write_text(SOUND)
    time.sleep(0.12)  # until its clock stamp can be trusted
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every content that a YAML parser was given."""
    contents: list[bytes] = []
    loader = located_yaml.LOADER

    def counting(content: bytes) -> object:
        contents.append(content)
        return loader(content)

    monkeypatch.setattr(located_yaml, "LOADER", counting)
    return contents


def compiled(cache: Path) -> list[Path]:
    return sorted(cache.glob("*.sqlite"))


def test_the_second_load_reads_no_yaml_and_gives_the_same(file: Path, cache: Path, parsed: list[bytes]) -> None:
    first = Catalog.load([file], cache)
    assert len(parsed) == 3
    second = Catalog.load([file], cache)
    assert len(parsed) == 3
    assert dict(second.tools) == dict(first.tools)
    assert second.vocabulary == first.vocabulary
    assert second.version == first.version == Catalog.load([file]).version


def test_the_second_load_reads_no_tool_file(file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Catalog.load([file], cache)
    monkeypatch.setattr(Path, "read_bytes", only_manifests(Path.read_bytes))
    assert "count_rows" in Catalog.load([file], cache).tools


def only_manifests(read: Callable[[Path], bytes]) -> Callable[[Path], bytes]:
    def guarded(path: Path) -> bytes:
        assert path.suffix == ".json", f"{path} was read again"
        return read(path)

    return guarded


def test_a_changed_file_is_compiled_anew_and_the_old_form_is_removed(file: Path, cache: Path) -> None:
    Catalog.load([file], cache)
    old = compiled(cache)
    file.write_text(SOUND.replace("count_rows", "count_cols"))  # as long as before
    assert list(Catalog.load([file], cache).tools) == ["count_cols"]
    assert len(compiled(cache)) == 1
    assert compiled(cache) != old


def test_a_change_that_keeps_size_and_time_of_writing_is_seen(file: Path, cache: Path) -> None:
    stamp = file.stat()
    Catalog.load([file], cache)
    file.write_text(SOUND.replace("count_rows", "count_cols"))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert list(Catalog.load([file], cache).tools) == ["count_cols"]


def test_a_file_read_in_the_tick_it_was_written_in_is_read_again(file: Path) -> None:
    stamps = caching._stamps([file])
    written = file.stat().st_ctime_ns
    at_once = caching.Manifest(read_at=written + 1, stamps=stamps, hash="")
    later = caching.Manifest(read_at=written + 2 * caching.SETTLED_NS, stamps=stamps, hash="")
    assert (at_once.holds(stamps), later.holds(stamps)) == (False, True)


def test_a_touched_file_keeps_its_compiled_form(file: Path, cache: Path, parsed: list[bytes]) -> None:
    Catalog.load([file], cache)
    file.touch()
    Catalog.load([file], cache)
    assert len(parsed) == 3


def test_changed_checks_compile_anew(
    file: Path, cache: Path, parsed: list[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Catalog.load([file], cache)
    other = tmp_path / "params.py"
    other.write_text("# stricter\n")
    monkeypatch.setattr(caching, "CHECKS", (*caching.CHECKS[:-1], other))
    Catalog.load([file], cache)
    assert len(parsed) == 6


def test_a_damaged_form_is_made_again(file: Path, cache: Path) -> None:
    Catalog.load([file], cache)
    (form,) = compiled(cache)
    form.write_bytes(form.read_bytes()[:100] + b"\0" * 5000)
    assert "count_rows" in Catalog.load([file], cache).tools
    (cache / next(cache.glob("*.json")).name).write_text("{")
    assert "count_rows" in Catalog.load([file], cache).tools


def test_a_cache_that_cannot_be_written_is_done_without(file: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    assert "count_rows" in Catalog.load([file], blocked / "cache").tools
    assert "count_rows" in Catalog.load([file], blocked).tools


def test_the_compiled_form_cannot_be_written(file: Path, cache: Path) -> None:
    Catalog.load([file], cache)
    store = find_store(compiled(cache)[0])
    assert store is not None
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store._connection.execute("delete from tool")
    assert sorted(path.suffix for path in cache.iterdir()) == [".json", ".sqlite"]


def test_several_projects_share_a_cache_folder(file: Path, cache: Path) -> None:
    both = Catalog.load([file, BUILT_IN], cache)
    one = Catalog.load([file], cache)
    assert len(both.tools) == len(Catalog.load([BUILT_IN], cache).tools) + len(one.tools)
    assert len(compiled(cache)) == 3
