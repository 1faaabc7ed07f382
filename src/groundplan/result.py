"""Results for Python code and notebooks: an outcome with text, frames and charts, or a checked plan."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any

from groundplan.asking.tables.accounting import word_fates
from groundplan.asking.tasks.read import analyse
from groundplan.charts.picture import png, svg
from groundplan.context import Context
from groundplan.contracts.answer import Answer, Clarification, Outcome, Refusal, ShownTable, TraceEntry, Usage
from groundplan.contracts.contract import thaw
from groundplan.contracts.explanation import Reason, WordFate, reasons
from groundplan.contracts.plan import Plan
from groundplan.contracts.proposing import ModelAttempt
from groundplan.contracts.question import Question
from groundplan.contracts.reading import Reading
from groundplan.contracts.schema import SourceSchema
from groundplan.contracts.task import Graph, PlanResponse
from groundplan.contracts.verdict import Verdict
from groundplan.errors import UsageError
from groundplan.pipeline import Stage, State, begin, drive, plan_of, trace_of
from groundplan.running.options import RunOptions
from groundplan.sources.interface import Source
from groundplan.text.read_back import read_as
from groundplan.text.rounding import sure

VEGA_LITE = "application/vnd.vegalite.v6+json"
ROWS_IN_A_NOTEBOOK = 30


class Result:
    """The result of a question. `outcome` is the contract; everything else is derived from it."""

    def __init__(self, outcome: Outcome, reply: Callable[[str], Result] | None = None) -> None:
        self.outcome, self._reply = outcome, reply

    @property
    def kind(self) -> str:
        return self.outcome.kind

    @property
    def text(self) -> str:
        return self.outcome.text

    @property
    def read_as(self) -> str:
        """How the question was understood, in one line; empty if there is no answer."""
        return self.outcome.read_as if isinstance(self.outcome, Answer) else ""

    @property
    def plan(self) -> Plan | None:
        return getattr(self.outcome, "plan", None)

    @property
    def trace(self) -> tuple[TraceEntry, ...]:
        return self.outcome.trace

    @cached_property
    def tables(self) -> tuple[Any, ...]:
        """The tables as pandas frames."""
        return tuple(_frame(table) for table in self.outcome.tables) if isinstance(self.outcome, Answer) else ()

    @property
    def table(self) -> Any:
        """The first table as a pandas frame, or None."""
        return self.tables[0] if self.tables else None

    @cached_property
    def charts(self) -> tuple[Picture, ...]:
        return tuple(Picture(spec) for spec in self.outcome.charts) if isinstance(self.outcome, Answer) else ()

    @property
    def chart(self) -> Picture | None:
        return self.charts[0] if self.charts else None

    @property
    def queries(self) -> dict[str, str]:
        """The query behind each table, by step."""
        return self.outcome.queries if isinstance(self.outcome, Answer) else {}

    @property
    def candidates(self) -> tuple[str, ...]:
        """What a clarification offers to choose from."""
        return self.outcome.candidates if isinstance(self.outcome, Clarification) else ()

    def choose(self, choice: int | str, *, remember: bool = False) -> Result:
        """Reply to a clarification with the number of a candidate, from 1, or with words.

        `remember`: the word that was not understood is another name of the chosen column from now on.
        """
        if not isinstance(self.outcome, Clarification) or self._reply is None:
            raise UsageError("nothing was asked back, so there is nothing to choose")
        if isinstance(choice, int) and not 1 <= choice <= len(self.candidates):
            raise UsageError(f"there is no choice {choice}; there are {len(self.candidates)}")
        return self._reply(f"{choice} remember" if remember else str(choice))

    def __repr__(self) -> str:
        return f"<{self.kind}: {self.text}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """The answer in a notebook: the text and the tables, and the first chart as Vega-Lite where that is drawn."""
        choices = (f"{number}. {candidate}" for number, candidate in enumerate(self.candidates, 1))
        text = "\n".join(filter(None, (self.read_as, self.text, *choices)))
        told = "".join(f"<p>{line}</p>" for line in escape(text).splitlines() if line)
        bundle: dict[str, Any] = {"text/plain": text}
        pictures = "".join(
            f'<img alt="chart" src="data:image/png;base64,{picture.base64}"/>' for picture in self.charts
        )
        bundle["text/html"] = told + pictures + "".join(self._html_tables())
        if self.chart:
            bundle[VEGA_LITE] = self.chart.spec
        return bundle

    def _html_tables(self) -> Iterator[str]:
        for table in self.outcome.tables if isinstance(self.outcome, Answer) else ():
            rows = [table.columns, *table.rows[:ROWS_IN_A_NOTEBOOK]]
            cells = ["".join(f"<td>{escape(_cell(value))}</td>" for value in row) for row in rows]
            lines = "".join(f"<tr>{row}</tr>" for row in cells)
            more = table.row_count - min(len(table.rows), ROWS_IN_A_NOTEBOOK)
            yield f"<table>{lines}</table>" + (f"<p>… {more:,} more rows</p>" if more > 0 else "")


def _cell(value: object) -> str:
    return "" if value is None else str(sure(value) if isinstance(value, float) else value)


class Picture:
    """A chart with its data; `spec` is Vega-Lite."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self.spec: Any = thaw(spec)

    def save(self, path: str | Path) -> None:
        """Save in the format that the file extension names: .png, .svg or .json (Vega-Lite)."""
        import json

        file = Path(path)
        match file.suffix.lower():
            case ".png":
                file.write_bytes(png(self.spec))
            case ".svg":
                file.write_text(svg(self.spec), encoding="utf-8")
            case ".json":
                file.write_text(json.dumps(self.spec, ensure_ascii=False, indent=2), encoding="utf-8")
            case other:
                raise UsageError(f"a chart is saved as .png, .svg or .json, not {other or 'without an ending'}")

    @property
    def base64(self) -> str:
        return b64encode(png(self.spec)).decode("ascii")

    def _repr_png_(self) -> bytes:
        return png(self.spec)


