"""Verifies a text against the facts: if any character is not accounted for, the text is not shown.

A text passes if it consists only of sentences of forms.yaml, every value is cited, every citation matches the value
recomputed from the cells and is shown correctly by its words, and every sentence's claims hold for the cited facts:
a name and a number are from the same row, the greatest value is the greatest, a rise is a rise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from groundplan.answering.verifying.artefacts import find_artefacts
from groundplan.answering.verifying.claims import broken_claims
from groundplan.answering.verifying.legible import shows
from groundplan.answering.verifying.lists import broken_lists, broken_steps
from groundplan.answering.verifying.parsing import Fit, Mismatch, Parsed, parse
from groundplan.answering.verifying.record import Record, Untraceable
from groundplan.answering.verifying.stated import Stated
from groundplan.answering.writing.citing import is_number
from groundplan.answering.writing.display import ISO
from groundplan.answering.writing.phrases import MONTHS_OF_DAYS
from groundplan.answering.writing.tracing import Trace, find_trace
from groundplan.contracts.answer import Citation, ShownTable
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import Facts
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import CheckedPlan
from groundplan.text.period_names import MONTHS

DATE = re.compile(rf"\b(?:{'|'.join(sum((*MONTHS.values(), *MONTHS_OF_DAYS.values()), ()))})\b")
NAME = re.compile(r"[«\"“`]|(?<=\S )[A-ZА-ЯЁ]\w+")
UNIT = re.compile(r"\s?(?:[%$€£¥₽°]|[^\W\d_]+)")
HINT = "the plain facts are shown instead"


def verify(
    text: str,
    facts: Facts,
    shown: Mapping[str, ShownTable],
    citations: Sequence[Citation],
    plan: CheckedPlan,
) -> tuple[Issue, ...]:
    """The parts of the text that the facts do not support; empty if all of it is verified."""
    record = Record(plan, facts, shown)
    english = tuple(_issues(text, citations, record, "en"))
    return min(english, tuple(_issues(text, citations, record, "ru")), key=len) if english else ()


def _issues(text: str, citations: Sequence[Citation], record: Record, language: Language) -> Iterator[Issue]:
    parsed = parse(text, citations, language)
    yield from _artefacts(text, citations)
    yield from _uncited(text, parsed, citations)
    for citation in citations:
        yield from untrue(citation, record, language)
    for fits in parsed.sentences:
        yield from _unfounded(fits, record)
    for step in broken_lists(parsed.sentences, record):
        yield _issue("unsupported-sentence", f"the list of step {step!r} omits, repeats or reorders rows")
    for step in broken_steps(parsed.sentences, record.facts):
        yield _issue("unsupported-sentence", f"step {step!r} is missing, repeated or out of order")


def _artefacts(text: str, citations: Sequence[Citation]) -> Iterator[Issue]:
    """Artefacts in the text around the citations; cited facts are data."""
    for what, words in find_artefacts("\0".join(_between(text, citations))):
        yield _issue("artefact", f"the text has {what}: {words!r}")


def _between(text: str, citations: Sequence[Citation]) -> Iterator[str]:
    """The text between the citations, which occur in order."""
    at = 0
    for citation in citations:
        found = text.find(citation.text, at)
        if found >= 0:
            yield text[at:found]
            at = found + len(citation.text)
    yield text[at:]


def _uncited(text: str, parsed: Parsed, citations: Sequence[Citation]) -> Iterator[Issue]:
    if parsed.at < len(text):
        code = _code(text, parsed.at, parsed.mismatch)
        words = re.split(r"(?<=[.!?])\s|\n", text[parsed.at :], maxsplit=1)[0]
        yield _issue(code, f"no fact supports this sentence: {words!r}")
    elif parsed.used < len(citations):
        missing = citations[parsed.used]
        yield _issue(_kind(missing), f"{missing.text!r} is cited but not in the text")


def untrue(citation: Citation, record: Record, language: Language) -> Iterator[Issue]:
    """The faults of a citation: its fact has another value, or its words do not show it."""
    trace = find_trace(citation.fact)
    try:
        if trace is None:
            yield _issue(_kind(citation), f"{citation.fact!r} is not the id of a fact")
        elif not _equal(record.value(trace), citation.value):
            yield _issue(_kind(citation), f"{citation.fact} is {record.value(trace)!r}, not {citation.value!r}")
        elif not shows(citation, trace, record, language):
            yield _issue(_kind(citation), f"{citation.text!r} does not show {citation.fact}, {citation.value!r}")
    except Untraceable as error:
        yield _issue(_kind(citation), f"{citation.text!r} cites {citation.fact}: {error}")


def _unfounded(fits: Sequence[Fit], record: Record) -> Iterator[Issue]:
    """A sentence is supported if the claims of at least one matching form hold."""
    broken = [list(broken_claims(fit.form.claims, _stated(fit, record))) for fit in fits]
    if all(broken):
        fit = fits[0]
        yield _issue(
            "unsupported-sentence",
            f"a sentence of the form {fit.form.name!r} makes unsupported claims: {'; '.join(broken[0])}",
        )


def _stated(fit: Fit, record: Record) -> Stated:
    slots: dict[str, tuple[Trace, ...]] = {}
    for name, citations in fit.slots.items():
        traces = (find_trace(citation.fact) for citation in citations)
        slots[name] = tuple(trace for trace in traces if trace is not None)
    return Stated(record, {name: traces for name, traces in slots.items() if len(traces) == len(fit.slots[name])})


def _code(text: str, at: int, mismatch: Mismatch) -> str:
    """The issue code for the first unsupported word."""
    if mismatch.before and is_number(mismatch.before.value) and UNIT.match(text, mismatch.at):
        return "unit"
    if mismatch.at > at:
        expected = mismatch.expected
        return (
            _kind_or_unit(expected, text[mismatch.at :]) if isinstance(expected, Citation) else "unsupported-sentence"
        )
    words = re.split(r"(?<=[.!?])\s|\n", text[at:], maxsplit=1)[0]
    if DATE.search(words):
        return "unsupported-date"
    if re.search(r"\d", words):
        return "unsupported-number"
    return "unsupported-name" if NAME.search(words) else "unsupported-sentence"


def _kind_or_unit(expected: Citation, words: str) -> str:
    number, _, unit = expected.text.rpartition(" ")
    return "unit" if number and unit and is_number(expected.value) and words.startswith(number) else _kind(expected)


def _kind(citation: Citation) -> str:
    if is_number(citation.value):
        return "unsupported-number"
    if isinstance(citation.value, str) and ISO.fullmatch(citation.value):
        return "unsupported-date"
    return "unsupported-name"


def _equal(value: object, cited: object) -> bool:
    if is_number(value) and is_number(cited):
        return abs(value - cited) <= 1e-9 * max(abs(value), abs(cited))
    return type(value) is type(cited) and value == cited


def _issue(code: str, problem: str) -> Issue:
    return Issue(code=f"answer/{code}", problem=problem, hint=HINT)
