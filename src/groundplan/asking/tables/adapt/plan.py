"""Plans with a model: it edits the plan that code has made, within a schema that names only what exists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from groundplan.asking.tables.adapt.changes import (
    Adaptation,
    Add,
    EditOffer,
    Unadapted,
    apply,
    name_of,
    new_columns,
    settle,
    tell,
)
from groundplan.catalog.catalog import Catalog
from groundplan.contracts.contract import thaw
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Plan, Provenance, Step
from groundplan.contracts.reading import Filter, Metric, OutputAsked, Reading, Requirement, Time
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.shortlist import Shortlist
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Refused
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Reply

if TYPE_CHECKING:
    from groundplan.llm.calls import Calls

__all__ = ["Unadapted", "propose"]

MAX_TOKENS = 320
MOST_ISSUES = 5  # that go back beside what is missing and what to remove
LONGEST = 200  # characters of one of them
SURE, LESS_SURE, LEAST = 0.9, 0.2, 0.1  # a first attempt's confidence, what each further one costs, where it ends

_PLAIN = re.compile(r"[\w.:-]+")


async def propose(
    base: Plan,
    reading: Reading,
    shortlist: Shortlist,
    catalog: Catalog,
    schema: SourceSchema,
    calls: Calls,
    *,
    attempt: int,
    refused: Refused | None,
    example: Plan | None = None,
) -> Plan | Unadapted:
    """A plan edited by a model: first the plan as code made it, then the plan that was refused."""
    offer = _offer(base, reading, shortlist, catalog, schema, refused)
    prompt = load_prompt("adapt").fill(
        tools="\n".join(_tool_line(name, offer) for name in offer.params if name in offer.added) or "-",
        example="\n".join(_step_line(step) for step in example.steps) if example else "-",
        requirements="\n".join(_requirement_line(requirement, base) for requirement in reading.requirements),
        plan="\n".join(_step_line(step) for step in base.steps),
        attempt=str(attempt),
        errors="\n".join(_errors(refused, base, reading)) or "nothing is wrong",
    )
    told = await calls.ask(prompt, Adaptation, schema=offer.schema, max_tokens=MAX_TOKENS)
    if not isinstance(told, Reply):
        return Unadapted(told.problem)
    changed = apply(base, told.value)
    return changed if isinstance(changed, Unadapted) else _adapted(changed, offer, told, attempt)


def _offer(
    base: Plan,
    reading: Reading,
    shortlist: Shortlist,
    catalog: Catalog,
    schema: SourceSchema,
    refused: Refused | None,
) -> EditOffer:
    in_plan = [step.tool for step in base.steps if step.tool]
    tools = {name: catalog.tools[name] for name in (*shortlist.names, *in_plan) if name in catalog.tools}
    serves = {name: _served(tool, reading, catalog) for name, tool in tools.items()}
    unmet = _unmet(refused, base, reading)
    useful = [name for name in shortlist.names if name in tools and unmet.intersection(serves[name])]
    return EditOffer(
        base=base,
        requirements=reading.requirements,
        tools=tools,
        added=frozenset(name for name in useful if _asked(tools[name], reading, catalog)),
        serves=serves,
        table=reading.tables[0] if reading.tables else schema.tables[0].name,
        columns=_columns(base, reading, schema, tools),
        least=1 if useful or (refused and refused.remove) else 0,
    )


def _unmet(refused: Refused | None, base: Plan, reading: Reading) -> set[str]:
    """The requirements that a new step may be for: what is missing, and what the faulty steps were there for."""
    faulty = {issue.step for issue in refused.issues} if refused else set()
    cited = {id_ for step in base.steps if step.id in faulty for id_ in step.satisfies}
    return cited.union(_missing(refused, base, reading))


def _missing(refused: Refused | None, base: Plan, reading: Reading) -> tuple[str, ...]:
    cited = {id_ for step in base.steps for id_ in step.satisfies}
    return refused.missing if refused else tuple(r.id for r in reading.requirements if r.id not in cited)


def _asked(tool: Tool, reading: Reading, catalog: Catalog) -> bool:
    """A tool made for one kind of question is not offered for another: the gate would refuse it."""
    charts = {f"{r.label}:{r.value.chart}" for r in reading.requirements if isinstance(r.value, OutputAsked)}
    labels = charts | {r.label for r in reading.requirements}
    wanted = [catalog.asked_by(capability) for capability in tool.capabilities]
    return all(labels & asked_by for asked_by in wanted if asked_by)


def _served(tool: Tool, reading: Reading, catalog: Catalog) -> tuple[str, ...]:
    """The requirements that its capabilities serve; a tool that serves none may prepare for any."""
    able = {catalog.capability(name) or name for name in tool.capabilities}
    served = [r.id for r in reading.requirements if able & catalog.serving(r.label)]
    return tuple(served or (r.id for r in reading.requirements))


def _columns(
    base: Plan, reading: Reading, schema: SourceSchema, tools: Mapping[str, Tool]
) -> dict[str, frozenset[str]]:
    """Those of the question's tables, and those that steps make; a date kept as text can be read as time."""
    spoken_of = reading.tables or (schema.tables[0].name,)
    own = {
        column.name: frozenset({column.kind, "time"} if column.role == "temporal" else {column.kind})
        for table in schema.tables
        if table.name in spoken_of
        for column in table.columns
    }
    made: dict[str, str] = dict.fromkeys(_new_names(base, reading, tools), "number")
    for step in base.steps:
        made |= tools[step.tool].output.adds if step.tool and step.tool in tools else {}
    return {name: frozenset({kind}) for name, kind in made.items()} | own


