"""Writes a text from facts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from groundplan.contracts.contract import Contract
from groundplan.llm.prompt import load_prompt
from groundplan.llm.schema import strict_schema
from groundplan.running.model.grounding import ungrounded
from groundplan.running.model.prompt_facts import facts_json
from groundplan.running.model.step_calls import ModelRequest, StepCalls

TOKENS_A_WORD = 5  # generous, for languages that tokenizers split into small pieces
HINT = "give it fewer facts or a plainer task, or name a larger model"


class Written(Contract):
    text: Annotated[str, Field(pattern=r"\S")]


async def write(calls: StepCalls, instruction: str, facts: object, words: int) -> tuple[str, str]:
    """The text, and a note on facts the model did not see. A number that is not in the facts causes a second try."""
    text, missing = facts_json(facts)
    prompt = load_prompt("write").fill(facts=text, instruction=instruction, words=str(words))

    def fault(written: Written) -> str:
        number = ungrounded(written.text, instruction, facts)
        return f"the facts do not hold the number {number}; leave it out" if number else ""

    tokens = TOKENS_A_WORD * words + 50
    written = await calls.ask(ModelRequest(prompt, Written, strict_schema(Written), tokens, fault, HINT))
    return written.text.strip(), missing
