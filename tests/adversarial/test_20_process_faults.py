"""Killed, stopped or terminated at any moment: another process goes on, and no finished step runs again."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from groundplan.errors import StateInvalid
from groundplan.running.run import run
from tests.patience import HANGS
from tests.running.saving import saved_in
from tests.running.scripted import Scripted, checked, step

ROOT = Path(__file__).parents[2]
WHOLE = "z(x2(x1()),y3(y2(y1())))"


def start(database: Path, log: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.running.killed", str(database), str(log), *more]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ})


def wait_for(log: Path, line: str, seconds: float = HANGS) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if log.exists() and line in log.read_text():
            return
        time.sleep(0.005)
    raise AssertionError(f"{line!r} never appeared")


def saved_steps(database: Path) -> set[str]:
    """The steps whose outcome had reached the disk."""

    async def read() -> set[str]:
        async with saved_in(database) as saved:
            found = await saved.aget_tuple({"configurable": {"thread_id": "one", "checkpoint_ns": ""}})
        writes = [value for _, _, value in (found.pending_writes or ())] if found else []
        return {value["facts"]["step"] for value in writes if isinstance(value, dict) and value.get("facts")}

    return asyncio.run(read())


@pytest.mark.requirement("R37", "R43")
@pytest.mark.parametrize("kill_after", ["end y1", "end y2", "begin y3", "end y3", "end x1", "begin x2"])
def test_a_killed_run_goes_on_in_a_new_process(kill_after: str, tmp_path: Path) -> None:
    database, log = tmp_path / "state", tmp_path / "log"
    first = start(database, log)
    wait_for(log, kill_after)
    time.sleep(0.03)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = log.read_text().splitlines()
    ended = {line.split()[1] for line in before if line.startswith("end")}
    finished = saved_steps(database)
    assert finished <= ended
    assert len(ended - finished) <= 1, "at most the step that had just ended was not on the disk yet"
    assert "z" not in ended, "killed too late to show anything"

    second = start(database, log, "resume")
    output, _ = second.communicate(timeout=60)
    assert second.returncode == 0
    assert output.strip() == WHOLE, "every result stayed with its step"
    again = Counter(line.split()[1] for line in log.read_text().splitlines()[len(before) :] if line.startswith("begin"))
    assert set(again) == {"x1", "x2", "y1", "y2", "y3", "z"} - finished, "finished steps do not run again"
    assert set(again.values()) == {1}


@pytest.mark.requirement("R37")
def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    async def twice() -> tuple[Scripted, Scripted]:
        plan, first, second = checked(step("a"), step("b", "a")), Scripted(), Scripted()
        async with saved_in(tmp_path) as saved:
            one = await run(plan, {"scripted": first}, run_id="r", checkpointer=saved)
            two = await run(plan, {"scripted": second}, run_id="r", checkpointer=saved, resume=True)
        assert one == two
        return first, second

    first, second = asyncio.run(twice())
    assert first.calls == {"a": 1, "b": 1}
    assert not second.calls


@pytest.mark.requirement("R37")
def test_a_run_is_resumed_only_with_its_own_plan(tmp_path: Path) -> None:
    async def other_plan() -> None:
        async with saved_in(tmp_path) as saved:
            going = asyncio.create_task(
                run(checked(step("a", ms=5000)), {"scripted": Scripted()}, run_id="r", checkpointer=saved)
            )
            await asyncio.sleep(0.5)
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)
            with pytest.raises(StateInvalid, match="another plan"):
                await run(checked(step("b")), {"scripted": Scripted()}, run_id="r", checkpointer=saved, resume=True)
            with pytest.raises(StateInvalid, match="no run"):
                await run(checked(step("b")), {"scripted": Scripted()}, run_id="x", checkpointer=saved, resume=True)

    asyncio.run(other_plan())


def signalled(folder: Path, sent: signal.Signals, runs: int) -> None:
    """Every run ends as it should, the state is whole after the last, and the next run gives the first one's answer."""
    state, cache = folder / "state", folder / "cache"
    for path in (state, cache):
        path.mkdir(mode=0o700)
    shutil.copy(ROOT / "examples/sales.csv", folder)
    command = [sys.executable, "-m", "tests.adversarial.signalled", str(folder), str(sent.value), str(runs), "20261116"]
    environment = {**os.environ, "GROUNDPLAN_STATE": str(state), "GROUNDPLAN_CACHE": str(cache), "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    first, *stopped, last = [json.loads(line) for line in done.stdout.splitlines()]
    ended = {130} if sent is signal.SIGINT else {-signal.SIGTERM}
    assert len(stopped) == runs
    assert [run for run in stopped if run["code"] not in {0, *ended}] == []
    assert {run["code"] for run in stopped} & ended, "no signal came in time to show anything"
    assert [run["text"] for run in stopped if "Traceback" in run["text"]] == []
    assert (first["code"], last["code"]) == (0, 0)
    assert answer_in(last) == answer_in(first)
    with closing(sqlite3.connect(state / "state.sqlite")) as kept:
        assert kept.execute("pragma integrity_check").fetchone() == ("ok",)
    assert list((cache / "tables").glob(".loading-*")) == [], "the next run deletes what a stopped one left half loaded"


def answer_in(run: dict[str, Any]) -> str:
    """The table and the sentence, without the times of the steps."""
    return str(run["text"]).partition("┌")[2]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_command_stopped_at_a_random_moment_leaves_whole_state(sent: signal.Signals, tmp_path: Path) -> None:
    signalled(tmp_path, sent, 3)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_command_stopped_at_a_hundred_random_moments_leaves_whole_state(sent: signal.Signals, tmp_path: Path) -> None:
    signalled(tmp_path, sent, 100)


def effects_signalled(folder: Path, sent: signal.Signals, runs: int) -> None:
    """Every mail is sent at most once, and the resumed run says so: all are sent, or what became of one is unknown."""
    (folder / "state").mkdir(mode=0o700)
    command = [
        sys.executable,
        "-m",
        "tests.adversarial.signalled_effects",
        str(folder),
        str(sent.value),
        str(runs),
        "7",
    ]
    environment = {**os.environ, "GROUNDPLAN_STATE": str(folder / "state")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    ended = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ended) == runs
    stopped = [run for run in ended if run["codes"][0] in (130, -sent)]
    assert stopped, "no signal came in time to show anything"
    for one in ended:
        assert set(one["sent"].values()) <= {1}, one
        assert one["codes"][1] == 0, one
        if one["ended"]["kind"] == "answer" and "unknown" not in one["ended"]["text"]:
            assert set(one["sent"]) == {"first", "second", "third"}, one
        else:
            assert "it is unknown whether" in one["ended"]["text"], one


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_effects_stopped_at_a_random_moment_happen_once(sent: signal.Signals, tmp_path: Path) -> None:
    effects_signalled(tmp_path, sent, 2)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_effects_stopped_at_a_hundred_random_moments_happen_once(sent: signal.Signals, tmp_path: Path) -> None:
    effects_signalled(tmp_path, sent, 100)
