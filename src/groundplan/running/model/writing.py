"""A text from facts: the end of every step that writes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from groundplan.contracts.contract import Contract
from groundplan.llm.prompt import load_prompt
from groundplan.llm.schema import strict_schema
from groundplan.running.model.asking import Asked, Asking
from groundplan.running.model.grounding import ungrounded
from groundplan.running.model.shown import shown

TOKENS_A_WORD = 5  # of a language that a model's tokenizer cuts small
HINT = "give it fewer facts or a plainer task, or name a larger model"


class Written(Contract):
    text: Annotated[str, Field(pattern=r"\S")]


async def write(asking: Asking, instruction: str, facts: object, words: int) -> tuple[str, str]:
    """The text, and what the model did not get to see. A number that was not given goes back to the model."""
    told, missing = shown(facts)
    prompt = load_prompt("write").fill(facts=told, instruction=instruction, words=str(words))

    def fault(written: Written) -> str:
        number = ungrounded(written.text, instruction, facts)
        return f"the facts do not hold the number {number}; leave it out" if number else ""

    tokens = TOKENS_A_WORD * words + 50
    written = await asking.ask(Asked(prompt, Written, strict_schema(Written), tokens, fault, HINT))
    return written.text.strip(), missing
