"""Records exchanges with a model in a file and replays them; an unknown request or an unused reply is an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import httpx2
from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from groundplan.contracts.contract import Contract
from groundplan.errors import StateInvalid
from groundplan.llm.secret import hide

KEPT_HEADERS = ("content-type", "retry-after")
Plain = Annotated[str, Field(pattern=r"^[\x20-\x7e]*$")]  # what a header may hold


class Exchange(Contract):
    """One request and its response. Request headers are not kept, so no API key is."""

    method: str
    path: str
    request: JsonValue
    status: Annotated[int, Field(ge=100, le=599)]
    headers: dict[Plain, Plain]
    response: str


class RecordingDiffers(StateInvalid):
    """The requests differ from the recorded ones."""


_FILE = TypeAdapter(list[Exchange])


class Recorder(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self.exchanges: list[Exchange] = []
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        response = await self._inner.handle_async_request(request)
        text = hide((await response.aread()).decode("utf-8", "replace"), _key(request))
        given = {name: response.headers.get(name, "") for name in KEPT_HEADERS}
        headers = {name: value for name, value in given.items() if value and value.isascii() and value.isprintable()}
        self.exchanges.append(
            Exchange(
                method=request.method,
                path=request.url.path,
                request=json.loads(body),
                status=response.status_code,
                headers=headers,
                response=text,
            )
        )
        return httpx2.Response(response.status_code, headers=headers, content=text.encode())

    async def aclose(self) -> None:
        await self._inner.aclose()


class Player(httpx2.AsyncBaseTransport):
    def __init__(self, file: Path, exchanges: list[Exchange]) -> None:
        self.unused = exchanges
        self._file = file

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Replay the first unused exchange with exactly this request, so retries replay in their order."""
        body = json.loads(await request.aread())
        for exchange in self.unused:
            if (exchange.method, exchange.path, exchange.request) == (request.method, request.url.path, body):
                self.unused.remove(exchange)
                return httpx2.Response(exchange.status, headers=exchange.headers, content=exchange.response.encode())
        raise RecordingDiffers(
            f"{self._file}: {request.method} {request.url.path} was not recorded with this body; record it again"
        )


@contextmanager
def recording(file: Path, inner: httpx2.AsyncBaseTransport | None = None) -> Iterator[Recorder]:
    """Record into the file; it is written only if the block succeeds."""
    recorder = Recorder(inner or httpx2.AsyncHTTPTransport())
    yield recorder
    file.write_bytes(_FILE.dump_json(recorder.exchanges, indent=1) + b"\n")


@contextmanager
def replaying(file: Path) -> Iterator[Player]:
    """Replay the file; raises RecordingDiffers at the end if a recorded reply was not used."""
    try:
        player = Player(file, _FILE.validate_json(file.read_bytes()))
    except (OSError, ValidationError) as error:
        raise StateInvalid(f"{file} is not a recording; record it again: {error}") from error
    yield player
    if player.unused:
        first = json.dumps(player.unused[0].request, ensure_ascii=False)[:200]
        raise RecordingDiffers(
            f"{file}: {len(player.unused)} recorded replies were not used; the first answers {first}"
        )


def _key(request: httpx2.Request) -> str | None:
    return request.headers.get("authorization", "").removeprefix("Bearer ") or None
