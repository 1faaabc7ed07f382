"""A model server on loopback that answers as a script says, one entry for each request, the last one for ever."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from groundplan.contracts.contract import Contract
from groundplan.settings import Endpoint
from tests.patience import HANGS

PROBED = '{"word": "kvarnsten"}'
Behaviour = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Fruit(Contract):
    """What the tests ask for."""

    fruit: str
    ripe: bool
    size: Literal["small", "large"] | None


RIPE = '{"fruit": "plum", "ripe": true, "size": null}'


@dataclass
class Scripted:
    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    script: list[Behaviour] = field(default_factory=list)  # what is still to come
    replies: dict[str, Behaviour] = field(default_factory=dict)  # by the contract that is asked for: before the script

    def endpoint(self, **settings: Any) -> Endpoint:
        return Endpoint(name="scripted", url=self.url, model="m", **settings)


@asynccontextmanager
async def scripted(*script: Behaviour) -> AsyncIterator[Scripted]:
    left = list(script)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if head.startswith("GET"):  # of what else it can be asked, it knows nothing
            await sends(404, "{}")(writer)
            writer.close()
            return
        length = next(
            int(line.split(":")[1]) for line in head.lower().split("\r\n") if line.startswith("content-length")
        )
        known.requests.append(json.loads(await reader.readexactly(length)))
        known.headers.append(head)
        wanted = known.requests[-1].get("response_format", {}).get("json_schema", {}).get("name")
        try:
            await (known.replies.get(wanted) or (left.pop(0) if len(left) > 1 else left[0]))(writer)
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    known = Scripted(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", script=left)
    try:
        yield known
    finally:
        server.close()


def says(text: str | None, finish_reason: str = "stop", **message: Any) -> Behaviour:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return sends(200, json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage}))


def sends(status: int, body: str, content_type: str = "application/json", **headers: str) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(status, len(body.encode()), content_type, headers) + body.encode())
        await writer.drain()

    return behave


def dies_within(body: str) -> Behaviour:
    """Promises more bytes than come."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(200, len(body) + 500, "application/json", {}) + body.encode())
        await writer.drain()

    return behave


async def hangs(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(HANGS)


async def hangs_up(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def _head(status: int, length: int, content_type: str, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", f"content-type: {content_type}", f"content-length: {length}"]
    lines += ["connection: close", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
