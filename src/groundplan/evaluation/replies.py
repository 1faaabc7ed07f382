"""A model's replies by question: written down while it reads, or given again in its place.

A file has a line for each question: its `id`, and what the model replied (`sql`, `cannot` or `ask`). The calls go
through the real client, so prompts, checks and attempts are those of a question that a model at a server reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from pydantic import JsonValue, TypeAdapter, ValidationError

from groundplan.errors import UsageError
from groundplan.llm.client import Probe
from groundplan.llm.extraction import NoJson, extract
from groundplan.settings import Endpoint

NOWHERE = "http://replies.invalid/v1"  # no request leaves the process
KEYS = ("sql", "cannot", "ask")  # one of them makes an object a reply to a question
PROBED = json.dumps(Probe(word="kvarnsten").model_dump())

Reply = Mapping[str, JsonValue]
_LETTERS = re.compile(r"[\W_]+")
_LINE = TypeAdapter(dict[str, JsonValue])


class Tape(httpx2.AsyncBaseTransport):
    """Carries the calls of models while a suite asks its questions one after the other."""

    def __init__(self) -> None:
        self.id, self.question = "", ""

    def asks(self, id: str, question: str) -> None:
        """From now on, calls are about this question."""
        self.id, self.question = id, question


class Replayed(Tape):
    """Models that give their recorded replies again; a reply that is sent back for its faults comes back the same."""

    def __init__(self, files: Sequence[Path]) -> None:
        super().__init__()
        self._replies = {str(place): load_replies(file) for place, file in enumerate(files)}
        self.endpoints = tuple(
            Endpoint(name=file.stem, url=NOWHERE, model=str(place)) for place, file in enumerate(files)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        if _contract(body) == Probe.__name__:
            return _completion(PROBED)
        if not _has_question(_prompt(body), self.question):
            return _refused(f"the prompt does not hold the question {self.question!r}")
        reply = self._replies[body["model"]].get(self.id)
        if reply is None:
            return _refused(f"no reply to {self.id!r} is recorded")
        return _completion(json.dumps(_shaped(reply), ensure_ascii=False))


class Recorder(Tape):
    """Keeps the last reply to each question's first prompt: the one that was accepted, or that was given up."""

    def __init__(self, inner: httpx2.AsyncBaseTransport | None = None) -> None:
        super().__init__()
        self.kept: dict[str, Reply] = {}
        self._prompts: dict[str, str] = {}  # by question: other prompts, such as for a second opinion, are not kept
        self._inner = inner or httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        prompt = _prompt(json.loads(await request.aread() or b"{}"))
        response = await self._inner.handle_async_request(request)
        await response.aread()
        reply = _reply(response)
        if reply is not None and prompt.startswith(self._prompts.setdefault(self.id, prompt)):
            self.kept[self.id] = reply
        return response

    async def aclose(self) -> None:
        """Does nothing: the projects of a suite share the connection, which `recording` closes."""

    async def close(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def recording(file: Path) -> AsyncIterator[Recorder]:
    """Write the replies to the file, those before an interruption included."""
    recorder = Recorder()
    _write(file, {})  # a file that cannot be written is told before the first question
    try:
        yield recorder
    finally:
        await recorder.close()
        _write(file, recorder.kept)


def _write(file: Path, replies: Mapping[str, Reply]) -> None:
    lines = [json.dumps({"id": id, **reply}, ensure_ascii=False) for id, reply in replies.items()]
    try:
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def load_replies(file: Path) -> dict[str, Reply]:
    """The replies of a file by the id of their question."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"{file} cannot be read; name a file of replies, one JSON object in a line") from error
    found = (_parsed(file, number, line) for number, line in enumerate(lines, 1) if line.strip())
    return {str(line["id"]): {key: value for key, value in line.items() if key != "id"} for line in found}


def _parsed(file: Path, number: int, line: str) -> Reply:
    try:
        found = _LINE.validate_json(line)
    except ValidationError:
        found = {}
    if "id" not in found or not any(key in found for key in KEYS):
        raise UsageError(f"{file}:{number}: not a reply; each line has `id`, and `sql`, `cannot` or `ask`")
    return found


def _shaped(reply: Reply) -> Reply:
    """As a model replies now: a question back that is kept as one text has one meaning and no SQL."""
    asked = reply.get("ask")
    return {**reply, "ask": [{"means": asked, "sql": ""}]} if isinstance(asked, str) else reply


def _reply(response: httpx2.Response) -> Reply | None:
    """The reply in a chat completion, without what it leaves empty; None if it holds no reply to a question."""
    try:
        text = json.loads(response.text)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError):
        return None
    found = extract(text) if isinstance(text, str) else NoJson("")
    if isinstance(found, NoJson):
        return None
    said = {key: value for key, value in found.value.items() if value not in (None, "", [])}
    return said if any(key in said for key in KEYS) else None


def _contract(body: Mapping[str, Any]) -> str:
    return str(body.get("response_format", {}).get("json_schema", {}).get("name", ""))


def _prompt(body: Mapping[str, Any]) -> str:
    return "\n".join(str(message.get("content", "")) for message in body.get("messages", ()))


def _has_question(prompt: str, question: str) -> bool:
    """Compared by letters and digits: quotes and spaces may be written otherwise."""
    return _LETTERS.sub("", question) in _LETTERS.sub("", prompt)


def _completion(text: str) -> httpx2.Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return httpx2.Response(200, json={"object": "chat.completion", "choices": [choice]})


def _refused(problem: str) -> httpx2.Response:
    return httpx2.Response(400, json={"error": {"message": problem}})
