"""The only way to the terminal. Everything passes the encoder, because names and cells come from data."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from groundplan.text.printable import printable

COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")


class EncodingConsole(Console):
    """Encodes the text of every segment; Rich's own control codes are not text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)

    def on_broken_pipe(self) -> None:
        """Whoever read it has seen enough. Progress goes on unseen: it is told by a thread that has to go on."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
        if not self.stderr:
            raise BrokenPipeError


out = EncodingConsole(soft_wrap=True, highlight=False)
err = EncodingConsole(stderr=True, highlight=False)


def say(text: str, *, to_err: bool = False, colour: str | None = None) -> None:
    typer.secho(printable(text), fg=colour, err=to_err)


def confirm(question: str) -> bool:
    return typer.confirm(printable(question), err=True)


def prompt(question: str) -> str:
    return str(typer.prompt(printable(question), err=True))


def typed() -> str:
    """A line that the user types; empty at the end of the input."""
    err.print("> ", end="")
    return sys.stdin.readline().strip()


def draw(chart: str) -> None:
    """A chart with its colours."""
    parts = COLOUR.split(chart)
    sys.stdout.write("".join(part if place % 2 else printable(part) for place, part in enumerate(parts)) + "\n")


def print_json(document: Any) -> None:
    sys.stdout.write(printable(json.dumps(document, ensure_ascii=False, indent=2)) + "\n")
