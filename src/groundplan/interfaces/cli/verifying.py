"""The command `verify`: reads a query and prints what was found in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import typer
from rich.markup import escape

from groundplan.contracts.verification import Finding, Verification
from groundplan.errors import UsageError
from groundplan.interfaces.cli.terminal import out, print_json

MOST_BYTES = 1_000_000
EXIT = {"sound": 0, "faulty": 1, "unverified": 3}
SUMMARY = {
    "sound": "[green]Nothing contradicts the question.[/]",
    "faulty": "[red]Do not use its numbers.[/]",
    "unverified": "Not all of it could be verified.",
}


def query_text(given: str) -> str:
    """The query in a file, from standard input for `-`, or written out."""
    if re.match(r"\s*(select|with)\b", given, re.IGNORECASE):
        return given
    try:
        with sys.stdin.buffer if given == "-" else Path(given).open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the query {given}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the query {given} is not text in UTF-8") from error


def show(found: Verification, json: bool) -> None:
    """Print what the query asks, then every finding; the exit code says the result."""
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        if found.read_as:
            out.print(f"[dim]{escape(found.read_as)}[/]")
        for finding in found.findings:
            _finding(finding)
        for construct in found.unverified:
            out.print(f"not verified: {escape(construct)}")
        for note in found.notes:
            out.print(f"[dim]{escape(note)}[/]")
        out.print(SUMMARY[found.result])
    raise typer.Exit(EXIT[found.result])


def _finding(finding: Finding) -> None:
    colour = "red" if finding.severity == "error" else "yellow"
    out.print(f"[{colour}]{finding.severity}[/] {finding.code}: {escape(finding.problem)}")
    for line in filter(None, (finding.where, finding.hint)):
        out.print(f"    [dim]{escape(line)}[/]")
