"""Apache Spark itself, as a server of Spark Connect: only `make slow` runs it, where Java and Spark are.

`GROUNDPLAN_TEST_SPARK` is FOLDER/pyspark after `pip install --target=FOLDER --no-deps pyspark==4.0.4`.
It must not be installed where the client is. It may also be the address of a server that runs already.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

STARTED_WITHIN = 120.0  # seconds; 15 to 30 on an idle machine
SETTINGS = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "2",  # the tables have hundreds of rows
    "spark.ui.enabled": "false",
}


@contextmanager
def real_spark() -> Iterator[str]:
    """The address of a server with ANSI mode, as Spark 4 has by default."""
    pytest.importorskip("pyspark", reason="needs the extra `spark`")
    home = os.environ.get("GROUNDPLAN_TEST_SPARK", "")
    if home.startswith("spark://"):
        yield home
        return
    if not home or shutil.which("java") is None:
        pytest.skip("needs Java 17, and Spark's folder in GROUNDPLAN_TEST_SPARK; see tests/real_spark.py")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    given = [part for name, value in SETTINGS.items() for part in ("--conf", f"{name}={value}")]
    command = [
        str(Path(home, "bin", "spark-submit")),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]"),
        *given,
        *("--conf", f"spark.connect.grpc.binding.port={port}", "spark-internal"),
    ]
    with TemporaryDirectory() as folder, Path(folder, "log").open("wb") as log:
        known = {**os.environ, "SPARK_HOME": home, "SPARK_LOCAL_DIRS": folder, "SPARK_LOCAL_IP": "127.0.0.1"}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=known, cwd=folder)
        try:
            _wait(process, port, Path(folder, "log"))
            yield f"spark://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    given_up = time.monotonic() + STARTED_WITHIN
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError as error:
            if time.monotonic() > given_up or process.poll() is not None:
                raise AssertionError(f"Spark did not start: {log.read_text(errors='replace')[-2_000:]}") from error
        time.sleep(0.5)
