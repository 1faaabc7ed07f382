"""Each parser ends typed on its corpus and on changed examples of it. `make fuzz` runs for longer."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

from tests.fuzz.mutating import examples_of, inputs
from tests.fuzz.parsers import PARSERS

EXAMPLES = {"csv": 60, "excel": 4, "graph": 60, "questions": 30, "tools": 150, "tracker_bodies": 60}
NEEDS = {
    "mcp_tools": "mcp",
    "mcp_results": "mcp",
    "model_replies": "llm",
    "recordings": "llm",
    "addresses": "postgres",
    "delta_logs": "delta",
}


@pytest.mark.parametrize(
    "parser", [pytest.param(name, marks=[pytest.mark.needs(NEEDS[name])] if name in NEEDS else []) for name in PARSERS]
)
def test_no_input_crashes_a_parser(parser: str) -> None:
    with PARSERS[parser]() as parse:
        for example in examples_of(parser):
            parse(example)

        @settings(
            max_examples=EXAMPLES.get(parser, 200),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
        )
        @given(body=some.deferred(lambda: inputs(parser)))
        def fuzz(body: bytes) -> None:
            parse(body)

        fuzz()
