"""Ask a model to fill in a contract. The schema lists the allowed names, and the reply is validated against it."""

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
from groundplan.llm.reply import Into, Reply, UnusableReply
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
    """A model would not choose this word by itself: a server that returns it enforces the schema."""

    word: Literal["kvarnsten"]


class Model:
    """One model. The first call probes once whether its server enforces schemas."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._enforces: bool | None = None
        self._probing = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, endpoint: Endpoint, transport: httpx2.AsyncBaseTransport | None = None) -> AsyncIterator[Model]:
        """Connect to the endpoint; a test passes a `transport` that records or replays."""
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
        """The endpoint in use; if the settings name no model, it holds the one that the server listed."""
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
    ) -> Reply[Into] | UnusableReply:
        """The filled-in contract, using only names from `choices`, or the reason why the reply cannot be used.

        `schema` replaces the contract's own schema; use it when one choice limits the next.
        """
        schema = schema or strict_schema(into, choices)
        begun = time.monotonic()
        enforces, spent = await self._probe(seconds)
        body = _body(prompt, schema, into.__name__, enforces)
        left = seconds - (time.monotonic() - begun)
        completion = await self._wire.complete({**body, "max_tokens": max_tokens, "temperature": temperature}, left)
        understood = understand(completion, schema, into)
        ms, attempts = (time.monotonic() - begun) * 1000, completion.attempts
        usage = spent.plus(completion.usage).plus(Usage(seconds=ms / 1000))
        if isinstance(understood, Understood):
            return Reply(understood.value, understood.repaired, usage, self.name, ms, attempts)
        return UnusableReply(understood.reason, understood.problem, completion.text, usage, self.name, ms, attempts)

    async def enforces_schema(self, seconds: float = SECONDS) -> bool:
        """Whether the server makes the model follow a JSON schema; finds out with a trial request."""
        enforces, _ = await self._probe(seconds)
        return enforces

    async def listed(self, seconds: float) -> dict[str, int | None]:
        """The models that the server lists, each with the length of its context in tokens if the server says it."""
        return await self._wire.listed(seconds)

    async def context(self, seconds: float) -> int | None:
        """The length of the context that llama.cpp's server was started with; None for other servers."""
        return await self._wire.context(seconds)

    async def write(self, prompt: str, seconds: float, max_tokens: int) -> Usage:
        """The usage of one text without a schema; only `groundplan doctor` asks for one, and the text is not used."""
        message: JsonValue = {"role": "user", "content": prompt}
        body: dict[str, JsonValue] = {"messages": [message], "max_tokens": max_tokens, "temperature": 0.0}
        return (await self._wire.complete(body, seconds)).usage

    async def _probe(self, seconds: float) -> tuple[bool, Usage]:
        async with self._probing:
            if self._enforces is not None:
                return self._enforces, Usage()
            schema = strict_schema(Probe)
            body = _body(load_prompt("probe").text, schema, "Probe", enforces=True)
            try:
                probed = await self._wire.complete({**body, "max_tokens": PROBE_TOKENS, "temperature": 0.0}, seconds)
            except RequestRefused:
                self._enforces = False
                return False, Usage()
            self._enforces = isinstance(understand(probed, schema, Probe), Understood)
            return self._enforces, probed.usage


def _body(prompt: str, schema: Schema, name: str, enforces: bool) -> dict[str, JsonValue]:
    """The request body. A server that does not enforce schemas gets the schema as text after the prompt.

    The prompt comes first so that servers can cache this constant prefix.
    """
    if not enforces:
        format_request = load_prompt("as_json").fill(schema=json.dumps(schema, ensure_ascii=False))
        return {"messages": [{"role": "user", "content": f"{prompt}\n\n{format_request}"}]}
    return {
        "messages": [{"role": "user", "content": prompt}],
        "response_format": {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}},
    }
