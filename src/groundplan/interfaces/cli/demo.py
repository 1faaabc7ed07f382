"""`groundplan demo`: sample data, a few questions, and their answers."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from groundplan.interfaces.cli import show
from groundplan.interfaces.cli.demo_sales import write_sales
from groundplan.interfaces.cli.terminal import err, out
from groundplan.project import Project

FILE = "sales.csv"
QUESTIONS = (
    "get revenue totals by region and product type over time",
    "top 3 regions by revenue in 2025",
    "revenue by salesperson",  # there is no such column: shows a refusal
)


def run(folder: Path) -> None:
    """Ask each question and show its command. The data is kept for the user's own questions."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / FILE
    if not data.exists():
        write_sales(data)
    err.print(f"[dim]{escape(str(data))}: two years of a made-up shop, 21,930 rows[/]")
    with Project(data) as project:
        for question in QUESTIONS:
            out.print(f'\n[bold]$ groundplan ask {escape(str(data))} "{escape(question)}"[/]', soft_wrap=True)
            show.shown(project.ask(question).outcome)
    out.print(f'\nNow yours: groundplan ask {escape(str(data))} "…", or name a file of your own.', soft_wrap=True)
