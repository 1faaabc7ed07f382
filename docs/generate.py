"""Write the generated pages, or with `--check` say which of them are stale."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from generating import command_line, contracts, openapi, prompts, requirements, rules, schemas, tools

DOCS = Path(__file__).parent
ROOT = DOCS.parent
OWNED = ("rules", "reference/schemas")
"""Folders in which nothing is written by hand, so that a page whose rule is gone can go too."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a page is stale")
    check = parser.parse_args().check
    pages = make_pages()
    stale = [path for path, text in pages.items() if find_text(path) != text]
    orphans = [path for folder in OWNED for path in files_in(folder) if path not in pages]
    if check:
        return report(sorted([*stale, *orphans]))
    for path in orphans:
        (DOCS / path).unlink()
    for path in stale:
        (DOCS / path).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / path).write_text(pages[path], encoding="utf-8")
    print(f"{len(pages)} generated pages: {len(stale)} written, {len(orphans)} removed")
    return 0


def make_pages() -> Mapping[str, str]:
    """Every generated page by its path under `docs`."""
    return {
        "requirements.md": requirements.page(DOCS / "requirements.yaml", ROOT),
        "reference/tools.md": tools.page(ROOT),
        "reference/command-line.md": command_line.page(),
        "reference/contracts.md": contracts.page(),
        "reference/prompts.md": prompts.page(),
        "reference/openapi.json": openapi.document(),
        **schemas.pages(),
        **rules.pages(ROOT),
    }


def report(stale: list[str]) -> int:
    for path in stale:
        print(f"docs/{path} is stale: run `make docs`", file=sys.stderr)
    return 1 if stale else 0


def find_text(path: str) -> str | None:
    file = DOCS / path
    return file.read_text(encoding="utf-8") if file.exists() else None


def files_in(folder: str) -> list[str]:
    return [file.relative_to(DOCS).as_posix() for file in (DOCS / folder).rglob("*") if file.is_file()]


if __name__ == "__main__":
    sys.exit(main())
