"""What a scripted model answers, and what it was sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("openai", reason="needs the extra `llm`")

from tests.llm.scripted import Behaviour, Scripted, says


def answers(said: object) -> Behaviour:
    return says(json.dumps(said, ensure_ascii=False))


def prompts_of(server: Scripted) -> list[str]:
    """Without the probe's."""
    return [str(request["messages"][0]["content"]) for request in server.requests[1:]]


def schema_of(server: Scripted, place: int = -1) -> Any:
    return server.requests[place]["response_format"]["json_schema"]["schema"]
