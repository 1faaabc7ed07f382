"""What groundplan must do, beside the tests that prove it."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import yaml

from .markdown import document, table


@dataclass(frozen=True)
class Requirement:
    id: str
    area: str
    sentence: str


def page(file: Path, root: Path) -> str:
    asked = load(file)
    proofs = find_proofs(root / "tests")
    unknown = sorted(proofs.keys() - {item.id for item in asked})
    if unknown:
        id_, where = unknown[0], proofs[unknown[0]][0]
        raise SystemExit(f"{where} marks {id_!r}, which docs/requirements.yaml does not list; correct the mark")
    return document(_lines(asked, proofs))


def load(file: Path) -> list[Requirement]:
    return [Requirement(**item) for item in yaml.safe_load(file.read_text(encoding="utf-8"))]


def find_proofs(tests: Path) -> Mapping[str, Sequence[str]]:
    """Requirement ids to the tests that carry `@pytest.mark.requirement` with them."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(tests.rglob("test_*.py")):
        module = ast.parse(file.read_text(encoding="utf-8"))
        path = file.relative_to(tests.parent).as_posix()
        for name, ids in _marked(module, inherited=_module_marks(module)):
            for id_ in ids:
                found[id_].append(f"{path}::{name}")
    return found


def _lines(asked: Sequence[Requirement], proofs: Mapping[str, Sequence[str]]) -> Iterator[str]:
    proven = sum(1 for item in asked if item.id in proofs)
    yield "# Requirements"
    yield ""
    yield "What groundplan must do, and the tests that prove it. A test that proves a requirement says so"
    yield "with `@pytest.mark.requirement`; this page is made from those marks."
    yield ""
    yield f"**{proven} of {len(asked)} proven, {len(asked) - proven} not yet.**"
    for area, items in groupby(asked, key=lambda item: item.area):
        yield ""
        yield f"## {area}"
        yield ""
        yield from table(
            ("id", "requirement", "proven by"),
            ((item.id, item.sentence, _proof(proofs.get(item.id, ()))) for item in items),
        )


def _proof(tests: Sequence[str]) -> str:
    return "<br>".join(f"`{test}`" for test in tests) or "not yet"


def _marked(scope: ast.Module | ast.ClassDef, inherited: list[str]) -> Iterator[tuple[str, list[str]]]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            for name, ids in _marked(node, [*inherited, *_decorators(node)]):
                yield f"{node.name}::{name}", ids
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name, sorted({*inherited, *_decorators(node)})


def _module_marks(module: ast.Module) -> list[str]:
    assigned = (node for node in module.body if isinstance(node, ast.Assign))
    return [
        id_
        for node in assigned
        if any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)
        for id_ in _ids(node.value)
    ]


def _decorators(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [id_ for decorator in node.decorator_list for id_ in _ids(decorator)]


def _ids(node: ast.expr) -> Iterator[str]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.requirement":
            yield from (str(argument.value) for argument in call.args if isinstance(argument, ast.Constant))
