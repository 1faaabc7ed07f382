"""Packages installed the way pip leaves them: a module and the metadata that names its entry points."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parent / "packages"
Command = Callable[..., subprocess.CompletedProcess[str]]


def install(site: Path, packages: dict[str, str]) -> None:
    """The modules and the entry points of these packages, in a folder for PYTHONPATH."""
    for package, points in packages.items():
        for file in (PACKAGES / package).iterdir():
            if file.is_file():
                shutil.copy(file, site)
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """`groundplan` in a folder of its own, with these packages installed."""
    site, work = tmp_path / "site", tmp_path / "work"
    site.mkdir()
    work.mkdir()

    def run(*arguments: str, packages: dict[str, str]) -> subprocess.CompletedProcess[str]:
        install(site, packages)
        path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
        return subprocess.run(
            [sys.executable, "-m", "groundplan.interfaces.cli.main", *arguments],
            capture_output=True,
            text=True,
            cwd=work,
            env={**os.environ, "PYTHONPATH": path, "GROUNDPLAN_STATE": str(tmp_path / "state")},
            timeout=120,
        )

    return run
