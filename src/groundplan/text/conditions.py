"""Router conditions: CEL without loops, over facts of a limited size, so that evaluating one always ends soon."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

MOST_CHARACTERS = 1_000_000  # of the facts that a condition sees
FUNCTIONS = frozenset(
    {"contains", "startsWith", "endsWith", "size", "string", "int", "double", "timestamp", "duration"}
)
LOOP = re.compile(r"\b(all|exists|exists_?one|map|filter|transform\w*|reduce|bind) *\(", re.IGNORECASE)
ERRORS = (RuntimeError, TypeError, ValueError, LookupError, ArithmeticError)


def compile_condition(when: str) -> Any:
    """The program of a condition. Raises ValueError if it is not CEL, has a loop or calls an unknown function.

    A loop multiplies the cost with each level of nesting. It is recognised by its name and bracket, also inside a text;
    only a space can stand between the two, because line breaks and comments are refused.
    """
    import cel  # only for plans with a router

    if not when.isprintable():
        raise ValueError("contains a character that cannot be printed")
    if loop := LOOP.search(when):
        raise ValueError(f"uses {loop[1]!r}; a condition has no loops")
    try:
        program = cel.compile(when)
    except ValueError as error:
        raise ValueError(f"does not compile: {str(error).splitlines()[0][:120]}") from error
    unknown = sorted(name for name in program.functions() if name.isidentifier() and name not in FUNCTIONS)
    if unknown:
        raise ValueError(f"calls {unknown[0]!r}; the functions are {', '.join(sorted(FUNCTIONS))}")
    return program


def evaluate_condition(program: Any, facts: Mapping[str, object]) -> object:
    """The value of the condition. Raises one of ERRORS if it cannot be evaluated."""
    if len(json.dumps(facts, ensure_ascii=False, default=str)) > MOST_CHARACTERS:
        raise ValueError(f"the facts have more than {MOST_CHARACTERS:,} characters")
    return program.execute(facts)
