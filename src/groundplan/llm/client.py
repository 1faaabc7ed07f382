"""Ask a model for a contract: the schema enumerates the real names, and what comes back is validated again."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from groundplan.contracts.answer import Usage
from groundplan.contracts.contract import Contract
from groundplan.llm.prompt import load_prompt
from groundplan.llm.reply import Into, Told, Untold
from groundplan.llm.schema import Choices, Schema, strict_schema
from groundplan.llm.understanding import Understood, understand
from groundplan.llm.wire import RequestRefused, Wire
from groundplan.settings import Endpoint

if TYPE_CHECKING:
    import httpx2

SECONDS = 60.0
FINDING_SECONDS = 5.0
MAX_TOKENS = 1024
PROBE_TOKENS = 64


class Probe(Contract):
    """Nobody says this word: a server that gives it back obeys the schema."""

    word: Literal["kvarnsten"]


class Model:
    """One model; what its server can do is found out once, by the first question."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._enforces: bool | None = None
        self._probing = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, endpoint: Endpoint, transport: httpx2.AsyncBaseTransport | None = None) -> AsyncIterator[Model]:
        """`transport` records or replays; without it the network is used."""
        wire = Wire(endpoint, transport)
        try:
            if not endpoint.model:
                await wire.find_model(FINDING_SECONDS)
            yield cls(wire)
        finally:
            await wire.close()

    @property
    def name(self) -> str:
        return self._wire.endpoint.name

    @property
    def endpoint(self) -> Endpoint:
        """As it was found: with the server's own model where none was named."""
        return self._wire.endpoint

    async def ask(
        self,
        prompt: str,
        into: type[Into],
        choices: Choices | None = None,
        *,
        schema: Schema | None = None,
        seconds: float = SECONDS,
        max_tokens: int = MAX_TOKENS,
        temperature: float = 0.0,
    ) -> Told[Into] | Untold:
        """The contract filled in, with only the names of `choices`; or why the answer cannot be used.

        `schema` is sent as it is, in place of the contract's own: where one choice decides what the next may be.
        """
        schema = schema or strict_schema(into, choices)
        begun = time.monotonic()
        enforces, spent = await self._probe(seconds)
        body = _body(prompt, schema, into.__name__, enforces)
        left = seconds - (time.monotonic() - begun)
        reply = await self._wire.complete({**body, "max_tokens": max_tokens, "temperature": temperature}, left)
        understood = understand(reply, schema, into)
        usage, ms = spent.plus(reply.usage), (time.monotonic() - begun) * 1000
        if isinstance(understood, Understood):
            return Told(understood.value, understood.repaired, usage, self.name, ms, reply.attempts)
        return Untold(understood.reason, understood.problem, reply.text, usage, self.name, ms, reply.attempts)

    async def enforces_schema(self, seconds: float = SECONDS) -> bool:
        """Whether the server holds the model to a JSON schema, found out by trying."""
        enforces, _ = await self._probe(seconds)
        return enforces

    async def _probe(self, seconds: float) -> tuple[bool, Usage]:
        async with self._probing:
            if self._enforces is not None:
                return self._enforces, Usage()
            schema = strict_schema(Probe)
            body = _body(load_prompt("probe").text, schema, "Probe", enforces=True)
            try:
                reply = await self._wire.complete({**body, "max_tokens": PROBE_TOKENS, "temperature": 0.0}, seconds)
            except RequestRefused:
                self._enforces = False
                return False, Usage()
            self._enforces = isinstance(understand(reply, schema, Probe), Understood)
            return self._enforces, reply.usage


def _body(prompt: str, schema: Schema, name: str, enforces: bool) -> dict[str, JsonValue]:
    """The schema goes to the grammar, or where there is none into the text, behind the part that stays the same."""
    if not enforces:
        asked = load_prompt("as_json").fill(schema=json.dumps(schema, ensure_ascii=False))
        return {"messages": [{"role": "user", "content": f"{prompt}\n\n{asked}"}]}
    return {
        "messages": [{"role": "user", "content": prompt}],
        "response_format": {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}},
    }
