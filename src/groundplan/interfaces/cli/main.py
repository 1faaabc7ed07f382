"""The command line. Commands are thin, and import slow modules only when they need them."""

from __future__ import annotations

import atexit
import gc
import io
import logging
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from groundplan.errors import Crashed, GroundplanError, UsageError, WorldError
from groundplan.interfaces.cli.catalog import JsonOption, catalog_app, examples_app, sources_app
from groundplan.interfaces.cli.feedback import TenantOption, feedback, reviews_app
from groundplan.interfaces.cli.rollout import rollout_app
from groundplan.interfaces.cli.service import DatabaseOption, keys_app, mcp, migrate, serve, worker
from groundplan.interfaces.cli.terminal import confirm, print_json, prompt, say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from groundplan.contracts.bounds import Bounds
    from groundplan.running.options import Approve
    from groundplan.settings import Endpoint

app = typer.Typer(
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(catalog_app, name="catalog")
app.add_typer(examples_app, name="examples")
app.add_typer(sources_app, name="sources")
app.add_typer(keys_app, name="keys")
app.add_typer(reviews_app, name="reviews")
app.add_typer(rollout_app, name="rollout")
for service_command in (feedback, serve, worker, migrate, mcp):
    app.command()(service_command)

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="[SOURCE] QUESTION",
        help="The data (a file, a folder, a DuckDB file or a postgres:// URL) and the question; "
        "omit the data in a folder with a groundplan.toml.",
    ),
]
PlanFile = Annotated[Path, typer.Argument(help="A JSON file with a reading and a plan; - reads standard input.")]
SourceOption = Annotated[
    str | None,
    typer.Option("--source", "-s", help="The data: a file, a folder, a DuckDB file or a postgres:// URL."),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="The folder for the report, charts, tables and plan.")
]
ThreadOption = Annotated[
    str | None,
    typer.Option(
        "--thread", help="A conversation, by name: `and by month?` or `only the West` refer to its last question."
    ),
]
ApproveOption = Annotated[bool, typer.Option("--approve", help="Approve the steps that change something.")]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME|URL|none",
        help="The model to call if rules cannot settle the question: a model of groundplan.toml, several separated by "
        "commas (smallest first), the URL of a server, or none.",
    ),
]
StrategyOption = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="The planner to try first. rules: never call a model. adapt: always call a model. compose: "
        "plan a workflow of server tools for a task. Packages can add others. "
        "Default: rules, then a model if they are not enough.",
    ),
]
TodayOption = Annotated[str | None, typer.Option("--today", help="The date to which relative periods refer.")]
ZoneOption = Annotated[str | None, typer.Option("--timezone", help="The time zone of today.")]
AllowOption = Annotated[
    list[str] | None, typer.Option("--allow", metavar="NAME", help="Only this tool or source; may be repeated.")
]
InputOption = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=VALUE", help="A value that the task or plan takes; may be repeated."),
]
ForbidOption = Annotated[
    list[str] | None, typer.Option("--forbid", metavar="NAME", help="Not this tool or source; may be repeated.")
]
StepsOption = Annotated[int | None, typer.Option("--most-steps", help="The most steps of the plan.")]
ItemsOption = Annotated[
    int | None, typer.Option("--most-items", help="The most items for which a step runs one by one; by default 20.")
]
SecondsOption = Annotated[float | None, typer.Option("--most-seconds", help="The most seconds of the run.")]
TokensOption = Annotated[int | None, typer.Option("--most-tokens", help="The most tokens of the models.")]


INTERRUPTED = 130  # with which Typer ends after Ctrl-C


