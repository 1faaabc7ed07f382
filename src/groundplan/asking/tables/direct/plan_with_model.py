"""The strategy `direct` with a model: one call builds the query, from what was asked and from nothing else.

Where words are open or a query has failed, the model may first ask for what else is known: in at most two rounds, side
by side, each thing once for a question. Words that are all explained need nothing more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import ValidationError

from groundplan.asking.tables.direct.needs import Need, Offered
from groundplan.asking.tables.direct.offer import GROUP, Built, Offer, Unbuilt, offer_for
from groundplan.asking.tables.direct.plan import CUTS
from groundplan.asking.tables.direct.settle import settle
from groundplan.contracts.contract import thaw
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.query import Query, QueryField, TableCalcField, TopFilter
from groundplan.contracts.query_meaning import FUNCTIONS
from groundplan.contracts.reading import Filter, GroupBy, Metric, Rank, Reading, Requirement, Time
from groundplan.contracts.schema import Column, SourceSchema
from groundplan.contracts.verdict import Refused
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Reply
from groundplan.text.printable import one_line

if TYPE_CHECKING:
    from groundplan.llm.calls import Calls

__all__ = ["Offered", "Unbuilt", "build"]

ROUNDS = 2  # of fetching in one attempt
MAX_TOKENS = 400
MOST_ISSUES = 4  # that go back
LONGEST, LONGEST_PROBLEM, LONGEST_METADATA = 200, 300, 3_000  # characters of an issue, of a reply's fault, of a text
SURE, LESS_SURE, LEAST = 0.9, 0.2, 0.1  # a first attempt's confidence, what each further one costs, where it ends


async def build(
    calls: Calls,
    reading: Reading,
    schema: SourceSchema,
    tool: str,
    *,
    tools: Offered,
    attempt: int = 1,
    last: Plan | None = None,
    refused: Refused | None = None,
) -> Plan | Unbuilt:
    """A plan around one query with `tool`, made by the model whose turn it is; the gate has not seen it yet.

    `last` and `refused` are the plan before, and what the gate or the run says of it. `tools` share what they found
    with all attempts.
    """
    begun, spent = time.monotonic(), _tokens(calls)
    offer = offer_for(reading, schema, tool)
    if isinstance(offer, Unbuilt):
        return offer
    built = await _asked(calls, offer, tools, (attempt, last, refused))
    plan = settle(built, offer) if isinstance(built, Built) else built
    if isinstance(plan, Unbuilt) or isinstance(built, Unbuilt):
        return plan
    before = last.provenance if last and last.provenance.model else Provenance()
    provenance = Provenance(
        model=calls.model,
        attempts=attempt,
        tokens=before.tokens + _tokens(calls) - spent,
        duration_ms=round(before.duration_ms + (time.monotonic() - begun) * 1000, 1),
        reasoning=" ".join(_reasons(built, offer, calls.model)),
        log=(*before.log, f"attempt {attempt}: {_told(built, tools)}"),
    )
    confidence = round(max(SURE - LESS_SURE * (attempt - 1), LEAST), 2)
    return plan.model_copy(update={"provenance": provenance, "confidence": confidence})


def _tokens(calls: Calls) -> int:
    return calls.usage.tokens


async def _asked(
    calls: Calls,
    offer: Offer,
    tools: Offered,
    tried: tuple[int, Plan | None, Refused | None],
) -> Built | Unbuilt:
    """What the model says once it needs nothing more, or may fetch nothing more."""
    for fetched in range(ROUNDS + 1):
        needs = _needs(offer, tools, refused=tried[2]) if fetched < ROUNDS else ()
        told = await calls.ask(_prompt(offer, tools, *tried), Built, schema=offer.schema(needs), max_tokens=MAX_TOKENS)
        if not isinstance(told, Reply):
            return Unbuilt(told.problem[:LONGEST_PROBLEM])
        if not told.value.needs:
            return told.value
        await tools.fetch(told.value.needs, calls.left)
    raise AssertionError("the last round offers nothing to need")


def _needs(offer: Offer, tools: Offered, refused: Refused | None) -> tuple[Need, ...]:
    """What may be asked for, where words are open or a plan has failed: a small model asks for all that there is."""
    return tools.left if offer.reading.unresolved or refused else ()


def _prompt(offer: Offer, tools: Offered, attempt: int, last: Plan | None, refused: Refused | None) -> str:
    errors = [*_errors(refused)]
    if errors and (query := _query_line(last)):
        errors.append(f"Your last query: {query}")
    return load_prompt("direct").fill(
        known="\n".join(_known(tools)),
        columns=", ".join(_column(offer, caption) for caption in (*offer.groups, *offer.measures, *offer.filters)),
        question=" ".join(offer.reading.question.split()),
        asked="; ".join(_asked_for(r, offer) for r in offer.reading.requirements if _is_queried(r)),
        attempt=str(attempt),
        errors="\n".join(errors) or "nothing yet",
    )


def _known(tools: Offered) -> Iterator[str]:
    """What was fetched, as data on a line of its own; a tool that failed is not asked again."""
    if tools.found.metadata:
        yield f"About the data, as its publishers wrote it: {one_line(tools.found.metadata, LONGEST_METADATA)}"
    if earlier := _query_line(tools.found.prior):
        yield f"Query of an earlier question: {earlier}"
    yield from (f"{need} cannot be had" for need in tools.found.problems)


def _column(offer: Offer, caption: str) -> str:
    column = offer.table.find(caption)
    return f"{caption} ({_kind(column)})" if column else caption


def _kind(column: Column) -> str:
    return "date" if column.role == "temporal" or column.kind == "time" else column.kind


def _is_queried(requirement: Requirement) -> bool:
    """What shows the rows, and what follows from them, is no part of a query."""
    queried = isinstance(requirement.value, Metric | GroupBy | Time | Filter | Rank)
    return queried or requirement.label in ("analysis:share", "analysis:summary")


def _asked_for(requirement: Requirement, offer: Offer) -> str:
    """In few words."""
    match requirement.value:
        case Metric(column=None):
            return f"COUNT of {next((caption for caption in offer.measures if not offer.metric(caption)), 'rows')}"
        case Metric(column=column, function=function):
            return f"{FUNCTIONS[function]} of {column}" if function else f"{column}"
        case GroupBy(column=column):
            return f"each {column}"
        case Time(column=column, grain=grain):
            return f"{CUTS[grain]} of {column}" if grain else f"{column} over time"
        case Filter(column=column, operator=operator, values=values):
            return f"only {column} {operator} {', '.join(map(str, values))}".strip()
        case Rank(direction=direction, limit=limit):
            return f"{direction} {limit}"
        case _:
            return requirement.label.removeprefix("analysis:")


def _errors(refused: Refused | None) -> Iterator[str]:
    """What the gate or the run found; of the steps around the query only where the query itself is right."""
    issues = [issue for issue in refused.issues if issue.severity == "error"] if refused else []
    own = [issue for issue in issues if issue.requirement or issue.step in (None, "query")]
    yield from dict.fromkeys(_line(issue) for issue in (own or issues)[:MOST_ISSUES])


def _line(issue: Issue) -> str:
    return one_line("; ".join(filter(None, (issue.problem, issue.hint))), LONGEST)


def _query_line(plan: Plan | None) -> str:
    """`GROUP of "region", SUM of "revenue"; where "channel"; TOP 3`: names and functions, no values."""
    step = next((step for step in plan.steps if "query" in step.params), None) if plan else None
    query = _query(step) if step else None
    if step is None or query is None:
        return ""
    fields = ", ".join(f"{_taken(field)} of {_quoted(field.field_caption)}" for field in query.fields)
    kept = [one.field for one in query.filters if not isinstance(one, TopFilter)]
    where = [f"where {_quoted(getattr(field, 'field_caption', ''))}" for field in kept]
    tops = [f"{one.direction} {one.how_many}" for one in query.filters if isinstance(one, TopFilter)]
    limit = [f"first {step.params['rowLimit']} rows"] if "rowLimit" in step.params else []
    return "; ".join([fields, *where, *tops, *limit])


def _query(step: Step) -> Query | None:
    try:
        return Query.model_validate(thaw(step.params["query"]))
    except ValidationError:
        return None


def _taken(field: QueryField) -> str:
    if isinstance(field, TableCalcField):
        return field.table_calculation.table_calc_type
    return getattr(field, "function", None) or GROUP


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _reasons(built: Built, offer: Offer, model: str) -> Iterator[str]:
    yield f"One query over {offer.table.name}, built by {model}."
    for words, meaning in built.meanings.items():
        if meaning != "NOTHING":
            yield f"{words!r} is read as {meaning.replace('_', ' ').lower()}."


def _told(built: Built, tools: Offered) -> str:
    """For the plan's log, in few words."""
    fields = ", ".join(f"{one.function}({one.field})" for one in built.fields)
    called = f"fetched {', '.join(sorted(tools.found.called))}; " if tools.found.called else ""
    return f"{called}{fields}"
