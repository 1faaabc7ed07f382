"""Releases a version: .ci/release.py VERSION [--do]. Without --do it only shows what would happen.

With --do it builds dist/ from a clone of what is committed, then sets the version, dates the changelog, commits and
tags. Pushing the tag and uploading stay with a person.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PROJECT, PACKAGE, CHANGELOG = "pyproject.toml", "src/groundplan/__init__.py", "CHANGELOG.md"
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
UNRELEASED = "## Unreleased\n"


def main(version: str, do: bool) -> None:
    changelog = read(ROOT / CHANGELOG)
    before = re.findall(r'^version = "(.+)"$', read(ROOT / PROJECT), re.MULTILINE)[0]
    check(version, before, changelog)
    notes = notes_of(changelog)
    print(f"{before} -> {version}\n\n{notes}\n")
    if not do:
        print("Nothing was changed; DO=yes releases it.")
        return
    if git("status", "--porcelain"):
        sys.exit("there are changes that are not committed; commit or stash them")
    built = build(version)
    write(ROOT, version)
    git("commit", "--all", "--message", f"Version {version}")
    git("tag", "--annotate", f"v{version}", "--cleanup=verbatim", "--message", notes)
    print(f"Committed and tagged v{version}; built {', '.join(built)} in dist/.")
    print("Next: make tools audit sbom, push the tag, and upload dist/ and build/sbom.json.")


def check(version: str, before: str, changelog: str) -> None:
    """The version in pyproject.toml may be released once."""
    if not VERSION.fullmatch(version):
        sys.exit(f"{version!r} is not a version; write one such as 0.2.0")
    if numbers(version) < numbers(before):
        sys.exit(f"{version} is earlier than {before} in {PROJECT}")
    if f"\n## {version} - " in changelog or git("tag", "--list", f"v{version}"):
        sys.exit(f"{version} was released already: {CHANGELOG} or a tag names it; choose a later one")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def notes_of(changelog: str) -> str:
    """What stands under Unreleased."""
    notes = changelog.partition(UNRELEASED)[2].partition("\n## ")[0].strip()
    return notes or sys.exit("CHANGELOG.md has nothing under Unreleased")


def build(version: str) -> list[str]:
    """The sdist and the wheel, of what is committed and of browser pages that are built anew."""
    dist = ROOT / "dist"
    with TemporaryDirectory() as folder:
        git("clone", "--quiet", "--no-local", str(ROOT), folder)
        write(Path(folder), version)
        command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(dist)]
        if subprocess.run(command, cwd=folder, check=False).returncode:
            sys.exit("it cannot be built, for the reason above; nothing was released")
    return sorted(file.name for file in dist.glob(f"groundplan-{version}*"))


def write(root: Path, version: str) -> None:
    """Sets the version, and dates what was unreleased."""
    for name in (PROJECT, PACKAGE):  # version = "…" and __version__ = "…"
        text = re.sub(r'(version(?:__)?) = ".+?"', rf'\1 = "{version}"', read(root / name), count=1)
        (root / name).write_text(text, encoding="utf-8")
    dated = f"{UNRELEASED}\n## {version} - {datetime.now(UTC).date()}\n"
    (root / CHANGELOG).write_text(read(root / CHANGELOG).replace(UNRELEASED, dated, 1), encoding="utf-8")


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("name the version: make release VERSION=0.2.0")
    main(sys.argv[1], "--do" in sys.argv[2:])
