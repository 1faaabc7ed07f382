"""Renders a finished chart as PNG, SVG or terminal text."""

from __future__ import annotations

import json
import re
import subprocess
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from groundplan.charts.picture_aside import MOST_MEMORY
from groundplan.charts.text import drawable, drawn_value, inner
from groundplan.child_process import REFUSED, run_module
from groundplan.contracts.contract import Scalar, thaw
from groundplan.errors import ToolError

Format = Literal["png", "svg"]
MOST_ROWS = 100_000  # as many as a plan may ask for
MOST_LABEL = 1_000
MOST_SECONDS = 60.0
EXPRESSIONS = ("filter", "calculate", "expr", "labelExpr", "test", "as")
TITLES = ("title", "text")
UNDRAWABLE = "the chart cannot be drawn as a picture"


def with_data(spec: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[Scalar]]) -> dict[str, Any]:
    """The spec with its rows included, so that it is self-contained."""
    values = [dict(zip(columns, map(drawn_value, row), strict=True)) for row in rows]
    return {**_plain(spec), "data": {"name": "table", "values": values}}


def retitled(spec: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The spec with these names of columns in its titles: `Number of orders by region` for `Count by region`."""
    made: dict[str, Any] = _plain(spec)
    for column, name in names.items():
        made = _retitled(made, re.compile(rf"\b{re.escape(inner(column))}\b", re.IGNORECASE), drawable(name))
    return made


def _retitled(part: Any, column: re.Pattern[str], name: str) -> Any:
    def told(text: Any) -> Any:
        if isinstance(text, str):
            return column.sub(lambda found: name if found.start() else f"{name[:1].upper()}{name[1:]}", text)
        return [*map(told, text)] if isinstance(text, list) else _retitled(text, column, name)

    if isinstance(part, Mapping):
        return {key: told(value) if key in TITLES else _retitled(value, column, name) for key, value in part.items()}
    return [_retitled(one, column, name) for one in part] if isinstance(part, list) else part


def png(spec: Mapping[str, Any], scale: float = 2) -> bytes:
    return pictures(spec, ["png"], scale)["png"]


def svg(spec: Mapping[str, Any]) -> str:
    return pictures(spec, ["svg"])["svg"].decode()


def pictures(spec: Mapping[str, Any], formats: Sequence[Format], scale: float = 2) -> dict[Format, bytes]:
    """The chart in each format, drawn in a child process with limits of memory and time."""
    plain = _plain(spec)
    _check_size(plain)
    given = json.dumps({"spec": plain, "formats": formats, "scale": scale}).encode()
    try:
        done = run_module("groundplan.charts.picture_aside", [], MOST_SECONDS, given)
    except subprocess.TimeoutExpired:
        raise ToolError(f"{UNDRAWABLE}: it takes more than {MOST_SECONDS:g} s") from None
    if done.returncode == REFUSED:
        raise ToolError(UNDRAWABLE)  # the original error quotes data
    if done.returncode != 0:
        raise ToolError(f"{UNDRAWABLE}: it needs more than {MOST_MEMORY:,} bytes of memory")
    return {name: b64decode(picture) for name, picture in json.loads(done.stdout).items()}


def _check_size(spec: Mapping[str, Any]) -> None:
    """The time to lay out a label grows with the square of its length."""
    rows = len(spec.get("data", {}).get("values", ()))
    if rows > MOST_ROWS:
        raise ToolError(f"{UNDRAWABLE}: it has {rows:,} rows, and at most {MOST_ROWS:,} can be drawn")
    longest = max(map(len, _labels(spec)), default=0)
    if longest > MOST_LABEL:
        raise ToolError(f"{UNDRAWABLE}: a label has {longest:,} characters, and at most {MOST_LABEL:,} can be drawn")


def _labels(part: object, key: str = "") -> Iterator[str]:
    """Every text of the spec and its rows, except expressions: they list values of the rows."""
    if isinstance(part, Mapping):
        for name, value in part.items():
            yield name
            yield from _labels(value, name)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from _labels(value, key)
    elif isinstance(part, str) and key not in EXPRESSIONS:
        yield part


def terminal(spec: Mapping[str, Any], width: int, height: int, *, colour: bool = True, ascii_only: bool = False) -> str:
    """The chart as text, with no line longer than `width`."""
    from groundplan.charts.terminal import drawn
    from groundplan.charts.terminal_text import Screen

    return drawn(_plain(spec), Screen(width, height, colour, ascii_only))


def _plain(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec as plain dicts, which Vega's compiler requires."""
    plain = thaw(spec)
    assert isinstance(plain, dict)
    return plain
