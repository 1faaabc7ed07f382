"""The command line. Commands stay thin, and what is heavy is imported when a command needs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from groundplan.errors import GroundplanError, UsageError

app = typer.Typer(
    help="Ask your data in plain words: a plan that code has checked, an answer that traces to facts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
catalog_app = typer.Typer(help="The tools that plans may use.", no_args_is_help=True)
app.add_typer(catalog_app, name="catalog")

PlanFile = Annotated[Path, typer.Argument(help="A JSON file with a reading and a plan; - reads standard input.")]
SourceOption = Annotated[
    str | None,
    typer.Option("--source", "-s", help="The data: a file, a folder, a DuckDB file or a postgres:// URL."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


def main() -> None:
    """Every failure of the world ends here, in one line and an exit code."""
    try:
        app()
    except GroundplanError as error:
        typer.secho(f"groundplan: {error}", fg="red", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


@app.command()
def check(plan: PlanFile, source: SourceOption = None, json: JsonOption = False) -> None:
    """Check a plan like a linter: exit 0 when it may run, 1 when not."""
    from groundplan.checking.gate import check_text
    from groundplan.interfaces import show
    from groundplan.project import load_catalog

    text = _read(plan)
    if source is None:
        verdict = check_text(text, load_catalog())
    else:
        with _open(source) as project:
            verdict = project.check(text)
    show.verdict(verdict, str(plan), json)


@app.command()
def run(
    plan: PlanFile,
    source: SourceOption = None,
    json: JsonOption = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder for the charts, the tables and the whole answer."),
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Approve the steps that change something.")] = False,
    resume: Annotated[str | None, typer.Option("--resume", help="Go on with an earlier run that was stopped.")] = None,
) -> None:
    """Check a plan, run it and show the answer: exit 0 with one, 1 when refused, 4 when the world failed."""
    import uuid

    from groundplan.interfaces import report, show

    text = _read(plan)
    if source is None:
        raise UsageError("run needs data: add --source FILE, a folder, a DuckDB file or a postgres:// URL")
    if output:
        output.mkdir(parents=True, exist_ok=True)
    run_id = resume or uuid.uuid4().hex[:12]
    again = f"groundplan run {plan} --source {source} --resume {run_id}"
    with show.progress(json, run_id, again) as on_progress, _open(source) as project:
        options: dict[str, Any] = {"run_id": run_id, "resume": resume is not None, "output": output}
        outcome = project.run(text, on_progress=on_progress, approved=_writes(project, text, approve), **options)
    if output:
        report.write(outcome, output)
    show.outcome(outcome, json)


@app.command()
def doctor() -> None:
    """Say what works here and what is missing, with what to do about it."""
    from groundplan.interfaces import health

    health.report()


@catalog_app.command("list")
def catalog_list(json: JsonOption = False) -> None:
    """Every tool in a line."""
    from groundplan.interfaces import show
    from groundplan.project import load_catalog

    show.tools(load_catalog(), json)


@catalog_app.command("show")
def catalog_show(name: str, json: JsonOption = False) -> None:
    """One tool: what it does, its params and what serves what."""
    from groundplan.interfaces import show
    from groundplan.project import load_catalog

    catalog = load_catalog()
    if name not in catalog.tools:
        near = catalog.nearest(name)
        raise UsageError(f"there is no tool {name!r}; " + (f"did you mean {near!r}?" if near else "see catalog list"))
    show.tool(catalog.tools[name], json)


def _read(plan: Path) -> bytes:
    from groundplan.checking.parsing import MAX_BYTES

    try:
        with sys.stdin.buffer if str(plan) == "-" else plan.open("rb") as file:
            return file.read(MAX_BYTES + 1)  # one more byte than is allowed is enough to refuse it
    except OSError as error:
        raise UsageError(f"cannot read the plan {plan}: {error.strerror}") from error


def _open(source: str) -> Any:
    from groundplan.project import Project

    return Project(source)


def _writes(project: Any, text: bytes, approve: bool) -> tuple[str, ...]:
    from groundplan.contracts.verdict import Passed

    if not approve:
        return ()
    verdict = project.check(text)
    return verdict.plan.writes if isinstance(verdict, Passed) else ()


if __name__ == "__main__":
    main()
