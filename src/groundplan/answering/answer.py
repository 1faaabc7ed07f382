"""Facts and the rows they refer to, made into an Answer; nothing else goes in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from groundplan.answering.chart import with_data
from groundplan.contracts.answer import Answer, Refusal, ShownTable, TraceEntry
from groundplan.contracts.facts import Facts, Stale, Truncated
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import CheckedPlan, Plan


def answer(
    plan: CheckedPlan, facts: Facts, shown: Mapping[str, ShownTable], trace: Sequence[TraceEntry]
) -> Answer | Refusal:
    """An answer when anything was found, or when what was asked for is provably not there; else why not."""
    broken = tuple(failure.issue for failure in facts.failures if failure.issue)
    if broken and not facts.tables and not facts.charts:
        return Refusal(text=_why(broken), issues=broken, plan=_plain(plan), facts=facts, trace=tuple(trace))
    return Answer(
        text="\n".join(_lines(facts, shown)),
        tables=tuple(shown[step] for step in facts.tables),
        charts=tuple(with_data(c.spec, shown[s].columns, shown[s].rows) for s, c in facts.charts.items()),
        files=facts.files,
        plan=_plain(plan),
        coverage=facts.coverage,
        repairs=facts.repairs,
        issues=broken,
        facts=facts,
        trace=tuple(trace),
    )


def refuse(plan: Plan | None, issues: Sequence[Issue], trace: Sequence[TraceEntry]) -> Refusal:
    return Refusal(text=_why(issues), issues=tuple(issues), plan=plan, trace=tuple(trace))


def _plain(plan: CheckedPlan) -> Plan:
    """The plan that ran, without the gate's seal: whoever wants to run it again goes through the gate again."""
    return Plan.model_validate({name: getattr(plan, name) for name in Plan.model_fields})


def _why(issues: Sequence[Issue]) -> str:
    count = f"{len(issues)} problem" + ("s" if len(issues) != 1 else "")
    return "\n".join([f"Nothing was run to its end: {count}.", *(f"- {issue.problem}" for issue in issues)])


def _lines(facts: Facts, shown: Mapping[str, ShownTable]) -> Iterator[str]:
    if not facts.found:
        yield "Nothing was found."
    for step in facts.tables:
        table = shown[step]
        rows = f"{table.row_count:,} row" + ("s" if table.row_count != 1 else "")
        yield f"{table.title or step}: {rows} of {', '.join(table.columns)}."
    for chart in facts.charts.values():
        yield f"Chart: {chart.title}."
    for item in facts.items:
        value = f": {item.value}" if item.value is not None else ""
        yield f"{item.title[:1].upper()}{item.title[1:]}{value}{f' ({item.text})' if item.text else ''}."
    if isinstance(facts.state, Truncated):
        yield f"Not everything is shown: {facts.state.reason}."
    if isinstance(facts.state, Stale):
        yield f"The data is {facts.state.age_seconds:,.0f} s old."
    for failure in facts.failures:
        if failure.issue:
            yield f"Missing: {failure.issue.problem}."
