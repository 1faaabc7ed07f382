"""Packages of others whose parts are imported when somebody asks for them."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

PACKAGES = ("langsmith.types", "langgraph_sdk", "ibis.backends.sql.compilers")
"""Clients of servers that groundplan never calls, of which LangGraph needs one module each, and the SQL of twenty
engines. Importing them takes a tenth of the time of a question."""
NEEDED = ("ibis.backends.sql.compilers.duckdb",)


def import_lazily() -> None:
    """Before LangGraph and the engines of Ibis are imported."""
    for name in PACKAGES:
        if name not in sys.modules:
            _place(name)
    for name in NEEDED:
        import_module(name)


def _place(name: str) -> None:
    """A package whose `__init__` runs when a name is asked that it lacks. Its modules can be imported before."""
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return
    package, loader, lock = module_from_spec(spec), spec.loader, RLock()

    def complete(asked: str) -> Any:
        with lock:
            if package.__dict__.pop("__getattr__", None) is complete:
                loader.exec_module(package)
        return getattr(package, asked)

    package.__dict__["__getattr__"] = complete
    sys.modules[name] = package
    _put_into_parent(name, package)


def _put_into_parent(name: str, package: ModuleType) -> None:
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, package)