def main() -> None:
    """Run the command line; errors end in one line and an exit code."""
    _collect_garbage_later()
    logging.getLogger("stamina").addHandler(logging.NullHandler())  # users need no log of retries
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character shows its code
    try:
        app()
    except GroundplanError as error:
        _end(error)
    except SystemExit as ending:
        if ending.code == INTERRUPTED:
            sys.stdout.flush()
            os._exit(INTERRUPTED)  # a file that a thread is still loading would delay the end by seconds
        raise
    except KeyboardInterrupt:  # before or after the command, where typer does not catch it
        os._exit(INTERRUPTED)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        _end(WorldError(f"{error.filename or 'the system'}: {error.strerror or type(error).__name__}"))
    except MemoryError:
        _end(WorldError("there is not enough memory; close other programs, or ask about less data"))
    except Exception as error:  # noqa: BLE001 - the door: a crash is one line, too, and no traceback quotes data
        _end(Crashed.by(error))


def _collect_garbage_later() -> None:
    """No collection for what imports allocate, which stays, nor at the exit; seldom in between."""

    def began(phase: str, info: dict[str, int]) -> None:
        gc.callbacks.remove(began)
        gc.set_threshold(100_000, 50, 50)

    gc.set_threshold(600_000, 50, 50)  # a question over one file allocates 400,000
    gc.callbacks.append(began)
    atexit.register(gc.freeze)


def _end(error: GroundplanError) -> NoReturn:
    say(f"groundplan: {error}", to_err=True, colour="red")
    sys.exit(error.exit_code)


