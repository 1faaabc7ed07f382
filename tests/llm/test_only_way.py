"""No other package can talk to a model behind the back of `llm`."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.test_imports import PACKAGE, ROOT, lint


def test_openai_is_imported_by_llm_alone(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "src" / "groundplan")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "src" / "groundplan" / "asking" / "planted.py").write_text('"""Planted."""\nimport openai\n')
    finished = lint(tmp_path)
    assert finished.returncode == 1
    assert "groundplan.asking.planted -> openai" in finished.stdout
