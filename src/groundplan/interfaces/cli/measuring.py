"""`groundplan doctor --questions`: measures how well the models read questions, and keeps the figures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from secrets import randbelow

from rich.markup import escape
from rich.table import Table

from groundplan.asking.tables.model.accept import MEASURED
from groundplan.errors import UsageError
from groundplan.evaluation.measuring.measure import Measured, measure
from groundplan.interfaces.cli import show
from groundplan.interfaces.cli.terminal import out, print_json
from groundplan.settings import load_models, load_settings
from groundplan.state.measures import keep_measure

SEEDS = 1_000_000
TRUSTED = "its readings are answered if a second opinion agrees"
UNTRUSTED = f"below {MEASURED} right, so you confirm its readings unless the words read the same"


def report(model: str | None, seed: int | None, json: bool) -> None:
    """Measure each model apart, keep its measure and print it."""
    endpoints = load_models(Path.cwd(), model)
    if not endpoints:
        raise UsageError("there is no model to measure; name one: groundplan doctor --model URL --questions")
    roles = load_settings(Path.cwd()).roles_of(endpoints)
    drawn = randbelow(SEEDS) if seed is None else seed
    found: list[Measured] = []
    for endpoint in endpoints:
        with show.counting("asking") as on_progress:
            one = asyncio.run(measure(endpoint, roles.among((endpoint.name,)), drawn, on_progress))
        keep_measure(one.measure)
        found.append(one)
    if json:
        print_json([one.model_dump(mode="json") for one in found])
    else:
        _print(found)


def _print(found: Sequence[Measured]) -> None:
    n = found[0].measure.n
    table = Table(title=f"{n} made-up questions, --seed {found[0].seed}", title_justify="left", box=None)
    table.add_column("model", style="bold")
    for name in ("right", "wrong", "declined", "tokens each", "seconds each"):
        table.add_column(name, justify="right")
    for one in found:
        counts = (one.measure.right, one.measure.wrong, one.measure.declined)
        table.add_row(
            escape(one.measure.model),
            *(f"{count / n:.2f}" for count in counts),
            f"{one.usage.tokens / n:,.0f}",
            f"{one.usage.seconds / n:,.1f}",
        )
    out.print(table)
    for one in found:
        said = TRUSTED if one.measure.share >= MEASURED else UNTRUSTED
        out.print(f"{escape(one.measure.model)}: {said}", soft_wrap=True)
        for question in one.wrongly:
            out.print(f"[dim]{escape(one.measure.model)} wrong:[/] {escape(question)}")
