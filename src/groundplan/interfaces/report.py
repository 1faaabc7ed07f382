"""Writes an answer to a folder: a report, charts as PNG and SVG, tables as CSV, plan and trace as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from groundplan.answering.writing.display import decimals
from groundplan.charts.picture import pictures
from groundplan.contracts.answer import Answer, Outcome, ShownTable
from groundplan.contracts.contract import Language
from groundplan.contracts.facts import TableColumn
from groundplan.interfaces.cli.spending import counted
from groundplan.interfaces.table_cells import cells, heading, language_of
from groundplan.regular_files import write_regular
from groundplan.text.printable import csv_text, markdown, markdown_code

ROWS_IN_THE_REPORT = 30
TEXTS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "how": "How it was answered",
        "by": "{} by {}",
        "unmet": "(not met)",
        "took": "What it took",
        "stages": "| stage | ms | tokens |",
        "roles": "| role | model | calls | tokens in | tokens out | seconds |",
        "more": "{} more rows in {}",
        "file": "As a file: {}",
    },
    "ru": {
        "how": "Как получен ответ",
        "by": "{}: шаги {}",
        "unmet": "(не выполнено)",
        "took": "Чего это стоило",
        "stages": "| этап | мс | токены |",
        "roles": "| роль | модель | вызовы | токены на входе | токены на выходе | секунды |",
        "more": "Ещё строк: {}, они в {}",
        "file": "Файлом: {}",
    },
}
LINK_SIGNS = ":/?#[]@!$&'()*+,;=%-._~"  # the characters of a URL; all others are encoded


def write(outcome: Outcome, folder: Path, question: str = "") -> None:
    """Write the folder. Files are named after the steps that produced them."""
    write_regular(folder / "answer.json", outcome.model_dump_json(indent=2))
    _json(folder / "trace.json", [entry.model_dump(mode="json") for entry in outcome.trace])
    if isinstance(outcome, Answer):
        _plan(outcome, folder)
        _tables(outcome, folder)
    write_regular(folder / "report.md", "\n".join(_report(outcome, question)) + "\n")
    if isinstance(outcome, Answer):
        _charts(outcome, folder)  # last: a chart may be too large to be drawn


def _plan(answer: Answer, folder: Path) -> None:
    """The plan, in the format of `groundplan check` and `run`."""
    reading = answer.reading.model_dump(mode="json") if answer.reading else None
    _json(folder / "plan.json", {"reading": reading, "plan": answer.plan.model_dump(mode="json")})


def _charts(answer: Answer, folder: Path) -> None:
    for step, spec in zip(answer.facts.charts, answer.charts, strict=True):
        for name, picture in pictures(spec, ["png", "svg"]).items():
            write_regular(folder / f"{step}.{name}", picture)


def _tables(answer: Answer, folder: Path) -> None:
    for table in answer.tables:
        write_regular(folder / f"{table.step}.csv", csv_text(table.columns, table.rows))


def _report(outcome: Outcome, question: str) -> Iterator[str]:
    if question:
        yield f"# {markdown(question)}\n"
    if isinstance(outcome, Answer) and outcome.read_as:
        yield f"*{markdown(outcome.read_as)}*\n"
    yield "\n".join(_lines(outcome.text)) + "\n"
    if not isinstance(outcome, Answer):
        return
    for step, chart in outcome.facts.charts.items():
        yield f"![{markdown(chart.title)}]({step}.png)\n"
    for cited in outcome.facts.sources:
        if cited.link:
            yield f"- {markdown(cited.id)}: <{quote(cited.link, safe=LINK_SIGNS)}>"
    language = language_of(outcome)
    texts = TEXTS[language]
    for (step, ref), table in zip(outcome.facts.tables.items(), outcome.tables, strict=True):
        yield from _table(step, table, {column.name: column for column in ref.columns}, language)
    yield f"## {texts['how']}\n"
    for item in outcome.coverage:
        by = texts["by"].format(markdown_code(item.requirement), ", ".join(item.steps))
        yield f"- {by}" if item.ok else f"- {by} {texts['unmet']}"
    yield from _stages(outcome, language)


def _lines(text: str) -> Iterator[str]:
    """The lines of the answer, with an empty one wherever a list or a table begins or ends."""
    before = None
    for line in text.splitlines():
        kind = "|" if line.startswith("| ") else "-" if line.lstrip(" ").startswith("- ") else ""
        if before is not None and kind != before:
            yield ""
        yield _row(line) if kind == "|" else _indented(line)
        before = kind


def _row(line: str) -> str:
    """A row of a table, in whose cells `|` is escaped already."""
    cells = (cell.replace("\\|", "|").replace("\\\\", "\\") for cell in re.split(r"(?<!\\)\|", line))
    return "|".join(map(markdown, cells))


def _indented(line: str) -> str:
    """A line of the answer with its indent, which makes a list within a list."""
    return line[: len(line) - len(line.lstrip(" "))] + markdown(line)


def _stages(answer: Answer, language: Language) -> Iterator[str]:
    texts = TEXTS[language]
    yield f"\n## {texts['took']}\n"
    yield texts["stages"]
    yield "| --- | ---: | ---: |"
    for entry in answer.trace:
        yield f"| {entry.stage} | {decimals(entry.ms, 1, language)} | {decimals(entry.tokens, 0, language)} |"
    if answer.usage.calls:
        yield f"\n{markdown(', '.join(answer.usage.models))}: {counted(answer.usage)}\n"
        yield texts["roles"]
        yield "| --- | --- | ---: | ---: | ---: | ---: |"
        for role, spent in answer.usage.roles.items():
            counts = (spent.calls, spent.prompt_tokens, spent.completion_tokens)
            numbers = [*(decimals(count, 0, language) for count in counts), decimals(spent.seconds, 1, language)]
            yield f"| {role} | {markdown(', '.join(spent.models))} | {' | '.join(numbers)} |"


def _table(step: str, table: ShownTable, known: Mapping[str, TableColumn], language: Language) -> Iterator[str]:
    rows = table.rows[:ROWS_IN_THE_REPORT]
    columns = [
        cells([row[place] for row in rows], known.get(name), language) for place, name in enumerate(table.columns)
    ]
    yield (
        "| "
        + " | ".join(markdown(heading(table.headings.get(name, name), known.get(name))) for name in table.columns)
        + " |"
    )
    yield "|" + " --- |" * len(table.columns)
    for row in zip(*columns, strict=True):
        yield "| " + " | ".join(map(markdown, row)) + " |"
    more, file = table.row_count - len(rows), f"[{step}.csv]({step}.csv)"
    texts = TEXTS[language]
    yield f"\n{texts['more'].format(decimals(more, 0, language), file) if more > 0 else texts['file'].format(file)}\n"


def _json(file: Path, document: object) -> None:
    write_regular(file, json.dumps(document, ensure_ascii=False, indent=2))