def _frame(table: ShownTable) -> Any:
    import pandas  # slow to import, so only when a frame is needed

    return pandas.DataFrame([list(row) for row in table.rows], columns=list(table.columns))


@dataclass(frozen=True)
class Planned:
    """A question with its checked plan, or with the outcome that ended planning."""

    reading: Reading | None = None
    plan: Plan | None = None
    verdict: Verdict | None = None
    ended: Refusal | Clarification | None = None
    notes: tuple[str, ...] = ()  # model replies that were not used, and why
    usage: Usage = field(default_factory=Usage)
    trace: tuple[TraceEntry, ...] = ()
    attempts: tuple[ModelAttempt, ...] = ()  # what models proposed, and what was wrong with it
    tables: SourceSchema | None = None  # what the words of the question were held against

    @classmethod
    def of(cls, state: State, stage: Stage) -> Planned:
        ended = stage.outcome
        assert not isinstance(ended, Answer)
        return cls(
            reading=Reading.model_validate(state["reading"]) if state.get("reading") else None,
            plan=ended.plan if isinstance(ended, Refusal) else plan_of(state),
            verdict=stage.verdict,
            ended=ended,
            notes=ended.notes if ended else tuple(dict.fromkeys(stage.context.notes)),
            usage=ended.usage if ended else stage.usage(state),
            trace=trace_of(state),
            attempts=tuple(ModelAttempt.model_validate(attempt) for attempt in state.get("proposals") or []),
            tables=stage.context.tables,
        )

    @property
    def response(self) -> PlanResponse:
        """The plan with its graph, reasoning, log and cost, for other tools."""
        assert self.reading is not None
        assert self.plan is not None
        made = self.plan.provenance
        return PlanResponse(
            reading=self.reading,
            plan=self.plan,
            graph=Graph.of(self.plan),
            reasoning=made.reasoning or self.plan.reasons,
            analysis=made.analysis or analyse(self.reading),
            log=(*made.log, *self.notes),
            attempts=self.attempts,
            tokens=self.usage.prompt_tokens + self.usage.completion_tokens,
            duration_ms=round(sum(entry.ms for entry in self.trace), 1),
            confidence=self.plan.confidence,
        )

    @property
    def read_as(self) -> str:
        """How the question was understood, in one line; empty if it was not read, or is not about tables."""
        return read_as(self.reading) if self.reading else ""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """For each requirement, the steps that serve it; empty if there is no plan."""
        return reasons(self.reading, self.plan) if self.reading and self.plan else ()

    @property
    def words(self) -> tuple[WordFate, ...]:
        """What became of each word of a question about tables."""
        return word_fates(self.reading, self.tables) if self.reading and self.tables and self.read_as else ()

    @property
    def why(self) -> str:
        return self.ended.text if self.ended else ""


async def plan_for(
    question: Question,
    context: Context,
    reading: Reading | None = None,
    on_stage: Callable[[str], None] = lambda _: None,
    sources: Mapping[str, Source] = MappingProxyType({}),
) -> Planned:
    """Plan a question, or its reading where that is known, and check the plan, without running it.

    With `sources`, a reader may compare the rows of two readings, as it does when the question is answered.
    """
    stage = Stage(context, sources, RunOptions(on_stage=on_stage), plan_only=True)
    return Planned.of(await drive(begin("plan", question, reading), stage), stage)
