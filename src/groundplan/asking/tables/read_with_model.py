"""Reading with a model: the words decide what they can, and a model is asked about those that nothing explains."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from groundplan.asking.tables.model_schema import Heard, choices_for, described
from groundplan.asking.tables.read import Read, read_scan, scan_for
from groundplan.asking.tables.reconcile import reconcile
from groundplan.asking.tables.scan import Scan
from groundplan.asking.tables.values import Values
from groundplan.contracts.answer import Refusal
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.llm.calls import Calls, Failed
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Reply
from groundplan.text.similar import Nearness

MAX_TOKENS = 320
UNDECIDED = frozenset({"reading/unknown", "reading/nothing"})
"""Refusals that other words for a column could lift."""


async def read_with(
    calls: Calls,
    question: str,
    schema: SourceSchema,
    values: Mapping[str, Values],
    *,
    today: date,
    timezone: str,
    meaning: Nearness | None,
    always: bool = False,
) -> tuple[Read, tuple[str, ...]]:
    """The reading, and a note on each thing that a model said. `always` asks it though no word is open."""
    scan = scan_for(question, schema, values, today=today, timezone=timezone, meaning=meaning)
    if isinstance(scan, Refusal):
        return scan, ()
    by_words = read_scan(scan)
    if not always and not is_open(scan, by_words):
        return by_words, ()
    heard = await _hear(calls, scan)
    if not isinstance(heard, Heard):
        return by_words, (heard,)
    reconciled = reconcile(scan, heard)
    second = read_scan(reconciled.scan) if reconciled.taken else by_words
    if not isinstance(second, Reading):
        return by_words, reconciled.dropped
    taken = tuple(f"{line}, as {calls.model} says" for line in reconciled.taken)
    return second, (*taken, *reconciled.dropped)


def is_open(scan: Scan, by_words: Read) -> bool:
    """Whether words are left that a model may explain, and the reading does not end for another reason."""
    if not scan.unexplained:
        return False
    if isinstance(by_words, Refusal):
        return any(issue.code in UNDECIDED for issue in by_words.issues)
    return True


def prompt_for(scan: Scan) -> str:
    return load_prompt("read").fill(
        columns=", ".join(described(column) for column in scan.table.columns),
        question=scan.text,
    )


async def _hear(calls: Calls, scan: Scan) -> Heard | str:
    """What the model heard. A name that is not there blocks, and it is asked again with the reason."""
    prompt, choices, problem = prompt_for(scan), choices_for(scan), ""
    for _ in range(calls.limits.attempts):
        asked = f"{prompt}\nYour last answer could not be used: {problem[:300]}" if problem else prompt
        told = await calls.ask(asked, Heard, choices, max_tokens=MAX_TOKENS)
        if isinstance(told, Reply):
            return told.value
        problem = told.problem
        if isinstance(told, Failed):
            break
    return f"{calls.model} gave no reading: {problem[:300]}; the question was read without it"
