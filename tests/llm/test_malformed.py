"""Over 200 outputs of models that are not just JSON: read to exactly what is meant, or refused with a reason."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from groundplan.contracts.answer import Usage
from groundplan.contracts.contract import Contract, JsonObject
from groundplan.llm.extraction import Extracted, NoJson, extract
from groundplan.llm.understanding import NotUnderstood, Understood, understand
from groundplan.llm.wire import Completion
from tests.llm.malformed import Output, outputs

OUTPUTS = [*outputs()]
LONG = [output for output in OUTPUTS if output.kind.startswith("long: ")]


class Workflow(Contract):
    nodes: tuple[JsonObject, ...] = ()
    edges: tuple[JsonObject, ...] = ()
    steps: tuple[JsonObject, ...] = ()


def listed(*names: str) -> dict[str, Any]:
    item = {"type": "object", "properties": {"id": {"type": "string"}}}
    return {
        "type": "object",
        "properties": {name: {"type": "array", "items": item} for name in names},
        "required": [*names],
        "additionalProperties": False,
    }


SCHEMA: dict[str, Any] = {"anyOf": [listed("nodes", "edges"), listed("steps")]}


def understood(text: str) -> Understood[Workflow] | NotUnderstood:
    return understand(Completion(text, "stop", Usage(), attempts=1), SCHEMA, Workflow)


def exactly(value: object) -> str:
    """For comparing: Python takes 1, 1.0 and True for the same."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.requirement("R31")
@pytest.mark.parametrize("output", OUTPUTS, ids=[f"{number}-{output.kind}" for number, output in enumerate(OUTPUTS)])
def test_an_output_is_read_as_it_is_meant_or_refused_with_a_reason(output: Output) -> None:
    found, told = extract(output.text), understood(output.text)
    if output.fault is None:
        assert isinstance(found, Extracted), found
        assert exactly(found.value) == exactly(output.meant)
        assert isinstance(told, Understood), told
        assert exactly(told.value.model_dump(exclude_unset=True)) == exactly(output.meant)
        return
    assert isinstance(told, NotUnderstood), told
    assert told.reason == output.fault
    assert told.problem
    assert isinstance(found, NoJson) == (output.fault == "not_json"), found


@pytest.mark.requirement("R31")
def test_there_are_hundreds_of_different_ones() -> None:
    assert len({output.text for output in OUTPUTS}) > 500
    assert len({output.kind for output in OUTPUTS}) > 100


@pytest.mark.parametrize("output", LONG, ids=[output.kind for output in LONG])
def test_a_long_output_keeps_nobody_busy(output: Output) -> None:
    began = time.process_time()
    extract(output.text)
    assert time.process_time() - began < 2
