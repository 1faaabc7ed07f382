"""A password in an address is in no message and in no file that we write."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import groundplan
from groundplan.errors import GroundplanError
from groundplan.interfaces.cli.main import app
from groundplan.sources.tables.engine.credentials import without_password

SECRET = "hunter22"
ADDRESSES = [
    f"postgres://me:{SECRET}%zz@127.0.0.1:9/db",  # a bad escape
    f"postgresql://me:{SECRET}@127.0.0.1:9/db",
    f"postgresql://me:{SECRET}@[127.0.0.1:9/db",
    f"postgresql://me:{SECRET}@127.0.0.1:port/db",
    f"postgresql://me:{SECRET}/x@127.0.0.1:9/db",
    f"postgresql://me:a@{SECRET}@127.0.0.1:9/db",
    f"postgresql://127.0.0.1:9/db?user=me&password={SECRET}",
    f"postgresql://127.0.0.1:9/db?password={SECRET}&nonsense=1",
    f"nosuch://me:{SECRET}@127.0.0.1/db",
    f"mysql://me:{SECRET}@127.0.0.1:9/db",
    f"postgres//me:{SECRET}@127.0.0.1/db",
    f"me:{SECRET}@127.0.0.1",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_message_holds_it(address: str) -> None:
    with pytest.raises(GroundplanError) as raised:
        groundplan.open(address)
    told = "".join(map(repr, (raised.value, raised.value.__cause__)))
    assert SECRET not in told
    assert raised.value.__cause__ is None or SECRET not in str(raised.value.__cause__)


@pytest.mark.parametrize("address", ADDRESSES)
def test_init_writes_no_password(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["init", address])
    assert isinstance(done.exception, GroundplanError)
    assert SECRET not in f"{done.output} {done.exception}"
    assert not (tmp_path / "groundplan.toml").exists()


def test_what_remains_is_of_use() -> None:
    assert without_password(f"postgresql://me:{SECRET}@db.example/x?a=b") == "postgresql://db.example/x"
    assert without_password("data@2024/sales.csv") == "data@2024/sales.csv"