@app.callback()
def groundplan(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Ask questions about your data in plain words. Plans are checked by code, and answers trace back to facts."""
    if version:
        from groundplan import __version__

        say(__version__)
        raise typer.Exit


@app.command()
def ask(
    words: Words,
    json: JsonOption = False,
    plan_only: Annotated[bool, typer.Option("--plan-only", help="Show the checked plan; run nothing.")] = False,
    model: ModelOption = None,
    strategy: StrategyOption = None,
    thread: ThreadOption = None,
    approve: ApproveOption = False,
    output: OutputOption = None,
    query: Annotated[
        bool, typer.Option("--query", help="Also print the question as SQL, and the query behind each table.")
    ] = False,
    today: TodayOption = None,
    timezone: ZoneOption = None,
    allow: AllowOption = None,
    forbid: ForbidOption = None,
    most_steps: StepsOption = None,
    most_items: ItemsOption = None,
    most_seconds: SecondsOption = None,
    most_tokens: TokensOption = None,
    inputs: InputOption = None,
) -> None:
    """Ask a question; at a terminal, a question back is answered there.

    Exit codes: 0 answer, 1 refusal, 3 clarification needed, 4 external failure, 5 a crash, 6 partly done.
    """
    from groundplan.interfaces.cli import show

    if plan_only:
        bounds = (allow, forbid, most_steps, most_items, most_seconds, most_tokens)
        plan(words, json, model, strategy, today, timezone, *bounds, inputs)
        return
    source, question, clock = _asked(words, today, timezone)
    again = _resuming(words[0] if len(words) == 2 else None)
    with show.live(json, again) as live, _open(source, _models(model, strategy)) as project:
        watching: dict[str, Any] = {"on_stage": live.stage, "on_progress": live.step, "on_run": live.run}
        allowed = approve or (live.approves if sys.stdin.isatty() else False)
        options: dict[str, Any] = {
            "strategy": strategy,
            "thread": thread,
            "output": _folder(output),
            "approve": allowed,
            "bounds": _within(allow, forbid, most_steps, most_items, most_seconds, most_tokens),
            "inputs": _inputs(inputs),
        }
        result = project.ask(question, **options, **clock, **watching)
        while not json and sys.stdin.isatty() and (reply := live.replies(result.outcome)):
            result = result.choose(reply)
        outcome = result.outcome
    _keep_asked(live.run_id, question, outcome, clock.get("today"))
    _show(outcome, json, output, question, _names(project), query)


@app.command()
def chat(
    source: Annotated[str | None, typer.Argument(help="The data; omit it in a folder with a groundplan.toml.")] = None,
    model: ModelOption = None,
    strategy: StrategyOption = None,
    thread: ThreadOption = None,
    today: TodayOption = None,
    timezone: ZoneOption = None,
) -> None:
    """Ask questions in a conversation: `and by month?`, `only the West`, `as a table` refer to the previous one."""
    import asyncio

    from groundplan.interfaces.cli import chat as talking

    data, _, clock = _asked([source, ""] if source else [""], today, timezone)
    asyncio.run(talking.converse(data, _models(model, strategy), thread=thread, strategy=strategy, **clock))


@app.command()
def plan(
    words: Words,
    json: JsonOption = False,
    model: ModelOption = None,
    strategy: StrategyOption = None,
    today: TodayOption = None,
    timezone: ZoneOption = None,
    allow: AllowOption = None,
    forbid: ForbidOption = None,
    most_steps: StepsOption = None,
    most_items: ItemsOption = None,
    most_seconds: SecondsOption = None,
    most_tokens: TokensOption = None,
    inputs: InputOption = None,
) -> None:
    """Show the checked plan for a question, without running it; --json prints the input of `check` and `run`."""
    from groundplan.interfaces.cli import show

    source, question, clock = _asked(words, today, timezone)
    with _open(source, _models(model, strategy)) as project:
        bounds = _within(allow, forbid, most_steps, most_items, most_seconds, most_tokens)
        found = project.plan(question, strategy=strategy, bounds=bounds, inputs=_inputs(inputs), **clock)
        show.planned(found, json, _names(project))


@app.command()
def explain(
    words: Words,
    json: JsonOption = False,
    model: ModelOption = None,
    today: TodayOption = None,
    timezone: ZoneOption = None,
    derivation: Annotated[
        bool, typer.Option("--derivation", help="show how the grammar reads it, rule by rule")
    ] = False,
) -> None:
    """Explain a plan: each requirement, the words that ask for it, and the steps that serve it."""
    from groundplan.interfaces.cli import show

    source, question, clock = _asked(words, today, timezone)
    with _open(source, _models(model)) as project:
        if derivation:
            say(project.derivation(question, **clock))
            return
        show.explained(project.plan(question, **clock), json, _names(project))


@app.command()
def check(plan: PlanFile, source: SourceOption = None, json: JsonOption = False, model: ModelOption = None) -> None:
    """Check a plan, like a linter. Exit codes: 0 it may run, 1 it may not."""
    from groundplan.checking.gate import check_text
    from groundplan.interfaces.cli import show
    from groundplan.project import load_catalog
    from groundplan.settings import load_settings

    text, settings = _read(plan), load_settings(Path.cwd())
    data = source or settings.source or settings.sources
    if not data:
        verdict = check_text(text, load_catalog())
    else:
        with _open(data, _models(model)) as project:
            verdict = project.check(text)
    show.verdict(verdict, str(plan), json)


@app.command()
def verify(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[SOURCE] QUESTION QUERY",
            help="The data, the question, and the query: a file with one SELECT, the SELECT itself, or - for standard "
            "input; omit the data in a folder with a groundplan.toml.",
        ),
    ],
    json: JsonOption = False,
    today: TodayOption = None,
    timezone: ZoneOption = None,
) -> None:
    """Say what a query asks and what is wrong with it, without running it.

    Exit codes: 0 nothing found, 1 an error found, 3 not all of it could be verified.
    """
    from groundplan.interfaces.cli import verifying

    if not 2 <= len(words) <= 3:
        raise UsageError('groundplan verify sales.csv "total revenue by region" query.sql')
    source, question, clock = _asked(words[:-1], today, timezone)
    sql = verifying.query_text(words[-1])
    with _open(source) as project:
        verifying.show(project.verify(question, sql, **clock), json)


@app.command()
def run(
    plan: PlanFile,
    source: SourceOption = None,
    json: JsonOption = False,
    output: OutputOption = None,
    approve: ApproveOption = False,
    model: ModelOption = None,
    allow: AllowOption = None,
    forbid: ForbidOption = None,
    most_steps: StepsOption = None,
    most_items: ItemsOption = None,
    most_seconds: SecondsOption = None,
    most_tokens: TokensOption = None,
    inputs: InputOption = None,
) -> None:
    """Check a plan, run it and show the answer. Exit codes: 0 answer, 1 refusal, 4 external failure, 6 partly done."""
    import uuid

    from groundplan.interfaces.cli import show

    text, run_id = _read(plan), uuid.uuid4().hex[:12]
    with _open(_data(source), _models(model)) as project, show.live(json, _resuming(source)) as live:
        watching: dict[str, Any] = {"on_progress": live.step, "on_run": live.run, "output": _folder(output)}
        allowed: Approve = approve or (live.approves if _is_terminal() else False)
        bounds = _within(allow, forbid, most_steps, most_items, most_seconds, most_tokens)
        given = _asked_for(text, _inputs(inputs))
        outcome = project.run(text, run_id=run_id, approve=allowed, bounds=bounds, inputs=given, **watching).outcome
    _show(outcome, json, output)


@app.command()
def resume(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="The run id, as printed when the run started.")],
    source: SourceOption = None,
    json: JsonOption = False,
    output: OutputOption = None,
    approve: ApproveOption = False,
    reply: Annotated[str | None, typer.Option("--reply", help="The reply to the run's clarification.")] = None,
    model: ModelOption = None,
) -> None:
    """Continue a run that was interrupted, or that waits for approval or a reply. Finished steps do not run again."""
    from groundplan.interfaces.cli import show

    with _open(_data(source), _models(model)) as project, show.live(json, _resuming(source)) as live:
        watching: dict[str, Any] = {"on_stage": live.stage, "on_progress": live.step, "output": _folder(output)}
        allowed = approve or (live.approves if sys.stdin.isatty() else False)
        outcome = project.resume(run_id, approve=allowed, reply=reply, **watching).outcome
    _show(outcome, json, output)


@app.command()
def init(source: Annotated[str, typer.Argument(help="The data that questions in this folder are about.")]) -> None:
    """Write a groundplan.toml, so that `groundplan ask QUESTION` knows its data; a model file for several tables."""
    from groundplan.settings import FILE, trust_folder
    from groundplan.sources.tables.schema.model_file import NAME, found_model, model_path

    file = Path(FILE)
    if file.exists():
        raise UsageError(f"{file} already exists; edit it, or remove it first")
    if re.search(r"://[^@]*:[^@]*@|[?&]password=", source):
        raise UsageError(f"leave the password out, because {file} would contain it; use PGPASSWORD or ~/.pgpass")
    with _open(source) as project:
        from groundplan.interfaces.cli.settings_file import first_question, settings_text

        tables = [table.name for schema in project.schemas.values() for table in schema.tables]
        model = Path(NAME) if "://" in source else model_path(source)
        related = [s for s in project.schemas.values() if len(s.tables) > 1]
        written = model is not None and not model.exists() and len(related) == 1
        if written:
            assert model is not None
            model.write_text(found_model(related[0]), encoding="utf-8")
            say(f"{model}: how the tables are related; correct it, and add synonyms and metrics")
        settings, asked = settings_text(source, project), first_question(project)
    file.write_text(settings, encoding="utf-8")
    trust_folder(Path())  # its author has just named the data
    say(f"{file}: {source} with {', '.join(tables)}, and what its columns were taken to mean; correct it")
    say(f'Now: groundplan ask "{asked}"')


@app.command("import")
def import_(
    source: Annotated[str, typer.Argument(help="A folder of files, a DuckDB file, or the server of groundplan.toml.")],
    models: Annotated[Path, typer.Argument(help="A file or folder with models of dbt, Cube or Lightdash.")],
) -> None:
    """Write the model file of the data from models of dbt, Cube or Lightdash, and list what does not fit.

    What the model file says already is kept.
    """
    from groundplan.sources.tables.importing.read import import_models
    from groundplan.sources.tables.schema.model_file import model_path

    file = model_path(source)
    if file is None:
        problem = "a model file lies beside the data, and that of a server beside the groundplan.toml that names it"
        raise UsageError(f"{source} is no folder and no file: {problem}; run `groundplan init` first")
    with _open(source) as project:
        (schema,) = project.schemas.values()
        content, lint = import_models(models, schema, file)
    file.write_text(content, encoding="utf-8")
    say("\n".join([*lint, f"{file}: written; {len(lint)} parts do not fit" if lint else f"{file}: written"]))


@app.command()
def trust(
    folder: Annotated[Path, typer.Argument(help="The folder with the groundplan.toml.")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", help="Agree without being asked, for scripts.")] = False,
) -> None:
    """Show which commands, addresses and secrets a folder's groundplan.toml wants, and allow them until it changes."""
    from groundplan.settings import FILE, trust_folder, wanted_by

    wanted, content = wanted_by(folder)
    if not wanted:
        say(f"{folder / FILE} needs no trust: it wants no command, address, secret or model")
        return
    say("\n".join([f"{folder / FILE} wants:", *(f"  {line}" for line in wanted)]))
    if not yes and not (sys.stdin.isatty() and confirm("Trust it?")):
        raise UsageError("nothing was changed; answer yes, or add --yes")
    trust_folder(folder, content)
    say(f"{folder / FILE} is trusted until it changes")


@app.command("eval")
def evaluate(
    suite: Annotated[
        str, typer.Argument(help="questions, sql, or own: the questions whose right readings people have found.")
    ],
    folder: Annotated[
        Path, typer.Argument(help="A folder in the suite's format; for `own`, that of the settings.")
    ] = Path(),
    json: JsonOption = False,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="Score only so many items, evenly spread.")
    ] = None,
    model: ModelOption = None,
    strategy: StrategyOption = None,
    replies: Annotated[
        list[Path] | None,
        typer.Option(
            "--replies",
            help="A file of replies that stands for a model; a second one gives a second opinion.",
        ),
    ] = None,
    record: Annotated[Path | None, typer.Option("--record", help="Write the model's replies to this file.")] = None,
    accept: Annotated[
        str | None,
        typer.Option(
            "--accept",
            metavar="first|agreed|confirmed|measured",
            help="Which reading of a model is answered at once.",
        ),
    ] = None,
    floor: Annotated[
        list[str] | None,
        typer.Option("--floor", metavar="SCORE=SHARE", help="Exit with 1 if the score is lower; repeatable."),
    ] = None,
    ceiling: Annotated[
        list[str] | None,
        typer.Option("--ceiling", metavar="SCORE=SHARE", help="Exit with 1 if the score is higher; repeatable."),
    ] = None,
    database: DatabaseOption = None,
    tenant: TenantOption = None,
) -> None:
    """Score a folder of questions with known answers, and list the misses."""
    from groundplan.evaluation.suites.registry import OWN, evaluate_own
    from groundplan.evaluation.suites.registry import evaluate as run_suite
    from groundplan.interfaces.cli import show
    from groundplan.interfaces.cli.terminal import say

    floors, ceilings = _bounds("--floor", floor), _bounds("--ceiling", ceiling)
    with show.counting() as on_progress:
        if suite == OWN:
            found = evaluate_own(folder, sample, on_progress, model, strategy, database, tenant)
        else:
            found = run_suite(suite, folder, sample, on_progress, model, strategy, replies or (), record, accept)
    show.report(found, json)
    missed = found.outside(floors, ceilings)
    for problem in missed:
        say(problem, to_err=True)
    if missed:
        raise typer.Exit(1)


