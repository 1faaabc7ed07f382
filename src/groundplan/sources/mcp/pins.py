"""Pins the tool definitions that a person has accepted; a new or changed tool is unavailable until accepted."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Literal

from pydantic import ValidationError

from groundplan.contracts.contract import Contract, JsonObject, thaw
from groundplan.errors import SourceError, StateInvalid, UsageError
from groundplan.settings import state_folder
from groundplan.sources.mcp.plain_text import is_plain
from groundplan.sources.mcp.tools import ToolDefinition, catalog_name

FOLDER = "mcp"


class Pin(Contract):
    sha256: str
    definition: JsonObject


class Pinned(Contract):
    """The pin file of one server."""

    format: Literal[1] = 1
    tools: dict[str, Pin]


class Change(Contract):
    """A tool that differs from its pin; `diff` shows hidden characters as escapes."""

    tool: str  # its name in the catalog
    kind: Literal["new", "changed", "gone"]
    parts: tuple[str, ...] = ()  # the changed keys: description, inputSchema, …
    diff: str


class Pins:
    """The pins of one server, identified by its name and its command or address in the settings."""

    def __init__(self, source: str, place: str) -> None:
        where = hashlib.sha256(place.encode()).hexdigest()[:16]
        self._source, self._file = source, state_folder() / FOLDER / f"{source}-{where}.json"
        self._known = self._load()

    def trust_first(self, listed: Mapping[str, ToolDefinition]) -> None:
        """Trust on first use: the first list that a server sends is accepted."""
        if self._known is None:
            self._save({name: _pin(definition) for name, definition in listed.items()})

    def holds(self, definition: ToolDefinition) -> bool:
        pin = self._pins.get(definition.name)
        return pin is not None and pin.sha256 == definition.digest

    def changes(self, listed: Mapping[str, ToolDefinition]) -> list[Change]:
        """The differences between the pins and the listed tools, sorted by name."""
        names = sorted(listed.keys() | self._pins.keys())
        return [change for name in names if (change := self._change(name, listed.get(name)))]

    def accept(self, tools: Iterable[str], listed: Mapping[str, ToolDefinition]) -> None:
        """Accept tools by their catalog names; if one of them has not changed, none is accepted."""
        waiting = {catalog_name(self._source, name): name for name in listed.keys() | self._pins.keys()}
        changed = {change.tool for change in self.changes(listed)}
        pins = dict(self._pins)
        for tool in tools:
            if tool not in changed:
                raise UsageError(f"{tool!r} has not changed; changed: {', '.join(sorted(changed)) or 'none'}")
            name = waiting[tool]
            pins.pop(name, None)
            if name in listed:
                pins[name] = _pin(listed[name])
        self._save(pins)

    @property
    def _pins(self) -> dict[str, Pin]:
        return self._known.tools if self._known else {}

    def _change(self, name: str, definition: ToolDefinition | None) -> Change | None:
        pin = self._pins.get(name)
        if definition is not None and pin is not None and pin.sha256 == definition.digest:
            return None
        before = _plain(pin.definition) if pin else {}
        now = dict(definition.raw) if definition else {}
        parts = tuple(sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key)))
        kind: Literal["new", "changed", "gone"] = "new" if pin is None else "gone" if definition is None else "changed"
        tool = catalog_name(self._source, name)
        return Change(tool=tool, kind=kind, parts=parts if kind == "changed" else (), diff=_diff(tool, before, now))

    def _load(self) -> Pinned | None:
        if not self._file.exists():
            return None
        try:
            known = Pinned.model_validate_json(self._file.read_bytes())
        except (OSError, ValidationError):
            known = None
        if known is None or any(
            pin.sha256 != ToolDefinition(_plain(pin.definition)).digest for pin in known.tools.values()
        ):
            raise StateInvalid(
                f"{self._file} is damaged, so it is unknown which tools of {self._source} were accepted; remove it to "
                "accept the tools of the next connection"
            )
        return known

    def _save(self, pins: Mapping[str, Pin]) -> None:
        """Written atomically, readable only by the owner."""
        known = Pinned(tools=dict(sorted(pins.items())))
        part = self._file.with_name(f"{self._file.name}.{os.getpid()}-{os.urandom(4).hex()}")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            part.touch(mode=0o600, exist_ok=False)
            part.write_text(known.model_dump_json(), encoding="utf-8")
            part.replace(self._file)
        except OSError as error:
            with suppress(OSError):
                part.unlink()
            problem = f"{self._file} cannot be written ({type(error).__name__})"
            raise SourceError(
                f"{problem}, so accepted tools cannot be stored; fix that, or set GROUNDPLAN_STATE"
            ) from None
        self._known = known


def _pin(definition: ToolDefinition) -> Pin:
    return Pin(sha256=definition.digest, definition=dict(definition.raw))


def _plain(definition: JsonObject) -> dict[str, object]:
    plain = thaw(definition)
    assert isinstance(plain, dict)
    return plain


def _diff(tool: str, before: Mapping[str, object], now: Mapping[str, object]) -> str:
    accepted, current = f"{tool} as accepted", f"{tool} now"
    lines = difflib.unified_diff(_written(before), _written(now), accepted, current, lineterm="", n=2)
    return "\n".join(lines)


def _written(definition: Mapping[str, object]) -> list[str]:
    if not definition:
        return []
    text = json.dumps(definition, indent=2, sort_keys=True, ensure_ascii=False)
    return ["".join(letter if is_plain(letter) else _escaped(letter) for letter in line) for line in text.split("\n")]


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()
