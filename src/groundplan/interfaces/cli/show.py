"""Terminal output: verdicts, progress, tables, charts."""

from __future__ import annotations

import json as json_format
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.table import Table

from groundplan.asking.replies import chosen, to_remember
from groundplan.catalog.catalog import Catalog
from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal, ShownTable
from groundplan.contracts.contract import Language, thaw
from groundplan.contracts.explanation import WordFate, reasons
from groundplan.contracts.facts import TableColumn
from groundplan.contracts.issue import Issue
from groundplan.contracts.plan import Plan, Step
from groundplan.contracts.progress import Progress
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import Column, SourceSchema
from groundplan.contracts.schema import Table as SchemaTable
from groundplan.contracts.tool import Tool
from groundplan.contracts.verdict import Passed, Refused, ToApprove, Verdict
from groundplan.interfaces import table_cells
from groundplan.interfaces.cli import spending
from groundplan.interfaces.cli.terminal import confirm, draw, err, out, print_json, say, typed
from groundplan.text.read_back import read_as
from groundplan.text.words import language_of

if TYPE_CHECKING:
    from groundplan.evaluation.report import Report
    from groundplan.result import Planned
    from groundplan.state.plans import Entry

ROWS_IN_THE_TERMINAL = 20
TABLES_IN_FULL = 8
SECONDS_BETWEEN_COUNTS = 30.0
SIGNS = {"finished": "[green]✓[/]", "failed": "[red]✗[/]", "blocked": "[red]·[/]", "skipped": "[dim]-[/]"}

FATES = {
    "used": "{}",
    "structure": "[dim]structure[/]",
    "replaced": "[dim]replaced[/]",
    "not understood": "[red]not understood[/]",
}
YES_OR_NO = "[Y/n]"
REPEATED = "goes with other words"

NEXT = {"read": "narrowing", "narrow": "planning", "plan": "checking", "check": "running", "run": "answering"}


def verdict(verdict: Verdict, file: str, json: bool) -> None:
    """Print the issues like a linter, each with its hint; exit 1 if the plan is refused."""
    match verdict:
        case Passed(plan=plan):
            issues = verdict.issues
            document = {"ok": True, "coverage": [c.model_dump() for c in plan.coverage]}
            document |= {"repairs": [r.model_dump() for r in plan.repairs], "writes": list(plan.writes)}
        case Refused():
            issues = verdict.issues
            document = {"ok": False, **verdict.model_dump(mode="json", exclude={"issues"})}
    if json:
        print_json({**document, "issues": [issue.model_dump(mode="json") for issue in issues]})
    else:
        for issue in issues:
            _issue(issue, file)
        _summary(verdict, file)
    if isinstance(verdict, Refused):
        raise typer.Exit(1)


def _issue(issue: Issue, file: str) -> None:
    place = f"{file}:{issue.path}" if issue.path else file
    out.print(f"[bold]{escape(place)}[/] [red]{issue.code}[/] {escape(issue.problem)}")
    if issue.hint:
        out.print(f"    [dim]{escape(issue.hint)}[/]")


def _summary(verdict: Verdict, file: str) -> None:
    if isinstance(verdict, Refused):
        count = len(verdict.issues)
        out.print(f"[red]{count} issue{'s' if count != 1 else ''}[/]: the plan may not run.")
        return
    plan = verdict.plan
    out.print(f"[green]ok[/] {escape(file)}: {_covering(len(plan.steps), len(plan.coverage))}")
    for item in plan.coverage:
        out.print(f"    {escape(item.requirement)} [dim]<-[/] {', '.join(item.steps)}")
    for repair in plan.repairs:
        if repair.kind != "default":
            was = f"{repair.before!r} -> " if repair.before is not None else ""
            out.print(f"    [yellow]repaired[/] {repair.step}.{repair.path}: {escape(was)}{escape(repr(repair.after))}")
    if plan.writes:
        out.print(f"    [yellow]needs approval[/]: {', '.join(plan.writes)}")


