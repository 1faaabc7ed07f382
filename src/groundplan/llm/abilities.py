"""What a model server can and cannot do, found out by asking it."""

from __future__ import annotations

import time

from groundplan.contracts.contract import Contract
from groundplan.errors import WorldError
from groundplan.llm.client import Model
from groundplan.llm.prompt import load_prompt
from groundplan.settings import Endpoint

NEEDED_CONTEXT = 4096  # tokens: the longest prompts with their replies
SLOW = 5.0  # tokens per second: below it, a plan takes a minute
SPEED_TOKENS = 48
PREFERRED = "llama.cpp, vLLM or Ollama"


class Finding(Contract):
    """One ability in a plain sentence, with what to do if it is missing."""

    ability: str
    there: bool
    said: str


class Abilities(Contract):
    name: str
    url: str
    reachable: bool
    problem: str = ""  # why it cannot be used
    seconds: float = 0.0  # until the first reply
    models: tuple[str, ...] = ()  # as the server lists them
    model: str = ""  # the one that is used
    enforces_schema: bool | None = None
    context: int | None = None  # tokens; None if the server does not say
    counts_tokens: bool = False
    tokens_per_second: float | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """In the order of their weight; empty for a server that cannot be used."""
        if not self.reachable:
            return ()
        return (self._schema(), self._listed(), self._context(), self._counted(), self._speed())

    def _schema(self) -> Finding:
        if self.enforces_schema:
            said = "enforces a JSON schema: replies can only use names that exist in your data"
        else:
            said = (
                "does not enforce a JSON schema: its text is parsed instead, and more replies are unusable; "
                f"prefer a server with json_schema ({PREFERRED})"
            )
        return Finding(ability="schema", there=bool(self.enforces_schema), said=said)

    def _listed(self) -> Finding:
        listed = ", ".join(self.models)
        if not self.models:
            said = "does not list its models, so the model must be named: set `model` in its table [models.NAME]"
        elif self.model not in self.models:
            said = f"does not list {self.model!r} but {listed}; correct `model` if replies come from another one"
        else:
            said = f"lists {listed}"
        return Finding(ability="models", there=self.model in self.models, said=said)

    def _context(self) -> Finding:
        fits = self.context is not None and self.context >= NEEDED_CONTEXT
        if self.context is None:
            said = f"does not say how long its context is; make sure that it has {NEEDED_CONTEXT:,} tokens"
        elif fits:
            said = f"has a context of {self.context:,} tokens"
        else:
            said = (
                f"has a context of {self.context:,} tokens; long prompts need {NEEDED_CONTEXT:,}: start the server "
                "with a longer one (`-c` of llama.cpp, `--max-model-len` of vLLM, `num_ctx` of Ollama)"
            )
        return Finding(ability="context", there=fits, said=said)

    def _counted(self) -> Finding:
        if self.counts_tokens:
            said = "counts tokens, so answers show what they cost"
        else:
            said = "does not count tokens: answers show 0, and token budgets do not hold; limit `seconds` in [roles]"
        return Finding(ability="usage", there=self.counts_tokens, said=said)

    def _speed(self) -> Finding:
        rate = self.tokens_per_second
        if rate is None:
            said = "gave no measurable reply, so its speed is unknown"
        elif rate >= SLOW:
            said = f"writes {rate:,.0f} tokens per second"
        else:
            said = (
                f"writes {rate:.1f} tokens per second, which is slow; use a smaller model or a faster machine, "
                "or raise `seconds` in [roles]"
            )
        return Finding(ability="speed", there=rate is not None and rate >= SLOW, said=said)


async def find_abilities(endpoint: Endpoint, seconds: float) -> Abilities:
    """Ask the server for its models, a reply under a schema and some text. Each request has so many seconds."""
    async with Model.open(endpoint) as model:
        known = {"name": model.name, "url": endpoint.url, "model": model.endpoint.model}
        begun = time.monotonic()
        try:
            enforces = await model.enforces_schema(seconds)
        except WorldError as error:
            return Abilities(**known, reachable=False, problem=str(error))
        waited = time.monotonic() - begun
        listed = await model.listed(seconds)
        counts, rate = await _speed(model, seconds)
        return Abilities(
            **known,
            reachable=True,
            seconds=round(waited, 2),
            models=tuple(listed),
            enforces_schema=enforces,
            context=listed.get(model.endpoint.model) or await model.context(seconds),
            counts_tokens=counts,
            tokens_per_second=rate,
        )


async def _speed(model: Model, seconds: float) -> tuple[bool, float | None]:
    """Whether tokens are counted, and how many come per second in a short text."""
    begun = time.monotonic()
    try:
        usage = await model.write(load_prompt("speed").text, seconds, SPEED_TOKENS)
    except WorldError:
        return False, None
    took = time.monotonic() - begun
    return usage.prompt_tokens > 0, round(usage.completion_tokens / took, 1) if usage.completion_tokens else None
