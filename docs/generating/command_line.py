"""Generates the command-line reference from the typer app."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from groundplan.contracts.contract import Contract
from groundplan.contracts.roles import ROLES, Role, Roles
from groundplan.interfaces.cli.main import app
from groundplan.settings import Settings

from .contracts import fields_of
from .markdown import code, document, table

NAME = "groundplan"
EXIT_CODES = {
    "0": "there is an answer; the plan may run",
    "1": "refused: the text says what is missing, the issues say why",
    "2": "the command, a file, a setting or the catalog is wrong",
    "3": "a clarification is needed: the question is ambiguous or incomplete",
    "4": "an external failure: a source, a deadline, a stored run",
    "5": "a fault in groundplan itself; the line says where, and quotes no data",
    "6": "partly done: some changes failed; `groundplan resume RUN` tries those that are left",
}
VARIABLES = {
    "GROUNDPLAN_CACHE": "the folder for what can be rebuilt: loaded files, the compiled catalog, search indexes",
    "GROUNDPLAN_STATE": "the folder for what must be kept: conversations, unfinished runs, stored plans",
    "GROUNDPLAN_MEMORY": "the memory that DuckDB may use, such as 8GB (4 GB, or half of the machine's if that is less)",
    "GROUNDPLAN_MODEL": "the model to call if rules cannot settle a question: a name of groundplan.toml or a URL",
    "GROUNDPLAN_EMBEDDINGS": "the sentence-transformers model for semantic search (extra `semantic`)",
}


def page() -> str:
    root = get_command(app)
    return document([*_opening(root), *_commands(root, NAME), *_closing()])


def _opening(root: Any) -> Iterator[str]:
    yield "# Command line"
    yield ""
    yield f"{root.help} Progress goes to standard error, and only the answer goes to standard output."


def _commands(group: Any, prefix: str) -> Iterator[str]:
    """Every command, those of a group under the group's name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix} {name}")
        else:
            yield from _command(command, f"{prefix} {name}")


def _command(command: Any, name: str) -> Iterator[str]:
    yield ""
    yield f"## {name}"
    yield ""
    yield inspect.cleandoc(command.help or "")
    params = [param for param in command.params if param.name != "help"]
    if params:
        yield ""
        yield from table(("argument or option", "default", "meaning"), (_param(param) for param in params))


def _param(param: Any) -> tuple[str, str, str]:
    word = param.metavar or param.name.upper()
    is_flag = getattr(param, "is_flag", False)
    named = param.opts[0].startswith("-")
    name = f"{', '.join(param.opts)}{'' if is_flag else f' {word}'}" if named else word
    return code(name), "required" if param.required else _default(param.default), param.help or ""


def _default(value: object) -> str:
    return "" if value is None or value is False else code(str(value))


def _closing() -> Iterator[str]:
    yield ""
    yield "## Exit codes"
    yield ""
    yield from table(("code", "meaning"), EXIT_CODES.items())
    yield ""
    yield "## Environment variables"
    yield ""
    yield from table(("variable", "meaning"), ((code(name), meaning) for name, meaning in VARIABLES.items()))
    yield ""
    yield "## groundplan.toml"
    yield ""
    yield "`groundplan init FILE` writes one. In its folder, `ask`, `plan` and `explain` need no source."
    yield ""
    yield from _keys(Settings)
    yield ""
    yield "### The table [roles]"
    yield ""
    yield "What models are used for, and how much of them. Each role has a table of its own, such as `[roles.read]`."
    yield ""
    yield from _keys(Roles)
    yield ""
    yield "The keys of `[roles.read]`, `[roles.plan]` and `[roles.write]`:"
    yield ""
    yield from _role_keys()


def _keys(settings: type[Contract]) -> Iterator[str]:
    rows = ((code(field.name), _setting(field.default), field.comment) for field in fields_of(settings))
    yield from table(("key", "default", "meaning"), rows)


def _setting(default: str) -> str:
    return "" if default.endswith(("Role()", "Roles()")) else code(default)


def _role_keys() -> Iterator[str]:
    """One row for each key, with the default of each role."""
    roles = [getattr(Roles(), name) for name in ROLES]
    rows = (
        (code(field.name), *(code(repr(getattr(role, field.name))) for role in roles), field.comment)
        for field in fields_of(Role)
    )
    yield from table(("key", *ROLES, "meaning"), rows)
