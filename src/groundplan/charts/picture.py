"""Renders a finished chart as PNG, SVG or terminal text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from groundplan.charts.text import drawn_value
from groundplan.contracts.contract import Scalar, thaw
from groundplan.errors import ToolError


def with_data(spec: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[Scalar]]) -> dict[str, Any]:
    """The spec with its rows included, so that it is self-contained."""
    values = [dict(zip(columns, map(drawn_value, row), strict=True)) for row in rows]
    return {**_plain(spec), "data": {"name": "table", "values": values}}


def png(spec: Mapping[str, Any], scale: float = 2) -> bytes:
    import vl_convert

    with _drawing():
        return bytes(vl_convert.vegalite_to_png(_plain(spec), scale=scale, allowed_base_urls=[]))


def svg(spec: Mapping[str, Any]) -> str:
    import vl_convert

    with _drawing():
        return str(vl_convert.vegalite_to_svg(_plain(spec), allowed_base_urls=[]))


@contextmanager
def _drawing() -> Iterator[None]:
    try:
        yield
    except ValueError:
        raise ToolError("the chart cannot be drawn as a picture") from None  # the original error quotes data


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
