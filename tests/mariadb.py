"""A MariaDB server of the tests' own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import HANGS

SERVER, INSTALL = shutil.which("mariadbd"), shutil.which("mariadb-install-db")


@contextmanager
def mariadb() -> Iterator[str]:
    """The address of a server without tables, for a user who may do everything."""
    if SERVER is None or INSTALL is None:
        pytest.skip("no MariaDB server: apt-get install mariadb-server")
    pytest.importorskip("MySQLdb", reason="needs the extra `mysql`: pip install 'groundplan[mysql]'")
    folder = Path(f"/tmp/gp-{uuid.uuid4().hex[:8]}")  # short: a socket's path may have 107 bytes
    folder.mkdir()
    user = [f"--user={'mysql' if os.geteuid() == 0 else os.environ.get('USER', '')}"]
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "mysql", "mysql")
        plain = ["--no-defaults", f"--datadir={folder}/data", *user]
        made = [INSTALL, *plain, "--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        port = _free_port()
        (folder / "init.sql").write_text(
            "CREATE USER tester@127.0.0.1;\nGRANT ALL ON *.* TO tester@127.0.0.1 WITH GRANT OPTION;\n"
        )
        options = [f"--socket={folder}/s", f"--pid-file={folder}/pid", "--bind-address=127.0.0.1", f"--port={port}"]
        fast = ["--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0", f"--init-file={folder}/init.sql"]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen([SERVER, *plain, *options, *fast], stdout=log, stderr=log, cwd="/")
        try:
            _wait_for(port)
            yield f"mysql://tester@127.0.0.1:{port}"
        finally:
            server.kill()
            server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int) -> None:
    import MySQLdb

    given_up = time.monotonic() + HANGS
    while True:
        try:
            return MySQLdb.connect(host="127.0.0.1", port=port, user="tester").close()
        except MySQLdb.Error:
            if time.monotonic() > given_up:
                raise
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