class Live:
    """Progress on standard error: a line for each step, and a spinner on an interactive terminal."""

    def __init__(self, quiet: bool, spinner: Status | None) -> None:
        self._quiet, self.spinner, self.run_id = quiet, spinner, ""

    def run(self, run_id: str) -> None:
        """The id of a run that can be resumed."""
        self.run_id = run_id
        if not self._quiet:
            err.print(f"[dim]run {run_id}[/]")

    def stage(self, name: str) -> None:
        if self.spinner:
            self.spinner.update(NEXT.get(name, "working"))

    def step(self, event: Progress) -> None:
        if self._quiet or event.status == "started":
            return
        sign = SIGNS.get(event.status, "[yellow]…[/]")
        took = f"[dim]{event.ms:,.0f} ms[/]" if event.ms is not None else ""
        err.print(f"{sign} {event.step} {took} {escape(event.detail)}".rstrip())

    def approves(self, verdict: ToApprove) -> bool:
        """Show the plan and ask the user to approve the calls with an effect, value by value."""
        if self.spinner:
            self.spinner.stop()
        for line in _step_lines(verdict.plan):
            err.print(line)
        for issue in verdict.issues:
            err.print(f"[yellow]{escape(issue.problem)}[/]; {escape(issue.hint or '')}")
        changing = ", ".join(dict.fromkeys(call.step for call in verdict.effects))
        return confirm(f"These steps change something: {changing}. Run the plan?")

    def replies(self, asked: Outcome) -> str | None:
        """Show a question back and read the reply; an empty line confirms a reading, and else leaves it open."""
        if not isinstance(asked, Clarification) or not (asked.candidates or asked.open):
            return None
        if self.spinner:
            self.spinner.stop()
        _asked_back(asked, err)
        said = typed() or ("yes" if asked.confirms else None)
        place = chosen(asked, said) if said and asked.means else None
        meant = asked.means[place] if place is not None else None
        if said is None or meant is None or to_remember(asked, said):
            return said
        keeps = confirm(f"From now on, does {asked.missing!r} mean {meant.column}?")
        return f"{said} remember" if keeps else said


@contextmanager
def live(quiet: bool, resuming: str = "") -> Iterator[Live]:
    """Show progress. If the run is interrupted, print the command that continues it: `resuming` and the run id."""
    shown = Live(quiet, None)
    try:
        if quiet or not err.is_terminal:
            yield shown
        else:
            with err.status("opening the data") as spinner:
                shown.spinner = spinner
                yield shown
    except KeyboardInterrupt:
        err.print(f"stopped; continue with: {escape(resuming)} {shown.run_id}" if shown.run_id else "stopped")
        raise


