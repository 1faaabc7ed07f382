"""Keeps what LangGraph is handed, questions and facts, from LangSmith."""

from __future__ import annotations

from contextlib import AbstractContextManager


def untraced() -> AbstractContextManager[None]:
    """LangGraph reports each run if the environment of the process asks for traces, perhaps of other code."""
    from langsmith.run_helpers import tracing_context

    return tracing_context(enabled=False, parent=False)
