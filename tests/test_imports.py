"""The layout holds: who may import whom is checked, and a broken rule is a broken build."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "groundplan"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

FACTS_ONLY = {"answering", "asking", "catalog.search"}
PURE = {"checking", "contracts"}
KNOW_LANGGRAPH = {"pipeline", "running", "service"}


def test_the_contracts_hold() -> None:
    finished = lint(ROOT)
    assert finished.returncode == 0, finished.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("checking/planted.py", "import ibis"),
        ("checking/planted.py", "import sqlite3"),
        ("contracts/planted.py", "import httpx"),
        ("contracts/planted.py", "import groundplan.settings"),
        ("answering/planted.py", "import groundplan.sources.interface"),
        ("answering/planted.py", "def late() -> None:\n    import ibis"),
        ("checking/planted.py", "import groundplan.running"),
        ("catalog/planted.py", "import groundplan.sources"),
        ("catalog/planted.py", "import langgraph.graph"),
        ("catalog/planted.py", "def late() -> None:\n    import pymorphy3"),
        ("sources/planted.py", ""),
        ("planted.py", ""),
    ],
)
def test_a_broken_rule_is_found(file: str, line: str, tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "src" / "groundplan")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "src" / "groundplan" / file).write_text(f'"""Planted."""\n{line}\n')
    finished = lint(tmp_path)
    assert finished.returncode == 1
    assert "planted" in finished.stdout


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("groundplan", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert circles(imports) == set()
    assert circles(imports | {"groundplan.errors": {"groundplan.project"}}) >= {
        "groundplan.errors",
        "groundplan.project",
    }


def circles(imports: dict[str, set[str]]) -> set[str]:
    """The modules that are left when those that import none of the others are taken away, again and again."""
    left = dict(imports)
    while ended := [module for module, others in left.items() if not others & left.keys()]:
        for module in ended:
            del left[module]
    return {*left}


def test_every_package_that_exists_has_its_rules() -> None:
    assert all((PACKAGE / name.replace(".", "/") / "__init__.py").exists() for name in FACTS_ONLY | PURE)
    assert members("Planners and answers see facts, never a source", "source_modules") == FACTS_ONLY
    for name in ("reach no engine, model or network", "do no input or output of their own"):
        assert members(f"The gate and the contracts {name}", "source_modules") == PURE
    assert members("Only the pipeline and the runner know LangGraph", "allowed_importers") <= KNOW_LANGGRAPH


def members(contract: str, key: str) -> set[str]:
    """The packages that a contract of this name lists."""
    [found] = [item for item in CONTRACTS if item["name"] == contract]
    return {module.removeprefix("groundplan.") for module in found[key]}


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    """What `lint-imports` says of the sources under this folder."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", program, "--no-cache", "--no-logo"]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
