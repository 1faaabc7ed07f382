"""Call number n fails, for every n: of servers, of files, of the disk and of memory. The run ends typed and in time."""

from __future__ import annotations

import asyncio
import builtins
import errno
import io
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest

import groundplan
from groundplan.contracts.facts import Complete
from groundplan.errors import DeadlineExceeded, GroundplanError, SourceError, TransientError
from groundplan.llm.reply import ModelError
from tests.asking.tables.described import SALES
from tests.llm.scripted import (
    Behaviour,
    dies_within,
    hangs,
    hangs_up,
    sends,
)
from tests.llm.test_faults import HALF
from tests.llm.test_faults import ask as ask_model
from tests.patience import SOON
from tests.sources.tableau.calling import BY_REGION, ask, opened, rows, run
from tests.sources.tableau.double.serving import Fault
from tests.sources.tableau.double.tableau import Tableau
from tests.sources.tableau.test_source_faults import DROPPED, LASTING, PASSING, SECONDS


@pytest.mark.requirement("R42", "R46")
@pytest.mark.parametrize("endpoint", ["signin", "datasource", "read-metadata", "query-datasource"])
@pytest.mark.parametrize(
    "fault", [fault for fault in get_args(Fault) if fault not in ("wrong types", "error half way")]
)
def test_a_fault_on_any_call_ends_typed_in_time(tableau: Tableau, tmp_path: Path, fault: Fault, endpoint: str) -> None:
    tableau.fault(fault, on=tableau.luid if endpoint == "datasource" else endpoint)
    begun = time.monotonic()
    outcome = run(opened(tableau, tmp_path, request_seconds=0.2), BY_REGION, SECONDS)
    assert time.monotonic() - begun < SOON
    assert len(tableau.requests) <= 4 * 3 + 4
    if outcome.status == "finished":
        assert outcome.facts is not None
        assert (outcome.facts.rows, outcome.facts.state) == (4, Complete())
    else:
        assert outcome.issue is not None
        assert outcome.issue.code in ("running/tool", "running/unavailable", "running/deadline")
    assert "CANARY" not in outcome.model_dump_json()


@pytest.mark.requirement("R41", "R46")
@pytest.mark.parametrize("fault", [*PASSING, *DROPPED])
def test_what_passes_is_tried_again(tableau: Tableau, tmp_path: Path, fault: Fault) -> None:
    tableau.fault(fault, times=2)
    assert len(rows(ask(opened(tableau, tmp_path, request_seconds=1.5), BY_REGION))) == 4
    assert tableau.count("query-datasource") == 3


@pytest.mark.requirement("R41", "R46")
@pytest.mark.parametrize("fault", [*LASTING, "error half way", "vanished data source"])
def test_what_lasts_is_asked_once(tableau: Tableau, tmp_path: Path, fault: Fault) -> None:
    tableau.fault(fault)
    with pytest.raises(SourceError) as caught:
        ask(opened(tableau, tmp_path), BY_REGION)
    assert tableau.count("query-datasource") == 1
    assert "CANARY" not in str(caught.value)


def test_patience_beyond_the_deadline_is_not_waited_for(tableau: Tableau, tmp_path: Path) -> None:
    tableau.fault("429000 after 600")
    begun = time.monotonic()
    with pytest.raises(SourceError, match=r"too many queries in this hour .* try again later"):
        ask(opened(tableau, tmp_path), BY_REGION)
    assert time.monotonic() - begun < SOON
    assert tableau.count("query-datasource") == 1


@pytest.mark.requirement("R40")
@pytest.mark.parametrize(
    ("behaviour", "error", "tries"),
    [
        pytest.param(sends(429, "busy"), TransientError, 3, id="429"),
        pytest.param(sends(429, "busy", retry_after="600"), TransientError, 1, id="429 until after the deadline"),
        pytest.param(sends(429, "busy", retry_after="0"), TransientError, 3, id="429 with no wait"),
        pytest.param(
            sends(429, "busy", retry_after="Wed, 21 Oct 2037 07:28:00 GMT"), TransientError, 3, id="429, a date"
        ),
        pytest.param(sends(408, "slow"), TransientError, 3, id="408"),
        pytest.param(sends(500, "broken"), TransientError, 3, id="500"),
        pytest.param(sends(503, "<html>", "text/html"), TransientError, 3, id="503 as a page"),
        pytest.param(hangs_up, TransientError, 3, id="hangs up"),
        pytest.param(dies_within(HALF), TransientError, 3, id="dies within the body"),
        pytest.param(hangs, DeadlineExceeded, 1, id="hangs"),
        pytest.param(sends(200, HALF), ModelError, 1, id="half a JSON"),
        pytest.param(sends(200, ""), ModelError, 1, id="empty body"),
        pytest.param(sends(200, "<html>hello</html>", "text/html"), ModelError, 1, id="a page"),
        pytest.param(sends(200, '{"object": "chat.completion", "choices": []}'), ModelError, 1, id="no choices"),
        pytest.param(sends(200, '{"object": "list", "data": []}'), ModelError, 1, id="another endpoint"),
        pytest.param(sends(400, "no such thing"), ModelError, 1, id="400"),
        pytest.param(sends(401, "who are you"), ModelError, 1, id="401"),
        pytest.param(sends(404, "no such model"), ModelError, 1, id="404"),
        pytest.param(sends(307, "", location="http://127.0.0.1:1/"), ModelError, 1, id="redirect"),
    ],
)
def test_a_broken_server_ends_typed_and_in_time(behaviour: Behaviour, error: type[GroundplanError], tries: int) -> None:
    outcome, server, seconds = asyncio.run(ask_model(behaviour))
    assert type(outcome) is error or (error is ModelError and isinstance(outcome, ModelError)), outcome
    assert "scripted" in str(outcome)
    assert len(server.requests) == 1 + tries
    assert seconds < SOON


