"""Releases a version: .ci/release.py VERSION [--do]. Without --do it only shows what would happen.

With --do it sets the version, dates the changelog, commits and tags. Pushing the tag and uploading stay with a person.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT, PACKAGE, CHANGELOG = ROOT / "pyproject.toml", ROOT / "src/groundplan/__init__.py", ROOT / "CHANGELOG.md"
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
UNRELEASED = "## Unreleased\n"


def main(version: str, do: bool) -> None:
    changelog = CHANGELOG.read_text(encoding="utf-8")
    before = re.findall(r'^version = "(.+)"$', PROJECT.read_text(encoding="utf-8"), re.MULTILINE)[0]
    check(version, before)
    notes = notes_of(changelog)
    print(f"{before} -> {version}\n\n{notes}\n")
    if not do:
        print("Nothing was changed; DO=yes releases it.")
        return
    if git("status", "--porcelain"):
        sys.exit("there are changes that are not committed; commit or stash them")
    for file in (PROJECT, PACKAGE):  # version = "…" and __version__ = "…"
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r'(version(?:__)?) = ".+?"', rf'\1 = "{version}"', text, count=1), encoding="utf-8")
    CHANGELOG.write_text(dated(changelog, version), encoding="utf-8")
    git("commit", "--all", "--message", f"Version {version}")
    git("tag", "--annotate", f"v{version}", "--message", notes)
    print(f"Committed and tagged v{version}. Next: make sbom, then build, push the tag and upload.")


def check(version: str, before: str) -> None:
    found = VERSION.fullmatch(version)
    if not found:
        sys.exit(f"{version!r} is not a version; write one such as 0.2.0")
    if tuple(map(int, found.groups())) <= tuple(map(int, before.split("."))):
        sys.exit(f"{version} is not later than {before}")


def notes_of(changelog: str) -> str:
    """What stands under Unreleased."""
    notes = changelog.partition(UNRELEASED)[2].partition("\n## ")[0].strip()
    return notes or sys.exit("CHANGELOG.md has nothing under Unreleased")


def dated(changelog: str, version: str) -> str:
    return changelog.replace(UNRELEASED, f"{UNRELEASED}\n## {version} - {datetime.now(UTC).date()}\n", 1)


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("name the version: make release VERSION=0.2.0")
    main(sys.argv[1], "--do" in sys.argv[2:])
