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
    """With `parts`, it is proven only when a test proves each of them: `requirement("R57", part="cli")`."""

    id: str
    area: str
    sentence: str
    parts: tuple[str, ...] = ()

    def missing(self, proofs: Mapping[Mark, Sequence[str]]) -> list[str]:
        """The parts without a test; the requirement itself where it has no parts."""
        named = self.parts or ("",)
        return [part or self.id for part in named if (self.id, part) not in proofs]


Mark = tuple[str, str]
"""A requirement's id and one of its parts; an empty part stands for all of it."""


def page(file: Path, root: Path) -> str:
    asked = load(file)
    proofs = find_proofs(root / "tests")
    known = {(item.id, part) for item in asked for part in item.parts or ("",)}
    unknown = sorted(proofs.keys() - known)
    if unknown:
        (id_, part), where = unknown[0], proofs[unknown[0]][0]
        parts = next((", ".join(item.parts) for item in asked if item.id == id_), None)
        hint = "correct the mark" if not parts else f"name one of its parts: {parts}"
        named = f"{id_!r}, part {part!r}" if part else repr(id_)
        raise SystemExit(f"{where} marks {named}, which docs/requirements.yaml does not list; {hint}")
    return document(_lines(asked, proofs))


def load(file: Path) -> list[Requirement]:
    listed = yaml.safe_load(file.read_text(encoding="utf-8"))
    return [Requirement(**{**item, "parts": tuple(item.get("parts", ()))}) for item in listed]


def find_proofs(tests: Path) -> Mapping[Mark, Sequence[str]]:
    """Requirements and their parts to the tests that carry `@pytest.mark.requirement` with them."""
    found: dict[Mark, list[str]] = defaultdict(list)
    for file in sorted(tests.rglob("test_*.py")):
        module = ast.parse(file.read_text(encoding="utf-8"))
        path = file.relative_to(tests.parent).as_posix()
        for name, ids in _marked(module, inherited=_module_marks(module)):
            for id_ in ids:
                found[id_].append(f"{path}::{name}")
    return found


def _lines(asked: Sequence[Requirement], proofs: Mapping[Mark, Sequence[str]]) -> Iterator[str]:
    proven = sum(1 for item in asked if not item.missing(proofs))
    partly = sum(1 for item in asked if item.parts and 0 < len(item.missing(proofs)) < len(item.parts))
    yield "# Requirements"
    yield ""
    yield "What groundplan must do, and the tests that prove it. A test that proves a requirement says so"
    yield "with `@pytest.mark.requirement`; this page is made from those marks. A requirement that names several"
    yield "things is proven only when each of them is."
    yield ""
    yield f"**{proven} of {len(asked)} proven, {partly} in part, {len(asked) - proven - partly} not yet.**"
    for area, items in groupby(asked, key=lambda item: item.area):
        yield ""
        yield f"## {area}"
        yield ""
        yield from table(
            ("id", "requirement", "proven by"),
            ((item.id, item.sentence, _proof(item, proofs)) for item in items),
        )


def _proof(item: Requirement, proofs: Mapping[Mark, Sequence[str]]) -> str:
    if not item.parts:
        return _tests(proofs.get((item.id, ""), ()))
    return "<br>".join(f"**{part}**: {_tests(proofs.get((item.id, part), ()))}" for part in item.parts)


def _tests(tests: Sequence[str]) -> str:
    return "<br>".join(f"`{test}`" for test in tests) or "not yet"


def _marked(scope: ast.Module | ast.ClassDef, inherited: list[Mark]) -> Iterator[tuple[str, list[Mark]]]:
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            for name, ids in _marked(node, [*inherited, *_decorators(node)]):
                yield f"{node.name}::{name}", ids
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name, sorted({*inherited, *_decorators(node)})


def _module_marks(module: ast.Module) -> list[Mark]:
    assigned = (node for node in module.body if isinstance(node, ast.Assign))
    return [
        id_
        for node in assigned
        if any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)
        for id_ in _ids(node.value)
    ]


def _decorators(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[Mark]:
    return [id_ for decorator in node.decorator_list for id_ in _ids(decorator)]


def _ids(node: ast.expr) -> Iterator[Mark]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.requirement":
            part = next((ast.literal_eval(word.value) for word in call.keywords if word.arg == "part"), "")
            yield from ((str(argument.value), part) for argument in call.args if isinstance(argument, ast.Constant))
