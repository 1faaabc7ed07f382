"""The container image: pinned as the locks pin it, and its steps build a wheel with the browser's pages."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE = ROOT / "ops" / "Dockerfile"


def stages() -> list[list[str]]:
    """The instructions of each stage, continued lines joined."""
    lines = FILE.read_text("utf-8").replace("\\\n", " ").splitlines()
    told = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    begins = [place for place, line in enumerate(told) if line.startswith("FROM ")]
    return [told[begin:end] for begin, end in zip(begins, [*begins[1:], len(told)], strict=True)]


def test_the_tools_that_build_it_have_the_locked_versions() -> None:
    locked = (ROOT / "requirements" / "dev.lock").read_text("utf-8")
    pinned = re.findall(r"[\w-]+==[\w.]+", " ".join(stages()[0]))
    assert pinned
    for requirement in pinned:
        assert re.search(rf"^{re.escape(requirement)} ", locked, re.MULTILINE), requirement


def test_what_runs_is_locked_with_hashes_and_no_root() -> None:
    run = " ".join(stages()[1])
    assert "--require-hashes -r /tmp/install/run.lock" in run
    assert "USER groundplan" in run


@pytest.mark.slow
def test_the_wheel_stage_gives_a_wheel_with_pages(tmp_path: Path) -> None:
    """The RUN lines of the first stage, on a copy without what .dockerignore leaves out."""
    ignored = [
        line.removeprefix("**/")
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    source, made = tmp_path / "source", tmp_path / "dist"
    shutil.copytree(
        ROOT, source, ignore=lambda folder, names: [n for n in names if _left_out(Path(folder) / n, ignored)]
    )
    build = next(line for line in stages()[0] if "hatchling build" in line).removeprefix("RUN ")
    command = [sys.executable, *shlex.split(build.replace("/dist", str(made)))[1:]]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=600)
    (wheel,) = made.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "groundplan/service/web/index.html" in names
    assert "groundplan/catalog/capabilities.yaml" in names


def _left_out(path: Path, ignored: list[str]) -> bool:
    return path.name in ignored or path.relative_to(ROOT).as_posix() in ignored
