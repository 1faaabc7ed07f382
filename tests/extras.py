"""Tests that need an extra are skipped without it, and the reason says which: by their path or by the mark `needs`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PACKAGES = {
    "delta": "deltalake",
    "iceberg": "pyiceberg",
    "knowledge": "pymorphy3",
    "llm": "openai",
    "mcp": "mcp",
    "mysql": "MySQLdb",
    "postgres": "psycopg",
    "semantic": "faiss",
    "service": "fastapi",
    "spark": "pysail",
}
NEEDED = {
    "adversarial/test_a09_limits_of_a_service.py": "service",
    "adversarial/test_a15_hostile_requests.py": "service",
    "answering/test_workflow_answers.py": "mcp",
    "mcp": "mcp",
    "service": "service",
    "sources/mcp": "mcp",
    "test_mixed_sources.py": "mcp",
    "web": "service",
}
HERE = Path(__file__).parent


def missing_for(file: Path) -> str | None:
    """Why the tests of this file cannot run here."""
    needed = (extra for path, extra in NEEDED.items() if file.is_relative_to(HERE / path))
    return next(filter(None, map(missing, needed)), None)


def missing(extra: str) -> str | None:
    return None if find_spec(PACKAGES[extra]) else f"needs the extra `{extra}`: pip install 'groundplan[{extra}]'"
