"""What a step needs of the engine, in words that plans use: `tool correlate`, `function std`, `part week`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

NAMING = ("function", "format", "grain", "kind", "operation", "operator", "part", "place", "season")
"""Params, and parts of expressions, that choose one of a closed set."""


def needs(tool: str, params: object) -> Iterator[str]:
    """
    >>> [*needs("aggregate", {"metrics": [{"function": "std", "column": "price"}]})]
    ['tool aggregate', 'function std']
    """
    yield f"tool {tool}"
    yield from _named(params)


def _named(params: object) -> Iterator[str]:
    match params:
        case Mapping():
            yield from (f"{key} {params[key]}" for key in NAMING if isinstance(params.get(key), str))
            for value in params.values():
                yield from _named(value)
        case Sequence() if not isinstance(params, str):
            for value in params:
                yield from _named(value)
