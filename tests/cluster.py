"""A PostgreSQL server of the tests' own, which can be stopped and started again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@dataclass(frozen=True)
class Cluster:
    folder: Path
    port: int

    @property
    def url(self) -> str:
        """Of a superuser."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off"
        self._control("-l", str(self.folder / "log"), "-o", options, "start")

    def crash(self) -> None:
        """Stop as in a crash: connections break off, and the next start recovers from the log."""
        self._control("-m", "immediate", "stop")

    def _control(self, *arguments: str) -> None:
        _as_postgres([str(BINARIES[-1].with_name("pg_ctl")), "-D", str(self.folder / "data"), "-w", "-s", *arguments])


@contextmanager
def cluster() -> Iterator[Cluster]:
    if not BINARIES:
        pytest.skip("no PostgreSQL binaries under /usr/lib/postgresql")
    folder = Path(f"/tmp/gp-{uuid.uuid4().hex[:8]}")  # short: a socket's path may have 107 bytes
    folder.mkdir()
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        _as_postgres(
            [str(BINARIES[-1]), "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8"]
        )
        found = Cluster(folder, _free_port())
        found.start()
        yield found
        found.crash()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_postgres(command: list[str]) -> None:
    """PostgreSQL refuses to run as root."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*prefix, *command], check=True, stdout=subprocess.DEVNULL, cwd="/")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
