"""The contracts, as their own source tells them: docstrings, fields, and the comments beside the fields."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

import groundplan.contracts
from groundplan.contracts.contract import Contract

from .markdown import code, document, table
from .schemas import PUBLISHED, path


@dataclass(frozen=True)
class Field:
    name: str
    type: str
    limits: str
    default: str
    comment: str


def page() -> str:
    names = sorted(module.name for module in pkgutil.iter_modules(groundplan.contracts.__path__))
    modules = [importlib.import_module(f"groundplan.contracts.{name}") for name in names]
    return document([*_opening(), *(line for module in modules for line in _module(module))])


def fields_of(model: type[Contract]) -> Iterator[Field]:
    """The fields of one contract, with the comments beside them."""
    source = inspect.getsource(model)
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.ClassDef)
    return _fields(node, source.splitlines())


def _opening() -> Iterator[str]:
    yield "# Contracts"
    yield ""
    yield "What passes between the stages. A contract is frozen all the way down and takes no unknown key;"
    yield "a field without a default must be given."
    yield ""
    links = (f"[{model.__name__}]({path(model).removeprefix('reference/')})" for model in PUBLISHED)
    yield f"JSON schemas: {', '.join(links)}."


def _module(module: ModuleType) -> Iterator[str]:
    source = inspect.getsource(module)
    tree = ast.parse(source)
    yield ""
    yield f"## {module.__name__.removeprefix('groundplan.')}"
    yield ""
    yield inspect.getdoc(module) or ""
    yield from _closed_words(tree)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and issubclass(getattr(module, node.name), Contract):
            yield from _contract(node, source.splitlines())


def _closed_words(tree: ast.Module) -> Iterator[str]:
    """Module-level `Literal`s and unions: the vocabulary that the fields below use."""
    words = [
        (node.targets[0].id, node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_type(node.value)
    ]
    if words:
        yield ""
        yield from table(("name", "is"), [(code(name), code(_type(value))) for name, value in words])


def _contract(node: ast.ClassDef, lines: Sequence[str]) -> Iterator[str]:
    yield ""
    yield f"### {node.name}"
    parents = [ast.unparse(parent) for parent in node.bases]
    if not {"Contract", "BaseModel"} & {*parents}:
        yield ""
        yield f"Everything of {', '.join(code(parent) for parent in parents)}, and:"
    if docstring := ast.get_docstring(node):
        yield ""
        yield docstring
    if fields := list(_fields(node, lines)):
        yield ""
        yield from table(
            ("field", "type", "limits", "default", "meaning"),
            ((code(f.name), code(f.type), f.limits, code(f.default), f.comment) for f in fields),
        )


def _fields(node: ast.ClassDef, lines: Sequence[str]) -> Iterator[Field]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            annotation = ast.unparse(item.annotation)
            if not annotation.startswith("ClassVar"):
                yield Field(
                    name=item.target.id,
                    type=_type(item.annotation),
                    limits=_limits(item.annotation),
                    default=ast.unparse(item.value) if item.value else "",
                    comment=_comment(lines[(item.end_lineno or item.lineno) - 1], item.end_col_offset or 0),
                )


def _is_type(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return text.startswith(("Literal[", "Annotated[")) or isinstance(node, ast.BinOp)


def _type(node: ast.expr) -> str:
    return ast.unparse(_Bare().visit(ast.parse(ast.unparse(node), mode="eval")))


def _limits(node: ast.expr) -> str:
    """`Field(ge=1, le=100)` and its like, as words."""
    calls = (call for call in ast.walk(node) if isinstance(call, ast.Call))
    words = (word for call in calls if ast.unparse(call.func) == "Field" for word in call.keywords)
    return ", ".join(code(f"{word.arg} {ast.unparse(word.value)}") for word in words)


def _comment(line: str, column: int) -> str:
    _, found, text = line.encode()[column:].decode().partition("#")
    return text.strip() if found else ""


class _Bare(ast.NodeTransformer):
    """`Annotated[int, …]` is an `int` to a reader; its limits stand in a column of their own."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
            return node.slice.elts[0]
        return node
