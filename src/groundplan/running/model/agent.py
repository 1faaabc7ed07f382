"""The agent loop: the model calls tools one at a time, then writes a text from the results."""

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
from groundplan.running.model.agent_tools import AgentTools, ToolCall, Turn, agent_tools
from groundplan.running.model.prompt_facts import facts_json
from groundplan.running.model.step_calls import ModelRequest, StepCalls
from groundplan.running.model.tools import WORDS
from groundplan.running.model.write import write
from groundplan.running.step import execute, with_tables
from groundplan.sources.interface import Call, Source

MAX_TOKENS = 400  # per call
MOST_ROWS = 20  # of a table that the model sees
MOST_CITED = 50
HINT = "give it fewer tools or a plainer task, or name a larger model"


@dataclass
class AgentState:
    """The state of an agent: its params, its tools, and the results so far."""

    given: dict[str, Any]
    tools: AgentTools
    results: list[dict[str, object]] = field(default_factory=list)
    cited: dict[str, Cited] = field(default_factory=dict)
    missing: str = ""

    def has(self, chosen: ToolCall) -> bool:
        asked = (chosen.tool, self.tools.params(chosen))
        return any(asked == (made["tool"], made["params"]) for made in self.results)


async def work(
    call: Call, calls: StepCalls, catalog: Mapping[str, Tool], sources: Mapping[str, Source]
) -> tuple[str, AgentState]:
    """Run the loop and return the final text. It also ends when the agent repeats a call."""
    given: Any = thaw(call.params)
    state = AgentState(given, agent_tools(given["tools"], catalog))
    for left in range(given["calls"], 0, -1):
        turn = await calls.ask(_request(state, left))
        if not isinstance(turn.next, ToolCall) or state.has(turn.next):
            break
        await _call(replace(call, step=f"{call.step}.{left}"), turn.next, state, sources, calls.calls.left)
    else:
        state.missing = state.missing or f"the agent used all {given['calls']} calls before it was done"
    found = {"facts": given["facts"], "results": state.results}
    text, cut = await write(calls, given["instruction"], found, WORDS)
    state.missing = state.missing or cut
    return text, state


def _request(state: AgentState, left: int) -> ModelRequest[Turn]:
    facts, facts_cut = facts_json(state.given["facts"])
    results, results_cut = facts_json(state.results)
    state.missing = state.missing or facts_cut or results_cut
    prompt = load_prompt("work").fill(
        tools=state.tools.lines(), facts=facts, results=results, instruction=state.given["instruction"], left=str(left)
    )

    def fault(turn: Turn) -> str:
        return state.tools.fault(turn.next) if isinstance(turn.next, ToolCall) else ""

    return ModelRequest(prompt, Turn, state.tools.schema, MAX_TOKENS, fault, HINT)


async def _call(call: Call, chosen: ToolCall, state: AgentState, sources: Mapping[str, Source], seconds: float) -> None:
    """Call a tool with deadline and retries, like the runner does. A failure is recorded as a result."""
    tool, params = state.tools.tools[chosen.tool], state.tools.params(chosen)
    source = sources[tool.source]
    outcome, _ = await execute(source, replace(call, tool=tool, params=params), seconds, lambda _: None)
    failed = outcome.issue.problem if outcome.issue else ""
    result = {"failed": failed} if failed else await _result(outcome.facts, source, call.run, seconds)
    state.results.append({"tool": tool.name, "params": params, "result": result})
    if outcome.facts:
        cited = outcome.facts.sources or (Cited(id=tool.name, label=tool.name),)
        state.cited |= {one.id: one for one in cited[:MOST_CITED]}
        state.missing = state.missing or getattr(outcome.facts.state, "reason", "")


async def _result(facts: StepFacts | None, source: Source, run: str, seconds: float) -> object:
    """The result of a tool as the agent sees it: an object, the first rows of a table, or a list."""
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