@app.command()
def compare(
    folder: Annotated[Path, typer.Argument(help="YAML files of conversations, with the expected rows of each turn.")],
    strategy: Annotated[
        list[str] | None,
        typer.Option("--strategy", metavar="NAME", help="Repeat for several strategies."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="NAME|URL|none",
            help="Repeat for several; strategies use them all.",
        ),
    ] = None,
    source: SourceOption = None,
    json: JsonOption = False,
    today: TodayOption = None,
    timezone: ZoneOption = None,
) -> None:
    """Compare strategies or models on the same questions."""
    from groundplan.evaluation.comparing.side_by_side import lines
    from groundplan.evaluation.comparing.strategies import compare_folder
    from groundplan.interfaces.cli import show

    data, _, clock = _asked([source, ""] if source else [""], today, timezone)
    with show.counting() as on_progress:
        found = compare_folder(folder, data, on_progress, strategy or (), model or (), **clock)
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        say("\n".join(lines(found)))


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where the sample data is written.")] = Path("groundplan-demo"),
) -> None:
    """Write sample data, ask a few questions and show the answers."""
    from groundplan.interfaces.cli import demo as sample

    sample.run(folder)


@app.command()
def doctor(
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME|URL", help="Check only this model's server: what it can and cannot do."),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            "--prompt", metavar="QUESTION", help="Print exactly what a model would be sent for this question."
        ),
    ] = None,
    source: SourceOption = None,
    questions: Annotated[
        bool,
        typer.Option("--questions", help="Ask the model about 40 questions over made-up tables, and keep its measure."),
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="With --questions: the questions of this number; else new ones.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check the installation and the models, and say how to fix problems."""
    if questions:
        from groundplan.interfaces.cli import measuring

        measuring.report(model, seed, json)
        return
    from groundplan.interfaces.cli import doctor as health

    if prompt is not None:
        health.print_prompt(_data(source), prompt)
        return
    health.report(model, json)


def _asked(words: list[str], today: str | None, timezone: str | None) -> tuple[Any, str, dict[str, Any]]:
    """The data, the question and the clock."""
    from groundplan.settings import FILE, load_settings

    settings = load_settings(Path.cwd())
    if len(words) > 2:
        raise UsageError('put the question in quotes: groundplan ask sales.csv "total revenue by region"')
    source = words[0] if len(words) == 2 else settings.source or settings.sources
    if not source:
        raise UsageError(
            f"name the data first, groundplan ask FILE QUESTION, or write a {FILE} with groundplan init FILE"
        )
    clock: dict[str, Any] = {"timezone": timezone or settings.timezone}
    if today:
        clock["today"] = _date(today)
    return source, words[-1], clock


def _data(source: str | None) -> Any:
    """The given data, or the data of this folder's settings."""
    from groundplan.settings import load_settings

    return load_settings(Path.cwd()).data(source, "add --source FILE, a folder, a DuckDB file or a postgres:// URL")


def _resuming(source: str | None) -> str:
    """The command that continues a run, without the id."""
    return f"groundplan resume{f' --source {source}' if source else ''}"


def _folder(output: Path | None) -> Path | None:
    if output:
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{output}: cannot be made a folder: {error.strerror}") from error
    return output


def _show(
    outcome: Any,
    json: bool,
    output: Path | None,
    question: str = "",
    models: Sequence[str] = (),
    query: bool = False,
) -> None:
    """Show the outcome, and write a report if there is an output folder."""
    from groundplan.interfaces import report
    from groundplan.interfaces.cli import show

    unwritten: OSError | GroundplanError | None = None
    if output:
        try:
            report.write(outcome, output, question)
        except (OSError, GroundplanError) as error:  # the answer is shown nevertheless
            unwritten = error
    show.outcome(outcome, json, models, outcome.notes, query)
    if unwritten:
        problem = unwritten.strerror if isinstance(unwritten, OSError) else unwritten
        raise WorldError(f"{output}: the report is not complete: {problem}")


def _keep_asked(run_id: str, question: str, outcome: Any, today: date | None) -> None:
    """Keep how the question was read and planned, so that `groundplan feedback last` finds it."""
    import asyncio
    import uuid

    from groundplan.settings import state_folder
    from groundplan.state.asked import keep_asked
    from groundplan.state.database import SQLite

    run_id = run_id or uuid.uuid4().hex[:12]
    asyncio.run(keep_asked(SQLite(state_folder()), run_id, question, outcome, today))


def _bounds(option: str, given: list[str] | None) -> dict[str, float]:
    """`right=0.5` as a score and its bound."""
    try:
        return {name: float(share) for name, _, share in (one.rpartition("=") for one in given or ())}
    except ValueError as error:
        raise UsageError(f"{option}: write a score and a share, such as right=0.5") from error


def _date(text: str) -> date:
    from datetime import date

    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--today {text}: write a date as 2025-01-31") from error


def _read(plan: Path) -> bytes:
    from groundplan.checking.parsing import MAX_BYTES

    try:
        with sys.stdin.buffer if str(plan) == "-" else plan.open("rb") as file:
            return file.read(MAX_BYTES + 1)  # one byte more than allowed is enough to refuse it
    except OSError as error:
        raise UsageError(f"cannot read the plan {plan}: {error.strerror}") from error


def _open(source: Any, models: Sequence[Endpoint] = ()) -> Any:
    from groundplan.interfaces.cli.lazy_packages import import_lazily

    import_lazily()
    from groundplan.project import Project
    from groundplan.settings import load_settings, own_tools

    settings, tools = load_settings(Path.cwd()), own_tools(Path.cwd())
    if unused := settings.unused_columns(source):
        say(unused, to_err=True)
    columns, roles, most = settings.columns_of(source), settings.roles_of(models), settings.rows_without_approval
    return Project(source, settings.embeddings, models, columns, roles, tools, most)


def _within(
    allow: list[str] | None,
    forbid: list[str] | None,
    steps: int | None,
    items: int | None,
    seconds: float | None,
    tokens: int | None,
) -> Bounds:
    from pydantic import ValidationError

    from groundplan.contracts.bounds import Bounds

    given = {"steps": steps, "items": items, "seconds": seconds, "tokens": tokens}
    try:
        return Bounds.model_validate({"allow": allow or (), "forbid": forbid or (), **given})
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
    name = str(wrong["loc"][0])
    option = f"--most-{name}" if name in given else f"--{name}"
    raise UsageError(f"{option}: {wrong['msg'][0].lower()}{wrong['msg'][1:]}")


def _inputs(given: list[str] | None) -> dict[str, str | None]:
    """`email=ada@example.org` by its name; a name alone is an input whose value comes when the plan runs."""
    pairs = [one.partition("=") for one in given or ()]
    if wrong := [name for name, _, _ in pairs if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name)]:
        raise UsageError(f"--input {wrong[0]!r}: write NAME=VALUE, with a name of small letters, digits and _")
    return {name: value if equals else None for name, equals, value in pairs}


def _asked_for(text: bytes, given: dict[str, str | None]) -> dict[str, str | None]:
    """With the inputs that the plan takes and nobody has given, asked for at a terminal."""
    from groundplan.checking.parsing import parse
    from groundplan.contracts.inputs import missing_inputs
    from groundplan.contracts.verdict import Refused

    read = parse(text)
    for one in missing_inputs(read.plan, given) if _is_terminal() and not isinstance(read, Refused) else ():
        given[one.name] = prompt(f"{one.name} ({one.means})" if one.means else one.name)
    return given


def _is_terminal() -> bool:
    return not sys.stdin.closed and sys.stdin.isatty()  # closed if the plan was read from it


def _models(named: str | None, strategy: str | None = None) -> tuple[Endpoint, ...]:
    from groundplan.contracts.question import NO_MODEL
    from groundplan.settings import load_models

    return () if strategy == NO_MODEL else load_models(Path.cwd(), named)


def _names(project: Any) -> list[str]:
    return [model.name for model in project.aio.models]


if __name__ == "__main__":
    main()
