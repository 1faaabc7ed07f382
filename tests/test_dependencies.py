"""What is installed is declared, locked with hashes, and the locks fit what pyproject.toml asks for."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
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
    before = [(ROOT / name).read_bytes() for name in ("pyproject.toml", "CHANGELOG.md")]
    done = release(ROOT, "999.0.0")
    assert "-> 999.0.0" in done.stdout
    assert "Nothing was changed" in done.stdout
    assert [(ROOT / name).read_bytes() for name in ("pyproject.toml", "CHANGELOG.md")] == before
    assert release(ROOT, "0.0.1").returncode == 1


def test_the_version_of_the_project_can_be_released_and_only_once(clone: Path) -> None:
    present = PROJECT["project"]["version"]
    assert f"{present} -> {present}" in release(clone, present).stdout
    git(clone, "tag", f"v{present}")
    assert f"{present} was released already" in release(clone, present).stderr


def test_what_cannot_be_built_is_not_released(clone: Path) -> None:
    before = git(clone, "rev-parse", "HEAD")
    shutil.rmtree(clone / "web")
    git(clone, "commit", "--all", "--message", "Without pages")
    done = release(clone, "999.0.0", "--do")
    assert "nothing was released" in done.stderr, done
    assert git(clone, "rev-parse", "HEAD~1") == before
    assert git(clone, "tag", "--list", "v999.0.0") == git(clone, "status", "--porcelain") == ""


@pytest.mark.slow
def test_a_release_is_built_from_what_is_committed_and_tagged(clone: Path) -> None:
    done = release(clone, "999.0.0", "--do")
    assert done.returncode == 0, done.stderr
    assert git(clone, "status", "--porcelain") == ""
    assert git(clone, "describe") == "v999.0.0"
    wheel, sdist = sorted((clone / "dist").iterdir())
    assert (wheel.name, sdist.name) == ("groundplan-999.0.0-py3-none-any.whl", "groundplan-999.0.0.tar.gz")
    assert "groundplan/service/web/index.html" in zipfile.ZipFile(wheel).namelist()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Of what is committed, with the script as it is."""
    git(tmp_path, "clone", "--quiet", "--no-local", "--depth=1", f"file://{ROOT}", "clone")
    folder = tmp_path / "clone"
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.org")
    (folder / ".ci/release.py").write_bytes((ROOT / ".ci/release.py").read_bytes())
    git(folder, "commit", "--all", "--allow-empty", "--message", "The script")
    return folder


def release(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ".ci/release.py", *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
