"""DuckDB has a memory limit, spills into a folder of ours that exists, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import groundplan
from groundplan.settings import cache_folder
from groundplan.sources.tables.engine import duckdb_limits
from groundplan.sources.tables.source import Tables

SPILLING = """
import os, sys
from pathlib import Path
from groundplan.settings import cache_folder
from groundplan.sources.tables.source import Tables
source = Tables.open({path!r})
folder = cache_folder() / "spill" / str(os.getpid())
(folder / "left.tmp").write_bytes(b"x" * 1000)
print(folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    file = tmp_path / "sales.csv"
    file.write_text("region,revenue\nWest,3\n")
    return file


def setting(source: Tables, name: str) -> str:
    return str(source._executor.engine.backend.con.execute(f"SELECT current_setting('{name}')").fetchone()[0])


def test_there_is_a_limit_and_a_folder(sales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for source in (Tables.open(sales), Tables.scratch()):
        assert setting(source, "memory_limit").endswith("iB")
        assert setting(source, "max_temp_directory_size") == "18.6 GiB"
        assert Path(setting(source, "temp_directory")).is_dir()


def test_the_limit_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_MEMORY", "300MB")
    file = tmp_path / "other.csv"
    file.write_text("a,b\n1,2\n")
    assert setting(Tables.open(file), "memory_limit") == "286.1 MiB"


def test_a_large_aggregation_spills_and_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_MEMORY", "80MB")
    file = tmp_path / "big.parquet"
    import duckdb

    rows = "SELECT hash(i) AS customer, 1 AS revenue FROM range(3000000) t(i)"
    duckdb.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")
    with groundplan.open(file) as project:
        outcome = project.ask("how many different customers are there?")
    assert outcome.kind in ("answer", "refusal")
    assert "running/crash" not in str(outcome.outcome)
    if outcome.kind == "answer":
        assert "3,000,000" in outcome.text


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("by", ["kill", "end"])
def test_nothing_is_left_behind(by: str, sales: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SPILLING.format(path=str(sales))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    folder = Path(process.stdout.readline().strip())
    assert folder.is_dir()
    if by == "kill":
        process.send_signal(signal.SIGKILL)
    process.communicate()
    duckdb_limits._spill_folder.cache_clear()
    Tables.open(sales)  # the next one cleans up
    for _ in range(50):
        if not folder.exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"{folder} is still there")


def test_what_a_killed_process_left_half_loaded_is_deleted(sales: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    tables = cache_folder() / "tables"
    Tables.open(sales)
    left, own = tables / f".loading-{gone.pid}-abc", tables / f".loading-{os.getpid()}-abc"
    for folder in (left, own):
        folder.mkdir()
        (folder / "part.duckdb").write_bytes(b"x" * 1000)
    sales.write_text("region,revenue\nWest,4\n")
    Tables.open(sales)
    assert (left.exists(), own.exists()) == (False, True)
    shutil.rmtree(own)
