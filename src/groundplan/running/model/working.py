"""An agent's loop: a call of one of its tools, what came of it, and so on; then a text from all that was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue

from groundplan.contracts.contract import thaw
from groundplan.contracts.facts import Cited, Item, StepFacts
from groundplan.contracts.tool import Tool
from groundplan.errors import GroundplanError
from groundplan.llm.prompt import load_prompt
from groundplan.running.model.asking import Asked, Asking
from groundplan.running.model.offering import Calling, Offer, Turn, offer
from groundplan.running.model.shown import shown
from groundplan.running.model.tools import WORDS
from groundplan.running.model.writing import write
from groundplan.running.step import execute, with_tables
from groundplan.sources.interface import Call, Source

MAX_TOKENS = 400  # of one call
MOST_ROWS = 20  # of a table that a tool gave
MOST_CITED = 50
HINT = "give it fewer tools or a plainer task, or name a larger model"


@dataclass
class Work:
    """What an agent was given, what it has called so far, and what the tools gave it."""

    given: dict[str, Any]
    offered: Offer
    results: list[dict[str, object]] = field(default_factory=list)
    cited: dict[str, Cited] = field(default_factory=dict)
    missing: str = ""

    def has(self, calling: Calling) -> bool:
        asked = (calling.tool, self.offered.params(calling))
        return any(asked == (made["tool"], made["params"]) for made in self.results)


async def work(
    call: Call, asking: Asking, catalog: Mapping[str, Tool], sources: Mapping[str, Source]
) -> tuple[str, Work]:
    """What is written of it in the end. An agent that makes the same call twice has nothing more to find out."""
    given: Any = thaw(call.params)
    this = Work(given, offer(given["tools"], catalog))
    for left in range(given["calls"], 0, -1):
        turn = await asking.ask(_asked(this, left))
        if not isinstance(turn.next, Calling) or this.has(turn.next):
            break
        await _call(replace(call, step=f"{call.step}.{left}"), turn.next, this, sources, asking.calls.left)
    else:
        this.missing = this.missing or f"its {given['calls']} calls were used up before it was done"
    found = {"facts": given["facts"], "results": this.results}
    text, cut = await write(asking, given["instruction"], found, WORDS)
    this.missing = this.missing or cut
    return text, this


def _asked(this: Work, left: int) -> Asked[Turn]:
    facts, facts_cut = shown(this.given["facts"])
    results, results_cut = shown(this.results)
    this.missing = this.missing or facts_cut or results_cut
    prompt = load_prompt("work").fill(
        tools=this.offered.told(), facts=facts, results=results, instruction=this.given["instruction"], left=str(left)
    )

    def fault(turn: Turn) -> str:
        return this.offered.fault(turn.next) if isinstance(turn.next, Calling) else ""

    return Asked(prompt, Turn, this.offered.schema, MAX_TOKENS, fault, HINT)


async def _call(call: Call, calling: Calling, this: Work, sources: Mapping[str, Source], seconds: float) -> None:
    """As the runner calls a step: with its deadline and its tries. A tool that fails is a result too."""
    tool, params = this.offered.tools[calling.tool], this.offered.params(calling)
    source = sources[tool.source]
    outcome, _ = await execute(source, replace(call, tool=tool, params=params), seconds, lambda _: None)
    failed = outcome.issue.problem if outcome.issue else ""
    result = {"failed": failed} if failed else await _told(outcome.facts, source, call.run, seconds)
    this.results.append({"tool": tool.name, "params": params, "result": result})
    if outcome.facts:
        cited = outcome.facts.sources or (Cited(id=tool.name, label=tool.name),)
        this.cited |= {one.id: one for one in cited[:MOST_CITED]}
        this.missing = this.missing or getattr(outcome.facts.state, "reason", "")


async def _told(facts: StepFacts | None, source: Source, run: str, seconds: float) -> object:
    """What a tool gave, as an agent sees it: an object, a table's first rows, or a list."""
    if facts is None or not facts.found:
        return "nothing was found"
    if facts.table:
        try:
            table = await with_tables(source).fetch(facts.table, run, MOST_ROWS, seconds)
        except GroundplanError as error:
            return {"failed": str(error)}
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        return {"rows": rows, "row_count": table.row_count}
    if facts.first and (facts.rows or 1) == 1:
        return thaw(facts.first)
    return {"items": [*_lines(facts.items)], **{group.title: [*_lines(group.items)] for group in facts.groups}}


def _lines(items: tuple[Item, ...]) -> Iterator[JsonValue]:
    for item in items:
        yield ": ".join(str(part) for part in (item.title, item.value, item.text) if part not in (None, ""))
