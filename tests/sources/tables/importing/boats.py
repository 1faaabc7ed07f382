"""Four small tables of a boat hire, for models that are imported."""

from __future__ import annotations

from pathlib import Path

TABLES = {
    "hires": (
        "hire_no,boat_ref,skipper_ref,taken,brought,price\n"
        "1,7,1,2025-01-01,2025-01-03,10\n2,7,2,2025-02-01,2025-02-02,20\n3,8,,2025-03-01,2025-03-04,5\n"
    ),
    "boats": "boat_no,harbour\n7,Split\n8,Zadar\n",
    "insured": "hire_no\n2\n3\n",
    "skippers": "nr,name\n1,Ann\n2,Bo\n",
}


def write_boats(folder: Path) -> Path:
    folder.mkdir()
    for name, text in TABLES.items():
        (folder / f"{name}.csv").write_text(text)
    return folder
