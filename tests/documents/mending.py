"""A scripted model: it replies what a large model once replied to the request, and then mends what the faults name."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.suites.workflow_files import safe_name

from groundplan.asking.tasks.task_words import stems, tool_words
from tests.llm.scripted import Scripted, says

REFERENCE = re.compile(r"\$(\w+)\.([^$]*)\$")
OFFERED = re.compile(r"^(\S+?)\((.*?)\) (.*)$", re.MULTILINE)
LOST = re.compile(r"no node has '(.+)', which the task says")
MISSING = re.compile(r"params of step '(\w+)': '(\w+)' is a required property")
WRONG_TYPE = re.compile(r"params\.(\w+) of step '(\w+)': .+ is not of type '(\w+)'")
UNKNOWN = re.compile(r"node '(\w+)': \S+ has no param '(\w+)'")
Node = dict[str, Any]


def as_reply(calls: Sequence[Mapping[str, Any]], request: str) -> dict[str, Any]:
    """The bare calls in the form of our reply: each node is for the whole request."""
    return {
        "nodes": [
            {
                "id": call["id"],
                "tool": safe_name(call["tool"]),
                "words": request[:1_000],
                "params": [
                    {"name": name, "value": _value(value)}
                    for name, value in call["arguments"].items()
                    if value is not None
                ],
            }
            for call in calls
        ],
        "inputs": [],
    }


def _value(value: Any) -> Any:
    match value:
        case str():
            return REFERENCE.sub(lambda found: f"{{{found[1]}.{found[2]}}}", value)
        case list():
            return [one if isinstance(one, str | int | float) else json.dumps(one) for one in map(_value, value)]
        case dict():
            return json.dumps(value)
    return value


@dataclass
class Mender:
    """Replies to the prompts that the server gets; `replies` are the first ones, by request."""

    server: Scripted
    replies: Mapping[str, Sequence[Mapping[str, Any]]]
    last: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        prompt = "\n".join(message["content"] for message in self.server.requests[-1]["messages"])
        own = prompt[prompt.rindex("\nTask: ") + 7 :]
        request = next(one for one in self.replies if own.startswith(" ".join(one.split())))
        faults = re.findall(r"^- (.*)$", own[own.find("It cannot be used:") :], re.MULTILINE)
        if request in self.last and faults:
            mend(self.last[request], request, faults, own)
        else:
            self.last[request] = as_reply(self.replies[request], request)
        await says(json.dumps(self.last[request]))(writer)


def mend(reply: dict[str, Any], request: str, faults: Iterable[str], prompt: str) -> None:
    """Each fault as it names what is wrong; nothing is known but the prompt."""
    nodes: dict[str, Node] = {node["id"]: node for node in reply["nodes"]}
    for fault in faults:
        if found := MISSING.search(fault):
            reply["inputs"].append({"name": found[2]})
            nodes[found[1]]["params"].append({"name": found[2], "value": f"{{input.{found[2]}}}"})
        elif found := WRONG_TYPE.search(fault):
            nodes[found[2]]["params"] = [*_typed(nodes[found[2]]["params"], found[1], found[3])]
        elif found := UNKNOWN.search(fault):
            nodes[found[1]]["params"] = [one for one in nodes[found[1]]["params"] if one["name"] != found[2]]
        elif found := LOST.search(fault):
            _add_call(reply, request, found[1], prompt)


def _typed(params: Sequence[Node], name: str, kind: str) -> Iterator[Node]:
    """A word for a switch means that it is on; a number that the task does not say is left out."""
    for param in params:
        if param["name"] != name:
            yield param
        elif kind == "boolean":
            yield {**param, "value": True}


def _add_call(reply: dict[str, Any], request: str, value: str, prompt: str) -> None:
    """A call for the sentence with the lost value: of the unused tool that shares most words with it."""
    if any(param["value"] == value for node in reply["nodes"] for param in node["params"]):
        return
    sentences = re.split(r"(?<=[.?!]) ", request)
    about = {*stems(next(sentence for sentence in sentences if value in sentence))}
    used = {node["tool"] for node in reply["nodes"]}
    offered = [one for one in OFFERED.findall(prompt[prompt.index("Tools:\n") :]) if one[0] not in used]
    tool, params, _ = max(offered, key=lambda one: len(about & {*map(_stem, tool_words(one[0])), *stems(one[2])}))
    required = [name for name in params.split(", ") if name and not name.endswith("?")]
    first = (required or [name.rstrip("?") for name in params.split(", ")])[0]
    reply["nodes"].append({"id": f"more{len(reply['nodes'])}", "tool": tool, "words": request[:1_000], "params": []})
    reply["nodes"][-1]["params"].append({"name": first, "value": value})


def _stem(word: str) -> str:
    return stems(word)[0] if stems(word) else word