@contextmanager
def counting(doing: str = "scoring") -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, or occasional lines if it is not interactive."""
    from rich.progress import Progress as Bar

    if not err.is_terminal:
        yield _now_and_then()
        return
    with Bar(console=err) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _now_and_then() -> Callable[[int, int], None]:
    said = time.monotonic()

    def count(done: int, total: int) -> None:
        nonlocal said
        if time.monotonic() - said >= SECONDS_BETWEEN_COUNTS:
            said = time.monotonic()
            err.print(f"{done:,} of {total:,}")

    return count


def planned(planned: Planned, json: bool, models: Sequence[str] = ()) -> None:
    """Print the steps, or the JSON input of `check` and `run`."""
    _told(planned, _steps, json, models)


def _told(planned: Planned, tell: Callable[[Plan, Reading, bool], None], json: bool, models: Sequence[str]) -> None:
    """Print the plan with `tell`, or the outcome if there is no plan."""
    if planned.ended or planned.plan is None or planned.reading is None:
        outcome(_ended(planned), json, models, planned.notes)
        return
    if json and tell is _steps:
        print_json(planned.response.model_dump(mode="json"))
        return
    tell(planned.plan, planned.reading, json)
    _spent(planned, json, models, planned.notes)


def _steps(plan: Plan, reading: Reading, json: bool) -> None:
    for line in _step_lines(plan):
        out.print(line)
    out.print(f"[green]checked[/]: {_covering(len(plan.steps), sum(len(ask.requirements) for ask in reading.asks))}")


def _step_lines(plan: Plan) -> Iterator[str]:
    for step in plan.steps:
        params = ", ".join(f"{name}={_short(value)}" for name, value in step.params.items())
        each = f"for each item of {step.for_each}, at most {plan.limits.each}: " if step.for_each else ""
        yield f"[bold]{step.id}[/] {each}" + (f"{step.tool}({escape(params)})" if step.tool else _routed(step))
        needs = f"after {', '.join(step.needs)}; " if step.needs else ""
        spare = "only when the others find too little; " if plan.fallback and step.id in plan.fallback.steps else ""
        yield f"    [dim]{needs}{spare}serves {escape(', '.join(step.satisfies))}[/]"


def _routed(step: Step) -> str:
    """`to thanks if customer.first.member, else to offer`"""
    ways = [f"to {route.to} if {escape(route.when)}" for route in step.routes]
    return ", ".join([*ways, *([f"else to {step.default}"] if step.default else [])])


def _covering(steps: int, requirements: int) -> str:
    """`1 step covers 1 requirement.`, `4 steps cover 6 requirements.`"""
    many = f"{steps} steps cover" if steps != 1 else "1 step covers"
    return f"{many} {requirements} requirement{'' if requirements == 1 else 's'}."


def explained(planned: Planned, json: bool, models: Sequence[str] = ()) -> None:
    """Print each requirement, the words that ask for it, the steps that serve it, and what became of each word."""
    _told(planned, partial(_reasons, planned.words), json, models)


def _reasons(words: Sequence[WordFate], plan: Plan, reading: Reading, json: bool) -> None:
    tools = {step.id: step.tool or step.kind for step in plan.steps}
    rows = [
        {**reason.model_dump(), "steps": [f"{step} ({tools[step]})" for step in reason.steps]}
        for reason in reasons(reading, plan)
    ]
    if json:
        fates = [word.model_dump(mode="json") for word in words]
        print_json(
            {
                "question": reading.question,
                "read_as": read_as(reading),
                "requirements": rows,
                "words": fates,
                "log": [*plan.provenance.log],
            },
        )
        return
    _read_as(read_as(reading))
    table = Table(header_style="bold", box=None)
    for heading in ("requirement", "because you said", "steps"):
        table.add_column(heading)
    for row in rows:
        said = "assumed" if row["implied"] else f"“{row['words']}”"
        table.add_row(escape(str(row["requirement"])), escape(said), escape(", ".join(row["steps"])))
    out.print(table)
    if plan.provenance.log:
        out.print()
    for line in plan.provenance.log:
        out.print(escape(line), style="dim")
    _fates(words)


def _fates(words: Sequence[WordFate]) -> None:
    """Print what became of each word."""
    if not words:
        return
    table = Table(header_style="bold", box=None)
    for heading in ("word", "what became of it"):
        table.add_column(heading)
    for word in words:
        table.add_row(escape(word.text), FATES[word.fate].format(escape(", ".join(word.requirements) or REPEATED)))
    out.print()
    out.print(table)


def _ended(planned: Planned) -> Refusal | Clarification:
    assert planned.ended is not None
    return planned.ended


def _short(value: object) -> str:
    return json_format.dumps(thaw(value), ensure_ascii=False)


def report(found: Report, json: bool) -> None:
    """Print the scores, then every miss with its kind."""
    if json:
        print_json(found.model_dump(mode="json"))
        return
    table = Table(title=f"{found.suite}: {found.n:,} items, {found.seconds:,.1f} s", title_justify="left", box=None)
    table.add_column("score", style="bold")
    table.add_column("", justify="right")
    for name, score in found.scores.items():
        table.add_row(name, f"{score:.3f}")
    for name, measure in found.extra.items():
        table.add_row(f"[dim]{escape(name)}[/]", f"[dim]{measure:,.4g}[/]")
    out.print(table)
    if found.usage.calls:
        out.print(f"[dim]{escape(', '.join(found.usage.models))}: {spending.counted(found.usage)}[/]")
    for miss in found.misses:
        out.print(
            f"[red]{escape(miss.why)}[/] {escape(miss.question)}\n    [dim]wanted {escape(_short(miss.expected))}"
        )
        out.print(f"    [dim]got    {escape(_short(miss.got))}")


def outcome(
    outcome: Answer | Refusal | Clarification,
    json: bool,
    models: Sequence[str] = (),
    notes: Sequence[str] = (),
    query: bool = False,
) -> None:
    """Print the outcome as text or as one JSON document; exit 1 for a refusal, 3 for a clarification, 6 if partial."""
    if json:
        print_json(outcome.model_dump(mode="json"))
    else:
        shown(outcome)
        if query and isinstance(outcome, Answer):
            _queries(outcome)
    _spent(outcome, json, models, notes)
    match outcome:
        case Refusal():
            raise typer.Exit(1)
        case Clarification():
            raise typer.Exit(3)
        case Answer(partial=True):
            say(f"not everything was done; try what is left: groundplan resume {outcome.facts.run}", to_err=True)
            raise typer.Exit(6)
        case Answer():
            return


def shown(outcome: Answer | Refusal | Clarification) -> None:
    """Print how it was read, charts and tables above the text; candidates and attempts below it."""
    if isinstance(outcome, Answer):
        _read_as(outcome.read_as)
        for spec in outcome.charts:
            _chart(thaw(spec))
        for table, ref in zip(outcome.tables, outcome.facts.tables.values(), strict=True):
            _table(table, {column.name: column for column in ref.columns}, table_cells.language_of(outcome))
        out.print(escape(outcome.text), soft_wrap=not out.is_terminal)
        _links(outcome)
    elif isinstance(outcome, Clarification):
        _asked_back(outcome, out)
    else:
        out.print(escape(outcome.text), soft_wrap=not out.is_terminal)
        for attempt in outcome.tried if len(outcome.tried) > 1 else ():
            tools = ", ".join(attempt.tools)
            out.print(f"  tried {attempt.strategy} ({escape(tools)}): {escape(attempt.problem)}", soft_wrap=True)


def _asked_back(asked: Clarification, to: Console) -> None:
    """The question, and the candidates by number; the one reading to confirm may stand in the text."""
    told = asked.confirms and asked.candidates[0] in asked.text
    to.print(escape(f"{asked.text} {YES_OR_NO}" if told else asked.text), soft_wrap=not to.is_terminal)
    for number, candidate in enumerate(() if told else asked.candidates, 1):
        to.print(f"  {number}. {escape(candidate)}", soft_wrap=True)
    if asked.confirms and not told:
        to.print(escape(f"Run it? {YES_OR_NO}"))


def _read_as(line: str) -> None:
    if line:
        out.print(f"[dim]{escape(line)}[/]", soft_wrap=True)


def _links(answer: Answer) -> None:
    """Print links to the listed items; only to configured servers."""
    linked = [cited for cited in answer.facts.sources if cited.link]
    for cited in linked:
        out.print(f"[dim]{escape(cited.id)}  {escape(cited.link or '')}[/]", soft_wrap=True)


def _spent(
    ended: Answer | Refusal | Clarification | Planned, json: bool, models: Sequence[str], notes: Sequence[str]
) -> None:
    """Print model usage to standard error; nothing without a model."""
    for note in spending.printable(notes):
        err.print(f"[dim]{escape(note)}[/]", soft_wrap=True)
    if models and not json:
        planned = not isinstance(ended, Refusal | Clarification)
        said = spending.line(models, ended.usage, ended.trace, planned=planned, failed=ended.usage.failed > 0)
        err.print(f"[dim]{escape(said)}[/]", soft_wrap=True)
    if not models and not json and isinstance(ended, Refusal) and spending.is_unread(ended):
        err.print(f"[dim]{spending.WITH_A_MODEL['ru' if language_of(ended.text) == 'ru' else 'en']}[/]", soft_wrap=True)


def _chart(spec: Any) -> None:
    from groundplan.charts.picture import terminal

    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    colour = out.is_terminal and not out.no_color
    draw(terminal(spec, min(out.width, 110), 24, colour=colour, ascii_only=plain))


def _queries(answer: Answer) -> None:
    """Print the reading as SQL, and the engine's query behind each table."""
    written = {"as SQL": answer.sql} if answer.sql else {}
    for step, query in {**written, **answer.queries}.items():
        out.print(f"[dim]-- {escape(step)}[/]\n{escape(query)}", soft_wrap=True)


