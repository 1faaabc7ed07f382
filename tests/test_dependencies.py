"""What is installed is declared, locked with hashes, and the locks fit what pyproject.toml asks for."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS, GROUPS = PROJECT["project"]["optional-dependencies"], PROJECT["dependency-groups"]
DRIVERS = {"bigquery", "clickhouse", "delta", "iceberg", "mysql", "snowflake", "spark", "trino"}  # of engines
LOCAL = [extra for extra in EXTRAS if extra != "semantic" and extra not in DRIVERS]
NOT_LOCKED = {"torch"}  # installed first: which build fits depends on the machine
LOCKS = {
    "run": [*PROJECT["project"]["dependencies"], *(line for extra in LOCAL for line in EXTRAS[extra])],
    "dev": GROUPS["dev"],
    "release": GROUPS["release"],
    "models": [*EXTRAS["semantic"], *GROUPS["semantic"], *GROUPS["models"]],
}
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;]+)[^\\]*\\(\n    --hash=sha256:[0-9a-f]{64}( \\)?)+$", re.MULTILINE)


def locked(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
    return {canonicalize_name(found[1]): found[2] for found in PINNED.finditer(text)}


@pytest.mark.parametrize("name", LOCKS)
def test_every_dependency_is_locked_at_a_version_that_is_asked_for(name: str) -> None:
    pinned = locked(name)
    for wanted in map(Requirement, LOCKS[name]):
        if canonicalize_name(wanted.name) not in NOT_LOCKED:
            version = pinned.get(canonicalize_name(wanted.name))
            assert version, f"{wanted.name} is not in requirements/{name}.lock; run `make lock`"
            assert wanted.specifier.contains(version, prereleases=True), f"{wanted} is locked at {version}"


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_pinned_versions_with_hashes_and_nothing_else(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
    left = [line for line in PINNED.sub("", text).splitlines() if line and not line.startswith("#")]
    assert left == [], "no package without a hash, no option and no package host"


def test_the_locks_agree() -> None:
    run, dev, release, models = map(locked, LOCKS)
    assert run.items() <= dev.items()
    assert all(dev.get(name, version) == version for lock in (release, models) for name, version in lock.items())


def test_everything_that_is_imported_is_declared() -> None:
    command = [sys.executable, "-m", "deptry", "src"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_undeclared_import_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "planted"\nversion = "1"\ndependencies = []\n')
    (tmp_path / "planted.py").write_text("import numpy\n")
    command = [sys.executable, "-m", "deptry", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "numpy" in done.stderr


def test_a_release_is_shown_and_nothing_is_changed() -> None:
    command = [sys.executable, ".ci/release.py", "999.0.0"]
    before = [(ROOT / name).read_bytes() for name in ("pyproject.toml", "CHANGELOG.md")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "-> 999.0.0" in done.stdout
    assert "Nothing was changed" in done.stdout
    assert [(ROOT / name).read_bytes() for name in ("pyproject.toml", "CHANGELOG.md")] == before
    assert subprocess.run([*command[:2], "0.0.1"], cwd=ROOT, capture_output=True, check=False).returncode == 1
