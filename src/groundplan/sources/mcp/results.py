"""Turns the result of a tool into facts, the same way for every server."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from groundplan.contracts.contract import Scalar, freeze
from groundplan.contracts.facts import Cited, Complete, Group, Item, StepFacts, Truncated
from groundplan.contracts.plan import Limits
from groundplan.sources.mcp.plain_text import lines, one_line, readable
from groundplan.sources.mcp.returns import WRAPPED, InvalidResult

LONGEST = 20_000  # characters of one text
SHOWN = 1_000  # characters of one field of a row
DEEPEST = 32
LARGEST_NUMBER = 2**63
NAMES = ("name", "title", "subject", "label", "summary")  # fields that say what a row is
Fields = Mapping[str, Any]


def check_values(value: object, depth: int = 0) -> None:
    """Raises InvalidResult for values that cannot be stored as JSON: infinite or huge numbers, too deep nesting."""
    if depth > DEEPEST:
        raise InvalidResult("is nested too deeply")
    match value:
        case bool() | str() | None:
            return
        case float() if not math.isfinite(value):
            raise InvalidResult("contains a number that is too large")
        case int() if abs(value) >= LARGEST_NUMBER:
            raise InvalidResult("contains a number that is too large")
        case Mapping():
            for inner in value.values():
                check_values(inner, depth + 1)
        case list() | tuple():
            for inner in value:
                check_values(inner, depth + 1)
        case _:
            return


def wrapping(value: object) -> str | None:
    """The field that wraps the whole result, found without a schema: see `Returns.wrapping`."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return None
    [(name, inner)] = value.items()
    return str(name) if name == WRAPPED or isinstance(inner, list) else None


def structured(
    step: str, value: Any, key: str | None, title: str, tool: str, limits: Limits, keep: int = 0
) -> StepFacts:
    """The facts of a structured result: an object, a list, or a single value; `key` is the wrapping field, if any.

    `keep` is the number of items to keep for a step that runs for each of them.
    """
    inner = value.get(key) if key else value
    name = readable(key) if key and key != WRAPPED else title
    match inner:
        case list():
            facts = _of_rows(step, inner, name, tool, limits)
            return facts.model_copy(update={"listed": tuple(freeze(_fields(row)) for row in inner[:keep])})
        case Mapping():
            return _of_object(step, inner, tool, limits)
        case _:
            return _facts(step, tool, found=inner is not None, first={WRAPPED: inner}, items=_single(name, inner))


def text(step: str, texts: Sequence[str], left_out: Sequence[str], title: str, tool: str) -> StepFacts:
    """The facts of a plain-text result: one item that quotes it."""
    kept = quoted(texts)
    missing = [f"only the first {LONGEST:,} characters are kept"] if sum(map(len, texts)) > LONGEST else []
    missing += [f"{kind} content is left out" for kind in dict.fromkeys(left_out)]
    items = [Item(kind="text", title=title, text=kept)] if kept else []
    return _facts(step, tool, found=bool(kept), items=items, missing="; ".join(missing))


def quoted(texts: Sequence[str]) -> str:
    return lines("\n".join(texts), LONGEST)


def _of_object(step: str, row: Fields, tool: str, limits: Limits) -> StepFacts:
    items = [item for field, value in row.items() for item in _single(readable(field), value, field)]
    groups = [
        Group(title=readable(field), items=tuple(_inside(field, value, limits)), count=_count(value))
        for field, value in row.items()
        if isinstance(value, list | Mapping) and value
    ]
    found = any(value not in (None, "", [], {}) for value in row.values())
    return _facts(
        step, tool, found=found, first=row, items=items, groups=groups, rows=int(found), missing=_cut(row, LONGEST)
    )


def _fields(row: object) -> Fields:
    """What later steps may use of an item of a list."""
    return row if isinstance(row, Mapping) else {WRAPPED: row}


def _of_rows(step: str, rows: Sequence[object], name: str, tool: str, limits: Limits) -> StepFacts:
    first = _fields(rows[0]) if rows else {}
    listed = [_row(name, row) for row in rows[: limits.items]]
    missing = [f"the first {len(listed)} of {len(rows)} are listed"] if len(rows) > len(listed) else []
    missing += [cut for row in rows[: limits.items] if isinstance(row, Mapping) and (cut := _cut(row, SHOWN))][:1]
    return _facts(step, tool, found=bool(rows), rows=len(rows), first=first, items=listed, missing="; ".join(missing))


def _inside(field: str, value: object, limits: Limits) -> Iterator[Item]:
    """The items of a list or an object inside an object."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _single(readable(name), inner, name)
    elif isinstance(value, list):
        yield from (_row(readable(field), row) for row in value[: limits.items])


def _single(title: str, value: object, kind: str = WRAPPED) -> Iterator[Item]:
    """A value with its name; nothing for a missing or empty value."""
    if isinstance(value, str | bool | int | float) and value != "":
        yield Item(kind=one_line(kind, 100) or WRAPPED, title=title or WRAPPED, value=_scalar(value))


def _row(name: str, row: object) -> Item:
    """One line of a list: the row's name as the title, its other fields as the text."""
    if not isinstance(row, Mapping):
        return Item(kind="row", title=one_line(str(row), 200) if isinstance(row, str) else name, value=_number(row))
    fields = {field: value for field, value in row.items() if isinstance(value, str | int | float) and value != ""}
    title = next((field for field in (*NAMES, *fields) if isinstance(fields.get(field), str)), None)
    rest = ", ".join(f"{readable(field)}: {_shown(value)}" for field, value in fields.items() if field != title)
    return Item(kind="row", title=_shown(fields[title]) if title else name, text=rest[:LONGEST])


def _facts(
    step: str,
    tool: str,
    *,
    found: bool,
    items: Sequence[Item] | Iterator[Item] = (),
    groups: Sequence[Group] = (),
    rows: int | None = None,
    first: Fields | None = None,
    missing: str = "",
) -> StepFacts:
    return StepFacts(
        step=step,
        found=found,
        rows=rows,
        first=dict(first or {}),
        items=tuple(item.model_copy(update={"source": tool}) for item in items),
        groups=tuple(groups),
        sources=(Cited(id=tool, label=tool),) if found else (),
        state=Truncated(reason=missing) if missing else Complete(),
    )


def _scalar(value: Scalar) -> Scalar:
    return lines(value, LONGEST) if isinstance(value, str) else value


def _number(value: object) -> Scalar:
    return value if isinstance(value, bool | int | float) else None


def _shown(value: object) -> str:
    return one_line(value, SHOWN) if isinstance(value, str) else str(value)


def _cut(row: Fields, most: int) -> str:
    long = [readable(field) for field, value in row.items() if isinstance(value, str) and len(value) > most]
    return f"only the first {most:,} characters of {long[0]} are kept" if long else ""


def _count(value: object) -> int | None:
    return len(value) if isinstance(value, list) else None
