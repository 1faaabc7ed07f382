"""Chat completions over HTTP: up to three attempts within a deadline; every response is validated."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

import stamina
from pydantic import BaseModel, Field, JsonValue, ValidationError

from groundplan.contracts.answer import Usage
from groundplan.errors import DeadlineExceeded, GroundplanError, TransientError, UsageError
from groundplan.llm.reply import ModelError
from groundplan.llm.secret import hide
from groundplan.settings import Endpoint, read_secret

try:
    import httpx2
    import openai

    from groundplan.llm.bounded import PLAIN, bound
except ImportError as error:
    raise UsageError("asking a model needs the extra `llm`: pip install 'groundplan[llm]'") from error

ATTEMPTS = 3
SHOWN = 300  # characters of a server's error text


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _ChatCompletion(BaseModel):
    object: Literal["chat.completion"]
    choices: list[_Choice] = Field(min_length=1)
    usage: _Tokens | None = None


class _Model(BaseModel):
    id: str
    max_model_len: int | None = None  # vLLM
    context_length: int | None = None  # several hosted servers

    @property
    def context(self) -> int | None:
        return self.max_model_len or self.context_length


class _Listed(BaseModel):
    data: list[_Model]


class _Generation(BaseModel):
    n_ctx: int


class _Props(BaseModel):
    default_generation_settings: _Generation


_UNLISTED = (openai.OpenAIError, GroundplanError, TimeoutError, ValueError)
"""What a server that cannot be asked this way leads to."""


@dataclass(frozen=True)
class Completion:
    """The first choice of a chat completion, with its token usage and the number of attempts."""

    text: str
    finish_reason: str
    usage: Usage
    attempts: int


class RequestRefused(ModelError):
    """The server does not accept this kind of request: HTTP 400, 422 or 501."""


class Wire:
    """The HTTP connection to one endpoint."""

    def __init__(self, endpoint: Endpoint, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self.endpoint = endpoint
        self._secret = read_secret(endpoint.api_key_env, endpoint.api_key_file, "api_key", "key")
        # httpcore2 logs response headers at debug level, and a server may send the key back in one.
        logging.getLogger("httpcore2").setLevel(logging.INFO)
        http = httpx2.AsyncClient(
            transport=transport, follow_redirects=False, timeout=None, event_hooks={"response": [bound]}
        )
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.url,
            api_key=self._secret or "none",
            max_retries=0,
            timeout=None,
            default_headers=PLAIN,
            http_client=http,
        )

    async def close(self) -> None:
        await self._client.close()

    async def find_model(self, seconds: float) -> None:
        """Use the model that the server lists first; if it lists none, requests name no model."""
        if listed := await self.listed(seconds):
            found = next(iter(listed))
            self.endpoint = self.endpoint.model_copy(update={"model": found, "name": PurePath(found).stem})

    async def listed(self, seconds: float) -> dict[str, int | None]:
        """The models that the server lists, with the length of their context if it says so."""
        with suppress(*_UNLISTED):
            async with asyncio.timeout(seconds):
                listed = await self._client.get("/models", cast_to=httpx2.Response)
            return {model.id: model.context for model in _Listed.model_validate_json(listed.text).data}
        return {}

    async def context(self, seconds: float) -> int | None:
        """The context that llama.cpp's server was started with, from its own address beside /v1."""
        with suppress(*_UNLISTED):
            async with asyncio.timeout(seconds):
                url = self.endpoint.url.rstrip("/").removesuffix("/v1") + "/props"
                told = await self._client.get(url, cast_to=httpx2.Response)
            return _Props.model_validate_json(told.text).default_generation_settings.n_ctx
        return None

    async def complete(self, body: Mapping[str, JsonValue], seconds: float) -> Completion:
        """Send the request; raises DeadlineExceeded, TransientError or ModelError if no completion arrives."""
        try:
            async with asyncio.timeout(seconds):
                return await self._with_retries(body, time.monotonic() + seconds)
        except TimeoutError:
            raise DeadlineExceeded(
                f"model {self.endpoint.name!r} did not answer within {seconds:.3g} s; "
                "give it more time, ask for less, or use a smaller model"
            ) from None

    async def _with_retries(self, body: Mapping[str, JsonValue], deadline: float) -> Completion:
        def wait(error: Exception) -> bool | float:
            """The Retry-After of the server; False, for no retry, if that is past the deadline."""
            if not isinstance(error, TransientError):
                return False
            after = error.retry_after
            return True if after is None else after if time.monotonic() + after < deadline else False

        async for attempt in stamina.retry_context(
            on=wait, attempts=ATTEMPTS, timeout=deadline - time.monotonic(), wait_initial=0.1, wait_jitter=0.1
        ):
            with attempt:
                return self._read(await self._send(body), attempt.num)
        raise AssertionError("stamina re-raises the last error")

    async def _send(self, body: Mapping[str, JsonValue]) -> str:
        """Raises outside the `except` block: the SDK's error, which holds the request headers, must not be chained."""
        failure: GroundplanError
        try:
            response = await self._client.post(
                "/chat/completions", cast_to=httpx2.Response, body={**body, "model": self.endpoint.model}
            )
            return hide(response.text, self._secret)
        except openai.APIStatusError as error:
            failure = self._refused(error.response)
        except openai.APIConnectionError as error:
            cause = error.__cause__
            failure = cause if isinstance(cause, GroundplanError) else self._unreachable(type(cause).__name__)
        raise failure

    def _read(self, text: str, attempts: int) -> Completion:
        problem = ""
        try:
            completion = _ChatCompletion.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
        if problem:
            raise ModelError(
                f"{self._who()} did not send a chat completion ({problem}); is the url right, with its /v1?"
            )
        choice, tokens = completion.choices[0], completion.usage or _Tokens()
        return Completion(
            text=choice.message.content or "",
            finish_reason="refusal" if choice.message.refusal else choice.finish_reason or "stop",
            usage=Usage(
                models=(self.endpoint.name,),
                calls=1,
                prompt_tokens=tokens.prompt_tokens,
                completion_tokens=tokens.completion_tokens,
            ),
            attempts=attempts,
        )

    def _refused(self, response: httpx2.Response) -> GroundplanError:
        status = response.status_code
        text = hide(response.text, self._secret)[:SHOWN]
        if status in (408, 429) or (status >= 500 and status != 501):
            busy = TransientError(f"{self._who()} answered HTTP {status}: {text}")
            busy.retry_after = _seconds(response.headers.get("retry-after"))
            return busy
        if status in (401, 403):
            return ModelError(f"{self._who()} refused the key (HTTP {status}); set api_key_env or api_key_file")
        kind = RequestRefused if status in (400, 422, 501) else ModelError
        return kind(f"{self._who()} refused the request (HTTP {status}): {text}")

    def _unreachable(self, fault: str) -> TransientError:
        return TransientError(f"{self._who()} cannot be reached ({fault}); is the server running?")

    def _who(self) -> str:
        return f"model {self.endpoint.name!r} at {self.endpoint.url}"


def _seconds(header: str | None) -> float | None:
    """A Retry-After given in seconds; None for a date, so the usual backoff applies."""
    return float(header) if header and re.fullmatch(r"\s*[0-9]{1,9}\s*", header) else None
