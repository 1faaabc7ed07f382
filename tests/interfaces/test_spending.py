"""One quiet line says what models were asked; a server's own words cannot steer the terminal."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.contracts.answer import TraceEntry, Usage
from groundplan.interfaces.cli.spending import line, printable

ASKED = Usage(models=("qwen",), calls=2, prompt_tokens=1611, completion_tokens=84, seconds=9.8).by("read")
NOW = datetime(2026, 1, 15, tzinfo=UTC)
STAGES = (
    TraceEntry(stage="read", at=NOW, ms=9_000, tokens=1600),
    TraceEntry(stage="plan", at=NOW, ms=800, tokens=95),
)
RUN = TraceEntry(stage="run", at=NOW, ms=50_000)
KEPT = TraceEntry(stage="plan", thought="remember, attempt 1", at=NOW, ms=1)


@pytest.mark.requirement("R59")
@pytest.mark.parametrize(
    ("usage", "trace", "planned", "failed", "says"),
    [
        (ASKED, (*STAGES, RUN), True, False, "qwen: 2 calls, 1,611 + 84 tokens, 9.8 s (read)"),
        (ASKED, STAGES, False, True, "qwen: 2 calls, 1,611 + 84 tokens, 9.8 s (read)"),
        (Usage(models=("qwen",), calls=1).by("plan"), (), True, False, "qwen: 1 call, 0 + 0 tokens, 0.0 s (plan)"),
        (Usage(), (RUN,), True, False, "qwen, large: not called, the rules were enough"),
        (Usage(), (KEPT, RUN), True, False, "qwen, large: not called, a stored plan was reused"),
        (Usage(), (), False, False, "qwen, large: not called"),
        (Usage(), (), True, True, "qwen, large: no reply, so the rules decided"),
    ],
)
def test_the_line_says_what_was_asked_or_why_nothing_was(
    usage: Usage, trace: tuple[TraceEntry, ...], planned: bool, failed: bool, says: str
) -> None:
    assert line(["qwen", "large"], usage, trace, planned=planned, failed=failed) == says


@given(st.lists(st.text()))
def test_a_note_is_one_line_without_control_signs(notes: list[str]) -> None:
    shown = list(printable(notes))
    assert len(shown) == len(notes)
    assert all(note.isprintable() for note in shown)


def test_the_words_of_a_note_stay() -> None:
    assert list(printable(["model 'q'\n  said:\t\x1b[2Jno"])) == ["model 'q' said: [2Jno"]
