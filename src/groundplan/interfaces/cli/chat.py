"""`groundplan chat`: a conversation in the terminal, with one question per line."""

from __future__ import annotations

import signal
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from groundplan.contracts.answer import Answer, Clarification, Outcome
from groundplan.errors import Crashed, GroundplanError, WorldError
from groundplan.interfaces.cli import show
from groundplan.interfaces.cli.terminal import err, say
from groundplan.project import AsyncProject
from groundplan.result import Planned
from groundplan.settings import Endpoint, load_settings, own_tools, state_folder
from groundplan.state.asked import keep_asked
from groundplan.state.database import SQLite

PROMPT = "> "
HELP = (
    "/new starts a new conversation, /plan shows the steps of the last answer, "
    "/forget WORD takes back a remembered name, /quit or Ctrl-D ends"
)


async def converse(data: Any, models: Sequence[Endpoint], **options: Any) -> None:
    """Open the data, chat about it, and close it."""
    settings = load_settings(Path.cwd())
    if unused := settings.unused_columns(data):
        say(unused, to_err=True)
    columns, roles = settings.columns_of(data), settings.roles_of(models)
    more: dict[str, Any] = {"tools": own_tools(Path.cwd()), "rows_without_approval": settings.rows_without_approval}
    project = await AsyncProject.open(data, settings.embeddings, models, columns, roles=roles, **more)
    try:
        await chat(project, typed_lines(), **options)
    finally:
        await project.close()


async def chat(project: AsyncProject, lines: Iterator[str], *, thread: str | None = None, **asking: Any) -> None:
    """Answer each line until the lines end or `/quit`. The options are those of `AsyncProject.ask`.

    Without a thread, a new one is created. An external failure ends its question, not the conversation.
    """
    talk = _Talk(project, thread or _new_thread(), asking)
    for line in lines:  # nothing else runs meanwhile, so waiting for input may block
        said = line.strip()
        if said == "/quit":
            return
        if said.startswith("/forget "):
            await talk.forget(said.removeprefix("/forget ").strip())
        elif said.startswith("/"):
            talk.command(said)
        elif said or talk.confirms:
            with suppress(typer.Exit):  # refusals and clarifications end `ask`, but not a conversation
                await talk.ask(said or "yes")


def typed_lines() -> Iterator[str]:
    """Typed lines, with a prompt and an editable history; or the lines of a pipe."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    with suppress(ImportError):  # not available on Windows
        import readline  # noqa: F401 - it makes `input` editable
    err.print(f"[dim]{HELP}[/]")
    with suppress(EOFError):
        while True:
            try:
                yield _typed()
            except KeyboardInterrupt:
                err.print()  # the line is dropped, as in a shell


def _typed() -> str:
    """Read a line with the default Ctrl-C handler, because the event loop's handler would not interrupt the prompt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(PROMPT)
    finally:
        signal.signal(signal.SIGINT, before)


class _Talk:
    def __init__(self, project: AsyncProject, thread: str, asking: dict[str, Any]) -> None:
        self._project, self._thread, self._asking = project, thread, asking
        self._last: Answer | None = None
        self.confirms = False  # one reading is offered: an empty line runs it

    async def ask(self, question: str) -> None:
        try:
            with show.live(quiet=False) as live:
                watching: dict[str, Any] = {"on_stage": live.stage, "on_progress": live.step}
                outcome = await self._asked(question, watching)
        except (WorldError, Crashed) as error:
            err.print(f"[red]groundplan: {escape(str(error))}[/]", soft_wrap=True)
            return
        today = self._asking.get("today")
        await keep_asked(SQLite(state_folder()), uuid.uuid4().hex[:12], question, outcome, today)
        self._last = outcome if isinstance(outcome, Answer) else self._last
        self.confirms = isinstance(outcome, Clarification) and outcome.confirms
        show.outcome(outcome, json=False, models=[model.name for model in self._project.models], notes=outcome.notes)

    async def _asked(self, question: str, watching: dict[str, Any]) -> Outcome:
        try:
            return await self._project.ask(question, thread=self._thread, **self._asking, **watching)
        except GroundplanError:
            raise
        except Exception as error:
            raise Crashed.by(error) from error

    async def forget(self, word: str) -> None:
        known = await self._project.forget_name(word)
        err.print(escape(f"{word!r} is forgotten" if known else f"no column is remembered as {word!r}"))

    def command(self, said: str) -> None:
        if said == "/new":
            self._thread, self._last, self.confirms = _new_thread(), None, False
            err.print("[dim]a new conversation[/]")
        elif said != "/plan":
            err.print(escape(f"there is no {said}; {HELP}"), soft_wrap=True)
        elif self._last is None:
            err.print("there is no plan yet: ask a question first")
        else:
            show.planned(Planned(reading=self._last.reading, plan=self._last.plan), json=False)


def _new_thread() -> str:
    return uuid.uuid4().hex[:12]
