"""Measure a model: what it makes of questions about tables that it cannot have seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

from groundplan.contracts.answer import Usage
from groundplan.contracts.contract import Contract
from groundplan.contracts.roles import Roles
from groundplan.errors import WorldError
from groundplan.evaluation.asking import Asking
from groundplan.evaluation.measuring.folder import write_folder
from groundplan.evaluation.replies import Tape
from groundplan.evaluation.suites.questions import Judged, judge_folder, load_questions
from groundplan.llm.client import Model
from groundplan.settings import Endpoint
from groundplan.state.measures import ModelMeasure

UNANSWERED = 3  # questions in a row to which the server gave no reply: it is down, or too slow


class Measured(Contract):
    """A model's measure, and what measuring it cost."""

    measure: ModelMeasure
    seed: int
    usage: Usage
    wrongly: tuple[str, ...]  # the questions that got a wrong answer


async def measure(
    endpoint: Endpoint, roles: Roles, seed: int, on_progress: Callable[[int, int], None], tape: Tape | None = None
) -> Measured:
    """Ask the model the questions of this seed; its first reading that stands is believed.

    Raises WorldError if the server gives no replies.
    """
    async with Model.open(endpoint, tape) as model:
        known = model.endpoint
    asking = Asking((known,), roles=roles.model_copy(update={"accept": "first"}), tape=tape)
    judged: list[Judged] = []
    with TemporaryDirectory() as made:
        write_folder(Path(made), seed)
        questions = load_questions(Path(made))
        async for one in judge_folder(Path(made), questions, asking):
            judged.append(one)
            _refuse_silence(known, judged[-UNANSWERED:])
            on_progress(len(judged), len(questions))
    return _measured(known, seed, judged)


def _measured(endpoint: Endpoint, seed: int, judged: Sequence[Judged]) -> Measured:
    ends = Counter(map(_end, judged))
    return Measured(
        measure=ModelMeasure(
            url=endpoint.url,
            model=endpoint.model,
            right=ends["right"],
            wrong=ends["wrong"],
            declined=ends["declined"],
            n=len(judged),
            date=datetime.now(UTC).date(),
        ),
        seed=seed,
        usage=reduce(Usage.plus, (one.outcome.usage for one in judged), Usage()),
        wrongly=tuple(one.question.question for one in judged if _end(one) == "wrong"),
    )


def _end(judged: Judged) -> str:
    """How the model's own reading ended; what the words read in its place says nothing about it."""
    is_read_by_model = any(not attempt.faults for attempt in judged.outcome.proposals)
    return judged.verdict if is_read_by_model and judged.verdict in ("right", "wrong") else "declined"


def _refuse_silence(endpoint: Endpoint, last: Sequence[Judged]) -> None:
    if len(last) == UNANSWERED and not any(one.outcome.usage.calls for one in last):
        why = "; ".join(last[-1].outcome.notes[-1:])
        raise WorldError(f"model {endpoint.name!r} gave no reply to {UNANSWERED} questions in a row: {why}")