def _table(shown: ShownTable, known: Mapping[str, TableColumn], language: Language) -> None:
    table = Table(title=escape(shown.title) if shown.title else None, title_justify="left", header_style="bold")
    rows = shown.rows[:ROWS_IN_THE_TERMINAL]
    columns = []
    for place, name in enumerate(shown.columns):
        number = all(isinstance(row[place], int | float | None) for row in shown.rows)
        table.add_column(
            escape(table_cells.heading(shown.headings.get(name, name), known.get(name))),
            justify="right" if number else "left",
        )
        columns.append(table_cells.cells([row[place] for row in rows], known.get(name), language))
    for row in zip(*columns, strict=True):
        table.add_row(*map(escape, row))
    out.print(table)
    more = shown.row_count - min(len(shown.rows), ROWS_IN_THE_TERMINAL)
    if more > 0:
        kept = "them" if len(shown.rows) == shown.row_count else f"the first {len(shown.rows):,}"
        out.print(f"[dim]… {more:,} more rows (--output DIR saves {kept}, --json prints {kept})[/]")


def tools(catalog: Catalog, json: bool) -> None:
    if json:
        print_json([tool.model_dump(mode="json") for tool in catalog.tools.values()])
        return
    table = Table(header_style="bold", box=None)
    for heading in ("tool", "source", "what it does"):
        table.add_column(heading)
    for tool in catalog.tools.values():
        mark = "" if tool.effect == "read" else " [yellow](changes something)[/]"
        table.add_row(escape(tool.name), escape(tool.source), escape(tool.description) + mark)
    out.print(table)


