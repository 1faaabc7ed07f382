"""`groundplan demo`: sample data, a few questions, and their answers."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from groundplan.interfaces.cli import show
from groundplan.interfaces.cli.demo_sales import write_sales
from groundplan.project import Project

FILE = "sales.csv"
QUESTIONS = (
    "get revenue totals by region and product type over time",
    "top 3 regions by revenue in 2025",
    "revenue by salesperson",  # the data has none: a refusal is shown too
)


def run(folder: Path) -> None:
    """Each question with the command that asks it; the data stays for questions of one's own."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / FILE
    if not data.exists():
        write_sales(data)
    show.err.print(f"[dim]{escape(str(data))}: two years of a made-up shop, 21,930 rows[/]")
    with Project(data) as project:
        for question in QUESTIONS:
            show.out.print(f'\n[bold]$ groundplan ask {escape(str(data))} "{escape(question)}"[/]', soft_wrap=True)
            show.shown(project.ask(question).outcome)
    show.out.print(f'\nNow yours: groundplan ask {escape(str(data))} "…", or name a file of your own.', soft_wrap=True)
