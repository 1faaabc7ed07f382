"""Sail, which answers Spark Connect without Java, as a process of the tests' own that can be killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.patience import HANGS

KEPT = 7_200  # seconds for which a session may do nothing: fixtures keep one between tests that are far apart


class Sail:
    """A server on a port that stays the same when it is killed and started again."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.address = f"spark://127.0.0.1:{self.port}"
        self.warehouse = TemporaryDirectory()  # where it keeps the rows of its tables
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [str(Path(sys.executable).with_name("sail")), "spark", "server", "--port", str(self.port)]
        settings = {**os.environ, "SAIL_SPARK__SESSION_TIMEOUT_SECS": str(self.kept)}
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=settings, cwd=self.warehouse.name
        )
        given_up = time.monotonic() + HANGS
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                if time.monotonic() > given_up or self.process.poll() is not None:
                    raise
            time.sleep(0.05)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


@contextmanager
def sail(kept: int = KEPT) -> Iterator[Sail]:
    """`kept`: seconds after which it forgets a session that does nothing."""
    pytest.importorskip("pysail", reason="needs Sail: pip install pysail")
    server = Sail(kept)
    server.start()
    try:
        yield server
    finally:
        server.kill()
        server.warehouse.cleanup()