def tables(schemas: Mapping[str, SourceSchema], json: bool) -> None:
    """Print each table with its columns and what they mean, or one line for each of many; then how they are related."""
    if json:
        print_json([schema.model_dump(mode="json", exclude_defaults=True) for schema in schemas.values()])
        return
    found = [table for schema in schemas.values() for table in schema.tables]
    for known in found:
        _heading(known)
        if len(found) <= TABLES_IN_FULL:
            _columns(known)
    for link in (link for schema in schemas.values() for link in schema.relationships):
        orphans = f", {link.orphans:,} values without a row there" if link.orphans else ""
        out.print(f"{escape(link.text)} ({link.known}{orphans})")
    out.print('\nIs one wrong, or called otherwise? Add \\[columns."NAME"] with called and meaning to groundplan.toml.')


def _heading(table: SchemaTable) -> None:
    about = "about " if any(column.sampled for column in table.columns) else ""
    rows = f"{about}{table.row_count:,} rows" if table.row_count is not None else table.description or "not read yet"
    key = f", key {' + '.join(table.keys[0])}" if table.keys else ""
    dated = f", dated by {table.main_date}" if table.main_date else ""
    out.print(f"[bold]{escape(table.name)}[/]: {escape(rows + key + dated)}")


def _columns(known: SchemaTable) -> None:
    table = Table(header_style="bold", box=None)
    for heading in ("column", "meaning", "values", "also called", ""):
        table.add_column(heading)
    for column in known.columns:
        called = ", ".join((*column.synonyms, *column.verbs))
        note = column.note or column.description
        table.add_row(*map(escape, (column.name, column.meaning or "", span(column), called, note)))
    out.print(table)


def span(column: Column) -> str:
    """The range of numbers and dates, or how many different values there are, and how many are missing."""
    if column.least is not None and column.meaning not in ("flag", "identifier"):
        told = f"{column.least} to {column.greatest}"
    else:
        told = f"{column.cardinality:,} different" if column.cardinality is not None else ""
    told = f"about {told}" if column.sampled and told else told
    return f"{told}, {column.nulls:,} missing" if column.nulls else told


def tool(tool: Tool, json: bool) -> None:
    if json:
        print_json(tool.model_dump(mode="json"))
        return
    out.print(f"[bold]{escape(tool.name)}[/] ({escape(tool.source)}, {tool.effect})\n{escape(tool.description)}\n")
    inputs = ", ".join(f"{port.name} ({port.kind})" for port in tool.inputs) or "none"
    out.print(f"inputs: {inputs}\noutput: {tool.output.kind}\ncapabilities: {', '.join(tool.capabilities)}\n")
    table = Table(header_style="bold", box=None)
    for heading in ("param", "type", "default", ""):
        table.add_column(heading)
    schema: Any = thaw(tool.params)
    for name, param in schema.get("properties", {}).items():
        required = "required" if name in schema.get("required", []) else ""
        default = json_format.dumps(param["default"]) if "default" in param else required
        table.add_row(escape(name), escape(_type(param)), escape(default), escape(param.get("description", "")))
    out.print(table)


def examples(entries: Sequence[Entry], json: bool) -> None:
    """Print one line for each stored plan."""
    if json:
        print_json([entry.model_dump(mode="json") for entry in entries])
        return
    if not entries:
        out.print("no plans are stored yet; plans that a model makes and the gate passes are stored here")
        return
    table = Table(header_style="bold", box=None)
    for heading in ("id", "question", "tools", "marked"):
        table.add_column(heading)
    for entry in entries:
        tools = ", ".join(entry.tools)
        table.add_row(entry.id, escape(entry.question), escape(tools), "[green]yes[/]" if entry.marked else "")
    out.print(table)


def _type(param: dict[str, Any]) -> str:
    if "enum" in param:
        return " | ".join(str(choice) for choice in param["enum"])
    if "x-column" in param:
        return "column" if param["x-column"] == "any" else f"{param['x-column']} column"
    if param.get("type") == "array":
        return f"list of {_type(param.get('items', {}))}"
    if param.get("type") == "object":
        return "{" + ", ".join(f"{name}: {_type(inner)}" for name, inner in param.get("properties", {}).items()) + "}"
    return str(param.get("type", "any"))