def _new_names(base: Plan, reading: Reading, tools: Mapping[str, Tool]) -> Iterator[str]:
    """The column that a step makes: in the plan, for the measures asked for, by a tool's own default."""
    yield from new_columns(base, tools).values()
    yield from (name_of(_work(r.value)) for r in reading.requirements if isinstance(r.value, Metric))
    for tool in tools.values():
        inside = cast(Mapping[str, Mapping[str, JsonValue]], tool.params.get("properties", {}))
        yield from (str(inner["default"]) for inner in inside.values() if "x-new" in inner and "default" in inner)


def _work(measure: Metric) -> dict[str, JsonValue]:
    if measure.column is None:
        return {"function": "count"}
    return {"column": measure.column, "function": measure.function or measure.usual or "sum"}


def _adapted(changed: Plan, offer: EditOffer, told: Reply[Adaptation], attempt: int) -> Plan:
    """The settled plan with how it came to be; the tokens and the log of earlier attempts count too."""
    before = changed.provenance if changed.strategy == "adapt" else Provenance()
    reasons = [change.rationale for change in told.value.changes if isinstance(change, Add) and change.rationale]
    provenance = Provenance(
        template=changed.provenance.template,
        model=told.model,
        attempts=attempt,
        tokens=before.tokens + told.usage.prompt_tokens + told.usage.completion_tokens,
        duration_ms=round(before.duration_ms + told.ms, 1),
        reasoning=" ".join(reasons),
        log=(*before.log, f"attempt {attempt}: {tell(told.value)}"),
    )
    return changed.model_copy(
        update={
            "strategy": "adapt",
            "steps": tuple(settle(step, offer) for step in changed.steps),
            "confidence": round(max(SURE - LESS_SURE * (attempt - 1), LEAST), 2),
            "provenance": provenance,
        }
    )


def _tool_line(name: str, offer: EditOffer) -> str:
    """`plot_line(x, y, color?)`"""
    fields = cast(dict[str, dict[str, JsonValue]], offer.params[name]["properties"])
    return f"{name}({', '.join(f'{field}?' if 'anyOf' in said else field for field, said in fields.items())})"


def _step_line(step: Step) -> str:
    """`totals = aggregate(dates, group_by=[region])`: what it works on first, then its params."""
    params = cast(dict[str, JsonValue], thaw(step.params))
    said = [*step.needs, *(f"{name}={_compact(value)}" for name, value in params.items())]
    return f"{step.id} = {step.tool or step.kind}({', '.join(said)})"


def _requirement_line(requirement: Requirement, base: Plan) -> str:
    steps = [step.id for step in base.steps if requirement.id in step.satisfies]
    detail = _detail(requirement)
    return f"{_compact(requirement.id)}{f' ({detail})' if detail else ''} <- {', '.join(steps) or 'none'}"


def _detail(requirement: Requirement) -> str:
    """The details that the id does not have."""
    match requirement.value:
        case Metric(function=function) if function:
            return function
        case Time(grain=grain) if grain:
            return grain
        case OutputAsked(chart=chart) if chart:
            return chart
        case Filter(operator=operator, values=values):
            return f"{operator} {_compact([*values])}"
        case _:
            return ""


def _errors(refused: Refused | None, base: Plan, reading: Reading) -> Iterator[str]:
    """The missing parts, the parts to remove, then the other issues, each on a line."""
    by_kind: dict[str, list[JsonValue]] = {}
    for kind, name in (id_.split(":", 1) for id_ in _missing(refused, base, reading)):
        by_kind.setdefault(kind, []).append(name)
    if by_kind:
        yield f"Missing coverage: {', '.join(f'{kind}={_compact(names)}' for kind, names in by_kind.items())}"
    if refused and refused.remove:
        yield f"Remove unjustified steps: {', '.join(refused.remove)}"
    others = [issue for issue in refused.issues if not _is_said(issue, refused)] if refused else []
    yield from (_issue_line(issue) for issue in others[:MOST_ISSUES])


def _is_said(issue: Issue, refused: Refused) -> bool:
    uncited = {other.requirement for other in refused.issues if other.code == "coverage/missing"}
    return issue.severity == "warning" or issue.step in refused.remove or issue.requirement in uncited - {None}


def _issue_line(issue: Issue) -> str:
    where = f"{issue.path or issue.step}: " if issue.path or issue.step else ""
    return " ".join((where + "; ".join(filter(None, (issue.problem, issue.hint)))).split())[:LONGEST]


def _compact(value: JsonValue) -> str:
    """JSON without quotes where a word needs none: a value is data and stays on its line."""
    match value:
        case str():
            return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(_compact(item) for item in value)}]"
        case dict():
            return f"{{{', '.join(f'{name}={_compact(item)}' for name, item in value.items())}}}"
        case _:
            return json.dumps(value)