FILES = ("mkdir", "open", "replace", "unlink")


class Failing:
    """Call number `n` of these functions of Python fails; the others are made."""

    def __init__(self, n: int, error: OSError) -> None:
        self.n, self.error, self.calls = n, error, 0

    def wrap(self, honest: Callable[..., Any], counts: Callable[..., bool]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if counts(*args, **kwargs):
                self.calls += 1
                if self.calls == self.n:
                    raise self.error
            return honest(*args, **kwargs)

        return call


@contextmanager
def failing(n: int, error: OSError, folder: Path) -> Iterator[Failing]:
    """Opening, making, renaming and deleting files below the folder."""
    fault = Failing(n, error)

    def below(path: object, *_: object, **__: object) -> bool:
        return isinstance(path, str | os.PathLike) and str(path).startswith(str(folder))

    with pytest.MonkeyPatch.context() as patch:
        for module, name in [
            (builtins, "open"),
            (io, "open"),
            (os, "mkdir"),
            (os, "replace"),
            (os, "unlink"),
            (os, "open"),
        ]:
            patch.setattr(module, name, fault.wrap(getattr(module, name), below))
        yield fault


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EMFILE], ids=errno.errorcode.get)
def test_a_file_operation_that_fails_ends_typed_and_the_next_run_works(
    error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every call on the cache and the state, one after the other, until a run meets none."""
    for name in ("cache", "state"):
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(f"GROUNDPLAN_{name.upper()}", str(tmp_path / name))
    sales = tmp_path / "sales.csv"
    n, ended = 1, []
    while True:
        sales.write_text(f"region,revenue\nWest,{n}\n")  # loaded anew each time
        with failing(n, OSError(error, os.strerror(error), "a file"), tmp_path) as fault:
            try:
                with groundplan.open(sales) as project:
                    outcome = project.ask("total revenue", thread="t")
                    ended.append(outcome.kind)
            except GroundplanError as failure:
                ended.append(type(failure).__name__)
        if fault.calls < n:
            break
        n += 1
        assert n < 200
    assert n > 5, "some calls must have failed"
    assert ended[-1] == "answer"
    assert not {"Crashed"} & set(ended), ended


LIMITED = """
import resource, sys
resource.setrlimit(getattr(resource, {limit!r}), ({size}, {size}))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from groundplan.interfaces.cli.main import main
sys.argv = ["groundplan", "ask", {sales!r}, "total revenue by region", "--thread", "t", *{more!r}]
main()
"""


def limited(limit: str, size: int, tmp_path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "GROUNDPLAN_CACHE": str(tmp_path / "cache"),
        "GROUNDPLAN_STATE": str(tmp_path / "state"),
    }
    program = LIMITED.format(limit=limit, size=size, sales=str(SALES), more=more)
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    "size", [1_000, 100_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 20_000, 300_000))]
)
def test_a_disk_that_is_full_after_so_many_bytes_ends_typed(size: int, tmp_path: Path) -> None:
    """No file grows beyond the limit, which is what a full disk looks like; then there is room again."""
    (tmp_path / "out").mkdir()
    done = limited("RLIMIT_FSIZE", size, tmp_path, "--output", str(tmp_path / "out"))
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in (0, 2, 4), (done.returncode, done.stderr)
    again = limited("RLIMIT_FSIZE", resource.RLIM_INFINITY, tmp_path)
    assert again.returncode == 0, again.stderr
    assert "West has the highest revenue" in again.stdout


@pytest.mark.parametrize("size", [1_600_000_000, *(pytest.param(n * 10**8, marks=pytest.mark.slow) for n in (12, 24))])
def test_little_memory_ends_typed_or_in_the_answer(size: int, tmp_path: Path) -> None:
    """Address space, of which the libraries take most. Below, the system's loader aborts before Python can tell."""
    done = limited("RLIMIT_AS", size, tmp_path)
    assert "Traceback" not in done.stderr, done.stderr[-500:]
    said = {
        0: "West has the highest revenue",
        1: "cannot be read",  # the table; a refusal
        4: "groundplan: ",
        5: "groundplan: this is a fault in groundplan: ",
    }[done.returncode]
    assert said in done.stdout + done.stderr
    again = limited("RLIMIT_AS", resource.RLIM_INFINITY, tmp_path)
    assert again.returncode == 0, again.stderr


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc").is_dir(), reason="needs a folder that cannot be written to")
@pytest.mark.parametrize("folder", ["cache", "state"])
def test_a_home_that_cannot_be_written_to_is_named(folder: str, tmp_path: Path) -> None:
    environment = {**os.environ, "GROUNDPLAN_CACHE": str(tmp_path), f"GROUNDPLAN_{folder.upper()}": "/proc/read-only"}
    command = [
        sys.executable,
        "-m",
        "groundplan.interfaces.cli.main",
        "ask",
        str(SALES),
        "total revenue",
        "--thread",
        "t",
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert f"set GROUNDPLAN_{folder.upper()}" in done.stderr or "GROUNDPLAN_CACHE" in done.stderr
